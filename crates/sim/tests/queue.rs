//! Queues other than drop-tail on a link, with flows over it.

use crate::common::{flow, link, network};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_link::{
    CodelRules, Discipline, DualPi2Rules, FqCodelRules, PieRules, Queue, RedRules, TbfRules,
};
use firstflight_sim::{
    Buffer, FastPaths, LinkSpec, Network, Outcome, Pattern, Recovery, UdpSpec, run, run_watched,
};

/// A full packet on the link, in bytes.
const MTU: u64 = 1_000;
const RATE: u64 = 10_000_000;

fn queued(queue: Box<dyn Queue>) -> LinkSpec {
    LinkSpec { queue: Some(queue), buffer: Buffer::Unlimited, ..link(10, 20, 200) }
}

fn of(discipline: Discipline) -> LinkSpec {
    queued(discipline.build(MTU, RATE))
}

/// Two greedy flows over 10 Mbit/s and 40 ms, for 20 s.
fn two_flows(link: LinkSpec, ecn: bool) -> Network {
    let flows = [0, 1].map(|place| {
        let mut flow = flow(&[0], 20, Recovery::Sack);
        flow.endpoint.ecn = ecn;
        flow.endpoint.initial_ssthresh = Bytes(400_000);
        flow.start = Instant(place * 100_000_000);
        flow
    });
    network(vec![link], flows.to_vec(), 20_000)
}

/// How long a packet waits on average, in milliseconds.
fn waits_ms(outcome: &Outcome) -> f64 {
    let totals = outcome.links[0].totals;
    totals.held_ns as f64 / (totals.packets + totals.drops) as f64 / 1e6
}

fn marks_and_drops(outcome: &Outcome) -> (u64, u64) {
    (outcome.links[0].totals.marks, outcome.links[0].totals.drops)
}

/// The link of events against the one that knows departures when packets arrive.
#[test]
fn a_fifo_in_the_form_of_a_queue_does_what_the_links_own_buffer_does() {
    for room in [3, 20, 100] {
        let plain = LinkSpec { buffer: Buffer::Packets(room), ..link(10, 20, 200) };
        let plain = run_watched(&two_flows(plain, false), FastPaths::Off, &mut || true)
            .expect("nobody stops it");
        let queue = run(&two_flows(queued(Discipline::drop_tail(room)), false));
        for (one, other) in plain.flows.iter().zip(&queue.flows) {
            assert_eq!(one.delivered_bytes, other.delivered_bytes);
            assert_eq!((one.counts, one.drops), (other.counts, other.drops));
        }
        let totals = plain.links[0].totals;
        assert!(totals.drops > 0);
        let found = queue.links[0].totals;
        assert_eq!((found.drops, found.peak_packets), (totals.drops, totals.peak_packets));
        // What waits when the run ends has been counted by the one, and not by the other.
        assert!(totals.packets - found.packets <= room + 1, "{totals:?} {found:?}");
    }
}

#[test]
fn each_discipline_keeps_the_queue_short_and_the_link_busy() {
    let full = waits_ms(&run(&two_flows(link(10, 20, 200), false)));
    assert!(full > 80.0, "{full}");
    let red = RedRules {
        limit_bytes: 400_000,
        min_bytes: 15_000,
        max_bytes: 45_000,
        avpkt_bytes: MTU,
        burst_packets: 25,
        probability_ppb: 50_000_000,
        ecn: false,
    };
    for (discipline, most) in [
        (Discipline::Codel(CodelRules::default()), 15.0),
        (Discipline::FqCodel(FqCodelRules::default()), 15.0),
        (Discipline::Pie(PieRules::default()), 35.0),
        (Discipline::Red(red), 40.0),
        (Discipline::DualPi2(DualPi2Rules::default()), 35.0),
    ] {
        let outcome = run(&two_flows(of(discipline), false));
        let (waits, totals) = (waits_ms(&outcome), outcome.links[0].totals);
        assert!(waits < most, "{discipline:?}: {waits} ms");
        assert!(totals.busy_ns > 15_000_000_000, "{discipline:?}: {totals:?}");
        assert!(totals.drops > 0 && totals.marks == 0, "{discipline:?}: {totals:?}");
    }
}

#[test]
fn with_ecn_they_mark_and_nothing_is_lost() {
    let codel = CodelRules { ecn: true, ..CodelRules::default() };
    for discipline in [
        Discipline::Codel(codel),
        Discipline::FqCodel(FqCodelRules::default()),
        Discipline::DualPi2(DualPi2Rules::default()),
    ] {
        let outcome = run(&two_flows(of(discipline), true));
        let (marks, drops) = marks_and_drops(&outcome);
        assert!(marks > 5 && drops == 0, "{discipline:?}: {marks} {drops}");
        let cuts: u64 = outcome.flows.iter().map(|flow| flow.counts.cuts).sum();
        assert!(cuts > 5, "{discipline:?}: {cuts}");
    }
}

/// FQ-CoDel gives two flows halves where a FIFO lets a source without control take what it sends.
#[test]
fn a_flow_keeps_its_share_against_a_source_that_floods() {
    let share = |link: LinkSpec| {
        let mut network = two_flows(link, false);
        network.flows.truncate(1);
        network.udp.push(UdpSpec {
            path: vec![0],
            rate_bps: 12_000_000,
            packet_bytes: 1_000,
            pattern: Pattern::Constant,
            start: Instant(0),
            stop: None,
        });
        let outcome = run(&network);
        outcome.flows[0].delivered_bytes.0 as f64 * 8.0 / 20.0 / RATE as f64
    };
    let fair = share(of(Discipline::FqCodel(FqCodelRules::default())));
    assert!((0.42..0.51).contains(&fair), "{fair}");
    assert!(share(link(10, 20, 200)) < 0.1);
}

#[test]
fn a_shaper_holds_a_flow_to_its_rate_and_drops_only_what_finds_no_room() {
    let rules = TbfRules { rate_bps: 4_000_000, burst_bytes: 5_000, limit_bytes: 50_000 };
    let outcome = run(&two_flows(of(Discipline::Tbf(rules)), false));
    let totals = outcome.links[0].totals;
    let rate = totals.bytes as f64 * 8.0 / 20.0;
    assert!((3.9e6..=4.01e6).contains(&rate), "{rate}");
    assert!(totals.drops > 0 && totals.peak_packets <= 51, "{totals:?}");
}

#[test]
fn a_run_can_be_repeated_and_another_seed_is_another_run() {
    let pie = || of(Discipline::Pie(PieRules::default()));
    let with = |seed| {
        let outcome = run(&Network { seed, ..two_flows(pie(), false) });
        (outcome.events, outcome.links[0].totals, outcome.flows[0].counts)
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn behind_a_queue_random_losses_and_a_second_link_do_what_they_do() {
    let mut network = two_flows(of(Discipline::Codel(CodelRules::default())), false);
    network.links[0].drop = vec![50, 60];
    network.links.push(LinkSpec { delay: Span::from_millis(5), ..link(8, 5, 100) });
    network.flows.iter_mut().for_each(|flow| flow.path = vec![0, 1]);
    let outcome = run(&network);
    assert_eq!(outcome.links[0].totals.losses, 2);
    assert!(outcome.links[1].totals.busy_ns > 15_000_000_000);
}
