//! Careful Resume (RFC 9959, May 2026): a jump to half of what an earlier connection had, watched
//! until it is proven.
//!
//! What it believes: a path that carried a window may carry half of it again, and until its data is
//! acknowledged nothing says so. What it does:
//!
//! ```text
//! Reconnaissance: slow start until the first window is acknowledged; gives up on a loss or a mark,
//!                 at minrtt <= saved/2, and at an RTT > 10 saved
//! Unvalidated:    pipe = in flight; cwnd = jump = min(max_jump, saved/2), paced over the RTT;
//!                 pipe += acked; ends when the jump is in flight, when its first packet is
//!                 acknowledged, or after an RTT:
//!                 in flight <= max(pipe, IW): cwnd = max(pipe, IW), normal;  else cwnd = in flight
//!                 minrtt <= saved/2, or an RTT > 10 saved: another path, Safe Retreat
//! Validating:     pipe += acked; slow start, until the last unvalidated packet is acknowledged
//! Safe Retreat:   after a loss or a mark in one of these two, or on another path: cwnd = pipe/2,
//!                 held; pipe += acked;
//!                 last unvalidated packet: ssthresh = pipe Beta, normal; what was saved is refuted
//! ```
//!
//! Normal is slow start. A timeout makes it normal.
//!
//! Published: all of it. What was saved is what the last connection had delivered in a round
//! ([`Learned::per_round`](crate::hint::Learned)); half of it counts if that connection never left
//! slow start, and nothing below four initial windows. Inferred: a round that the source limits
//! does not begin the jump (the RFC allows to wait for data). Who keeps the hints checks that the
//! endpoint is the same and that no other connection uses the entry, and forgets it
//! when [`Startup::refutes_hint`] says so.
//!
//! The RFC has rules of its own for BBR, whose Startup this takes no part in: `bbr(resume=on)`.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss, LossKind};
use crate::hint::{Learned, PathHint, TEN_MINUTES, max_age};
use crate::knob::{Amount, Knob, KnobOf, Knobs, RATIO_ONE};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Answer, Entry, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{View, Window};

/// Slow start with a jump to half of the window of an earlier connection.
#[derive(Clone, Copy, Debug)]
pub struct CarefulResume {
    opening: Opening,
    max_age: Span,
    max_jump: Amount,
    /// What Safe Retreat leaves of the pipe, in millionths.
    beta: u64,
    /// The window with which the connection began.
    first_window: Bytes,
    /// What an earlier connection found (`saved_cwnd`, `saved_rtt`).
    saved: Option<Saved>,
    /// The phase of section 4.
    phase: Phase,
    /// `PipeSize`.
    pipe: Bytes,
    /// The path is not the one that was saved.
    refuted: bool,
}

/// What an earlier connection had.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    window: Bytes,
    min_rtt: Span,
}

impl Saved {
    /// What a hint says, unless it is older than `max_age` or too small to be worth it (section
    /// 4.1).
    pub(super) fn of(hint: &PathHint, max_age: Span, view: &View) -> Option<Self> {
        // Section 4.1: half is saved of a connection that never left slow start.
        let PathHint::Own(Learned { window: was, per_round, .. }) = hint else { return None };
        let in_slow_start = was.cwnd < was.ssthresh;
        let window = if in_slow_start { *per_round / 2 } else { *per_round };
        Self::of_window(window, hint, max_age, view)
    }

    /// The same, where that window was saved.
    pub(super) fn of_window(
        window: Bytes,
        hint: &PathHint,
        max_age: Span,
        view: &View,
    ) -> Option<Self> {
        // Section 4.1, too.
        let PathHint::Own(last) = hint else { return None };
        let worth = window >= view.window.cwnd * LEAST_WINDOWS && last.age <= max_age;
        worth.then_some(Self { window, min_rtt: last.min_rtt })
    }

    /// Whether the path looks as it was (section 4.2): a minimum RTT of at most half the saved one
    /// is another path; so is one more than ten times as long.
    pub(super) fn is_of_path(&self, view: &View) -> bool {
        view.rtt.min > self.min_rtt / 2 && view.rtt.latest <= self.min_rtt * 10
    }

    /// The window to jump to (section 4.3).
    pub(super) fn jump(&self) -> Bytes {
        self.window / 2
    }
}

