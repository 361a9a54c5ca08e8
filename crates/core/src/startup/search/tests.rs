//! SEARCH: what each version compares, when it decides, and how it drains.

#![allow(clippy::unwrap_used, reason = "it fails the test")]

use super::*;
use crate::knob::KnobValue;
use crate::testing::{MSS, ack, gauge, view};
use crate::units::{Instant, Span};

/// A policy in a connection of 100 ms. At the end of each bin of 35 ms an ACK reports how many
/// segments were sent and delivered in it.
struct Path {
    policy: Search,
    view: View,
    limited: bool,
}

const NINE: (&str, KnobValue) = ("version", KnobValue::Count(9));
const TEN: (&str, KnobValue) = ("version", KnobValue::Count(10));
const OFF: (&str, KnobValue) = ("drain", KnobValue::Word("off"));
/// So that the thirteenth bin is the first to be compared.
const DRAFT: (&str, KnobValue) = ("bounds", KnobValue::Word("draft"));

impl Path {
    fn new(knobs: &[(&str, KnobValue)]) -> Self {
        let (mut policy, mut view) = (Search::default(), view(100, Bytes::MAX));
        for (name, value) in knobs {
            assert!(policy.set(name, *value), "{name}");
        }
        view.now = Instant(1);
        policy.enter(Entry::Connect, &view);
        let _ = policy.step(&ack(&view, 0), &view);
        Self { policy, view, limited: false }
    }

    fn bin(&mut self, sent: u64, delivered: u64) -> Step {
        self.view.now = self.view.now + Span::from_micros(35_001);
        self.view.sent += MSS * sent;
        self.view.delivered += MSS * delivered;
        let ack = Ack { app_limited: self.limited, ..ack(&self.view, 0) };
        let step = self.policy.step(&ack, &self.view);
        self.view.window = step.window;
        step
    }
}

#[test]
fn delivery_as_sent_goes_on() {
    let mut path = Path::new(&[]);
    for _ in 0..60 {
        assert_eq!(path.bin(50, 50).exit, None);
    }
    let found = path.policy.compared.unwrap();
    let gauges = ["search_bin", "search_expected", "search_delivered"];
    let reported = [35_000_000, found.expected.0, found.delivered.0].map(Some);
    assert_eq!(gauges.map(|name| gauge(&path.policy, name)), reported);
}

/// A named reason for each bin that decides nothing.
#[test]
fn its_gauges_say_why_it_does_not_decide() {
    let names = ["search_warms_up", "search_rtt_inflated", "search_nothing_sent"];
    let mut path = Path::new(&[]);
    let reported = |path: &Path| names.map(|name| gauge(&path.policy, name).unwrap());
    assert_eq!(reported(&path), [0, 0, 0], "no bin has ended");
    let _ = path.bin(0, 0);
    assert_eq!(reported(&path), [1, 0, 0]);
    (0..20).for_each(|_| assert_eq!(path.bin(0, 0).exit, None));
    assert_eq!(reported(&path), [0, 0, 1]);
    path.view.rtt.latest = Span::from_millis(1_400);
    let _ = path.bin(50, 50);
    assert_eq!(reported(&path), [0, 1, 0]);
    path.view.rtt.latest = Span::from_millis(100);
    (0..20).for_each(|_| assert_eq!(path.bin(50, 50).exit, None));
    assert_eq!(reported(&path), [0, 0, 0], "it decides");
}

/// Sending doubles, then stays; delivery follows two bins and 6/7 later until the queue takes
/// a share.
#[test]
fn it_leaves_at_the_window_when_a_share_is_missing() {
    let missing = |version, percent: u64| {
        let mut path = Path::new(&[version, OFF]);
        (0..60).find_map(|_| path.bin(100, 100 - percent).exit)
    };
    for (version, percent) in [(NINE, 26), (TEN, 35)] {
        assert_eq!(missing(version, percent - 1), None);
        assert_eq!(missing(version, percent), Some(Exit::Heuristic));
    }
    let mut path = Path::new(&[NINE]);
    let left = (0..60).map(|_| path.bin(100, 70)).find(|step| step.exit.is_some()).unwrap();
    assert_eq!(left.window, Window { cwnd: MSS * 100, ssthresh: MSS * 100 });
}

#[test]
fn a_path_that_delivers_nothing_has_no_pipe() {
    let mut path = Path::new(&[NINE]);
    while path.bin(100, 0).exit.is_none() {}
    assert_eq!(path.policy.found(&path.view).pipe, None);
}

/// Twelve bins warm up, the thirteenth is compared.
#[test]
fn it_leaves_in_the_thirteenth_bin_at_the_earliest() {
    let mut path = Path::new(&[NINE]);
    let left = (1..60).find(|_| path.bin(100, 50).exit.is_some());
    assert_eq!(left, Some(13));
    let mut path = Path::new(&[NINE, ("bounds", KnobValue::Word("linux"))]);
    assert_eq!((1..60).find(|_| path.bin(100, 50).exit.is_some()), Some(12));
    let mut path = Path::new(&[]);
    (1..12).for_each(|_| assert!(path.bin(100, 50).window.ssthresh == Bytes::MAX));
    assert!(path.policy.drain.is_none());
    let _ = path.bin(100, 50);
    assert!(path.policy.drain.is_some(), "version 10 begins to drain");
}

