//! Flows of another protocol share links with TCP, packet by packet.

use std::cell::RefCell;

use crate::common::{flow, link, network};
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    Datagram, Ecn, Ends, FastPaths, FilesSpec, FlowOutcome, FlowSpec, Network, Outcome, Recovery,
    SenderState, Uniform, Way, named, run_watched, run_with,
};

/// When what came, which way, of how many bytes.
type Log = RefCell<Vec<(u64, Way, usize)>>;

fn datagram_of(way: Way, size: usize) -> Datagram {
    Datagram { way, payload: vec![0; size], ecn: Ecn::Ect0 }
}

/// Sends a datagram every `gap`; the other end answers each with 50 bytes. Notes what came when.
struct Ticker<'a> {
    sizes: &'a [usize],
    gap: Span,
    next: Option<Instant>,
    sent: usize,
    answered: u64,
    log: &'a Log,
}

impl<'a> Ticker<'a> {
    fn boxed(sizes: &'a [usize], gap: Span, log: &'a Log) -> Box<dyn Ends + 'a> {
        Box::new(Self { sizes, gap, next: None, sent: 0, answered: 0, log })
    }
}

impl Ends for Ticker<'_> {
    fn start(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        self.on_timer(now, out);
    }

    fn receive(&mut self, now: Instant, datagram: Datagram, out: &mut Vec<Datagram>) {
        self.log.borrow_mut().push((now.0, datagram.way, datagram.payload.len()));
        match datagram.way {
            Way::Forward => out.push(datagram_of(Way::Back, 50)),
            Way::Back => self.answered += 1,
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        let Some(size) = self.sizes.get(self.sent) else { return };
        self.sent += 1;
        out.push(datagram_of(Way::Forward, *size));
        self.next = (self.sent < self.sizes.len()).then_some(now + self.gap);
    }

    fn deadline(&self) -> Option<Instant> {
        self.next
    }

    fn stop(&mut self) {
        self.next = None;
    }

    fn cwnd(&self) -> Bytes {
        Bytes(7)
    }

    fn in_flight(&self) -> Bytes {
        Bytes(0)
    }

    fn exit(&self) -> Option<StartupExit> {
        None
    }

    fn state(&self) -> SenderState {
        SenderState {
            cwnd: Bytes(7),
            ssthresh: Bytes::MAX,
            in_flight: Bytes(0),
            srtt: Span(0),
            acked_packets: self.answered,
            cuts: 0,
            timeouts: 0,
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("answered", self.answered);
    }

    fn totals(&mut self) -> FlowOutcome {
        FlowOutcome { delivered_bytes: Bytes(self.answered), ..FlowOutcome::default() }
    }
}

fn run<'a>(network: &'a Network, ends: Box<dyn Ends + 'a>, fast_paths: FastPaths) -> Outcome {
    run_with(network, vec![(0, ends)], fast_paths, &mut || true).unwrap()
}

/// 10 Mbit/s and 20 ms there, 30 ms back; access links of 1 Gbit/s without delay.
fn path(buffer: u64) -> Network {
    let mut other = flow(&[0], 30, Recovery::NewReno);
    other.return_rate_bps = 10_000_000;
    other.header_bytes = 0;
    network(vec![link(10, 20, buffer)], vec![other], 1_000)
}

#[test]
fn a_datagram_takes_the_time_of_its_own_size() {
    let log = Log::default();
    let outcome = run(&path(10), Ticker::boxed(&[1250, 125], Span(0), &log), FastPaths::On);
    let us = |us: u64| us * 1_000;
    // 10 us or 1 us on each access link, 1 ms or 100 us on the link; 50 bytes back: 40 us + 800 ns.
    let first = us(10) + us(1_000) + us(20_000) + us(10);
    // The second follows the first on the link and waits for it on the access links too.
    let second = us(10) + us(1_000) + us(100) + us(20_000) + us(1);
    let back = us(30_000) + us(40) + 800;
    assert_eq!(
        *log.borrow(),
        [
            (first, Way::Forward, 1250),
            (second, Way::Forward, 125),
            (first + back, Way::Back, 50),
            (second + back, Way::Back, 50),
        ]
    );
    assert_eq!(outcome.links[0].totals.bytes, 1375);
    assert_eq!(outcome.flows[0].delivered_bytes, Bytes(2));
}

#[test]
fn what_does_not_fit_the_buffer_is_counted_as_lost() {
    let log = Log::default();
    let outcome = run(&path(3), Ticker::boxed(&[1000; 10], Span(0), &log), FastPaths::On);
    assert_eq!(outcome.flows[0].drops, 6, "one in service, three waiting");
    assert_eq!(outcome.flows[0].delivered_bytes, Bytes(4));
}

#[test]
fn a_headers_bytes_count_on_the_link() {
    let log = Log::default();
    let mut network = path(10);
    network.flows[0].header_bytes = 28;
    let outcome = run(&network, Ticker::boxed(&[1000], Span(0), &log), FastPaths::On);
    assert_eq!(outcome.links[0].totals.bytes, 1028);
}

#[test]
fn with_tcp_on_the_link_computing_ahead_changes_nothing() {
    let mut shared = path(20);
    shared.flows.push(flow(&[0], 40, Recovery::Sack));
    shared.duration = Span::from_millis(10_000);
    let sizes: Vec<usize> = (0..4_000).map(|i| 40 + i * 7919 % 1200).collect();
    let outcomes = [FastPaths::On, FastPaths::Off].map(|fast_paths| {
        let log = Log::default();
        let outcome = run(&shared, Ticker::boxed(&sizes, Span(2_100_003), &log), fast_paths);
        (Outcome { events: 0, ..outcome }, log.into_inner())
    });
    assert!(outcomes[0] == outcomes[1]);
    let [other, tcp] = &outcomes[0].0.flows[..] else { panic!("two flows") };
    assert!(other.drops > 0 && tcp.drops > 0 && tcp.delivered_packets > 1_000);
}

/// The flows behind it, on a link of their own: their connections ask what any before them learned
/// over that link.
#[test]
fn tcp_flows_behind_it_keep_their_places_paths_and_memory() {
    let mut files = flow(&[1], 30, Recovery::NewReno);
    files.control = named("spand", "newreno").unwrap();
    let always = |value| Uniform { from: value, until: value };
    files.files =
        Some(FilesSpec { bytes: always(60_000), pause_ns: always(50_000_000), keep_alive: false });
    let other = FlowSpec { start: Instant(300_000_000), ..files.clone() };
    let mut alone = network(vec![link(8, 20, 50)], vec![files, other], 5_000);
    alone.flows.iter_mut().for_each(|flow| flow.path[0] -= 1);
    let expected = run_watched(&alone, FastPaths::On, &mut || true).unwrap();
    let mut shared = path(20);
    shared.duration = alone.duration;
    shared.links.extend(alone.links.clone());
    shared.flows.extend(alone.flows.iter().cloned());
    shared.flows[1..].iter_mut().for_each(|flow| flow.path[0] += 1);
    let log = Log::default();
    let outcome = run(&shared, Ticker::boxed(&[1000; 10], Span(0), &log), FastPaths::On);
    assert_eq!(outcome.flows[0].delivered_bytes, Bytes(10));
    assert!(expected.flows[0].files.len() > 5);
    assert!(outcome.flows[1..] == expected.flows);
}