/// The phases of section 4; positions are those of [`View::acked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reconnaissance,
    /// From this position on data is unvalidated; the phase ends then at the latest.
    Unvalidated {
        first: Bytes,
        until: Instant,
        rate: Rate,
    },
    /// Up to this position it is.
    Validating {
        end: Bytes,
    },
    Retreat {
        end: Bytes,
    },
    Normal,
}

impl CarefulResume {
    /// Reconnaissance: jumps once the first window is acknowledged.
    fn reconnoitre(&mut self, ack: &Ack, view: &View) -> Step {
        // RFC 9959 section 4.2: the base congestion control goes on meanwhile.
        let step = double(ack, view);
        let Some(saved) = self.saved else { return step };
        if step.exit.is_some() || !saved.is_of_path(view) {
            self.phase = Phase::Normal;
            return step;
        }
        // Section 4.3: `jump_cwnd = min(max_jump, saved_cwnd / 2)`.
        let jump = saved.jump().min(self.max_jump.bytes(view.mss)).whole_segments(view.mss);
        // Section 4.2: the path is confirmed once all of the first window is acknowledged. That a
        // source without data defers the jump is a MAY of the RFC.
        let rtt = view.rtt.smoothed;
        if view.acked < self.first_window || ack.app_limited || rtt == Span(0) {
            return step;
        }
        if jump <= step.window.cwnd {
            self.phase = Phase::Normal;
            return step;
        }
        // Section 4.3: PipeSize is the flight, and the jump is paced over the current RTT.
        self.pipe = view.in_flight;
        let (first, until, rate) = (view.snd_nxt, view.now + rtt, jump.per(rtt).max(Rate(1)));
        self.phase = Phase::Unvalidated { first, until, rate };
        Window { cwnd: jump, ..view.window }.hold().paced(rate).wake_at(until)
    }

    /// The Unvalidated Phase is over, with so much in flight (section 4.3).
    fn validate(&mut self, in_flight: Bytes, view: &View) -> Step {
        // Section 4.3, check of flight_size: what the jump did not use is given back.
        let proven = self.pipe.max(self.first_window);
        let cwnd = if in_flight <= proven {
            self.phase = Phase::Normal;
            proven
        } else {
            self.phase = Phase::Validating { end: view.snd_nxt };
            in_flight
        };
        Window { cwnd: cwnd.min(view.window.cwnd), ..view.window }.hold()
    }

    /// What Safe Retreat sets (section 4.5).
    fn retreat(&self, view: &View) -> Bytes {
        // No more than half of PipeSize, but the two segments of RFC 9002 section 7.2.
        (self.pipe / 2).max(view.mss * 2).min(view.window.cwnd)
    }

    /// The Unvalidated Phase goes on, or not.
    fn jumping(
        &mut self,
        ack: &Ack,
        first: Bytes,
        rate: Rate,
        until: Instant,
        view: &View,
    ) -> Step {
        // Section 4.3, confirming the path during transmission: what was saved is of another one.
        if self.saved.is_some_and(|saved| !saved.is_of_path(view)) {
            self.refuted = true;
            self.phase = Phase::Retreat { end: view.snd_nxt };
            return Window { cwnd: self.retreat(view), ..view.window }.hold();
        }
        // Section 4.3 ends the phase when the window is in flight, when its first packet is
        // acknowledged, and after an RTT.
        let in_flight = ack.in_flight + ack.acked;
        let full = in_flight + view.mss > view.window.cwnd;
        if full || view.acked > first || view.now > until {
            return self.validate(in_flight, view);
        }
        view.window.hold().paced(rate)
    }
}

impl Listed for CarefulResume {
    const CARD: Card = Card::new(
        "careful-resume",
        "slow start that jumps to half of an earlier connection's window, watched until proven",
        "RFC 9959",
    )
    .with("cubic")
    .about(
        "What an earlier connection had in flight on this path, and whether the jump to half of \
         it is acknowledged.",
        "A path that carried a window may carry half of it again, and until its data is \
         acknowledged nothing says so.",
        "Without a memory it is slow start. Where the path has changed, up to half of the old \
         window is lost at once.",
    )
    .in_kernel("careful_resume")
    .knobs(Self::KNOBS);
}

