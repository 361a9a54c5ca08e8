//! A propagation delay that changes at given times: another route, or another satellite.
//!
//! A packet takes the delay that holds as it leaves the link. Where the delay falls, packets that
//! left before are still under way: those behind them do not overtake them, and reach the far end
//! together with the last of them, as over a tunnel or a satellite's handover that delivers in
//! order. (Linux's `netem` lets them overtake.)

use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use super::steps::Steps;
use super::{Crossing, Element};

/// The delay of a link over time, the least of which is the link's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelaySchedule {
    delays: Steps<Span>,
    /// What the link itself delays each packet by.
    least: Span,
}

impl DelaySchedule {
    /// The delays of a link whose own is the least of them ([`DelaySchedule::least`]).
    pub fn new(delays: Steps<Span>) -> Self {
        Self { least: delays.values().min().unwrap_or_default(), delays }
    }

    /// The delay that the link itself must have.
    pub fn least(&self) -> Span {
        self.least
    }
}

impl Element for DelaySchedule {
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, _random: &mut Pcg64Mcg) -> Instant {
        let left = Instant(at.0.saturating_sub(self.least.0));
        let (delay, _) = self.delays.at(left);
        left + delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn a_packet_takes_the_delay_that_holds_as_it_leaves() {
        let ms = Span::from_millis;
        let steps = vec![(Instant(0), ms(15)), (Instant(1_000_000_000), ms(50))];
        let mut delays = DelaySchedule::new(Steps::new(steps, Some(ms(3_000))).unwrap());
        assert_eq!(delays.least(), ms(15));
        let (packet, mut random) = (Crossing::of(Instant(0), 1_000, 0), stream(1, 0));
        let mut reaches = |left_ms: u64| {
            let at = Instant(0) + ms(left_ms + 15);
            delays.pass_on(&packet, at, &mut random).0 / 1_000_000
        };
        assert_eq!(
            [0, 999, 1_000, 2_999, 3_000].map(&mut reaches),
            [15, 1_014, 1_050, 3_049, 3_015]
        );
    }
}
