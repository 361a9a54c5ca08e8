//! Elements act on the packets of a link, as a stranger writes them.

use crate::common::{flow, link, network};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_link::{
    Crossing, DelaySchedule, Fate, Framing, Jitter, Policer, RateSchedule, Release, Reorder, Steps,
    Wifi,
};
use firstflight_sim::{
    Buffer, Element, FastPaths, LinkSpec, LossSpec, Network, Outcome, Recovery, run, run_watched,
};
use rand_pcg::Pcg64Mcg;

/// 200 packets from a window of 40 over 10 Mbit/s (0.8 ms a packet) and 20 ms each way, through
/// these elements.
fn path(elements: Vec<Box<dyn Element>>) -> Network {
    let link = LinkSpec { elements, ..link(10, 20, 200) };
    let mut flow = flow(&[0], 20, Recovery::NewReno);
    flow.packets = Some(200);
    flow.endpoint.initial_window = Bytes(40_000);
    flow.endpoint.initial_ssthresh = Bytes(40_000);
    network(vec![link], vec![flow], 10_000)
}

fn through(element: impl Element + 'static) -> Outcome {
    run(&path(vec![Box::new(element)]))
}

/// When the transfer was over, in milliseconds.
fn over_ms(outcome: &Outcome) -> f64 {
    outcome.flows[0].finished_at.expect("it ends").0 as f64 / 1e6
}

/// Every tenth packet is late.
#[derive(Clone, Debug)]
struct Tenth {
    seen: u64,
    by: Span,
    overtaken: bool,
}

impl Element for Tenth {
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, _random: &mut Pcg64Mcg) -> Instant {
        self.seen += 1;
        if self.seen.is_multiple_of(10) { at + self.by } else { at }
    }

    fn reorders(&self) -> bool {
        self.overtaken
    }
}

#[test]
fn what_is_overtaken_is_taken_for_lost_and_what_keeps_its_order_is_not() {
    let by = Span::from_millis(8);
    let [overtaken, in_order] =
        [true, false].map(|overtaken| through(Tenth { seen: 0, by, overtaken }).flows[0].counts);
    assert!(overtaken.fast_retransmits > 0, "nine packets pass it: {overtaken:?}");
    assert_eq!(in_order.retransmitted_packets, 0);
}

/// A tenth of the packets is late by ten others' time: none is lost, and each is taken for lost.
#[test]
fn overtaking_makes_a_sender_send_again_what_only_comes_late() {
    let by = Span::from_millis(8);
    let [none, tenth] = [0, 100_000_000].map(|share_ppb| through(Reorder { share_ppb, by }));
    assert_eq!(none.flows[0].counts.retransmitted_packets, 0);
    assert!(tenth.flows[0].counts.fast_retransmits > 0);
    assert_eq!((tenth.flows[0].delivered_packets, tenth.flows[0].drops), (200, 0));
}

#[test]
fn jitter_delays_by_its_half_in_the_mean_and_loses_nothing() {
    let most = Span::from_millis(20);
    let one = |seed: u64, elements: Vec<Box<dyn Element>>| {
        let mut network = Network { seed, ..path(elements) };
        network.flows[0].packets = Some(1);
        over_ms(&run(&network))
    };
    let alone = one(1, Vec::new());
    let added = |seed| one(seed, vec![Box::new(Jitter::up_to(most))]) - alone;
    let added: Vec<f64> = (1..=300).map(added).collect();
    assert!(added.iter().all(|added| (0.0..=20.0).contains(added)));
    let mean = added.iter().sum::<f64>() / 300.0;
    // A standard deviation of 5.8 ms: 0.33 ms of the mean.
    assert!((mean - 10.0).abs() < 1.2, "{mean}");
    assert_eq!(through(Jitter::up_to(most)).flows[0].counts.retransmitted_packets, 0, "in order");
}

/// One packet meets this fate.
#[derive(Clone, Debug)]
struct At(u64, Fate);

impl Element for At {
    fn arrive(&mut self, _packet: &Crossing, _random: &mut Pcg64Mcg) -> Fate {
        self.0 = self.0.wrapping_sub(1);
        if self.0 == 0 { self.1 } else { Fate::Pass }
    }
}

#[test]
fn what_an_element_drops_is_sent_again() {
    let outcome = through(At(30, Fate::Drop));
    assert_eq!(
        (outcome.flows[0].counts.retransmitted_packets, outcome.links[0].totals.drops),
        (1, 1)
    );
    assert_eq!(outcome.flows[0].delivered_packets, 200);
}

#[test]
fn a_mark_cuts_the_window_of_a_flow_with_ecn_only() {
    let marked = [true, false].map(|ecn| {
        let mut network = path(vec![Box::new(At(30, Fate::Mark))]);
        network.flows[0].endpoint.ecn = ecn;
        let outcome = run(&network);
        (outcome.links[0].totals.marks, outcome.flows[0].counts.cuts)
    });
    assert_eq!(marked, [(1, 1), (0, 0)]);
}