impl Observer for CarefulResume {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::MEMORY | Facilities::PACING | Facilities::WAKE_UPS)
    }

    fn on_ack(&mut self, ack: &Ack, _view: &View) {
        // Sections 4.3 to 4.5: PipeSize grows by what is acknowledged in each of these phases.
        if !matches!(self.phase, Phase::Reconnaissance | Phase::Normal) {
            self.pipe += ack.credited;
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        let phase = match self.phase {
            Phase::Reconnaissance => 0,
            Phase::Unvalidated { .. } => 1,
            Phase::Validating { .. } => 2,
            Phase::Retreat { .. } => 3,
            Phase::Normal => 4,
        };
        report("careful_resume_phase", phase);
        report("careful_resume_pipe", self.pipe.0);
    }
}

impl Startup for CarefulResume {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        if matches!(hint, PathHint::Own(_)) {
            self.saved = Saved::of(hint, self.max_age, view);
        }
        view.window.hold()
    }

    fn enter(&mut self, why: Entry, view: &View) {
        match why {
            // Section 4.6: persistent congestion ends Careful Resume, and so does every later
            // start but its own Safe Retreat, for which it is not `once`.
            Entry::Connect => self.first_window = view.window.cwnd,
            Entry::Timeout | Entry::Reprobe | Entry::Rest => self.phase = Phase::Normal,
            Entry::Retreat => {}
        }
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        match self.phase {
            Phase::Reconnaissance => self.reconnoitre(ack, view),
            Phase::Unvalidated { first, until, rate } => {
                self.jumping(ack, first, rate, until, view)
            }
            // Section 4.4: normal growth, until the last unvalidated packet is acknowledged.
            Phase::Validating { end } => {
                if view.acked >= end {
                    self.phase = Phase::Normal;
                }
                view.window.grow(ack.acked).until_threshold()
            }
            // Section 4.5: the window MUST NOT grow until the last unvalidated packet is
            // acknowledged. What is lost never comes to be acknowledged in QUIC, so that the end
            // falls with it.
            Phase::Retreat { end } if view.acked < end.min(view.snd_nxt) => {
                let end = end.min(view.snd_nxt);
                self.phase = Phase::Retreat { end };
                view.window.hold()
            }
            Phase::Retreat { .. } => {
                // Section 4.5: on leaving, ssthresh is at most `PipeSize * Beta`.
                self.phase = Phase::Normal;
                let ssthresh = self.pipe.scaled(self.beta, RATIO_ONE).max(view.mss * 2);
                let cwnd = view.window.cwnd.min(ssthresh);
                Window { cwnd, ssthresh }.hold().until_threshold()
            }
            Phase::Normal => double(ack, view),
        }
    }

    fn on_wake(&mut self, view: &View) -> Step {
        match self.phase {
            Phase::Unvalidated { until, .. } if until <= view.now => {
                self.validate(view.in_flight, view).keep_pace()
            }
            _ => view.window.hold().keep_pace(),
        }
    }

    fn answer(&mut self, loss: &Loss, view: &View) -> Answer {
        let end = match self.phase {
            // Sections 4.3 and 4.4: a loss or a mark in either phase is answered by Safe Retreat;
            // before the jump (section 4.2) and after it by the avoidance.
            Phase::Unvalidated { .. } => view.snd_nxt,
            Phase::Validating { end } => end,
            Phase::Retreat { .. } | Phase::Reconnaissance | Phase::Normal => {
                self.phase = Phase::Normal;
                return Answer::Leave;
            }
        };
        // Section 4.5: the saved parameters are deleted; also where the retransmission timer fired,
        // which ends Careful Resume (section 4.6).
        self.refuted = true;
        if loss.kind == LossKind::Timeout {
            self.phase = Phase::Normal;
            return Answer::Leave;
        }
        self.phase = Phase::Retreat { end };
        let cwnd = self.retreat(view);
        Answer::Retreat(Window { cwnd, ssthresh: view.window.ssthresh })
    }

    /// A jump is not growth by ACKs, so that what was in flight before does not limit it.
    fn growth(&self) -> u64 {
        if matches!(self.phase, Phase::Unvalidated { .. }) { u64::MAX } else { 2 }
    }

    fn refutes_hint(&self) -> bool {
        self.refuted
    }
}

impl Default for CarefulResume {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            max_age: TEN_MINUTES,
            max_jump: Amount::Unlimited,
            beta: RATIO_ONE / 2,
            first_window: Bytes(0),
            saved: None,
            phase: Phase::Reconnaissance,
            pipe: Bytes(0),
            refuted: false,
        }
    }
}

