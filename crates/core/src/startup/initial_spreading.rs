//! Initial Spreading (Sallantin and others, draft-irtf-iccrg-sallantin-initial-spreading
//! and draft-sallantin-iccrg-initial-spreading, 2013 to 2014): a large first window, packet by
//! packet.
//!
//! What it believes: what a large initial window loses in a short buffer it loses because it comes
//! as one burst. What it does:
//!
//! ```text
//! begin: the IW packets of the first window leave RTT / IW apart, by the RTT of the handshake
//! then:  slow start, not paced: its packets leave as the ACKs of the spread window come
//! ```
//!
//! Published (the abstract, all of the text that was at hand): one mechanism enlarges the initial
//! window and spaces its packets; it is meant for short transfers and for satellite links; after it
//! TCP is unchanged. The spacing of RTT / IW and the ten packets of RFC 6928 are not in the
//! abstract and were not checked.
//!
//! Inferred: what is still to leave of the first window when its first ACK comes keeps its
//! distance. An endpoint that goes on pacing what was paced once, as Linux does, makes it `paced`
//! from then on. Without an RTT before data the first window leaves at once. `paced` spreads all of
//! slow start, `rapid-start` and `jump-start` spread a first window too, and grow otherwise after
//! it. There is no version for the kernel.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Entry, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate, Span};
use crate::view::{View, Window};

/// Slow start whose first window is spread over an RTT.
#[derive(Clone, Copy, Debug, Default)]
pub struct InitialSpreading {
    opening: Opening,
    /// The first window and the rate at which it leaves, until it has.
    spread: Option<(Bytes, Rate)>,
}

impl Listed for InitialSpreading {
    const CARD: Card = Card::new(
        "initial-spreading",
        "slow start whose first window is spread over one RTT",
        "draft-irtf-iccrg-sallantin-initial-spreading",
    )
    .with("newreno")
    .about(
        "The RTT of the handshake, for the distance between the first packets.",
        "A first window that comes packet by packet fits where a burst of it does not.",
        "The first window takes an RTT longer to leave, and after it slow start overshoots as \
         slow start does. It has no version for the kernel.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for InitialSpreading {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::PACING)
    }
}

impl Startup for InitialSpreading {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn begin(&mut self, view: &View) -> Step {
        let window = view.window;
        if view.rtt.smoothed == Span(0) {
            return window.hold();
        }
        // IW packets in an RTT, by the draft as remembered.
        let rate = window.cwnd.per(view.rtt.smoothed).max(Rate(1));
        self.spread = Some((window.cwnd, rate));
        window.hold().paced(rate)
    }

    fn enter(&mut self, _why: Entry, _view: &View) {
        self.spread = None;
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // RFC 5681 section 3.1; ours: what has not left of the first window keeps its distance.
        self.spread = self.spread.filter(|(first, _)| view.snd_nxt < *first);
        let step = double(ack, view);
        self.spread.map_or(step, |(_, rate)| step.paced(rate))
    }
}

impl Knobs for InitialSpreading {
    const ROWS: &'static [KnobOf<Self>] = &[opening(|p| &mut p.opening)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};

    #[test]
    fn the_first_window_is_spread_over_the_rtt() {
        let view = view(10, Bytes::MAX);
        let step = InitialSpreading::default().begin(&view);
        // Ten packets of 1000 bytes in 100 ms.
        assert_eq!((step.window, step.pace), (view.window, Pace::Set(Pacing::at(Rate(100_000)))));
    }

    #[test]
    fn without_an_rtt_it_leaves_at_once() {
        let mut view = view(10, Bytes::MAX);
        view.rtt.smoothed = Span(0);
        assert_eq!(InitialSpreading::default().begin(&view), view.window.hold());
    }

    #[test]
    fn slow_start_goes_on_unpaced_once_the_first_window_has_left() {
        let (mut policy, mut view) = (InitialSpreading::default(), view(10, Bytes::MAX));
        let _ = policy.begin(&view);
        view.snd_nxt = MSS * 9;
        let step = policy.step(&ack(&view, 1), &view);
        assert_eq!(step.window.cwnd, MSS * 11);
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(100_000))), "one is still to leave");
        view.snd_nxt = MSS * 10;
        assert_eq!(policy.step(&ack(&view, 1), &view).pace, Pace::Default);
    }

    #[test]
    fn a_later_slow_start_is_not_spread() {
        let (mut policy, mut view) = (InitialSpreading::default(), view(10, Bytes::MAX));
        let _ = policy.begin(&view);
        policy.enter(Entry::Timeout, &view);
        view.snd_nxt = MSS;
        assert_eq!(policy.step(&ack(&view, 1), &view).pace, Pace::Default);
    }
}
