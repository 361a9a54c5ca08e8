//! Everything that has a name, as data: what `list --json` prints.

use std::collections::BTreeMap;

use firstflight_control::Control;
use firstflight_control::default_text;
use firstflight_control::policy::{ChosenAvoidance, ChosenStartup, avoidances, startups};
use firstflight_control::spec::LANDED;
use firstflight_control::stack::{OF_LINUX, StackControl};
use firstflight_core::card::{About, Card};
use firstflight_core::knob::{Knob as CoreKnob, KnobKind, KnobValue};
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::policy::Observer as _;
use firstflight_core::registry::{ALIASES, Alias as CoreAlias};
use firstflight_kernel::catalogue::available;
use firstflight_link::Discipline;
use firstflight_quic::{noq, quinn};
use firstflight_runner::accepted;
use firstflight_scenario::{ControlSpec, PathFlags, Profile as Named, hint};
use firstflight_transports::{PROVIDED, transports_of, transports_of_control};
use schemars::JsonSchema;
use serde::Serialize;

use super::named::{NAMED, PaperName};
use crate::failure::Failure;

/// The document of `list --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Catalogue {
    schema: &'static str,
    version: &'static str,
    /// Start-up policies.
    pub(crate) startups: Vec<Policy>,
    /// Avoidance policies.
    pub(crate) avoidances: Vec<Policy>,
    /// What can be written around a start-up.
    pub(crate) around: Vec<Around>,
    /// Short names of pairs.
    pub(crate) aliases: Vec<Alias>,
    /// What the papers call all of these.
    pub(crate) named: Vec<PaperName>,
    /// The kernel's own controls, which run on linux alone.
    pub(crate) kernels_own: Vec<KernelsOwn>,
    /// Controllers that come with quinn, over QUIC only.
    pub(crate) quinn: Vec<StacksOwn>,
    /// Controllers that come with noq, over noq only.
    pub(crate) noq: Vec<StacksOwn>,
    /// What the transports provide beside ACKs and losses: a line for each, and who provides it.
    pub(crate) provided: Vec<Provided>,
    /// Queue disciplines of a link.
    pub(crate) queues: Vec<Queue>,
    /// Sets of endpoint constants.
    pub(crate) profiles: Vec<Profile>,
    /// Flags of `compare` and `run`, with the scenario keys they set.
    pub(crate) path_flags: Vec<Flag>,
}

/// A start-up or avoidance.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Policy {
    /// The name as users write it.
    pub(crate) name: &'static str,
    /// One line: what it does.
    pub(crate) summary: &'static str,
    /// Paper or RFC.
    pub(crate) source: &'static str,
    /// What it watches, what it believes and where it fails, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<AboutIt>,
    /// It sets a pacing rate.
    pub(crate) paced: bool,
    /// The transports of this build that run it.
    pub(crate) transports: Vec<&'static str>,
    /// On these of them its pacing rate is not followed.
    pub(crate) unpaced_on: Vec<&'static str>,
    /// The avoidance that a start-up goes on with where a control names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goes_on_with: Option<&'static str>,
    /// It finds its own end: a profile's ssthresh is not for it.
    pub(crate) own_end: bool,
    /// What it cannot run without, beside ACKs and losses, in words.
    pub(crate) requires: Vec<&'static str>,
    /// What it would use too.
    pub(crate) wants: Vec<&'static str>,
    /// The transports on which it runs without some of that, and without what.
    pub(crate) degraded_on: BTreeMap<&'static str, Vec<&'static str>>,
    /// What can be set.
    pub(crate) knobs: Vec<Knob>,
}

/// A policy in a few sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AboutIt {
    /// What it looks at.
    pub(crate) watches: &'static str,
    /// What it takes for granted.
    pub(crate) believes: &'static str,
    /// Where that does not hold.
    pub(crate) fails: &'static str,
}

