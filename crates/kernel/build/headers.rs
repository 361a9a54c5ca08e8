//! The headers that follow from the cards: a struct of all knobs, and one header for each control
//! that puts a start-up and an avoidance together.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use firstflight_core::card::Card;
use firstflight_core::knob::{Knob, KnobKind, KnobValue};
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::policy::{Observer as _, Startup as _};
use firstflight_core::registry::{
    AVOIDANCES, AnyStartup, STARTUPS, avoidance_needs, startup_needs,
};

use crate::layout::{self, in_c, policies};

/// What is compiled by itself: a pair of policies.
pub(crate) struct Object {
    /// Its own name and its header's.
    pub(crate) name: String,
    /// The start-up, with the name of its header.
    pub(crate) startup: (&'static Card, &'static str),
    /// The avoidance, with the name of its header.
    pub(crate) avoidance: (&'static Card, &'static str),
    /// The avoidance keeps an estimate of its own, besides the start-up's if that has one.
    pub(crate) own_estimate: bool,
    /// Neither policy needs anything but what an ACK acknowledges, not even times.
    watches_no_acks: bool,
    /// One of them needs how much has left.
    needs_sent: bool,
    /// The start-up decides on more than the window of ACKs that open it.
    owns_window: bool,
    /// The start-up is woken.
    wakes: bool,
    /// The start-up is for the first slow start only.
    once: bool,
}

impl Object {
    /// Whether both have the same two policies.
    pub(crate) fn is_pair_of(&self, other: &Self) -> bool {
        self.startup.1 == other.startup.1 && self.avoidance.1 == other.avoidance.1
    }

    /// The first of `objects` with these policies.
    pub(crate) fn is_first(&self, objects: &[Self]) -> bool {
        objects.iter().find(|it| it.is_pair_of(self)).is_some_and(|it| it.name == self.name)
    }
}

/// Every pair of policies that have C: once, or, where the avoidance takes its estimate from the
/// start-up or keeps one, once for each that can occur.
pub(crate) fn objects() -> Vec<Object> {
    let mut all = Vec::new();
    for startup in in_c(STARTUPS) {
        for avoidance in in_c(AVOIDANCES) {
            let pair = format!("{}_{}", startup.1, avoidance.1);
            let needs = startup_needs(startup.0.name).zip(avoidance_needs(avoidance.0.name));
            let needs = needs.map_or(Needs::NONE, |(a, b)| a | b).all();
            let object = |name, own_estimate| Object {
                name,
                startup,
                avoidance,
                own_estimate,
                watches_no_acks: needs.is_empty(),
                needs_sent: needs.has(Facilities::SENT),
                owns_window: !needs.common(OWNERS).is_empty(),
                wakes: needs.has(Facilities::PACED_WAKE_UPS),
                once: AnyStartup::by_name(startup.0.name).is_some_and(|it| it.once()),
            };
            if !keeps_estimate(avoidance.0) || may_estimate(startup.0) {
                all.push(object(pair.clone(), false));
            }
            if keeps_estimate(avoidance.0) {
                all.push(object(format!("{pair}_own"), true));
            }
        }
    }
    all
}

/// What the kernel leaves to a control only if that decides on cwnd in all states.
const OWNERS: Facilities =
    Facilities::PACING.and(Facilities::RECOVERY_WINDOW).and(Facilities::MEMORY);

/// It has knobs of an estimate.
fn keeps_estimate(avoidance: &Card) -> bool {
    avoidance.knobs.iter().any(|knob| group(knob).is_some_and(|(group, _)| group == "ere"))
}

/// It keeps an estimate that an avoidance can use, by default or with a word of some knob.
fn may_estimate(startup: &Card) -> bool {
    let Some(default) = AnyStartup::by_name(startup.name) else { return false };
    let estimates = |policy: &AnyStartup| policy.eligible().is_some();
    let with = |knob: &Knob, word: &'static str| {
        let mut policy = default.clone();
        policy.set(knob.name, KnobValue::Word(word)) && estimates(&policy)
    };
    estimates(&default)
        || startup.knobs.iter().any(|knob| match knob.kind {
            KnobKind::Word(words) => words.iter().any(|word| with(knob, word)),
            _ => false,
        })
}

