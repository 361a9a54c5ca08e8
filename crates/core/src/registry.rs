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
    /// The loss recovery that it names with the policies, as a profile calls it.
    pub recovery: Option<&'static str>,
    /// How many duplicate ACKs mean a loss, where it is not three.
    pub duplicate_acks: Option<u32>,
}

impl Alias {
    const fn new(name: &'static str, control: &'static str, source: &'static str) -> Self {
        Self { name, control, source, recovery: None, duplicate_acks: None }
    }

    const fn recovering(self, recovery: &'static str) -> Self {
        Self { recovery: Some(recovery), ..self }
    }

    const fn on_duplicate_acks(self, count: u32) -> Self {
        Self { duplicate_acks: Some(count), ..self }
    }
}

/// Every alias. `tahoe`, `reno` and `newreno` are the same policies with another loss recovery, and
/// the short-transfers paper ran Reno throughout (section 2).
pub const ALIASES: &[Alias] = &[
    Alias::new("tahoe", "slow-start+newreno", "Jacobson, SIGCOMM 1988").recovering("tahoe"),
    Alias::new("reno", "slow-start+newreno", "RFC 5681, Reno recovery").recovering("reno"),
    Alias::new("newreno", "slow-start+newreno", "RFC 6582").recovering("newreno"),
    Alias::new("hoe", "hoe+newreno", "Hoe, SIGCOMM 1996"),
    Alias::new("vegas", "vegas+vegas", "Brakmo and others, SIGCOMM 1994"),
    Alias::new("tcpw", "slow-start+westwood", "TCP Westwood"),
    Alias::new("astart", "astart+westwood", "Astart paper"),
    Alias::new("tcpw-a", "astart+westwood(lg=on)", "Agile Probing paper"),
    Alias::new("bbr", "bbr+bbr", "draft-ietf-ccwg-bbr, BBRv3"),
    Alias::new("abba", "slow-start+abba", "draft-kazuho-ccwg-abba"),
    Alias::new("cubic", "slow-start+cubic", "RFC 9438"),
    Alias::new(
        "cdn",
        "paced(first=paced,iw=30pkt)+cubic",
        "paced slow start from 30 packets, with which quicly compares Rapid Start",
    ),
    Alias::new("dctcp", "slow-start+dctcp", "RFC 8257"),
    Alias::new("mstart", "mstart+cubic", "M-Start paper"),
    Alias::new("liw", "liw+newreno", "Astart paper, section V.D"),
    Alias::new("stcp", "slow-start+newreno", "Short-transfers paper").recovering("reno"),
    Alias::new("bc", "bc+newreno", "RFC 3465, in the short-transfers paper").recovering("reno"),
    Alias::new("p-tcp", "two-phase+newreno", "P-TCP; M-Start paper, reference 9"),
    Alias::new(
        "ack-counting",
        "slow-start(count=acks)+newreno",
        "RFC 2581; what ACK splitting abuses",
    ),
    Alias::new(
        "hoe-early",
        "hoe+newreno",
        "M-Start paper, reference 15: Hoe, retransmission on the second duplicate ACK",
    )
    .on_duplicate_acks(2),
    Alias::new("iw4k", "slow-start(preset=rfc3390)+newreno", "RFC 3390"),
    Alias::new("iw10", "slow-start(preset=rfc6928)+newreno", "RFC 6928"),
    Alias::new("westwood-plus", "slow-start+westwood-plus", "Linux tcp_westwood.c"),
    Alias::new("dbc", "dbc+newreno", "Short-transfers paper, section 4.3").recovering("reno"),
    Alias::new(
        "scalable-tcp",
        "slow-start+scalable",
        "Kelly, 2003; Agile Probing paper, reference 15",
    ),
    Alias::new(
        "highspeed-tcp",
        "slow-start+highspeed",
        "RFC 3649; Agile Probing paper, reference 10",
    ),
    Alias::new(
        "stabilized-vegas",
        "vegas+stabilized-vegas",
        "Choe and Low, 2003; Agile Probing paper, reference 7",
    ),
    Alias::new(
        "fast-tcp",
        "slow-start+fast",
        "Wei and others, 2006; Agile Probing and M-Start papers",
    ),
];

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