/// The link sends at 10 Mbit/s, and rests for a time.
#[derive(Clone, Debug)]
struct Rests {
    from: Instant,
    until: Instant,
}

impl Element for Rests {
    fn sent_at(&mut self, bytes: u64, start: Instant) -> Option<Instant> {
        let rests = (self.from..self.until).contains(&start);
        Some(if rests { self.until } else { start } + Span(bytes * 800))
    }
}

#[test]
fn an_element_may_decide_when_the_link_sends() {
    let plain = run(&path(Vec::new()));
    let [never, once] = [100, 400].map(|until| {
        let (from, until) = (Instant(100_000_000), Instant(until * 1_000_000));
        Outcome { events: plain.events, ..through(Rests { from, until }) }
    });
    assert_eq!(never, plain, "it decides as the link would");
    let later = over_ms(&once) - over_ms(&plain);
    assert!((295.0..=300.0).contains(&later), "what waits is sent afterwards: {later}");
    assert!(once.links[0].totals.peak_packets > plain.links[0].totals.peak_packets);
}

#[test]
fn a_flow_that_crosses_an_element_takes_no_fast_path() {
    let of = |network: &Network| {
        let ran = [FastPaths::On, FastPaths::Off]
            .map(|paths| run_watched(network, paths, &mut || true).unwrap());
        assert_eq!(
            Outcome { events: 0, ..ran[0].clone() },
            Outcome { events: 0, ..ran[1].clone() }
        );
        ran.map(|outcome| outcome.events)
    };
    let [on, off] = of(&path(vec![Box::new(Jitter::up_to(Span::from_millis(1)))]));
    assert_eq!(on, off);
    let [on, off] = of(&path(Vec::new()));
    assert!(on < off);
}

/// 10 Mbit/s behind a policer of 4: what arrives is dropped, and not queued.
#[test]
fn a_policer_holds_a_flow_to_its_rate_without_a_queue() {
    let mut network = path(vec![Box::new(Policer::new(4_000_000, 20_000))]);
    network.flows[0].packets = None;
    let outcome = run(&network);
    let bits = outcome.flows[0].delivered_bytes.0 * 8;
    // The rate for ten seconds, and the bucket.
    assert!(bits <= 40_160_000, "{bits}");
    assert!(bits > 20_000_000, "NewReno finds more than half of it: {bits}");
    assert!(outcome.flows[0].drops > 0);
    assert!(outcome.links[0].totals.peak_packets <= 40, "no more than the first window");
}

#[test]
fn a_link_that_is_dead_for_a_second_sends_what_waits_after_it() {
    let steps = vec![(Instant(0), 10_000_000), (Instant(50_000_000), 0)];
    let period = Some(Span::from_millis(1_050));
    let outcome = through(RateSchedule::new(Steps::new(steps, period).unwrap()).unwrap());
    // 200 packets take 160 ms of the link, in parts of 50 ms.
    let took = over_ms(&outcome);
    assert!((3_000.0..6_000.0).contains(&took), "{took}");
    assert_eq!(outcome.flows[0].delivered_packets, 200);
}

#[test]
fn wifi_delays_a_packet_by_its_mean() {
    let one = |seed: u64, elements: Vec<Box<dyn Element>>| {
        let mut network = Network { seed, ..path(elements) };
        network.flows[0].packets = Some(1);
        over_ms(&run(&network))
    };
    let wifi = || Wifi::with_mean(Span::from_millis(7));
    let added = |seed| one(seed, vec![Box::new(wifi())]) - one(1, Vec::new());
    let mean = (1..=1_000).map(added).sum::<f64>() / 1_000.0;
    // A standard deviation of 24 ms: 0.76 ms of the mean, which is 6.7 ms.
    assert!((mean - 6.7).abs() < 2.3, "{mean}");
}

#[test]
fn a_link_that_stays_dead_delivers_nothing_more_and_the_run_ends() {
    let steps = vec![(Instant(0), 10_000_000), (Instant(50_000_000), 0)];
    let outcome = through(RateSchedule::new(Steps::new(steps, None).unwrap()).unwrap());
    let flow = &outcome.flows[0];
    assert!((1..60).contains(&flow.delivered_packets), "{}", flow.delivered_packets);
    assert_eq!(flow.finished_at, None);
    assert!(flow.counts.timeouts > 0);
}

/// 1000 bytes and 250 of framing take as long over 10 Mbit/s as 1000 bytes over 8.
#[test]
fn what_a_link_layer_adds_takes_its_time() {
    let framed = through(Framing { overhead: 250, ..Framing::default() });
    let mut slower = path(Vec::new());
    slower.links[0].rate_bps = 8_000_000;
    let slower = run(&slower);
    assert_eq!(framed.flows[0].finished_at, slower.flows[0].finished_at);
    assert_eq!(framed.links[0].totals.bytes, slower.links[0].totals.bytes / 4 * 5);
}

