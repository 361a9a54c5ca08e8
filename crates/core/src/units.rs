//! Units: every quantity the core handles has a type.
//!
//! Time is nanoseconds in 64 bits (584 years), data is bytes in 64 bits, a rate is bytes per second
//! in 64 bits. Arithmetic saturates instead of wrapping, so that no input can make a policy panic.

use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An amount of data or a window, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Bytes(pub u64);

/// A point in time: nanoseconds since an epoch the transport chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(pub u64);

/// A length of time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Span(pub u64);

/// A rate, in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Rate(pub u64);

impl Bytes {
    /// No limit: an ssthresh that has not been set yet (RFC 5681 section 3.1, "arbitrarily high").
    pub const MAX: Self = Self(u64::MAX);

    /// The largest whole number of segments of `mss` that fits, in bytes.
    pub const fn whole_segments(self, mss: Self) -> Self {
        if self.0 == u64::MAX || mss.0 == 0 { self } else { Self(self.0 - self.0 % mss.0) }
    }

    /// `self * num / den`, exact as long as the result fits 64 bits; `den` 0 counts as 1.
    pub const fn scaled(self, num: u64, den: u64) -> Self {
        Self(mul_div(self.0, num, den))
    }

    /// The rate that moves this much in `span`; `Rate::MAX` for an empty span.
    pub const fn per(self, span: Span) -> Rate {
        if span.0 == 0 {
            return Rate::MAX;
        }
        Rate(mul_div(self.0, NANOS_PER_SECOND, span.0))
    }
}

impl Instant {
    /// Time since `earlier`; zero when the clock went backwards.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Longer than any connection.
    pub const MAX: Self = Self(u64::MAX);

    /// In nanoseconds for a report, where [`Span::MAX`] means "not known" and is 0.
    pub(crate) const fn reported(self) -> u64 {
        if self.0 == u64::MAX { 0 } else { self.0 }
    }

    /// From whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// From whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SECOND))
    }

    /// `self * num / den`, exact as long as the result fits 64 bits; `den` 0 counts as 1.
    pub const fn scaled(self, num: u64, den: u64) -> Self {
        Self(mul_div(self.0, num, den))
    }

    /// This span in whole ticks of a coarse clock: rounded down, but at least one tick. With a tick
    /// of zero it is exact; [`Span::MAX`], which means "not known", stays [`Span::MAX`].
    #[inline]
    pub const fn in_ticks(self, tick: Self) -> Self {
        if tick.0 == 0 || self.0 == u64::MAX {
            return self;
        }
        let ticks = self.0 / tick.0;
        Self(if ticks == 0 { tick.0 } else { ticks * tick.0 })
    }
}

impl Rate {
    /// Faster than any link.
    pub const MAX: Self = Self(u64::MAX);

    /// From bits per second, rounded down to whole bytes per second.
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Self(bits / 8)
    }

    /// What this rate moves in `span`, rounded down.
    pub const fn over(self, span: Span) -> Bytes {
        Bytes(mul_div(self.0, span.0, NANOS_PER_SECOND))
    }

    /// `self * num / den`, exact as long as the result fits 64 bits; `den` 0 counts as 1.
    pub const fn scaled(self, num: u64, den: u64) -> Self {
        Self(mul_div(self.0, num, den))
    }
}

/// Nanoseconds in one second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// `a * b / den` without intermediate overflow, saturating at `u64::MAX`. The 64-bit path is taken
/// whenever the product fits, because 128-bit division costs ten times as much.
pub(crate) const fn mul_div(a: u64, b: u64, den: u64) -> u64 {
    let den = if den == 0 { 1 } else { den };
    match a.checked_mul(b) {
        Some(product) => product / den,
        None => {
            let wide = (a as u128) * (b as u128) / (den as u128);
            if wide > u64::MAX as u128 { u64::MAX } else { wide as u64 }
        }
    }
}

/// The upper 64 bits of a product: what multiplying by a fraction in 2^-64 gives, without a shift
/// across two registers.
#[inline]
pub(crate) const fn high_half(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// A sum has overflowed. A branch that is never taken costs a sum less than selecting a value.
#[cold]
#[inline(never)]
const fn saturate(sum: &mut u64) {
    *sum = u64::MAX;
}

macro_rules! saturating_arithmetic {
    ($($unit:ident),*) => {$(
        impl Add for $unit {
            type Output = Self;
            #[inline]
            fn add(mut self, other: Self) -> Self {
                self += other;
                self
            }
        }
        impl Sub for $unit {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }
        impl AddAssign for $unit {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                let (sum, too_much) = self.0.overflowing_add(other.0);
                self.0 = sum;
                if too_much {
                    saturate(&mut self.0);
                }
            }
        }
        impl SubAssign for $unit {
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
        impl Mul<u64> for $unit {
            type Output = Self;
            fn mul(self, factor: u64) -> Self {
                Self(self.0.saturating_mul(factor))
            }
        }
        impl Div<u64> for $unit {
            type Output = Self;
            fn div(self, divisor: u64) -> Self {
                Self(self.0 / divisor.max(1))
            }
        }
    )*};
}
saturating_arithmetic!(Bytes, Span, Rate);

impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_over_an_rtt_is_the_bdp() {
        let rate = Rate::from_bits_per_second(40_000_000);
        assert_eq!(rate.over(Span::from_millis(100)), Bytes(500_000));
        assert_eq!(Bytes(500_000).per(Span::from_millis(100)), rate);
    }

    #[test]
    fn products_beyond_64_bits_stay_exact() {
        let rate = Rate::from_bits_per_second(100_000_000_000);
        assert_eq!(rate.over(Span::from_secs(600)), Bytes(7_500_000_000_000));
    }

    #[test]
    fn a_coarse_clock_rounds_down_to_whole_ticks_but_not_to_none() {
        let tick = Span::from_millis(10);
        assert_eq!(Span::from_millis(109).in_ticks(tick), Span::from_millis(100));
        assert_eq!(Span::from_millis(3).in_ticks(tick), tick);
        assert_eq!(Span::from_millis(109).in_ticks(Span(0)), Span::from_millis(109));
        assert_eq!(Span::MAX.in_ticks(tick), Span::MAX);
    }

    #[test]
    fn only_whole_segments_count_but_no_limit_stays_none() {
        let whole = |bytes: Bytes, mss: u64| bytes.whole_segments(Bytes(mss));
        assert_eq!(whole(Bytes(2_999), 1_000), Bytes(2_000));
        assert_eq!((whole(Bytes::MAX, 1_000), whole(Bytes(7), 0)), (Bytes::MAX, Bytes(7)));
    }

    #[test]
    fn nothing_overflows() {
        assert_eq!(Bytes::MAX + Bytes(1), Bytes::MAX);
        assert_eq!(Bytes(1) - Bytes(2), Bytes(0));
        assert_eq!(Bytes::MAX.scaled(3, 2), Bytes::MAX);
        assert_eq!(Bytes(7) / 0, Bytes(7));
        assert_eq!(Instant(5).since(Instant(9)), Span(0));
    }
}
