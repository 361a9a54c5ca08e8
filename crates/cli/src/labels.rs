//! Short names of the controls of one table. Controls that differ only in knobs are named by these
//! knobs.

use firstflight_control::{ControlSpec, NamedPolicy};

/// Names for the rows of a table, and what all of them have in common if that is said once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Labels {
    /// One for each control, in their order.
    pub(crate) names: Vec<String>,
    /// The control of which every row is a setting: `slow-start(iw=10pkt)+newreno`.
    pub(crate) all: Option<String>,
}

impl Labels {
    /// The labels of controls as users write them.
    pub(crate) fn of(controls: &[&str]) -> Self {
        let specs: Option<Vec<ControlSpec>> =
            controls.iter().map(|name| name.parse().ok()).collect();
        let full = || controls.iter().map(|name| (*name).to_owned()).collect();
        let Some(specs) = specs else { return Self { names: full(), all: None } };
        let alike = |one: &ControlSpec| specs.iter().filter(|other| is_alike(one, other)).count();
        if specs.len() > 1 && specs.first().is_some_and(|first| alike(first) == specs.len()) {
            let names = specs.iter().map(|spec| differing(spec, &specs)).collect();
            return Self { names, all: Some(common(&specs)) };
        }
        let name = |spec: &ControlSpec| {
            let group: Vec<ControlSpec> =
                specs.iter().filter(|other| is_alike(spec, other)).cloned().collect();
            match (group.len(), &spec.avoidance) {
                (1, _) => spec.text.clone(),
                (_, None) => within(&spec.startup, &differing(spec, &group)),
                (_, Some(avoidance)) => {
                    let startup = within(&spec.startup, &differing(spec, &group));
                    format!("{startup}+{}", avoidance.name)
                }
            }
        };
        Self { names: specs.iter().map(name).collect(), all: None }
    }
}

/// Whether two controls are settings of one.
fn is_alike(one: &ControlSpec, other: &ControlSpec) -> bool {
    let parts = |spec: &ControlSpec| {
        let avoidance = spec.avoidance.as_ref().map(|part| part.name.clone());
        (spec.startup.name.clone(), spec.startup.landed, avoidance)
    };
    parts(one) == parts(other)
}

/// The knobs of a control that not all of its group have with that value: `ssthresh=100pkt`.
fn differing(spec: &ControlSpec, group: &[ControlSpec]) -> String {
    let own: Vec<String> = knobs(spec)
        .filter(|knob| !group.iter().all(|other| knobs(other).any(|it| it == *knob)))
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if own.is_empty() { "as it is".to_owned() } else { own.join(",") }
}

/// The control with the knobs that all of a group have.
fn common(group: &[ControlSpec]) -> String {
    let Some(first) = group.first() else { return String::new() };
    let all: Vec<(&str, &str)> = knobs(first)
        .filter(|knob| group.iter().all(|other| knobs(other).any(|it| it == *knob)))
        .collect();
    let with = |part: &NamedPolicy| {
        let own = part.knobs.iter().filter(|(key, value)| all.contains(&(key, value)));
        let own: Vec<String> = own.map(|(key, value)| format!("{key}={value}")).collect();
        within(part, &own.join(","))
    };
    match &first.avoidance {
        None => with(&first.startup),
        Some(avoidance) => format!("{}+{}", with(&first.startup), with(avoidance)),
    }
}

fn within(part: &NamedPolicy, knobs: &str) -> String {
    let named = match knobs {
        "" | "as it is" => part.name.clone(),
        knobs => format!("{}({knobs})", part.name),
    };
    if part.landed { format!("landed({named})") } else { named }
}

fn knobs(spec: &ControlSpec) -> impl Iterator<Item = (&str, &str)> {
    let parts = std::iter::once(&spec.startup).chain(&spec.avoidance);
    parts.flat_map(|part| part.knobs.iter().map(|(key, value)| (key.as_str(), value.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(controls: &[&str]) -> Vec<String> {
        Labels::of(controls).names
    }

    #[test]
    fn settings_of_one_control_are_told_apart_by_what_differs() {
        let labels = Labels::of(&[
            "slow-start(iw=10pkt,ssthresh=100pkt)+newreno",
            "slow-start(iw=10pkt,ssthresh=200pkt)+newreno",
            "slow-start(iw=10pkt)+newreno",
        ]);
        assert_eq!(labels.names, ["ssthresh=100pkt", "ssthresh=200pkt", "as it is"]);
        assert_eq!(labels.all.as_deref(), Some("slow-start(iw=10pkt)+newreno"));
    }

    #[test]
    fn beside_others_the_name_stays_and_equal_knobs_go() {
        let controls = ["hoe", "astart(preset=paper,p=4)", "astart(preset=ns2,p=4)"];
        assert_eq!(names(&controls), ["hoe", "astart(preset=paper)", "astart(preset=ns2)"]);
        let one = ["hoe", "slow-start(iw=10pkt)+cubic"];
        assert_eq!(names(&one), one, "alone of its kind, it keeps its name");
    }
}
