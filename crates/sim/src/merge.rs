//! FIFO lanes of events, merged in order of time.

use crate::event::Event;
use crate::ring::Ring;
use crate::tree::{NOTHING, Tree};

/// Lanes, and which of them is next.
#[derive(Debug)]
pub(crate) struct Merge {
    lanes: Vec<Lane>,
    /// Where each lane stands.
    tree: Tree,
    /// By number of an event, where that tells its lane; otherwise empty.
    lane_of: Vec<u32>,
    next: usize,
    /// The key of the event that is next; [`NOTHING`] if there is none.
    pub(crate) next_key: u64,
}

/// Events in order of time, and the key of the newest; [`NOTHING`] if there is none. A cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Lane {
    events: Ring<Event>,
    newest: u64,
}

impl Merge {
    /// At least one lane. `lane_of` has the lane of every number, or is empty.
    pub(crate) fn new(lanes: usize, lane_of: Vec<u32>) -> Self {
        let lanes = lanes.max(1);
        Self {
            lanes: (0..lanes).map(|_| Lane { events: Ring::new(), newest: NOTHING }).collect(),
            tree: Tree::new(lanes),
            lane_of,
            next: 0,
            next_key: NOTHING,
        }
    }

    /// Adds an event to its lane. Returns false if the lane already holds a later one, and then it
    /// has not.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: u32, event: Event) -> bool {
        let queue = &mut self.lanes[lane as usize];
        if event.key < queue.newest {
            return self.push_first(lane, event);
        }
        queue.newest = event.key;
        queue.events.push_back(event);
        true
    }

    /// The same for an event that is earlier than the newest, or the first.
    #[inline(never)]
    fn push_first(&mut self, lane: u32, event: Event) -> bool {
        let queue = &mut self.lanes[lane as usize];
        let first = queue.newest == NOTHING;
        if first {
            queue.newest = event.key;
            queue.events.push_back(event);
            self.stand(lane as usize, event.key);
        }
        first
    }

    /// Takes the earliest event. There must be one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Event {
        let [lane] = self.lanes.as_mut_slice() else { return self.pop_of_many() };
        let (event, key) = lane.pop();
        self.next_key = key;
        event
    }

    #[inline(never)]
    fn pop_of_many(&mut self) -> Event {
        let (event, key) = self.lanes[self.next].pop();
        self.stand(self.next, key);
        event
    }

    /// A lane now stands at `key`.
    #[inline]
    fn stand(&mut self, lane: usize, key: u64) {
        let first = self.tree.climb(lane, key);
        self.next_key = first;
        self.next = match self.lane_of.get((first & 0xffff) as usize) {
            Some(lane) => *lane as usize,
            None => self.tree.first(first),
        };
    }
}

impl Lane {
    /// Takes the first event, which there is, and says at which key the lane stands then.
    #[inline(always)]
    fn pop(&mut self) -> (Event, u64) {
        let (event, next) = self.events.step();
        if next.is_none() {
            self.newest = NOTHING;
        }
        (event, next.map_or(NOTHING, |next| next.key))
    }
}
