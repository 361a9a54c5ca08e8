//! Names become controls: aliases, policies, presets and knobs, all read from the core's tables.

use firstflight_core::knob::{Amount, Knob, KnobKind, KnobValue, RATIO_ONE};
use firstflight_core::registry::{
    ALIAS_RECOVERY, ALIASES, AVOIDANCES, Alias, AnyAvoidance, AnyStartup, Listing, STARTUPS,
};
use firstflight_core::units::Span;
use firstflight_scenario::{ControlSpec, Part, Recovery, Threshold, Time, Window, nearest};

/// A control ready to run.
#[derive(Clone, Debug)]
pub struct Control {
    /// In full: `astart+westwood`, with the knobs that were given.
    pub full: String,
    /// As the user named it.
    pub alias: String,
    /// The preset in force; empty when the control has none.
    pub preset: String,
    /// Start-up with its knobs set.
    pub startup: AnyStartup,
    /// Avoidance with its knobs set.
    pub avoidance: AnyAvoidance,
    /// The recovery that belongs to the name, as Reno's does to `reno`.
    pub recovery: Option<Recovery>,
    /// Name of the start-up policy.
    pub startup_name: &'static str,
    /// It sets a pacing rate.
    pub paced: bool,
    /// Knobs of the start-up that the user set.
    given: Vec<String>,
}

/// Why a control cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlProblem {
    /// No policy or alias of that name.
    #[error("control `{control}`: unknown {axis} `{found}`{hint}; accepted: {accepted}")]
    Unknown {
        /// The control as written.
        control: String,
        /// `start-up` or `avoidance`.
        axis: &'static str,
        /// The name.
        found: String,
        /// The nearest name: `, did you mean ...`, or nothing.
        hint: String,
        /// All names.
        accepted: String,
    },
    /// The policy has no such knob.
    #[error("control `{control}`: {policy} has no knob `{found}`{hint}; accepted: {accepted}")]
    NoSuchKnob {
        /// The control as written.
        control: String,
        /// The policy.
        policy: &'static str,
        /// The key.
        found: String,
        /// The nearest key, likewise.
        hint: String,
        /// All keys.
        accepted: String,
    },
    /// The knob does not take that value.
    #[error(
        "control `{control}`: knob {policy}({knob}=...) does not take `{found}`; accepted: {accepted}"
    )]
    BadValue {
        /// The control as written.
        control: String,
        /// The policy.
        policy: &'static str,
        /// The key.
        knob: &'static str,
        /// The value.
        found: String,
        /// What it takes.
        accepted: String,
    },
}

impl Control {
    /// The control that `spec` names.
    ///
    /// # Errors
    /// An unknown name or knob, with the nearest one, or a value out of range.
    pub fn resolve(spec: &ControlSpec) -> Result<Self, ControlProblem> {
        let alias = ALIASES.iter().find(|alias| alias.name == spec.startup.name);
        let (startup_name, alias_avoidance) = match alias {
            Some(alias) => alias.control.split_once('+').unwrap_or((alias.control, "newreno")),
            None => (spec.startup.name.as_str(), "newreno"),
        };
        let startup_listing = find(STARTUPS, startup_name, &spec.text, "start-up")?;
        let given_avoidance = spec.avoidance.as_ref().map(|part| part.name.as_str());
        let avoidance_name = given_avoidance.unwrap_or(alias_avoidance);
        let avoidance_listing = find(AVOIDANCES, avoidance_name, &spec.text, "avoidance")?;
        let unknown = || unknown(&spec.text, "start-up", startup_name, STARTUPS);
        let mut startup = AnyStartup::by_name(startup_listing.name).ok_or_else(unknown)?;
        let mut avoidance = AnyAvoidance::by_name(avoidance_listing.name).ok_or_else(unknown)?;
        let mut knobs = Setter { control: &spec.text, preset: String::new() };
        knobs.set_all(startup_listing, Some(&spec.startup), |name, value| {
            startup.set(name, value);
        })?;
        knobs.set_all(avoidance_listing, spec.avoidance.as_ref(), |name, value| {
            avoidance.set(name, value);
        })?;
        Ok(Self {
            full: full_name(spec, startup_listing, avoidance_listing),
            alias: spec.text.clone(),
            preset: knobs.preset,
            startup,
            avoidance,
            recovery: alias.and_then(recovery_of),
            startup_name: startup_listing.name,
            paced: startup_listing.paced || avoidance_listing.paced,
            given: spec.startup.knobs.iter().map(|(key, _)| key.clone()).collect(),
        })
    }

    /// Sets a knob of the start-up to what suits a profile, unless the user set it.
    pub(crate) fn suggest(&mut self, name: &str, word: &'static str) {
        if self.given.iter().any(|given| given == name) {
            return;
        }
        self.startup.set(name, KnobValue::Word(word));
        if name == "preset" {
            self.preset = word.to_owned();
        }
    }
}

/// Sets the knobs of one policy after the other and remembers the preset.
struct Setter<'a> {
    control: &'a str,
    preset: String,
}

