//! What follows a train that slowed down: whether its queue is there at all, and how fast it
//! drains, which is what the path has free.

use super::train::Point;
use crate::units::{Bytes, Span};

/// The packets behind a train that slowed down, each by its ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    /// The last ACK of the train.
    pub(super) train: Point,
    /// What the path holds by the rate at which the ACKs of the train came.
    pub(super) pipe: Bytes,
    /// By how much the RTT rose over the train.
    pub(super) rise: Span,
    /// The smallest RTT before the train.
    pub(super) before: Span,
    /// How far to look.
    pub(super) end: Bytes,
    /// The largest window of the next round, if the train showed more room than W.
    pub(super) room: Option<Bytes>,
    /// The ACK with the smallest RTT, the first of such.
    pub(super) lowest: Option<Point>,
}

/// What was seen behind a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Not enough so far.
    Little,
    /// The queue of a train that showed room drains by half; the path has this much free, what was
    /// sent behind the train included, in a smallest RTT.
    Free(Bytes),
    /// What followed was as late as the train had made it: nothing is free.
    Late,
    /// It was not late although it left soon enough to be: the train slowed down by chance.
    Noise,
    /// It left so slowly that the queue had time to drain.
    Hidden,
}

impl Behind {
    /// Counts an ACK behind the train.
    pub(super) fn note(&mut self, point: Point, min_rtt: Span) -> Seen {
        let lowest = self.lowest.filter(|lowest| lowest.rtt <= point.rtt).unwrap_or(point);
        self.lowest = Some(lowest);
        if self.room.is_some() && self.drained(point) >= self.rise / 2 {
            return Seen::Free(self.free(point, min_rtt));
        }
        match (point.acked < self.end, self.room) {
            (true, _) => Seen::Little,
            (false, Some(_)) => Seen::Late,
            (false, None) => self.is_noise(lowest, min_rtt),
        }
    }

    /// By how much the RTT is shorter than that of the train's last packet.
    fn drained(&self, point: Point) -> Span {
        self.train.rtt - point.rtt
    }

    /// In which time what is acknowledged from the train's end up to this ACK left.
    fn left_in(&self, point: Point) -> Span {
        // From the train's last packet on, because what drains in a gap behind it is not there any
        // more for those that follow: Linux leaves a millisecond behind what leaves as one block
        // (tcp_tso_autosize), in which the queue of a train of an RTT of 20 ms drains by half.
        point.at.since(self.train.at) + self.drained(point)
    }

    /// What the path has free in a smallest RTT: what left behind the train and what drained of its
    /// queue meanwhile, over the time in which they left.
    ///
    /// A train of rate r beside others' X comes out at `r C/(r + X)`, more than `C - X`; its queue
    /// then drains by `C - X - w` beside what is sent at w. Of a queue known by its delay the bytes
    /// are counted at the rate that the train came at. That is C where nobody else sends, so that
    /// all of C is found to be free, and less than C beside others, so that no more than `C - X`
    /// is.
    fn free(&self, point: Point, min_rtt: Span) -> Bytes {
        let drained = self.pipe.per(min_rtt).over(self.drained(point));
        let left = point.acked - self.train.acked;
        (left + drained).per(self.left_in(point)).over(min_rtt)
    }

    /// Whether all packets behind a train without room, of which `lowest` was the least late, were
    /// late by at least half of what the RTT rose over the train.
    fn is_noise(&self, lowest: Point, min_rtt: Span) -> Seen {
        let half = self.rise / 2;
        let forwarded_in = min_rtt.scaled((lowest.acked - self.train.acked).0, self.pipe.0);
        if lowest.rtt - self.before >= half {
            Seen::Late
        } else if self.left_in(lowest) - forwarded_in <= half {
            Seen::Noise
        } else {
            Seen::Hidden
        }
    }
}
