//! How much was delivered within the last RTT, or any part of it, in a fixed number of bytes.
//!
//! The amount delivered so far, drawn over time, is a staircase: one step per ACK. The last
//! [`RECENT`] steps are kept as they are. Behind them the staircase is kept as a curve through at
//! most [`POINTS`] of its own corners, a 24th of the span looked back on apart, and read by
//! straight lines in between. Where a pause is longer than that, both its ends are corners, so
//! bursts keep their edges. Evenly spaced ACKs lie on a line: for them the curve is right to within
//! one ACK. For any others it is wrong by no more than what came between the two corners around the
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
    /// When its step was.
    at: u64,
    /// To the foot of the next corner's step, in 2^-32 bytes per ns; not known for the last two.
    slope: u64,
    /// All that was delivered by then.
    total: u32,
    /// Height of this corner's own step.
    credit: u32,
}

/// The straight piece of the curve that questions of one kind were last about. They move on slowly,
/// so most find their answer here and need no search.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// Where it begins.
    at: u64,
    /// How long the piece is, as far as the recent steps did not reach, under 2^32 ns; zero if it
    /// may change.
    width: u64,
    /// Its rise, as a corner's slope.
    slope: u64,
    /// All that was delivered where it begins.
    total: u32,
    /// The corner it begins at.
    corner: u32,
}

/// What was delivered when. Times are nanoseconds and never fall.
///
/// Positions in both rings are counted from the start of the connection and wrap.
#[derive(Clone, Debug)]
pub struct AckHistory {
    /// The newest step: the head, the last corner of the curve, which has it only once another
    /// comes behind it.
    last: Step,
    /// Where the newest step is in `recent`.
    newest: u32,
    /// The height of the newest step.
    credit: u32,
    /// Time of the corner before the head.
    fixed: u64,
    /// The curve's first corner.
    oldest: u32,
    /// The curve's last corner.
    head: u32,
    /// Where questions of each kind were last about.
    pieces: [Piece; 2],
    /// The recent steps that questions of each kind were last answered by.
    steps: [u32; 2],
    /// The steps kept as they are.
    recent: [Step; RECENT],
    /// The corners.
    curve: [Corner; POINTS],
}

impl AckHistory {
    /// Nothing delivered yet.
    pub const fn new() -> Self {
        let nothing = Step { at: 0, total: 0 };
        Self {
            // No time is after it, so that the first ACK takes the rare way too.
            last: Step { at: u64::MAX, total: 0 },
            newest: 0,
            credit: 0,
            fixed: 0,
            oldest: 0,
            head: 0,
            pieces: [Piece { at: 0, width: 0, slope: 0, total: 0, corner: 0 }; 2],
            steps: [0; 2],
            recent: [nothing; RECENT],
            curve: [Corner { at: 0, slope: 0, total: 0, credit: 0 }; POINTS],
        }
    }

    /// `credit` bytes were delivered at `at`; `span` is how far back anyone will look.
    #[inline]
    pub fn push(&mut self, at: u64, credit: u32, span: u64) {
        if at <= self.last.at {
            return self.push_again(at, credit, span);
        }
        if self.is_apart(at, span) {
            self.open_corner(at, span);
        }
        self.add_step(at, credit);
    }

    /// Whether a step at `at`, after all before it, makes the one before it a corner.
    #[inline(always)]
    pub(crate) fn is_apart(&self, at: u64, span: u64) -> bool {
        at - self.fixed >= span / SPACING
    }

    /// `credit` bytes were delivered at `at`, after all before it, of which there were some.
    #[inline(always)]
    pub(crate) fn add_step(&mut self, at: u64, credit: u32) {
        self.last = Step { at, total: self.last.total.wrapping_add(credit) };
        self.credit = credit;
        self.newest = self.newest.wrapping_add(1);
        self.recent[slot(self.newest)] = self.last;
    }

    /// The first ACK, or one at the time of the last, whose step it makes higher.
    #[cold]
    fn push_again(&mut self, at: u64, credit: u32, span: u64) {
        if self.head == self.oldest && at > 0 {
            let before = Step { at: at - 1, total: 0 };
            self.last.at = before.at;
            self.recent = [before; RECENT];
            self.open_corner(at, span);
            return self.add_step(at, credit);
        }
        self.last.total = self.last.total.wrapping_add(credit);
        self.recent[slot(self.newest)].total = self.last.total;
        self.credit = self.credit.saturating_add(credit);
    }

    /// What was delivered in the last `span` before the newest ACK, that ACK included. For
    /// questions with about the same span each time.
    #[inline]
    pub fn within_span(&mut self, span: u64) -> u32 {
        self.look_back(span, FAR)
    }

