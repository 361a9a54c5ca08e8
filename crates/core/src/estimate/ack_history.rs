//! How much was delivered within the last RTT, or any part of it, in a fixed number of bytes.
//!
//! The amount delivered so far, drawn over time, is a staircase: one step per ACK. The last
//! [`RECENT`] steps are kept as they are. Behind them the staircase is kept as a curve through at
//! most [`POINTS`] of its own corners, a 24th of the span looked back on apart, and read by
//! straight lines in between. Where a pause is longer than that, both its ends are corners, so
//! bursts keep their edges. Evenly spaced ACKs lie on a line: for them the curve is right to within
//! one ACK. For any others it is wrong by no more than what came between the two corners beside the
//! place read.
//!
//! Amounts within the span looked back on must stay under 4 GiB; beyond that they wrap.

use crate::units::high_half;

/// A step of the staircase: up to and including time `at`, `total` was delivered. Totals wrap;
/// differences of totals count.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    at: u64,
    total: u32,
}

/// A corner of the curve.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    at: u64,
    /// To the foot of the next corner's step, in 2^-32 bytes per ns; not known for the last two.
    slope: u64,
    total: u32,
    /// Height of this corner's own step.
    credit: u32,
}

/// What was delivered when. Times are nanoseconds and never fall.
///
/// Positions in both rings are counted from the start of the connection and wrap.
#[derive(Clone, Debug)]
pub struct AckHistory {
    recent: [Step; RECENT],
    curve: [Corner; POINTS],
    newest: u32,
    /// The curve's first and last corner.
    oldest: u32,
    head: u32,
    /// The corner before the place each kind of question was last about.
    far: u32,
    near: u32,
}

impl AckHistory {
    /// Nothing delivered yet.
    pub const fn new() -> Self {
        Self {
            recent: [Step { at: 0, total: 0 }; RECENT],
            curve: [Corner { at: 0, slope: 0, total: 0, credit: 0 }; POINTS],
            newest: 0,
            oldest: 0,
            head: 0,
            far: 0,
            near: 0,
        }
    }

    /// `credit` bytes were delivered at `at`; `span` is how far back anyone will look.
    #[inline]
    pub fn push(&mut self, at: u64, credit: u32, span: u64) {
        let last = self.recent[slot(self.newest)];
        let total = last.total.wrapping_add(credit);
        if at <= last.at {
            self.recent[slot(self.newest)].total = total;
            let head = &mut self.curve[point(self.head)];
            (head.total, head.credit) = (total, head.credit.saturating_add(credit));
            return;
        }
        if self.head == self.oldest {
            self.recent = [Step { at: at - 1, total: 0 }; RECENT];
            self.curve[0].at = at - 1;
        }
        self.newest = self.newest.wrapping_add(1);
        self.recent[slot(self.newest)] = Step { at, total };
        let fixed = self.curve[point(self.head.wrapping_sub(1))].at;
        if self.head == self.oldest || at - fixed >= span / SPACING {
            self.open_corner(at, span);
        }
        let head = &mut self.curve[point(self.head)];
        (head.at, head.total, head.credit) = (at, total, credit);
    }

    /// What was delivered in the last `span` before the newest ACK, that ACK included. For
    /// questions with about the same span each time.
    #[inline]
    pub fn within_span(&mut self, span: u64) -> u32 {
        let newest = self.recent[slot(self.newest)];
        let from = newest.at.saturating_sub(span);
        if let Some(total) = self.recent_until(from) {
            return newest.total.wrapping_sub(total);
        }
        self.far = self.corner_before(from, self.far);
        newest.total.wrapping_sub(self.curve_until(from, self.far))
    }

    /// The same for a span that differs more, and is usually short.
    #[inline]
    pub fn within(&mut self, span: u64) -> u32 {
        let newest = self.recent[slot(self.newest)];
        let from = newest.at.saturating_sub(span);
        if let Some(total) = self.recent_until(from) {
            return newest.total.wrapping_sub(total);
        }
        self.near = self.corner_before(from, self.near);
        newest.total.wrapping_sub(self.curve_until(from, self.near))
    }

