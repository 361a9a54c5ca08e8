//! Names become controls: aliases, policies, presets and knobs, all read from the core's tables.

use std::fmt;

use firstflight_core::card::Card;
use firstflight_core::estimate::ere::PER_PACKET;
use firstflight_core::knob::{Knob, KnobKind, KnobValue};
use firstflight_core::needs::{Facilities, Fit, Needs};
use firstflight_core::policy::Observer as _;
use firstflight_core::registry::alias;

use crate::axis::Axis;
use crate::nearest::hint;
use crate::pair::policies;
use crate::policy::{ChosenAvoidance, ChosenStartup};
use crate::spec::{ControlError, ControlSpec, NamedPolicy, shown};
use crate::value::{accepted, knob, read};

/// A control ready to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Control {
    /// The control in full: `astart+westwood`, with the knobs that were given.
    pub full: String,
    /// The control as the user named it.
    pub alias: String,
    /// The preset in force; empty when the control has none.
    pub preset: String,
    /// The start-up with its knobs set.
    pub startup: ChosenStartup,
    /// The avoidance with its knobs set.
    pub avoidance: ChosenAvoidance,
    /// The loss recovery that the name implies, as `reno` implies Reno's; a word of
    /// [`Alias::recovery`](firstflight_core::registry::Alias::recovery).
    pub recovery: Option<&'static str>,
    /// How many duplicate ACKs mean a loss, where the name says so.
    pub duplicate_acks: Option<u32>,
    /// Name of the start-up policy.
    pub startup_name: &'static str,
    /// Name of the avoidance policy.
    pub avoidance_name: &'static str,
    /// Every knob that was set, in the order in which those of one policy were set. Transports
    /// that run a copy of the policies (the kernel) set theirs from it.
    pub settings: Vec<Setting>,
}

/// A knob that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// Name of the policy.
    pub policy: &'static str,
    /// Name of the knob.
    pub knob: &'static str,
    /// What it was set to.
    pub value: KnobValue,
}

/// Why a control cannot be made from its text.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlProblem {
    /// The text does not have the shape of a control.
    #[error(transparent)]
    Shape(#[from] ControlError),
    /// No policy or alias of that name.
    #[error("control `{control}`: unknown {axis} `{found}`{hint}; accepted: {accepted}")]
    Unknown {
        /// The control as written.
        control: String,
        /// `start-up` or `avoidance`.
        axis: &'static str,
        /// The unknown name.
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
        /// The unknown key.
        found: String,
        /// The nearest key: `, did you mean ...`, or nothing.
        hint: String,
        /// All keys.
        accepted: String,
    },
    /// The knob does not take that value.
    #[error(
        "control `{control}`: knob {policy}({knob}=...) does not take `{found}`; \
         accepted: {accepted} ({about})"
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
        /// What the knob does.
        about: &'static str,
    },
    /// A policy needs what the transport does not provide.
    #[error(
        "control `{control}`: {policy} needs {lacks}, which {transport} does not provide; \
         accepted: a control of other policies"
    )]
    Lacks {
        /// The control as written.
        control: String,
        /// The policy.
        policy: &'static str,
        /// What is missing.
        lacks: Facilities,
        /// The transport, as in `--on quic`.
        transport: &'static str,
    },
}

