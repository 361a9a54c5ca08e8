//! `--on quic --real-time`, where there is no Linux.

use firstflight_runner::{Options, Report};
use firstflight_scenario::{Resolved, Scenario};

use super::lab::needs_linux;
use crate::failure::Failure;
use crate::logs::Logs;

/// Nothing is run in real time here.
pub(crate) fn resolve(_: &Scenario) -> Result<Resolved, Failure> {
    Err(needs_linux("--real-time"))
}

/// Nothing is run in real time here.
pub(crate) fn run(_: &Scenario, _: &Options<'_>, _: Option<&Logs>) -> Result<Report, Failure> {
    Err(needs_linux("--real-time"))
}
