//! Which stacks support a key. A key that no stack in use supports is refused, so that no result
//! is taken for that of a key that had no effect.

use crate::error::ScenarioError;
use crate::profile::{Profile, Receiver};
use crate::scenario::{Endpoint, Scenario};

use super::{Key, Switches};

/// What carries a flow and repairs its losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The simulator's recoveries, under the names of [`crate::Recovery`].
    Tahoe,
    /// Fast recovery until the first new ACK.
    Reno,
    /// Fast recovery with partial ACKs.
    NewReno,
    /// The pipe algorithm.
    Sack,
    /// RACK-TLP, as in Linux.
    Rack,
    /// `sack` under profile `ns2`: the agent Sack1.
    Ns2Sack,
    /// Vegas under profile `ns2`: an agent of its own.
    Ns2Vegas,
    /// The agent TCP/Linux of ns-2.
    Ns2Linux,
    /// The simulator's own QUIC.
    Quic,
    /// quinn, in the simulator's network or over sockets.
    Quinn,
    /// TCP of the running kernel.
    Kernel,
}

/// What a flow runs with, as far as it decides which keys have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackInUse {
    /// The number of the group of flows, from 0.
    pub group: usize,
    /// What carries it.
    pub stack: Stack,
    /// Packets per ACK.
    pub delayed_ack: u64,
    /// Its application rests at times: between files on one connection, or between writes.
    pub rests: bool,
    /// The constants of the endpoints.
    pub switches: Switches,
}

/// A key that a scenario sets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyInUse {
    /// The number of the group of flows that it is set for; `None` for all.
    pub group: Option<usize>,
    /// The dotted key.
    pub place: String,
    /// Its row.
    pub key: &'static Key,
    /// The value as a file has it.
    pub text: String,
}

/// What must hold besides the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Receivers delay ACKs.
    DelayedAcks,
    /// Connections rest.
    Rest,
    /// Receivers are Linux's.
    LinuxReceiver,
    /// Only controls that say so are paced.
    NoPacing,
    /// A SYN exchange comes first.
    Syn,
}

/// Which flows a key has an effect on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// Those of these stacks, a bit each.
    by: u16,
    /// Where these hold too, a bit each.
    conditions: u8,
    /// The value that says what quinn does whatever is set, if one does: it can be set there too.
    quinns: Option<&'static str>,
}

impl Stack {
    /// All of them.
    const ALL: [Self; 11] = [
        Self::Tahoe,
        Self::Reno,
        Self::NewReno,
        Self::Sack,
        Self::Rack,
        Self::Ns2Sack,
        Self::Ns2Vegas,
        Self::Ns2Linux,
        Self::Quic,
        Self::Quinn,
        Self::Kernel,
    ];

    /// Its name among recoveries; nothing for what is no recovery of the simulator's.
    const fn recovery(self) -> Option<&'static str> {
        Some(match self {
            Self::Tahoe => "`tahoe`",
            Self::Reno => "`reno`",
            Self::NewReno => "`newreno`",
            Self::Sack => "`sack`",
            Self::Rack => "`rack`",
            Self::Ns2Sack => "`sack` of `ns2`",
            Self::Ns2Vegas => "Vegas of `ns2`",
            Self::Ns2Linux => "`ns2-linux`",
            Self::Quic => "`quic`",
            Self::Quinn | Self::Kernel => return None,
        })
    }
}

impl Condition {
    const ALL: [Self; 5] =
        [Self::DelayedAcks, Self::Rest, Self::LinuxReceiver, Self::NoPacing, Self::Syn];

    fn holds(self, runs: &StackInUse) -> bool {
        match self {
            // QUIC's senders allow for the delay in their timers, and the kernel's receivers know
            // no number of packets.
            Self::DelayedAcks => {
                runs.delayed_ack > 1 || matches!(runs.stack, Stack::Quic | Stack::Kernel)
            }
            Self::Rest => runs.rests,
            Self::LinuxReceiver => {
                runs.switches.receiver == Receiver::Linux || runs.stack == Stack::Kernel
            }
            Self::NoPacing => !runs.switches.pacing,
            Self::Syn => runs.switches.syn,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::DelayedAcks => "`delayed_ack` is 2 or more",
            Self::Rest => "there are `writes`, or `files` with `keep_alive`",
            Self::LinuxReceiver => "`receiver` is `linux`",
            Self::NoPacing => "`pacing` is `false`",
            Self::Syn => "`syn` is `true`",
        }
    }
}

impl Support {
    /// Flows of the simulator's TCP with the recovery of an RFC, none with an agent of ns-2.
    pub(super) const RFC_TCP: Self =
        Self::by(&[Stack::Tahoe, Stack::Reno, Stack::NewReno, Stack::Sack, Stack::Rack]);
    /// Every flow of the simulator's TCP.
    pub(super) const TCP: Self =
        Self::RFC_TCP.and(Stack::Ns2Sack).and(Stack::Ns2Vegas).and(Stack::Ns2Linux);
    /// Every flow of the simulator's own.
    pub(super) const SIMULATED: Self = Self::TCP.and(Stack::Quic);
    /// Every flow.
    pub(super) const EVERYWHERE: Self = Self::SIMULATED.and(Stack::Quinn).and(Stack::Kernel);

