//! A receiver of QUIC's packets: their numbers never come twice, so that a number that is missing
//! stays missing, and what it carried comes under another.

use firstflight_core::units::Instant;

use super::Receiver;

/// What a receiver of packet numbers keeps: [`Receiver::next`] is one past the largest.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// Numbers below that have brought nothing over.
    pub(super) skipped: u32,
    /// Numbers of packets under way without data.
    pub(super) empty: Vec<u32>,
    /// The number expected before the packet that came last, if that was a larger one.
    pub(super) expected: Option<u32>,
}

impl Receiver {
    /// Packet number `seq` arrives. Returns false if it is to be answered at once: numbers before
    /// it are missing, or it was one of them (RFC 9000 section 13.2.1).
    pub(super) fn take_number(&mut self, seq: u32, at: Instant) -> bool {
        let Some(numbers) = &mut self.numbers else { return true };
        self.last_cause = seq;
        let expected = self.next;
        if seq < self.first_data && seq < expected {
            // The handshake's packet again, because an RTT was longer than its timeout: it brings
            // nothing, and its answer tells of nothing else.
            numbers.expected = Some(seq);
            return false;
        }
        let empty = numbers.empty.contains(&seq);
        numbers.empty.retain(|other| *other > seq);
        if seq < expected {
            numbers.skipped -= u32::from(!empty);
            self.end -= u32::from(!empty);
            return false;
        }
        let empty = empty && at <= self.counts_until;
        let nothing = seq - expected + u32::from(empty);
        numbers.skipped += nothing;
        numbers.expected = (seq > expected).then_some(expected);
        self.end = self.end.saturating_add(nothing);
        self.next = seq;
        self.advance(at);
        seq == expected
    }

    /// Packet `seq` has left without data.
    #[cold]
    pub(crate) fn expect_empty(&mut self, seq: u32) {
        self.numbers.iter_mut().for_each(|numbers| numbers.empty.push(seq));
        self.delayed_until = 0;
    }
}
