//! XCP's sender (Katabi, Handley and Rohrs, "Congestion control for high bandwidth-delay product
//! networks", SIGCOMM 2002, section 3.2): the sum of what the routers gave since the last decision,
//! as a change of the window.
//!
//! Every packet brings back by how much the rate may change. The paper counts it in bytes of window
//! and the later draft (draft-falk-xcp-spec-03) in bytes per second; the two are the same over an
//! RTT: `W = max(W + change * srtt, one segment)`. What is less than a byte waits for the next.

use crate::feedback::Feedback;
use crate::units::{Bytes, NANOS_PER_SECOND};
use crate::view::View;

/// Changes of the rate not yet put into the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct GrantedChange {
    /// In bits per second.
    waiting: i64,
    /// What the last decision left over, in 2^-8 bytes.
    rest: i64,
    /// Sum since the round began, and whether any came.
    round: Option<i64>,
}

impl GrantedChange {
    /// Takes feedback in.
    pub fn on_feedback(&mut self, feedback: &Feedback) {
        let Feedback::Change(change) = *feedback else { return };
        self.waiting = self.waiting.saturating_add(change);
        self.round = Some(self.round.unwrap_or(0).saturating_add(change));
    }

    /// The window that all of it leaves.
    pub fn apply(&mut self, view: &View) -> Bytes {
        // Section 3.2: `cwnd = max(cwnd + H_feedback, s)`; draft-falk-xcp-spec-03 has it per
        // second.
        let rtt = view.rtt.smoothed.0.min(LONGEST_RTT);
        let bits = i128::from(core::mem::take(&mut self.waiting));
        let change =
            bits * i128::from(rtt) * i128::from(FRACTION / 8) / i128::from(NANOS_PER_SECOND);
        let change = change.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let all = change.saturating_add(self.rest);
        let whole = all.div_euclid(FRACTION);
        self.rest = all.rem_euclid(FRACTION);
        Bytes(view.window.cwnd.0.saturating_add_signed(whole)).max(view.mss)
    }

    /// A round ends: what came in it, if anything did.
    pub fn end_round(&mut self) -> Option<i64> {
        self.round.take()
    }

    /// Forgets what has not been applied.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Parts of a byte.
const FRACTION: i64 = 256;

/// No RTT counts for more: a minute.
const LONGEST_RTT: u64 = 60 * NANOS_PER_SECOND;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, view};

    fn after(changes: &[i64]) -> Bytes {
        let mut granted = GrantedChange::default();
        changes.iter().for_each(|change| granted.on_feedback(&Feedback::Change(*change)));
        granted.apply(&view(10, Bytes::MAX))
    }

    #[test]
    fn a_change_of_the_rate_over_an_rtt_is_a_change_of_the_window() {
        // 800 kbit/s over 100 ms are 10 segments of 1000 bytes.
        assert_eq!(after(&[800_000]), MSS * 20);
        assert_eq!(after(&[500_000, -100_000]), MSS * 15);
        assert_eq!(after(&[-400_000]), MSS * 5);
        assert_eq!(after(&[-8_000_000]), MSS, "never less than a segment");
        assert!(after(&[i64::MAX, i64::MAX]) > MSS * 1_000_000);
        assert_eq!(after(&[i64::MIN, i64::MIN]), MSS);
        // 8 kbit/s over an RTT of an hour count for a minute: 60 segments.
        let mut long = view(10, Bytes::MAX);
        long.rtt.smoothed = crate::units::Span::from_secs(3_600);
        let mut granted = GrantedChange::default();
        granted.on_feedback(&Feedback::Change(8_000));
        assert_eq!(granted.apply(&long), MSS * 70);
    }

    #[test]
    fn what_is_less_than_a_byte_waits() {
        let mut granted = GrantedChange::default();
        let mut view = view(10, Bytes::MAX);
        // 40 bit/s over 100 ms are half a byte.
        for _ in 0..10 {
            granted.on_feedback(&Feedback::Change(40));
            view.window.cwnd = granted.apply(&view);
        }
        assert_eq!(view.window.cwnd, MSS * 10 + Bytes(5));
        for _ in 0..10 {
            granted.on_feedback(&Feedback::Change(-40));
            view.window.cwnd = granted.apply(&view);
        }
        assert_eq!(view.window.cwnd, MSS * 10);
    }
}