/// A parameter of a policy.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Knob {
    /// The name as users write it.
    pub(crate) name: &'static str,
    /// `count`, `window`, `time`, `ratio` or `word`.
    pub(crate) kind: &'static str,
    /// What it takes, in words.
    pub(crate) accepted: String,
    /// Its value when not set.
    pub(crate) default: String,
    /// What it does.
    pub(crate) doc: &'static str,
}

/// What can be written around a start-up and changes it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Around {
    /// The word.
    pub(crate) name: &'static str,
    /// The name as users write it.
    pub(crate) written: &'static str,
    /// One line: what it does.
    pub(crate) summary: &'static str,
    /// Paper or RFC.
    pub(crate) source: &'static str,
    /// The transports of this build that run it.
    pub(crate) transports: Vec<&'static str>,
}

/// A short name for a pair of policies.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Alias {
    /// The name as users write it.
    pub(crate) name: &'static str,
    /// What it stands for.
    pub(crate) control: &'static str,
    /// Who calls it so.
    pub(crate) source: &'static str,
    /// The transports of this build that run it.
    pub(crate) transports: Vec<&'static str>,
}

/// A control of the kernel's own.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KernelsOwn {
    /// The name as users write it.
    pub(crate) name: &'static str,
    /// One line: what it does.
    pub(crate) summary: &'static str,
    /// Paper or RFC, and the kernel's file.
    pub(crate) source: &'static str,
    /// Whether the running kernel has it.
    pub(crate) here: bool,
}

/// A facility, in the words of `requires` and `wants`, and the transports that provide it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Provided {
    /// In words.
    pub(crate) facility: &'static str,
    /// The names that `--on` takes.
    pub(crate) transports: Vec<&'static str>,
}

/// A controller that comes with a QUIC stack.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StacksOwn {
    /// The name as users write it.
    pub(crate) name: &'static str,
    /// One line: what it does.
    pub(crate) summary: &'static str,
    /// Where it comes from.
    pub(crate) source: &'static str,
}

/// A queue discipline.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Queue {
    /// The name as users write it, which is that of `tc`.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) summary: &'static str,
    /// Paper or RFC, and Linux's file.
    pub(crate) source: &'static str,
    /// What can be set, each with its default.
    pub(crate) knobs: Vec<(&'static str, &'static str)>,
}

/// A set of endpoint constants.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Profile {
    /// The name as users write it.
    pub(crate) name: String,
    /// In the order of the documentation.
    pub(crate) constants: Vec<Constant>,
}

/// One endpoint constant, by the key that sets it alone.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Constant {
    /// The scenario key.
    pub(crate) name: &'static str,
    /// With its unit.
    pub(crate) value: String,
}

/// A flag of `compare` and `run`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Flag {
    /// With its dashes.
    pub(crate) name: &'static str,
    /// The scenario key it sets.
    pub(crate) key: &'static str,
    /// What holds when it is not given.
    pub(crate) default: &'static str,
    /// What it sets.
    pub(crate) help: &'static str,
}

