//! C4's start (draft-huitema-ccwg-c4-spec-04, 2026): the rate that was seen, twice over.
//!
//! What it believes: a rate that three rounds do not raise by a quarter is the path's, and until
//! then neither delay nor a few losses mean much. What it does:
//!
//! ```text
//! r = max of the samples;  initial += acked >> 3 idle;  maxrtt = the first RTT
//! cwnd = initial = max(initial, 2 r maxrtt);  pace = max(2 r, 1 Mbit/s), in quanta of 4 ms,
//!        2 packets at least and 64 KB at most
//! per round not limited by the source:  r >= 1.25 old: idle = 0, else idle += 1;  idle = 3: leave
//! RTT > minrtt + min(maxrtt/4, 25 ms), or a mark:  leave if idle > 1
//! loss: leave after 20 packets
//! leaving: cwnd = ssthresh = initial/2
//! ```
//!
//! A round is one of the source's if no sample rose above r and no more than minrtt * r was
//! delivered in it. Published: these rules; what it leaves is `r maxrtt` with the draft's
//! `maxrtt = initial/2r`. That `initial` is lifted to the window is picoquic's code (`c4.c`, 2026):
//! what leaves is then no less than the pipe.
//!
//! Inferred: a sample is what the transport takes (over the longer of the sending and the
//! acknowledging interval, where the draft has the time since the packet left); the limit of the
//! delay is 1/16 to 1/4 of maxrtt in the draft, by a sensitivity that rises with the rate, and a
//! knob here. picoquic also looks at the peak rate of trains, which no sample here shows. Recovery,
//! cruising and pushing of C4 do not follow here: any avoidance may, and it gets rate and pipe.

use crate::card::{Card, Listed};
use crate::estimate::bbr_model::{BbrModel, usable};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening_of_own_end};
use crate::pacing::Pacing;
use crate::policy::{Answer, Entry, Exit, Found, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate, Span};
use crate::view::{Eligible, Phase, View, Window};

/// Start-up at twice the largest rate seen.
#[derive(Clone, Copy, Debug)]
pub struct C4 {
    opening: Opening,
    /// Part of the first RTT by which the RTT may rise, in millionths.
    delay: u64,
    /// Packets that may be lost before a loss ends it.
    most_lost: u64,
    /// It has ended, or is slow start after a timeout. Where the avoidance asks for start-up again
    /// it is C4 again, so that it is not [`Startup::once`].
    over: bool,
    /// Rate, rounds and pipe, as BBR measures them.
    model: BbrModel,
    /// The rate a round ago.
    previous_rate: Rate,
    /// A sample of this round was above the rate.
    rose: bool,
    /// Eras without increase.
    eras_without_increase: u64,
    /// What the window is at the least; it grows by what is acknowledged (picoquic, `c4.c`).
    initial_cwnd: Bytes,
    /// Payload found lost.
    lost: Bytes,
    /// Why it leaves with the next decision.
    leaves: Option<Exit>,
}

impl C4 {
    /// Counts an ACK, and the round that ends with it.
    fn count(&mut self, ack: &Ack, view: &View) {
        self.initial_cwnd +=
            Bytes(ack.credited.0 >> (3 * self.eras_without_increase.min(MOST_IDLE)));
        // draft-huitema-ccwg-c4-spec, "Nominal rate": a sample only ever raises it.
        let rate = self.model.bandwidth();
        self.rose |= usable(ack, view).is_some_and(|sample| sample > rate);
        // Specification, "Initial state": eras in which the source limited sending are left out.
        if let Some(round) = self.model.on_ack(ack, view) {
            let full = self.model.pipe(view).is_some_and(|pipe| round.delivered > pipe);
            if core::mem::take(&mut self.rose) || full {
                let now = self.model.bandwidth();
                let grew = now >= self.previous_rate.scaled(GROWTH.0, GROWTH.1);
                self.eras_without_increase = if grew { 0 } else { self.eras_without_increase + 1 };
                self.previous_rate = now;
            }
        }
        // Specification, "Initial state": three eras without increase end it; a delay does so only
        // after two.
        let limit = view.rtt.first.scaled(self.delay, RATIO_ONE).min(MOST_DELAY);
        let late = ack.rtt.is_some_and(|rtt| rtt > view.rtt.min + limit);
        if self.eras_without_increase >= MOST_IDLE || late && self.eras_without_increase > 1 {
            self.leaves.get_or_insert(Exit::Heuristic);
        }
    }

