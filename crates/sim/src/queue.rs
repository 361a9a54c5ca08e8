//! The event queue: FIFO lanes merged by a winner tree, with a heap for what fits no lane.
//!
//! Events that a fixed-delay element emits are already in order, so each such source gets a lane
//! and an event costs a push, a pop and at most one climb of a small tree. What comes out of order
//! (timers, bursts that overtake) goes to a binary heap. Order is total and independent of where an
//! event waited: by time, then kind, then flow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use firstflight_core::units::Instant;

use crate::ring::Ring;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    key: u64,
    pub(crate) payload: u64,
}

/// Names a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId(u32);

/// Events in order of time, and the key of the last one ever pushed.
#[derive(Debug)]
struct Lane {
    events: Ring<Event>,
    newest: u64,
}

/// Who stands at a node of the tree.
#[derive(Clone, Copy, Debug)]
struct Entrant {
    key: u64,
    leaf: usize,
}

/// Events in order of time.
///
/// One leaf is next. With few leaves it often stays so for long, and the tree hears about it only
/// when another one's turn comes. With many it changes with nearly every event.
#[derive(Debug)]
pub(crate) struct Queue {
    lanes: Vec<Lane>,
    /// The leaf that is next, and the key it stands at.
    next: usize,
    next_key: u64,
    /// With few leaves the smallest key of the others; with many, of those that came since.
    rival_key: u64,
    /// `tree[1]` is the winner, `tree[leaves + i]` is leaf `i`. Right but for the leaf `next`.
    tree: Vec<Entrant>,
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
            lanes: (0..lanes).map(|_| Lane { events: Ring::new(), newest: 0 }).collect(),
            next: 0,
            next_key: NOTHING,
            rival_key: NOTHING,
            tree: vec![Entrant { key: NOTHING, leaf: 0 }; 2 * leaves],
            leaves,
            strays: BinaryHeap::new(),
        }
    }

    pub(crate) fn lane(index: usize) -> LaneId {
        LaneId(index as u32)
    }

    /// Adds an event to its lane, or to the heap if the lane already holds a later one.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: LaneId, event: Event) {
        let queue = &mut self.lanes[lane.0 as usize];
        let empty = queue.events.len() == 0;
        if !empty && event.key < queue.newest {
            return self.push_stray(event);
        }
        queue.newest = event.key;
        queue.events.push_back(event);
        if empty {
            self.enter(lane.0 as usize + 1, event.key);
        }
    }

    /// Adds an event that belongs to no lane.
    #[inline(never)]
    pub(crate) fn push_stray(&mut self, event: Event) {
        self.strays.push(Reverse(event));
        if self.strays.peek() == Some(&Reverse(event)) {
            self.enter(0, event.key);
        }
    }

    /// Whether `event` would be the next one out.
    #[inline]
    pub(crate) fn would_be_next(&self, event: Event) -> bool {
        event.key < self.next_key.min(self.rival_key)
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        if self.next_key >= self.rival_key {
            self.take_over();
        }
        if self.next == 0 {
            return self.pop_stray();
        }
        let events = &mut self.lanes[self.next - 1].events;
        let event = events.pop_front()?;
        self.next_key = events.front().map_or(NOTHING, |next| next.key);
        if self.leaves > FEW_LEAVES {
            self.take_over();
        }
        Some(event)
    }

    #[inline(never)]
    fn pop_stray(&mut self) -> Option<Event> {
        let event = self.strays.pop()?.0;
        self.next_key = self.strays.peek().map_or(NOTHING, |next| next.0.key);
        if self.leaves > FEW_LEAVES {
            self.take_over();
        }
        Some(event)
    }

    /// Leaf `leaf` now starts at `key`, earlier than before.
    #[inline(never)]
    fn enter(&mut self, leaf: usize, key: u64) {
        if leaf == self.next {
            self.next_key = key;
        } else {
            self.climb(leaf, key);
            self.rival_key = self.rival_key.min(key);
        }
    }

    /// The leaf with the smallest key is next.
    #[inline]
    fn take_over(&mut self) {
        self.climb(self.next, self.next_key);
        Entrant { leaf: self.next, key: self.next_key } = self.tree[1];
        self.rival_key = NOTHING;
        if self.leaves <= FEW_LEAVES {
            self.rival_key = self.best_but(self.next);
        }
    }

    /// The smallest key of all leaves but one: of the winners it meets on its way to the root.
    fn best_but(&self, leaf: usize) -> u64 {
        let path = std::iter::successors(Some(self.leaves + leaf), |node| Some(node / 2));
        let rivals = path.take_while(|node| *node > 1).map(|node| self.tree[node ^ 1].key);
        rivals.min().unwrap_or(NOTHING)
    }

    /// Leaf `leaf` now starts at `key`: decides its matches anew, up to the root. Who wins one
    /// cannot be predicted, so nothing branches on it.
    #[inline]
    fn climb(&mut self, leaf: usize, key: u64) {
        let mut node = self.leaves + leaf;
        let mut winner = Entrant { key, leaf };
        let tree = &mut self.tree[..2 * self.leaves];
        tree[node] = winner;
        while node > 1 {
            let rival = tree[node ^ 1];
            let rival_wins = rival.key < winner.key;
            winner.leaf = select_unpredictable(rival_wins, rival.leaf, winner.leaf);
            winner.key = winner.key.min(rival.key);
            node >>= 1;
            tree[node] = winner;
        }
    }
}

/// With more leaves than this, the next one is looked for at every event.
const FEW_LEAVES: usize = 16;

/// The key of a leaf where no event waits.
const NOTHING: u64 = u64::MAX;

/// The latest time an event can carry: 46 bits of nanoseconds, 19.5 hours.
pub(crate) const MAX_TIME: u64 = (1 << 46) - 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(at: u64, flow: u16) -> Event {
        Event::new(Instant(at), Kind::Ack, flow, 0)
    }

    #[test]
    fn events_come_out_by_time_wherever_they_waited() {
        for lanes in [1, 3, 40] {
            let mut queue = Queue::new(lanes);
            let mut times: Vec<u64> = (0..1000).map(|i| i * 7919 % 1009).collect();
            for (i, at) in times.iter().enumerate() {
                queue.push(Queue::lane(i % lanes), event(*at, i as u16));
            }
            times.sort_unstable();
            let out: Vec<u64> = std::iter::from_fn(|| queue.pop()).map(|e| e.at().0).collect();
            assert_eq!(out, times);
        }
    }

    proptest! {
        /// Pushes and pops as they come, against a sorted list of what waits.
        #[test]
        fn the_earliest_event_is_next_at_any_time(
            lanes in prop_oneof![1usize..5, 14usize..18, 30usize..70],
            steps in prop::collection::vec(
                (0usize..70, 1u64..2000, any::<bool>(), 0usize..3),
                1..300,
            ),
        ) {
            let (mut queue, mut waiting, mut now) = (Queue::new(lanes), Vec::new(), 0);
            for (number, (lane, delay, stray, pops)) in steps.into_iter().enumerate() {
                let event = event(now + delay, number as u16);
                let first = waiting.iter().min().is_none_or(|earliest| event < *earliest);
                prop_assert_eq!(queue.would_be_next(event), first);
                match stray {
                    true => queue.push_stray(event),
                    false => queue.push(Queue::lane(lane % lanes), event),
                }
                waiting.push(event);
                for _ in 0..pops {
                    waiting.sort_unstable_by(|a, b| b.cmp(a));
                    let expected = waiting.pop();
                    prop_assert_eq!(queue.pop(), expected);
                    now = expected.map_or(now, |event| event.at().0);
                }
            }
        }
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
