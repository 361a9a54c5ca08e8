//! A FIFO of small values in a ring of a power of two, which grows and never shrinks.
//!
//! `VecDeque` does the same for any capacity, and pays for that at every step; these queues are
//! stepped several times per packet.

/// First in, first out. Positions count up and wrap.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    slots: Vec<T>,
    /// Position of the first.
    head: usize,
    /// Position of the place behind the last.
    tail: usize,
    /// Before this position there is room; how much more there is, is seen there.
    room: usize,
}

impl<T: Copy + Default> Ring<T> {
    pub(crate) fn new() -> Self {
        Self { slots: vec![T::default(); FIRST_CAPACITY], head: 0, tail: 0, room: FIRST_CAPACITY }
    }

    pub(crate) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<T> {
        (self.head != self.tail).then(|| self.slots[self.head & (self.slots.len() - 1)])
    }

    /// Takes out the first of a ring that is not empty.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> T {
        debug_assert!(self.len() > 0);
        let first = self.slots[self.head & (self.slots.len() - 1)];
        self.head = self.head.wrapping_add(1);
        first
    }

    /// The value at position `place`, counted from 0 at the front.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        let slot = self.head.wrapping_add(place) & (self.slots.len() - 1);
        (place < self.len()).then(|| &self.slots[slot])
    }

    /// Replaces the value at position `place`, counted from 0 at the front; false if there is none.
    #[inline]
    pub(crate) fn replace(&mut self, place: usize, value: T) -> bool {
        let slot = self.head.wrapping_add(place) & (self.slots.len() - 1);
        let known = place < self.len();
        if known {
            self.slots[slot] = value;
        }
        known
    }

    /// Takes out `count` values from the front, or all there are, and returns how many.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) -> usize {
        let count = count.min(self.len());
        self.head = self.head.wrapping_add(count);
        count
    }

    #[inline]
    pub(crate) fn push_back(&mut self, value: T) {
        if self.tail == self.room {
            self.make_room();
        }
        let place = self.tail & (self.slots.len() - 1);
        self.slots[place] = value;
        self.tail = self.tail.wrapping_add(1);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let capacity = self.slots.len();
        if self.len() == capacity {
            self.slots.rotate_left(self.head & (capacity - 1));
            self.slots.resize(2 * capacity, T::default());
            (self.head, self.tail) = (0, capacity);
        }
        self.room = self.head.wrapping_add(self.slots.len());
    }
}

const FIRST_CAPACITY: usize = 4;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_come_out_as_they_went_in(pushes in prop::collection::vec(0usize..9, 0..200)) {
            let (mut ring, mut plain, mut next) = (Ring::new(), VecDeque::new(), 0_u64);
            for count in pushes {
                for _ in 0..count {
                    ring.push_back(next);
                    plain.push_back(next);
                    next += 1;
                }
                prop_assert_eq!(ring.len(), plain.len());
                for place in 0..=plain.len() {
                    prop_assert_eq!(ring.get(place), plain.get(place));
                }
                let known = plain.get_mut(count / 2);
                prop_assert_eq!(ring.replace(count / 2, next), known.is_some());
                known.into_iter().for_each(|value| *value = next);
                let skipped = plain.drain(..plain.len().min(count % 3)).count();
                prop_assert_eq!(ring.skip(count % 3), skipped);
                for _ in 0..count / 2 + 1 {
                    prop_assert_eq!(ring.front(), plain.front().copied());
                    if let Some(first) = plain.pop_front() {
                        prop_assert_eq!(ring.pop_front(), first);
                    }
                }
            }
        }
    }
}
