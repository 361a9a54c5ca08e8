//! HyStart (Ha and Rhee, "Taming the Elephants: New TCP Slow Start", North Carolina State
//! University, 2008), in the form Linux' CUBIC has it (`tcp_cubic.c`, as of 6.6).
//!
//! What it believes: the path is full when the ACKs of a round take as long as the path without a
//! queue, or when the RTT has begun to grow. What it does once the window has 16 segments, on every
//! ACK of a round that began at `round_start`, with the smallest RTT of the connection `delay_min`:
//!
//! ```text
//! ACK train: the ACK comes at most 2 ms after the last of the train:
//!            now - round_start > (delay_min + ack_delay) / 2   leave
//! delay:     after 8 samples, the smallest RTT of the round
//!            > delay_min + clamp(delay_min / 8, 4 ms, 16 ms)   leave
//! leaving:   ssthresh = cwnd
//! ```
//!
//! Until then the window grows by what an ACK acknowledges and stops at ssthresh, as in Linux, so
//! that delayed ACKs do not slow it.
//!
//! `ack_delay` allows for data that leaves and arrives in large blocks:
//! `min(1 ms, 4 * 64 KiB / rate)`, the rate being Linux' pacing rate: 2 cwnd/srtt below half of
//! ssthresh, 1.2 above. A paced sender spreads its data over the RTT, so there
//! ([`View::paced`]; Linux: `sk_pacing_status`) the train may take all of `delay_min + ack_delay`,
//! unless the knob `train` says otherwise.
//!
//! Published: all of it, in Linux' source. Every sample of a round may lower its smallest RTT
//! (Linux commit b344579ca847); before, only the first eight could, and a path that turned shorter
//! within a round ended start-up.
//!
//! `delay_min` is the smallest RTT of the connection, the handshake's too, whose packets are small
//! and find no queue of data of its own. In Linux it begins with the first ACK of data
//! (`cubictcp_init`), and anew after a timeout: `delay_min=data`.
//!
//! Departures: Linux ignores RTT samples in the second after a recovery, which cannot occur in slow
//! start here. Samples come with ACKs for new data only. After a timeout it begins anew, as in
//! Linux.

use crate::card::{Card, Listed};
use crate::estimate::hystart_round::{LOW_WINDOW, Round, ack_delay};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, words};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Entry, Exit, Observer, Startup, Step};
use crate::units::{Bytes, Span};
use crate::view::{Paced, Phase, View, Window};

/// Slow start that looks for its end in ACK trains and in the RTT.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    opening: Opening,
    detect: Detect,
    train: Train,
    counts: DelayMin,
    /// The smallest RTT of data (`delay_min`).
    delay_min: Span,
    /// Window in segments below which it does not look (`hystart_low_window`).
    low_window: u64,
    /// What is known of the round.
    round: Round,
    /// The end of slow start has been found (`found`).
    found: bool,
}

/// Which signs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detect {
    Both,
    Train,
    Delay,
}

/// Which RTTs `delay_min` is the smallest of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DelayMin {
    /// All RTTs of the connection.
    Connection,
    /// RTTs of data since the connection began or timed out.
    Data,
}

/// How long an ACK train may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Train {
    /// Half of the limit, and all of it where packets are paced.
    Auto,
    Half,
    Whole,
}

impl HyStart {
    /// Looks at an ACK with its RTT sample (`hystart_update()`).
    fn update(&mut self, rtt: Span, view: &View) {
        // `cubictcp_acked()`.
        self.delay_min = self.delay_min.min(rtt);
        // `after(snd_una, end_seq)`: data sent after the round began is acknowledged.
        if view.acked > self.round.end_seq {
            self.round = Round::new(view);
        }
        // `hystart_low_window`.
        if view.window.cwnd < view.mss * self.low_window {
            return;
        }
        // `hystart_detect`: HYSTART_ACK_TRAIN, HYSTART_DELAY or both.
        let train =
            self.detect != Detect::Delay && self.round.train_is_long(self.limit(view), 1, view);
        let delay =
            self.detect != Detect::Train && self.round.rtt_has_grown(rtt, self.delay_min(view));
        self.found = train || delay;
    }

