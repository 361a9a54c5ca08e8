//! The event queue: FIFO lanes merged by a winner tree, with a heap for what fits no lane.
//!
//! Events that a fixed-delay element emits are already in order, so each such source gets a lane
//! and an event costs a push, a pop and one climb of a small tree. What comes out of order (timers,
//! bursts that overtake) goes to a binary heap. Order is total and independent of where an event
//! waited: by time, then kind, then flow.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use firstflight_core::units::Instant;

/// What happens. The order is the order of events at the same nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A timer or a scheduled start or stop.
    Timer = 0,
    /// An ACK reaches its sender.
    Ack = 1,
    /// A packet reaches a link.
    Arrive = 2,
    /// A constant-rate source emits, or a flow of another protocol has something to do.
    Other = 3,
}

/// One event: when, what, whose, and 64 bits for the one who handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    key: u64,
    pub(crate) payload: u64,
}

/// Names a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId(u32);

/// The earliest key below a node of the tree, and the leaf it stands at.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    leaf: u64,
}

/// Events in order of time.
#[derive(Debug)]
pub(crate) struct Queue {
    lanes: Vec<VecDeque<Event>>,
    /// `tree[1]` is the winner, `tree[leaves + i]` is leaf `i`.
    tree: Vec<Node>,
    leaves: usize,
    strays: BinaryHeap<Reverse<Event>>,
}

impl Event {
    pub(crate) fn new(at: Instant, kind: Kind, flow: u16, payload: u64) -> Self {
        let at = at.0.min(MAX_TIME);
        Self { key: at << 18 | (kind as u64) << 16 | u64::from(flow), payload }
    }

    pub(crate) fn at(self) -> Instant {
        Instant(self.key >> 18)
    }

    pub(crate) fn kind(self) -> Kind {
        match self.key >> 16 & 3 {
            0 => Kind::Timer,
            1 => Kind::Ack,
            2 => Kind::Arrive,
            _ => Kind::Other,
        }
    }

    pub(crate) fn flow(self) -> u16 {
        (self.key & 0xffff) as u16
    }
}

impl Queue {
    /// A queue with this many lanes. Leaf 0 stands for the heap.
    pub(crate) fn new(lanes: usize) -> Self {
        let leaves = (lanes + 1).next_power_of_two();
        Self {
            lanes: (0..lanes).map(|_| VecDeque::new()).collect(),
            tree: (0..2 * leaves)
                .map(|node| Node { key: u64::MAX, leaf: (node % leaves) as u64 })
                .collect(),
            leaves,
            strays: BinaryHeap::new(),
        }
    }

    pub(crate) fn lane(index: usize) -> LaneId {
        LaneId(index as u32)
    }

    /// Adds an event to its lane, or to the heap if the lane already holds a later one.
    #[inline]
    pub(crate) fn push(&mut self, lane: LaneId, event: Event) {
        let queue = &mut self.lanes[lane.0 as usize];
        match queue.back() {
            None => {
                queue.push_back(event);
                self.climb(lane.0 as usize + 1, event.key);
            }
            Some(last) if last.key <= event.key => queue.push_back(event),
            Some(_) => self.push_stray(event),
        }
    }

    /// Adds an event that belongs to no lane.
    pub(crate) fn push_stray(&mut self, event: Event) {
        self.strays.push(Reverse(event));
        if self.strays.peek() == Some(&Reverse(event)) {
            self.climb(0, event.key);
        }
    }

    /// Whether `event` would be the next one out.
    #[inline]
    pub(crate) fn would_be_next(&self, event: Event) -> bool {
        event.key < self.tree[1].key
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let winner = self.tree[1];
        if winner.key == u64::MAX {
            return None;
        }
        let leaf = winner.leaf as usize;
        if leaf == 0 {
            let event = self.strays.pop()?.0;
            self.climb(0, self.strays.peek().map_or(u64::MAX, |next| next.0.key));
            return Some(event);
        }
        let queue = &mut self.lanes[leaf - 1];
        let event = queue.pop_front()?;
        let next = queue.front().map_or(u64::MAX, |next| next.key);
        self.climb(leaf, next);
        Some(event)
    }

    /// Leaf `leaf` now starts at `key`: decides its matches anew, up to the root.
    #[inline]
    fn climb(&mut self, leaf: usize, key: u64) {
        let mut node = self.leaves + leaf;
        let mut winner = Node { key, leaf: leaf as u64 };
        let tree = &mut self.tree[..2 * self.leaves];
        tree[node] = winner;
        while node > 1 {
            winner = winner.earlier(tree[node ^ 1]);
            node >>= 1;
            tree[node] = winner;
        }
    }
}

impl Node {
    /// The earlier of two, without a branch: which one it is cannot be predicted.
    #[inline]
    fn earlier(self, other: Self) -> Self {
        let mask = u64::from(other.key < self.key).wrapping_neg();
        let select = |mine: u64, theirs: u64| mine ^ ((mine ^ theirs) & mask);
        Self { key: select(self.key, other.key), leaf: select(self.leaf, other.leaf) }
    }
}

/// The latest time an event can carry: 46 bits of nanoseconds, 19.5 hours.
pub(crate) const MAX_TIME: u64 = (1 << 46) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, flow: u16) -> Event {
        Event::new(Instant(at), Kind::Ack, flow, 0)
    }

    #[test]
    fn events_come_out_by_time_wherever_they_waited() {
        let mut queue = Queue::new(3);
        let mut times: Vec<u64> = (0..1000).map(|i| i * 7919 % 1009).collect();
        for (i, at) in times.iter().enumerate() {
            queue.push(Queue::lane(i % 3), event(*at, i as u16));
        }
        times.sort_unstable();
        let out: Vec<u64> = std::iter::from_fn(|| queue.pop()).map(|e| e.at().0).collect();
        assert_eq!(out, times);
    }

    #[test]
    fn ties_are_decided_by_kind_then_flow() {
        let mut queue = Queue::new(1);
        queue.push_stray(Event::new(Instant(5), Kind::Arrive, 0, 0));
        queue.push(Queue::lane(0), event(5, 9));
        queue.push_stray(event(5, 2));
        let order: Vec<(Kind, u16)> =
            std::iter::from_fn(|| queue.pop()).map(|e| (e.kind(), e.flow())).collect();
        assert_eq!(order, [(Kind::Ack, 2), (Kind::Ack, 9), (Kind::Arrive, 0)]);
    }
}