/// The sentence of the message: that is what a program shows whose `main` returns this.
impl fmt::Debug for ControlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Control {
    /// The control that a text names, such as `astart(preset=paper)+westwood`.
    ///
    /// # Errors
    /// The text is no control, or [`Control::resolve`] refuses it.
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
        let no_startup = || Axis::Startup.unknown(&spec.text, &first.name);
        let no_avoidance = || Axis::Avoidance.unknown(&spec.text, &second.name);
        let startup_card = Axis::Startup.card(&first.name).ok_or_else(no_startup)?;
        let avoidance_card = Axis::Avoidance.card(&second.name).ok_or_else(no_avoidance)?;
        let mut startup = ChosenStartup::by_name(&first.name).ok_or_else(no_startup)?;
        let mut avoidance = ChosenAvoidance::by_name(&second.name).ok_or_else(no_avoidance)?;
        let mut knobs = Setter { control: &spec.text, preset: String::new(), settings: Vec::new() };
        let pair = spec.avoidance.is_none().then_some(avoidance_card);
        knobs.set_all(startup_card, &first, pair, |name, value| {
            startup.set(name, value);
        })?;
        knobs.set_all(avoidance_card, &second, None, |name, value| {
            avoidance.set(name, value);
        })?;
        let startup = if first.landed { startup.landed() } else { startup };
        Ok(Self {
            full: format!("{first}+{second}"),
            alias: spec.text.clone(),
            preset: knobs.preset,
            startup,
            avoidance,
            recovery: alias.and_then(|alias| alias.recovery),
            duplicate_acks: alias.and_then(|alias| alias.duplicate_acks),
            startup_name: startup_card.name,
            avoidance_name: avoidance_card.name,
            settings: knobs.settings,
        })
    }

    /// What both policies need of a transport.
    pub fn needs(&self) -> Needs {
        self.startup.needs() | self.avoidance.needs()
    }

    /// Checks the control for a transport that provides `these`, and says what it has to do
    /// without there.
    ///
    /// # Errors
    /// One of its policies requires something that the transport does not provide.
    pub fn on(
        self,
        transport: &'static str,
        these: Facilities,
    ) -> Result<(Self, Facilities), ControlProblem> {
        let policies = [
            (self.startup_name, self.startup.needs()),
            (self.avoidance_name, self.avoidance.needs()),
        ];
        let missing = missing(&self.alias, transport, these, &policies)?;
        Ok((self, missing))
    }

    /// Sets a knob of the start-up to what suits a profile or a transport, if it has one that takes
    /// the word and the user did not set it. What the user set of its other knobs stays.
    pub fn suggest_startup(&mut self, name: &str, word: &'static str) {
        self.suggest(Axis::Startup, name, word);
    }

    /// Sets a knob of the avoidance as [`Control::suggest_startup`] sets one of the start-up.
    pub fn suggest_avoidance(&mut self, name: &str, word: &'static str) {
        self.suggest(Axis::Avoidance, name, word);
    }

    /// Sets what suits an endpoint whose packets leave paced, or whose receiver does not
    /// acknowledge every packet: a rate estimate has weights per packet ([`PER_PACKET`]) unless the
    /// user named a preset. Where the start-up estimates, its estimate is the one that counts.
    pub fn suggest_weights_per_packet(&mut self) {
        let axis = match self.knob(Axis::Startup, "preset") {
            Some(knob) if takes(knob, PER_PACKET) => Axis::Startup,
            _ => Axis::Avoidance,
        };
        self.suggest(axis, "preset", PER_PACKET);
    }

    fn suggest(&mut self, axis: Axis, name: &str, word: &'static str) {
        let policy = self.policy(axis);
        let Some(knob) = self.knob(axis, name).filter(|knob| takes(knob, word)) else { return };
        if self.settings.iter().any(|one| one.policy == policy && one.knob == knob.name) {
            return;
        }
        // Before what the user set, because a preset sets what its other knobs adjust.
        let first = self.settings.iter().position(|one| one.policy == policy);
        let place = first.unwrap_or(self.settings.len());
        let value = KnobValue::Word(word);
        self.settings.insert(place, Setting { policy, knob: knob.name, value });
        for one in self.settings[place..].iter().filter(|one| one.policy == policy) {
            match axis {
                Axis::Startup => self.startup.set(one.knob, one.value),
                Axis::Avoidance => self.avoidance.set(one.knob, one.value),
            };
        }
        // Results name the avoidance's preset where the start-up has none of its own.
        if knob.name == "preset" && (axis == Axis::Startup || self.preset == first_word(knob)) {
            self.preset = word.to_owned();
        }
    }

    const fn policy(&self, axis: Axis) -> &'static str {
        match axis {
            Axis::Startup => self.startup_name,
            Axis::Avoidance => self.avoidance_name,
        }
    }

    fn knob(&self, axis: Axis, name: &str) -> Option<&'static Knob> {
        knob(axis.card(self.policy(axis))?, name)
    }
}

/// Whether a knob takes this word.
fn takes(knob: &Knob, word: &str) -> bool {
    matches!(knob.kind, KnobKind::Word(words) if words.contains(&word))
}

