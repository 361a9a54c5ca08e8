//! When start-up ended, by what was in flight: a capture shows no window.

use firstflight_qlog::Limit;

use super::limits::{LimitIntervals, kb};

/// Rounds, and how much was in flight in each.
///
/// Start-up ends with the first packet that is sent again, or when three rounds in a row have no
/// more in flight than a quarter above the best before: the rule by which BBR takes a path for full
/// (draft-ietf-ccwg-bbr, section 5.3.1.2), of what is in flight instead of the rate. Rounds in
/// which something else held the sender back do not count, nor do those of a long [`Flat`] run.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// The round is over when this much is acknowledged.
    until: u64,
    round: Round,
    /// Rounds since data left last, and when each was over: if the application paused then, it had
    /// no more to send in them.
    ended: Vec<(Round, u64)>,
    /// The most in flight in a round that counted as growth, bytes, and when that round was over.
    best: (u64, u64),
    /// Rounds since.
    without_growth: u32,
    flat: Option<Flat>,
    /// How it ended.
    pub(crate) end: Option<End>,
}

/// How start-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) at_ns: u64,
    pub(crate) reason: &'static str,
    /// The most that was in flight until then, bytes.
    pub(crate) flight: u64,
}

/// What was seen in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    begin_ns: u64,
    /// The most in flight, bytes.
    most: u64,
    /// The smallest RTT.
    rtt_ns: Option<u64>,
    /// The largest window that the receiver offered, bytes, if that is known.
    window: Option<u64>,
    /// The receiver's window had no room.
    full_window: bool,
    /// Something was sent again.
    lossy: bool,
}

/// Rounds in a row with as much in flight, to two segments, and nothing lost.
#[derive(Clone, Copy, Debug)]
struct Flat {
    rounds: u32,
    from_ns: u64,
    to_ns: u64,
    least: u64,
    most: u64,
    /// The largest of the rounds' smallest RTTs.
    rtt_ns: u64,
    window: Option<u64>,
}

impl Rounds {
    /// Data leave, so that so much is in flight.
    pub(crate) fn sent(
        &mut self,
        at_ns: u64,
        flight: u64,
        path: Path,
        limits: &mut LimitIntervals,
    ) {
        for (round, at_ns) in std::mem::take(&mut self.ended) {
            self.over(round, at_ns, path, limits);
        }
        if self.round.most == 0 {
            self.round.begin_ns = at_ns;
        }
        self.round.most = self.round.most.max(flight);
    }

    /// The application had paused: the rounds before have as much as it had.
    pub(crate) fn paused(&mut self, path: Path, limits: &mut LimitIntervals) {
        self.ended.clear();
        self.end_flat(path, limits);
    }

    /// A packet was sent again.
    pub(crate) fn lost(&mut self, at_ns: u64) {
        self.round.lossy = true;
        let flight = self.round.most.max(self.best.0);
        self.end.get_or_insert(End { at_ns, reason: LOSS, flight });
    }

    /// The receiver's window had no room.
    pub(crate) fn full_window(&mut self) {
        self.round.full_window = true;
    }

    /// Takes the RTT and the window of an ACK.
    pub(crate) fn take_sample(&mut self, rtt_ns: Option<u64>, window: Option<u64>) {
        let round = &mut self.round;
        round.rtt_ns = round.rtt_ns.into_iter().chain(rtt_ns).min();
        round.window = round.window.max(window);
    }

    /// So much is acknowledged of what was sent.
    pub(crate) fn acked(&mut self, at_ns: u64, acked: u64, sent: u64) {
        if acked >= self.until {
            self.until = sent;
            self.ended.push((std::mem::take(&mut self.round), at_ns));
        }
    }

    fn over(&mut self, round: Round, at_ns: u64, path: Path, limits: &mut LimitIntervals) {
        self.is_flat(&round, at_ns, path, limits);
        if round.most == 0 || round.full_window {
            return;
        }
        if round.most > self.best.0 + self.best.0 / 4 || self.best.0 == 0 {
            (self.best, self.without_growth) = ((round.most, at_ns), 0);
            return;
        }
        self.without_growth += 1;
        if self.without_growth >= IDLE && self.best.0 > FIRST_WINDOW * path.segment {
            let flight = self.best.0.max(round.most);
            self.end.get_or_insert(End { at_ns: self.best.1, reason: GREW, flight });
        }
    }

    /// Adds a round to the flat run, or begins another one.
    fn is_flat(&mut self, round: &Round, at_ns: u64, path: Path, limits: &mut LimitIntervals) {
        let rtt_ns = round.rtt_ns.filter(|_| !round.lossy && !round.full_window && round.most > 0);
        let Some(rtt_ns) = rtt_ns else { return self.end_flat(path, limits) };
        if let Some(flat) = &mut self.flat {
            let (least, most) = (flat.least.min(round.most), flat.most.max(round.most));
            if most - least <= 2 * path.segment {
                (flat.least, flat.most, flat.to_ns) = (least, most, at_ns);
                flat.rounds += 1;
                flat.rtt_ns = flat.rtt_ns.max(rtt_ns);
                flat.window = flat.window.max(round.window);
                return;
            }
            self.end_flat(path, limits);
        }
        let (least, most, window) = (round.most, round.most, round.window);
        let (from_ns, to_ns) = (round.begin_ns, at_ns);
        self.flat = Some(Flat { rounds: 1, from_ns, to_ns, least, most, rtt_ns, window });
    }