impl Knobs for CarefulResume {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        max_age(|p| &mut p.max_age),
        Knob::new("max_jump")
            .means("largest window that it jumps to")
            .threshold(|p| &mut p.max_jump),
        Knob::new("beta")
            .means("what Safe Retreat leaves of what was delivered (section 4.5: 0.5 to 1)")
            .ratio(RATIO_ONE / 2..=RATIO_ONE, |p| &mut p.beta),
    ];
}

/// Initial windows below which nothing is saved.
const LEAST_WINDOWS: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::pacing::Pacing;
    use crate::policy::{Exit, Pace};
    use crate::testing::{MSS, ack, view};

    /// A first window of 10 segments; the connection before had this window, in avoidance.
    fn informed(saved: u64, knobs: &[(&str, KnobValue)]) -> (CarefulResume, View) {
        let (mut policy, mut view) = (CarefulResume::default(), view(10, Bytes::MAX));
        knobs.iter().for_each(|(name, value)| assert!(policy.set(name, *value), "{name}"));
        policy.enter(Entry::Connect, &view);
        let hint = learned(saved, saved / 2, 1);
        assert_eq!(policy.inform(&hint, &view), view.window.hold());
        view.snd_nxt = MSS * 10;
        (policy, view)
    }

    fn learned(cwnd: u64, ssthresh: u64, age_s: u64) -> PathHint {
        let rtt = Span::from_millis(100);
        PathHint::Own(Learned {
            window: Window { cwnd: MSS * cwnd, ssthresh: MSS * ssthresh },
            rtt,
            min_rtt: rtt,
            delivered: MSS * 10_000,
            per_round: MSS * cwnd,
            rate: None,
            age: Span::from_secs(age_s),
        })
    }

    /// An ACK of so many segments after which so many are in flight.
    fn acked(policy: &mut CarefulResume, view: &mut View, segments: u64, in_flight: u64) -> Step {
        view.acked += MSS * segments;
        view.in_flight = MSS * in_flight;
        let ack = ack(view, segments);
        policy.on_ack(&ack, view);
        let step = policy.step(&ack, view);
        view.window = step.window;
        step
    }

    /// In the Unvalidated Phase, with a jump to 100 segments and 15 in flight.
    fn jumped() -> (CarefulResume, View) {
        let (mut policy, mut view) = informed(200, &[]);
        view.snd_nxt = MSS * 25;
        let _ = acked(&mut policy, &mut view, 10, 15);
        assert_eq!(view.window.cwnd, MSS * 100);
        (policy, view)
    }

    fn lost(policy: &mut CarefulResume, view: &View, kind: LossKind) -> Answer {
        policy.answer(&Loss::of(view.now, kind, MSS, MSS), view)
    }

    #[test]
    fn it_jumps_to_half_of_what_was_saved_when_the_first_window_is_acknowledged() {
        let (mut policy, mut view) = informed(200, &[]);
        let step = acked(&mut policy, &mut view, 9, 10);
        assert_eq!((step.window.cwnd, step.pace), (MSS * 11, Pace::Default));
        let step = acked(&mut policy, &mut view, 1, 10);
        assert_eq!(
            (step.window.cwnd, step.pace),
            (MSS * 100, Pace::Set(Pacing::at(Rate(1_000_000))))
        );
        assert_eq!(step.wake, Some(view.now + Span::from_millis(100)));
        assert_eq!((policy.pipe, policy.growth()), (MSS * 10, u64::MAX));
        let (mut policy, mut view) =
            informed(200, &[("max_jump", KnobValue::Window(Amount::Segments(40)))]);
        assert_eq!(acked(&mut policy, &mut view, 10, 10).window.cwnd, MSS * 40);
    }

    #[test]
    fn what_is_small_old_or_of_others_is_not_used() {
        let saves = |hint: PathHint| {
            let (mut policy, view) = (CarefulResume::default(), view(10, Bytes::MAX));
            let _ = policy.inform(&hint, &view);
            policy.saved.map(|saved| saved.window)
        };
        assert_eq!(saves(learned(40, 20, 600)), Some(MSS * 40));
        assert_eq!(saves(learned(39, 20, 1)), None, "less than four first windows");
        assert_eq!(saves(learned(40, 20, 601)), None);
        assert_eq!(saves(learned(100, 200, 1)), Some(MSS * 50), "half, from slow start");
        assert_eq!(saves(learned(100, 100, 1)), Some(MSS * 100), "at ssthresh it has ended");
        assert_eq!(saves(PathHint::Granted(Rate(1_000_000))), None);
    }

    #[test]
    fn another_path_is_given_up() {
        let jumps = |min_ms: u64, latest_ms: u64| {
            let (mut policy, mut view) = informed(200, &[]);
            (view.rtt.min, view.rtt.latest) =
                (Span::from_millis(min_ms), Span::from_millis(latest_ms));
            acked(&mut policy, &mut view, 10, 10).window.cwnd > MSS * 20
        };
        assert!(jumps(51, 51) && !jumps(50, 50));
        assert!(jumps(100, 1_000) && !jumps(100, 1_001));
    }

    /// RFC 9959 asks for Safe Retreat also where the path turns out to be another one while the
    /// jump leaves.
    #[test]
    fn another_path_seen_during_the_jump_is_a_retreat() {
        let retreats = |min_ms: u64, latest_ms: u64| {
            let (mut policy, mut view) = jumped();
            (view.rtt.min, view.rtt.latest) =
                (Span::from_millis(min_ms), Span::from_millis(latest_ms));
            view.snd_nxt = MSS * 60;
            let step = acked(&mut policy, &mut view, 5, 45);
            // The pipe was 15 in flight, and 5 more have come.
            let retreat = policy.phase == Phase::Retreat { end: MSS * 60 };
            assert_eq!(step.window.cwnd == MSS * 10, retreat);
            assert_eq!(policy.refutes_hint(), retreat);
            (retreat, policy, view)
        };
        assert!(retreats(50, 50).0 && !retreats(51, 51).0 && !retreats(100, 1_000).0);
        let (is, mut policy, mut view) = retreats(100, 1_001);
        assert!(is);
        assert_eq!(acked(&mut policy, &mut view, 44, 1).window.cwnd, MSS * 10, "held");
        // 64 of the pipe have been acknowledged when the last unvalidated packet is.
        let step = acked(&mut policy, &mut view, 1, 0);
        assert_eq!((step.window.ssthresh, policy.phase), (MSS * 65 / 2, Phase::Normal));
    }

    #[test]
    fn a_round_that_the_source_limits_and_one_without_an_rtt_do_not_jump() {
        let jumps = |limited, rtt: Span| {
            let (mut policy, mut view) = informed(200, &[]);
            (view.acked, view.rtt.smoothed) = (MSS * 10, rtt);
            let ack = Ack { app_limited: limited, ..ack(&view, 10) };
            policy.step(&ack, &view).window.cwnd == MSS * 100
        };
        let rtt = Span::from_millis(100);
        assert!(jumps(false, rtt) && !jumps(true, rtt) && !jumps(false, Span(0)));
    }

    #[test]
    fn a_loss_in_reconnaissance_makes_it_normal() {
        let (mut policy, mut view) = informed(200, &[]);
        assert_eq!(lost(&mut policy, &view, LossKind::Recovery), Answer::Leave);
        assert_eq!(acked(&mut policy, &mut view, 10, 10).window.cwnd, MSS * 11);
        assert!(!policy.refutes_hint());
    }

    #[test]
    fn the_unvalidated_phase_ends_when_the_jump_is_in_flight() {
        let (mut policy, mut view) = jumped();
        let step = acked(&mut policy, &mut view, 5, 94);
        assert_eq!(
            (step.window.cwnd, step.pace),
            (MSS * 100, Pace::Set(Pacing::at(Rate(1_000_000))))
        );
        view.snd_nxt = MSS * 120;
        let step = acked(&mut policy, &mut view, 5, 95);
        assert_eq!((step.window.cwnd, step.pace), (MSS * 100, Pace::Default));
        assert_eq!(policy.phase, Phase::Validating { end: MSS * 120 });
        assert_eq!(policy.pipe, MSS * 25, "15 in flight and 10 acknowledged");
        let step = acked(&mut policy, &mut view, 2, 98);
        assert_eq!(step.window.cwnd, MSS * 102);
        assert_ne!(policy.phase, Phase::Normal);
        let _ = acked(&mut policy, &mut view, 98, 100);
        assert_eq!(policy.phase, Phase::Normal);
    }

    #[test]
    fn the_unvalidated_phase_ends_with_its_first_packet_and_after_an_rtt() {
        let (mut policy, mut view) = jumped();
        view.snd_nxt = MSS * 60;
        let step = acked(&mut policy, &mut view, 15, 35);
        assert_eq!((step.window.cwnd, policy.phase != Phase::Normal), (MSS * 100, true));
        let step = acked(&mut policy, &mut view, 1, 34);
        assert_eq!(step.window.cwnd, MSS * 35);
        assert_eq!(policy.phase, Phase::Validating { end: MSS * 60 });

        let (mut policy, mut view) = jumped();
        view.now = view.now + Span::from_millis(100);
        assert!(acked(&mut policy, &mut view, 5, 40).pacing_set().is_some(), "an RTT is not over");
        let (mut policy, mut view) = jumped();
        view.in_flight = MSS * 40;
        assert_eq!(policy.on_wake(&view), view.window.hold().keep_pace(), "too early");
        view.now = view.now + Span::from_millis(100);
        assert_eq!(policy.on_wake(&view).window.cwnd, MSS * 40);
    }

    #[test]
    fn who_has_sent_no_more_than_was_proven_is_normal_again() {
        let (mut policy, mut view) = jumped();
        view.now = view.now + Span::from_millis(101);
        let step = acked(&mut policy, &mut view, 10, 5);
        assert_eq!((step.window.cwnd, policy.phase), (MSS * 25, Phase::Normal));
    }

    #[test]
    fn a_loss_of_the_jump_is_answered_by_half_of_the_pipe_until_all_of_it_is_acknowledged() {
        for kind in [LossKind::Recovery, LossKind::Mark] {
            let (mut policy, mut view) = jumped();
            view.snd_nxt = MSS * 110;
            let _ = acked(&mut policy, &mut view, 15, 85);
            let window = Window { cwnd: MSS * 15, ssthresh: Bytes::MAX };
            assert_eq!(lost(&mut policy, &view, kind), Answer::Retreat(window), "{kind:?}");
            assert!(policy.refutes_hint());
            view.window = window;
            policy.enter(Entry::Retreat, &view);
            let step = acked(&mut policy, &mut view, 70, 15);
            assert_eq!((step.window, step.exit), (window, None), "held");
            let step = acked(&mut policy, &mut view, 15, 0);
            assert_eq!(step.window, Window { cwnd: MSS * 15, ssthresh: MSS * 57 + Bytes(500) });
            assert_eq!(policy.phase, Phase::Normal);
            assert_eq!(step.exit, None);
            view.window.cwnd = MSS * 57;
            assert_eq!(acked(&mut policy, &mut view, 1, 0).exit, Some(Exit::Threshold));
        }
    }

    /// RFC 5681 section 3.1, equation 4: no less than two segments.
    #[test]
    fn a_retreat_leaves_two_segments_of_a_small_pipe() {
        let (mut policy, mut view) = jumped();
        policy.pipe = MSS;
        let window = Window { cwnd: MSS * 2, ssthresh: Bytes::MAX };
        assert_eq!(lost(&mut policy, &view, LossKind::Recovery), Answer::Retreat(window));
        view.acked = view.snd_nxt;
        let left = policy.step(&ack(&view, 0), &view).window;
        assert_eq!(left, Window { cwnd: MSS * 2, ssthresh: MSS * 2 });
    }

    /// Section 4.5: Beta is 0.5 to 1.
    #[test]
    fn a_retreat_leaves_a_half_to_all_of_the_pipe() {
        let beta = |beta| informed(200, &[("beta", KnobValue::Ratio(beta))]).0.beta;
        assert_eq!([beta(400_000), beta(700_000), beta(1_100_000)], [500_000, 700_000, RATIO_ONE]);
    }

    #[test]
    fn a_timeout_refutes_the_hint_and_makes_it_normal() {
        let (mut policy, mut view) = jumped();
        assert_eq!(lost(&mut policy, &view, LossKind::Timeout), Answer::Leave);
        policy.enter(Entry::Timeout, &view);
        view.window = Window { cwnd: MSS, ssthresh: MSS * 50 };
        assert_eq!(acked(&mut policy, &mut view, 1, 0).window.cwnd, MSS * 2);
        assert!(policy.refutes_hint());
    }
}
