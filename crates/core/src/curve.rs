//! The cubic curve of RFC 9438 section 4.2, `C (t - K)^3 + origin`, in integers: time in 2^-16 s,
//! the window in bytes. It is within one byte, two millionths and three ticks of time of the
//! formula where `C` times the MSS is at least eight bytes per cubic second, as with C = 0.0055 at
//! 1460 bytes (`tests/cubic.rs`).

use crate::knob::{Knob, KnobKind, RATIO_ONE};
use crate::units::{Bytes, Span, high_half, mul_div};

/// A window over time, flat around `origin` at time `K`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Curve {
    /// `W_max`, or the window at the start where there is none.
    pub(crate) origin: Bytes,
    /// `K`, in ticks.
    pub(crate) k: u64,
    /// `C` times the MSS, in 2^-16 bytes per cubic second.
    scale: u64,
}

impl Curve {
    /// The curve from `cwnd`, flat around `origin`, which is at least cwnd; `c` in millionths of a
    /// segment of `mss` per cubic second.
    pub fn new(cwnd: Bytes, origin: Bytes, c: u64, mss: Bytes) -> Self {
        let scale = mul_div(mss.0, c << FRACTION, RATIO_ONE).clamp(1, 1 << 48);
        let cube = (u128::from((origin - cwnd).0) << 64) / u128::from(scale);
        Self { origin, k: cube_root(cube).min(LONGEST), scale }
    }

    /// The window after `t`.
    pub fn at(&self, t: Span) -> Bytes {
        let t = ticks(t);
        let offset = u128::from(t.abs_diff(self.k).min(LONGEST));
        let change = (offset * offset * offset * u128::from(self.scale)) >> 64;
        let change = Bytes(u64::try_from(change).unwrap_or(u64::MAX));
        if t < self.k { self.origin - change } else { self.origin + change }
    }

    /// Whether the curve is beyond its flat part after `t`.
    pub fn is_convex(&self, t: Span) -> bool {
        ticks(t) >= self.k
    }
}

/// Whole 2^-16 s in a span, at most one too few.
fn ticks(span: Span) -> u64 {
    high_half(span.0, TICKS_PER_NANO)
}

/// The largest whole number whose cube is not above `n`.
pub(crate) fn cube_root(n: u128) -> u64 {
    let mut root: u64 = 0;
    for bit in (0..43).rev() {
        let next = root + (1 << bit);
        let wide = u128::from(next);
        if (wide * wide).checked_mul(wide).is_some_and(|cube| cube <= n) {
            root = next;
        }
    }
    root
}

/// Bits of a fraction: of time and of the curve's scale.
pub const FRACTION: u32 = 16;

/// 2^16 per second, over 10^9, in 2^-64.
const TICKS_PER_NANO: u64 = ((1_u128 << (64 + FRACTION)) / 1_000_000_000) as u64;

/// 1024 s in ticks: no curve is followed for longer.
const LONGEST: u64 = 1 << 26;

/// The knob for `C`.
pub(crate) const C: Knob = Knob::new("c")
    .means("steepness of the curve, segments per cubic second")
    .of_kind(KnobKind::Ratio(RATIO_ONE / 1_000, 100 * RATIO_ONE));

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    #[test]
    fn cube_roots_are_exact() {
        assert_eq!([0, 1, 7, 8, 26, 27].map(cube_root), [0, 1, 1, 2, 2, 3]);
        assert_eq!(cube_root(u128::MAX), 6_981_463_658_331);
        assert_eq!(cube_root(1_000_000_u128.pow(3)), 1_000_000);
        assert_eq!(cube_root(1_000_000_u128.pow(3) - 1), 999_999);
    }

    #[test]
    fn the_curve_falls_to_beta_and_is_back_after_k() {
        // From 700 to 1000 with C 0.4: K = cbrt(300 / 0.4) = 9.0856 s.
        let curve = Curve::new(Bytes(700_000), Bytes(1_000_000), 400_000, Bytes(MSS));
        assert_eq!(curve.k, 595_434, "9.0856 s of 65536 ticks");
        assert_eq!(curve.at(Span(0)).0 / MSS, 700);
        // 5 s before K: 1000 - 0.4 * 125 = 950; 5 s after: 1050.
        let k = 9_085_603_000;
        assert_eq!((curve.at(Span(k - 5_000_000_000)).0 + 500) / MSS, 950);
        assert_eq!(curve.at(Span(k)).0.div_ceil(MSS), 1_000);
        assert_eq!((curve.at(Span(k + 5_000_000_000)).0 + 500) / MSS, 1_050);
    }
}
