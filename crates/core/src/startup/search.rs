//! SEARCH, "Slow start Exit At Right CHokepoint" (draft-chung-ccwg-search, Chung, Kachooei, Li and
//! Claypool): slow start until delivery no longer follows sending.
//!
//! What it believes: as long as the path has room, what is delivered in a window of 3.5 RTTs is
//! what was sent in such a window one RTT before; once it is markedly less, a queue takes the rest.
//! Long windows make it deaf to the RTT's jitter. What it does at the end of every bin, a tenth of
//! the window:
//!
//! ```text
//! version 9:  expected = sent one RTT before    leaves if (expected - delivered) >= 0.26 expected
//! version 8:  expected = 2 * delivered one RTT before                      >= 0.35 expected
//! leaving:    ssthresh = cwnd
//! drain, 9:   one segment less for three delivered, to what the last first-RTT delivered
//! drain, 8:   what the last two first-RTTs delivered is taken off at once, to IW at least
//! ```
//!
//! The RTT that it looks back is the newest sample. So a queue stretches the look-back, and the
//! comparison goes on looking at data sent before the overload.
//!
//! Published: all of it; which of the versions does what, the knobs tell. -09 compares with what
//! was sent, and what is sent again counts as sent. mozilla/neqo has -09 without drain; Linux' and
//! FreeBSD's code by the authors have other bounds for the first and the farthest bin (knob
//! `bounds`). Version 10 was not at hand.
//!
//! Departures: sums have 64 bits, so that the draft's shift of 16-bit bins is not needed. RTTs come
//! from the handshake too, if there was one, and the first of them makes the bins, as the draft
//! says; a slow handshake makes them long. Rounds in which the source had nothing to send count as
//! a plateau unless `limited=anew`. Only the first slow start has it: after a timeout, and whenever
//! start-up begins again, it is slow start.

use crate::card::{Card, Listed};
use crate::estimate::search_bins::{Bounds, Found as Compared, Reference, SearchBins};
use crate::event::Ack;
use crate::knob::{Knob, KnobKind, KnobValue, Knobs, switch};
use crate::needs::{Facilities, Needs};
use crate::opening::Opening;
use crate::policy::{Entry, Exit, Found, Observer, Startup, Step};
use crate::startup::slow_start::{IW, OWN_END_SSTHRESH, double};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Slow start that leaves when less is delivered than was sent.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    opening: Opening,
    reference: Reference,
    bounds: Bounds,
    drains: bool,
    /// Begins anew when the source limits sending.
    anew: bool,
    most_skipped: u64,
    /// It is the first slow start of the connection.
    first: bool,
    bins: SearchBins,
    initial_window: Bytes,
    /// What the last comparison found.
    compared: Option<Compared>,
    drain: Option<Drain>,
    /// What the path delivered in one first RTT before it left.
    pipe: Option<Bytes>,
}

/// The phase after the exit (-09 section 3.4).
#[derive(Clone, Copy, Debug)]
struct Drain {
    target: Bytes,
    /// Payload acknowledged that has not yet cost a segment.
    owed: Bytes,
}

impl Search {
    /// Looks at an ACK; whether delivery has fallen behind.
    #[inline]
    fn falls_behind(&mut self, ack: &Ack, view: &View) -> bool {
        if !self.bins.has_begun() {
            self.begin(ack, view);
            return false;
        }
        if self.anew && ack.app_limited {
            self.bins = SearchBins::NEW;
            return false;
        }
        self.bins.is_over(ack.now) && self.end_bin(ack, view)
    }

    #[cold]
    fn begin(&mut self, ack: &Ack, view: &View) {
        // After a reset the newest RTT is the path's.
        let rtt = if self.compared.is_none() { view.rtt.first } else { view.rtt.latest };
        self.bins.begin(ack.now, rtt, view.sent, view.delivered);
    }

