//! CUBIC in integers against its formulas in floating point (RFC 9438 sections 4.2 and 4.3).
//!
//! Stated bound of the curve: within one byte, two millionths of the distance from its flat part,
//! and what the formula moves in three ticks of 2^-16 s. Stated bound of a whole run, a second of
//! ACKs after a cut: within a thousandth of the window.

use firstflight_core::avoidance::Cubic;
use firstflight_core::curve::Curve;
use firstflight_core::event::{Ack, Loss, LossKind};
use firstflight_core::policy::Avoidance;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::{Phase, View, Window};
use proptest::prelude::*;

/// The window in bytes after `t` seconds.
fn curve(cwnd: f64, origin: f64, c: f64, mss: f64, t: f64) -> f64 {
    let k = ((origin - cwnd) / mss / c).cbrt();
    c * mss * (t - k).powi(3) + origin
}

/// In avoidance, with a full window in flight.
fn view(cwnd: u64, mss: u64, now: u64, rtt: u64) -> View {
    View {
        now: Instant(now),
        window: Window { cwnd: Bytes(cwnd), ssthresh: Bytes(2 * mss) },
        mss: Bytes(mss),
        in_flight: Bytes(cwnd),
        phase: Phase::Avoidance,
        ..crate::start_up_view::view(cwnd, rtt, rtt)
    }
}

/// RFC 9438's rules with exact arithmetic, in segments and seconds.
struct Twin {
    cwnd: f64,
    origin: f64,
    prior: f64,
    estimate: f64,
}

impl Twin {
    fn on_ack(&mut self, t: f64, rtt: f64) {
        let alpha = if self.estimate >= self.prior { 1.0 } else { 3.0 * 0.3 / 1.7 };
        self.estimate += alpha / self.cwnd;
        let start = 0.7 * self.prior;
        if curve(start, self.origin, 0.4, 1.0, t) < self.estimate {
            self.cwnd = self.cwnd.max(self.estimate);
            return;
        }
        let target = curve(start, self.origin, 0.4, 1.0, t + rtt);
        self.cwnd += (target.clamp(self.cwnd, 1.5 * self.cwnd) - self.cwnd) / self.cwnd;
    }
}

/// Cuback, CUBIC counted in data acknowledged, has test vectors (draft-kazuho-ccwg-cuback-00,
/// appendix B): with a window of 600 after 1000 and 10000 segments/s, so many segments lead to 950,
/// 1000, 1050 and 1400. The curve is there at the time in which they are acknowledged.
#[test]
fn the_curve_is_where_cuback_s_vectors_say() {
    let curve = Curve::new(Bytes(600_000), Bytes(1_000_000), 400_000, Bytes(1_000));
    let vectors = [(50_000, 950), (100_000, 1_000), (150_000, 1_050), (200_000, 1_400)];
    for (acked, window) in vectors {
        let found = curve.at(Span(acked * 1_000_000_000 / 10_000)).0;
        assert!(found.abs_diff(window * 1_000) <= 20, "{found} {window}");
    }
}

/// Its vectors of small windows, where Reno's estimate rules: 7 after 10 segments and 100/s.
/// Cuback adds whole segments, `(w - e)(w + e - 1)` over 2 alpha, where CUBIC grows with every ACK,
/// `w^2 - e^2` over 2 alpha: it takes `(w - e)` over 2 alpha longer, half a segment's worth each.
#[test]
fn small_windows_take_as_many_acks_as_cuback_s_vectors_say() {
    const MSS: u64 = 1_000;
    let mut cubic = Cubic::default();
    let (kind, flight) = (LossKind::Recovery, Bytes(10 * MSS));
    let loss = Loss::of(Instant(0), kind, Bytes(MSS), flight);
    let mut cwnd = cubic.cut(&loss, &view(10 * MSS, MSS, 0, 100_000_000)).cwnd;
    let vectors = [(8, 13.2222), (9, 28.3333), (10, 45.3333), (11, 55.3333), (12, 66.3333)];
    let ack = Ack { acked: Bytes(MSS), credited: Bytes(MSS), ..Ack::default() };
    let (mut acked, alpha) = (0, 3.0 * 0.3 / 1.7);
    for (window, cuback) in vectors {
        while cwnd.0 < window * MSS {
            let now = view(cwnd.0, MSS, acked * 10_000_000, 100_000_000);
            cwnd = cubic.step(&ack, &now).window.cwnd;
            acked += 1;
        }
        let below = window.min(10) as f64 - 7.0;
        let beyond = window as f64 - 7.0 - below;
        let continuous = cuback + below / (2.0 * alpha) + beyond / 2.0;
        assert!((acked as f64 - continuous).abs() <= 1.5, "{window}: {acked} {continuous}");
    }
}

proptest! {
    #[test]
    fn the_curve_is_the_formula_within_the_stated_bound(
        mss in 100_u64..9_000,
        segments in 1_u64..10_000_000,
        kept in 0.1_f64..1.0,
        c in 10_000_u64..4_000_000,
        t in 0_u64..300_000_000_000,
    ) {
        prop_assume!(mss * c >= 8_000_000);
        let origin = segments * mss;
        let cwnd = (origin as f64 * kept) as u64;
        let (c_real, t_real) = (c as f64 / 1e6, t as f64 / 1e9);
        let integer = Curve::new(Bytes(cwnd), Bytes(origin), c, Bytes(mss)).at(Span(t)).0 as f64;
        let real = curve(cwnd as f64, origin as f64, c_real, mss as f64, t_real).max(0.0);
        let k = ((origin - cwnd) as f64 / mss as f64 / c_real).cbrt();
        prop_assume!(k < 1_000.0);
        let tick = 3.0 / 65_536.0;
        let moved = 3.0 * c_real * mss as f64 * ((t_real - k).abs() + tick).powi(2) * tick;
        let bound = 1.0 + 2e-6 * (real - origin as f64).abs() + moved;
        prop_assert!((integer - real).abs() <= bound, "{integer} {real} ± {bound}, K {k}");
    }

    #[test]
    fn a_run_of_acks_is_that_of_the_formulas(
        prior in 20_u64..2_000,
        rtt_ms in 10_u64..400,
        rounds in 1_u64..30,
    ) {
        const MSS: u64 = 1_000;
        let rtt = rtt_ms * 1_000_000;
        let mut cubic = Cubic::default();
        let (kind, flight) = (LossKind::Recovery, Bytes(prior * MSS));
        let loss = Loss::of(Instant(0), kind, Bytes(MSS), flight);
        let cut = cubic.cut(&loss, &view(prior * MSS, MSS, 0, rtt));
        prop_assert_eq!(cut.cwnd, Bytes(prior * MSS * 7 / 10));
        let mut cwnd = cut.cwnd;
        let mut twin = Twin {
            cwnd: 0.7 * prior as f64,
            origin: prior as f64,
            prior: prior as f64,
            estimate: 0.7 * prior as f64,
        };
        let ack = Ack { acked: Bytes(MSS), credited: Bytes(MSS), ..Ack::default() };
        for round in 0..rounds {
            let acks = cwnd.0 / MSS;
            for n in 0..acks {
                let now = round * rtt + n * rtt / acks;
                cwnd = cubic.step(&ack, &view(cwnd.0, MSS, now, rtt)).window.cwnd;
                twin.on_ack(now as f64 / 1e9, rtt as f64 / 1e9);
            }
        }
        let window = cwnd.0 as f64 / MSS as f64;
        let error = (window - twin.cwnd).abs() / twin.cwnd;
        prop_assert!(error < 1e-3, "{window} {}: {error}", twin.cwnd);
    }
}
