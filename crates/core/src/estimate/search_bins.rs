//! SEARCH's record of what was sent and delivered (draft-chung-ccwg-search-09 section 3): sums at
//! the ends of bins of time, compared one RTT apart.
//!
//! Published: ten bins cover 3.5 of the first RTT, and up to 15 more, or 40 in the authors' code
//! 4.0 for Linux, reach back to what was sent an RTT ago. The share of a bin by which that RTT ends
//! before a bin's end is taken from the bin before, as the authors' code and mozilla/neqo do; the
//! text of the draft takes the bin after, which is a mistake. Beginning anew after more than ten
//! bins without an ACK is neqo's reading of the draft's section on missed bins. Where a comparison
//! begins before the first bin, the code for Linux takes nothing for the sum before it; here it is
//! the first.

use crate::units::{Bytes, Instant, Span};

/// The sums, and where they stand.
#[derive(Clone, Copy, Debug)]
pub struct SearchBins {
    /// Length of a bin (`bin_duration`); zero before the first RTT sample.
    bin_duration: Span,
    /// The first RTT, which made the bins (`initial_rtt`).
    initial_rtt: Span,
    /// When the bin under way ends (`bin_end`).
    bin_end: Instant,
    /// Number of the newest sum (`curr_idx`).
    curr_idx: u64,
    /// All that had been sent by the end of a bin (`sent_bin`).
    sent: [u64; RING],
    /// All that had been delivered by then (`acked_bin`).
    delivered: [u64; RING],
}

/// With what the delivery of the last ten bins is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// With all that was sent in ten bins one RTT before (version 09).
    Sent,
    /// With twice what was delivered in them (version 08).
    TwiceDelivered,
}

/// From which bin on, and how far back, a comparison is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// The bin an RTT ago is later than the tenth, and less than 15 bins back (the draft, neqo).
    Draft,
    /// It is the tenth or later, and less than 14 bins back (the authors' code 3 for Linux).
    Linux,
    /// The tenth or later, and less than 39 back (their code 4.0 for Linux).
    Linux4,
}

/// Why no comparison was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// The record does not reach so far back yet.
    WarmingUp,
    /// The RTT is so long that the record never will.
    RttInflated,
    /// Nothing was sent an RTT ago.
    NothingSent,
}

/// What a comparison found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Payload delivered in the last ten bins.
    pub delivered: Bytes,
    /// What had to be expected.
    pub expected: Bytes,
}

impl SearchBins {
    /// Before anything is known.
    pub const NEW: Self = Self {
        bin_duration: Span(0),
        initial_rtt: Span(0),
        bin_end: Instant(0),
        curr_idx: 0,
        sent: [0; RING],
        delivered: [0; RING],
    };

    /// The first RTT makes the bins (section 3.1).
    pub fn begin(&mut self, now: Instant, rtt: Span, sent: Bytes, delivered: Bytes) {
        // Section 3.1: `bin_duration = initial_rtt * 3.5 / W`.
        let bin_duration = rtt.scaled(WINDOW_TENTHS, 10 * WINDOW_BINS);
        *self = Self { bin_duration, initial_rtt: rtt, bin_end: now + bin_duration, ..Self::NEW };
        (self.sent[0], self.delivered[0]) = (sent.0, delivered.0);
    }

    /// Begins anew with bins of the same length.
    pub fn begin_again(&mut self, now: Instant, sent: Bytes, delivered: Bytes) {
        self.begin(now, self.initial_rtt, sent, delivered);
    }