    fn note_lost(&mut self, loss: &Loss, view: &View) {
        // Specification, "Initial state": a loss counts only once 20 packets show a rate of loss.
        self.lost += loss.lost;
        if self.lost >= view.mss * self.most_lost {
            self.leaves.get_or_insert(Exit::Loss);
        }
    }

    fn decide(&mut self, view: &View) -> Step {
        if let Some(why) = self.leaves {
            // The specification sets the window to `nominal_rate * max_rtt`. It gives `max_rtt` as
            // `initial_cwnd / (2 * nominal_rate)`, so that the product is half of `initial_cwnd`.
            self.over = true;
            let half = (self.initial_cwnd / 2).max(view.mss * 2);
            let cwnd = half.min(view.window.cwnd);
            return Window { cwnd, ssthresh: half }.hold().exit(why);
        }
        // draft-huitema-ccwg-c4-spec, "Setting pacing rate, congestion window and quantum": alpha
        // is 2 in the initial state, the quantum 4 ms of the pace within 2 packets and 64 KB.
        let twice = self.model.bandwidth() * 2;
        self.initial_cwnd = self.initial_cwnd.max(twice.over(view.rtt.first));
        let cwnd = self.initial_cwnd.max(view.window.cwnd);
        let rate = twice.max(LEAST_RATE);
        let most = Bytes(MOST_QUANTUM);
        let quantum = rate.over(QUANTUM).min(most).max(view.mss * 2);
        Window { cwnd, ..view.window }.hold().pacing(Pacing::at(rate).in_bursts_of(quantum))
    }
}

impl Listed for C4 {
    const CARD: Card = Card::new(
        "c4",
        "twice the largest rate seen until three rounds do not raise it, deaf to a few losses",
        "draft-huitema-ccwg-c4-spec-04",
    )
    .with("cubic")
    .about(
        "The largest delivery rate seen, and whether a round raised it.",
        "A rate that three rounds do not raise by a quarter is the path's; until then neither \
         delay nor a few losses mean much.",
        "It sends at twice what was delivered and never bursts, so that it takes longer than slow \
         start, and goes on through its first 20 losses.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for C4 {
    fn needs(&self) -> Needs {
        let samples = Facilities::RATES | Facilities::PACKETS;
        Needs::required(Facilities::TIMES | samples | Facilities::RECOVERY_WINDOW)
            .wanting(Facilities::PACING)
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if !self.over && view.phase == Phase::Startup {
            self.count(ack, view);
        }
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        self.note_lost(loss, view);
    }

    fn on_further_loss(&mut self, loss: &Loss, view: &View) {
        self.note_lost(loss, view);
    }

    fn eligible(&self) -> Option<Eligible> {
        self.model.rate().map(Eligible::exact)
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("c4_rate", self.model.bandwidth().0);
        report("c4_idle", self.eras_without_increase);
        report("c4_initial", self.initial_cwnd.0);
    }
}

impl Startup for C4 {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, why: Entry, view: &View) {
        if !matches!(why, Entry::Connect | Entry::Reprobe) {
            self.over = true;
            return;
        }
        let Self { opening, delay, most_lost, .. } = *self;
        *self = Self { opening, delay, most_lost, ..Self::default() };
        self.initial_cwnd = view.window.cwnd;
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Window { cwnd, ssthresh } = view.window;
        if self.over || ssthresh != Bytes::MAX && cwnd >= ssthresh {
            return double(ack, view);
        }
        self.decide(view)
    }