impl Catalogue {
    /// All there is.
    pub(crate) fn new() -> Self {
        let flag = |f: &'static firstflight_scenario::Flag| Flag {
            name: &f.name,
            key: f.key,
            default: &f.default,
            help: &f.help,
        };
        let here = available();
        let own = |own: &StackControl| KernelsOwn {
            name: own.name,
            summary: own.summary,
            source: own.source,
            here: own.name.strip_prefix(OF_LINUX).is_some_and(|n| here.iter().any(|h| h == n)),
        };
        Self {
            schema: "firstflight/list@1",
            version: env!("CARGO_PKG_VERSION"),
            startups: startups()
                .into_iter()
                .filter_map(|card| {
                    let startup = ChosenStartup::by_name(card.name)?;
                    let policy = Policy::of(card, startup.needs(), |name| startup.value(name));
                    let control = Control::named(card.name).ok()?;
                    let goes_on_with = Some(control.avoidance.card().name);
                    Some(Policy { goes_on_with, ..policy })
                })
                .collect(),
            avoidances: avoidances()
                .into_iter()
                .filter_map(|card| {
                    let avoidance = ChosenAvoidance::by_name(card.name)?;
                    Some(Policy::of(card, avoidance.needs(), |name| avoidance.value(name)))
                })
                .collect(),
            around: vec![Around {
                name: LANDED,
                written: "landed(<start-up>)",
                summary: "the climb of any start-up, then a landing at what the path delivered",
                source: "firstflight; draft-kazuho-ccwg-rapid-start section 3.3",
                transports: transports_of_control(&format!("{LANDED}(slow-start)")),
            }],
            aliases: ALIASES.iter().map(Alias::of).collect(),
            named: NAMED.to_vec(),
            kernels_own: firstflight_kernel::catalogue::OWN.iter().map(own).collect(),
            quinn: quinn::OWN.iter().map(StacksOwn::of).collect(),
            noq: noq::OWN.iter().map(StacksOwn::of).collect(),
            provided: Provided::all(),
            queues: Discipline::cards()
                .into_iter()
                .map(|it| Queue {
                    name: it.name,
                    summary: it.about,
                    source: it.sources,
                    knobs: it.knobs,
                })
                .collect(),
            profiles: [Named::Rfc, Named::Ns2, Named::Linux, Named::Quic].map(Profile::of).into(),
            path_flags: PathFlags::all().iter().map(flag).collect(),
        }
    }

    /// Keeps what bears the name: policies, an alias with its policies, a profile, a flag, or the
    /// parts of a control.
    ///
    /// # Errors
    /// Nothing does; the nearest name is in the message.
    pub(crate) fn narrow(&mut self, name: &str) -> Result<(), Failure> {
        let names = self.names();
        let asked = name;
        let name = self.named.iter().find(|named| named.is_meant_by(asked));
        let name =
            name.and_then(|named| named.here).filter(|_| !names.iter().any(|it| it == asked));
        let name = name.unwrap_or(asked);
        let bare = name.trim_start_matches('-');
        let is_it = |here: &str| here.trim_start_matches('-') == bare;
        self.named.retain(|named| named.here.is_some_and(is_it) || named.is_meant_by(asked));
        let mut startups = vec![name.to_owned()];
        let mut avoidances = vec![name.to_owned()];
        let spec = name.parse::<ControlSpec>().ok();
        startups.extend(spec.as_ref().map(|spec| spec.startup.name.clone()));
        let landed = spec.as_ref().is_some_and(|spec| spec.startup.landed);
        self.around.retain(|around| landed || around.name == name);
        self.aliases.retain(|alias| startups.iter().any(|startup| startup == alias.name));
        for alias in &self.aliases {
            let Ok(meant) = alias.control.parse::<ControlSpec>() else { continue };
            startups.push(meant.startup.name);
            avoidances.extend(meant.avoidance.map(|part| part.name));
        }
        if let Some(avoidance) = spec.and_then(|spec| spec.avoidance) {
            // Beside an avoidance of its own an alias stands for its start-up alone.
            self.aliases.clear();
            avoidances = vec![avoidance.name];
        }
        self.startups.retain(|policy| startups.iter().any(|startup| startup == policy.name));
        self.avoidances.retain(|policy| avoidances.iter().any(|avoid| avoid == policy.name));
        self.kernels_own.retain(|own| own.name == name);
        self.quinn.retain(|own| own.name == name);
        self.noq.retain(|own| own.name == name);
        self.provided.retain(|provided| provided.transports.contains(&name));
        self.queues.retain(|queue| queue.name == name);
        self.profiles.retain(|profile| profile.name == name);
        self.path_flags.retain(|flag| flag.name.trim_start_matches('-') == bare);
        // A control in parts is resolved as a run would, so that its knobs are checked too.
        if let Some(spec) = name.parse::<ControlSpec>().ok().filter(|_| name.contains(['+', '('])) {
            Control::resolve(&spec)?;
        }
        let half = name.contains('+') && (self.startups.is_empty() || self.avoidances.is_empty());
        if half || self.names().is_empty() && self.named.is_empty() {
            let papers = NAMED.iter().map(|named| named.name);
            let hint = hint(name, names.iter().map(String::as_str).chain(papers));
            return Err(Failure::Usage(format!(
                "list: nothing is named `{name}`{hint}; accepted: what `firstflight list` prints"
            )));
        }
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        let policies = self.startups.iter().chain(&self.avoidances).map(|policy| policy.name);
        let aliases = self.aliases.iter().map(|alias| alias.name);
        let aliases = aliases.chain(self.around.iter().map(|around| around.name));
        let aliases = aliases.chain(self.kernels_own.iter().map(|own| own.name));
        let aliases = aliases.chain(self.quinn.iter().chain(&self.noq).map(|own| own.name));
        let on = self.provided.iter().flat_map(|provided| &provided.transports).copied();
        let aliases = aliases.chain(on).chain(self.queues.iter().map(|queue| queue.name));
        let flags = self.path_flags.iter().map(|flag| flag.name.trim_start_matches('-'));
        let profiles = self.profiles.iter().map(|profile| profile.name.as_str());
        policies.chain(aliases).chain(flags).chain(profiles).map(str::to_owned).collect()
    }
}

