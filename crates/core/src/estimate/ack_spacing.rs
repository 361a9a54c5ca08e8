//! Bottleneck rate from the spacing of successive ACKs, averaged with weights that follow the error
//! of the last estimates.
//!
//! Published, in the M-Start paper's words on its reference 10, a quick start for satellite paths
//! (section 2): bandwidth from the time between each two subsequent ACKs; the error of an estimate
//! is measured and used in the next; the weights of the old average and of the new sample change
//! with the network. The formulas are not given there, and that paper was not available.
//!
//! Inferred, with `s` the sample and `b` the average:
//!
//! ```text
//! e = (3 e + |s - b|) / 4,  w = e / (e + b) within [1/8, 1/2],  b += w (s - b)
//! ```
//!
//! so that an average that predicts well is trusted, and one that errs is corrected quickly. Two
//! ACKs count as subsequent when less than a quarter of the smallest RTT lies between them, as in
//! [`crate::estimate::packet_pair`]: the pauses between rounds say nothing about the path.

use crate::event::Ack;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::View;

/// The average over ACK spacings.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSpacing {
    /// When the last ACK came.
    last: Option<Instant>,
    /// The average; zero before the first pair.
    rate: Rate,
    /// Mean error of the last predictions.
    error: Rate,
    /// Pairs seen.
    samples: u64,
}

impl AckSpacing {
    /// The average; zero before the first pair.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Mean error of the last predictions.
    pub const fn error(&self) -> Rate {
        self.error
    }

    /// Pairs seen.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Takes an ACK in.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        if ack.acked == Bytes(0) || ack.credited == Bytes(0) {
            return;
        }
        let Some(last) = self.last.replace(ack.now) else { return };
        let gap = ack.now.since(last);
        if gap > Span(0) && view.rtt.min != Span::MAX && gap < view.rtt.min / 4 {
            self.sample(ack.credited.per(gap));
        }
    }

    fn sample(&mut self, rate: Rate) {
        self.samples = self.samples.saturating_add(1);
        if self.samples == 1 {
            self.rate = rate;
            return;
        }
        // M-Start paper, section 2, reference 10: weights follow the error. Ours: how.
        let error = Rate(rate.0.abs_diff(self.rate.0));
        self.error = self.error - self.error / 4 + error / 4;
        let weight = self.weight();
        self.rate = self.rate.scaled(UNIT - weight, UNIT) + rate.scaled(weight, UNIT);
    }

    /// Weight of the new sample, in 256ths.
    fn weight(&self) -> u64 {
        let all = self.error + self.rate;
        Rate(UNIT).scaled(self.error.0, all.0).0.clamp(UNIT / 8, UNIT / 2)
    }
}

/// One, in the weights.
const UNIT: u64 = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, view};

    fn after(gaps_us: &[u64]) -> AckSpacing {
        let mut spacing = AckSpacing::default();
        let mut view = view(10, Bytes::MAX);
        for gap in [0].iter().chain(gaps_us) {
            view.now = view.now + Span::from_micros(*gap);
            spacing.on_ack(&ack(&view, 1), &view);
        }
        spacing
    }

    #[test]
    fn even_spacing_gives_the_rate_of_the_bottleneck() {
        // 1000 bytes every 200 us; the pause of 80 ms between rounds does not count.
        let spacing = after(&[200, 200, 80_000, 200]);
        assert_eq!((spacing.rate(), spacing.samples()), (Rate(5_000_000), 3));
        assert_eq!(spacing.error(), Rate(0));
    }

    #[test]
    fn a_sample_that_errs_little_has_little_weight_and_one_that_errs_much_more() {
        // 4 MB/s against 5: an error of 250 kB/s is under an eighth, so 5 - 1/8 = 4.875.
        assert_eq!(after(&[200, 250]).rate(), Rate(4_875_000));
        // 50 MB/s: the error is 11.25 of 16.25 MB/s, so half of 5 and half of 50.
        assert_eq!(after(&[200, 20]).rate(), Rate(27_500_000));
    }

    #[test]
    fn the_error_follows_by_a_quarter() {
        // 5 MB/s, then twice 4: e = 1 / 4 = 0.25 and b = 5 - 1/8 = 4.875 MB/s; then the sample errs
        // by 0.875, and e = 0.75 * 0.25 + 0.25 * 0.875 = 0.40625.
        assert_eq!(after(&[200, 250]).error(), Rate(250_000));
        assert_eq!(after(&[200, 250]).rate(), Rate(4_875_000));
        assert_eq!(after(&[200, 250, 250]).error(), Rate(406_250));
    }

    #[test]
    fn acks_of_one_instant_and_those_a_quarter_of_the_rtt_apart_are_no_pair() {
        let samples = [0, 1, 24_999, 25_000].map(|gap_us| after(&[gap_us]).samples());
        assert_eq!(samples, [0, 1, 1, 0]);
    }

    #[test]
    fn parts_of_one_ack_are_one_ack() {
        let (mut spacing, mut view) = (AckSpacing::default(), view(10, Bytes::MAX));
        for at_us in [0, 200] {
            view.now = Instant(at_us * 1_000);
            spacing.on_ack(&ack(&view, 1), &view);
            view.now = Instant((at_us + 100) * 1_000);
            spacing.on_ack(&Ack { credited: Bytes(0), ..ack(&view, 1) }, &view);
            spacing.on_ack(&Ack { acked: Bytes(0), ..ack(&view, 1) }, &view);
        }
        assert_eq!((spacing.samples(), spacing.rate()), (1, Rate(5_000_000)));
    }
}
