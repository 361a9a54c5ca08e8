//! HighSpeed TCP (RFC 3649): the larger the window, the more a round trip adds and the less a loss
//! takes.
//!
//! What it believes: a window of 83,000 segments should be had at one loss in 10^7 packets, which
//! standard TCP reaches at one in 5 * 10^9 only. What it does above 38 segments, with `w` the
//! window in segments (section 5):
//!
//! ```text
//! p(w) = 0.078 / w^1.2
//! b(w) = (0.1 - 0.5) (log w - log 38) / (log 83000 - log 38) + 0.5
//! a(w) = w^2 p(w) 2 b(w) / (2 - b(w))
//! ```
//!
//! an ACK adds `a(w) / w` segments and a loss takes `b(w) w`. Up to 38 segments a is 1 and b one
//! half.
//!
//! Published: all of it; appendix B's table gives back the same numbers, which a test holds. The
//! exponents of p come from the windows and loss rates of section 5 rounded as printed, so they
//! stay when a knob moves those. Inferred: b falls no further where the table ends, at 89,053
//! segments; a timeout leaves half, as the RFC changes nothing there. Slow start above 100
//! segments, which it wants limited, is another policy's ([`crate::startup::Limited`]).

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::linear::{LinearGrowth, additive_increase, halve};
use crate::needs::Needs;
use crate::policy::{Avoidance, Observer, Step};
use crate::units::mul_div;
use crate::view::{View, Window};

/// Additive increase and multiplicative decrease that depend on the window.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeed {
    response: Response,
    linear: LinearGrowth,
    /// The window in whole segments that `a` is for.
    segments: u64,
    /// a(w), in millionths.
    a: u64,
}

/// a(w) and b(w).
#[derive(Clone, Copy, Debug)]
struct Response {
    low_window: u64,
    high_window: u64,
    /// In millionths.
    high_decrease: u64,
}

impl Response {
    /// b(w), in millionths.
    fn b(&self, segments: u64) -> u64 {
        // RFC 3649 section 5: linear in log w between the two windows.
        let low = log2(self.low_window);
        let last = self.high_window.max(LAST_WINDOW);
        let part = log2(segments.clamp(self.low_window, last)) - low;
        let all = log2(self.high_window) - low;
        // Beyond the high window the line goes on, but not below the table's last b.
        let least = self.high_decrease.min(LEAST_DECREASE);
        HALF.saturating_sub(mul_div(HALF - self.high_decrease, part, all)).max(least)
    }

    /// a(w), in millionths, at least one segment.
    fn a(&self, segments: u64) -> u64 {
        if segments <= self.low_window {
            return RATIO_ONE;
        }
        // RFC 3649 section 5: `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))`, `p(w) = 0.078 / w^1.2`.
        let b = self.b(segments);
        // w^2 / w^1.2 is w^0.8.
        let packets = mul_div(power_four_fifths(segments), P_FACTOR, RATIO_ONE);
        mul_div(packets, 2 * b, 2 * RATIO_ONE - b).max(RATIO_ONE)
    }
}

impl Listed for HighSpeed {
    const CARD: Card = Card::new(
        "highspeed",
        "the larger the window, the more a RTT adds and the less a loss takes",
        "RFC 3649",
    )
    .knobs(Self::KNOBS);
}

impl Observer for HighSpeed {
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("highspeed_a", self.a);
    }
}

impl Avoidance for HighSpeed {
    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd < window.ssthresh {
            return additive_increase(&mut self.linear, ack, view);
        }
        // RFC 3649 section 5: `cwnd += a(cwnd) / cwnd` per ACK.
        let segments = window.cwnd.0 / view.mss.0.max(1);
        if segments != self.segments {
            (self.segments, self.a) = (segments, self.response.a(segments));
        }
        window.grow(self.linear.per_ack_times(view, self.a, RATIO_ONE))
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        if loss.kind == LossKind::Timeout {
            return halve(loss, view);
        }
        // RFC 3649 section 5: `cwnd *= 1 - b(cwnd)`. A timeout is not changed by it.
        let b = self.response.b(loss.flight.0 / view.mss.0.max(1));
        let left = loss.flight.scaled(RATIO_ONE - b, RATIO_ONE);
        Window { cwnd: left, ssthresh: left }
    }
}

