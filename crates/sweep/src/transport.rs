//! The transports of a sweep: TCP, and QUIC for flows that say `transport = "quic"`.

use firstflight_quic_sim::Quic;
use firstflight_runner::{On, full_name};
use firstflight_scenario::Scenario;

use crate::SweepError;

/// QUIC carries what the scenario says: there is no flag of which the rows would have to tell.
pub(crate) const ON: Option<On<'static>> = Some(On { transport: &Quic::SILENT, by_default: false });

/// Every control exists, and its runs are equal each time.
pub(crate) fn check_controls(scenario: &Scenario) -> Result<(), SweepError> {
    scenario.check_controls(|spec| {
        if spec.text == "quinn-bbr" {
            return Err(
                "quinn-bbr draws at random from the operating system, so that no two runs \
                        are equal; accepted in a sweep: any other control"
                    .to_owned(),
            );
        }
        full_name(spec, ON).map(|_| ()).map_err(|problem| problem.to_string())
    })?;
    Ok(scenario.check_distinct()?)
}
