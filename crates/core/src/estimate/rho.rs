//! Hybla's `rho`, how many times longer the RTT is than that of the connection it imitates (Caini
//! and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International
//! Journal of Satellite Communications and Networking, 2004).
//!
//! `rho = max(srtt / rtt0, 1)` with `rtt0` = 25 ms, in eighths and rounded down, taken anew
//! whenever srtt has never been smaller, as Linux does (`tcp_hybla.c`). So a queue does not make it
//! grow.

use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::units::Span;
use crate::view::View;

/// The ratio, once an RTT is known.
#[derive(Clone, Copy, Debug)]
pub struct Rho {
    /// The RTT of the connection to keep up with.
    rtt0: Span,
    /// The largest ratio.
    rho_max: u64,
    /// The smallest smoothed RTT (`minrtt_us`); [`Span::MAX`] before the first.
    minrtt: Span,
}

impl Rho {
    /// No RTT known yet, Linux' constants.
    pub const fn new() -> Self {
        Self { rtt0: Span::from_millis(25), rho_max: LARGEST, minrtt: Span::MAX }
    }

    /// Takes an ACK in.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        // `hybla_cong_avoid()`: rho is taken anew when srtt has never been smaller.
        if ack.rtt.is_some() {
            self.minrtt = self.minrtt.min(view.rtt.smoothed);
        }
    }

    /// In eighths, at least eight.
    pub fn eighths(&self) -> u64 {
        if self.minrtt == Span::MAX {
            return 8;
        }
        // `hybla_recalc_param()`: `max(srtt / rtt0, 1)`, in eighths.
        (self.minrtt.0.saturating_mul(8) / self.rtt0.0.max(1)).clamp(8, self.rho_max * 8)
    }
}

impl Default for Rho {
    fn default() -> Self {
        Self::new()
    }
}

impl Knobs for Rho {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("rtt0")
            .means("RTT of the connection to keep up with")
            .time(RTT0_MIN..=RTT0_MAX, |p| &mut p.rtt0),
        Knob::new("rho_max")
            .means("largest ratio; Linux: 16, in slow start only")
            .count(1..=LARGEST, |p| &mut p.rho_max),
    ];
}

const RTT0_MIN: Span = Span::from_millis(1);

const RTT0_MAX: Span = Span::from_secs(10);

/// Linux' largest exponent in slow start.
const LARGEST: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, view};
    use crate::units::Bytes;

    fn after(srtts_ms: &[u64]) -> u64 {
        let mut rho = Rho::new();
        for srtt in srtts_ms {
            let mut view = view(10, Bytes::MAX);
            view.rtt.smoothed = Span::from_millis(*srtt);
            rho.on_ack(&ack(&view, 1), &view);
        }
        rho.eighths()
    }

    #[test]
    fn it_is_the_rtt_over_25_ms_in_eighths_and_at_least_one() {
        assert_eq!([after(&[]), after(&[10]), after(&[100]), after(&[90])], [8, 8, 32, 28]);
    }

    #[test]
    fn a_queue_does_not_raise_it_and_it_is_capped() {
        assert_eq!(after(&[100, 150, 300]), 32);
        assert_eq!(after(&[600]), 16 * 8);
    }
}