impl Default for HighSpeed {
    fn default() -> Self {
        let response = Response { low_window: 38, high_window: 83_000, high_decrease: 100_000 };
        Self { response, linear: LinearGrowth::default(), segments: 0, a: RATIO_ONE }
    }
}

impl Knobs for HighSpeed {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("low_window")
            .means("Low_Window: segments up to which it is standard TCP")
            .count(1..=10_000, |p| &mut p.response.low_window),
        Knob::new("high_window")
            .means("High_Window: segments at which a loss takes high_decrease")
            .count(20_000..=100_000_000, |p| &mut p.response.high_window),
        Knob::new("high_decrease")
            .means("High_Decrease: part of the window that a loss takes there")
            .ratio(10_000..=HALF, |p| &mut p.response.high_decrease),
    ];

    fn on_set(&mut self, _knob: &str) {
        self.segments = 0;
    }
}

/// Binary logarithm of a whole number from 1 to 2^32, in 2^-24: squaring doubles it, and each
/// square of two or more is a bit.
fn log2(n: u64) -> u64 {
    let n = n.clamp(1, u64::from(u32::MAX));
    let whole = n.ilog2();
    let (mut log, mut m) = (u64::from(whole), n << (31 - whole));
    for _ in 0..LOG_BITS {
        m = (m * m) >> 31;
        log <<= 1;
        if m >= 1 << 32 {
            m >>= 1;
            log |= 1;
        }
    }
    log
}

/// `n^0.8` in millionths, as the fifth root of `n^4`; `n` counts as 2^24 at most.
fn power_four_fifths(n: u64) -> u64 {
    let n = u128::from(n.min(1 << 24));
    let power = n * n * n * n;
    // As many bits of a fraction as fit.
    let bits = power.leading_zeros() / 5;
    let root = fifth_root(power << (5 * bits));
    mul_div(root, RATIO_ONE, 1 << bits)
}

/// The largest whole number whose fifth power is not above `n`.
fn fifth_root(n: u128) -> u64 {
    let mut root: u64 = 0;
    for bit in (0..26).rev() {
        let next = u128::from(root + (1 << bit));
        let square = next * next;
        if (square * square).checked_mul(next).is_some_and(|power| power <= n) {
            root += 1 << bit;
        }
    }
    root
}

/// Bits of a logarithm's fraction.
const LOG_BITS: u32 = 24;

/// Where the table of appendix B ends, in segments.
const LAST_WINDOW: u64 = 89_053;

/// The smallest b(w) of that table, in millionths.
const LEAST_DECREASE: u64 = 90_000;

/// One half, in millionths.
const HALF: u64 = RATIO_ONE / 2;

