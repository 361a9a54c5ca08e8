//! The lab of `reproduce`: the running kernel's TCP over firstflight's own link, which is the same
//! on every kernel and tells how late it was.

use firstflight_reproduce::LabStop;
use firstflight_runner::{Options, Report};
use firstflight_scenario::Scenario;

use crate::failure::Failure;
use crate::lab::{self, Lab};

/// Runs a scenario once.
///
/// # Errors
/// The machine lacks something, or the run broke.
pub(super) fn run(scenario: &Scenario, options: &Options<'_>) -> Result<Report, LabStop> {
    lab::run(scenario, options, Lab::TUN).map_err(|error| match Failure::from(error) {
        Failure::Lacks(why) => LabStop::Lacks(why),
        Failure::Interrupted => LabStop::Interrupted,
        other => LabStop::Failed(other.to_string()),
    })
}