/// The header of one control.
pub(crate) fn control(object: &Object) -> String {
    let mut text = format!(
        "/* Written by crates/kernel/build.rs: {} before {}. */\n",
        object.startup.0.name, object.avoidance.0.name
    );
    let flags = [
        (object.watches_no_acks, "FF_WATCHES_NO_ACKS"),
        (object.needs_sent, "FF_NEEDS_SENT"),
        (object.owns_window, "FF_OWNS_WINDOW"),
        (object.wakes, "FF_WAKES"),
        (object.once, "FF_ONCE"),
        (object.own_estimate, "FF_AVOIDANCE_ESTIMATES"),
    ];
    for (_, flag) in flags.iter().filter(|(set, _)| *set) {
        let _ = writeln!(text, "#define {flag}");
    }
    let (startup, avoidance) = (object.startup.1, object.avoidance.1);
    let _ = write!(
        text,
        "#include \"{startup}.h\"\n#include \"{avoidance}.h\"\n\
         #define FF_STARTUP {startup}\n#define FF_AVOIDANCE {avoidance}\n\
         #include \"sender.h\"\n"
    );
    text
}

/// The header of all knobs: one struct for each policy, one for all of them together.
///
/// Every field is a u64 in base units: bytes, ns, millionths, the index of a word in the knob's
/// list. A window has a second field for its unit. Knobs called `group.name` lie in a struct of the
/// group; one called as the group is its field `on`.
pub(crate) fn knobs() -> String {
    let mut groups: BTreeMap<String, String> = BTreeMap::new();
    let (mut enums, mut structs, mut all) = (String::new(), String::new(), String::new());
    for (card, header) in policies() {
        let mut fields = String::new();
        for part in parts(card) {
            match part {
                KnobField::Knob(knob) => {
                    let name = plain(knob.name);
                    fields += &field(knob, &name);
                    enums += &words(knob, &format!("{header}_{name}"));
                }
                KnobField::Group(group, members) => {
                    let mut body = String::new();
                    let mut named = String::new();
                    for (name, knob) in members {
                        body += &field(knob, &name);
                        named += &words(knob, &format!("{group}_{name}"));
                    }
                    let _ = writeln!(fields, "    struct {group}_knob_values {group};");
                    match groups.get(&group) {
                        Some(known) => assert_eq!(*known, body, "the knobs {group}.* of {header}"),
                        None => enums += &named,
                    }
                    groups.insert(group, body);
                }
            }
        }
        let _ = writeln!(structs, "struct {header}_knob_values {{\n{fields}}};\n");
        let _ = writeln!(all, "    struct {header}_knob_values {header};");
    }
    let groups: String = groups
        .iter()
        .map(|(group, body)| format!("struct {group}_knob_values {{\n{body}}};\n\n"))
        .collect();
    format!(
        "/* Written by crates/kernel/build.rs from the cards of the policies. */\n\
         #ifndef FF_KNOBS_H\n#define FF_KNOBS_H\n\n#include \"units.h\"\n\n\
         {enums}\n{groups}{structs}struct ff_knob_values {{\n{all}}};\n\n#endif\n"
    )
}

/// A knob by itself, or neighbours with one group's name before the dot.
enum KnobField {
    Knob(&'static Knob),
    Group(String, Vec<(String, &'static Knob)>),
}

fn parts(card: &'static Card) -> Vec<KnobField> {
    let has_group = |name: &str| {
        card.knobs.iter().any(|knob| group(knob).is_some_and(|(group, _)| group == name))
    };
    let mut parts: Vec<KnobField> = Vec::new();
    for knob in card.knobs {
        let (of, name) = match group(knob) {
            Some((of, name)) => (of, plain(name)),
            None if has_group(knob.name) => (knob.name, "on".to_owned()),
            None => {
                parts.push(KnobField::Knob(knob));
                continue;
            }
        };
        match parts.last_mut() {
            Some(KnobField::Group(last, members)) if last == of => members.push((name, knob)),
            _ => parts.push(KnobField::Group(of.to_owned(), vec![(name, knob)])),
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for part in &parts {
        if let KnobField::Group(group, _) = part {
            assert!(!seen.contains(&&**group), "{}: knobs {group}.* lie apart", card.name);
            seen.push(group);
        }
    }
    parts
}

fn group(knob: &Knob) -> Option<(&'static str, &'static str)> {
    knob.name.split_once('.')
}

fn field(knob: &Knob, name: &str) -> String {
    let number = format!("    u64 {name};\n");
    if layout::words(knob) == 2 { format!("    u64 {name}_unit;\n{number}") } else { number }
}

/// Names for the words that a knob takes: `HYSTART_DETECT_TRAIN`.
fn words(knob: &Knob, prefix: &str) -> String {
    let KnobKind::Word(words) = knob.kind else { return String::new() };
    let names: Vec<String> =
        words.iter().map(|word| plain(&format!("{prefix}_{word}")).to_uppercase()).collect();
    format!("enum {{ {} }};\n", names.join(", "))
}

/// The name in lower case, as C can have it.
fn plain(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_").to_lowercase()
}
