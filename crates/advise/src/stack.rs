//! Who sends, and the controls that a person can have there.

use firstflight_control::policy::{ChosenStartup, startups};
use firstflight_core::card::Card;
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::policy::Observer as _;

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The TCP of a Linux kernel, with its own controls and ours as eBPF.
    Linux,
    /// quinn, with its own controllers and ours.
    Quinn,
    /// noq, the QUIC of iroh, with its own controllers and ours.
    Noq,
    /// Another stack of QUIC, which has a timer and paces.
    Quic,
}

/// A control that can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The stack's name for it.
    pub name: String,
    /// The control that the simulator runs in its place.
    pub model: String,
}

impl Stack {
    /// All, in the order of the help.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Quinn, Self::Noq, Self::Quic];

    /// As `--on` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Quinn => "quinn",
            Self::Noq => "noq",
            Self::Quic => "quic",
        }
    }

    /// What it is, for a sentence.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Linux => "Linux's TCP",
            Self::Quinn => "quinn",
            Self::Noq => "noq",
            Self::Quic => "QUIC",
        }
    }

    /// Its controls: those that come with it, the one that it takes by itself first, and every
    /// start-up that it `carries`. A start-up goes on with its usual avoidance, or with CUBIC where
    /// that would be NewReno, as the stacks have it today. None is a start-up that needs routers,
    /// an earlier connection or repeats, which no stack sends, nor one whose first window is beyond
    /// RFC 6928's and leaves at once.
    pub fn controls(self, carries: impl Fn(&Card, Needs) -> bool) -> Vec<Candidate> {
        let own = self.own().iter().map(|(name, model)| Candidate::new(name, model));
        let mut all: Vec<Candidate> = own.collect();
        for card in startups() {
            let Some(startup) = ChosenStartup::by_name(card.name) else { continue };
            let needs = startup.needs();
            let asks = needs.required.and(needs.wanted).common(OF_OTHERS);
            if !asks.is_empty()
                || card.name == BEYOND
                || self.differs(card.name)
                || !carries(card, needs)
            {
                continue;
            }
            let name = match card.partner {
                _ if card.name == "slow-start" => REFERENCE.to_owned(),
                Some(partner) if partner != "newreno" => card.name.to_owned(),
                _ => format!("{}+cubic", card.name),
            };
            if all.iter().all(|candidate| candidate.model != name) {
                all.push(Candidate::new(&name, &name));
            }
        }
        all
    }

    /// What comes with it, and what the simulator runs in its place.
    fn own(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Linux => {
                &[("linux-cubic", "hystart"), ("linux-reno", "newreno"), ("linux-bbr", BBR_1)]
            }
            Self::Quinn => &[("quinn-cubic", REFERENCE), ("quinn-newreno", "newreno")],
            Self::Noq => &[("noq-cubic", REFERENCE), ("noq-newreno", "newreno")],
            Self::Quic => &[(REFERENCE, REFERENCE)],
        }
    }

    /// Whether a start-up does other things there than simulated.
    fn differs(self, startup: &str) -> bool {
        match self {
            Self::Linux | Self::Quic => false,
            Self::Quinn => startup == OTHER_ON_QUINN,
            Self::Noq => OTHER_ON_NOQ.contains(&startup),
        }
    }

    /// The flags of its profile.
    pub(crate) fn flags(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Linux => &[("--packet", "1448B"), ("--headers", "52B")],
            Self::Quinn | Self::Noq | Self::Quic => &[("--profile", "quic")],
        }
    }
}

impl Candidate {
    fn new(name: &str, model: &str) -> Self {
        Self { name: name.to_owned(), model: model.to_owned() }
    }
}

/// Slow start and CUBIC, with which loss and harm are compared, as in rules R2 and R3 of `judge`.
pub(crate) const REFERENCE: &str = "cubic";
/// BBR of Linux, to which docs/stacks.md compares it.
const BBR_1: &str = "bbr(preset=v1)";
/// Over quinn it takes up to 1.7 times as long as simulated.
const OTHER_ON_QUINN: &str = "jump-start";
/// They measure the path by the spacing of the first ACKs, and noq lets the first window leave in
/// pairs: over noq they take up to five times as long as simulated.
const OTHER_ON_NOQ: [&str; 3] = ["afstart", "hoe", "packet-pair"];
/// The start-up with the large window.
const BEYOND: &str = "liw";
/// What no stack has on every path.
const OF_OTHERS: Facilities = Facilities::GRANTS
    .and(Facilities::ROUTER_CHANGES)
    .and(Facilities::ROUTER_SHARES)
    .and(Facilities::MEMORY)
    .and(Facilities::REPEATS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_its_own_first_and_every_start_up_once() {
        let names = |stack: Stack| -> Vec<String> {
            let all = stack.controls(|card, _| stack != Stack::Linux || card.kernel.is_some());
            all.into_iter().map(|candidate| candidate.name).collect()
        };
        let linux = names(Stack::Linux);
        assert_eq!(linux[0], "linux-cubic");
        let has = |name: &str| linux.iter().any(|other| other == name);
        assert!(
            ["scout", "suss", "cubic", "hoe+cubic", "astart"].into_iter().all(has),
            "{linux:?}"
        );
        assert!(
            !["hystart", "careful-resume", "bbr", "liw+cubic"].into_iter().any(has),
            "{linux:?}"
        );
        let noq = names(Stack::Noq);
        assert_eq!(noq[..2], ["noq-cubic", "noq-newreno"]);
        assert!(!noq.iter().any(|name| name == "hoe+cubic"), "{noq:?}");
        let quic = names(Stack::Quic);
        assert_eq!(quic.iter().filter(|name| *name == "cubic").count(), 1);
        assert!(!quic.iter().any(|name| name.contains("quick-start")), "{quic:?}");
    }
}