    /// Whether an RTT has made the bins.
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.bin_duration > Span(0)
    }

    /// Whether the bin is over.
    #[inline]
    pub fn is_over(&self, now: Instant) -> bool {
        now > self.bin_end
    }

    /// The bin is over: keeps the sums of now. False, and nothing is known any more, if more than
    /// so many bins have passed.
    #[inline(never)]
    pub fn advance(&mut self, now: Instant, sent: Bytes, delivered: Bytes, most: u64) -> bool {
        // `search_update_bins()`: `passed_bins`, of which those without an ACK take the last sums.
        let passed = now.since(self.bin_end).0 / self.bin_duration.0.max(1) + 1;
        // neqo's reading of the draft's missed bins: too many of them, and SEARCH begins anew.
        if passed > most {
            *self = Self::NEW;
            return false;
        }
        let (last_sent, last_delivered) =
            (self.sent_at(self.curr_idx), self.delivered_at(self.curr_idx));
        // More than a whole ring of skipped bins says no more than one ring of them. The newest sum
        // stays as it is.
        let from = self.curr_idx.max((self.curr_idx + passed).saturating_sub(RING as u64));
        for skipped in from..self.curr_idx + passed {
            let at = slot(skipped);
            (self.sent[at], self.delivered[at]) = (last_sent, last_delivered);
        }
        self.curr_idx += passed;
        self.bin_end = self.bin_end + self.bin_duration * passed;
        let at = slot(self.curr_idx);
        (self.sent[at], self.delivered[at]) = (sent.0, delivered.0);
        true
    }

    /// Compares the last ten bins with ten an RTT before (section 3.2), if they reach so far back
    /// and anything had been sent.
    pub fn compare(
        &self,
        rtt: Span,
        reference: Reference,
        bounds: Bounds,
    ) -> Result<Found, Undecided> {
        if self.bin_duration == Span(0) {
            return Err(Undecided::WarmingUp);
        }
        // Section 3.2: `prev_idx = curr_idx - rtt / bin_duration`, and the fraction of a bin that
        // is left.
        let (back, part) = (rtt.0 / self.bin_duration.0, rtt.0 % self.bin_duration.0);
        let then = self.curr_idx.saturating_sub(back);
        let (first, most) = match bounds {
            Bounds::Draft => (WINDOW_BINS + 1, EXTRA_BINS),
            Bounds::Linux => (WINDOW_BINS, EXTRA_BINS - 1),
            Bounds::Linux4 => (WINDOW_BINS, EXTRA_BINS_4 - 1),
        };
        // `EXTRA_BINS`: an RTT that reaches farther back than the record.
        if back >= most {
            return Err(Undecided::RttInflated);
        }
        // `prev_idx` must have a whole window before it.
        if then < first {
            return Err(Undecided::WarmingUp);
        }
        let in_ten = |sums: &[u64; RING], last: u64| {
            let from = sums[slot(last.saturating_sub(WINDOW_BINS))];
            Bytes(sums[slot(last)].saturating_sub(from))
        };
        // Interpolated backwards, as `search_compute_sent_window()` and neqo do: between the two by
        // their shares of the bin, in the order that cannot fall below zero.
        let earlier = |sums: &[u64; RING]| {
            let (new, old) = (in_ten(sums, then), in_ten(sums, then.saturating_sub(1)));
            if new > old {
                old + (new - old).scaled(self.bin_duration.0 - part, self.bin_duration.0)
            } else {
                new + (old - new).scaled(part, self.bin_duration.0)
            }
        };
        // `prev_sent` of -09 and code 4.0; `2 * prev_delv` of -08 and code 3.
        let expected = match reference {
            Reference::Sent => earlier(&self.sent),
            Reference::TwiceDelivered => earlier(&self.delivered) * 2,
        };
        let delivered = in_ten(&self.delivered, self.curr_idx);
        match expected {
            Bytes(0) => Err(Undecided::NothingSent),
            expected => Ok(Found { delivered, expected }),
        }
    }

    /// Payload delivered in the newest bins that cover so many of the first RTT (section 3.3).
    pub fn delivered_in_first_rtts(&self, count: u64) -> Bytes {
        if self.bin_duration == Span(0) {
            return Bytes(0);
        }
        // `rtt_bins`, rounded up.
        let bins = (self.initial_rtt * count)
            .0
            .div_ceil(self.bin_duration.0)
            .min(WINDOW_BINS + EXTRA_BINS_4);
        let from = self.delivered_at(self.curr_idx.saturating_sub(bins));
        Bytes(self.delivered_at(self.curr_idx).saturating_sub(from))
    }

    /// Length of a bin.
    pub fn bin(&self) -> Span {
        self.bin_duration
    }

    /// Number of the newest sum.
    pub fn index(&self) -> u64 {
        self.curr_idx
    }

    fn sent_at(&self, index: u64) -> u64 {
        self.sent[slot(index)]
    }

    fn delivered_at(&self, index: u64) -> u64 {
        self.delivered[slot(index)]
    }
}

