//! Cuback (draft-kazuho-ccwg-cuback, editor's copy of 31 August 2026): CUBIC without a clock.
//!
//! What it believes: that CUBIC's curve is right, and that acknowledged data is the better measure
//! of time, because it stops when the source does. What it does (section 3): one segment more for
//! every `D(w)` acknowledged,
//!
//! ```text
//! D(w)       = max(2, A(w + 1) - A(w)),   A(w) = min(A_cubic(w), A_reno(w))
//! A_cubic(w) = bandwidth (K + cbrt((w - W_max) / C)),   K = cbrt((W_max - cwnd_epoch) / C)
//! A_reno(w)  = (w - cwnd_epoch) (w + cwnd_epoch - 1) / (2 alpha)        up to cwnd_prior,
//!              a segment for every w segments beyond
//! ```
//!
//! where `bandwidth` is the window before the cut over the smoothed RTT at the cut. Cut, fast
//! convergence and what follows a timeout are CUBIC's (section 1: only congestion avoidance
//! changes). Without a cut, as after a start-up that ended on its own, the curve starts flat from
//! the window as it is; a window or a pipe that start-up hands over is taken as
//! [`Cubic`](super::Cubic) takes it.
//!
//! Published: all of it. What an application-limited sender does the draft leaves to
//! draft-ietf-ccwg-ratelimited-increase (section 3.3); here it does not grow. Time is counted in
//! 2^-16 s, as in [`crate::curve`]: what rounding takes from one `D(w)` it gives to the next,
//! because each is a difference of the same function.

use super::cubic::{BETA, Decrease, FAST_CONVERGENCE, Stage, turn};
use crate::card::{Card, Listed};
use crate::curve::{C, cube_root};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{KnobOf, Knobs, RATIO_ONE, words};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Span, mul_div};
use crate::view::{View, Window};

/// CUBIC's growth as a function of acknowledged data.
#[derive(Clone, Copy, Debug)]
pub struct Cuback {
    decrease: Decrease,
    /// `C`: segments per cubic second, in millionths.
    c: u64,
    /// Where the curve comes from.
    stage: Stage,
    /// The parameters of this congestion-avoidance stage.
    epoch: Epoch,
    /// Acknowledged and not yet counted toward a segment.
    pending: Bytes,
}

/// The parameters of one congestion-avoidance stage. They do not change while it lasts.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    mss: Bytes,
    w_max: Bytes,
    cwnd_prior: Bytes,
    cwnd_epoch: Bytes,
    /// `cwnd_prior` over this is `bandwidth`.
    rtt: Span,
    /// `C` times the MSS, in bytes per cubic 2^-16 s and 2^-64.
    scale: u64,
    /// `alpha_cubic`, in millionths.
    alpha: u64,
}

impl Epoch {
    /// `A(w)`: what has to be acknowledged before the window is `w`.
    fn acknowledged(&self, w: Bytes) -> Bytes {
        self.cubic(w).min(self.reno(w))
    }

    /// `D(w)`: what has to be acknowledged for the next segment.
    fn per_segment(&self, w: Bytes) -> Bytes {
        // Section 3: `D(w) = max(2, A(w + 1) - A(w))`.
        let more = self.acknowledged(w + self.mss) - self.acknowledged(w);
        more.max(self.mss * LEAST_SEGMENTS)
    }

    fn cubic(&self, w: Bytes) -> Bytes {
        // Section 3: `A_cubic(w) = bandwidth (K + cbrt((w - W_max) / C))`.
        let k = self.time_between(self.cwnd_epoch, self.w_max);
        let time = if w < self.w_max {
            k.saturating_sub(self.time_between(w, self.w_max))
        } else {
            k.saturating_add(self.time_between(self.w_max, w))
        };
        Bytes(mul_div(self.cwnd_prior.0, mul_div(time, NANOS, 1 << TICK_BITS), self.rtt.0.max(1)))
    }

    /// `cbrt((to - from) / C)`, in 2^-16 s.
    fn time_between(&self, from: Bytes, to: Bytes) -> u64 {
        cube_root((u128::from((to - from).0) << 64) / u128::from(self.scale.max(1)))
    }

    fn reno(&self, w: Bytes) -> Bytes {
        // Section 3.1: the slope changes at `cwnd_prior`, to a segment for every w beyond it.
        let turn = self.cwnd_prior.max(self.cwnd_epoch);
        let below = self.sum(self.cwnd_epoch, w.min(turn));
        Bytes(mul_div(below.0, RATIO_ONE, self.alpha.max(1))) + self.sum(turn, w.max(turn))
    }

    /// The sum of all windows from `from` to `to`, a segment apart: `(to - from)(to + from - 1)/2`.
    fn sum(&self, from: Bytes, to: Bytes) -> Bytes {
        let both = (to + from - self.mss).0;
        Bytes(mul_div((to - from).0, both, self.mss.0.max(1).saturating_mul(2)))
    }
}