    /// Flows of these stacks.
    pub(super) const fn by(stacks: &[Stack]) -> Self {
        let mut support = Self { by: 0, conditions: 0, quinns: None };
        let mut at = 0;
        while at < stacks.len() {
            support = support.and(stacks[at]);
            at += 1;
        }
        support
    }

    /// Flows of this stack too.
    pub(super) const fn and(self, stack: Stack) -> Self {
        Self { by: self.by | 1 << stack as u16, ..self }
    }

    /// Only where this holds too.
    pub(super) const fn only(self, condition: Condition) -> Self {
        Self { conditions: self.conditions | 1 << condition as u8, ..self }
    }

    /// What quinn does, whatever is set.
    pub(super) const fn quinn_does(self, value: &'static str) -> Self {
        Self { quinns: Some(value), ..self }
    }

    fn conditions(self) -> impl Iterator<Item = Condition> {
        Condition::ALL.into_iter().filter(move |it| self.conditions & 1 << *it as u8 != 0)
    }

    /// Whether every flow supports it.
    pub fn is_everywhere(self) -> bool {
        self == Self::EVERYWHERE
    }

    /// Whether flows of a stack can support it.
    pub const fn includes(self, stack: Stack) -> bool {
        self.by & 1 << stack as u16 != 0
    }

    /// Whether flows of a stack do what this value says.
    pub fn allows(self, stack: Stack, value: &str) -> bool {
        self.includes(stack) || (stack == Stack::Quinn && self.quinns == Some(value))
    }

    fn allows_in(self, runs: &StackInUse, value: &str) -> bool {
        let holds = || self.conditions().all(|condition| condition.holds(runs));
        self.allows(runs.stack, value) && (!self.includes(runs.stack) || holds())
    }

    /// Where it has an effect: `recovery newreno`; nothing for everywhere.
    pub fn words(self) -> String {
        let stacks: Vec<Stack> =
            Stack::ALL.into_iter().filter(|stack| self.includes(*stack)).collect();
        let recoveries: Vec<&str> = stacks.iter().filter_map(|stack| stack.recovery()).collect();
        let in_sim = match self.by & Self::SIMULATED.by {
            0 => None,
            all if all == Self::SIMULATED.by => Some("the simulator".to_owned()),
            all if all == Self::TCP.by => Some("the simulator's TCP".to_owned()),
            _ => Some(format!("recovery {}", recoveries.join(", "))),
        };
        let quinn = self.includes(Stack::Quinn).then(|| "quinn's QUIC".to_owned());
        let kernel = self.includes(Stack::Kernel).then(|| "Linux".to_owned());
        let places: Vec<String> = [in_sim, quinn, kernel].into_iter().flatten().collect();
        let places =
            if stacks.len() == Stack::ALL.len() { String::new() } else { places.join(", or ") };
        let conditions: Vec<&str> = self.conditions().map(Condition::words).collect();
        let words = match (conditions.join(" and "), places) {
            (none, places) if none.is_empty() => places,
            (conditions, none) if none.is_empty() => format!("where {conditions}"),
            (conditions, places) => format!("{places}, where {conditions}"),
        };
        match self.quinns {
            Some(value) => format!("{words}, or as `{value}` with quinn's QUIC"),
            None => words,
        }
    }
}

impl Scenario {
    /// Refuses every key that is set where no flow supports it; `runs` has the flows of all runs.
    /// What only the profile says is never refused.
    ///
    /// # Errors
    /// The first such key, at its place, with what supports it.
    pub fn check_support(&self, runs: &[StackInUse]) -> Result<(), ScenarioError> {
        let profile = self.endpoint.profile.unwrap_or_default();
        if self.endpoint.ns2_release.is_some() && profile != Profile::Ns2 {
            let problem = format!("no effect with profile {profile}; accepted: with profile ns2");
            return Err(self.error_at("ns2_release", problem));
        }
        let mut by_group: Vec<Vec<&StackInUse>> = Vec::new();
        for run in runs {
            by_group.resize_with(by_group.len().max(run.group + 1), Vec::new);
            by_group[run.group].push(run);
        }
        for KeyInUse { group, place, key, text } in self.set() {
            // Of all flows, or of one group.
            let groups = group.map_or(0..by_group.len(), |i| i..i + 1);
            let concerned = || by_group.get(groups.clone()).into_iter().flatten().flatten();
            if concerned().next().is_none()
                || concerned().any(|runs| key.support.allows_in(runs, &text))
            {
                continue;
            }
            let here: Vec<Stack> = concerned().map(|runs| runs.stack).collect();
            let (here, support) = (Support::by(&here).words(), key.support.words());
            let problem = format!("no effect with {here}; accepted: with {support}");
            return Err(self.error_at(&place, problem.replace('`', "")));
        }
        Ok(())
    }

    /// Every key of an endpoint that is set, for all flows or for a group of them.
    pub fn set(&self) -> impl Iterator<Item = KeyInUse> {
        let all = (None, String::new(), self.endpoint.clone());
        let groups = self.flows.iter().enumerate().map(|(i, flow)| {
            let own = Endpoint { flow: flow.own.clone(), ..Endpoint::default() };
            (Some(i), format!("flow[{i}]."), own)
        });
        std::iter::once(all).chain(groups).flat_map(|(group, table, endpoint)| {
            Key::all().filter_map(move |key| {
                let text = (key.given)(&endpoint)?;
                Some(KeyInUse { group, place: format!("{table}{}", key.name), key, text })
            })
        })
    }
}
