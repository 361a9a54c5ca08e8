//! Release in lumps: what has arrived waits for the next beat of a clock, and then comes all at
//! once, as over radio links that grant a turn every few milliseconds (DOCSIS's MAP intervals,
//! 802.11 aggregates, LTE's scheduling requests). The clock beats at whole multiples of its period.

use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use super::card::{Card, Value, ValueKind};
use super::{Crossing, Element};

/// Packets reach the far end at multiples of a period only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The period.
    pub every: Span,
}

impl Element for Release {
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, _random: &mut Pcg64Mcg) -> Instant {
        let every = self.every.0.max(1);
        Instant(at.0.div_ceil(every).saturating_mul(every))
    }
}

/// `release = "1ms"`.
pub(super) const CARD: Card = Card {
    key: "release",
    values: &Value::only(ValueKind::Time),
    place: 6,
    not_back: None,
    words: |_, shown| format!("released every {}", shown[0]),
    build: |values, _| Ok(Box::new(Release { every: Span(values[0]) })),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn what_comes_between_two_beats_waits_for_the_second() {
        let mut release = Release { every: Span(10) };
        let (packet, mut random) = (Crossing::of(Instant(0), 40, 0), stream(1, 0));
        let at = [0, 1, 10, 11, 20].map(|at| release.pass_on(&packet, Instant(at), &mut random).0);
        assert_eq!(at, [0, 10, 10, 20, 20]);
    }
}
