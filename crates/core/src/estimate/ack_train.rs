//! Rate of a packet train: what the ACKs of one round acknowledge after the first of them, over the
//! time from the first to the last.
//!
//! A train that leaves faster than the bottleneck carries is spread by it, and by what others put
//! between its packets. So the rate lies between what is left of the bottleneck and all of it
//! (Dovrolis, Ramanathan and Moore, "What do packet dispersion techniques measure?", INFOCOM 2001).
//! A train that leaves more slowly says how fast it left.
//!
//! What was inferred: a train is the ACKs of a round, which answer what was sent within an RTT; it
//! counts once it has four, and until the next one has as many the last stays. The ACK of the last
//! packet sent before a round still belongs to the round before, as in [`View::round_start`]: it
//! ends the burst that it answers.

use crate::event::Ack;
use crate::units::{Bytes, Instant, Rate};
use crate::view::View;

/// The rate of the newest train.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckTrain {
    /// When the first ACK came.
    first: Instant,
    /// All sent when the first ACK came: an ACK for more begins the next train.
    end: Bytes,
    /// ACKs since the first, which counts too.
    acks: u64,
    /// Acknowledged since the first ACK, without what that one acknowledged.
    bytes: Bytes,
    /// The rate of the newest train that was long enough.
    rate: Option<Rate>,
}

impl AckTrain {
    /// The rate, once a train was long enough.
    pub const fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Takes an ACK in.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        if ack.acked == Bytes(0) {
            return;
        }
        if view.acked > self.end {
            (self.first, self.end) = (ack.now, view.snd_nxt);
            (self.acks, self.bytes) = (1, Bytes(0));
            return;
        }
        // INFOCOM 2001 (Dovrolis and others): bytes of the train over its dispersion.
        self.acks += 1;
        self.bytes += ack.acked;
        let time = ack.now.since(self.first);
        if self.acks >= SHORTEST && time.0 > 0 {
            self.rate = Some(self.bytes.per(time));
        }
    }
}

/// The ACKs of AFStart's first train.
const SHORTEST: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};
    use crate::units::Span;

    #[test]
    fn four_acks_give_the_rate_and_the_next_round_begins_anew() {
        let (mut train, mut view) = (AckTrain::default(), view(4, Bytes::MAX));
        let mut after = |gap_us| {
            view.now = view.now + Span::from_micros(gap_us);
            view.acked += MSS;
            view.snd_nxt = Bytes(view.acked.0.next_multiple_of(4_000));
            train.on_ack(&ack(&view, 1), &view);
            train.rate()
        };
        let rate = Some(Rate(5_000_000));
        assert_eq!([after(0), after(200), after(200)], [None; 3]);
        assert_eq!(after(200), rate);
        assert_eq!(after(90_000), rate, "the pause does not count");
        assert_eq!([after(400), after(400)], [rate; 2], "too short yet");
        assert_eq!(after(400), Some(Rate(2_500_000)));
    }

    #[test]
    fn acks_of_one_instant_have_no_rate() {
        let (mut train, mut view) = (AckTrain::default(), view(5, Bytes::MAX));
        for _ in 0..5 {
            view.acked += MSS;
            train.on_ack(&ack(&view, 1), &view);
        }
        assert_eq!((train.acks, train.rate()), (5, None));
    }
}