    /// What was delivered in the last `span` before the newest ACK, for spans that differ from
    /// question to question and are usually short.
    #[inline]
    pub fn within(&mut self, span: u64) -> u32 {
        self.look_back(span, NEAR)
    }

    #[inline(always)]
    fn look_back(&mut self, span: u64, kind: usize) -> u32 {
        // A span that reaches back before time zero wraps around, to after the newest step.
        let from = self.last.at.wrapping_sub(span);
        let Piece { at, width, slope, total, .. } = self.pieces[kind];
        let part = from.wrapping_sub(at);
        let before = if part < width {
            rise(total, slope, part)
        } else {
            self.search(self.last.at.saturating_sub(span), kind)
        };
        self.last.total.wrapping_sub(before)
    }

    /// The total at time `from`, wherever that is: most often a few steps after the last answer.
    #[inline(never)]
    fn search(&mut self, from: u64, kind: usize) -> u32 {
        let mut position = self.steps[kind];
        let held = self.newest.wrapping_sub(position) < RECENT as u32;
        if !held || self.recent[slot(position)].at > from {
            return self.search_back(from, kind);
        }
        while position != self.newest && self.recent[slot(position.wrapping_add(1))].at <= from {
            position = position.wrapping_add(1);
        }
        self.steps[kind] = position;
        self.recent[slot(position)].total
    }

    /// The total at time `from`, by a search that begins at the newest step.
    #[inline(never)]
    fn search_back(&mut self, from: u64, kind: usize) -> u32 {
        let reach = self.recent[slot(self.newest.wrapping_add(1))].at;
        if from < reach {
            return self.curve_until(from, kind, reach);
        }
        let mut position = self.newest;
        while self.recent[slot(position)].at > from {
            position = position.wrapping_sub(1);
        }
        self.steps[kind] = position;
        self.recent[slot(position)].total
    }

    /// The total at time `from`, before `reach`, the oldest recent step, by a search that begins
    /// where the last one ended.
    fn curve_until(&mut self, from: u64, kind: usize, reach: u64) -> u32 {
        self.settle_head();
        let corner = self.corner_before(from, self.pieces[kind].corner);
        let next = corner.wrapping_add(1);
        let (left, right) = (self.curve[point(corner)], self.curve[point(next)]);
        let Corner { at, total, .. } = left;
        let (slope, width) = if next == self.head {
            (slope(&left, &right), 0)
        } else {
            (left.slope, (right.at.min(reach) - at).min(LONGEST_PIECE))
        };
        self.pieces[kind] = Piece { at, width, slope, total, corner };
        rise(total, slope, from.saturating_sub(at).min(LONGEST_PIECE))
    }

    /// The last corner up to time `from`, or else the oldest, looked for from `hint` on. The newest
    /// step is after `from`, so there is always a corner behind the one found.
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

    /// Puts the newest step into the curve.
    fn settle_head(&mut self) {
        let head = &mut self.curve[point(self.head)];
        (head.at, head.total, head.credit) = (self.last.at, self.last.total, self.credit);
    }

    /// The head stays a corner for good, and a new head, at time `at`, comes behind it. Makes room
    /// for it by dropping corners older than the span looked back on, or every other corner.
    #[cold]
    pub(crate) fn open_corner(&mut self, at: u64, span: u64) {
        self.settle_head();
        if self.head != self.oldest {
            let before = self.head.wrapping_sub(1);
            self.curve[point(before)].slope =
                slope(&self.curve[point(before)], &self.curve[point(self.head)]);
        }
        if self.head.wrapping_sub(self.oldest) as usize == POINTS - 1 {
            let second = self.oldest.wrapping_add(1);
            if self.curve[point(second)].at > at.saturating_sub(span) {
                self.thin();
            } else {
                self.drop_oldest();
            }
        }
        self.fixed = self.last.at;
        self.head = self.head.wrapping_add(1);
    }

    /// The oldest corner is older than the span looked back on, and is dropped. A search that ended
    /// there begins at the next.
    fn drop_oldest(&mut self) {
        let dropped = self.oldest;
        self.oldest = dropped.wrapping_add(1);
        let begun_there = self.pieces.iter_mut().filter(|piece| piece.corner == dropped);
        begun_there.for_each(|piece| *piece = Piece { corner: self.oldest, ..Piece::default() });
    }

    /// Searches begin anew at the oldest corner: others are gone.
    fn forget_pieces(&mut self) {
        self.pieces = [Piece { corner: self.oldest, ..Piece::default() }; 2];
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
        self.forget_pieces();
    }
}

impl Default for AckHistory {
    fn default() -> Self {
        Self::new()
    }
}