    /// Ends the flat run. If it was long, and no queue had formed, something other than the path
    /// and the congestion window kept the sender there.
    pub(crate) fn end_flat(&mut self, path: Path, limits: &mut LimitIntervals) {
        let Some(flat) = self.flat.take() else { return };
        let near_ns = path.least_rtt_ns + path.least_rtt_ns / 10 + JITTER_NS;
        if flat.rounds < FLAT || flat.rtt_ns > near_ns {
            return;
        }
        // A plateau of so many rounds was none of start-up.
        self.end = self.end.filter(|end| end.reason == LOSS || end.at_ns < flat.from_ns);
        let Some(window) = flat.window else { return };
        let begin = format!(
            "{} were in flight in each of {} rounds, nothing was lost and the RTT was at its least",
            kb(flat.most),
            flat.rounds
        );
        let (by, end) = if flat.most > window / 3 * 2 {
            (Limit::Receiver, "which Linux may use to two thirds only")
        } else {
            (Limit::SendBuffer, "so that the sender's buffer, or the application, held no more")
        };
        let why = format!("{begin}; the receiver offered {}, {end}", kb(window));
        limits.flat(by, flat.from_ns, flat.to_ns, why);
    }
}

/// What is known of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) least_rtt_ns: u64,
    /// The payload of a full segment.
    pub(crate) segment: u64,
}

const LOSS: &str = "loss";
const GREW: &str = "flight no longer grew";
/// Rounds without growth that end start-up.
const IDLE: u32 = 3;
/// Rounds with as much in flight that no congestion control keeps to: BBR keeps to a rate for six
/// of eight rounds (the gain cycle of draft-cardwell-iccrg-bbr-congestion-control-00), and
/// congestion avoidance adds a segment in each (RFC 5681, section 3.1).
const FLAT: u32 = 10;
/// Segments of the first window (RFC 6928). No start-up ends below it without a loss: less in
/// flight is what there was to send.
const FIRST_WINDOW: u64 = 10;
/// What an RTT may vary without a queue, nanoseconds, besides a tenth of it.
pub(crate) const JITTER_NS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { least_rtt_ns: 1_000_000, segment: 1 };

    /// One round after the other, each with so much in flight, an RTT and an offered window.
    fn after(flights: &[u64], rtt_ns: u64, window: Option<u64>) -> (Option<End>, LimitIntervals) {
        let (mut rounds, mut limits) = (Rounds::default(), LimitIntervals::default());
        let mut sent = 0;
        for (now, flight) in (0..).zip(flights) {
            sent += flight;
            rounds.sent(now, *flight, PATH, &mut limits);
            rounds.take_sample(Some(rtt_ns), window);
            rounds.acked(now + 1, sent, sent);
        }
        rounds.sent(99, 0, PATH, &mut limits);
        rounds.end_flat(PATH, &mut limits);
        (rounds.end, limits)
    }

    #[test]
    fn three_rounds_without_a_quarter_more_end_it_when_the_last_growth_was_over() {
        let end = after(&[10, 20, 40, 44, 45, 46], 1_000_000, None).0.unwrap();
        assert_eq!((end.at_ns, end.reason), (3, "flight no longer grew"));
        assert_eq!(after(&[5, 10, 10, 10, 10, 9], 1_000_000, None).0, None, "the first window");
        assert_eq!(after(&[10, 20, 40, 44, 45, 80], 1_000_000, None).0, None, "it grew again");
    }

    #[test]
    fn ten_flat_rounds_without_a_queue_are_no_end_of_start_up() {
        let flights = [&[10, 20, 40][..], &[44; 12]].concat();
        for (window, by) in
            [(Some(1000), Some(Limit::SendBuffer)), (Some(60), Some(Limit::Receiver)), (None, None)]
        {
            let (end, limits) = after(&flights, 1_050_000, window);
            assert_eq!(end, None, "{window:?}");
            let limits = limits.finish();
            assert_eq!(limits.intervals().first().map(|it| it.by), by, "{window:?}");
        }
        let (end, limits) = after(&flights, 1_300_000, Some(1000));
        assert_eq!(end.map(|end| end.at_ns), Some(3), "a queue: the path is full");
        assert!(limits.finish().intervals().is_empty());
    }

    #[test]
    fn what_is_sent_again_ends_it_with_the_most_until_then() {
        let mut rounds = Rounds::default();
        rounds.sent(1, 70, PATH, &mut LimitIntervals::default());
        rounds.lost(9);
        rounds.lost(12);
        assert_eq!(rounds.end, Some(End { at_ns: 9, reason: "loss", flight: 70 }));
    }
}