impl Cuback {
    /// Begins the congestion-avoidance stage with the window as it is.
    fn begin(&mut self, view: &View) {
        // Section 3: without a congestion event W_max is `cwnd_epoch`, and K is zero.
        let cwnd = view.window.cwnd;
        if self.stage == Stage::Unknown {
            self.note(cwnd, cwnd, view);
        }
        self.epoch.cwnd_epoch = cwnd.min(self.epoch.w_max);
        self.epoch.mss = view.mss;
        self.epoch.scale = mul_div(view.mss.0, self.c << TICK_BITS, RATIO_ONE).clamp(1, 1 << 48);
        self.epoch.alpha = self.decrease.alpha(RATIO_ONE);
        (self.stage, self.pending) = (Stage::Running, Bytes(0));
    }

    /// Notes the windows that the next stage turns around, and the RTT that belongs to them.
    fn note(&mut self, w_max: Bytes, cwnd_prior: Bytes, view: &View) {
        self.epoch = Epoch { w_max, cwnd_prior, rtt: view.rtt.smoothed, ..self.epoch };
    }
}

impl Listed for Cuback {
    const CARD: Card = Card::new(
        "cuback",
        "CUBIC's curve by what is acknowledged instead of by time",
        "draft-kazuho-ccwg-cuback",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Cuback {
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("cuback_w_max", self.epoch.w_max.0);
        report("cuback_pending", self.pending.0);
    }
}

impl Avoidance for Cuback {
    fn enter(&mut self, found: &Found, view: &View) {
        if self.stage == Stage::Running {
            self.stage = Stage::Unknown;
        }
        if let Some(peak) = turn(found, self.stage == Stage::Cut, view) {
            self.note(peak, peak, view);
            self.stage = Stage::Cut;
        }
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd < window.ssthresh {
            return window.grow(view.slow_start_growth(ack));
        }
        if self.stage != Stage::Running || self.epoch.mss != view.mss {
            self.begin(view);
        }
        // Ours: section 3.3 leaves it to draft-ietf-ccwg-ratelimited-increase.
        if ack.app_limited {
            return window.hold();
        }
        // Section 3: one segment more for each D(cwnd) acknowledged.
        self.pending += ack.acked.min(window.cwnd);
        let mut cwnd = window.cwnd;
        for _ in 0..MOST_SEGMENTS_PER_ACK {
            let needed = self.epoch.per_segment(cwnd);
            if self.pending < needed {
                break;
            }
            self.pending -= needed;
            cwnd += view.mss;
        }
        window.grow(cwnd - window.cwnd)
    }

    fn beta(&self) -> u64 {
        self.decrease.beta
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        let ssthresh = self.decrease.ssthresh(loss, view);
        if loss.kind == LossKind::Timeout {
            // RFC 9438 section 4.8: the next stage starts flat.
            (self.stage, self.epoch.w_max) = (Stage::Unknown, Bytes(0));
        } else {
            let cwnd = view.window.cwnd;
            self.note(self.decrease.w_max(cwnd, self.epoch.w_max), cwnd, view);
            self.stage = Stage::Cut;
        }
        Window { cwnd: ssthresh, ssthresh }
    }
}

impl Default for Cuback {
    fn default() -> Self {
        Self {
            decrease: Decrease::RFC9438,
            c: 400_000,
            stage: Stage::Unknown,
            epoch: Epoch::default(),
            pending: Bytes(0),
        }
    }
}

impl Knobs for Cuback {
    const ROWS: &'static [KnobOf<Self>] = &[
        BETA.number(|p| &mut p.decrease.beta),
        C.number(|p| &mut p.c),
        FAST_CONVERGENCE
            .word(words!(|p| p.decrease.fast_convergence, ["on" = true, "off" = false])),
    ];
}

/// At most half a window per RTT (appendix A).
const LEAST_SEGMENTS: u64 = 2;

/// An ACK for more than 2048 segments would be worth more; the rest waits for the next.
const MOST_SEGMENTS_PER_ACK: u32 = 1_024;

