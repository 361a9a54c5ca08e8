//! A router's part in Quick-Start (RFC 4782): how much it has been carrying, and what it grants.
//!
//! The rule is that of ns-2.35's agent (`qsagent.cc`, algorithm 3, with its defaults). Its load is
//! the peak utilisation of the last second, over intervals of 0.2 s, plus what was granted in the
//! last 0.2 to 0.4 s. It grants what is missing to 85 % of the rate, no more than was asked for, as
//! one of the rates of the option, and refuses if nothing is missing.

use firstflight_core::units::Instant;

use super::load::Load;

/// One router of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickStart {
    rate_bps: u64,
    load: Load,
    /// Granted in the current interval and in the one before, in bits per second.
    granted: [u64; 2],
}

impl QuickStart {
    pub(super) fn new(rate_bps: u64) -> Self {
        Self { rate_bps, load: Load::default(), granted: [0; 2] }
    }

    /// A packet arrives. Times never go backwards.
    pub(super) fn carry(&mut self, at: Instant, bytes: u64) {
        self.advance(at);
        self.load.add(bytes);
    }

    /// A request for `asked` bits per second arrives: what is granted, 0 if nothing.
    pub(super) fn approve(&mut self, at: Instant, asked: u64) -> u64 {
        self.advance(at);
        let carried = self.load.peak_bps();
        let used = carried.saturating_add(self.granted[0]).saturating_add(self.granted[1]);
        let most = self.rate_bps / 100 * SHARE_PERCENT;
        let granted = encodable(asked.min(most.saturating_sub(used)));
        self.granted[0] += granted;
        granted
    }

    fn advance(&mut self, at: Instant) {
        match self.load.advance(at) {
            0 => {}
            1 => self.granted = [0, self.granted[0]],
            _ => self.granted = [0, 0],
        }
    }
}

/// The largest rate of the option that is no more: 40 kbit/s times 2 to 1 up to 15, or nothing.
fn encodable(bps: u64) -> u64 {
    (1..=15).rev().map(|n| 40_000_u64 << n).find(|rate| *rate <= bps).unwrap_or(0)
}

const SHARE_PERCENT: u64 = 85;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    #[test]
    fn an_idle_router_grants_a_rate_of_the_option_up_to_its_share() {
        // 85 % of 10 Mbit/s are 8.5; the option has 5.12 and 10.24.
        assert_eq!(QuickStart::new(10_000_000).approve(at(0), u64::MAX), 5_120_000);
        assert_eq!(QuickStart::new(10_000_000).approve(at(0), 1_280_000), 1_280_000);
        assert_eq!(QuickStart::new(80_000).approve(at(0), u64::MAX), 0);
    }

    #[test]
    fn what_was_granted_is_not_granted_again_at_once() {
        let mut router = QuickStart::new(10_000_000);
        let granted = [10, 20, 210, 610].map(|ms| router.approve(at(ms), u64::MAX));
        // 8.5 less 5.12 are 3.38, of which the option has 2.56; less 7.68 are 0.82, so 0.64.
        assert_eq!(granted, [5_120_000, 2_560_000, 640_000, 5_120_000]);
    }

    #[test]
    fn a_busy_router_refuses_and_forgets_after_a_second() {
        let mut router = QuickStart::new(10_000_000);
        // 8 Mbit/s for 0.2 s.
        router.carry(at(0), 200_000);
        assert_eq!(router.approve(at(100), u64::MAX), 320_000);
        let mut full = QuickStart::new(10_000_000);
        full.carry(at(0), 215_000);
        assert_eq!(full.approve(at(900), u64::MAX), 0);
        assert_eq!(full.approve(at(1_000), u64::MAX), 5_120_000);
    }
}
