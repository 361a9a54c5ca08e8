//! What follows a train that slowed down: whether its queue is there at all, and how fast it
//! drains, which is what the path has free.

use super::train::RttSample;
use crate::units::{Bytes, Span};

/// The packets after a train that slowed down, each by its ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct AfterTrain {
    /// The last ACK of the train.
    pub(super) train: RttSample,
    /// Its length, and how long it was to take to leave.
    pub(super) length: Bytes,
    pub(super) leaves_in: Span,
    /// What the path holds by the rate at which the ACKs of the train came.
    pub(super) pipe: Bytes,
    /// By how much the RTT rose over the train.
    pub(super) rise: Span,
    /// The smallest RTT before the train.
    pub(super) before: Span,
    /// How far they are judged.
    pub(super) end: Bytes,
    /// The largest window that the next round may have; none where the train's rate fills no more
    /// than the target.
    pub(super) room: Option<Bytes>,
    /// The ACK with the smallest RTT, the first of such.
    pub(super) lowest: Option<RttSample>,
}

/// What the queue of a train did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// Not enough so far.
    Undecided,
    /// The train showed room and its queue drains by half: so many bytes per smallest RTT are free,
    /// what was sent after the train included. All of the room is free if the queue is gone at
    /// once, if the next packets left together with the train, or if their ACKs were held back.
    Free(Bytes),
    /// It stays, so that nothing is free: what followed was as late as the train had made it, or it
    /// left so slowly that the queue had time to drain.
    Stays,
    /// There was none: what followed was not late although it left soon enough to be, and the train
    /// slowed down by chance.
    Noise,
}

impl AfterTrain {
    /// Counts an ACK after the train.
    pub(super) fn note(&mut self, sample: RttSample, min_rtt: Span) -> Queue {
        // Ours: what a train that slowed down says must be seen after it, too.
        let lowest = self.lowest.filter(|lowest| lowest.rtt <= sample.rtt).unwrap_or(sample);
        let Some(room) = self.room else {
            self.lowest = Some(lowest);
            let is_over = sample.acked >= self.end;
            return if is_over { self.without_room(lowest, min_rtt) } else { Queue::Undecided };
        };
        if !self.is_held_back(sample, min_rtt) {
            self.lowest = Some(lowest);
        }
        let is_empty = sample.rtt - self.before <= self.rise / EMPTY_PART;
        if self.has_left_with_the_train(sample) || is_empty {
            Queue::Free(room)
        } else if self.drained(sample) >= self.rise / 2 {
            Queue::Free(self.free(sample, min_rtt))
        } else if sample.acked < self.end {
            Queue::Undecided
        } else if self.lowest.is_none() {
            Queue::Free(room)
        } else {
            Queue::Stays
        }
    }

    /// Its RTT is longer by more than what left after the train can queue, as where a receiver's
    /// timer has held its ACK back.
    fn is_held_back(&self, sample: RttSample, min_rtt: Span) -> bool {
        sample.rtt - self.train.rtt > self.forwarded_in(sample, min_rtt)
    }

    /// It left more than twice as fast as the train was to leave, as from a sender that paces in
    /// bursts: no queue drains.
    fn has_left_with_the_train(&self, sample: RttSample) -> bool {
        let pace = self.leaves_in.scaled((sample.acked - self.train.acked).0, self.length.0);
        self.left_in(sample) < pace / 2
    }

    /// By how much this RTT is shorter than that of the train's last packet.
    fn drained(&self, sample: RttSample) -> Span {
        self.train.rtt - sample.rtt
    }

    /// How long the packets from the train's end up to this ACK took to leave.
    fn left_in(&self, sample: RttSample) -> Span {
        // From the train's last packet on, because what drains in a gap after it is not there any
        // more for those that follow: Linux leaves a millisecond after what leaves as one block
        // (tcp_tso_autosize), in which the queue of a train of an RTT of 20 ms drains by half.
        sample.at.since(self.train.at) + self.train.rtt - sample.rtt
    }

    /// How long the path takes to forward these packets at the rate that the train showed.
    fn forwarded_in(&self, sample: RttSample, min_rtt: Span) -> Span {
        min_rtt.scaled((sample.acked - self.train.acked).0, self.pipe.0)
    }

    /// What the path has free in a smallest RTT: what left after the train and what drained of its
    /// queue meanwhile, over the time in which they left.
    ///
    /// A train of rate r beside others' X comes out at `r C/(r + X)`, more than `C - X`; its queue
    /// then drains by `C - X - w` while packets are sent at w. The queue is known by its delay; its
    /// bytes are that delay times the rate at which the ACKs of the train came. Where nobody else
    /// sends, that rate is C, and all of C is found to be free. Beside others it is less than C,
    /// and no more than `C - X` is found to be free.
    fn free(&self, sample: RttSample, min_rtt: Span) -> Bytes {
        let drained = self.pipe.per(min_rtt).over(self.drained(sample));
        let left = sample.acked - self.train.acked;
        (left + drained).per(self.left_in(sample)).over(min_rtt)
    }

    /// The pipe that the avoidance is told of where the queue stays after a train that showed
    /// room.
    pub(super) fn pipe_where_queue_stays(&self, window: Bytes) -> Option<Bytes> {
        // Ours: other flows send all that the path forwards then, and a newcomer's packets only
        // lengthen the queue until those flows slow down.
        self.room.map(|_| window.max(self.pipe / QUEUED_PART))
    }

    /// The queue after a train whose rate fills no more than the target. All packets after it are
    /// late if even `lowest`, the least late, is late by half of what the RTT rose over the train.
    fn without_room(&self, lowest: RttSample, min_rtt: Span) -> Queue {
        // Ours: a queue that is there is seen by all that follow before it has drained.
        // A queue that stood before the train may have drained up to its first packet.
        let half = self.rise / 2;
        let before = self.before.min(self.train.rtt - self.rise);
        let is_late = lowest.rtt - before >= half;
        let had_time = self.left_in(lowest) - self.forwarded_in(lowest, min_rtt) > half;
        if is_late || had_time { Queue::Stays } else { Queue::Noise }
    }
}

/// A queue is gone if no more is left of the rise of the RTT than a train that passes may have.
const EMPTY_PART: u64 = 8;
/// Where others fill the path, the avoidance climbs quickly up to this part of it, which short
/// buffers hold, and slowly from there on.
const QUEUED_PART: u64 = 4;
