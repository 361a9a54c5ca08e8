//! A round as HyStart sees it in Linux' CUBIC (`tcp_cubic.c`, as of 6.6): how long its ACK train
//! is, and whether its smallest RTT has grown. SUSS, which is built on it, looks at both too.

use crate::pacing::rate_of_linux;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::View;

/// What is known of the round, by the names of `struct bictcp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// When it began.
    pub(crate) round_start: Instant,
    /// The round is over when more than this is acknowledged.
    pub(crate) end_seq: Bytes,
    /// When the last ACK of the train came.
    pub(crate) last_ack: Instant,
    /// Its smallest RTT; [`Span::MAX`] before the first sample.
    pub(crate) curr_rtt: Span,
    /// Its samples, as far as they are counted.
    sample_cnt: u8,
}

impl Round {
    /// Before any.
    pub(crate) const NONE: Self = Self {
        round_start: Instant(0),
        end_seq: Bytes(0),
        last_ack: Instant(0),
        curr_rtt: Span::MAX,
        sample_cnt: 0,
    };

    /// A round that begins now (`bictcp_hystart_reset()`).
    pub(crate) const fn new(view: &View) -> Self {
        let (round_start, end_seq) = (view.now, view.snd_nxt);
        Self { round_start, end_seq, last_ack: round_start, curr_rtt: Span::MAX, sample_cnt: 0 }
    }

    /// Whether the ACK train, so many times as long as it is, takes longer than `limit`.
    pub(crate) fn train_is_long(&mut self, limit: Span, times: u64, view: &View) -> bool {
        // `hystart_ack_delta_us`: what comes later is no part of the train.
        if view.now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = view.now;
        view.now.since(self.round_start) * times > limit
    }

    /// Whether the smallest RTT of the round is markedly above `delay_min`.
    pub(crate) fn rtt_has_grown(&mut self, rtt: Span, delay_min: Span) -> bool {
        // Linux commit b344579ca847: every sample may lower the round's RTT, not only the first
        // HYSTART_MIN_SAMPLES.
        self.curr_rtt = self.curr_rtt.min(rtt);
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
            return false;
        }
        // `HYSTART_DELAY_THRESH`: an eighth, within 4 and 16 ms.
        self.curr_rtt > delay_min + (delay_min / 8).clamp(MIN_INCREASE, MAX_INCREASE)
    }
}

/// Linux' cushion for ACKs of large blocks (`hystart_ack_delay()`).
pub(crate) fn ack_delay(view: &View) -> Span {
    let rate = rate_of_linux(view.window.cwnd, view);
    let time = if rate == Rate(0) { Span(0) } else { Span::from_secs(1).scaled(BLOCKS, rate.0) };
    time.min(Span::from_millis(1))
}

/// Window in segments from which HyStart looks (`hystart_low_window`).
pub(crate) const LOW_WINDOW: u64 = 16;

/// Largest gap within an ACK train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_millis(2);

/// Samples before the smallest RTT of a round counts (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u8 = 8;

/// Smallest growth of the RTT that counts (`HYSTART_DELAY_MIN`).
const MIN_INCREASE: Span = Span::from_millis(4);

/// Growth of the RTT that always counts (`HYSTART_DELAY_MAX`).
const MAX_INCREASE: Span = Span::from_millis(16);

/// Four blocks of 64 KiB, Linux' largest (`sk_gso_max_size`), in bytes.
const BLOCKS: u64 = 4 * 65_536;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, view};

    #[test]
    fn the_rtt_has_grown_when_it_is_beyond_the_smallest_and_an_eighth() {
        let (delay, least) = (Span::from_millis(100), Span::from_micros(112_500));
        let grown = |rtt| {
            let mut round = Round::new(&view(16, Bytes::MAX));
            (0..9).any(|_| round.rtt_has_grown(rtt, delay))
        };
        assert!(!grown(least) && grown(least + Span(1)));
    }

    /// Four blocks are 262,144 bytes, and 100 MB per 100 ms are 1 GB/s.
    #[test]
    fn the_cushion_is_four_blocks_at_linux_pacing_rate() {
        let cushion = |ssthresh| ack_delay(&view(100_000, MSS * ssthresh)).0;
        // Twice the rate below half of ssthresh: 131.072 us. From there 1.2 times: 218.453 us.
        assert_eq!([200_001, 200_000, 1].map(cushion), [131_072, 218_453, 218_453]);
        assert_eq!(ack_delay(&view(16, Bytes::MAX)), Span::from_millis(1), "at most");
    }
}
