//! What the commands ask of the lab, where there is no Linux: one answer.

use firstflight_runner::{Options, Report};
use firstflight_scenario::{ControlSpec, Resolved, Scenario};

use crate::failure::Failure;

/// How to run on real Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lab;

/// A control that a socket can be given.
pub(crate) struct LinuxControl {
    pub(crate) full: String,
}

impl Lab {
    /// As on Linux.
    pub(crate) const TUN: Self = Self;

    /// Neither flag has a meaning here.
    pub(crate) fn read(link: Option<&str>, generator: Option<&str>) -> Result<Self, Failure> {
        let flag = link.and(Some("--link")).or(generator.and(Some("--generator")));
        flag.map_or(Ok(Self), |flag| Err(needs_linux(flag)))
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

/// No kernel's runs are kept here.
pub(crate) fn kernel_release() -> String {
    String::new()
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
}
