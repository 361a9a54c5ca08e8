//! The range of values that ns-2 gives at a point when nothing that matters is changed.
//!
//! ns-2 keeps time as a float of 64 bits, in seconds. When a packet arrives in the instant in which
//! another leaves, rounding decides whether it finds room, and rounding changes with the power of
//! two that the clock has passed. So ns-2 gives other values when all flows start a second later,
//! or each up to a millisecond later, though nothing about the path or the flows has changed. A
//! difference within the range of these values says nothing about firstflight.

use serde::Serialize;

use super::measured::OracleRun;
use super::peers::Peers;
use super::point::Point;
use crate::Stop;

/// The lowest and highest values at one point, over runs with other starting times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Range {
    lowest_percent: f64,
    highest_percent: f64,
    /// A run lost no packet.
    without_losses: bool,
    /// A run lost one.
    with_losses: bool,
}

impl Range {
    /// Runs ns-2 at the point as given and with other beginnings.
    pub(crate) fn of(point: &Point, peers: &Peers, as_given: &OracleRun) -> Result<Self, Stop> {
        let mut range = Self::one(as_given);
        for later in LATER_S {
            let shifted = point.begun_later(|_| later, later);
            let mut measured = peers.ns2(&shifted)?;
            measured.utilization_percent *= shifted.number("dur") / point.number("dur");
            range.add(&measured);
        }
        for run in 1..=NEARBY_RUNS {
            let within_a_millisecond =
                |flow: usize| ((run * 7919 + flow * 104_729) % 1000) as f64 * 1e-6;
            range.add(&peers.ns2(&point.begun_later(within_a_millisecond, 0.0))?);
        }
        Ok(range)
    }

    fn one(measured: &OracleRun) -> Self {
        let (lowest_percent, highest_percent) =
            (measured.utilization_percent, measured.utilization_percent);
        let without_losses = measured.drops == 0;
        Self { lowest_percent, highest_percent, without_losses, with_losses: !without_losses }
    }

    fn add(&mut self, measured: &OracleRun) {
        let other = Self::one(measured);
        self.lowest_percent = self.lowest_percent.min(other.lowest_percent);
        self.highest_percent = self.highest_percent.max(other.highest_percent);
        self.without_losses |= other.without_losses;
        self.with_losses |= other.with_losses;
    }

    /// Whether a measurement lies within `margin` percentage points of the range, and has losses or
    /// has none as some run has.
    pub(crate) fn holds(&self, measured: &OracleRun, margin: f64) -> bool {
        let near = self.lowest_percent - margin..=self.highest_percent + margin;
        let losses = if measured.drops == 0 { self.without_losses } else { self.with_losses };
        near.contains(&measured.utilization_percent) && losses
    }

    /// The text of the range in the table.
    pub(crate) fn text(&self) -> String {
        format!("ns-2 itself {:.2} to {:.2}", self.lowest_percent, self.highest_percent)
    }
}

/// How much later the run begins, in seconds: whole ticks of ns-2's TCP clock of 10 ms, so that the
/// timers keep their phases.
const LATER_S: [f64; 10] = [0.01, 0.03, 0.1, 0.25, 0.5, 0.9, 1.3, 2.1, 4.6, 8.5];

/// Runs with every flow up to a millisecond later.
const NEARBY_RUNS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(utilization_percent: f64, drops: u64) -> OracleRun {
        OracleRun { utilization_percent, drops, retransmitted: drops, timeouts: 0, jain: 1.0 }
    }

    #[test]
    fn a_range_holds_what_lies_near_it_and_loses_as_it_does() {
        let mut range = Range::one(&measured(50.0, 3));
        range.add(&measured(60.0, 7));
        assert!(range.holds(&measured(55.0, 1), 2.0));
        assert!(range.holds(&measured(61.9, 1), 2.0));
        assert!(!range.holds(&measured(62.1, 1), 2.0));
        assert!(!range.holds(&measured(47.9, 1), 2.0));
        assert!(!range.holds(&measured(55.0, 0), 2.0), "no run is without losses");
        range.add(&measured(60.0, 0));
        assert!(range.holds(&measured(55.0, 0), 2.0));
    }
}
