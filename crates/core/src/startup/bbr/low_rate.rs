//! What losses leave of the rate in quiche's Startup (`bandwidth_lo`, `InflightReduction`): each
//! ACK that finds losses takes their share of what was in flight off it, but no more than leaves
//! the pace at 1.25 times the rate of the newest sample, and in a round no more than 30 %. In a
//! round with losses the pace follows it down; else the pace of Startup never falls.

use crate::knob::RATIO_ONE;
use crate::units::{Bytes, Rate};

/// The bound, if losses have set one.
#[derive(Clone, Copy, Debug)]
pub(super) struct LowRate {
    low: Option<Rate>,
    /// The bound before the losses of this round.
    prior: Option<Rate>,
    /// The rate of the newest sample.
    newest: Rate,
    /// This round has lost something.
    lossy: bool,
}

impl LowRate {
    pub(super) const NONE: Self = Self { low: None, prior: None, newest: Rate(0), lossy: false };

    /// An ACK with the rate of its sample; whether a round ends with it.
    pub(super) fn on_ack(&mut self, rate: Option<Rate>, ends_round: bool) {
        self.newest = rate.unwrap_or(self.newest);
        if !ends_round {
            return;
        }
        // quiche: no more than `beta` of 0.3 in a round.
        self.lossy = false;
        if let (Some(low), Some(prior)) = (&mut self.low, self.prior.take()) {
            *low = prior.scaled(KEPT, RATIO_ONE).max(*low);
        }
    }

    /// `lost` of `flight` was found lost, where the largest rate was `most`.
    pub(super) fn lose(&mut self, lost: Bytes, flight: Bytes, most: Rate, gain: u64) {
        // quiche's `InflightReduction`: the share of the flight that was lost, down to 1.25 times
        // the newest sample.
        let low = self.low.unwrap_or(most);
        self.prior.get_or_insert(low);
        self.lossy = true;
        let rest = low.scaled((flight - lost).0, flight.0.max(1));
        self.low = Some(rest.max(self.newest.scaled(FLOOR, gain.max(1))));
    }

    /// Whether this round has lost something.
    pub(super) fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// The rate, bounded.
    pub(super) fn bound(&self, rate: Rate) -> Rate {
        self.low.map_or(rate, |low| rate.min(low))
    }
}

/// What a round leaves at the least, in millionths (`beta` 0.3).
const KEPT: u64 = 700_000;

/// Pace at the least, in rates of the newest sample, in millionths (`full_bw_threshold`).
const FLOOR: u64 = 1_250_000;

#[cfg(test)]
mod tests {
    use super::*;

    const GAIN: u64 = 2_500_000;
    const MOST: Rate = Rate(1_000_000);

    #[test]
    fn losses_take_their_share_of_the_flight_and_a_round_keeps_seven_tenths() {
        let mut low = LowRate::NONE;
        low.on_ack(Some(Rate(200_000)), false);
        assert_eq!((low.bound(MOST), low.is_lossy()), (MOST, false));
        low.lose(Bytes(10), Bytes(100), MOST, GAIN);
        assert_eq!((low.bound(MOST), low.is_lossy()), (Rate(900_000), true));
        low.lose(Bytes(50), Bytes(100), MOST, GAIN);
        assert_eq!(low.bound(MOST), Rate(450_000));
        low.on_ack(None, true);
        assert_eq!((low.bound(MOST), low.is_lossy()), (Rate(700_000), false));
        assert_eq!(low.bound(Rate(600_000)), Rate(600_000));
    }

    #[test]
    fn the_pace_stays_above_the_newest_rate() {
        let mut low = LowRate::NONE;
        low.on_ack(Some(Rate(800_000)), true);
        low.on_ack(None, false);
        low.lose(Bytes(90), Bytes(100), MOST, GAIN);
        assert_eq!(low.bound(MOST), Rate(400_000), "half the newest, which the gain makes 1.25");
    }
}