/// 0.078, of p(w), in millionths.
const P_FACTOR: u64 = 78_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};
    use crate::units::{Bytes, Instant};

    /// RFC 3649 appendix B: the windows from which on a is 1, 2, 3 ... as printed.
    const WINDOWS: [u64; 72] = [
        38, 118, 221, 347, 495, 663, 851, 1_058, 1_284, 1_529, 1_793, 2_076, 2_378, 2_699, 3_039,
        3_399, 3_778, 4_177, 4_596, 5_036, 5_497, 5_979, 6_483, 7_009, 7_558, 8_130, 8_726, 9_346,
        9_991, 10_661, 11_358, 12_082, 12_834, 13_614, 14_424, 15_265, 16_137, 17_042, 17_981,
        18_955, 19_965, 21_013, 22_101, 23_230, 24_402, 25_618, 26_881, 28_193, 29_557, 30_975,
        32_450, 33_986, 35_586, 37_253, 38_992, 40_808, 42_707, 44_694, 46_776, 48_961, 51_258,
        53_677, 56_230, 58_932, 61_799, 64_851, 68_113, 71_617, 75_401, 79_517, 84_035, 89_053,
    ];

    /// RFC 3649 appendix B: windows in segments, and b in hundredths, as printed.
    const DECREASES: [(u64, u64); 12] = [
        (38, 50),
        (118, 44),
        (347, 38),
        (1_058, 33),
        (2_076, 29),
        (5_036, 25),
        (10_661, 21),
        (19_965, 17),
        (29_557, 15),
        (48_961, 13),
        (68_113, 11),
        (84_035, 10),
    ];

    fn response() -> Response {
        HighSpeed::default().response
    }

    #[test]
    fn a_is_what_the_table_in_appendix_b_has_within_a_third_of_a_percent() {
        for (w, a) in WINDOWS.iter().zip(1_u64..) {
            let found = response().a(*w);
            assert!(found.abs_diff(a * RATIO_ONE) * 300 <= a * RATIO_ONE, "a({w}) = {found}, {a}");
        }
    }

    #[test]
    fn b_is_what_the_table_in_appendix_b_has_to_the_last_digit() {
        for (w, b) in DECREASES {
            let found = response().b(w);
            assert!(found.abs_diff(b * 10_000) <= 5_200, "b({w}) = {found}, {b}");
        }
        assert_eq!(response().b(83_000), 100_000);
    }

    #[test]
    fn a_round_adds_a_and_a_loss_takes_b() {
        let (mut policy, mut view) = (HighSpeed::default(), view(1_000, MSS));
        for _ in 0..1_000 {
            view.window = policy.step(&ack(&view, 1), &view).window;
        }
        // a(1000) is 7.74.
        let grown = view.window.cwnd - MSS * 1_000;
        let a = crate::testing::gauge(&policy, "highspeed_a");
        assert!(a.is_some_and(|a| (7_740_000..=7_790_000).contains(&a)), "a(1007): {a:?}");
        assert!((7_700..=7_760).contains(&grown.0), "{grown:?}");
        let (kind, flight) = (LossKind::Recovery, MSS * 83_000);
        let loss = Loss::of(Instant(0), kind, MSS, flight);
        assert_eq!(policy.cut(&loss, &view).cwnd, MSS * 74_700);
        let timeout = Loss { kind: LossKind::Timeout, ..loss };
        assert_eq!(policy.cut(&timeout, &view).ssthresh, MSS * 41_500);
    }

    #[test]
    fn up_to_low_window_it_is_standard_tcp() {
        let (mut policy, view) = (HighSpeed::default(), view(38, MSS));
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 38 + Bytes(1_000 / 38));
        assert_eq!(response().b(20), HALF);
        assert!(policy.set("low_window", KnobValue::Count(30)));
        assert!(policy.response.b(38) < HALF);
    }

    #[test]
    fn logarithms_and_powers_are_right_to_a_millionth() {
        for n in [1_u64, 2, 38, 1_000, 83_000, u64::from(u32::MAX)] {
            let (found, real) = (log2(n) as f64 / f64::from(1 << LOG_BITS), (n as f64).log2());
            assert!((found - real).abs() < 1e-6, "{n}: {found} {real}");
        }
        for n in [1_u64, 2, 38, 1_000, 83_000, 1 << 24] {
            let (found, real) = (power_four_fifths(n) as f64 / 1e6, (n as f64).powf(0.8));
            assert!((found - real).abs() < real * 1e-5 + 1e-6, "{n}: {found} {real}");
        }
        assert_eq!([31, 32, 242, 243].map(fifth_root), [1, 2, 2, 3]);
    }

    #[test]
    fn far_beyond_a_low_high_window_a_loss_still_takes_something() {
        let response = Response { low_window: 10_000, high_window: 20_000, high_decrease: 100_000 };
        assert_eq!(response.b(1_000_000), LEAST_DECREASE);
        assert!(response.a(1_000_000) >= RATIO_ONE);
    }
}
