//! Every pair with a kernel version as it is, and every control that has a name with each of its
//! knobs at each end of its range, or at each of its words: drawn from the cards.

use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_control::{Control, ControlSpec, NamedPolicy};
use firstflight_core::card::Card;
use firstflight_core::knob::{Knob, KnobKind, KnobValue, RATIO_ONE};
use firstflight_kernel::catalogue::{PAIRS, distinct};

/// A control with one knob set.
pub(crate) struct Set {
    /// The control as users write it.
    pub(crate) control: String,
    pub(crate) knob: &'static str,
    pub(crate) value: String,
    of_startup: bool,
}

impl Set {
    /// C has no floating point.
    pub(crate) fn is_floating_point(&self) -> bool {
        self.value == "double"
    }

    /// The knob's value in the policy.
    pub(crate) fn value_in(&self, control: &Control) -> Option<KnobValue> {
        match (&control.startup, &control.avoidance) {
            (ChosenStartup::Core(policy), _) if self.of_startup => policy.value(self.knob),
            (_, ChosenAvoidance::Core(policy)) => policy.value(self.knob),
            _ => None,
        }
    }
}

/// All controls to compare.
pub(crate) fn controls() -> Vec<String> {
    let pairs = PAIRS.iter().map(|pair| format!("{}+{}", pair.startup, pair.avoidance));
    let set = sets().into_iter().filter(|set| !set.is_floating_point()).map(|set| set.control);
    let mut all: Vec<String> = pairs.chain(set).collect();
    all.sort();
    all.dedup();
    all
}

/// Every named control with one knob at one value.
pub(crate) fn sets() -> Vec<Set> {
    let mut sets = Vec::new();
    for name in distinct() {
        let control = Control::named(name).unwrap();
        let spec: ControlSpec = control.full.parse().unwrap();
        let avoidance = spec.avoidance.expect("a control in full names both");
        for (knob, value) in values(control.startup.card()) {
            let text = format!("{}+{avoidance}", with(&spec.startup, knob, &value));
            sets.push(Set { control: text, knob, value, of_startup: true });
        }
        for (knob, value) in values(control.avoidance.card()) {
            let text = format!("{}+{}", spec.startup, with(&avoidance, knob, &value));
            sets.push(Set { control: text, knob, value, of_startup: false });
        }
    }
    sets
}

fn with(part: &NamedPolicy, knob: &str, value: &str) -> NamedPolicy {
    let mut part = part.clone();
    part.knobs.retain(|(key, _)| key != knob);
    part.knobs.push((knob.to_owned(), value.to_owned()));
    part
}

fn values(card: &'static Card) -> impl Iterator<Item = (&'static str, String)> {
    card.knobs.iter().flat_map(|knob| ends(knob).into_iter().map(|value| (knob.name, value)))
}

/// Both ends of a range, every word, and a window in each unit.
fn ends(knob: &Knob) -> Vec<String> {
    match knob.kind {
        KnobKind::Count(low, high) => vec![low.to_string(), high.to_string()],
        KnobKind::Ratio(low, high) => {
            [low, high].map(|n| format!("{}.{:06}", n / RATIO_ONE, n % RATIO_ONE)).into()
        }
        KnobKind::Time(low, high) => [low, high].map(|n| format!("{}ns", n.0)).into(),
        KnobKind::Window => vec!["2pkt".into(), "64KiB".into()],
        KnobKind::Threshold => vec!["2pkt".into(), "64KiB".into(), "none".into()],
        KnobKind::Word(words) => words.iter().map(|&word| word.to_owned()).collect(),
    }
}
