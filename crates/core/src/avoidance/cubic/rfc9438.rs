//! How the window grows by RFC 9438: each ACK adds its share of the way to the curve one RTT ahead,
//! or follows Reno where Reno is ahead.

use super::decrease::Decrease;
use super::{Epoch, Form};
use crate::curve::FRACTION;
use crate::units::{Bytes, Span, mul_div};
use crate::view::View;

/// RFC 9438 sections 4.2 to 4.5.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Remainder of the division that shares growth out over ACKs.
    remainder: u64,
}

impl Growth {
    pub(super) const NEW: Self = Self { remainder: 0 };

    /// The curve begins.
    pub(super) fn begin(&mut self) {
        self.remainder = 0;
    }

    /// What an ACK for `acked` adds, `t` after the curve began.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        acked: Bytes,
        t: Span,
        form: &Form,
        epoch: &mut Epoch,
        view: &View,
    ) -> Bytes {
        let cwnd = view.window.cwnd;
        let estimate = w_est(acked, form, epoch, view);
        let ahead = if form.friendly { estimate - cwnd } else { Bytes(0) };
        // Section 4.3: where W_cubic(t) is below W_est, cwnd is W_est.
        if form.friendly && epoch.curve.at(t) < estimate {
            return ahead;
        }
        // Sections 4.4 and 4.5: (target - cwnd) / cwnd for every segment acknowledged.
        let missing = target(t, epoch, view) - cwnd;
        let product = mul_div(acked.0, missing.0, 1).saturating_add(self.remainder);
        let increase = product / cwnd.0.max(1);
        self.remainder = product - increase * cwnd.0;
        Bytes(increase).max(ahead)
    }
}

/// Section 4.2: the curve one smoothed RTT ahead, between cwnd and one and a half of it.
fn target(t: Span, epoch: &Epoch, view: &View) -> Bytes {
    let cwnd = view.window.cwnd;
    epoch.curve.at(t + view.rtt.smoothed).clamp(cwnd, cwnd + cwnd / 2)
}

/// Section 4.3, equation 4: `W_est` grows by `alpha_cubic` segments for every window acknowledged,
/// and by one from `cwnd_prior` on.
fn w_est(acked: Bytes, form: &Form, epoch: &mut Epoch, view: &View) -> Bytes {
    let passed = epoch.w_est >> FRACTION >= epoch.cwnd_prior.0;
    let alpha = if passed { 1 << FRACTION } else { form.decrease.alpha(1 << FRACTION) };
    let share = mul_div(acked.0, view.mss.0, 1).saturating_mul(alpha);
    epoch.w_est = epoch.w_est.saturating_add(share / view.window.cwnd.0.max(1));
    Bytes(epoch.w_est >> FRACTION)
}

/// Section 5.1 has C, section 4.6 beta.
pub(super) const FORM: Form =
    Form { decrease: Decrease::RFC9438, c: 400_000, friendly: true, max_increment: 0 };
