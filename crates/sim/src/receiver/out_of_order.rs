//! The packets that have arrived beyond the next one expected.

/// One bit per packet, in a ring: packet `seq` has bit `seq % capacity`.
#[derive(Debug, Default)]
pub(super) struct OutOfOrder {
    words: Vec<u64>,
    pub(super) count: u32,
}

impl OutOfOrder {
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

    /// The run of packets that holds `cause`, which has arrived: its first packet and one past its
    /// last. `begin` is its first packet, if that is known. The packet expected is missing, so that
    /// no run goes round the ring.
    pub(super) fn run(&self, cause: u32, begin: Option<u32>) -> (u32, u32) {
        (begin.unwrap_or_else(|| self.begin_of_run(cause)), self.end_of_run(cause))
    }

    /// The first packet of those that have arrived up to `seq` without one missing, a word at a
    /// time.
    fn begin_of_run(&self, seq: u32) -> u32 {
        let mut end = seq + 1;
        loop {
            let (word, bit) = self.place(end - 1);
            let arrived = (self.words[word] << (63 - bit)).leading_ones();
            end -= arrived;
            if arrived <= bit {
                return end;
            }
        }
    }

    /// One past the last packet of those that have arrived from `seq` on without one missing, a
    /// word at a time.
    fn end_of_run(&self, seq: u32) -> u32 {
        let mut end = seq;
        loop {
            let (word, bit) = self.place(end);
            let arrived = (self.words[word] >> bit).trailing_ones();
            end += arrived;
            if bit + arrived < 64 {
                return end;
            }
        }
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
        let (word, bit) = self.place(seq);
        (word, 1 << bit)
    }

    /// The word with packet `seq`, and the bit's place in it.
    #[inline]
    fn place(&self, seq: u32) -> (usize, u32) {
        let index = seq as usize & (self.capacity() - 1);
        (index / 64, seq % 64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_within_a_word_across_words_and_to_the_end_of_the_ring() {
        let mut packets = OutOfOrder::default();
        let runs = [(110, 121), (126, 129), (130, 228)];
        for seq in runs.into_iter().flat_map(|(begin, end)| begin..end) {
            packets.keep(seq, 100);
        }
        assert_eq!(packets.capacity(), 128, "packet 228 has the place of the one expected");
        for (begin, end) in runs {
            for cause in begin..end {
                assert_eq!(packets.run(cause, None), (begin, end), "{cause}");
                assert_eq!(packets.run(cause, Some(begin)), (begin, end), "{cause}");
            }
        }
    }
}
