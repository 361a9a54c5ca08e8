//! A rate that changes at given times: steps, a fade, an outage (a rate of 0), once or again and
//! again. A packet that is being sent as the rate changes goes on at the new one.

use firstflight_core::units::{Instant, Span};

use super::Element;
use super::steps::{ScheduleProblem, Steps};

/// The rate of a link over time, instead of the link's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSchedule {
    /// In bits per second.
    rates: Steps<u64>,
}

impl RateSchedule {
    /// The rates in bits per second.
    ///
    /// # Errors
    /// If no rate is above 0.
    pub fn new(rates: Steps<u64>) -> Result<Self, ScheduleProblem> {
        if rates.values().all(|rate| rate == 0) {
            return Err(ScheduleProblem::Zero);
        }
        Ok(Self { rates })
    }
}

impl Element for RateSchedule {
    fn sent_at(&mut self, bytes: u64, start: Instant) -> Option<Instant> {
        // In bits times 1e9, so that a rate times nanoseconds counts exactly.
        let mut left = u128::from(bytes) * 8 * SECOND;
        let mut now = start;
        loop {
            let (rate, ends) = self.rates.at(now);
            let can = u128::from(rate) * u128::from(ends.since(now).0);
            if can >= left && rate > 0 {
                return Some(now + Span(left.div_ceil(u128::from(rate)) as u64));
            }
            if ends == Instant(u64::MAX) {
                return Some(ends);
            }
            left -= can;
            now = ends;
        }
    }
}

/// Nanoseconds.
const SECOND: u128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    fn schedule(
        steps: Vec<(Instant, u64)>,
        period: Option<Span>,
    ) -> Result<RateSchedule, ScheduleProblem> {
        RateSchedule::new(Steps::new(steps, period)?)
    }

    #[test]
    fn a_packet_goes_on_at_the_new_rate_and_waits_for_the_end_of_an_outage() {
        // 8 Mbit/s are 1000 bytes a millisecond; nothing from 10 to 30 ms; then a quarter.
        let steps = vec![(ms(0), 8_000_000), (ms(10), 0), (ms(30), 2_000_000)];
        let mut rate = schedule(steps, None).unwrap();
        assert_eq!(rate.sent_at(1_000, ms(0)), Some(ms(1)));
        assert_eq!(rate.sent_at(1_000, ms(9)), Some(ms(10)), "just before the outage");
        assert_eq!(rate.sent_at(1_000, ms(15)), Some(ms(34)));
        // 500 bytes before the outage and 500 after it.
        assert_eq!(rate.sent_at(1_000, Instant(9_500_000)), Some(ms(32)));
    }

    #[test]
    fn with_a_period_it_begins_again() {
        // 200 ms dead every 2 s.
        let steps = vec![(ms(0), 8_000_000), (ms(1_800), 0)];
        let mut rate = schedule(steps, Some(Span::from_millis(2_000))).unwrap();
        assert_eq!(rate.sent_at(1_000, ms(1_800)), Some(ms(2_001)));
        assert_eq!(rate.sent_at(1_000, ms(5_900)), Some(ms(6_001)));
        assert_eq!(rate.sent_at(3_000_000, ms(0)), Some(ms(3_200)), "over an outage");
    }

    #[test]
    fn what_ends_without_a_rate_sends_nothing_more() {
        let steps = vec![(ms(0), 8_000_000), (ms(10), 0)];
        let mut rate = schedule(steps, None).unwrap();
        assert_eq!(rate.sent_at(1, ms(11)), Some(Instant(u64::MAX)));
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        let refused = |steps: &[(u64, u64)], period: Option<u64>| {
            let steps = steps.iter().map(|(at, rate)| (ms(*at), *rate)).collect();
            schedule(steps, period.map(Span::from_millis)).unwrap_err()
        };
        assert_eq!(refused(&[], None), ScheduleProblem::Empty);
        assert_eq!(refused(&[(1, 5)], None), ScheduleProblem::Order);
        assert_eq!(refused(&[(0, 5), (0, 6)], None), ScheduleProblem::Order);
        assert_eq!(refused(&[(0, 5), (9, 6)], Some(9)), ScheduleProblem::Period);
        assert_eq!(refused(&[(0, 0)], Some(9)), ScheduleProblem::Zero);
    }
}
