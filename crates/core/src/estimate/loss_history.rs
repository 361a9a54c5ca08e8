//! How much was lost since a packet left (draft-ietf-ccwg-bbr-06 section 4.1.2, `C.lost - P.lost`),
//! for senders whose packets do not remember it.
//!
//! A packet remembers what had been delivered when it left; this remembers what had been lost by
//! then. Losses that follow within an eighth of a window count as one, so that sixteen entries
//! reach back two windows; what is lost since an older packet is counted as less than it is.

use crate::units::Bytes;

/// Payload lost so far, and at the last sixteen losses.
#[derive(Clone, Copy, Debug)]
pub struct LossHistory {
    /// Payload lost so far (`C.lost`).
    lost: Bytes,
    /// What had been delivered at a loss, and what was lost from it to the next entry.
    entries: [(Bytes, Bytes); ENTRIES],
    /// Where the newest entry is.
    newest: usize,
}

impl LossHistory {
    /// Before any loss.
    pub const NEW: Self =
        Self { lost: Bytes(0), entries: [(Bytes(0), Bytes(0)); ENTRIES], newest: 0 };

    /// Payload is found lost when so much has been delivered.
    pub fn count(&mut self, lost: Bytes, delivered: Bytes, window: Bytes) {
        self.lost += lost;
        let (at, sum) = &mut self.entries[self.newest];
        if *sum > Bytes(0) && delivered - *at < window / SHARES {
            *sum += lost;
            return;
        }
        self.newest = (self.newest + 1) % ENTRIES;
        self.entries[self.newest] = (delivered, lost);
    }

    /// What has been lost since a packet left, when so much had been delivered.
    pub fn since(&self, delivered: Bytes) -> Bytes {
        if self.entries[self.newest].0 <= delivered {
            return Bytes(0);
        }
        // Section 4.1.2: `RS.lost = C.lost - P.lost`.
        let later = self.entries.iter().filter(|(at, _)| *at > delivered);
        later.fold(Bytes(0), |sum, (_, lost)| sum + *lost)
    }

    /// All that has been lost.
    pub fn lost(&self) -> Bytes {
        self.lost
    }
}

const ENTRIES: usize = 16;

/// Parts of a window whose losses are kept apart.
const SHARES: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_before_a_packet_left_does_not_count_for_it() {
        let (mut history, window) = (LossHistory::NEW, Bytes(80));
        for (lost, delivered) in [(1, 100), (2, 120), (4, 129), (8, 140), (16, 150)] {
            history.count(Bytes(lost), Bytes(delivered), window);
        }
        assert_eq!(history.lost(), Bytes(31));
        // 129 is within ten of 120 and counts with it, 150 is not within ten of 140.
        let since = [0, 99, 100, 119, 120, 139, 140, 150].map(|at| history.since(Bytes(at)).0);
        assert_eq!(since, [31, 31, 30, 30, 24, 24, 16, 0]);
    }

    #[test]
    fn a_loss_in_the_first_eighth_of_a_window_counts_for_what_left_before_it() {
        let mut history = LossHistory::NEW;
        history.count(Bytes(1), Bytes(5), Bytes(80));
        assert_eq!([0, 4, 5].map(|at| history.since(Bytes(at)).0), [1, 1, 0]);
    }

    #[test]
    fn sixteen_losses_are_remembered() {
        let mut history = LossHistory::NEW;
        (1..=20).for_each(|at| history.count(Bytes(1), Bytes(100 * at), Bytes(80)));
        assert_eq!((history.since(Bytes(0)), history.lost()), (Bytes(16), Bytes(20)));
    }
}
