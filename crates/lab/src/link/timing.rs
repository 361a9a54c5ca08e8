//! Whether what was measured over the link is worth reading, and if not, why: the link was late, or
//! a hypervisor took processors away, because stolen time makes every process late.

use serde::Serialize;

use super::LinkReport;

/// Whether what was measured is worth reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// 99 % of the packets were late by at most 1 % of the round trip, and none by a quarter; at
    /// most 1 % of the processors' time was stolen.
    #[default]
    Valid,
    /// 99 % by at most 5 %, and none by a whole round trip; at most 5 % was stolen.
    Degraded,
    /// By more, or the kernel lost packets on the way to the link.
    Invalid,
}

impl Timing {
    /// As results name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Degraded => "degraded",
            Self::Invalid => "invalid",
        }
    }
}

impl LinkReport {
    /// The verdict for a path of this round trip.
    pub fn timing(&self, rtt_ns: u64) -> Timing {
        self.own_timing(rtt_ns).max(self.machine_timing())
    }

    /// Why it is not valid for a path of this round trip; `None` if it is.
    pub fn disturbance(&self, rtt_ns: u64) -> Option<String> {
        let late = (self.own_timing(rtt_ns) > Timing::Valid).then(|| {
            format!(
                "1 % of the packets were late by more than {:.1} ms, one by {:.1} ms, {} were \
                 never read",
                self.lateness.p99_us / 1e3,
                self.lateness.max_us / 1e3,
                self.overruns
            )
        });
        let stolen = (self.machine_timing() > Timing::Valid).then(|| {
            format!("{:.1} % of the processors' time was stolen", 100.0 * self.stolen_share)
        });
        let reasons: Vec<String> = [late, stolen].into_iter().flatten().collect();
        let timing = self.timing(rtt_ns).name();
        (!reasons.is_empty()).then(|| format!("timing {timing}: {}", reasons.join("; ")))
    }

    fn own_timing(&self, rtt_ns: u64) -> Timing {
        let late = &self.lateness;
        // A busy machine's timers are not good enough for a shorter round trip.
        let rtt_us = (rtt_ns as f64 / 1e3).max(SHORTEST_RTT_US);
        if self.overruns > 0 || late.p99_us > INVALID * rtt_us || late.max_us > rtt_us {
            Timing::Invalid
        } else if late.p99_us > DEGRADED * rtt_us || late.max_us > STALL * rtt_us {
            Timing::Degraded
        } else {
            Timing::Valid
        }
    }

    /// Processors are kept from sleeping, so the share of their time that is stolen is the chance
    /// that what happens at any moment, in either kernel or in the link, meets one that is away.
    fn machine_timing(&self) -> Timing {
        match self.stolen_share {
            share if share > INVALID => Timing::Invalid,
            share if share > DEGRADED => Timing::Degraded,
            _ => Timing::Valid,
        }
    }
}

/// Shares of the round trip that 99 % of the packets may be late, and of the processors' time that
/// may be stolen.
const DEGRADED: f64 = 0.01;
const INVALID: f64 = 0.05;
/// One stall this long makes a burst, and the burst drops that no path would have made.
const STALL: f64 = 0.25;
const SHORTEST_RTT_US: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::super::LatenessReport;
    use super::*;

    const MS: u64 = 1_000_000;

    fn late(lateness: LatenessReport) -> LinkReport {
        LinkReport { lateness, ..LinkReport::default() }
    }

    #[test]
    fn the_verdict_follows_the_round_trip() {
        let slow = late(LatenessReport { p99_us: 1_500.0, ..LatenessReport::default() });
        assert_eq!(slow.timing(200 * MS), Timing::Valid);
        assert_eq!(slow.timing(100 * MS), Timing::Degraded);
        assert_eq!(slow.timing(20 * MS), Timing::Invalid);
        let stalled = late(LatenessReport { max_us: 30_000.0, ..LatenessReport::default() });
        assert_eq!(stalled.timing(200 * MS), Timing::Valid);
        assert_eq!(stalled.timing(100 * MS), Timing::Degraded);
        assert_eq!(stalled.timing(20 * MS), Timing::Invalid);
        let overrun = LinkReport { overruns: 1, ..LinkReport::default() };
        assert_eq!(overrun.timing(200 * MS), Timing::Invalid);
    }

    #[test]
    fn time_that_was_stolen_is_no_better_than_a_late_link() {
        let timing =
            |stolen_share| LinkReport { stolen_share, ..LinkReport::default() }.timing(200 * MS);
        assert_eq!(
            [0.009, 0.011, 0.051].map(timing),
            [Timing::Valid, Timing::Degraded, Timing::Invalid]
        );
    }

    #[test]
    fn what_is_not_valid_says_why() {
        let slow = late(LatenessReport { p99_us: 1_500.0, ..LatenessReport::default() });
        let both = LinkReport { stolen_share: 0.06, ..slow.clone() };
        let late = "1 % of the packets were late by more than 1.5 ms, one by 0.0 ms, \
                    0 were never read";
        let stolen = "6.0 % of the processors' time was stolen";
        assert_eq!(slow.disturbance(200 * MS), None);
        assert_eq!(slow.disturbance(100 * MS), Some(format!("timing degraded: {late}")));
        assert_eq!(both.disturbance(200 * MS), Some(format!("timing invalid: {stolen}")));
        assert_eq!(both.disturbance(100 * MS), Some(format!("timing invalid: {late}; {stolen}")));
    }
}