/// From `first` ms to `then` ms at 100 ms, in both directions.
fn changing(first: u64, then: u64) -> Outcome {
    let [early, late] = [first, then].map(Span::from_millis);
    let steps = vec![(Instant(0), early), (Instant(100_000_000), late)];
    let delays = || DelaySchedule::new(Steps::new(steps.clone(), None).unwrap());
    let mut network = path(vec![Box::new(delays())]);
    let delay = delays().least();
    let back = LinkSpec { delay, elements: vec![Box::new(delays())], ..link(10, 0, 1000) };
    network.links[0].delay = delay;
    network.links[0].back = Some(Box::new(back));
    network.flows[0].return_delay = Span(0);
    network.flows[0].return_path = vec![1];
    run(&network)
}

/// 200 packets of 0.8 ms in windows of 40: the RTT is that of the schedule. Where the delay falls,
/// packets do not overtake those that left before, and none is taken for lost.
#[test]
fn a_delay_that_changes_holds_for_both_directions_and_keeps_the_order() {
    let [calm, rising, falling] = [(20, 20), (20, 60), (60, 20)].map(|(a, b)| changing(a, b));
    for outcome in [&calm, &rising, &falling] {
        let counts = outcome.flows[0].counts;
        assert_eq!((counts.retransmitted_packets, counts.timeouts), (0, 0), "{counts:?}");
        assert_eq!(outcome.flows[0].delivered_packets, 200);
    }
    // Five windows of 40 packets. The third is on its way as the delay rises, and late by 40 ms;
    // the fourth and the fifth are late by 80.
    let later = over_ms(&rising) - over_ms(&calm);
    assert!((190.0..=202.0).contains(&later), "{later}");
    assert!(over_ms(&falling) < over_ms(&rising));
}

/// ACKs come back over 100 kbit/s, 3.2 ms each, with room for five.
#[test]
fn acks_that_are_lost_on_a_slow_way_back_cost_no_retransmission() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        let mut network = path(Vec::new());
        let back = LinkSpec { buffer: Buffer::Packets(5), ..link(1, 0, 0) };
        network.links[0].back = Some(Box::new(LinkSpec { rate_bps: 100_000, ..back }));
        network.flows[0].return_path = vec![1];
        network.flows[0].endpoint.recovery = recovery;
        let outcome = run(&network);
        let flow = &outcome.flows[0];
        // The very last ACK may find no room, which a timer finds out.
        let counts = flow.counts;
        assert_eq!(flow.delivered_packets, 200, "{recovery:?}");
        assert!(
            counts.retransmitted_packets <= 1 && counts.timeouts <= 1,
            "{recovery:?}: {counts:?}"
        );
        assert_eq!(counts.fast_retransmits, 0, "{recovery:?}");
    }
}

/// A packet is lost, and half of all ACKs: the next one repeats what the lost ones reported of
/// packets out of order, so that no more than the one packet is sent again.
#[test]
fn the_next_ack_repeats_what_lost_ones_reported() {
    let mut seen = 0;
    let recoveries = [Recovery::Sack, Recovery::Rack];
    for (seed, recovery) in (1..=20).flat_map(|seed| recoveries.map(|recovery| (seed, recovery))) {
        let mut network = Network { seed, ..path(vec![Box::new(At(30, Fate::Drop))]) };
        let back = LinkSpec { loss: LossSpec::independent(500_000_000), ..link(10, 0, 1000) };
        network.links[0].back = Some(Box::new(back));
        network.flows[0].return_path = vec![1];
        network.flows[0].endpoint.recovery = recovery;
        let flow = &run(&network).flows[0];
        assert_eq!(flow.delivered_packets, 200, "seed {seed}");
        // Where the last ACK of all is lost a timer fires, or a probe leaves (RFC 8985).
        let probe = u64::from(recovery == Recovery::Rack);
        if flow.counts.timeouts == 0 {
            seen += 1;
            let again = flow.counts.retransmitted_packets;
            let counts = flow.counts;
            assert!((1..=1 + probe).contains(&again), "seed {seed}, {recovery:?}: {counts:?}");
        }
    }
    assert!(seen >= 15, "{seen} without a timeout");
}

/// The ACKs of a window of 40 packets, 32 ms long, come in lumps of 10 ms.
#[test]
fn acks_released_in_lumps_make_bursts() {
    let mut network = path(Vec::new());
    let every = Span::from_millis(10);
    let back = LinkSpec { elements: vec![Box::new(Release { every })], ..link(1_000, 0, 1000) };
    network.links[0].back = Some(Box::new(back));
    network.flows[0].return_path = vec![1];
    let [plain, lumps] = [run(&path(Vec::new())), run(&network)];
    let peak = |outcome: &Outcome| outcome.links[0].totals.peak_packets;
    assert_eq!(lumps.flows[0].counts.retransmitted_packets, 0);
    assert_eq!(lumps.flows[0].delivered_packets, 200);
    let later = over_ms(&lumps) - over_ms(&plain);
    assert!((0.0..=50.0).contains(&later), "up to 10 ms a round: {later}");
    assert!(peak(&lumps) >= peak(&plain));
}
