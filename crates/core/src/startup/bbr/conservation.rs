//! What BBR of 2017 does to its window in a recovery (Linux, `bbr_set_cwnd_to_recover_or_restore`):
//! in the first round as much leaves as is delivered (packet conservation), in later rounds the
//! window grows again, and when the recovery ends the window is what it was before. What is found
//! lost reduces the window in every round.

use crate::units::Bytes;
use crate::view::View;

/// A recovery, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conservation {
    /// The window before it.
    prior: Option<Bytes>,
    /// Which round of it this is.
    round: Round,
    /// Found lost, and not yet taken off.
    lost: Bytes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Round {
    /// Its first ACK is to come.
    Begins,
    First,
    #[default]
    Later,
}

impl Conservation {
    /// `lost` was found lost. Returns whether a recovery, and its first round, begin with that.
    pub(super) fn lose(&mut self, lost: Bytes, view: &View) -> bool {
        self.lost += lost;
        let begins = self.prior.is_none();
        if begins {
            (self.prior, self.round) = (Some(view.window.cwnd), Round::Begins);
        }
        begins
    }

    pub(super) fn end_round(&mut self) {
        if self.round == Round::First {
            self.round = Round::Later;
        }
    }

    /// The window after an ACK of `fresh` bytes that found `cwnd`, and whether it may grow. What
    /// the last ACK found lost has been replaced in flight since, before this could answer.
    pub(super) fn window(&mut self, cwnd: Bytes, fresh: Bytes, view: &View) -> (Bytes, bool) {
        // `bbr_set_cwnd_to_recover_or_restore()`: what was lost comes off; in the first round cwnd
        // is what is in flight and was just delivered; after the recovery it is that of before.
        let lost = core::mem::take(&mut self.lost);
        if !view.recovering {
            return (cwnd.max(self.prior.take().unwrap_or_default()), true);
        }
        let flight = view.in_flight + fresh;
        let (kept, grows) = match self.round {
            Round::Begins => (flight, false),
            Round::First => (cwnd.max(flight), false),
            Round::Later => (cwnd, true),
        };
        if self.round == Round::Begins {
            self.round = Round::First;
        }
        ((kept - lost).max(view.mss), grows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, view};

    #[test]
    fn the_first_round_sends_what_arrives_and_the_last_ack_restores_the_window() {
        let mut view = view(100, Bytes::MAX);
        let mut recovery = Conservation::default();
        assert_eq!(recovery.window(MSS * 100, MSS, &view), (MSS * 100, true), "none");
        assert!(recovery.lose(MSS * 20, &view));
        (view.recovering, view.in_flight) = (true, MSS * 98);
        assert_eq!(recovery.window(MSS * 100, MSS * 2, &view), (MSS * 80, false));
        // What is in flight bounds it from below.
        assert!(!recovery.lose(MSS * 5, &view));
        assert_eq!(recovery.window(MSS * 80, MSS * 2, &view), (MSS * 95, false));
        view.in_flight = MSS * 50;
        recovery.lose(MSS * 5, &view);
        assert_eq!(recovery.window(MSS * 95, MSS * 2, &view), (MSS * 90, false));
        recovery.end_round();
        assert_eq!(recovery.window(MSS * 90, MSS * 2, &view), (MSS * 90, true));
        view.recovering = false;
        assert_eq!(recovery.window(MSS * 70, MSS, &view), (MSS * 100, true));
        assert_eq!(recovery.window(MSS * 70, MSS, &view), (MSS * 70, true), "once");
    }
}