impl Setter<'_> {
    fn set_all(
        &mut self,
        policy: &'static Listing,
        part: Option<&Part>,
        mut set: impl FnMut(&str, KnobValue),
    ) -> Result<(), ControlProblem> {
        let given: &[(String, String)] = part.map_or(&[], |part| &part.knobs);
        if let Some((found, _)) = given.iter().find(|(key, _)| !has_knob(policy, key)) {
            let names: Vec<&str> = policy.knobs.iter().map(|knob| knob.name).collect();
            return Err(ControlProblem::NoSuchKnob {
                control: self.control.to_owned(),
                policy: policy.name,
                found: found.clone(),
                hint: hint(found, &names),
                accepted: if names.is_empty() { "none".into() } else { names.join(", ") },
            });
        }
        // In the policy's own order, where a preset comes before what adjusts it.
        for knob in policy.knobs {
            let value = given.iter().find(|(key, _)| key == knob.name);
            if knob.name == "preset" && self.preset.is_empty() {
                self.preset = value.map_or(knob.default, |(_, text)| text).to_owned();
            }
            if let Some((_, text)) = value {
                set(knob.name, self.value(policy, knob, text)?);
            }
        }
        Ok(())
    }

    fn value(
        &self,
        policy: &'static Listing,
        knob: &'static Knob,
        text: &str,
    ) -> Result<KnobValue, ControlProblem> {
        read(knob.kind, text).ok_or_else(|| ControlProblem::BadValue {
            control: self.control.to_owned(),
            policy: policy.name,
            knob: knob.name,
            found: text.to_owned(),
            accepted: accepted(knob.kind),
        })
    }
}

/// What a knob takes, in words.
pub fn accepted(kind: KnobKind) -> String {
    match kind {
        KnobKind::Count(low, high) => format!("a whole number from {low} to {high}"),
        KnobKind::Window => "a window such as 10pkt or 64KiB, or none".to_owned(),
        KnobKind::Time(low, high) => {
            format!("a time from {} to {}", Time::from_ns(low.0), Time::from_ns(high.0))
        }
        KnobKind::Ratio(low, high) => {
            let show = |ratio: u64| ratio as f64 / RATIO_ONE as f64;
            format!("a number from {} to {}", show(low), show(high))
        }
        KnobKind::Word(words) => words.join(", "),
    }
}

fn read(kind: KnobKind, text: &str) -> Option<KnobValue> {
    Some(match kind {
        KnobKind::Count(low, high) => {
            KnobValue::Count(text.parse().ok().filter(|n| (low..=high).contains(n))?)
        }
        KnobKind::Window => KnobValue::Window(match text.parse().ok()? {
            Threshold::None => Amount::Unlimited,
            Threshold::At(Window::Packets(packets)) => Amount::Segments(packets),
            Threshold::At(Window::Bytes(bytes)) => Amount::Bytes(bytes),
        }),
        KnobKind::Time(low, high) => {
            let span = Span(text.parse::<Time>().ok()?.ns());
            KnobValue::Time(Some(span).filter(|span| (low..=high).contains(span))?)
        }
        KnobKind::Ratio(low, high) => {
            KnobValue::Ratio(millionths(text).filter(|n| (low..=high).contains(n))?)
        }
        KnobKind::Word(words) => KnobValue::Word(words.iter().find(|word| **word == text)?),
    })
}

/// A plain decimal number in millionths, exactly; `None` if it is none or has more digits.
fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(RATIO_ONE)?.checked_add(part)
}

fn find(
    table: &'static [Listing],
    name: &str,
    control: &str,
    axis: &'static str,
) -> Result<&'static Listing, ControlProblem> {
    table
        .iter()
        .find(|listing| listing.name == name)
        .ok_or_else(|| unknown(control, axis, name, table))
}

fn unknown(
    control: &str,
    axis: &'static str,
    found: &str,
    table: &'static [Listing],
) -> ControlProblem {
    let mut names: Vec<&str> = table.iter().map(|listing| listing.name).collect();
    if axis == "start-up" {
        names.extend(ALIASES.iter().map(|alias| alias.name));
        names.sort_unstable();
        names.dedup();
    }
    ControlProblem::Unknown {
        control: control.to_owned(),
        axis,
        found: found.to_owned(),
        hint: hint(found, &names),
        accepted: names.join(", "),
    }
}

fn hint(found: &str, names: &[&str]) -> String {
    nearest(found, names.iter().copied())
        .map_or(String::new(), |name| format!(", did you mean `{name}`"))
}

fn has_knob(policy: &Listing, key: &str) -> bool {
    policy.knobs.iter().any(|knob| knob.name == key)
}

fn full_name(spec: &ControlSpec, startup: &Listing, avoidance: &Listing) -> String {
    let knobs = |part: Option<&Part>| match part {
        Some(part) if !part.knobs.is_empty() => {
            let list: Vec<String> = part.knobs.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!("({})", list.join(","))
        }
        _ => String::new(),
    };
    let (first, second) = (knobs(Some(&spec.startup)), knobs(spec.avoidance.as_ref()));
    format!("{}{first}+{}{second}", startup.name, avoidance.name)
}

/// The recovery that belongs to an alias, if one does.
fn recovery_of(alias: &Alias) -> Option<Recovery> {
    let (_, recovery) = ALIAS_RECOVERY.iter().find(|(name, _)| *name == alias.name)?;
    recovery.parse().ok()
}
