//! The right edge of a window that grows with every packet that the receiver takes
//! ([`GrowingWindow`](crate::GrowingWindow)). The sender works out the advertised window from what
//! the receiver has taken; the next ACK repeats what a lost one reported.

use super::log::Mark;
use super::tcb::Tcb;
use crate::endpoint::Endpoint;

/// A window that grows: in packets, times [`ONE`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AdvertisedWindow {
    first: u64,
    step: u64,
    /// After so many packets it grows no more, and limits nothing; 0 if it never did.
    packets: u32,
}

impl AdvertisedWindow {
    pub(super) fn of(endpoint: &Endpoint, mss: u64) -> Self {
        let Some(window) = endpoint.growing_window else { return Self::default() };
        let scaled = |bytes: u64| bytes.saturating_mul(ONE) / mss.max(1);
        let (first, step) = (scaled(window.first.0), scaled(window.step.0));
        Self { first, step, packets: window.packets() }
    }

    /// Packets that may be outstanding when the receiver has taken so many.
    #[inline]
    fn packets(&self, taken: u32) -> u32 {
        let packets = (self.first + self.step * u64::from(taken)) / ONE;
        u32::try_from(packets).unwrap_or(u32::MAX).max(1)
    }
}

impl Tcb {
    /// An ACK for all below `next`, which `una` may not cover yet, reports `early` packets beyond
    /// it: how far the sender may send.
    pub(super) fn extend(&mut self, next: u32, early: u32) {
        let next = next.max(self.una);
        self.ahead += early;
        if self.ahead > 0 {
            let known = (self.una..next).filter(|seq| self.log.has(*seq, Mark::ARRIVED)).count();
            // Where there was nothing left to send, some came that were not counted.
            self.ahead = self.ahead.saturating_sub(known as u32);
        }
        let taken = (next + self.ahead).saturating_sub(self.first_data);
        self.limit = match taken < self.advertised.packets {
            true => self.end.min(next.saturating_add(self.advertised.packets(taken))),
            false => self.end,
        };
    }

    /// The window that the receiver advertises, in packets.
    pub(super) fn advertised_window(&self) -> u32 {
        let taken = (self.una + self.ahead).saturating_sub(self.first_data);
        let growing = (taken < self.advertised.packets).then(|| self.advertised.packets(taken));
        growing.unwrap_or(u32::MAX).min(self.endpoint.receiver_window)
    }
}

/// One packet.
const ONE: u64 = 1 << 10;
