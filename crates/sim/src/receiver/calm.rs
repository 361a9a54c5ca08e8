//! The calm packet: the next in order, while nothing is missing. Nearly every packet is one. This
//! is the general path of [`Receiver::receive`] without the steps that cannot apply.

use firstflight_core::units::Instant;

use super::{Caused, Receiver};
use crate::packet::AckOut;

impl Receiver {
    /// Whether calm packets take their own way.
    pub(crate) fn has_fast_paths(&self) -> bool {
        self.fast_paths
    }

    /// Whether an ACK may wait for the next packet.
    pub(crate) fn delays(&self) -> bool {
        self.every > 1 || self.numbers.is_some()
    }

    /// Takes packet `seq`, which arrives within the run, if it is the next one but not the last,
    /// nothing is missing and no ACK is ever delayed, as with nearly every packet: it causes an ACK
    /// then. If this returns false, nothing has changed, and the caller calls
    /// [`Receiver::receive`].
    #[inline(always)]
    pub(crate) fn take_calm(&mut self, seq: u32) -> bool {
        let calm = seq == self.next && seq < self.calm_until;
        if calm {
            self.next = seq + 1;
        }
        calm
    }

    /// Packet `seq` arrives at `at`: the ACK that it causes, if every packet causes one at once.
    /// Otherwise nothing has changed, as above.
    #[inline]
    pub(crate) fn take_at_once(&mut self, seq: u32, at: Instant) -> Option<AckOut> {
        if !self.answers_at_once {
            return None;
        }
        self.take_data(seq, at);
        self.look_for_gaps();
        let blocks = self.sack_blocks();
        Some(AckOut { at, next: self.next, cause: seq, blocks, parts: 1, more: 0 })
    }

    /// Packet `seq` arrives at `at`. If it is the next one but not the last, nothing is missing,
    /// the delayed-ACK timer has not fired before it, and ACKs are not split: what it causes.
    /// Otherwise nothing has changed, as above.
    #[inline]
    pub(crate) fn take_delayed(&mut self, seq: u32, at: Instant) -> Option<Caused> {
        let fired = self.deadline.is_some_and(|due| due <= at + self.hold_ties);
        let quick = seq < self.quick_until;
        let usual = at.since(self.last_at) <= self.usual_gap || self.last_at == Instant(0);
        if seq != self.next || seq >= self.delayed_until || quick || fired || !usual {
            return None;
        }
        self.next = seq + 1;
        self.last_cause = seq;
        self.last_at = at;
        Some(self.on_in_order(at))
    }

    /// Looks which packets may be calm from now on.
    #[inline]
    pub(super) fn look_for_gaps(&mut self) {
        let until = if self.out_of_order.is_empty() { self.end - 1 } else { 0 };
        if self.answers_at_once {
            self.calm_until = until;
        } else if self.fast_paths && self.delays() && self.split == 1 {
            let empty = self.numbers.as_ref().is_some_and(|numbers| !numbers.empty.is_empty());
            let until = if empty { 0 } else { until };
            let opens = self.linux.as_ref().is_some_and(|linux| linux.opens());
            let quiet = if self.quick == 0 && !opens { until } else { 0 };
            self.calm_until = if self.unacked == 0 { quiet.min(self.quick_until) } else { 0 };
            self.delayed_until = quiet;
            if self.next < self.calm_until {
                self.last_at = Instant(0);
            }
        }
    }
}
