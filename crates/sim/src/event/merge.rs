//! FIFO lanes of events, merged in order of time.

use crate::event::tree::{NOTHING, Tree};
use crate::event::{Event, KIND, Kind};
use crate::ring::Ring;

/// Lanes of events of one kind, and which of them is next.
#[derive(Debug)]
pub(crate) struct Merge {
    /// This kind, as a key has it.
    kind: u64,
    /// The lanes, each in order of time.
    lanes: Vec<Lane>,
    /// Where each lane stands.
    tree: Tree,
    /// By number of an event, where that determines its lane; otherwise empty.
    lane_of: Vec<u32>,
    /// The lane of the event that is next.
    next: usize,
    /// The key of the event that is next; [`NOTHING`] if there is none.
    pub(crate) next_key: u64,
}

/// Events in order of time, and the key of the newest; [`NOTHING`] if there is none. A cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Lane {
    /// Every event's key, and behind that its payload; of one whose payload is omitted the key
    /// alone, and that without its kind.
    words: Ring<u64>,
    /// The key of the newest event.
    newest: u64,
}

/// Whether a lane keeps the payload of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    Kept,
    Omitted,
}

impl Merge {
    /// At least one lane of events of this kind. `lane_of` has the lane of every number, or is
    /// empty.
    pub(crate) fn new(kind: Kind, lanes: usize, lane_of: Vec<u32>) -> Self {
        let lanes = lanes.max(1);
        Self {
            kind: (kind as u64) << 16,
            lanes: (0..lanes).map(|_| Lane { words: Ring::new(), newest: NOTHING }).collect(),
            tree: Tree::new(lanes),
            lane_of,
            next: 0,
            next_key: NOTHING,
        }
    }

    /// Adds an event to its lane, with or without its payload. Returns false, and adds nothing, if
    /// the lane already holds a later event.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: u32, event: Event, payload: Payload) -> bool {
        let queue = &mut self.lanes[lane as usize];
        if event.key < queue.newest {
            return self.push_first(lane, event, payload);
        }
        queue.push(event, payload);
        true
    }

    /// Slow path of `push`: the lane is empty, or its newest event is later than this one.
    #[inline(never)]
    fn push_first(&mut self, lane: u32, event: Event, payload: Payload) -> bool {
        let queue = &mut self.lanes[lane as usize];
        let first = queue.newest == NOTHING;
        if first {
            queue.push(event, payload);
            self.stand(lane as usize, event.key);
        }
        first
    }

    /// Takes the earliest event: its key, and its payload if it has one. There must be an event.
    #[inline]
    pub(crate) fn pop(&mut self) -> (u64, Option<u64>) {
        let key = self.next_key;
        let [lane] = self.lanes.as_mut_slice() else { return (key, self.pop_of_many()) };
        let (payload, next) = lane.pop(self.kind);
        self.next_key = next;
        (key, payload)
    }

    #[inline(never)]
    fn pop_of_many(&mut self) -> Option<u64> {
        let (payload, next) = self.lanes[self.next].pop(self.kind);
        self.stand(self.next, next);
        payload
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
    #[inline(always)]
    fn push(&mut self, event: Event, payload: Payload) {
        self.newest = event.key;
        match payload {
            Payload::Kept => {
                self.words.push_back(event.key);
                self.words.push_back(event.payload);
            }
            Payload::Omitted => self.words.push_back(event.key_without_kind()),
        }
    }

    /// Takes the first event, which there is, and says at which key the lane stands then.
    #[inline(always)]
    fn pop(&mut self, kind: u64) -> (Option<u64>, u64) {
        let has_payload = self.words.pop_front() & KIND != 0;
        let payload = has_payload.then(|| self.words.pop_front());
        let Some(next) = self.words.front() else {
            self.newest = NOTHING;
            return (payload, NOTHING);
        };
        (payload, next | kind)
    }
}
