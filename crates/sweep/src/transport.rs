//! The transport of a sweep, and what it must be like.

use firstflight_runner::{RunError, Transport};
use firstflight_scenario::Scenario;

use crate::SweepError;

/// The transport in the names of chunks, with what runs in its guests; nothing for the simulator.
pub(crate) fn named(on: &dyn Transport) -> Result<String, RunError> {
    let version = on.version()?;
    Ok(match (on.name(), version.as_str()) {
        ("sim", "") => String::new(),
        (name, "") => name.to_owned(),
        (name, version) => format!("{name} {version}"),
    })
}

/// It in words.
pub(crate) fn shown(on: &str) -> &str {
    if on.is_empty() { "sim" } else { on }
}

/// Every control exists, and its runs are equal each time, unless they need not be.
pub(crate) fn check_controls(
    on: &dyn Transport,
    scenario: &Scenario,
    unrepeatable: bool,
) -> Result<(), SweepError> {
    scenario.check_controls(|spec| {
        if ["quinn-bbr", "noq-bbr"].contains(&spec.text.as_str()) && !unrepeatable {
            return Err(format!(
                "{} draws at random from the operating system, so that no two runs are equal; \
                 accepted in a sweep: any other control, or `unrepeatable = true` above the first \
                 section",
                spec.text
            ));
        }
        on.full_name(spec).map(drop).map_err(|problem| problem.to_string())
    })?;
    Ok(scenario.check_distinct()?)
}