    /// A bin is over.
    #[inline(never)]
    fn end_bin(&mut self, ack: &Ack, view: &View) -> bool {
        if !self.bins.advance(ack.now, view.sent, view.delivered, self.most_skipped) {
            return false;
        }
        let Some(found) = self.bins.compare(view.rtt.latest, self.reference, self.bounds) else {
            return false;
        };
        self.compared = Some(found);
        let Compared { delivered, expected } = found;
        (expected - delivered) * 100 >= expected * self.percent()
    }

    /// How far delivery falls behind before it leaves (`THRESH`).
    fn percent(&self) -> u64 {
        match self.reference {
            Reference::Sent => THRESH_9,
            Reference::TwiceDelivered => THRESH_8,
        }
    }

    /// Delivery has fallen behind.
    fn leave(&mut self, view: &View) -> Step {
        let Window { cwnd, .. } = view.window;
        let pipe = self.bins.delivered_in_first_rtts(1);
        self.pipe = Some(pipe).filter(|pipe| *pipe > Bytes(0));
        let step = view.window.hold().threshold(cwnd);
        if !self.drains {
            return step.exit(Exit::Heuristic);
        }
        if self.reference == Reference::TwiceDelivered {
            let rest = cwnd - self.bins.delivered_in_first_rtts(2);
            let mut step = step.exit(Exit::Heuristic);
            step.window.cwnd = rest.max(self.initial_window).min(cwnd);
            step.window.ssthresh = step.window.cwnd;
            return step;
        }
        self.drain = Some(Drain { target: pipe.max(self.initial_window), owed: Bytes(0) });
        step
    }
}

impl Drain {
    /// One segment less for every three acknowledged.
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Window { cwnd, .. } = view.window;
        self.owed += ack.acked;
        let costs = view.mss * DRAIN_ACKED;
        let mut rest = cwnd;
        if self.owed >= costs {
            let segments = self.owed.0 / costs.0.max(1);
            self.owed -= costs * segments;
            rest = (cwnd - view.mss * segments).max(self.target).min(cwnd);
        }
        let mut step = view.window.hold().threshold(rest);
        step.window.cwnd = rest;
        if rest <= self.target { step.exit(Exit::Heuristic) } else { step }
    }
}

impl Listed for Search {
    const CARD: Card = Card::new(
        "search",
        "slow start that leaves when less is delivered than was sent an RTT before",
        "draft-chung-ccwg-search-08 and -09",
    )
    .with("cubic")
    .about(
        "What was delivered in 3.5 RTTs beside what was sent one RTT earlier.",
        "While the path has room, delivery follows sending.",
        "It looks back by the newest RTT, which the queue stretches: it leaves at a queue of more \
         than four BDP, and where the buffer holds less it is slow start. A slow handshake makes \
         its ruler too long.",
    )
    .finds_its_end()
    .in_kernel("search")
    .knobs(Self::KNOBS);
}

impl Observer for Search {
    fn needs(&self) -> Needs {
        // Version 8 knows nothing of what is sent.
        match self.reference {
            Reference::Sent => Needs::required(Facilities::TIMES | Facilities::SENT),
            Reference::TwiceDelivered => Needs::TIMES,
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        let Compared { delivered, expected } =
            self.compared.unwrap_or(Compared { delivered: Bytes(0), expected: Bytes(0) });
        report("search_bin", self.bins.bin().0);
        report("search_expected", expected.0);
        report("search_delivered", delivered.0);
    }
}

impl Startup for Search {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, why: Entry, view: &View) {
        self.first = why == Entry::Connect;
        self.bins = SearchBins::NEW;
        self.compared = None;
        self.drain = None;
        if self.first {
            self.initial_window = view.window.cwnd;
        }
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if let Some(drain) = &mut self.drain {
            return drain.step(ack, view);
        }
        let window = view.window;
        if !self.first || window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        if self.falls_behind(ack, view) {
            return self.leave(view);
        }
        window.grow(ack.acked).until_threshold()
    }

    fn found(&self, _view: &View) -> Found {
        Found { pipe: self.pipe, ..Found::default() }
    }
}

