//! Names become controls: aliases, policies, presets and knobs, all read from the core's tables.

use firstflight_core::knob::{Amount, Knob, KnobKind, KnobValue, RATIO_ONE};
use firstflight_core::registry::{
    ALIAS_DUPLICATE_ACKS, ALIAS_RECOVERY, ALIASES, AVOIDANCES, Alias, AnyAvoidance, AnyStartup,
    Listing, STARTUPS, alias, needs_routers,
};
use firstflight_core::units::Span;

use crate::nearest::nearest;
use crate::quantity::{Threshold, Time, Window};
use crate::spec::{ControlError, ControlSpec, Part};

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
    /// The loss recovery that belongs to the name, as Reno's does to `reno`, called as in
    /// [`ALIAS_RECOVERY`].
    pub recovery: Option<&'static str>,
    /// The duplicate ACKs that mean a loss, where the name says it ([`ALIAS_DUPLICATE_ACKS`]).
    pub duplicate_acks: Option<u32>,
    /// Name of the start-up policy.
    pub startup_name: &'static str,
    /// Name of the avoidance policy.
    pub avoidance_name: &'static str,
    /// Every knob that was set, those of one policy in the order in which they were. For
    /// transports that run a copy of the policies.
    pub settings: Vec<Setting>,
    /// It sets a pacing rate.
    pub paced: bool,
    /// Knobs of the start-up that the user set.
    given: Vec<String>,
}

/// A knob that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the policy.
    pub policy: &'static str,
    /// Name of the knob.
    pub knob: &'static str,
    /// What it was set to.
    pub value: KnobValue,
}

/// Why a control cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlProblem {
    /// Not the shape of a control.
    #[error(transparent)]
    Shape(#[from] ControlError),
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
        "control `{control}`: knob {policy}({knob}=...) does not take `{found}`; \
         accepted: {accepted}"
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
    /// The policy needs routers that this transport's network has not.
    #[error(
        "control `{control}`: {policy} needs routers that answer it, and only those of `--on sim` \
         do; accepted here: a control of other policies"
    )]
    NeedsRouters {
        /// The control as written.
        control: String,
        /// The policy.
        policy: &'static str,
    },
}

impl Control {
    /// The control called so, as in `astart(preset=paper)+westwood`.
    ///
    /// # Errors
    /// As of [`Control::resolve`], or a text that is no control.
    pub fn named(text: &str) -> Result<Self, ControlProblem> {
        Self::resolve(&text.parse()?)
    }

    /// The control that `spec` names.
    ///
    /// # Errors
    /// An unknown name or knob, with the nearest one, or a value out of range.
    pub fn resolve(spec: &ControlSpec) -> Result<Self, ControlProblem> {
        let alias = alias(&spec.startup.name);
        let (first, second) = policies(spec, alias);
        let startup_listing = find(STARTUPS, &first.name, &spec.text, "start-up")?;
        let partner = startup_listing.partner.unwrap_or("newreno");
        let avoidance_name = second.as_ref().map_or(partner, |part| part.name.as_str());
        let avoidance_listing = find(AVOIDANCES, avoidance_name, &spec.text, "avoidance")?;
        let unknown = || unknown(&spec.text, "start-up", &first.name, STARTUPS);
        let mut startup = AnyStartup::by_name(startup_listing.name).ok_or_else(unknown)?;
        let mut avoidance = AnyAvoidance::by_name(avoidance_listing.name).ok_or_else(unknown)?;
        let mut knobs = Setter { control: &spec.text, preset: String::new(), settings: Vec::new() };
        knobs.set_all(startup_listing, Some(&first), |name, value| {
            startup.set(name, value);
        })?;
        knobs.set_all(avoidance_listing, second.as_ref(), |name, value| {
            avoidance.set(name, value);
        })?;
        Ok(Self {
            full: full_name(&first, second.as_ref(), avoidance_listing),
            alias: spec.text.clone(),
            preset: knobs.preset,
            startup,
            avoidance,
            recovery: alias.and_then(recovery_of),
            duplicate_acks: alias.and_then(duplicate_acks_of),
            startup_name: startup_listing.name,
            avoidance_name: avoidance_listing.name,
            settings: knobs.settings,
            paced: startup_listing.paced || avoidance_listing.paced,
            given: first.knobs.iter().map(|(key, _)| key.clone()).collect(),
        })
    }

    /// The control, for a transport whose network has no routers that answer.
    ///
    /// # Errors
    /// It needs some.
    pub fn without_routers(self) -> Result<Self, ControlProblem> {
        let policies = [self.startup_name, self.avoidance_name];
        match policies.into_iter().find(|policy| needs_routers(policy)) {
            Some(policy) => Err(ControlProblem::NeedsRouters { control: self.alias, policy }),
            None => Ok(self),
        }
    }

    /// Sets a knob of the start-up to what suits a profile, unless the user set it.
    pub fn suggest(&mut self, name: &str, word: &'static str) {
        if self.given.iter().any(|given| given == name) {
            return;
        }
        let value = KnobValue::Word(word);
        self.startup.set(name, value);
        if let Some(knob) = self.startup_knob(name) {
            self.settings.push(Setting { policy: self.startup_name, knob, value });
        }
        if name == "preset" {
            self.preset = word.to_owned();
        }
    }

