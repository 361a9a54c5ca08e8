//! Any control with any knobs that a user can set.

use arbitrary::Arbitrary;
use firstflight_core::conformance::Recorder;
use firstflight_core::knob::{Amount, Knob, KnobKind, KnobValue};
use firstflight_core::pair::Pair;
use firstflight_core::registry::{AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS};
use firstflight_core::units::Span;
use firstflight_quic::{Factory, Stack};

/// A start-up, an avoidance and some of their knobs.
#[derive(Debug, Arbitrary)]
pub(crate) struct AnyControl {
    startup: u8,
    avoidance: u8,
    startup_knobs: Vec<Turn>,
    avoidance_knobs: Vec<Turn>,
}

/// A knob and what it is set to, both brought into range.
#[derive(Clone, Copy, Debug, Arbitrary)]
struct Turn {
    knob: u8,
    value: u64,
}

impl AnyControl {
    /// The factory; `None` for a control that needs what the stack has not.
    pub(crate) fn factory<S: Stack>(&self) -> Option<Factory<Pair<AnyStartup, AnyAvoidance>, S>> {
        Factory::new(self.startup(), self.avoidance()).ok()
    }

    /// This control, declared to need all that the stack provides.
    pub(crate) fn demanding<S: Stack>(&self) -> Option<Factory<Demanding, S>> {
        let startup = Recorder::around(self.startup(), S::PROVIDES);
        Factory::new(startup, self.avoidance()).ok()
    }

    /// Its policies, for a transport that is asked for nothing.
    pub(crate) fn policies(&self) -> Pair<AnyStartup, AnyAvoidance> {
        Pair::new(self.startup(), self.avoidance())
    }

    fn startup(&self) -> AnyStartup {
        let card = &STARTUPS[usize::from(self.startup) % STARTUPS.len()];
        let mut startup = AnyStartup::by_name(card.name).expect("it is listed");
        for (name, value) in turned(card.knobs, &self.startup_knobs) {
            assert!(startup.set(name, value), "{}({name}): {value:?}", card.name);
        }
        startup
    }

    fn avoidance(&self) -> AnyAvoidance {
        let card = &AVOIDANCES[usize::from(self.avoidance) % AVOIDANCES.len()];
        let mut avoidance = AnyAvoidance::by_name(card.name).expect("it is listed");
        for (name, value) in turned(card.knobs, &self.avoidance_knobs) {
            assert!(avoidance.set(name, value), "{}({name}): {value:?}", card.name);
        }
        avoidance
    }
}

/// A pair whose start-up needs all that there is.
pub(crate) type Demanding = Pair<Recorder<AnyStartup>, AnyAvoidance>;

/// The knobs as names and values; empty for a policy without knobs.
fn turned(knobs: &[Knob], turns: &[Turn]) -> Vec<(&'static str, KnobValue)> {
    let knob = |turn: &Turn| knobs.get(usize::from(turn.knob).checked_rem(knobs.len())?);
    let turned = turns.iter().filter_map(|turn| Some((knob(turn)?, turn.value)));
    turned.map(|(knob, value)| (knob.name, in_range(knob.kind, value))).collect()
}

fn in_range(kind: KnobKind, value: u64) -> KnobValue {
    let between = |low: u64, high: u64| low + value % (high - low).saturating_add(1);
    match kind {
        KnobKind::Count(low, high) => KnobValue::Count(between(low, high)),
        KnobKind::Time(low, high) => KnobValue::Time(Span(between(low.0, high.0))),
        KnobKind::Ratio(low, high) => KnobValue::Ratio(between(low, high)),
        KnobKind::Word(words) => KnobValue::Word(words[value as usize % words.len()]),
        KnobKind::Window | KnobKind::Threshold => KnobValue::Window(match value % 4 {
            0 => Amount::Unlimited,
            1 => Amount::Bytes(value),
            2 => Amount::Segments(value >> 32),
            _ => Amount::Segments(value % 1_000),
        }),
    }
}