/// The preset that holds where none is set ([`firstflight_core::knob::Knobs::ROWS`]).
fn first_word(preset: &'static Knob) -> &'static str {
    match preset.kind {
        KnobKind::Word(words) => words.first().copied().unwrap_or_default(),
        _ => "",
    }
}

/// What the policies of a control, each with its needs, have to do without on a transport that
/// provides `these`.
///
/// # Errors
/// [`ControlProblem::Lacks`] for the first that cannot run there.
pub fn missing(
    control: &str,
    transport: &'static str,
    these: Facilities,
    policies: &[(&'static str, Needs)],
) -> Result<Facilities, ControlProblem> {
    let mut missing = Facilities::NONE;
    for (policy, needs) in policies {
        match needs.on(these) {
            Fit::Full => {}
            Fit::Degraded(facilities) => missing = missing | facilities,
            Fit::Lacks(lacks) => {
                let control = shown(control);
                return Err(ControlProblem::Lacks { control, policy, lacks, transport });
            }
        }
    }
    Ok(missing)
}

/// Sets the knobs of one policy after the other and remembers the preset.
struct Setter<'a> {
    control: &'a str,
    preset: String,
    settings: Vec<Setting>,
}

impl Setter<'_> {
    /// Sets the knobs of one policy; where they were written for a `pair`, its avoidance has
    /// others.
    fn set_all(
        &mut self,
        policy: &'static Card,
        part: &NamedPolicy,
        pair: Option<&'static Card>,
        mut set: impl FnMut(&str, KnobValue),
    ) -> Result<(), ControlProblem> {
        if let Some((found, _)) = part.knobs.iter().find(|(key, _)| knob(policy, key).is_none()) {
            let all = policy.knobs.iter().chain(pair.map_or(&[][..], |card| card.knobs));
            let mut names: Vec<&str> = Vec::new();
            all.for_each(|knob| {
                if !names.contains(&knob.name) {
                    names.push(knob.name);
                }
            });
            return Err(ControlProblem::NoSuchKnob {
                control: shown(self.control),
                policy: policy.name,
                found: shown(found),
                hint: hint(found, names.iter().copied()),
                accepted: if names.is_empty() { "none".into() } else { names.join(", ") },
            });
        }
        // In the policy's own order, where a preset comes before what adjusts it.
        for knob in policy.knobs {
            let value = part.knob(knob.name);
            // Results name the start-up's preset, unless that only says that nothing is set.
            if knob.name == "preset" && matches!(&*self.preset, "" | NOTHING_SET) {
                self.preset = value.unwrap_or_else(|| first_word(knob)).to_owned();
            }
            if let Some(text) = value {
                let value = self.value(policy, knob, text)?;
                set(knob.name, value);
                self.settings.push(Setting { policy: policy.name, knob: knob.name, value });
            }
        }
        Ok(())
    }

    fn value(
        &self,
        policy: &'static Card,
        knob: &'static Knob,
        text: &str,
    ) -> Result<KnobValue, ControlProblem> {
        read(knob.kind, text).ok_or_else(|| ControlProblem::BadValue {
            control: shown(self.control),
            policy: policy.name,
            knob: knob.name,
            found: shown(text),
            accepted: accepted(knob.kind),
            about: knob.doc,
        })
    }
}

/// The preset of slow start that sets nothing.
const NOTHING_SET: &str = "endpoint";

#[cfg(test)]
mod tests {
    use firstflight_core::units::Span;

    use super::*;

    fn full(text: &str) -> String {
        Control::resolve(&text.parse().unwrap()).unwrap().full
    }

    /// A program whose `main` returns it shows it so.
    #[test]
    fn a_debugger_shows_the_sentence_of_a_problem() {
        let problem = Control::named("suzz").unwrap_err();
        assert_eq!(format!("{problem:?}"), problem.to_string());
        assert!(problem.to_string().starts_with("control `suzz`: unknown start-up"), "{problem}");
    }

    #[test]
    fn every_alias_resolves() {
        for alias in firstflight_core::registry::ALIASES {
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
    fn a_transport_refuses_a_control_that_cannot_run_there_and_says_what_others_miss() {
        let on = |text: &str| {
            Control::named(text).unwrap().on("`--on quic`", Facilities::TIMES | Facilities::PACING)
        };
        for (text, policy) in [
            ("quick-start", "quick-start needs routers that grant a rate"),
            ("xcp", "xcp needs routers that tell changes of the rate"),
            ("tcp-ebn", "tcp-ebn needs routers that tell the connection's share"),
            ("slow-start+xcp", "xcp needs"),
            ("xcp+newreno", "xcp needs"),
        ] {
            let problem = on(text).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("control `{text}`: {policy}")), "{problem}");
            assert!(problem.contains("which `--on quic` does not provide"), "{problem}");
        }
        let (control, missing) = on("scalable-tcp").unwrap();
        assert_eq!((&*control.full, missing), ("slow-start+scalable", Facilities::NONE));
        assert_eq!(on("fast-start").unwrap().1, Facilities::MEMORY);
    }

    #[test]
    fn an_endpoint_that_paces_or_thins_acks_gives_estimates_weights_per_packet() {
        let suited = |text: &str| {
            let mut control = Control::named(text).unwrap();
            control.suggest_weights_per_packet();
            control
        };
        let of_startup = |control: &Control, name: &str| match &control.startup {
            ChosenStartup::Core(startup) => startup.value(name),
            _ => None,
        };
        let of_avoidance = |control: &Control, name: &str| match &control.avoidance {
            ChosenAvoidance::Core(avoidance) => avoidance.value(name),
            _ => None,
        };
        let astart = suited("astart(ere.tmin=5ms)");
        assert_eq!(astart.preset, "per-packet");
        assert_eq!(of_startup(&astart, "ere.filter"), Some(KnobValue::Word("packets")));
        assert_eq!(of_startup(&astart, "ere.tmin"), Some(KnobValue::Time(Span::from_millis(5))));
        let knobs: Vec<&str> = astart.settings.iter().map(|setting| setting.knob).collect();
        assert_eq!(knobs, ["preset", "ere.tmin"]);
        // What the user names stays, and Westwood goes on to use the start-up's estimate.
        let paper = suited("astart(preset=paper)");
        assert_eq!((paper.preset.as_str(), paper.settings.len()), ("paper", 1));
        // Without one, Westwood's own counts.
        let tcpw = suited("tcpw");
        assert_eq!(tcpw.preset, "per-packet");
        assert_eq!(of_avoidance(&tcpw, "ere.filter"), Some(KnobValue::Word("packets")));
        // Other presets and other controls are left alone.
        assert_eq!(suited("newreno").settings, []);
        assert_eq!(suited("hoe").preset, Control::named("hoe").unwrap().preset);
    }

    #[test]
    fn the_preset_of_an_estimate_is_named_before_that_of_plain_slow_start() {
        let preset = |text: &str| Control::named(text).unwrap().preset;
        assert_eq!(preset("astart(preset=paper)"), "paper");
        assert_eq!(preset("tcpw"), "figures");
        assert_eq!(preset("tcpw(preset=paper)"), "paper");
        assert_eq!(preset("newreno"), "endpoint");
        assert_eq!(preset("vegas"), "");
    }

    #[test]
    fn a_name_on_the_wrong_side_of_the_plus_is_answered_with_the_right_control() {
        let mean = "did you mean";
        let wanted =
            format!("unknown start-up `westwood`, an avoidance; {mean} `slow-start+westwood`");
        assert_eq!(problem("westwood"), wanted);
        let wanted = format!("unknown avoidance `reno`, an alias; {mean} its avoidance `newreno`");
        assert_eq!(problem("slow-start+reno"), wanted);
        assert_eq!(
            problem("astart+hoe"),
            "unknown avoidance `hoe`, a start-up, which stands before the `+`; `hoe` alone is \
             `hoe+newreno`"
        );
    }

    /// What is wrong with a control, without its name and what is accepted.
    fn problem(text: &str) -> String {
        let problem = Control::named(text).unwrap_err().to_string();
        let problem = problem.split("`: ").nth(1).unwrap().split("; accepted").next().unwrap();
        problem.to_owned()
    }
}
