//! Hybla's slow start (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous
//! networks", International Journal of Satellite Communications and Networking, 2004), as Linux has
//! it (`tcp_hybla.c`).
//!
//! What it believes: a long RTT is no reason to send more slowly. What it does: each ACK adds
//! `2^rho - 1` segments ([`crate::estimate::rho`]), so that after the same time the rate is that of
//! a connection whose RTT is 25 ms; the window stops at ssthresh. At an RTT of 25 ms or less this
//! is slow start.
//!
//! Published: all of it. `2^rho` is taken in 128ths of a segment with rho in eighths, and what is
//! left over is carried to the next ACK, as in Linux.
//!
//! Departures: Linux begins with a window of rho segments; here the first window is the endpoint's,
//! as it is chosen before an RTT is known. The paper scales ssthresh by rho too; Linux does not.
//! With an ACK per segment the window multiplies by `2^rho` per RTT: at 600 ms rho is 24, cut to
//! 16, and still nothing holds the growth but what the flight justifies and ssthresh. Set
//! `rho_max`, or ssthresh, on such a path.

use crate::card::{Card, Listed};
use crate::estimate::rho::Rho;
use crate::event::Ack;
use crate::knob::{KnobOf, Knobs};
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::units::{Bytes, mul_div};
use crate::view::{View, Window};

/// Slow start at the pace of a connection with a short RTT.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hybla {
    opening: Opening,
    rho: Rho,
    /// What the division left (`snd_cwnd_cents`), in 128ths of a byte.
    snd_cwnd_cents: u64,
}

impl Listed for Hybla {
    const CARD: Card = Card::new(
        "hybla",
        "slow start at the pace of a connection of 25 ms",
        "Caini and Firrincieli, 2004; Linux tcp_hybla.c",
    )
    .with("hybla")
    .about(
        "The RTT beside one of 25 ms.",
        "A long RTT is no reason to send more slowly.",
        "From 100 ms on it multiplies the window by 16 and more in a round and ends in a loss of \
         most of it; below 25 ms it is slow start.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Hybla {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.rho.on_ack(ack, view);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("hybla_rho_eighths", self.rho.eighths());
    }
}

impl Startup for Hybla {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    #[inline]
    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        // `hybla_cong_avoid()`: `2^rho - 1` segments per ACK, fractions carried, and cwnd stops at
        // ssthresh.
        let share = mul_div(view.mss.0, increase(self.rho.eighths()), 1)
            .saturating_add(self.snd_cwnd_cents);
        self.snd_cwnd_cents = share % UNIT;
        window.grow_to_threshold(Bytes(share / UNIT))
    }
}

impl Knobs for Hybla {
    const ROWS: &'static [KnobOf<Self>] =
        &[opening(|p| &mut p.opening), KnobOf::part(Rho::KNOBS, |p| &mut p.rho)];
}

/// `2^rho - 1` in 128ths of a segment, rho in eighths and at most 128 of them.
fn increase(eighths: u64) -> u64 {
    // `hybla_fraction()`, shifted by the whole part of rho, 16 at the most.
    let fraction = FRACTIONS[(eighths % 8) as usize];
    (fraction << (eighths / 8).min(16)) - UNIT
}

/// `2^(k/8)` in 128ths, rounded down.
const FRACTIONS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

/// One segment in the unit of the increase.
const UNIT: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};
    use crate::units::Span;

    fn grown(srtt_ms: u64) -> u64 {
        let mut policy = Hybla::default();
        let mut view = view(100, Bytes::MAX);
        view.rtt.smoothed = Span::from_millis(srtt_ms);
        let ack = ack(&view, 1);
        policy.on_ack(&ack, &view);
        (policy.step(&ack, &view).window.cwnd - view.window.cwnd).0
    }

    #[test]
    fn an_ack_adds_two_to_the_rho_minus_one_segments() {
        assert_eq!([grown(10), grown(25), grown(50), grown(100)], [1_000, 1_000, 3_000, 15_000]);
        // rho = 1.5: 2^1.5 = 2.828, in 128ths 2 * 181 = 362, less 128: 1.828.
        assert_eq!(grown(38), 1_828);
    }

    #[test]
    fn what_the_division_leaves_goes_to_the_next_ack() {
        let mut policy = Hybla::default();
        let mut view = view(100, Bytes::MAX);
        view.rtt.smoothed = Span::from_millis(38);
        let ack = ack(&view, 1);
        policy.on_ack(&ack, &view);
        assert_eq!(crate::testing::gauge(&policy, "hybla_rho_eighths"), Some(12), "38 ms / 25 ms");
        // 234 / 128 of a segment are 1828.125 bytes.
        let grown = (0..8).map(|_| (policy.step(&ack, &view).window.cwnd - view.window.cwnd).0);
        assert_eq!(grown.sum::<u64>(), 14_625);
    }

    #[test]
    fn the_window_stops_at_ssthresh() {
        let mut policy = Hybla::default();
        let mut view = view(100, MSS * 107);
        view.rtt.smoothed = Span::from_millis(100);
        let ack = ack(&view, 1);
        policy.on_ack(&ack, &view);
        let step = policy.step(&ack, &view);
        assert_eq!(step.window.cwnd, MSS * 107);
        assert!(step.exit.is_some());
    }
}
