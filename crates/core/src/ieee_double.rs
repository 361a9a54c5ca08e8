//! The window of a program that counts segments in IEEE 754 double precision, in integers.
//!
//! ns-2.35's Vegas adds the same `1 / cwnd` on every ACK of a round. Nine times the double nearest
//! to 1/9, added to 9, falls short of 10, and a window of 9.99... lets nine segments leave; from 8
//! or 11 segments the sum is whole. Where Vegas settles turns on it. The sums here round as that
//! program's do, without floating point.

use crate::units::{Bytes, mul_div};

/// A positive double: `mantissa / 2^bits`, the mantissa of 53 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Double {
    mantissa: u64,
    bits: u32,
}

impl Double {
    /// The double nearest to a window in segments, which is taken as at least one segment and at
    /// most 2^40.
    pub(crate) fn segments(window: Bytes, mss: Bytes) -> Self {
        let mss = mss.0.max(1);
        let whole = (window.0 / mss).clamp(1, 1 << 40);
        let bits = FRACTION_BITS - whole.ilog2();
        let rest = window.0.saturating_sub(whole * mss).min(mss - 1);
        Self { mantissa: (whole << bits) + rounded(rest, 1 << bits, mss), bits }
    }

    /// The double nearest to a window that may have lost a fraction of a byte: Vegas gives back an
    /// eighth of its window, so what lies within a byte below a whole number of eighths of a
    /// segment is that number.
    fn eighths(window: Bytes, mss: Bytes) -> Self {
        let size = mss.0.max(1);
        let (whole, rest) = (window.0 / size, window.0 % size);
        let eighths = (rest * 8).div_ceil(size);
        if whole == 0 || eighths * size - rest * 8 >= 8 {
            return Self::segments(window, mss);
        }
        let base = Self::segments(mss * whole, mss);
        // From seven eighths and a byte on, eight of them are one more segment.
        if eighths == 8 {
            return Self::segments(mss * (whole + 1), mss);
        }
        Self { mantissa: base.mantissa + ((eighths << base.bits) >> 3), ..base }
    }

    /// The double nearest to the inverse.
    pub(crate) fn inverse(self) -> Self {
        // 1 / mantissa in units of 2^-105 lies from 2^52 to 2^53.
        let mantissa = rounded(1 << FRACTION_BITS, 2 << FRACTION_BITS, self.mantissa);
        Self { mantissa, bits: 2 * FRACTION_BITS + 1 - self.bits }
    }

    /// The sum of this and a smaller number, as near as a double comes.
    #[must_use]
    pub(crate) fn plus(self, less: Self) -> Self {
        let shift = (less.bits - self.bits).min(63);
        let sum = self.mantissa + (less.mantissa >> shift);
        let below = less.mantissa & ((1 << shift) - 1);
        let half = (1_u64 << shift) >> 1;
        let up = below > half || (below == half && half > 0 && sum & 1 == 1);
        let sum = sum + u64::from(up);
        if sum >> (FRACTION_BITS + 1) == 0 || self.bits == 0 {
            return Self { mantissa: sum, ..self };
        }
        Self { mantissa: (sum >> 1) + (sum >> 1 & sum & 1), bits: self.bits - 1 }
    }

    /// Half of it, exactly.
    pub(crate) fn half(self) -> Self {
        Self { bits: self.bits + 1, ..self }
    }

    /// This many whole segments more or fewer, at least one segment.
    fn moved(self, segments: u64, up: bool) -> Self {
        let far = segments.min(1 << 40) << self.bits.min(FRACTION_BITS);
        let sum =
            if up { self.mantissa.saturating_add(far) } else { self.mantissa.saturating_sub(far) };
        let mut moved = Self { mantissa: sum.max(1 << self.bits), bits: self.bits };
        while moved.mantissa >> FRACTION_BITS == 0 {
            (moved.mantissa, moved.bits) = (moved.mantissa << 1, moved.bits + 1);
        }
        while moved.mantissa >> (FRACTION_BITS + 1) != 0 && moved.bits > 0 {
            (moved.mantissa, moved.bits) = (moved.mantissa >> 1, moved.bits - 1);
        }
        moved
    }