impl Policy {
    /// `begins_with` tells the value of a knob that is not set.
    fn of(
        card: &'static Card,
        needs: Needs,
        begins_with: impl Fn(&str) -> Option<KnobValue>,
    ) -> Self {
        let transports = transports_of(card, needs);
        let without = |facility| {
            transports.iter().filter(move |runs| runs.without.has(facility)).map(|runs| runs.on)
        };
        let degraded = transports.iter().filter(|runs| !runs.without.is_empty());
        let about = |about: About| AboutIt {
            watches: about.watches,
            believes: about.believes,
            fails: about.fails,
        };
        Self {
            name: card.name,
            summary: card.summary,
            source: card.source,
            about: card.about.map(about),
            paced: needs.all().has(Facilities::PACING),
            transports: transports.iter().map(|runs| runs.on).collect(),
            unpaced_on: without(Facilities::PACING).collect(),
            goes_on_with: None,
            own_end: card.own_end,
            requires: needs.required.words().collect(),
            wants: needs.wanted.words().collect(),
            degraded_on: degraded.map(|runs| (runs.on, runs.without.words().collect())).collect(),
            knobs: card.knobs.iter().map(|knob| Knob::of(knob, begins_with(knob.name))).collect(),
        }
    }
}

impl Alias {
    fn of(alias: &CoreAlias) -> Self {
        Self {
            name: alias.name,
            control: alias.control,
            source: alias.source,
            transports: transports_of_control(alias.control),
        }
    }
}

impl Provided {
    /// What one provides at least, and not all alike.
    fn all() -> Vec<Self> {
        let on = |words: &'static str| -> Vec<&'static str> {
            let provides =
                |(_, provided): &&(_, Facilities)| provided.words().any(|it| it == words);
            PROVIDED.iter().filter(provides).map(|(on, _)| *on).collect()
        };
        let any = PROVIDED.iter().fold(Facilities::NONE, |all, (_, provided)| all | *provided);
        any.words().map(|facility| Self { facility, transports: on(facility) }).collect()
    }
}

impl StacksOwn {
    fn of(own: &StackControl) -> Self {
        Self { name: own.name, summary: own.summary, source: own.source }
    }
}

impl Knob {
    fn of(knob: &CoreKnob, begins_with: Option<KnobValue>) -> Self {
        let kind = match knob.kind {
            KnobKind::Count(..) => "count",
            KnobKind::Window | KnobKind::Threshold => "window",
            KnobKind::Time(..) => "time",
            KnobKind::Ratio(..) => "ratio",
            KnobKind::Word(_) => "word",
        };
        let (accepted, default) = (accepted(knob.kind), default_text(knob, begins_with));
        Self { name: knob.name, kind, accepted, default, doc: knob.doc }
    }
}

impl Profile {
    fn of(profile: Named) -> Self {
        let constants = profile.constants().named().into_iter();
        let constants = constants.map(|(name, value)| Constant { name, value });
        Self { name: profile.to_string(), constants: constants.collect() }
    }
}