const fn slot(index: u64) -> usize {
    (index % RING as u64) as usize
}

/// Ten bins, 40 more, and a sum before them: 51, rounded up to a power of two.
const RING: usize = 64;

/// Bins of the window (section 3, `W`).
const WINDOW_BINS: u64 = 10;

/// Further bins to look back (`EXTRA_BINS`).
const EXTRA_BINS: u64 = 15;

/// Likewise in the authors' code 4.0 (`SEARCH_EXTRA_SENT_BINS`).
const EXTRA_BINS_4: u64 = 40;

/// The window in tenths of the first RTT: 3.5 of them (`WINDOW_SIZE`).
const WINDOW_TENTHS: u64 = 35;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const ANY: u64 = 10;

    fn at(us: u64) -> Instant {
        Instant(us * 1_000)
    }

    /// Bins of 35 ms, begun at 0.
    fn begun() -> SearchBins {
        let mut bins = SearchBins::NEW;
        bins.begin(at(0), Span(100 * MS), Bytes(0), Bytes(0));
        bins
    }

    /// Bins, each with what was sent and delivered in it.
    fn filled(each: &[(u64, u64)]) -> SearchBins {
        let (mut bins, mut sent, mut delivered) = (begun(), 0, 0);
        for (number, (more_sent, more_delivered)) in (1..).zip(each) {
            (sent, delivered) = (sent + more_sent, delivered + more_delivered);
            assert!(bins.advance(at(35_000 * number + 1), Bytes(sent), Bytes(delivered), ANY));
        }
        bins
    }

    #[test]
    fn ten_bins_are_three_and_a_half_of_the_first_rtt() {
        assert_eq!(begun().bin(), Span(35 * MS));
        let mut none = SearchBins::NEW;
        assert!(!none.has_begun());
        none.begin(at(0), Span(2), Bytes(0), Bytes(0));
        assert!(!none.has_begun(), "an RTT of 2 ns makes no bin");
    }

    #[test]
    fn a_bin_is_over_one_nanosecond_after_its_end() {
        let mut bins = begun();
        assert!(!bins.is_over(Instant(35 * MS)));
        assert!(bins.is_over(Instant(35 * MS + 1)));
        assert!(bins.advance(Instant(35 * MS + 1), Bytes(5), Bytes(3), ANY));
        assert_eq!((bins.index(), bins.sent_at(1), bins.delivered_at(1)), (1, 5, 3));
        assert!(!bins.is_over(Instant(70 * MS)));
    }

    #[test]
    fn skipped_bins_keep_the_last_sum_and_more_than_ten_begin_anew() {
        let mut bins = filled(&[(10, 8)]);
        // Bin 2 ends at 70 ms; 9 bins later, in the tenth.
        assert!(bins.advance(Instant((70 + 9 * 35) * MS), Bytes(50), Bytes(40), ANY));
        assert_eq!((bins.index(), bins.sent_at(11)), (11, 50));
        for skipped in 2..11 {
            assert_eq!((bins.sent_at(skipped), bins.delivered_at(skipped)), (10, 8));
        }
        let mut bins = filled(&[(10, 8)]);
        assert!(!bins.advance(Instant((70 + 10 * 35) * MS), Bytes(50), Bytes(40), ANY));
        assert!(!bins.has_begun());
    }

    #[test]
    fn as_many_skipped_bins_as_there_can_be_end() {
        let mut bins = begun();
        assert!(bins.advance(Instant(u64::MAX), Bytes(7), Bytes(7), u64::MAX));
        assert_eq!(bins.sent_at(bins.index()), 7);
        let found = bins.compare(Span(100 * MS), Reference::Sent, Bounds::Draft);
        assert_eq!(found, Err(Undecided::NothingSent));
    }

    #[test]
    fn it_looks_from_the_thirteenth_bin_on_and_less_than_fifteen_back() {
        let look = |count, rtt_ms: u64, bounds| {
            let found = filled(&[(10, 10); 60][..count]).compare(
                Span(rtt_ms * MS),
                Reference::Sent,
                bounds,
            );
            found.is_ok()
        };
        assert!(!look(12, 100, Bounds::Draft) && look(13, 100, Bounds::Draft));
        assert!(!look(11, 100, Bounds::Linux) && look(12, 100, Bounds::Linux));
        assert!(look(40, 524, Bounds::Draft), "14 bins");
        assert!(!look(40, 525, Bounds::Draft), "15 bins");
        assert!(!look(40, 600, Bounds::Draft), "17 bins");
        assert!(look(40, 489, Bounds::Linux) && !look(40, 490, Bounds::Linux));
        assert!(!look(11, 100, Bounds::Linux4) && look(12, 100, Bounds::Linux4));
        // 38 bins back from the 60th; a ring of 51 sums holds them.
        assert!(look(60, 1_364, Bounds::Linux4) && !look(60, 1_365, Bounds::Linux4));
    }

    #[test]
    fn it_says_why_it_does_not_decide() {
        let why = |each: &[(u64, u64)], rtt_ms: u64| {
            filled(each).compare(Span(rtt_ms * MS), Reference::Sent, Bounds::Linux4).err()
        };
        assert_eq!(why(&[(10, 10); 11], 100), Some(Undecided::WarmingUp));
        assert_eq!(why(&[(10, 10); 12], 100), None);
        assert_eq!(why(&[(10, 10); 12], 1_365), Some(Undecided::RttInflated));
        assert_eq!(why(&[(0, 0); 12], 100), Some(Undecided::NothingSent));
        let sent = SearchBins::NEW.compare(Span(1), Reference::Sent, Bounds::Draft);
        assert_eq!(sent, Err(Undecided::WarmingUp));
    }

    #[test]
    fn the_sums_of_the_farthest_comparison_are_kept() {
        // Of 60 bins, in which ever more is sent, the 38th before the last and the ten before it.
        let each: [(u64, u64); 60] = core::array::from_fn(|at| (at as u64 + 1, 1));
        let found = filled(&each).compare(Span(38 * 35 * MS), Reference::Sent, Bounds::Linux4);
        let expected = Bytes((13..=22).sum());
        assert_eq!(found, Ok(Found { delivered: Bytes(10), expected }));
    }

    #[test]
    fn what_was_sent_is_taken_at_the_rtt_between_two_bins() {
        // 100 ms are two bins and 6/7: bin 11 counts for 1/7, bin 10 for 6/7.
        let mut each = [(0, 0); 13];
        each[10] = (700, 0);
        let found = filled(&each).compare(Span(100 * MS), Reference::Sent, Bounds::Draft);
        assert_eq!(found.map(|found| found.expected), Ok(Bytes(100)));
        let mut each = [(0, 0); 13];
        each[9] = (700, 0);
        let found = filled(&each).compare(Span(100 * MS), Reference::Sent, Bounds::Draft);
        assert_eq!(found.map(|found| found.expected), Ok(Bytes(700)), "in both");
        // Bin 1 has left ten bins at bin 11, and is in them at bin 10.
        let mut each = [(0, 0); 13];
        each[0] = (700, 0);
        let found = filled(&each).compare(Span(100 * MS), Reference::Sent, Bounds::Draft);
        assert_eq!(found.map(|found| found.expected), Ok(Bytes(600)));
    }

    #[test]
    fn version_eight_expects_twice_what_was_delivered() {
        let bins = filled(&[(30, 10); 20]);
        let compare = |reference| bins.compare(Span(100 * MS), reference, Bounds::Draft);
        let found = compare(Reference::TwiceDelivered);
        assert_eq!(found, Ok(Found { delivered: Bytes(100), expected: Bytes(200) }));
        let found = compare(Reference::Sent);
        assert_eq!(found, Ok(Found { delivered: Bytes(100), expected: Bytes(300) }));
    }

    #[test]
    fn the_first_rtt_is_three_bins_and_two_of_them_six() {
        let bins = filled(&[(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64)]);
        assert_eq!(bins.delivered_in_first_rtts(1), Bytes(16 + 32 + 64));
        assert_eq!(bins.delivered_in_first_rtts(2), Bytes(127 - 1));
        assert_eq!(SearchBins::NEW.delivered_in_first_rtts(1), Bytes(0));
        let reaches = filled(&[(0, 1); 60]).delivered_in_first_rtts(100);
        assert_eq!(reaches, Bytes(50), "10 bins and 40 more are kept");
    }
}