/// Bits of a second's fraction, as in [`crate::curve`].
const TICK_BITS: u32 = 16;
const NANOS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, gauge, view};

    /// The epoch of the draft's test vectors, in segments of 1000 bytes, and segments per second.
    fn epoch(cwnd_epoch: u64, w_max: u64, per_second: u64) -> Epoch {
        Epoch {
            mss: MSS,
            w_max: MSS * w_max,
            cwnd_prior: MSS * w_max,
            cwnd_epoch: MSS * cwnd_epoch,
            rtt: Span(w_max * NANOS / per_second),
            scale: (400 << TICK_BITS),
            alpha: 529_411,
        }
    }

    /// The draft's vectors where Reno's curve is the smaller: to the fourth decimal.
    #[test]
    fn the_reno_friendly_region_has_the_values_of_the_draft() {
        let epoch = epoch(7, 10, 100);
        let found = [8, 9, 10, 11, 12].map(|w| epoch.acknowledged(MSS * w).0);
        for (found, expected) in found.into_iter().zip([13_222, 28_333, 45_333, 55_333, 66_333]) {
            assert!(found.abs_diff(expected) <= 1, "{found} {expected}");
        }
    }

    /// And where the cubic curve is: K is 10 s, at 10,000 segments per second.
    #[test]
    fn the_cubic_region_has_the_values_of_the_draft() {
        let epoch = epoch(600, 1_000, 10_000);
        for (w, expected) in
            [(600, 0), (950, 50_000), (1_000, 100_000), (1_050, 150_000), (1_400, 200_000)]
        {
            let found = epoch.acknowledged(MSS * w).0 / 1_000;
            assert!(found.abs_diff(expected) <= 1, "{w}: {found} {expected}");
        }
    }

    #[test]
    fn a_segment_takes_what_the_curves_differ_by_and_two_segments_at_least() {
        let slow = epoch(7, 10, 100);
        // w / alpha below the turn, w beyond.
        assert!(slow.per_segment(MSS * 8).0.abs_diff(15_111) <= 2);
        assert!(slow.per_segment(MSS * 11).0.abs_diff(11_000) <= 2);
        assert_eq!(epoch(600, 1_000, 10).per_segment(MSS * 1_400), MSS * 2);
    }

    /// A cut at 100 segments and 100 ms to 70, then ACKs until the window is back: A(100) segments.
    #[test]
    fn the_window_is_back_when_the_curve_says_so() {
        let (mut policy, mut view) = (Cuback::default(), view(100, Bytes::MAX));
        let loss = Loss::of(view.now, LossKind::Recovery, MSS, view.window.cwnd);
        view.window = policy.cut(&loss, &view);
        assert_eq!(view.window, Window { cwnd: MSS * 70, ssthresh: MSS * 70 });
        let mut acked = 0;
        while view.window.cwnd < MSS * 100 {
            view.window = policy.step(&ack(&view, 1), &view).window;
            acked += 1;
        }
        // Reno: 30 * 169 / (2 * 0.52941) = 4788.3; cubic: 1000/s * cbrt(75) = 4217.2 segments.
        assert_eq!(acked, 4_218);
        view.rtt.smoothed = Span::from_millis(1_000);
        let again = Loss::of(view.now, LossKind::Recovery, MSS, MSS * 90);
        view.window.cwnd = MSS * 90;
        let _ = policy.cut(&again, &view);
        assert_eq!(policy.epoch.w_max, Bytes(76_500), "fast convergence: 90 * 1.7/2");
        assert_eq!((policy.epoch.cwnd_prior, policy.epoch.rtt), (MSS * 90, Span(NANOS)));
    }

    #[test]
    fn without_a_cut_the_curve_starts_flat_and_a_timeout_forgets_it() {
        let (mut policy, view) = (Cuback::default(), view(10, Bytes(10_000)));
        policy.enter(&Found::default(), &view);
        let _ = policy.step(&ack(&view, 1), &view);
        let Epoch { w_max, cwnd_prior, cwnd_epoch, .. } = policy.epoch;
        assert_eq!([w_max, cwnd_prior, cwnd_epoch], [MSS * 10; 3]);
        let timeout = Loss::of(view.now, LossKind::Timeout, MSS, MSS * 10);
        assert_eq!(policy.cut(&timeout, &view).ssthresh, MSS * 7);
        assert_eq!((policy.stage, policy.epoch.w_max), (Stage::Unknown, Bytes(0)));
        let again = Loss { answered: true, ..timeout };
        assert_eq!(policy.cut(&again, &view).ssthresh, view.window.ssthresh);
    }

    #[test]
    fn a_peak_or_a_larger_pipe_is_where_the_curve_turns() {
        let turns = |found: Found| {
            let mut policy = Cuback::default();
            policy.enter(&found, &view(10, Bytes(10_000)));
            policy.epoch.w_max
        };
        assert_eq!(turns(Found { peak: Some(MSS * 9), ..Found::default() }), MSS * 9);
        assert_eq!(turns(Found { pipe: Some(MSS * 20), ..Found::default() }), MSS * 20);
        assert_eq!(turns(Found { pipe: Some(MSS * 10), ..Found::default() }), Bytes(0));
    }

    #[test]
    fn a_limited_source_does_not_grow_the_window() {
        let (mut policy, view) = (Cuback::default(), view(2, Bytes(2_000)));
        let limited = Ack { app_limited: true, ..ack(&view, 2) };
        assert_eq!(policy.step(&limited, &view).window, view.window);
        assert_eq!(policy.step(&ack(&view, 2), &view).window.cwnd, MSS * 3);
    }

    /// Section 3: `W_max` is of the last congestion event; a stage that begins without one is flat.
    #[test]
    fn a_cut_is_kept_until_its_stage_has_run() {
        let (mut policy, mut view) = (Cuback::default(), view(100, Bytes::MAX));
        assert_eq!(policy.beta(), 700_000);
        let loss = Loss::of(view.now, LossKind::Recovery, MSS, view.window.cwnd);
        view.window = policy.cut(&loss, &view);
        let mut w_max = || {
            policy.enter(&Found::default(), &view);
            let _ = policy.step(&ack(&view, 1), &view);
            (gauge(&policy, "cuback_w_max"), gauge(&policy, "cuback_pending"))
        };
        assert_eq!(w_max(), (Some(100_000), Some(1_000)));
        assert_eq!(w_max(), (Some(70_000), Some(1_000)), "the window as it is");
    }
}
