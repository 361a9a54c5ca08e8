//! How much was delivered within the last RTT, or any part of it, in a fixed number of bytes.
//!
//! The amount delivered so far, drawn over time, is a staircase: one step per ACK. The last
//! [`RECENT`] steps are kept as they are. Behind them the staircase is kept as a curve through at
//! most [`POINTS`] of its own corners, a 24th of the span looked back on apart, and read by straight
//! lines in between. Where a pause is longer than that, both its ends are corners, so bursts keep
//! their edges. Evenly spaced ACKs lie on a line: for them the curve is right to within one ACK. For
//! any others it is wrong by no more than what came between the two corners beside the place read.
//!
//! Amounts within the span looked back on must stay under 4 GiB; beyond that they wrap.

/// A corner of the staircase: up to and including time `at`, `total` was delivered, `credit` of it at
/// that very time. Totals wrap, differences of totals count.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    at: u64,
    total: u32,
    credit: u32,
}

/// What was delivered when. Times are nanoseconds and never fall.
#[derive(Clone, Debug)]
pub struct AckHistory {
    recent: [Corner; RECENT],
    curve: [Corner; POINTS],
    /// The newest corner of each ring.
    newest: u8,
    head: u8,
    /// Corners in the curve.
    len: u8,
    /// The corner before the place [`AckHistory::within_span`] read last.
    tail: u8,
}

impl AckHistory {
    /// Nothing delivered yet.
    pub const fn new() -> Self {
        let none = Corner { at: 0, total: 0, credit: 0 };
        Self { recent: [none; RECENT], curve: [none; POINTS], newest: 0, head: 0, len: 0, tail: 0 }
    }

    /// `credit` bytes were delivered at `at`; `span` is how far back anyone will look.
    #[inline]
    pub fn push(&mut self, at: u64, credit: u32, span: u64) {
        let last = self.recent[self.newest as usize];
        let total = last.total.wrapping_add(credit);
        if self.len > 0 && at <= last.at {
            let corner = Corner { at: last.at, total, credit: last.credit.saturating_add(credit) };
            self.recent[self.newest as usize] = corner;
            self.curve[self.head as usize] = corner;
            return;
        }
        if self.len == 0 {
            let before = Corner { at: at.saturating_sub(1), ..Corner::default() };
            self.recent = [before; RECENT];
            self.curve[0] = before;
            self.len = 1;
        }
        let corner = Corner { at, total, credit };
        self.newest = (self.newest + 1) % RECENT as u8;
        self.recent[self.newest as usize] = corner;
        let slides = self.len > 1 && at - self.curve[before(self.head)].at < span / SPACING;
        if !slides {
            self.open_corner(at, span);
        }
        self.curve[self.head as usize] = corner;
    }

    /// What was delivered in the last `span` before the newest ACK, that ACK included. For calls with
    /// about the same span each time: it goes on from where the last one stopped.
    #[inline]
    pub fn within_span(&mut self, span: u64) -> u32 {
        let newest = self.recent[self.newest as usize];
        let from = newest.at.saturating_sub(span);
        if from >= self.oldest_recent().at {
            return newest.total.wrapping_sub(self.recent_until(from));
        }
        let oldest = self.oldest();
        let mut tail = self.tail as usize;
        while tail != oldest && self.curve[tail].at > from {
            tail = before(tail as u8);
        }
        while self.curve[after(tail)].at <= from {
            tail = after(tail);
        }
        self.tail = tail as u8;
        newest.total.wrapping_sub(self.curve_until(tail, from))
    }

    /// The same for a span that changes from call to call, usually short.
    #[inline]
    pub fn within(&self, span: u64) -> u32 {
        let newest = self.recent[self.newest as usize];
        let from = newest.at.saturating_sub(span);
        if from >= self.oldest_recent().at {
            return newest.total.wrapping_sub(self.recent_until(from));
        }
        let oldest = self.oldest();
        let mut corner = before(self.head);
        while corner != oldest && self.curve[corner].at > from {
            corner = before(corner as u8);
        }
        newest.total.wrapping_sub(self.curve_until(corner, from))
    }

    fn oldest_recent(&self) -> Corner {
        self.recent[(self.newest as usize + 1) % RECENT]
    }

    /// The total at time `from`, which the recent corners cover.
    fn recent_until(&self, from: u64) -> u32 {
        let mut index = self.newest as usize;
        while self.recent[index].at > from {
            index = (index + RECENT - 1) % RECENT;
        }
        self.recent[index].total
    }

    /// The total at time `from`, between the corner at `index` and the one after it.
    fn curve_until(&self, index: usize, from: u64) -> u32 {
        let (left, right) = (self.curve[index], self.curve[after(index)]);
        if from <= left.at || right.at <= left.at {
            return left.total;
        }
        let rise = right.total.wrapping_sub(right.credit).wrapping_sub(left.total);
        let (part, whole) = (from - left.at, right.at - left.at);
        // At most 2^32 * 2^32 after the shift, and no loss that matters: 31 bits of time remain.
        let shift = (64 - whole.leading_zeros()).saturating_sub(32);
        left.total.wrapping_add((u64::from(rise) * (part >> shift) / (whole >> shift)) as u32)
    }

    fn oldest(&self) -> usize {
        (self.head as usize + POINTS + 1 - self.len as usize) % POINTS
    }

    /// Makes room for a new head, at the cost of corners nobody will look at or of every other one.
    fn open_corner(&mut self, at: u64, span: u64) {
        let full = self.len as usize == POINTS;
        if full && self.curve[after(self.oldest())].at > at.saturating_sub(span) {
            self.thin();
        }
        if (self.len as usize) < POINTS {
            self.len += 1;
        } else if self.tail as usize == self.oldest() {
            self.tail = after(self.tail as usize) as u8;
        }
        self.head = after(self.head as usize) as u8;
    }

    /// Drops every other corner, but neither the oldest nor the newest.
    fn thin(&mut self) {
        let oldest = self.oldest();
        let len = self.len as usize;
        let mut kept = 0;
        for index in (0..len).filter(|index| index % 2 == 0 || index + 1 == len) {
            self.curve[(oldest + kept) % POINTS] = self.curve[(oldest + index) % POINTS];
            kept += 1;
        }
        self.len = kept as u8;
        self.head = ((oldest + kept - 1) % POINTS) as u8;
        self.tail = oldest as u8;
    }
}

impl Default for AckHistory {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
const fn before(index: u8) -> usize {
    (index as usize + POINTS - 1) % POINTS
}

#[inline]
const fn after(index: usize) -> usize {
    (index + 1) % POINTS
}

/// ACKs kept one by one: intervals that hold fewer are counted exactly.
pub const RECENT: usize = 16;

/// Corners of the curve: enough for [`SPACING`] and some pauses.
pub const POINTS: usize = 32;

/// Corners are this fraction of the span apart.
const SPACING: u64 = 24;
