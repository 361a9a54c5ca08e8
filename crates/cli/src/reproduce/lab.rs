//! The lab of `reproduce`: the running kernel's TCP, or a kernel's in virtual time, over
//! firstflight's own link, which is the same on every kernel and tells how late it was.

use firstflight_reproduce::LabStop;
use firstflight_runner::{Options, Report};
use firstflight_scenario::Scenario;

use crate::failure::Failure;
use crate::lab::{self, Lab};
use crate::virtual_time::VirtualTime;

/// The guests of `--virtual-time`, if it is asked for.
pub(super) fn guests(asked: bool, kernel: Option<&str>) -> Option<VirtualTime> {
    asked.then(|| VirtualTime::new(kernel, Some("tun"), None))
}

/// Runs a scenario once.
///
/// # Errors
/// The machine lacks something, or the run broke.
pub(super) fn run(
    guests: Option<&VirtualTime>,
    scenario: &Scenario,
    options: &Options<'_>,
) -> Result<Report, LabStop> {
    let report = match guests {
        Some(guests) => guests.run(scenario, options, &|_| {}),
        None => lab::run(scenario, options, Lab::TUN).map_err(Failure::from),
    };
    report.map_err(|failure| match failure {
        Failure::Lacks(why) => LabStop::Lacks(why),
        Failure::Interrupted => LabStop::Interrupted,
        other => LabStop::Failed(other.to_string()),
    })
}
