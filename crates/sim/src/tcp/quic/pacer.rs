//! The pacer: a bucket of bytes that fills at 5/4 cwnd per smoothed RTT (RFC 9002 section 7.7). How
//! large it is, and that a sender that emptied it waits until it is full, but for what an ACK lets
//! go in between, is as in quinn 0.11.

use firstflight_core::units::{Instant, Span};

#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Bytes that may leave at once.
    capacity: u64,
    /// Bytes of them that have not left.
    tokens: u64,
    /// The window for which the capacity is right.
    window: u64,
    /// When the bucket was filled last.
    filled: Instant,
}

impl Pacer {
    /// The pacer of a connection that begins at `now`.
    pub(super) fn new(smoothed: Span, packet: u64, window: u64, now: Instant) -> Self {
        let capacity = capacity(smoothed, packet, window);
        Self { capacity, tokens: capacity, window, filled: now }
    }

    /// Takes the bytes of a packet out. Returns until when it has to wait instead, if it has to.
    pub(super) fn take(
        &mut self,
        smoothed: Span,
        packet: u64,
        window: u64,
        now: Instant,
    ) -> Option<Instant> {
        if window != self.window {
            self.capacity = capacity(smoothed, packet, window);
            self.tokens = self.tokens.min(self.capacity);
            self.window = window;
        }
        if self.tokens < packet {
            self.fill(smoothed, now);
        }
        if self.tokens < packet {
            let missing = self.capacity.max(packet) - self.tokens;
            let time = smoothed.scaled(missing.saturating_mul(4), self.window.saturating_mul(5));
            return Some(self.filled + time.max(Span(1)));
        }
        self.tokens -= packet;
        None
    }

    fn fill(&mut self, smoothed: Span, now: Instant) {
        let gained = u128::from(self.window) * 5 * u128::from(now.since(self.filled).0);
        let gained = gained / (u128::from(smoothed.0.max(1)) * 4);
        let gained = u64::try_from(gained).unwrap_or(u64::MAX);
        self.tokens = self.tokens.saturating_add(gained).min(self.capacity);
        self.filled = now;
    }
}

/// What the window lets go in two milliseconds, between ten packets and 256.
fn capacity(smoothed: Span, packet: u64, window: u64) -> u64 {
    let bytes = u128::from(window) * u128::from(BURST_TIME.0) / u128::from(smoothed.0.max(1));
    u64::try_from(bytes).unwrap_or(u64::MAX).clamp(10 * packet, 256 * packet)
}

/// Its rate, in hundredths of a window per RTT.
pub(in super::super) const PACER_PERCENT: u16 = 125;

const BURST_TIME: Span = Span::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    #[test]
    fn ten_packets_leave_at_once_and_then_ten_more_when_there_is_room_for_all() {
        let (rtt, window) = (Span::from_millis(100), 50_000);
        let mut pacer = Pacer::new(rtt, 1_000, window, at(0));
        for _ in 0..10 {
            assert_eq!(pacer.take(rtt, 1_000, window, at(0)), None);
        }
        // 50,000 bytes and a quarter in 100 ms: 10,000 in 16.
        assert_eq!(pacer.take(rtt, 1_000, window, at(0)), Some(at(16)));
        assert_eq!(pacer.take(rtt, 1_000, window, at(8)), None, "an ACK came by");
        for _ in 0..4 {
            assert_eq!(pacer.take(rtt, 1_000, window, at(8)), None);
        }
        assert_eq!(pacer.take(rtt, 1_000, window, at(8)), Some(at(24)));
    }

    #[test]
    fn what_a_full_bucket_missed_is_made_up_for_once_when_it_is_empty() {
        let rtt = Span::from_millis(100);
        let mut pacer = Pacer::new(rtt, 1_000, 50_000, at(0));
        let sent = (0..100).take_while(|_| pacer.take(rtt, 1_000, 50_000, at(100)).is_none());
        assert_eq!(sent.count(), 20);
    }

    #[test]
    fn a_wide_window_leaves_in_bursts_of_two_milliseconds() {
        let rtt = Span::from_millis(100);
        assert_eq!(capacity(rtt, 1_000, 1_000_000), 20_000);
        assert_eq!(capacity(rtt, 1_000, 100_000), 10_000);
        assert_eq!(capacity(rtt, 1_000, 100_000_000), 256_000);
    }
}