impl Default for Search {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            reference: Reference::Sent,
            bounds: Bounds::Draft,
            drains: false,
            anew: false,
            most_skipped: MOST_SKIPPED,
            first: true,
            bins: SearchBins::NEW,
            initial_window: Bytes(0),
            compared: None,
            drain: None,
            pipe: None,
        }
    }
}

impl Knobs for Search {
    const KNOBS: &'static [Knob] = &[
        IW,
        OWN_END_SSTHRESH,
        Knob {
            name: "version",
            kind: KnobKind::Count(8, 9),
            default: "9",
            doc: "of the draft: 9 compares delivery with sending, 8 with delivery before",
        },
        Knob {
            name: "bounds",
            kind: KnobKind::Word(&["draft", "linux"]),
            default: "draft",
            doc: "first and farthest bin compared: the draft's and neqo's, or those of the \
                  authors' code for Linux",
        },
        Knob {
            name: "drain",
            kind: KnobKind::Word(&["off", "on"]),
            default: "off",
            doc: "takes off at the exit what the queue holds: at once (8), or in steps (9)",
        },
        Knob {
            name: "limited",
            kind: KnobKind::Word(&["counts", "anew"]),
            default: "counts",
            doc: "when the source has nothing to send: counts as always, or begins anew",
        },
        Knob {
            name: "most_skipped",
            kind: KnobKind::Count(1, MOST),
            default: "10",
            doc: "more bins without an ACK than so many, and it begins anew (neqo)",
        },
    ];

    fn set(&mut self, name: &str, value: KnobValue) -> bool {
        match (name, value) {
            ("version", KnobValue::Count(8)) => self.reference = Reference::TwiceDelivered,
            ("version", KnobValue::Count(_)) => self.reference = Reference::Sent,
            ("bounds", KnobValue::Word("linux")) => self.bounds = Bounds::Linux,
            ("bounds", KnobValue::Word(_)) => self.bounds = Bounds::Draft,
            ("drain", KnobValue::Word(word)) => self.drains = word == "on",
            ("limited", KnobValue::Word(word)) => self.anew = word == "anew",
            ("most_skipped", KnobValue::Count(count)) => self.most_skipped = count.clamp(1, MOST),
            _ => return self.opening.set(name, value),
        }
        true
    }

    fn value(&self, name: &str) -> Option<KnobValue> {
        match name {
            "version" => {
                Some(KnobValue::Count(if self.reference == Reference::Sent { 9 } else { 8 }))
            }
            "bounds" => Some(KnobValue::Word(match self.bounds {
                Bounds::Draft => "draft",
                Bounds::Linux => "linux",
            })),
            "drain" => Some(switch(self.drains)),
            "limited" => Some(KnobValue::Word(if self.anew { "anew" } else { "counts" })),
            "most_skipped" => Some(KnobValue::Count(self.most_skipped)),
            _ => self.opening.value(name),
        }
    }
}

/// Percent by which delivery falls behind before it leaves (-09 section 3, `THRESH`).
const THRESH_9: u64 = 26;

/// Likewise in -08.
const THRESH_8: u64 = 35;

/// Segments acknowledged for each that the drain takes off (-09 section 3.4).
const DRAIN_ACKED: u64 = 3;

/// Bins without an ACK that keep what was found (neqo: a window of them).
const MOST_SKIPPED: u64 = 10;