    /// The same for a knob of the avoidance, where it has one of that name.
    pub fn suggest_avoidance(&mut self, name: &str, word: &'static str) {
        let policy = self.avoidance_name;
        let listing = AVOIDANCES.iter().find(|listing| listing.name == policy);
        let knob = listing.and_then(|listing| listing.knobs.iter().find(|knob| knob.name == name));
        let Some(Knob { name: knob, .. }) = knob else { return };
        if self.settings.iter().any(|given| given.policy == policy && given.knob == *knob) {
            return;
        }
        let value = KnobValue::Word(word);
        self.avoidance.set(knob, value);
        self.settings.push(Setting { policy, knob, value });
    }
}

impl Control {
    fn startup_knob(&self, name: &str) -> Option<&'static str> {
        let listing = STARTUPS.iter().find(|listing| listing.name == self.startup_name)?;
        Some(listing.knobs.iter().find(|knob| knob.name == name)?.name)
    }
}

/// Sets the knobs of one policy after the other and remembers the preset.
struct Setter<'a> {
    control: &'a str,
    preset: String,
    settings: Vec<Setting>,
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
                let value = self.value(policy, knob, text)?;
                set(knob.name, value);
                self.settings.push(Setting { policy: policy.name, knob: knob.name, value });
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
            // A control knows no path.
            Threshold::At(Window::Bdp(_)) => return None,
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

pub(crate) fn hint(found: &str, names: &[&str]) -> String {
    nearest(found, names.iter().copied())
        .map_or(String::new(), |name| format!(", did you mean `{name}`"))
}

fn has_knob(policy: &Listing, key: &str) -> bool {
    policy.knobs.iter().any(|knob| knob.name == key)
}

fn full_name(startup: &Part, avoidance: Option<&Part>, listing: &Listing) -> String {
    avoidance
        .map_or_else(|| format!("{startup}+{}", listing.name), |part| format!("{startup}+{part}"))
}

/// The policies that a control names, each with its knobs. An alias gives way to what it stands
/// for. Knobs written after it win over its own; where it is no policy's own name they are for the
/// pair, each policy taking those it has. An avoidance of the user's replaces that of the alias.
fn policies(spec: &ControlSpec, alias: Option<&Alias>) -> (Part, Option<Part>) {
    let Some(meant) = alias.and_then(|alias| alias.control.parse::<ControlSpec>().ok()) else {
        return (spec.startup.clone(), spec.avoidance.clone());
    };
    let (mut startup, mut avoidance) = (meant.startup, meant.avoidance);
    let pair = spec.avoidance.is_none() && startup.name != spec.startup.name;
    for (key, value) in &spec.startup.knobs {
        let of_avoidance = avoidance.as_mut().filter(|part| pair && takes(AVOIDANCES, part, key));
        let of_startup = of_avoidance.is_none() || takes(STARTUPS, &startup, key);
        if let Some(part) = of_avoidance {
            put(part, key, value);
        }
        if of_startup {
            put(&mut startup, key, value);
        }
    }
    (startup, spec.avoidance.clone().or(avoidance))
}

fn takes(table: &[Listing], part: &Part, key: &str) -> bool {
    table.iter().any(|listing| listing.name == part.name && has_knob(listing, key))
}

fn put(part: &mut Part, key: &str, value: &str) {
    part.knobs.retain(|(known, _)| known != key);
    part.knobs.push((key.to_owned(), value.to_owned()));
}

/// The recovery that belongs to an alias, if one does.
fn recovery_of(alias: &Alias) -> Option<&'static str> {
    ALIAS_RECOVERY.iter().find(|(name, _)| *name == alias.name).map(|(_, recovery)| *recovery)
}

/// How many duplicate ACKs mean a loss to an alias, if it says so.
fn duplicate_acks_of(alias: &Alias) -> Option<u32> {
    ALIAS_DUPLICATE_ACKS.iter().find(|(name, _)| *name == alias.name).map(|(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(text: &str) -> String {
        Control::resolve(&text.parse().unwrap()).unwrap().full
    }

    #[test]
    fn every_alias_resolves() {
        for alias in ALIASES {
            full(alias.name);
        }
    }

    #[test]
    fn an_alias_brings_its_knobs_and_yields_to_those_written_after_it() {
        assert_eq!(full("tcpw-a"), "astart+westwood(lg=on)");
        assert_eq!(full("tcpw-a(lg=off)"), "astart+westwood(lg=off)");
        let each = "astart(iw=4pkt)+westwood(lg=on,lg.eps=0.6)";
        assert_eq!(full("tcpw-a(lg.eps=0.6,iw=4pkt)"), each);
        let both = "astart(preset=paper)+westwood(lg=on,preset=paper)";
        assert_eq!(full("tcpw-a(preset=paper)"), both);
        assert_eq!(full("tcpw-a+newreno"), "astart+newreno");
    }

    #[test]
    fn a_transport_without_routers_gets_no_control_that_needs_them() {
        let without = |text: &str| Control::named(text).unwrap().without_routers();
        for text in ["quick-start", "xcp", "tcp-ebn", "slow-start+xcp", "xcp+newreno"] {
            let problem = without(text).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("control `{text}`: ")), "{problem}");
            assert!(problem.contains("needs routers"), "{problem}");
        }
        assert_eq!(without("scalable-tcp").unwrap().full, "slow-start+scalable");
    }

    #[test]
    fn knobs_after_a_policys_own_name_are_for_that_policy() {
        assert_eq!(full("astart(preset=paper)"), "astart(preset=paper)+westwood");
        assert_eq!(full("hoe(ssthresh=none)"), "hoe(ssthresh=none)+newreno");
        let unknown = Control::resolve(&"tcpw-a(lg.bet=0.7)".parse().unwrap()).unwrap_err();
        assert!(unknown.to_string().contains("no knob `lg.bet`"), "{unknown}");
    }
}