    /// `delay_min`.
    fn delay_min(&self, view: &View) -> Span {
        match self.counts {
            DelayMin::Connection => view.rtt.min,
            DelayMin::Data => self.delay_min,
        }
    }

    /// How long an ACK train may take.
    fn limit(&self, view: &View) -> Span {
        // `hystart_update()`: `delay_min` and a cushion, halved where `sk_pacing_status` is none.
        let limit = self.delay_min(view) + ack_delay(view);
        match (self.train, view.paced) {
            (Train::Half, _) | (Train::Auto, Paced::No) => limit / 2,
            _ => limit,
        }
    }
}

impl Listed for HyStart {
    const CARD: Card = Card::new(
        "hystart",
        "slow start that leaves when ACK trains are long or the RTT grows",
        "Ha and Rhee, 2008; Linux tcp_cubic.c",
    )
    .with("cubic")
    .about(
        "How long the ACKs of a round take, and the smallest RTT of each round.",
        "The path is full when the ACKs of a round take half of the RTT, or when the RTT has \
         begun to grow.",
        "Jitter and ACKs that come in lumps look like both signs: it then leaves with a small \
         window, and what follows is slow.",
    )
    .finds_its_end()
    .in_kernel("hystart")
    .knobs(Self::KNOBS);
}

impl Observer for HyStart {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        // `cubictcp_acked()`: only in slow start, and until it has found its end.
        let slow_start = view.phase == Phase::Startup && view.window.cwnd < view.window.ssthresh;
        if self.found || !slow_start || ack.acked == Bytes(0) {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.update(rtt, view);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("hystart_round_rtt", self.round.curr_rtt.reported());
        report("hystart_train", self.round.last_ack.since(self.round.round_start).0);
    }
}

impl Startup for HyStart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, why: Entry, view: &View) {
        // `cubictcp_init()`, and `bictcp_reset()` after a timeout.
        if matches!(why, Entry::Connect | Entry::Timeout) {
            self.delay_min = Span::MAX;
        }
        self.round = Round::new(view);
        self.found = false;
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // `hystart_update()`: `snd_ssthresh = snd_cwnd`.
        if self.found {
            return view.window.hold().threshold(view.window.cwnd).exit(Exit::Heuristic);
        }
        // `tcp_slow_start()`: all that is acknowledged counts, and cwnd stops at ssthresh.
        view.window.grow_to_threshold(ack.acked)
    }
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            detect: Detect::Both,
            train: Train::Auto,
            counts: DelayMin::Connection,
            delay_min: Span::MAX,
            low_window: LOW_WINDOW,
            round: Round::NONE,
            found: false,
        }
    }
}

