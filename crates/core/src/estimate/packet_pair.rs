//! Bottleneck rate from closely spaced ACKs (Hoe, "Improving the start-up behavior of a congestion
//! control scheme for TCP", SIGCOMM 1996, section 3): the slope of the least-squares line through
//! three of them.
//!
//! The paper leaves open what "closely spaced" is. Here three successive ACKs for new data must
//! span less than a fraction of the smallest RTT, a quarter unless set: then they answer one burst,
//! which the bottleneck has spaced. From a window of one segment the third round is the first to
//! have them.

use crate::event::Ack;
use crate::units::{Bytes, Instant, NANOS_PER_SECOND, Rate, Span};
use crate::view::View;

/// Waits for three closely spaced ACKs, once.
#[derive(Clone, Copy, Debug)]
pub struct PacketPair {
    /// Fraction of the smallest RTT within which three ACKs count as close, in millionths.
    span: u64,
    /// The last ACKs, oldest first: arrival, and all that had been delivered then.
    acks: [(Instant, Bytes); 3],
    /// How many have come, as far as it is counted.
    seen: u8,
    /// The rate, once known.
    rate: Option<Rate>,
}

impl PacketPair {
    /// `span` is the fraction of the smallest RTT within which three ACKs count as close, in
    /// millionths.
    pub const fn new(span: u64) -> Self {
        Self { span, acks: [(Instant(0), Bytes(0)); 3], seen: 0, rate: None }
    }

    /// The fraction of the smallest RTT within which three ACKs count as close, in millionths.
    pub const fn span(&self) -> u64 {
        self.span
    }

    /// The rate, once known.
    pub const fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Takes an ACK in; afterwards nothing changes any more once the rate is known.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.rate.is_some() || ack.acked == Bytes(0) || ack.credited == Bytes(0) {
            return;
        }
        // Hoe, section 3: three closely spaced ACKs; ours: what close is.
        self.acks = [self.acks[1], self.acks[2], (ack.now, view.delivered)];
        self.seen = self.seen.saturating_add(1);
        let [first, _, last] = self.acks;
        let near = view.rtt.min.scaled(self.span, crate::knob::RATIO_ONE).min(LONGEST_SPAN);
        if self.seen >= 3 && view.rtt.min != Span::MAX && last.0.since(first.0) < near {
            self.rate = slope(&self.acks);
        }
    }
}

/// Slope of the least-squares line, if times rise and differ.
///
/// With times and amounts counted from the first ACK: `b = (3 sum(ta) - sum(t) sum(a)) /
/// (3 sum(t^2) - sum(t)^2)`. Times stay under 2^40 ns and amounts are cut at 2^48 bytes, so every
/// term fits 128 bits.
fn slope(acks: &[(Instant, Bytes); 3]) -> Option<Rate> {
    let [(t0, a0), (t1, a1), (t2, a2)] = *acks;
    if t1 < t0 || t2 < t1 {
        return None;
    }
    let (t1, t2) = (i128::from((t1.since(t0)).0), i128::from(t2.since(t0).0));
    let (a1, a2) = (i128::from((a1 - a0).0 & LARGEST), i128::from((a2 - a0).0 & LARGEST));
    let above = 3 * (t1 * a1 + t2 * a2) - (t1 + t2) * (a1 + a2);
    let below = 3 * (t1 * t1 + t2 * t2) - (t1 + t2) * (t1 + t2);
    if below <= 0 || above <= 0 {
        return None;
    }
    let rate = above * i128::from(NANOS_PER_SECOND) / below;
    Some(Rate(u64::try_from(rate).unwrap_or(u64::MAX)))
}

/// A quarter, in millionths.
pub const QUARTER: u64 = 250_000;

/// Longest span three ACKs may have: 18 minutes.
const LONGEST_SPAN: Span = Span(1 << 40);

