//! How the knobs of all policies lie in memory: `build.rs` writes it as C structs, `knobs.rs` fills
//! it. Both follow the cards: policies in the order of the tables, start-ups first, the knobs of
//! each in the order of its card.

use firstflight_core::card::Card;
use firstflight_core::knob::{Knob, KnobKind};
use firstflight_core::registry::{AVOIDANCES, STARTUPS};

/// The cards of a table that name a C version, with the name of its header.
pub(crate) fn in_c(table: &'static [Card]) -> impl Iterator<Item = (&'static Card, &'static str)> {
    table.iter().filter_map(|card| Some((card, card.kernel?)))
}

/// Every policy with a C version.
pub(crate) fn policies() -> impl Iterator<Item = (&'static Card, &'static str)> {
    in_c(STARTUPS).chain(in_c(AVOIDANCES))
}

/// How many 64-bit words a knob takes: a window has a unit and a number.
pub(crate) const fn words(knob: &Knob) -> usize {
    match knob.kind {
        KnobKind::Window | KnobKind::Threshold => 2,
        _ => 1,
    }
}