impl Knobs for HyStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("detect")
            .means("which signs end slow start: the length of the ACK train, the RTT, or either")
            .word(words!(
                |p| p.detect,
                ["both" = Detect::Both, "train" = Detect::Train, "delay" = Detect::Delay]
            )),
        Knob::new("train")
            .means(
                "how much of the smallest RTT a train may take; auto, as Linux: half, whole when \
                 packets are paced",
            )
            .word(words!(
                |p| p.train,
                ["auto" = Train::Auto, "half" = Train::Half, "whole" = Train::Whole]
            )),
        Knob::new("delay_min")
            .means(
                "the RTTs that a growing one is compared with: all of the connection, or, as \
                 Linux, those of data, without the handshake's",
            )
            .word(words!(
                |p| p.counts,
                ["connection" = DelayMin::Connection, "data" = DelayMin::Data]
            )),
        Knob::new("low_window")
            .means("window in segments below which it does not look")
            .count(1..=1_000_000, |p| &mut p.low_window),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};
    use crate::units::Instant;

    /// ACKs of one round every `gap_us`, RTTs as given; the number of the ACK that ends start-up.
    fn leaves_at(policy: &mut HyStart, cwnd: u64, gap_us: u64, rtt_ms: &[u64]) -> Option<usize> {
        let mut view = view(cwnd, Bytes::MAX);
        view.now = Instant(1_000_000_000);
        policy.enter(Entry::Connect, &view);
        rtt_ms.iter().position(|rtt| {
            view.now = view.now + Span::from_micros(gap_us);
            view.rtt.latest = Span::from_millis(*rtt);
            view.rtt.min = view.rtt.min.min(view.rtt.latest);
            let ack = ack(&view, 1);
            policy.on_ack(&ack, &view);
            policy.step(&ack, &view).exit.is_some()
        })
    }

    fn only(detect: &'static str) -> HyStart {
        let mut policy = HyStart::default();
        assert!(policy.set("detect", KnobValue::Word(detect)));
        policy
    }

    #[test]
    fn a_train_of_half_the_smallest_rtt_ends_slow_start() {
        // (100 ms + 1 ms) / 2 = 50.5 ms: the 51st ACK after a millisecond each is the first beyond.
        assert_eq!(leaves_at(&mut only("train"), 16, 1_000, &[100; 80]), Some(50));
        let mut paced = only("train");
        assert!(paced.set("train", KnobValue::Word("whole")));
        assert_eq!(leaves_at(&mut paced, 16, 1_000, &[100; 120]), Some(101));
        let limits = |train, paced| {
            let mut policy = only("train");
            assert!(policy.set("train", KnobValue::Word(train)));
            policy.limit(&View { paced, ..crate::testing::view(16, Bytes::MAX) }).0 / 500_000
        };
        let of = |train| {
            [Paced::No, Paced::ByEndpoint(125), Paced::ByPolicy].map(|by| limits(train, by))
        };
        assert_eq!(of("auto"), [101, 202, 202], "half, and all of it where packets are paced");
        assert_eq!((of("half"), of("whole")), ([101; 3], [202; 3]));
    }

    #[test]
    fn acks_more_than_two_milliseconds_apart_are_no_train() {
        assert_eq!(leaves_at(&mut only("train"), 16, 2_001, &[100; 80]), None);
        // At 2 ms they are: 52 ms is the first beyond 50.5.
        assert_eq!(leaves_at(&mut only("train"), 16, 2_000, &[100; 80]), Some(25));
    }

    #[test]
    fn an_rtt_an_eighth_longer_ends_slow_start_after_eight_samples() {
        let mut rtt_ms = [113; 20];
        rtt_ms[0] = 100;
        assert_eq!(leaves_at(&mut only("delay"), 16, 100, &rtt_ms), None, "the round saw 100 ms");
        let mut policy = only("delay");
        let mut small = view(16, Bytes::MAX);
        let of_round = |policy: &mut HyStart, view: &mut View, rtt| {
            policy.enter(Entry::Connect, view);
            leaves_at(policy, 16, 100, &[rtt; 20])
        };
        assert_eq!(of_round(&mut policy, &mut small, 112), None, "100 + 12.5 ms");
        assert_eq!(of_round(&mut policy, &mut small, 113), Some(8));
    }

    #[test]
    fn a_late_short_sample_lowers_the_rtt_of_the_round() {
        // The bug of Linux before b344579ca847: eight samples of 150 ms, then the path is 100 ms.
        let mut rtt_ms = [150; 20];
        rtt_ms[8..].fill(100);
        let mut policy = only("delay");
        let mut long = view(16, Bytes::MAX);
        long.rtt.min = Span::from_millis(150);
        policy.enter(Entry::Connect, &long);
        let left = rtt_ms.iter().any(|rtt| {
            long.rtt.latest = Span::from_millis(*rtt);
            long.rtt.min = long.rtt.min.min(long.rtt.latest);
            policy.on_ack(&ack(&long, 1), &long);
            policy.found
        });
        assert!(!left);
    }

    #[test]
    fn the_window_grows_by_what_is_acknowledged_and_stops_at_ssthresh() {
        let below = view(90, MSS * 100);
        let step = HyStart::default().step(&ack(&below, 2), &below);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 92, None));
        let near = view(99, MSS * 100);
        let step = HyStart::default().step(&ack(&near, 2), &near);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 100, Some(Exit::Threshold)));
    }

    #[test]
    fn it_does_not_look_below_sixteen_segments() {
        assert_eq!(leaves_at(&mut HyStart::default(), 15, 1_000, &[100; 80]), None);
    }

    #[test]
    fn it_leaves_with_ssthresh_at_the_window() {
        let mut policy = HyStart { found: true, ..HyStart::default() };
        let view = view(100, Bytes::MAX);
        let step = policy.step(&ack(&view, 1), &view);
        assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 100, MSS * 100));
        assert_eq!(step.exit, Some(Exit::Heuristic));
    }

    /// Nine samples of 120 ms, where 112.5 ms are too much.
    fn queued(policy: &mut HyStart, view: &View, acked: u64) {
        for _ in 0..9 {
            let rtt = Some(Span::from_millis(120));
            policy.on_ack(&Ack { rtt, ..ack(view, acked) }, view);
        }
    }

    #[test]
    fn it_looks_only_at_acks_of_new_data_below_ssthresh_in_start_up() {
        let looked = |view: &View, acked| {
            let mut policy = only("delay");
            queued(&mut policy, view, acked);
            (policy.found, crate::testing::gauge(&policy, "hystart_round_rtt"))
        };
        let view = view(16, MSS * 17);
        assert_eq!(looked(&view, 1), (true, Some(120_000_000)));
        assert_eq!(looked(&view, 0), (false, Some(0)), "duplicates");
        let reached = View { window: Window { ssthresh: MSS * 16, ..view.window }, ..view };
        assert_eq!(looked(&reached, 1), (false, Some(0)));
        let avoidance = View { phase: Phase::Avoidance, ..view };
        assert_eq!(looked(&avoidance, 1), (false, Some(0)));
    }

    #[test]
    fn what_it_has_found_stays_found_until_it_decides() {
        let (mut policy, mut view) = (only("delay"), view(16, Bytes::MAX));
        queued(&mut policy, &view, 1);
        // The next round looks well again.
        (view.acked, view.rtt.latest) = (MSS * 17, Span::from_millis(100));
        policy.on_ack(&ack(&view, 1), &view);
        assert_eq!(policy.step(&ack(&view, 1), &view).exit, Some(Exit::Heuristic));
    }

    /// The handshake took 80 ms, and packets of data take 120 on the empty path, which is beyond 80
    /// and an eighth.
    #[test]
    fn linux_compares_with_the_smallest_rtt_of_data_and_forgets_it_at_a_timeout() {
        let sender = |detect, word| {
            let mut policy = only(detect);
            assert!(policy.set("delay_min", KnobValue::Word(word)));
            policy
        };
        let left = |detect, word| {
            let mut view = view(16, Bytes::MAX);
            view.rtt.min = Span::from_millis(80);
            let mut policy = sender(detect, word);
            policy.enter(Entry::Connect, &view);
            view.now = Instant(0);
            (1..80_u64).find(|ms| {
                view.now = Instant(ms * 1_000_000);
                let ack = Ack { rtt: Some(Span::from_millis(120)), ..ack(&view, 1) };
                policy.on_ack(&ack, &view);
                policy.found
            })
        };
        assert_eq!([left("delay", "connection"), left("delay", "data")], [Some(9), None]);
        let mut policy = sender("delay", "data");
        policy.delay_min = Span::from_millis(80);
        let view = view(16, Bytes::MAX);
        policy.enter(Entry::Rest, &view);
        queued(&mut policy, &view, 1);
        assert!(policy.found, "kept over a rest");
        policy.enter(Entry::Timeout, &view);
        queued(&mut policy, &view, 1);
        assert!(!policy.found);
    }

    #[test]
    fn it_reports_the_length_of_the_train() {
        let mut policy = only("train");
        assert_eq!(leaves_at(&mut policy, 16, 1_000, &[100; 7]), None);
        assert_eq!(crate::testing::gauge(&policy, "hystart_train"), Some(7_000_000));
    }
}