    fn answer(&mut self, loss: &Loss, _view: &View) -> Answer {
        if self.over || loss.kind == LossKind::Timeout {
            return Answer::Leave;
        }
        // Specification, "Initial state": a congestion signal other than loss ends it after two
        // eras without increase.
        if loss.kind == LossKind::Mark && self.eras_without_increase > 1 {
            self.leaves.get_or_insert(Exit::Mark);
        }
        Answer::Ignore
    }

    fn recovering(&mut self, _ack: &Ack, view: &View) -> Step {
        self.decide(view)
    }

    fn found(&self, view: &View) -> Found {
        Found { pipe: self.model.pipe(view), rate: self.model.rate(), ..Found::default() }
    }
}

impl Default for C4 {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            delay: RATIO_ONE / 4,
            most_lost: MOST_LOST,
            over: false,
            model: BbrModel::NEW,
            previous_rate: Rate(0),
            rose: false,
            eras_without_increase: 0,
            initial_cwnd: Bytes(0),
            lost: Bytes(0),
            leaves: None,
        }
    }
}

impl Knobs for C4 {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("delay")
            .means("part of the first RTT, 25 ms at most, by which the RTT may rise")
            .ratio(RATIO_ONE / 16..=RATIO_ONE / 4, |p| &mut p.delay),
        Knob::new("losses")
            .means("packets lost before it leaves")
            .count(1..=1_000, |p| &mut p.most_lost),
    ];
}

/// By how much a round must raise the rate: `(3 old + 2 old)/4`.
const GROWTH: (u64, u64) = (5, 4);

/// Rounds without that which end it.
const MOST_IDLE: u64 = 3;

/// Packets lost that end it.
const MOST_LOST: u64 = 20;

/// The delay that always counts.
const MOST_DELAY: Span = Span::from_millis(25);

/// 1,048,576 bit/s.
const LEAST_RATE: Rate = Rate::from_bits_per_second(1 << 20);

/// What leaves at once is that of so long.
const QUANTUM: Span = Span::from_millis(4);