/// `total`, and what a straight line of `slope` adds to it over `part`, at most [`LONGEST_PIECE`].
#[inline]
fn rise(total: u32, slope: u64, part: u64) -> u32 {
    total.wrapping_add(high_half(part << 32, slope) as u32)
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

/// Kinds of questions: about the whole span, and about a part of it.
const FAR: usize = 0;
const NEAR: usize = 1;

/// The longest time along one line, in ns: beyond 4 s it is cut.
const LONGEST_PIECE: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    impl AckHistory {
        /// The plain form: a search from the oldest corner for every question.
        fn within_searched(&self, span: u64, kind: usize) -> u32 {
            let mut plain = self.clone();
            plain.pieces = [Piece { corner: plain.oldest, ..Piece::default() }; 2];
            plain.look_back(span, kind)
        }
    }

    /// Times of the corners, and the slopes that are known.
    fn corners(history: &AckHistory) -> Vec<(u64, u64)> {
        let known = history.head.wrapping_sub(history.oldest);
        let corner = |place| history.curve[point(history.oldest.wrapping_add(place))];
        (0..=known).map(|place| (corner(place).at, corner(place).slope)).collect()
    }

    #[test]
    fn thinning_keeps_the_oldest_every_other_and_the_newest_corner() {
        for pieces in [30, 31] {
            let mut history = AckHistory { oldest: 7, head: 7, ..AckHistory::new() };
            let mut at = 1_000_000;
            while history.head - history.oldest < pieces {
                at += 10_000_000 + at % 7_919;
                history.push(at, 1_000, 100_000_000);
            }
            history.settle_head();
            let before = corners(&history);
            history.thin();
            assert_eq!(history.pieces.map(|piece| piece.corner), [7; 2], "searches begin there");
            let after = corners(&history);
            let mut kept: Vec<u64> = before.iter().step_by(2).map(|(at, _)| *at).collect();
            if pieces % 2 == 1 {
                kept.push(before[before.len() - 1].0);
            }
            assert_eq!(after.iter().map(|(at, _)| *at).collect::<Vec<_>>(), kept, "{pieces}");
            // From a corner to the foot of the next but one a segment was delivered in between.
            for pair in after[1..after.len() - 2].windows(2) {
                assert_eq!(pair[0].1, (1_000 << 32) / (pair[1].0 - pair[0].0), "{pieces}");
            }
        }
    }

    #[test]
    fn with_all_corners_taken_only_those_within_the_span_are_thinned() {
        let pieces_after = |beyond: u64| {
            let (mut history, mut at) = (AckHistory::new(), 1_000_000);
            while history.head - history.oldest < 31 {
                at += 10_000_000;
                history.push(at, 1_000, 100_000_000);
            }
            let second = history.curve[point(history.oldest + 1)].at;
            history.open_corner(at + 1, at + 1 - second + beyond);
            history.head - history.oldest
        };
        // The second is just as far back as anyone looks: the oldest is dropped. A nanosecond more,
        // and of 31 pieces 16 are left besides the new one.
        assert_eq!([0, 1].map(pieces_after), [31, 17]);
    }

    /// Bursts of three, a little more than a 24th of the span apart, both ends of each pause a
    /// corner: more corners than there are, so that the curve is thinned again and again.
    #[test]
    fn a_piece_answers_as_the_search_does_on_a_curve_that_is_thinned() {
        const SPAN: u64 = 100_000_000;
        let (mut history, mut at, mut thinned) = (AckHistory::new(), 1_000_000, 0);
        for i in 0..3_000 {
            at += if i % 3 == 0 { SPAN / 23 } else { 10_000 };
            let corners = history.head - history.oldest;
            history.push(at, 1_000, SPAN);
            thinned += u32::from(history.head - history.oldest + 1 < corners);
            for (span, kind) in [(SPAN, FAR), (i * 104_729 % SPAN, NEAR)] {
                let searched = history.within_searched(span, kind);
                assert_eq!(history.look_back(span, kind), searched, "{i} {span}");
            }
        }
        assert!(thinned > 20, "{thinned}");
    }

    proptest! {
        #[test]
        fn a_piece_answers_as_the_search_does(
            acks in prop::collection::vec((1u64..3_000_000, 0u64..40, any::<bool>()), 1..500),
            spans in prop::collection::vec(0u64..120_000_000, 1..50),
        ) {
            let (mut history, mut at) = (AckHistory::new(), 1);
            for (i, (gap, pause, moves)) in acks.into_iter().enumerate() {
                at += if moves { gap * 20 / (pause + 1) } else { 0 };
                let span = 100_000_000 + spans[i % spans.len()] / 10;
                history.push(at, 1_000, span);
                let short = spans[i / 7 % spans.len()];
                let searched = history.within_searched(span, FAR);
                prop_assert_eq!(history.within_span(span), searched);
                let searched = history.within_searched(short, NEAR);
                prop_assert_eq!(history.within(short), searched);
            }
        }
    }
}
