//! The tables of names, made of the policies' cards ([`crate::card`]): every start-up, every
//! avoidance, every alias. The command line, scenario files, `list` and the tests read them.
//! [`AnyStartup`] and [`AnyAvoidance`] hold whichever policy a name means, without allocation.

pub use crate::avoidance::{AVOIDANCES, AnyAvoidance};
pub use crate::card::Card;
use crate::needs::Needs;
use crate::policy::Observer as _;
pub use crate::startup::{AnyStartup, STARTUPS};

/// A short name for a pair of policies, as the papers call it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Alias {
    /// The short name.
    pub name: &'static str,
    /// What it stands for, a control as users write it, with knobs where it sets some.
    pub control: &'static str,
    /// Who calls it so.
    pub source: &'static str,
}

/// Every alias.
pub const ALIASES: &[Alias] = &[
    Alias { name: "tahoe", control: "slow-start+newreno", source: "Jacobson, SIGCOMM 1988" },
    Alias { name: "reno", control: "slow-start+newreno", source: "RFC 5681, Reno recovery" },
    Alias { name: "newreno", control: "slow-start+newreno", source: "RFC 6582" },
    Alias { name: "hoe", control: "hoe+newreno", source: "Hoe, SIGCOMM 1996" },
    Alias { name: "vegas", control: "vegas+vegas", source: "Brakmo and others, SIGCOMM 1994" },
    Alias { name: "tcpw", control: "slow-start+westwood", source: "TCP Westwood" },
    Alias { name: "astart", control: "astart+westwood", source: "Astart paper" },
    Alias { name: "tcpw-a", control: "astart+westwood(lg=on)", source: "Agile Probing paper" },
    Alias { name: "bbr", control: "bbr+bbr", source: "draft-ietf-ccwg-bbr, BBRv3" },
    Alias { name: "abba", control: "slow-start+abba", source: "draft-kazuho-ccwg-abba" },
    Alias { name: "cubic", control: "slow-start+cubic", source: "RFC 9438" },
    Alias {
        name: "cdn",
        control: "paced(first=paced,iw=30pkt)+cubic",
        source: "paced slow start from 30 packets, with which quicly compares Rapid Start",
    },
    Alias { name: "dctcp", control: "slow-start+dctcp", source: "RFC 8257" },
    Alias { name: "mstart", control: "mstart+cubic", source: "M-Start paper" },
    Alias { name: "liw", control: "liw+newreno", source: "Astart paper, section V.D" },
    Alias { name: "stcp", control: "slow-start+newreno", source: "Short-transfers paper" },
    Alias { name: "bc", control: "bc+newreno", source: "RFC 3465, in the short-transfers paper" },
    Alias {
        name: "p-tcp",
        control: "two-phase+newreno",
        source: "P-TCP; M-Start paper, reference 9",
    },
    Alias {
        name: "ack-counting",
        control: "slow-start(count=acks)+newreno",
        source: "RFC 2581; what ACK splitting abuses",
    },
    Alias {
        name: "hoe-early",
        control: "hoe+newreno",
        source: "M-Start paper, reference 15: Hoe, retransmission on the second duplicate ACK",
    },
    Alias { name: "iw4k", control: "slow-start(preset=rfc3390)+newreno", source: "RFC 3390" },
    Alias { name: "iw10", control: "slow-start(preset=rfc6928)+newreno", source: "RFC 6928" },
    Alias {
        name: "westwood-plus",
        control: "slow-start+westwood-plus",
        source: "Linux tcp_westwood.c",
    },
    Alias { name: "dbc", control: "dbc+newreno", source: "Short-transfers paper, section 4.3" },
    Alias {
        name: "scalable-tcp",
        control: "slow-start+scalable",
        source: "Kelly, 2003; Agile Probing paper, reference 15",
    },
    Alias {
        name: "highspeed-tcp",
        control: "slow-start+highspeed",
        source: "RFC 3649; Agile Probing paper, reference 10",
    },
    Alias {
        name: "stabilized-vegas",
        control: "vegas+stabilized-vegas",
        source: "Choe and Low, 2003; Agile Probing paper, reference 7",
    },
    Alias {
        name: "fast-tcp",
        control: "slow-start+fast",
        source: "Wei and others, 2006; Agile Probing and M-Start papers",
    },
];

/// Aliases that name a loss recovery with the policies, as a profile calls it: `tahoe`, `reno` and
/// `newreno` are the same policies, and the short-transfers paper ran Reno throughout (section 2).
pub const ALIAS_RECOVERY: &[(&str, &str)] = &[
    ("tahoe", "tahoe"),
    ("reno", "reno"),
    ("newreno", "newreno"),
    ("stcp", "reno"),
    ("bc", "reno"),
    ("dbc", "reno"),
];

/// Aliases that name how many duplicate ACKs mean a loss, where it is not three.
pub const ALIAS_DUPLICATE_ACKS: &[(&str, u32)] = &[("hoe-early", 2)];

/// What the start-up of that name needs of a transport.
pub fn startup_needs(name: &str) -> Option<Needs> {
    AnyStartup::by_name(name).map(|startup| startup.needs())
}

/// What the avoidance of that name needs of a transport.
pub fn avoidance_needs(name: &str) -> Option<Needs> {
    AnyAvoidance::by_name(name).map(|avoidance| avoidance.needs())
}

/// The avoidance a start-up runs with when a control names none.
pub fn partner(startup: &str) -> Option<&'static str> {
    STARTUPS.iter().find(|card| card.name == startup)?.partner
}

/// The alias of that name.
pub fn alias(name: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.name == name)
}
