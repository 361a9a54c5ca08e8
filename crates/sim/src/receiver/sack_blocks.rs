//! How many SACK blocks an ACK carries (RFC 2018 section 4): they make it longer, and so later.
//!
//! The first block is the run of packets that holds the one just received; then come the runs
//! reported before it, newest first, as far as the first does not cover them. The sender works out
//! the blocks from the packet that caused the ACK; the next ACK repeats what a lost one reported
//! (`FlowPath::lose`).

/// The runs reported last, newest first, as first packet and one past the last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SackHistory {
    runs: [(u32, u32); MOST_BLOCKS],
    known: usize,
}

impl SackHistory {
    /// Nothing is missing, so that there is nothing to report.
    pub(crate) fn clear(&mut self) {
        self.known = 0;
    }

    /// Whether packet `seq` extends one of the two newest runs, or is the second (Linux's
    /// `TCP_SACK_BLOCKS_EXPECTED`).
    pub(crate) fn is_among_newest(&self, seq: u32) -> bool {
        let newest = &self.runs[..self.known.min(2)];
        self.known < 2 || newest.iter().any(|run| (run.0.saturating_sub(1)..=run.1).contains(&seq))
    }

    /// Packet `cause` led to an ACK for all below `next`, while some packet is missing; `run` finds
    /// the run of received packets that holds `cause`, given its first packet if that is known.
    /// Returns the number of blocks.
    pub(crate) fn report(
        &mut self,
        cause: u32,
        next: u32,
        run: impl Fn(u32, Option<u32>) -> (u32, u32),
    ) -> u32 {
        if cause < next {
            self.forget_covered((0, next));
            return self.known as u32;
        }
        let newest = self.runs[0];
        let known = self.known > 0 && newest.0 >= next;
        if known && (newest.0..newest.1).contains(&cause) {
            // Reported before, with an ACK that was held back.
            return self.known as u32;
        }
        let extends = known && newest.1 == cause;
        let first = run(cause, extends.then_some(newest.0));
        if extends && first.1 == cause + 1 {
            // It reaches no other run, so that the others stay as they are.
            self.runs[0] = first;
            return self.known as u32;
        }
        self.forget_covered(first);
        let blocks = (self.known + 1).min(MOST_BLOCKS);
        self.runs.copy_within(0..MOST_BLOCKS - 1, 1);
        self.runs[0] = first;
        self.known = blocks;
        blocks as u32
    }

    fn forget_covered(&mut self, first: (u32, u32)) {
        let mut kept = 0;
        for place in 0..self.known {
            let run = self.runs[place];
            if !(first.0 <= run.0 && first.1 >= run.1) {
                self.runs[kept] = run;
                kept += 1;
            }
        }
        self.known = kept;
    }
}

/// Blocks that fit besides the other options of a TCP header.
const MOST_BLOCKS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_newest_runs_that_the_first_does_not_cover() {
        let mut history = SackHistory::default();
        let single = |cause: u32, _: Option<u32>| (cause, cause + 1);
        assert_eq!(history.report(5, 3, single), 1);
        assert_eq!(history.report(7, 3, single), 2);
        assert_eq!(history.report(9, 3, single), 3);
        assert_eq!(history.report(11, 3, single), 3);
        // Packet 8 joins 7 and 9: one run covers both.
        assert_eq!(history.report(8, 3, |_, _| (7, 10)), 2);
        history.clear();
        assert_eq!(history.known, 0);
        assert_eq!(history.report(30, 20, single), 1);
    }

    #[test]
    fn a_run_that_grows_by_a_packet_leaves_the_other_blocks() {
        let mut history = SackHistory::default();
        let run = |cause: u32, begin: Option<u32>| (begin.unwrap_or(cause), cause + 1);
        let blocks = [5, 9, 10, 12].map(|cause| history.report(cause, 3, run));
        assert_eq!(blocks, [1, 2, 2, 3]);
        assert_eq!(history.runs, [(12, 13), (9, 11), (5, 6)]);
    }

    #[test]
    fn a_packet_that_was_reported_needs_no_search() {
        let mut history = SackHistory::default();
        history.report(5, 3, |cause, _| (cause, cause + 1));
        assert_eq!(history.report(5, 3, |_, _| unreachable!("it is known")), 1);
    }

    #[test]
    fn a_run_that_grows_needs_no_search_for_its_beginning() {
        let mut history = SackHistory::default();
        history.report(5, 3, |cause, _| (cause, cause + 1));
        history.report(6, 3, |cause, begin| {
            assert_eq!(begin, Some(5));
            (5, cause + 1)
        });
    }
}
