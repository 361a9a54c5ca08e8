//! The journeys of single packets, for a slow-motion picture.

use firstflight_scenario::Scenario;
use firstflight_sim::Journal;

use crate::simulator::{Simulator, prepare};
use crate::{RunError, network};

/// The packets of a control's first run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Followed {
    /// The control as the scenario names it.
    pub name: String,
    /// The journeys of its packets and ACKs, and their waiting at the slowest link.
    pub journal: Journal,
}

/// Follows the first `most` packets of a scenario's first seed under each control, over the
/// simulator's TCP.
///
/// # Errors
/// As [`Transport::run`](crate::Transport::run).
pub fn follow(scenario: &Scenario, most: usize) -> Result<Vec<Followed>, RunError> {
    let (complete, prepared) = prepare(scenario, Simulator::TCP)?;
    let link = complete.slowest_link();
    let one = |(plan, controls): (firstflight_scenario::Plan, Vec<_>)| {
        let network = network::build(&complete, &controls, None);
        Followed { name: plan.name, journal: firstflight_sim::follow(&network, link, most) }
    };
    Ok(prepared.into_iter().map(one).collect())
}
