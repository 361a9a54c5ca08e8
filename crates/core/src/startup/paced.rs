//! Timer-driven slow start: slow start whose packets are spread over the RTT instead of leaving in
//! bursts.
//!
//! Published: the M-Start paper (section 2, reference 12) describes a slow start that updates the
//! window from a timer of 200 microseconds, so that data leaves throughout the RTT and not at once
//! when the ACKs arrive. That paper itself was not available. The idea is older: Aron and Druschel
//! ("TCP: Improving Startup Dynamics by Adaptive Timers and Congestion Control", Rice University,
//! TR98-318, 1998) propose pacing the first slow start, and Aggarwal, Savage and Anderson
//! ("Understanding the Performance of TCP Pacing", INFOCOM 2000) study it.
//!
//! Inferred: the window grows as in RFC 5681, one segment per ACK, because a policy has no timer;
//! the pacing rate does what the timer is for. It is `gain * cwnd / srtt` with Linux' gain of two
//! in slow start (`tcp_pacing_ss_ratio`): the window doubles within an RTT, so anything less would
//! hold growth back. The first window leaves at once, as nothing is known of the path yet, or is
//! paced by the RTT of the handshake (`first=paced`), as QUIC stacks do (RFC 9002 section 7.7).
//! After start-up the connection stays paced, at the default of 1.25 windows per RTT
//! ([`crate::mechanism::Mechanism::pacing`]).

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, words};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate, Span};
use crate::view::{View, Window};

/// Slow start, paced.
#[derive(Clone, Copy, Debug)]
pub struct Paced {
    opening: Opening,
    /// In millionths.
    gain: u64,
    /// The first window is paced too.
    paces_first: bool,
}

impl Listed for Paced {
    const CARD: Card = Card::new(
        "paced",
        "slow start spread over the RTT by pacing",
        "M-Start paper, reference 12; TR98-318",
    )
    .with("newreno")
    .about(
        "The smoothed RTT, for the pace.",
        "Bursts fill buffers, not windows.",
        "The window doubles as in slow start and ends as it does: spread out, it overshoots by as \
         much and loses as much.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Paced {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::PACING)
    }
}

impl Startup for Paced {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn begin(&mut self, view: &View) -> Step {
        let step = view.window.hold();
        if self.paces_first { self.pace(step, view) } else { step.keep_pace() }
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // RFC 5681 section 3.1, where the M-Start paper's reference 12 has a timer.
        self.pace(double(ack, view), view)
    }
}

impl Paced {
    /// The step, paced by its window.
    #[inline]
    fn pace(&self, step: Step, view: &View) -> Step {
        if view.rtt.smoothed == Span(0) {
            return step;
        }
        // Linux's `tcp_update_pacing_rate()` with `tcp_pacing_ss_ratio` of 200 %.
        let once_per_rtt = step.window.cwnd.per(view.rtt.smoothed);
        step.paced(once_per_rtt.scaled(self.gain, RATIO_ONE).max(Rate(1)))
    }
}

impl Default for Paced {
    fn default() -> Self {
        Self { opening: Opening::default(), gain: GAIN, paces_first: false }
    }
}

impl Knobs for Paced {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("gain")
            .means("pacing rate, in windows per smoothed RTT")
            .ratio(RATIO_ONE..=10 * RATIO_ONE, |p| &mut p.gain),
        Knob::new("first")
            .means("how the first window leaves: at once, or paced by the RTT of the handshake")
            .word(words!(|p| p.paces_first, ["burst" = false, "paced" = true])),
    ];
}

/// Linux' ratio of the pacing rate to the window per RTT in slow start.
const GAIN: u64 = 2 * RATIO_ONE;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};

    #[test]
    fn the_rate_is_twice_the_window_it_decided_on_per_rtt() {
        let view = view(49, Bytes::MAX);
        let step = Paced::default().step(&ack(&view, 1), &view);
        assert_eq!(step.window.cwnd, MSS * 50);
        // 50 kB in 100 ms are 500 kB/s.
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(1_000_000))));
    }

    #[test]
    fn the_first_window_leaves_at_once_by_default() {
        let (mut policy, mut view) = (Paced::default(), view(30, Bytes::MAX));
        assert_eq!(policy.begin(&view).pace, Pace::Unchanged);
        assert!(policy.set("first", KnobValue::Word("paced")));
        // Twice 30 kB in 100 ms.
        assert_eq!(policy.begin(&view).pace, Pace::Set(Pacing::at(Rate(600_000))));
        view.rtt.smoothed = Span(0);
        assert_eq!(policy.begin(&view).pace, Pace::Default);
    }

    #[test]
    fn without_an_rtt_nothing_is_paced() {
        let mut view = view(2, Bytes::MAX);
        view.rtt.smoothed = Span(0);
        assert_eq!(Paced::default().step(&ack(&view, 1), &view).pace, Pace::Default);
    }

    #[test]
    fn it_ends_as_slow_start_does() {
        let view = view(31, MSS * 32);
        assert!(Paced::default().step(&ack(&view, 1), &view).exit.is_some());
    }

    #[test]
    fn the_gain_is_at_most_ten() {
        let view = view(49, Bytes::MAX);
        let rate = |gain| {
            let mut policy = Paced::default();
            assert!(policy.set("gain", KnobValue::Ratio(gain)));
            policy.step(&ack(&view, 1), &view).pacing_set()
        };
        let most = Some(Pacing::at(Rate(5_000_000)));
        assert_eq!([10, 11].map(|gain| rate(gain * RATIO_ONE)), [most; 2]);
    }
}
