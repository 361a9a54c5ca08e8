//! What the sender remembers of every packet in flight: when it last left, and its marks.

use firstflight_core::units::Instant;

/// A ring of one word per packet: 60 bits of time, and above them its marks.
#[derive(Debug)]
pub(crate) struct SendLog {
    words: Vec<u64>,
    mask: usize,
    /// There is room for all packets before this one.
    full_at: u32,
}

/// A packet's marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u64);

impl Mark {
    /// Left more than once.
    pub(crate) const RESENT: Self = Self(1 << 60);
    /// Selectively acknowledged.
    pub(crate) const SACKED: Self = Self(1 << 61);
    /// Found lost and not yet sent again.
    pub(crate) const LOST: Self = Self(1 << 62);
    /// Known to have arrived, whatever the scoreboard has forgotten since.
    pub(crate) const ARRIVED: Self = Self(1 << 63);
}

impl SendLog {
    pub(crate) fn new() -> Self {
        Self { words: vec![0; FIRST_CAPACITY], mask: FIRST_CAPACITY - 1, full_at: 0 }
    }

    /// Packet `seq` leaves for the first time; `una` is the oldest that must be remembered.
    #[inline]
    pub(crate) fn sent(&mut self, seq: u32, una: u32, now: Instant) {
        if seq >= self.full_at {
            self.make_room(una, seq);
        }
        self.words[seq as usize & self.mask] = now.0;
    }

    /// Packet `seq` leaves again.
    pub(crate) fn resent(&mut self, seq: u32, now: Instant) {
        let word = self.words[seq as usize & self.mask];
        let kept = word & (Mark::SACKED.0 | Mark::ARRIVED.0);
        self.words[seq as usize & self.mask] = now.0 | kept | Mark::RESENT.0;
    }

    /// When packet `seq` left, if it has no mark.
    #[inline]
    pub(crate) fn sent_once_at(&self, seq: u32) -> Option<Instant> {
        let word = self.words[seq as usize & self.mask];
        (word <= LATEST).then_some(Instant(word))
    }

    pub(crate) fn sent_at(&self, seq: u32) -> Instant {
        Instant(self.words[seq as usize & self.mask] & LATEST)
    }

    pub(crate) fn has(&self, seq: u32, mark: Mark) -> bool {
        self.words[seq as usize & self.mask] & mark.0 != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, seq: u32, mark: Mark) {
        self.words[seq as usize & self.mask] |= mark.0;
    }

    pub(crate) fn clear(&mut self, seq: u32, mark: Mark) {
        self.words[seq as usize & self.mask] &= !mark.0;
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, una: u32, seq: u32) {
        if (seq - una) as usize > self.mask {
            let capacity = ((seq - una) as usize + 1).next_power_of_two();
            // Wherever a packet's place is now, it is there too in one of the copies.
            self.words = self.words.repeat(capacity / self.words.len());
            self.mask = capacity - 1;
        }
        self.full_at = una + self.words.len() as u32;
    }
}

/// 36 years: events know no later time.
const LATEST: u64 = (1 << 60) - 1;
const FIRST_CAPACITY: usize = 64;
