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

/// Events in order of time, and the key of the last one ever pushed.
#[derive(Debug)]
struct Lane {
    events: Ring<Event>,
    newest: u64,
}

impl Merge {
    /// At least one lane. `lane_of` has the lane of every number, or is empty.
    pub(crate) fn new(lanes: usize, lane_of: Vec<u32>) -> Self {
        let lanes = lanes.max(1);
        Self {
            lanes: (0..lanes).map(|_| Lane { events: Ring::new(), newest: 0 }).collect(),
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
        let empty = queue.events.len() == 0;
        if !empty && event.key < queue.newest {
            return false;
        }
        queue.newest = event.key;
        queue.events.push_back(event);
        if empty {
            self.stand(lane as usize, event.key);
        }
        true
    }

    /// Takes the earliest event. There must be one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Event {
        let (event, next) = self.lanes[self.next].events.step();
        let key = next.map_or(NOTHING, |next| next.key);
        if self.lanes.len() == 1 {
            self.next_key = key;
        } else {
            self.stand(self.next, key);
        }
        event
    }

    /// A lane now stands at `key`.
    #[inline(never)]
    fn stand(&mut self, lane: usize, key: u64) {
        let first = self.tree.climb(lane, key);
        self.next_key = first;
        self.next = match self.lane_of.get((first & 0xffff) as usize) {
            Some(lane) => *lane as usize,
            None => self.tree.first(first),
        };
    }
}
