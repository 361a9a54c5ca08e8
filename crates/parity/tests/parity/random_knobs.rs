//! Controls with random values for random knobs, as users would write them.

use firstflight_core::card::Card;
use firstflight_core::knob::{KnobKind, RATIO_ONE};
use firstflight_core::registry::{AVOIDANCES, STARTUPS};
use firstflight_kernel::catalogue::BuiltPair;

use super::draw::Draw;

/// A pair of policies in which every other knob has some value from its range.
pub(crate) fn control(pair: &BuiltPair, draw: &mut Draw) -> String {
    let startup = STARTUPS.iter().find(|card| card.name == pair.startup).unwrap();
    let avoidance = AVOIDANCES.iter().find(|card| card.name == pair.avoidance).unwrap();
    format!("{}+{}", policy(startup, draw), policy(avoidance, draw))
}

fn policy(card: &Card, draw: &mut Draw) -> String {
    let mut knobs = Vec::new();
    for knob in card.knobs {
        // eBPF has no floating point.
        if knob.name != "sums" && draw.once_in(2) {
            knobs.push(format!("{}={}", knob.name, value(knob.kind, draw)));
        }
    }
    format!("{}({})", card.name, knobs.join(",")).replace("()", "")
}

fn value(kind: KnobKind, draw: &mut Draw) -> String {
    match kind {
        KnobKind::Count(low, high) => within(low, high, draw).to_string(),
        KnobKind::Ratio(low, high) => {
            let ratio = within(low, high, draw);
            format!("{}.{:06}", ratio / RATIO_ONE, ratio % RATIO_ONE)
        }
        KnobKind::Time(low, high) => format!("{}ns", within(low.0, high.0, draw)),
        KnobKind::Threshold if draw.once_in(4) => "none".to_owned(),
        KnobKind::Window | KnobKind::Threshold if draw.once_in(2) => {
            format!("{}pkt", draw.between(1, 200))
        }
        KnobKind::Window | KnobKind::Threshold => format!("{}B", draw.between(1, 1 << 20)),
        KnobKind::Word(words) => words[draw.between(0, words.len() as u64 - 1) as usize].to_owned(),
    }
}

/// Often one of the ends, else of any magnitude between them.
fn within(low: u64, high: u64, draw: &mut Draw) -> u64 {
    match draw.between(0, 5) {
        0 => low,
        1 => high,
        2 => draw.between(low, high),
        _ => (low + (draw.any() >> draw.between(32, 63))).min(high),
    }
}
