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

mod start_up_view;

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
        ..start_up_view::view(cwnd, rtt, rtt)
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
