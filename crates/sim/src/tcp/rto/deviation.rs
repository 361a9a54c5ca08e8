//! How far RTTs deviate, as Linux counts it for the timeout (`tcp_rtt_estimator`): the largest mean
//! deviation of a round counts at once, and a smaller one comes in by a quarter of the difference a
//! round. RFC 6298 takes the present one, and forgets with each ACK.
//!
//! A connection's first RTT counts as twice itself. Where that is more than the least timeout, the
//! timeout stays longer for a dozen rounds: that is what this is for. Once the least has been
//! reached, it is not asked again, and the timeout is RFC 6298's.

use firstflight_core::units::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deviation {
    /// The smoothed RTT.
    smoothed: Span,
    /// Four mean deviations (`mdev_us`).
    mean: Span,
    /// The most of them in this round (`mdev_max_us`).
    most: Span,
    /// What the timeout adds to the smoothed RTT (`rttvar_us`).
    pub(crate) counts: Span,
    /// The round ends when a packet above this one is acknowledged (`rtt_seq`).
    round_end: u32,
}

impl Deviation {
    /// Begins with a connection's first RTT sample; `nxt` is SND.NXT. A timeout adds at least
    /// `least` to the smoothed RTT. Where that is twice the sample or more it decides, and the
    /// result is `None`.
    pub(crate) fn first(sample: Span, nxt: u32, least: Span) -> Option<Self> {
        let twice = sample * 2;
        let begun =
            Self { smoothed: sample, mean: twice, most: twice, counts: twice, round_end: nxt };
        (twice > least).then_some(begun)
    }

    /// Takes a later sample, of an ACK for all packets below `una`. Returns false when the timeout
    /// can be RFC 6298's from here on.
    pub(crate) fn observe(&mut self, sample: Span, (una, nxt): (u32, u32), least: Span) -> bool {
        let (less, by) = match sample < self.smoothed {
            true => (true, self.smoothed - sample),
            false => (false, sample - self.smoothed),
        };
        self.smoothed = if less { self.smoothed - by / 8 } else { self.smoothed + by / 8 };
        let quarter = self.mean / 4;
        // An RTT that falls raises it by an eighth of what one that grows does.
        let more = by - quarter;
        self.mean = self.mean + if less { more / 8 } else { more } - (quarter - by);
        self.most = self.most.max(self.mean);
        self.counts = self.counts.max(self.most);
        if una > self.round_end {
            self.counts = self.counts - (self.counts - self.most) / 4;
            (self.round_end, self.most) = (nxt, least);
        }
        self.counts > least + SETTLED || self.mean > least
    }
}

/// So near to the least it is reached: Linux comes nearer for as long as there are microseconds.
const SETTLED: Span = Span::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Span = Span::from_millis(200);

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn a_first_rtt_counts_twice_where_that_is_more_than_the_least() {
        assert_eq!(Deviation::first(ms(100), 1, LEAST), None);
        assert_eq!(Deviation::first(ms(101), 1, LEAST).unwrap().counts, ms(202));
    }

    /// An RTT of 320 ms, ten samples a round: 640, 480, 360, 270, 202.5 ms of mean deviation after
    /// each sample. The round of the handshake ends with the first of them.
    #[test]
    fn it_falls_by_a_quarter_of_the_difference_a_round() {
        let mut deviation = Deviation::first(ms(320), 1, LEAST).unwrap();
        let mut round = |una: u32| {
            for at in 1..=10 {
                deviation.observe(ms(320), (una + at, una + 20), LEAST);
            }
            deviation.counts
        };
        // The first sample ends a round; 360 ms are the most of those after it, until the round
        // behind 21 is over.
        assert_eq!(round(1), ms(640));
        assert_eq!(round(11), ms(640));
        assert_eq!(round(21), ms(640) - (ms(640) - ms(360)) / 4);
        assert_eq!(round(31), ms(570));
        assert_eq!(round(41), ms(570) - (ms(570) - LEAST) / 4);
    }

    #[test]
    fn what_grows_counts_at_once_and_what_falls_an_eighth() {
        let mut deviation = Deviation::first(ms(320), 1, LEAST).unwrap();
        assert!(deviation.observe(ms(1_600), (2, 20), LEAST));
        // 1280 ms more than the smoothed RTT, of which a quarter of 640 was known.
        assert_eq!((deviation.mean, deviation.counts), (ms(640 + 1_120), ms(1_760)));
        assert_eq!(deviation.smoothed, ms(480));
        assert!(deviation.observe(ms(32), (3, 20), LEAST));
        // 448 ms less, 8 more than the quarter that was known.
        assert_eq!(deviation.mean, ms(1_761));
    }
}
