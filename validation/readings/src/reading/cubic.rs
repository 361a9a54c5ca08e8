//! CUBIC, RFC 9438. Windows in packets, times in seconds.

/// What CUBIC keeps beside the window.
#[derive(Debug, Default)]
pub(crate) struct Cubic {
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: f64,
    k: f64,
    w_est: f64,
}

impl Cubic {
    /// Section 4.6 and 4.7: what a loss leaves of the window.
    pub(crate) fn on_loss(&mut self, cwnd: f64) -> f64 {
        self.cwnd_prior = cwnd;
        let released = cwnd < self.w_max;
        self.w_max = if released { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.epoch = None;
        cwnd * BETA
    }

    /// Section 4.2 to 4.5: the window after one more packet.
    pub(crate) fn on_ack(&mut self, now: f64, rtt: f64, cwnd: f64) -> f64 {
        if self.epoch.is_none() && self.cwnd_prior == 0.0 {
            // Slow start was left without a loss: W_max is the window, and K is 0.
            (self.w_max, self.cwnd_prior) = (cwnd, cwnd);
        }
        let w_max = self.w_max;
        let begin = || Epoch { began: now, k: ((w_max - cwnd) / C).cbrt(), w_est: cwnd };
        let mut epoch = self.epoch.unwrap_or_else(begin);
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        epoch.w_est += alpha / cwnd;
        self.epoch = Some(epoch);
        let w_cubic = |t: f64| C * (t - epoch.k).powi(3) + w_max;
        let t = now - epoch.began;
        if w_cubic(t) < epoch.w_est {
            return epoch.w_est.max(cwnd);
        }
        let target = w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd
    }
}

/// Section 4.1, 4.6 and 4.3.
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
