//! The delay of a busy WiFi cell, as the tests of C4 model it (draft-huitema-ccwg-c4-test): each
//! packet waits for a few frames of others, and some packets for a burst of collisions too. Packets
//! keep their order.
//!
//! ```text
//! delay = N1 ms + 7.5 N2 ms, less a uniform part of a millisecond where N1 >= 1
//! N1: Poisson with mean 1;  N2: Poisson with mean 12 for a share x of the packets, 0 for others
//! x = (mean - 1 ms) / 90 ms, from 0 to 1
//! ```

use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use super::card::{Card, Value, ValueKind};
use super::{Crossing, Element};
use crate::distributions::{poisson, uniform};

/// A delay of its own for each packet, in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wifi {
    /// The share of packets that meet a burst of collisions, from 0 to 1.
    hit: f64,
}

impl Wifi {
    /// The cell with this mean delay. Less than a millisecond counts as one, more than 91 ms as
    /// that.
    pub fn with_mean(mean: Span) -> Self {
        let over = mean.0 as f64 - MILLISECOND;
        Self { hit: (over / BURST).clamp(0.0, 1.0) }
    }
}

impl Element for Wifi {
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, random: &mut Pcg64Mcg) -> Instant {
        let frames = poisson(E_MINUS_1, random);
        let part = if frames > 0 { uniform(random) * MILLISECOND } else { 0.0 };
        let collisions = if uniform(random) < self.hit { poisson(E_MINUS_12, random) } else { 0 };
        let delay = frames as f64 * MILLISECOND - part + collisions as f64 * COLLISION;
        at + Span(delay as u64)
    }
}

/// `wifi = "20ms"`.
pub(super) const CARD: Card = Card {
    key: "wifi",
    values: &Value::only(ValueKind::Time),
    place: 4,
    not_back: None,
    words: |_, shown| format!("WiFi of {}", shown[0]),
    build: |values, _| Ok(Box::new(Wifi::with_mean(Span(values[0])))),
};

/// Nanoseconds.
const MILLISECOND: f64 = 1e6;
/// What one collision costs, in nanoseconds.
const COLLISION: f64 = 7.5e6;
/// The mean of a burst of them.
const BURST: f64 = 12.0 * COLLISION;
/// e^-1 and e^-12.
const E_MINUS_1: f64 = 0.367_879_441_171_442_33;
const E_MINUS_12: f64 = 6.144_212_353_328_21e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// Delays of 200,000 packets in milliseconds, in order.
    fn delays(mean_ms: u64) -> Vec<f64> {
        let mut wifi = Wifi::with_mean(Span::from_millis(mean_ms));
        let mut random = stream(1, 0);
        let packet = Crossing {
            at: Instant(0),
            bytes: 1_000,
            flow: 0,
            ecn_capable: false,
            marked: false,
            held: 0,
            waits: Span(0),
        };
        let mut delays: Vec<f64> = (0..200_000)
            .map(|_| wifi.pass_on(&packet, Instant(0), &mut random).0 as f64 / 1e6)
            .collect();
        delays.sort_by(f64::total_cmp);
        delays
    }

    /// The model's own mean is less than the one asked for by the part of a millisecond that is
    /// taken off: 0.5 (1 - 1/e) = 0.316 ms.
    #[test]
    fn mean_and_quantiles_are_those_of_the_formula() {
        for mean_ms in [1, 7, 50, 91] {
            let delays = delays(mean_ms);
            let mean = delays.iter().sum::<f64>() / delays.len() as f64;
            let expected = mean_ms as f64 - 0.316;
            assert!((mean - expected).abs() < 0.01 * expected + 0.05, "{mean_ms}: {mean}");
            // N1 is 0 for 1/e of the packets, and those without collisions are not late at all.
            let hit = ((mean_ms as f64 - 1.0) / 90.0).clamp(0.0, 1.0);
            let at_once = delays.iter().filter(|delay| **delay == 0.0).count() as f64 / 2e5;
            assert!((at_once - 0.3679 * (1.0 - hit)).abs() < 0.005, "{mean_ms}: {at_once}");
        }
        // Where all are hit, the median is that of 7.5 Poisson(12) and what frames add to it.
        let median = delays(91)[100_000];
        assert!((88.0..93.0).contains(&median), "{median}");
    }

    /// The probability that a packet is late by no more than `t` ms, by the formula: sums over N1
    /// and N2, and the uniform part as the share of a millisecond that fits.
    fn at_most(t: f64, hit: f64) -> f64 {
        let poisson =
            |mean: f64, n: u32| (1..=n).fold((-mean).exp(), |p, k| p * mean / f64::from(k));
        let after = |collisions: u32| {
            let left = t - 7.5 * f64::from(collisions);
            let none = if left >= 0.0 { poisson(1.0, 0) } else { 0.0 };
            let frames =
                (1..25).map(|n| poisson(1.0, n) * (left - f64::from(n) + 1.0).clamp(0.0, 1.0));
            none + frames.sum::<f64>()
        };
        let of =
            |n| if n == 0 { 1.0 - hit + hit * poisson(12.0, 0) } else { hit * poisson(12.0, n) };
        (0..60).map(|n| of(n) * after(n)).sum()
    }

    /// At each of these delays the share of 200,000 packets differs from the formula's by no more
    /// than four standard deviations, 0.0045.
    #[test]
    fn the_share_of_packets_up_to_any_delay_is_that_of_the_formula() {
        for mean_ms in [7, 50, 91] {
            let delays = delays(mean_ms);
            let hit = (mean_ms as f64 - 1.0) / 90.0;
            for t in [0.25, 0.5, 1.5, 3.0, 45.0, 75.0, 90.5, 105.0, 130.0] {
                let share = delays.partition_point(|delay| *delay <= t) as f64 / 2e5;
                let expected = at_most(t, hit);
                assert!((share - expected).abs() < 0.0045, "{mean_ms}, {t}: {share}, {expected}");
            }
        }
    }
}
