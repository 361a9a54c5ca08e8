//! Reordering: some packets take a longer way than the others and come later, so that others
//! overtake them, as on a path whose packets are spread over several. Each packet is drawn on its
//! own, as Linux's `netem` does it with `delay` and `reorder`.

use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use super::card::{Card, Value, ValueKind};
use super::{Crossing, Element};
use crate::random::Uniform;

/// A share of the packets reaches the far end later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The probability that a packet is late, in parts per billion.
    pub share_ppb: u64,
    /// How much later it is.
    pub by: Span,
}

impl Element for Reorder {
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, random: &mut Pcg64Mcg) -> Instant {
        let drawn = Uniform { from: 0, until: PARTS_PER_BILLION - 1 }.draw(random);
        if drawn < self.share_ppb { at + self.by } else { at }
    }

    fn reorders(&self) -> bool {
        true
    }
}

/// `reorder = { share = "1%", by = "3ms" }`.
pub(super) const CARD: Card = Card {
    key: "reorder",
    values: &[
        Value::needed("share", ValueKind::Share, "1%"),
        Value::needed("by", ValueKind::Time, "3ms"),
    ],
    place: 6,
    not_back: Some("senders here know ACKs in order only"),
    words: |_, shown| format!("{} later by {}", shown[0], shown[1]),
    build: |values, _| match values[0] {
        0 => {
            let problem = "no packet would be late; accepted: more than 0%";
            Err((Some("share"), problem.to_owned()))
        }
        share_ppb => Ok(Box::new(Reorder { share_ppb, by: Span(values[1]) })),
    },
};

const PARTS_PER_BILLION: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// A tenth of 10,000 packets is late, with a standard deviation of 30.
    #[test]
    fn the_share_is_late() {
        let by = Span::from_millis(3);
        let mut overtaking = Reorder { share_ppb: PARTS_PER_BILLION / 10, by };
        let (mut random, packet) = (stream(1, 0), Crossing::of(Instant(0), 1_000, 0));
        let mut passed = || overtaking.pass_on(&packet, Instant(5), &mut random);
        let passed: Vec<Instant> = std::iter::repeat_with(&mut passed).take(10_000).collect();
        let late = passed.iter().filter(|at| **at == Instant(5) + by).count();
        assert!(passed.iter().all(|at| *at == Instant(5) || *at == Instant(5) + by));
        assert!(late.abs_diff(1_000) < 120, "{late}");
    }
}
