//! Hybla's congestion avoidance (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for
//! heterogeneous networks", International Journal of Satellite Communications and Networking,
//! 2004), as Linux has it (`tcp_hybla.c`).
//!
//! What it believes: a long RTT is no reason to grow more slowly. What it does: each ACK adds
//! `rho^2 / W` segments ([`crate::estimate::rho`]), which is `rho^2` per RTT, so that the rate
//! grows by one segment per 25 ms in every 25 ms, whatever the RTT. At an RTT of 25 ms or less this
//! is RFC 5681's linear growth. A loss costs half.
//!
//! Departure: Linux cuts rho at 16 in slow start only; `rho_max` cuts it here too.

use crate::card::{Card, Listed};
use crate::estimate::rho::Rho;
use crate::event::{Ack, Loss};
use crate::knob::{KnobOf, Knobs};
use crate::linear::{LinearGrowth, halve};
use crate::policy::{Avoidance, Observer, Step};
use crate::view::{View, Window};

/// Linear growth at the pace of a connection with a short RTT.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hybla {
    rho: Rho,
    linear: LinearGrowth,
}

impl Listed for Hybla {
    const CARD: Card = Card::new(
        "hybla",
        "linear growth at the pace of a connection of 25 ms",
        "Caini and Firrincieli, 2004; Linux tcp_hybla.c",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Hybla {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.rho.on_ack(ack, view);
    }
}

impl Avoidance for Hybla {
    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd < window.ssthresh {
            return window.grow(view.slow_start_growth(ack));
        }
        // `hybla_cong_avoid()`: `rho^2 / cwnd` segments per ACK.
        let rho = self.rho.eighths();
        window.grow(self.linear.per_ack_times(view, rho * rho, 64))
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // `tcp_reno_ssthresh()`.
        halve(loss, view)
    }
}

impl Knobs for Hybla {
    const ROWS: &'static [KnobOf<Self>] = &[KnobOf::part(Rho::KNOBS, |p| &mut p.rho)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};
    use crate::units::Span;

    #[test]
    fn a_round_adds_rho_squared_segments() {
        for (srtt_ms, segments) in [(25, 1), (50, 4), (100, 16)] {
            let mut policy = Hybla::default();
            let mut view = view(1_000, MSS * 2);
            view.rtt.smoothed = Span::from_millis(srtt_ms);
            for _ in 0..1_000 {
                let ack = ack(&view, 1);
                policy.on_ack(&ack, &view);
                view.window = policy.step(&ack, &view).window;
            }
            let grown = view.window.cwnd - MSS * 1_000;
            assert!(grown <= MSS * segments && grown > MSS * segments * 98 / 100, "{grown:?}");
        }
    }
}