    /// The total at time `from`, if the recent steps reach back so far.
    #[inline]
    fn recent_until(&self, from: u64) -> Option<u32> {
        if self.recent[slot(self.newest.wrapping_add(1))].at > from {
            return None;
        }
        let mut position = self.newest;
        while self.recent[slot(position)].at > from {
            position = position.wrapping_sub(1);
        }
        Some(self.recent[slot(position)].total)
    }

    /// The last corner up to time `from`, or else the oldest, looked for from `hint` on. The newest
    /// step is after `from`, so there is always a corner behind the one found.
    #[inline]
    fn corner_before(&self, from: u64, hint: u32) -> u32 {
        let mut corner = hint;
        while corner != self.oldest && self.curve[point(corner)].at > from {
            corner = corner.wrapping_sub(1);
        }
        while self.curve[point(corner.wrapping_add(1))].at <= from {
            corner = corner.wrapping_add(1);
        }
        corner
    }

    /// The total at time `from`, between `corner` and the one behind it.
    #[inline]
    fn curve_until(&self, from: u64, corner: u32) -> u32 {
        let left = &self.curve[point(corner)];
        let next = corner.wrapping_add(1);
        let slope =
            if next == self.head { slope(left, &self.curve[point(next)]) } else { left.slope };
        let part = from.saturating_sub(left.at).min(u64::from(u32::MAX));
        left.total.wrapping_add(high_half(part << 32, slope) as u32)
    }

    /// Makes room for a new head, at the cost of corners nobody will ask about or of every other
    /// one.
    #[inline]
    fn open_corner(&mut self, at: u64, span: u64) {
        if self.head != self.oldest {
            let last = self.head.wrapping_sub(1);
            self.curve[point(last)].slope =
                slope(&self.curve[point(last)], &self.curve[point(self.head)]);
        }
        if self.head.wrapping_sub(self.oldest) as usize == POINTS - 1 {
            let second = self.oldest.wrapping_add(1);
            if self.curve[point(second)].at > at.saturating_sub(span) {
                self.thin();
            } else {
                self.far = if self.far == self.oldest { second } else { self.far };
                self.near = if self.near == self.oldest { second } else { self.near };
                self.oldest = second;
            }
        }
        self.head = self.head.wrapping_add(1);
    }

    /// Drops every other corner, but neither the oldest nor the newest.
    #[cold]
    fn thin(&mut self) {
        let mut kept = self.oldest;
        let mut next = self.oldest;
        while next != self.head {
            next = next.wrapping_add(2);
            if (self.head.wrapping_sub(next) as i32) < 0 {
                next = self.head;
            }
            let (left, right) = (self.curve[point(kept)], self.curve[point(next)]);
            self.curve[point(kept)].slope = slope(&left, &right);
            kept = kept.wrapping_add(1);
            self.curve[point(kept)] = right;
        }
        self.head = kept;
        (self.far, self.near) = (self.oldest, self.oldest);
    }
}

impl Default for AckHistory {
    fn default() -> Self {
        Self::new()
    }
}

/// From the top of one corner's step to the foot of the next one's.
fn slope(left: &Corner, right: &Corner) -> u64 {
    let rise = right.total.wrapping_sub(right.credit).wrapping_sub(left.total);
    (u64::from(rise) << 32) / (right.at - left.at).max(1)
}

#[inline]
const fn slot(position: u32) -> usize {
    position as usize % RECENT
}

#[inline]
const fn point(position: u32) -> usize {
    position as usize % POINTS
}

/// ACKs kept one by one: intervals that hold fewer are counted exactly.
pub const RECENT: usize = 16;

/// Corners of the curve: enough for one every 24th of the span and for some pauses.
pub const POINTS: usize = 32;

/// Corners are this fraction of the span apart.
const SPACING: u64 = 24;
