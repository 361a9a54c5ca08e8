//! Fast Start (Padmanabhan and Katz, 1998): a new connection goes on where the last one between the
//! same hosts ended, and takes it back when that loses data.
//!
//! Published: the paper's abstract and the ns-2 agent of its first author (`tcp-fs.cc`). Window,
//! ssthresh and RTT are those of the connection before. The window is made safe: half of it if
//! that connection was in slow start, one segment less if it was in avoidance. The first window is
//! paced over the cached RTT. If several of its packets are lost, slow start begins anew from the
//! ordinary first window, and ssthresh stays. The packets of the first window carry a mark by which
//! routers drop them before others.
//!
//! Inferred: no router here drops by marks, so others are less protected than in the paper. One
//! packet leaves at a time where the agent sends bursts of `maxburst_`, and the window is spread
//! over the smallest RTT of the connection before, not its smoothed one, so that all of it has left
//! when the first ACK ends the pacing. Any loss of the first window takes it back. What is older
//! than `max_age` is not used; the paper has no number for it.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss};
use crate::hint::{PathHint, TEN_MINUTES, max_age};
use crate::knob::{KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Answer, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::trial::Trial;
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// Slow start that begins with the cached window of an earlier connection.
#[derive(Clone, Copy, Debug)]
pub struct FastStart {
    opening: Opening,
    max_age: Span,
    trial: Trial,
}

impl Listed for FastStart {
    const CARD: Card = Card::new(
        "fast-start",
        "slow start from the cached window of an earlier connection",
        "Padmanabhan and Katz, Globecom 1998",
    )
    .with("newreno")
    .about(
        "What the last connection to this host ended with, and whether the first window is lost.",
        "The path still has what it had.",
        "Without a memory it is slow start. An old window that no longer fits is lost in the \
         first round trip.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for FastStart {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::MEMORY | Facilities::PACING)
    }
}

impl Startup for FastStart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        let ordinary = view.window;
        let PathHint::Own(last) = hint else { return ordinary.hold() };
        // ns-2's `tcp-fs.cc`: the cached window is made safe, half of it in slow start, a segment
        // less in avoidance.
        let was = last.window;
        let in_slow_start = was.cwnd < was.ssthresh;
        let safe = if in_slow_start { was.cwnd / 2 } else { was.cwnd - view.mss };
        let safe = safe.whole_segments(view.mss);
        if last.age > self.max_age || safe <= ordinary.cwnd {
            return ordinary.hold();
        }
        // `tcp-fs.cc`: ssthresh is the cached one, and the window leaves over the cached RTT.
        self.trial = Trial::of(safe, ordinary);
        let window = Window { cwnd: safe, ssthresh: was.ssthresh };
        window.hold().paced(safe.per(last.min_rtt))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        double(ack, view)
    }

    fn answer(&mut self, _loss: &Loss, view: &View) -> Answer {
        // `tcp-fs.cc`: losses of the first window lead back to the ordinary one and slow start;
        // ours is that a single one does.
        self.trial.answer(view)
    }
}

impl Default for FastStart {
    fn default() -> Self {
        Self { opening: Opening::default(), max_age: TEN_MINUTES, trial: Trial::default() }
    }
}

impl Knobs for FastStart {
    const ROWS: &'static [KnobOf<Self>] =
        &[opening(|p| &mut p.opening), max_age(|p| &mut p.max_age)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LossKind;
    use crate::hint::Learned;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};
    use crate::units::{Instant, Rate};

    fn learned(cwnd: u64, ssthresh: Bytes, age_s: u64) -> PathHint {
        PathHint::Own(Learned {
            window: Window { cwnd: MSS * cwnd, ssthresh },
            rtt: Span::from_millis(250),
            min_rtt: Span::from_millis(200),
            delivered: MSS * 1_000,
            per_round: MSS * cwnd,
            rate: None,
            age: Span::from_secs(age_s),
        })
    }

    fn opened(hint: &PathHint) -> Step {
        FastStart::default().inform(hint, &view(2, MSS * 32))
    }

    #[test]
    fn it_begins_with_the_cached_window_made_safe_over_the_cached_rtt() {
        // In avoidance: one segment less, its ssthresh, 79 kB over 200 ms.
        let step = opened(&learned(80, MSS * 40, 1));
        assert_eq!(step.window, Window { cwnd: MSS * 79, ssthresh: MSS * 40 });
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(395_000))));
        // In slow start: half.
        assert_eq!(opened(&learned(81, Bytes::MAX, 1)).window.cwnd, MSS * 40);
    }

    #[test]
    fn what_is_old_small_or_of_others_is_not_used() {
        let ordinary = view(2, MSS * 32).window.hold();
        let PathHint::Own(of_others) = learned(80, MSS * 40, 1) else { unreachable!() };
        for hint in [
            learned(80, MSS * 40, 601),
            learned(3, MSS * 2, 1),
            learned(0, MSS * 2, 1),
            PathHint::Shared(of_others),
            PathHint::Granted(Rate(1_000_000)),
        ] {
            assert_eq!(opened(&hint), ordinary, "{hint:?}");
        }
    }

    #[test]
    fn a_loss_of_the_first_window_takes_it_back_and_a_later_one_does_not() {
        let mut policy = FastStart::default();
        let _ = policy.inform(&learned(80, MSS * 40, 1), &view(2, MSS * 32));
        let (kind, now) = (LossKind::Recovery, Instant(0));
        let loss = Loss::of(now, kind, MSS, MSS * 79);
        let at = |acked: u64| View { acked: MSS * acked, ..view(79, MSS * 40) };
        let mut later = policy;
        let back = Window { cwnd: MSS * 2, ssthresh: MSS * 40 };
        assert_eq!(policy.answer(&loss, &at(78)), Answer::Retreat(back));
        assert_eq!(policy.answer(&loss, &at(78)), Answer::Leave, "once");
        assert_eq!(later.answer(&loss, &at(79)), Answer::Leave);
        let view = at(10);
        assert_eq!(policy.step(&ack(&view, 1), &view).exit, Some(crate::policy::Exit::Threshold));
    }

    #[test]
    fn a_window_at_its_ssthresh_was_in_avoidance_and_ten_minutes_are_not_too_old() {
        assert_eq!(opened(&learned(80, MSS * 80, 600)).window.cwnd, MSS * 79);
    }
}
