//! Prague's start-up (draft-briscoe-iccrg-prague-congestion-control-04): slow start until the first
//! mark.
//!
//! What it believes: the queue marks long before it overflows, so that the first mark says that the
//! path is full. What it does: slow start, which ends with the first mark as with a loss; how much
//! of the window stays is for the avoidance to say, Prague's.
//!
//! `preset=picoquic` has the two rules of picoquic's `prague.c` for long paths: an ACK adds
//! `srtt / 100 ms` of what it acknowledges where the smoothed RTT is above 100 ms, and the initial
//! window grows by the smallest RTT over 100 ms, at most 6.1 times (610 ms). Its exit by delay is
//! [`Picoquic`](crate::startup::Picoquic)'s and not here.
//!
//! Published: both, as code. The draft leaves slow start open and names none but leaving it at the
//! first mark. Where no queue marks it is slow start.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, words};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// Slow start with a first mark as its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prague {
    opening: Opening,
    by_picoquic: bool,
    /// The window it began with, until the first ACK.
    initial_window: Option<Bytes>,
}

impl Prague {
    /// What an RTT makes of an amount that is meant for 100 ms or less.
    fn for_long_paths(amount: Bytes, rtt: Span, most: Span) -> Bytes {
        amount.scaled(rtt.max(REFERENCE).min(most.max(REFERENCE)).0, REFERENCE.0)
    }
}

impl Listed for Prague {
    const CARD: Card = Card::new(
        "prague",
        "slow start until the first mark (L4S)",
        "draft-briscoe-iccrg-prague-congestion-control-04; picoquic prague.c",
    )
    .with("prague")
    .about(
        "Marks of congestion.",
        "The queue marks long before it overflows, so that the first mark says that the path is \
         full.",
        "Where no queue on the path marks it is slow start. A step that marks at 1 ms ends it in \
         the first burst that is longer.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Prague {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::MARKS | Facilities::L4S)
    }
}

impl Startup for Prague {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn begin(&mut self, view: &View) -> Step {
        self.initial_window = Some(view.window.cwnd);
        view.window.hold()
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let first = self.initial_window.take();
        // The draft's slow start is RFC 5681's, until the first mark (draft-briscoe-iccrg-prague).
        if !self.by_picoquic {
            return double(ack, view);
        }
        // `prague.c` of picoquic: growth by the smoothed RTT over 100 ms, and the initial window by
        // the smallest, up to 610 ms.
        let mut step = view.window.hold();
        if step.window.cwnd < step.window.ssthresh {
            let grown = ack.acked.min(view.mss);
            step.window.cwnd += Self::for_long_paths(grown, view.rtt.smoothed, MOST_GROWTH);
            let first = first.unwrap_or(Bytes(0));
            let opened = Self::for_long_paths(first, view.rtt.min, SATELLITE);
            step.window.cwnd = step.window.cwnd.max(opened);
        }
        step.until_threshold()
    }

    /// At its most where the RTT makes it faster.
    fn growth(&self) -> u64 {
        if self.by_picoquic { MOST_GROWTH.0 / REFERENCE.0 + 1 } else { 2 }
    }
}

impl Knobs for Prague {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("preset")
            .means("slow start; or faster by srtt/100ms on long paths, as picoquic")
            .word(words!(|p| p.by_picoquic, ["draft" = false, "picoquic" = true])),
        opening(|p| &mut p.opening),
    ];
}

/// `PICOQUIC_TARGET_RENO_RTT`.
const REFERENCE: Span = Span::from_millis(100);

/// `PICOQUIC_TARGET_SATELLITE_RTT`.
const SATELLITE: Span = Span::from_millis(610);

/// picoquic has no limit; the mechanism needs one for [`Startup::growth`], and no path of today has
/// a longer RTT than two seconds.
const MOST_GROWTH: Span = Span::from_millis(2_000);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{self, MSS, ack};
    use crate::view::Rtt;

    fn on(rtt_ms: u64) -> View {
        let rtt = Span::from_millis(rtt_ms);
        let view = testing::view(10, Bytes::MAX);
        View { rtt: Rtt { latest: rtt, smoothed: rtt, min: rtt, ..view.rtt }, ..view }
    }

    fn picoquic() -> Prague {
        let mut policy = Prague::default();
        assert!(policy.set("preset", KnobValue::Word("picoquic")));
        policy
    }

    #[test]
    fn it_is_slow_start_until_ssthresh() {
        let mut policy = Prague::default();
        let (near, far) = (on(50), on(300));
        for view in [near, far] {
            assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 11);
        }
        let view = testing::view(10, MSS * 10);
        assert!(policy.step(&ack(&view, 1), &view).exit.is_some());
        assert_eq!(policy.growth(), 2);
    }

    /// 300 ms: three segments for one. The first ACK also opens ten segments to 30, at 900 ms to
    /// 61.
    #[test]
    fn picoquics_is_faster_on_long_paths() {
        for (rtt_ms, first, later) in [(50, 11, 11), (300, 30, 13), (900, 61, 19)] {
            let mut policy = picoquic();
            let view = on(rtt_ms);
            let _ = policy.begin(&view);
            assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * first, "{rtt_ms}");
            assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * later, "{rtt_ms}");
        }
        let ends = testing::view(10, MSS * 10);
        let step = picoquic().step(&ack(&ends, 1), &ends);
        assert_eq!((step.window, step.exit.is_some()), (ends.window, true));
    }

    /// At an RTT of two seconds an acknowledged segment adds twenty.
    #[test]
    fn growth_is_what_a_round_of_acks_makes_of_the_window() {
        let (mut policy, mut view) = (picoquic(), on(2_000));
        for _ in 0..10 {
            view.window = policy.step(&ack(&view, 1), &view).window;
        }
        assert_eq!(view.window.cwnd, MSS * 10 * policy.growth());
    }
}