/// A queue of more than 4.25 BDP switches version 9 off, one of more than 12.6 BDP version 10.
#[test]
fn version_10_decides_at_an_rtt_of_thirteen_times_the_first() {
    for (version, rtt_ms, decides) in
        [(NINE, 524, true), (NINE, 525, false), (TEN, 525, true), (TEN, 1_364, true)]
    {
        let mut path = Path::new(&[version, OFF]);
        path.view.rtt.latest = Span::from_millis(rtt_ms);
        assert_eq!((0..60).any(|_| path.bin(100, 50).exit.is_some()), decides, "{rtt_ms}");
    }
}

/// Nothing acknowledged for 20 bins: version 9 has forgotten all, version 10 has filled them.
#[test]
fn version_10_fills_bins_without_an_ack_however_many() {
    for (version, index) in [(NINE, 1), (TEN, 34)] {
        let mut path = Path::new(&[version, OFF]);
        (0..13).for_each(|_| assert_eq!(path.bin(50, 50).exit, None));
        path.view.now = path.view.now + Span::from_millis(35 * 20);
        let _ = path.bin(50, 50);
        let _ = path.policy.step(&ack(&path.view, 0), &path.view);
        let bins = path.policy.bins;
        assert_eq!(bins.index() + u64::from(version == NINE), index);
    }
}

#[test]
fn version_8_leaves_when_delivery_stops_doubling() {
    let mut path = Path::new(&[("version", KnobValue::Count(8))]);
    assert!(!path.policy.needs().all().has(Facilities::SENT));
    assert!(Search::default().needs().required.has(Facilities::SENT));
    let exits = |grown: u64| {
        let mut path = Path::new(&[("version", KnobValue::Count(8))]);
        // In 100 ms, 2.86 bins, delivery grows by so many percent.
        let mut each = 1_000.0;
        (0..60).any(|_| {
            each *= (1.0 + grown as f64 / 100.0).powf(0.35);
            path.bin(0, each as u64).exit.is_some()
        })
    };
    assert!(!exits(100) && !exits(35) && exits(20));
    let left = (0..60).map(|_| path.bin(0, 100)).find(|step| step.exit.is_some());
    assert_eq!(left.unwrap().window.ssthresh, MSS * 100);
}

/// The authors' code 4.0: flight falls by two for every three segments delivered, down to what
/// the last first RTT, three bins, delivered.
#[test]
fn the_drain_lets_a_segment_leave_for_three_down_to_what_was_delivered() {
    let mut path = Path::new(&[]);
    path.policy.initial_window = MSS * 10;
    while path.policy.drain.is_none() {
        assert_eq!(path.bin(40, 20).exit, None);
    }
    let mut flight = 100;
    let mut step = |delivered| {
        flight -= delivered;
        path.view.in_flight = MSS * flight;
        let step = path.policy.step(&ack(&path.view, delivered), &path.view);
        path.view.window = step.window;
        flight = flight.max(step.window.cwnd.0 / 1_000);
        (step.window.cwnd.0 / 1_000, step.window.ssthresh, step.exit)
    };
    let none = Bytes::MAX;
    assert_eq!([step(2), step(1)], [(98, none, None), (98, none, None)]);
    assert_eq!([step(2), step(4)], [(96, none, None), (94, none, None)], "six are two");
    assert_eq!(step(48), (62, none, None), "48 are 16");
    assert_eq!(step(3), (60, MSS * 60, Some(Exit::Heuristic)));
    assert_eq!(path.policy.found(&path.view).pipe, Some(MSS * 60));
}

#[test]
fn the_drain_ends_at_the_first_window_at_least() {
    let mut path = Path::new(&[]);
    path.policy.initial_window = MSS * 10;
    while path.policy.drain.is_none() {
        assert_eq!(path.bin(40, 2).exit, None);
    }
    path.view.in_flight = MSS * 3;
    let step = path.policy.step(&ack(&path.view, 9), &path.view);
    assert_eq!(step.window, Window { cwnd: MSS * 10, ssthresh: MSS * 10 });
}

#[test]
fn the_drain_of_version_8_takes_two_first_rtts_of_delivery_at_once() {
    let knobs = [("version", KnobValue::Count(8)), ("drain", KnobValue::Word("on"))];
    let left = |each: u64| {
        let mut path = Path::new(&knobs);
        path.policy.initial_window = MSS * 10;
        (0..60).map(|_| path.bin(0, each)).find(|step| step.exit.is_some()).unwrap().window
    };
    // Six bins.
    assert_eq!(left(8), Window { cwnd: MSS * 52, ssthresh: MSS * 52 });
    assert_eq!(left(50).cwnd, MSS * 10, "the first window at least");
}

/// At the end of a bin, of the length that it had.
#[test]
fn an_idle_source_makes_version_10_begin_its_bins_anew() {
    let after = |knobs: &[(&str, KnobValue)]| {
        let mut path = Path::new(knobs);
        (0..12).for_each(|_| assert_eq!(path.bin(100, 50).exit, None));
        path.limited = true;
        path.view.rtt.latest = Span::from_millis(50);
        let left = path.bin(100, 50).exit.is_some();
        assert_eq!(path.policy.bins.bin(), Span::from_millis(35));
        (left, path.policy.bins.index())
    };
    assert_eq!(after(&[NINE]), (true, 13));
    assert_eq!(after(&[NINE, ("limited", KnobValue::Word("anew"))]), (false, 0));
    assert_eq!(after(&[OFF, DRAFT]), (false, 0));
    let counts = ("limited", KnobValue::Word("counts"));
    assert_eq!(after(&[DRAFT, counts, OFF]), (true, 13));
}
