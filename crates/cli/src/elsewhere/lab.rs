//! What the commands ask of the lab, where there is no Linux: one answer.

use std::str::FromStr;

use firstflight_runner::{Options, Report};
use firstflight_scenario::{ControlSpec, Resolved, Scenario};

use crate::failure::Failure;

/// How to run on real Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lab {
    pub(crate) link: Option<LinkKind>,
    pub(crate) generator: Generator,
}

/// How the bottleneck is made; read and checked as on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Tun,
    Netem,
}

/// Who makes the connections; read and checked as on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Generator {
    #[default]
    Own,
    Iperf3,
}

/// A control that a socket can be given.
pub(crate) struct LinuxControl {
    pub(crate) full: String,
}

impl FromStr for LinkKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tun" => Ok(Self::Tun),
            "netem" => Ok(Self::Netem),
            _ => Err(format!("found `{text}`; accepted: tun, netem")),
        }
    }
}

impl FromStr for Generator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "own" => Ok(Self::Own),
            "iperf3" => Ok(Self::Iperf3),
            _ => Err(format!("found `{text}`; accepted: own, iperf3")),
        }
    }
}

impl LinuxControl {
    /// There are none here.
    pub(crate) fn resolve(_: &ControlSpec) -> Result<Self, Failure> {
        Err(needs_linux("--on linux"))
    }
}

/// Nothing is run on Linux here.
pub(crate) fn resolve(_: &Scenario) -> Result<Resolved, Failure> {
    Err(needs_linux("--on linux"))
}

/// Nothing is run on Linux here.
pub(crate) fn run(_: &Scenario, _: &Options<'_>, _: Lab) -> Result<Report, Failure> {
    Err(needs_linux("the lab"))
}

/// The one answer.
pub(crate) fn needs_linux(what: &str) -> Failure {
    Failure::Lacks(format!("{what} needs Linux, and this is {}", std::env::consts::OS))
}

/// Names of controls.
pub(crate) mod control {
    use firstflight_control::Own;

    /// None are known here.
    pub(crate) const OWN: &[Own] = &[];

    /// What the running kernel has.
    pub(crate) fn available() -> Vec<String> {
        Vec::new()
    }
}