/// But no more, in bytes.
const MOST_QUANTUM: u64 = 65_536;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "it fails the test")]
mod tests {
    use super::*;
    use crate::event::{Departure, RateSample};
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};
    use crate::units::Instant;

    struct Path {
        policy: C4,
        view: View,
    }

    impl Path {
        fn new() -> Self {
            let (mut policy, view) = (C4::default(), view(10, Bytes::MAX));
            policy.enter(Entry::Connect, &view);
            Self { policy, view }
        }

        /// A round that delivers so many segments, at the rate of so many per RTT.
        fn round(&mut self, delivered: u64, rate: u64) -> Step {
            self.packet(delivered, rate, self.view.delivered)
        }

        /// Takes the ACK of a packet that left after `before` had been delivered.
        fn packet(&mut self, delivered: u64, rate: u64, before: Bytes) -> Step {
            self.view.delivered += MSS * delivered;
            let interval = Span::from_millis(100);
            let sample = RateSample { delivered: MSS * rate, interval, app_limited: false };
            let sent_at = Instant(0);
            let ack = Ack {
                credited: MSS * delivered,
                sample: Some(sample),
                packet: Some(Departure { sent_at, delivered: before, in_flight: MSS }),
                ..ack(&self.view, delivered)
            };
            self.policy.on_ack(&ack, &self.view);
            let step = self.policy.step(&ack, &self.view);
            self.view.window = step.window;
            step
        }
    }

    #[test]
    fn the_window_is_what_was_acknowledged_or_two_rtts_of_the_rate() {
        let mut path = Path::new();
        let step = path.round(10, 10);
        assert_eq!(step.window.cwnd, MSS * 20);
        let pacing = step.pacing_set().unwrap();
        assert_eq!((pacing.rate, pacing.burst), (Rate(200_000), MSS * 2));
        assert_eq!(path.round(20, 60).window.cwnd, MSS * 120);
        assert_eq!(
            path.policy.initial_cwnd,
            MSS * 120,
            "lifted to the window, of which half is left"
        );
        let pacing = path.round(120, 5_000).pacing_set().unwrap();
        assert_eq!((pacing.rate, pacing.burst), (Rate(100_000_000), Bytes(65_536)));
        let slow = Path::new().round(1, 1).pacing_set().unwrap();
        assert_eq!(slow.rate, Rate(1_048_576 / 8), "1 Mbit/s at least");
    }

    #[test]
    fn three_rounds_without_a_quarter_more_end_it_at_half_of_what_was_acknowledged() {
        let mut path = Path::new();
        let exits = [100, 125, 156, 157].map(|rate| path.round(200, rate).exit);
        assert_eq!(exits, [None; 4], "125 is a quarter more; 156 is not");
        let left = path.round(200, 157);
        assert_eq!(left.exit, Some(Exit::Heuristic));
        // The first window, three rounds of 200, an eighth of one and a 64th of one.
        assert_eq!(path.policy.initial_cwnd, Bytes(10_000 + 600_000 + 25_000 + 3_125));
        assert_eq!(left.window.ssthresh, path.policy.initial_cwnd / 2);
        assert_eq!(path.policy.found(&path.view).rate, Some(Rate(1_570_000)));
    }

    #[test]
    fn rounds_that_the_source_limits_do_not_count() {
        let mut path = Path::new();
        let _ = path.round(200, 100);
        assert!((0..20).all(|_| path.round(50, 50).exit.is_none()));
        assert_eq!(path.policy.eras_without_increase, 0);
    }

    /// Above the rate seen, or more than minrtt * r delivered.
    #[test]
    fn a_round_counts_if_a_sample_rose_or_the_pipe_was_full() {
        let idle_after = |delivered, rate| {
            let mut path = Path::new();
            let _ = path.round(200, 100);
            let _ = path.round(delivered, rate);
            path.policy.eras_without_increase
        };
        assert_eq!([idle_after(50, 100), idle_after(100, 99), idle_after(101, 99)], [0, 0, 1]);
        let mut path = Path::new();
        let _ = path.round(200, 100);
        let _ = path.packet(10, 110, Bytes(0));
        let _ = path.round(10, 50);
        assert_eq!(
            path.policy.eras_without_increase, 1,
            "the first sample of the round rose, by a tenth"
        );
        assert_eq!(path.policy.found(&path.view).pipe, Some(MSS * 110));
    }

    #[test]
    fn delay_ends_it_only_after_two_idle_rounds() {
        let late = |idle, rtt_ms| {
            let mut path = Path::new();
            for _ in 0..=idle {
                let _ = path.round(200, 100);
            }
            assert_eq!(path.policy.eras_without_increase, idle);
            path.view.rtt.latest = Span::from_millis(rtt_ms);
            let ack = ack(&path.view, 1);
            path.policy.on_ack(&ack, &path.view);
            path.policy.step(&ack, &path.view).exit.is_some()
        };
        assert!(late(2, 126) && !late(2, 125) && !late(1, 500));
    }

    #[test]
    fn twenty_lost_packets_end_it_and_nineteen_do_not() {
        let after = |packets| {
            let mut path = Path::new();
            let _ = path.round(200, 100);
            let loss = Loss::of(Instant(0), LossKind::Recovery, MSS * packets, MSS);
            path.policy.on_loss(&loss, &path.view);
            assert_eq!(path.policy.answer(&loss, &path.view), Answer::Ignore);
            path.policy.recovering(&ack(&path.view, 1), &path.view).exit
        };
        assert_eq!((after(19), after(20)), (None, Some(Exit::Loss)));
        let mut path = Path::new();
        let loss = Loss::of(Instant(0), LossKind::Recovery, MSS * 10, MSS);
        path.policy.on_loss(&loss, &path.view);
        path.policy.on_further_loss(&loss, &path.view);
        assert_eq!(path.policy.decide(&path.view).exit, Some(Exit::Loss), "ten and ten");
    }

    #[test]
    fn it_leaves_two_segments_at_least() {
        let mut policy = C4 { initial_cwnd: MSS, leaves: Some(Exit::Loss), ..C4::default() };
        let window = Window { cwnd: MSS * 2, ssthresh: MSS * 2 };
        assert_eq!(policy.decide(&view(10, Bytes::MAX)).window, window);
    }

    #[test]
    fn it_counts_in_its_own_start_up_only() {
        let counted = |over, phase| {
            let mut path = Path::new();
            (path.policy.over, path.view.phase) = (over, phase);
            path.policy.on_ack(&ack(&path.view, 1), &path.view);
            path.policy.initial_cwnd == MSS * 11
        };
        assert!(counted(false, Phase::Startup));
        assert!(!counted(true, Phase::Startup) && !counted(false, Phase::Avoidance));
    }

    #[test]
    fn it_is_slow_start_after_its_end_and_ends_at_a_threshold() {
        let step = |over, ssthresh| {
            let mut path = Path::new();
            (path.policy.over, path.view.window.ssthresh) = (over, ssthresh);
            let step = path.policy.step(&ack(&path.view, 1), &path.view);
            (step.window.cwnd.0 / 1_000, step.pacing_set().is_some(), step.exit)
        };
        assert_eq!(step(false, Bytes::MAX), (10, true, None));
        assert_eq!(step(true, Bytes::MAX), (11, false, None));
        assert_eq!(step(false, MSS * 20), (10, true, None));
        assert_eq!(step(false, MSS * 10), (10, false, Some(Exit::Threshold)));
    }

    #[test]
    fn knobs_are_kept_within_their_ranges_and_when_it_begins() {
        let mut policy = C4::default();
        assert_eq!(policy.eligible(), None);
        let mut after = |part, count| {
            assert!(policy.set("delay", KnobValue::Ratio(part)));
            assert!(policy.set("losses", KnobValue::Count(count)));
            policy.enter(Entry::Connect, &view(10, Bytes::MAX));
            (policy.delay, policy.most_lost)
        };
        assert_eq!(after(1, 0), (62_500, 1));
        assert_eq!(after(RATIO_ONE, 2_000), (250_000, 1_000));
        assert_eq!(after(100_000, 7), (100_000, 7));
        assert!(policy.set("iw", KnobValue::Window(crate::knob::Amount::Segments(3))));
        policy.enter(Entry::Connect, &view(10, Bytes::MAX));
        assert_eq!(policy.open(view(10, Bytes::MAX).window, MSS).cwnd, MSS * 3);
        assert!(!policy.set("no such knob", KnobValue::Count(1)));
    }

    #[test]
    fn a_mark_ends_it_only_after_two_idle_rounds_and_a_timeout_at_once() {
        let mut path = Path::new();
        let mark = Loss::of(Instant(0), LossKind::Mark, Bytes(0), MSS);
        let _ = path.round(200, 100);
        assert_eq!(path.policy.answer(&mark, &path.view), Answer::Ignore);
        assert_eq!(path.round(200, 100).exit, None);
        let _ = path.policy.answer(&mark, &path.view);
        assert_eq!(
            (path.policy.eras_without_increase, path.policy.decide(&path.view).exit),
            (1, None)
        );
        let _ = path.round(200, 100);
        let _ = path.policy.answer(&mark, &path.view);
        assert_eq!(path.policy.decide(&path.view).exit, Some(Exit::Mark));
        let timeout = Loss::of(Instant(0), LossKind::Timeout, MSS, MSS);
        assert_eq!(Path::new().policy.answer(&timeout, &path.view), Answer::Leave);
    }

    /// The specification's nominal rate: the largest sample.
    #[test]
    fn the_rate_is_what_it_knows_of_the_path() {
        let mut path = Path::new();
        let _ = path.round(10, 60);
        let _ = path.round(10, 20);
        assert_eq!(path.policy.eligible(), Some(Eligible::exact(Rate(600_000))));
    }
}
