//! When start-up ended, by what was in flight: a capture shows no window.

/// Rounds, and how much was in flight in each.
///
/// Start-up ends with the first packet that is sent again, or when three rounds in a row have no
/// more in flight than a quarter above the best before: the rule by which BBR takes a path for full
/// (draft-ietf-ccwg-bbr, section 5.3.1.2), of what is in flight instead of the rate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    /// The round is over when this much is acknowledged.
    until: u64,
    /// The most in flight in this round, bytes.
    most: u64,
    /// The most in flight in a round that counted as growth, bytes, and when that round was over.
    best: (u64, u64),
    /// Rounds since.
    without_growth: u32,
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

impl Rounds {
    /// Data left, so that so much is in flight.
    pub(crate) fn sent(&mut self, flight: u64) {
        self.most = self.most.max(flight);
    }

    /// A packet was sent again.
    pub(crate) fn lost(&mut self, at_ns: u64) {
        let flight = self.most.max(self.best.0);
        self.end.get_or_insert(End { at_ns, reason: "loss", flight });
    }

    /// So much is acknowledged, and so much was sent.
    pub(crate) fn acked(&mut self, at_ns: u64, acked: u64, sent: u64) {
        if acked < self.until {
            return;
        }
        self.until = sent;
        let most = std::mem::take(&mut self.most);
        if most == 0 {
            return;
        }
        if most > self.best.0 + self.best.0 / 4 || self.best.0 == 0 {
            (self.best, self.without_growth) = ((most, at_ns), 0);
            return;
        }
        self.without_growth += 1;
        if self.without_growth >= IDLE {
            let flight = self.best.0.max(most);
            let end = End { at_ns: self.best.1, reason: "flight no longer grew", flight };
            self.end.get_or_insert(end);
        }
    }
}

/// Rounds without growth that end start-up.
const IDLE: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// One round after the other, each with so much in flight.
    fn after(flights: &[u64]) -> Option<End> {
        let mut rounds = Rounds::default();
        let (mut sent, mut now) = (0, 0);
        for flight in flights {
            let before = sent;
            sent += flight;
            rounds.sent(*flight);
            now += 1;
            rounds.acked(now, before.max(1), sent);
            rounds.until = sent;
        }
        rounds.acked(now + 1, sent, sent);
        rounds.end
    }

    #[test]
    fn three_rounds_without_a_quarter_more_end_it_when_the_last_growth_was_over() {
        let end = after(&[10, 20, 40, 44, 45, 46]).unwrap();
        assert_eq!((end.at_ns, end.reason), (3, "flight no longer grew"));
        assert_eq!(after(&[10, 20, 40, 44, 45, 80]), None, "it grew again");
    }

    #[test]
    fn what_is_sent_again_ends_it_with_the_most_until_then() {
        let mut rounds = Rounds::default();
        rounds.sent(70);
        rounds.lost(9);
        rounds.lost(12);
        assert_eq!(rounds.end, Some(End { at_ns: 9, reason: "loss", flight: 70 }));
    }
}