    /// The window in bytes, the fraction of a byte dropped.
    pub(crate) fn bytes(self, mss: Bytes) -> Bytes {
        Bytes(mul_div(self.mantissa, mss.0, 1 << self.bits))
    }
}

/// A congestion window in double precision, next to the window in bytes that the sender keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleWindow {
    now: Double,
    as_bytes: Bytes,
}

impl DoubleWindow {
    /// Follows no window yet.
    pub(crate) fn new() -> Self {
        Self { now: Double::segments(Bytes(1), Bytes(1)), as_bytes: Bytes(0) }
    }

    /// The number that is `window`. It keeps its fraction of a byte if the window has been moved by
    /// whole segments since.
    pub(crate) fn at(&mut self, window: Bytes, mss: Bytes) -> Double {
        let moved = window.0.abs_diff(self.as_bytes.0);
        if self.as_bytes == Bytes(0) || !moved.is_multiple_of(mss.0.max(1)) {
            self.now = Double::eighths(window, mss);
        } else if moved > 0 {
            self.now = self.now.moved(moved / mss.0.max(1), window > self.as_bytes);
        }
        self.as_bytes = window;
        self.now
    }

    /// The window is `now` from here on. Returns it in bytes, the fraction of a byte dropped.
    pub(crate) fn set(&mut self, now: Double, mss: Bytes) -> Bytes {
        (self.now, self.as_bytes) = (now, now.bytes(mss));
        self.as_bytes
    }
}

impl Default for DoubleWindow {
    fn default() -> Self {
        Self::new()
    }
}

/// `a * b / den` to the nearest whole number; `b` is a power of two above 1 or `a * b` small.
fn rounded(a: u64, b: u64, den: u64) -> u64 {
    mul_div(a, b.saturating_mul(2), den).div_ceil(2)
}

/// Bits of a double's fraction.
const FRACTION_BITS: u32 = 52;

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes(1460);

    fn after_a_round(from: u64) -> Bytes {
        let start = Double::segments(MSS * from, MSS);
        (0..from).fold(start, |window, _| window.plus(start.inverse())).bytes(MSS)
    }

    #[test]
    fn a_round_of_growth_reaches_the_next_segment_or_falls_just_short() {
        // The windows below 60 from which `w += 1 / from`, repeated, falls short in doubles.
        let short = [9, 10, 13, 14, 15, 17, 21, 25, 28, 31, 37, 40, 41, 46, 47, 52, 53, 55, 58];
        for from in 2..60 {
            let missing = u64::from(short.contains(&from));
            assert_eq!(after_a_round(from), MSS * (from + 1) - Bytes(missing), "from {from}");
        }
    }

    #[test]
    fn a_window_moved_by_whole_segments_keeps_its_fraction() {
        let mut window = DoubleWindow::new();
        let nine = window.at(MSS * 9, MSS);
        let short = (0..9).fold(nine, |now, _| now.plus(nine.inverse()));
        let bytes = window.set(short, MSS);
        assert_eq!(bytes, MSS * 10 - Bytes(1));
        // Eight up is past 16, where the last place is twice as coarse; and back.
        assert_eq!(window.at(bytes + MSS * 8, MSS).bytes(MSS), MSS * 18 - Bytes(1));
        assert_eq!(window.at(bytes, MSS), short);
        assert_eq!(window.at(MSS * 3, MSS), Double::segments(MSS * 3, MSS));
    }

    #[test]
    fn a_window_in_bytes_keeps_its_bytes() {
        for window in [1_460, 1_461, 2_919, 100_000, 1 << 40] {
            let kept = Double::segments(Bytes(window), MSS).bytes(MSS).0;
            assert!(kept == window || kept + 1 == window, "{window} became {kept}");
        }
    }
}