/// Largest value of that knob.
const MOST: u64 = 1_000_000;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "it fails the test")]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, gauge, view};
    use crate::units::{Instant, Span};

    /// A policy in a connection of 100 ms that is told, at the end of each bin of 35 ms, how many
    /// segments were sent and delivered in it.
    struct Path {
        policy: Search,
        view: View,
    }

    impl Path {
        fn new(knobs: &[(&str, KnobValue)]) -> Self {
            let (mut policy, mut view) = (Search::default(), view(100, Bytes::MAX));
            for (name, value) in knobs {
                assert!(policy.set(name, *value), "{name}");
            }
            view.now = Instant(1);
            policy.enter(Entry::Connect, &view);
            let _ = policy.step(&ack(&view, 0), &view);
            Self { policy, view }
        }

        fn bin(&mut self, sent: u64, delivered: u64) -> Step {
            self.view.now = self.view.now + Span::from_micros(35_001);
            self.view.sent += MSS * sent;
            self.view.delivered += MSS * delivered;
            let step = self.policy.step(&ack(&self.view, 0), &self.view);
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
        let told = [35_000_000, found.expected.0, found.delivered.0].map(Some);
        assert_eq!(gauges.map(|name| gauge(&path.policy, name)), told);
    }

    /// Sending doubles, then stays; delivery follows two bins and 6/7 later until the queue takes
    /// a share.
    #[test]
    fn it_leaves_at_the_window_when_26_percent_are_missing() {
        let missing = |percent: u64| {
            let mut path = Path::new(&[]);
            (0..60).find_map(|_| path.bin(100, 100 - percent).exit)
        };
        assert_eq!(missing(25), None);
        assert_eq!(missing(26), Some(Exit::Heuristic));
        let mut path = Path::new(&[]);
        let left = (0..60).map(|_| path.bin(100, 70)).find(|step| step.exit.is_some()).unwrap();
        assert_eq!(left.window, Window { cwnd: MSS * 100, ssthresh: MSS * 100 });
    }

    #[test]
    fn a_path_that_delivers_nothing_has_no_pipe() {
        let mut path = Path::new(&[]);
        while path.bin(100, 0).exit.is_none() {}
        assert_eq!(path.policy.found(&path.view).pipe, None);
    }

    /// Twelve bins warm up, the thirteenth is compared.
    #[test]
    fn it_leaves_in_the_thirteenth_bin_at_the_earliest() {
        let mut path = Path::new(&[]);
        let left = (1..60).find(|_| path.bin(100, 50).exit.is_some());
        assert_eq!(left, Some(13));
        let mut path = Path::new(&[("bounds", KnobValue::Word("linux"))]);
        assert_eq!((1..60).find(|_| path.bin(100, 50).exit.is_some()), Some(12));
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

    #[test]
    fn the_drain_of_version_9_takes_a_segment_for_three_down_to_what_was_delivered() {
        let mut path = Path::new(&[("drain", KnobValue::Word("on"))]);
        path.policy.initial_window = MSS * 10;
        while path.policy.drain.is_none() {
            assert_eq!(path.bin(40, 20).exit, None);
        }
        // The last first RTT is three bins: 60 segments.
        let mut step = |segments| {
            let step = path.policy.step(&ack(&path.view, segments), &path.view);
            path.view.window = step.window;
            (step.window.cwnd.0 / 1_000, step.window.ssthresh.0 / 1_000, step.exit)
        };
        assert_eq!([step(2), step(1), step(2)], [(100, 100, None), (99, 99, None), (99, 99, None)]);
        assert_eq!([step(4), step(2)], [(97, 97, None), (97, 97, None)], "six cost two");
        assert_eq!(step(116), (60, 60, Some(Exit::Heuristic)));
        assert_eq!(path.policy.found(&path.view).pipe, Some(MSS * 60));
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

    #[test]
    fn an_idle_source_counts_as_a_plateau_unless_asked_to_begin_anew() {
        let after = |knobs: &[(&str, KnobValue)]| {
            let mut path = Path::new(knobs);
            (0..12).for_each(|_| assert_eq!(path.bin(100, 50).exit, None));
            let idle = Ack { app_limited: true, ..ack(&path.view, 1) };
            let _ = path.policy.step(&idle, &path.view);
            path.bin(100, 50).exit.is_some()
        };
        assert!(after(&[]));
        assert!(!after(&[("limited", KnobValue::Word("anew"))]));
    }

    #[test]
    fn it_is_slow_start_again_after_a_timeout() {
        let mut path = Path::new(&[]);
        path.policy.enter(Entry::Timeout, &path.view);
        assert!((0..60).all(|_| path.bin(100, 10).exit.is_none()));
        let view = view(20, MSS * 21);
        let step = path.policy.step(&ack(&view, 3), &view);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 21, Some(Exit::Threshold)));
    }
}
