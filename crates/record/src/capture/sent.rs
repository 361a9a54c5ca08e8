//! Which bytes were sent, sent again and acknowledged, in bounded memory.

use std::collections::VecDeque;

/// The bytes of a direction, counted from its first.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// How far bytes were sent, and acknowledged.
    pub(crate) until: u64,
    pub(crate) acked: u64,
    /// Segments that are not acknowledged, when each was sent first, in the order of their ends.
    waiting: VecDeque<(u64, u64)>,
    /// Bytes below `until` that the capture does not have.
    holes: Vec<(u64, u64)>,
    /// An ACK of a segment that ends in here may be of one that was sent again, or may have waited
    /// for one: it gives no RTT (Karn's rule).
    unclear: Option<(u64, u64)>,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// How many of its bytes were sent before.
    pub(crate) again: u64,
    /// When the first of these bytes were sent, if that is known.
    pub(crate) before_ns: Option<u64>,
}

impl Sent {
    /// What a segment with these bytes is, before it is taken.
    pub(crate) fn classify(&self, start: u64, end: u64) -> Segment {
        let until = end.min(self.until);
        let known = until.saturating_sub(start);
        let missing: u64 = self
            .holes
            .iter()
            .map(|(from, to)| (*to).min(until).saturating_sub((*from).max(start)))
            .sum();
        let place = self.waiting.partition_point(|(end, _)| *end <= start);
        let before_ns = self.waiting.get(place).map(|(_, at_ns)| *at_ns);
        Segment { again: known.saturating_sub(missing), before_ns }
    }

    /// Takes a segment.
    pub(crate) fn take(&mut self, start: u64, end: u64, at_ns: u64, segment: Segment) {
        if start > self.until && self.holes.len() < MOST_HOLES && self.until > 0 {
            self.holes.push((self.until, start));
        } else if start < self.until {
            self.fill(start, end);
        }
        if end > self.until {
            self.until = end;
            self.waiting.push_back((end, at_ns));
            if self.waiting.len() > MOST_WAITING {
                self.waiting.pop_front();
            }
        }
        if segment.again > 0 {
            let from = self.unclear.map_or(start, |(from, _)| from.min(start));
            self.unclear = Some((from, self.until));
        }
    }

    /// Bytes that the capture has after later ones are no longer missing.
    fn fill(&mut self, start: u64, end: u64) {
        let left = |(from, to): (u64, u64)| {
            let before = (from, to.min(start));
            let behind = (from.max(end), to);
            [before, behind].into_iter().filter(|(from, to)| from < to)
        };
        if self.holes.iter().any(|(from, to)| start < *to && end > *from) {
            self.holes = self.holes.drain(..).flat_map(left).take(MOST_HOLES).collect();
        }
    }

    /// Takes an ACK of all below a place. Returns when the newest segment was sent that it
    /// acknowledges, if that gives an RTT.
    pub(crate) fn ack(&mut self, acked: u64) -> Option<u64> {
        self.acked = acked;
        let mut newest = None;
        while let Some((end, at_ns)) = self.waiting.front().copied().filter(|it| it.0 <= acked) {
            self.waiting.pop_front();
            newest = Some((end, at_ns));
        }
        self.holes.retain(|(_, to)| *to > acked);
        let (end, at_ns) = newest?;
        let unclear = self.unclear.is_some_and(|(from, to)| end > from && end <= to);
        self.unclear = self.unclear.filter(|(_, to)| *to > acked);
        (!unclear).then_some(at_ns)
    }

    /// What was sent and is not acknowledged.
    pub(crate) fn flight(&self) -> u64 {
        self.until.saturating_sub(self.acked)
    }
}

/// Segments whose times are kept: those of 370 MB in flight.
const MOST_WAITING: usize = 1 << 18;
/// Gaps in a capture that are kept apart.
const MOST_HOLES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn take(sent: &mut Sent, start: u64, end: u64, at_ns: u64) -> u64 {
        let segment = sent.classify(start, end);
        sent.take(start, end, at_ns, segment);
        segment.again
    }

    #[test]
    fn what_the_capture_has_late_was_not_sent_again() {
        let mut sent = Sent::default();
        assert_eq!(take(&mut sent, 0, 10, 1), 0);
        assert_eq!(take(&mut sent, 20, 30, 2), 0);
        assert_eq!(take(&mut sent, 10, 20, 3), 0, "it was missing");
        assert_eq!(take(&mut sent, 10, 20, 4), 10, "and came again");
        assert_eq!(take(&mut sent, 25, 40, 5), 5, "a part of it");
    }

    #[test]
    fn the_ack_of_what_was_sent_twice_tells_no_rtt() {
        let mut sent = Sent::default();
        for place in 0..4 {
            take(&mut sent, place * 10, place * 10 + 10, place);
        }
        assert_eq!(sent.ack(10), Some(0));
        take(&mut sent, 10, 20, 9);
        take(&mut sent, 40, 50, 10);
        assert_eq!(sent.ack(40), None, "it waited for what was sent again");
        assert_eq!(sent.ack(50), Some(10));
        assert_eq!(sent.flight(), 0);
    }

    #[test]
    fn without_acks_memory_is_bounded() {
        let mut sent = Sent::default();
        for place in 0..600_000 {
            assert_eq!(take(&mut sent, place * 10, place * 10 + 10, place), 0);
            assert_eq!(take(&mut sent, place * 10, place * 10 + 10, place), 10);
        }
        assert!(sent.waiting.len() <= MOST_WAITING);
    }
}
