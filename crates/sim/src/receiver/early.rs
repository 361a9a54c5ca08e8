//! The packets that have arrived beyond the next one expected.

/// One bit per packet, in a ring: packet `seq` has bit `seq % capacity`.
#[derive(Debug, Default)]
pub(super) struct Early {
    words: Vec<u64>,
    pub(super) count: u32,
}

impl Early {
    /// Whether nothing has arrived early, so that nothing is missing.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Packet `seq` arrives, beyond `next`, the one expected.
    pub(super) fn keep(&mut self, seq: u32, next: u32) {
        let ahead = (seq - next) as usize;
        if ahead >= self.capacity() {
            self.grow(ahead, next);
        }
        let (word, bit) = self.slot(seq);
        if self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.count += 1;
        }
    }

    /// Packet `seq` is the one expected: removes it, if it has arrived, and returns whether it had.
    pub(super) fn take(&mut self, seq: u32) -> bool {
        if self.is_empty() {
            return false;
        }
        let (word, bit) = self.slot(seq);
        let present = self.words[word] & bit != 0;
        if present {
            self.words[word] &= !bit;
            self.count -= 1;
        }
        present
    }

    /// The run of packets that holds `cause`, which has arrived beyond `next`: its first packet and
    /// one past its last. `begin` is its first packet, if that is known.
    pub(super) fn run(&self, cause: u32, begin: Option<u32>, next: u32) -> (u32, u32) {
        let mut run = (begin.unwrap_or(cause), cause + 1);
        while begin.is_none() && run.0 > next + 1 && self.has(run.0 - 1, next) {
            run.0 -= 1;
        }
        while self.has(run.1, next) {
            run.1 += 1;
        }
        run
    }

    /// Whether packet `seq`, at or beyond `next`, has arrived.
    #[inline]
    fn has(&self, seq: u32, next: u32) -> bool {
        let (word, bit) = self.slot(seq);
        ((seq - next) as usize) < self.capacity() && self.words[word] & bit != 0
    }

    fn capacity(&self) -> usize {
        self.words.len() * 64
    }

    #[inline]
    fn slot(&self, seq: u32) -> (usize, u64) {
        let index = seq as usize & (self.capacity() - 1);
        (index / 64, 1 << (index % 64))
    }

    #[cold]
    fn grow(&mut self, ahead: usize, next: u32) {
        let words = ((ahead + 1).div_ceil(64) * 2).next_power_of_two();
        let old = std::mem::replace(self, Self { words: vec![0; words], count: 0 });
        for seq in (next..).take(old.capacity()) {
            if old.has(seq, next) {
                self.keep(seq, next);
            }
        }
    }
}