const LARGEST: u64 = (1 << 48) - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};

    #[test]
    fn parts_of_one_ack_are_one_ack() {
        let mut pair = PacketPair::new(QUARTER);
        let mut view = view(10, Bytes::MAX);
        // Two packets every 400 us, the window opened for each alone: 5 MB/s.
        for at in [0, 400, 800] {
            view.now = Instant(at * 1_000);
            view.delivered += MSS * 2;
            let whole = Ack { acked: MSS, ..ack(&view, 2) };
            pair.on_ack(&whole, &view);
            pair.on_ack(&Ack { credited: Bytes(0), ..whole }, &view);
        }
        assert_eq!(pair.rate(), Some(Rate(5_000_000)));
    }

    fn acks(times_us: [u64; 3], segments: [u64; 3]) -> [(Instant, Bytes); 3] {
        [0, 1, 2].map(|i| (Instant(times_us[i] * 1_000), Bytes(segments[i] * 1_000)))
    }

    #[test]
    fn evenly_spaced_acks_give_the_rate_of_the_bottleneck() {
        // 1000 bytes every 200 us are 5 MB/s.
        assert_eq!(slope(&acks([0, 200, 400], [1, 2, 3])), Some(Rate(5_000_000)));
    }

    #[test]
    fn the_line_is_the_least_squares_one() {
        // t 0, 1, 5 ms; a 0, 1, 2 kB: means 2 and 1; (-2*-1 + -1*0 + 3*1) / (4 + 1 + 9) = 5/14
        // kB/ms.
        assert_eq!(slope(&acks([0, 1_000, 5_000], [1, 2, 3])), Some(Rate(357_142)));
    }

    #[test]
    fn acks_at_one_instant_show_nothing() {
        assert_eq!(slope(&acks([7, 7, 7], [1, 2, 3])), None);
        assert_eq!(slope(&acks([7, 3, 9], [1, 2, 3])), None);
    }

    #[test]
    fn two_acks_of_one_instant_and_a_third_have_a_line() {
        // (0, 0), (0, 1), (1, 2) and (0, 0), (1, 1), (1, 2) in ms and kB: 1.5 kB/ms.
        for times in [[0, 0, 1_000], [0, 1_000, 1_000]] {
            assert_eq!(slope(&acks(times, [1, 2, 3])), Some(Rate(1_500_000)));
        }
        assert_eq!(slope(&acks([7, 9, 8], [1, 2, 3])), None, "the clock went back");
        assert_eq!(slope(&acks([0, 200, 400], [1, 1, 1])), None, "nothing was delivered");
    }

    #[test]
    fn only_acks_of_new_data_count_and_only_until_the_rate_is_known() {
        let (mut pair, mut view) = (PacketPair::new(QUARTER), view(10, Bytes::MAX));
        let mut take = |at_us: u64, acked, credited| {
            view.now = Instant(at_us * 1_000);
            view.delivered += credited;
            pair.on_ack(&Ack { acked, credited, ..ack(&view, 1) }, &view);
            pair.rate()
        };
        let none = Bytes(0);
        assert_eq!(take(0, MSS, MSS), None);
        assert_eq!(take(50, MSS, none), None, "a part of the ACK before");
        assert_eq!(take(200, MSS, MSS), None);
        assert_eq!(take(300, none, none), None);
        assert_eq!(take(400, MSS, MSS), Some(Rate(5_000_000)));
        assert_eq!(take(1_000, MSS, MSS), Some(Rate(5_000_000)), "once");
    }

    #[test]
    fn what_a_duplicate_announces_is_no_step_of_the_line() {
        let (mut pair, mut view) = (PacketPair::new(QUARTER), view(10, Bytes::MAX));
        for (at_us, acked) in [(0, MSS), (100, Bytes(0)), (200, MSS)] {
            view.now = Instant(at_us * 1_000);
            view.delivered += MSS;
            pair.on_ack(&Ack { acked, ..ack(&view, 1) }, &view);
        }
        assert_eq!(pair.rate(), None, "two ACKs for new data");
    }
}
