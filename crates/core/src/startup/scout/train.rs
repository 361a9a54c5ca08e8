//! A train of packets: its ACKs, and what they say of the path.

use crate::units::{Bytes, Instant, Span};

/// An ACK with an RTT sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RttSample {
    /// When it came.
    pub(super) at: Instant,
    /// Its sample.
    pub(super) rtt: Span,
    /// [`View::acked`](crate::view::View::acked) with it.
    pub(super) acked: Bytes,
}

/// Packets that leave close together, and their first ACK and their last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// [`View::snd_nxt`](crate::view::View::snd_nxt) before it left.
    pub(super) begin: Bytes,
    /// The position of what follows it.
    pub(super) end: Bytes,
    /// Its first ACK and its last, as far as they came.
    pub(super) ends: Option<(RttSample, RttSample)>,
    /// How many of its ACKs had an RTT sample.
    pub(super) acks: u64,
    /// When it could begin to leave.
    pub(super) began: Instant,
    /// How long it takes to leave at its pace; zero while there is none, as no RTT is known.
    pub(super) leaves_in: Span,
}

/// What the ACKs of a train say of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Too few of them came.
    Silent,
    /// They came as fast as the packets had left; the first window to try is what that rate fills.
    Passed(Bytes),
    /// They came faster than the packets had left, which is not the path's doing.
    Compressed,
    /// They came more slowly, the last of them being `last`: the path holds `pipe`, and the RTT
    /// rose by `rise`.
    Slowed { pipe: Bytes, rise: Span, last: RttSample },
}

impl Train {
    /// The first window: where it ends is known when its first ACK comes.
    pub(super) const FIRST: Self = Self {
        begin: Bytes(0),
        end: Bytes::MAX,
        ends: None,
        acks: 0,
        began: Instant(0),
        leaves_in: Span(0),
    };

    pub(super) fn is_first(&self) -> bool {
        self.begin == Bytes(0)
    }

    pub(super) fn length(&self) -> Bytes {
        self.end - self.begin
    }

    pub(super) fn note(&mut self, sample: RttSample) {
        if sample.acked > self.begin && sample.acked <= self.end {
            let (first, _) = self.ends.unwrap_or((sample, sample));
            self.ends = Some((first, sample));
            self.acks += 1;
        }
    }

    /// The ACKs between which it is judged, if at least so many came; `before` is the RTT of what
    /// left before it. A single ACK is judged from when the train's first packet would have been
    /// acknowledged, had its ACK not been held back. That is not known of a train that began to
    /// leave later than it could, or left more slowly than at its pace.
    fn judged_ends(&self, least_acks: u64, before: Span) -> Option<(RttSample, RttSample)> {
        let (first, last) = self.ends.filter(|_| self.acks >= least_acks)?;
        if self.acks > 1 {
            return Some((first, last));
        }
        let origin = RttSample { at: self.began + before, rtt: before, acked: self.begin };
        let left_in = last.at.since(self.began) - last.rtt;
        (left_in < self.leaves_in).then_some((origin, last))
    }

    /// It passes if the RTT rises by no more than this part of its time. Of fewer than so many ACKs
    /// nothing is said. `before` is the RTT of what left before it.
    pub(super) fn verdict(
        &self,
        part: u64,
        (min_rtt, before): (Span, Span),
        least_acks: u64,
    ) -> Verdict {
        let Some((first, last)) = self.judged_ends(least_acks, before) else {
            return Verdict::Silent;
        };
        // Ours: ACKs that come more slowly than the packets had left are spaced by the bottleneck.
        let time = last.at.since(first.at);
        let pipe = (last.acked - first.acked).per(time).over(min_rtt);
        let rise = last.rtt - first.rtt;
        if first.rtt - last.rtt > time / part {
            Verdict::Compressed
        } else if rise <= time / part {
            Verdict::Passed(pipe.scaled(part, part - 1))
        } else {
            Verdict::Slowed { pipe, rise, last }
        }
    }
}
