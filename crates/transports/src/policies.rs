//! Which transports run a policy.

use firstflight_control::Control;
use firstflight_core::card::Card;
use firstflight_core::needs::{Facilities, Fit, Needs};
use firstflight_core::policy::Observer as _;

use crate::on::TRANSPORTS;

/// A transport that runs a policy, and what the policy does without there.
#[derive(Clone, Copy, Debug)]
pub struct RunsOn {
    /// The transport, as `--on` takes it.
    pub on: &'static str,
    /// What it would use and does not get; nothing where it runs as its source describes.
    pub without: Facilities,
}

/// The transports that run a policy.
pub fn transports_of(card: &Card, needs: Needs) -> Vec<RunsOn> {
    let runs = |(on, provides): (&'static str, Facilities)| match needs.on(provides) {
        _ if on == "linux" && card.kernel.is_none() => None,
        Fit::Lacks(_) => None,
        Fit::Full => Some(RunsOn { on, without: Facilities::NONE }),
        Fit::Degraded(without) => Some(RunsOn { on, without }),
    };
    PROVIDED.into_iter().filter_map(runs).collect()
}

/// The transports that run a control, by its name.
pub fn transports_of_control(control: &str) -> Vec<&'static str> {
    let Ok(control) = Control::named(control) else { return Vec::new() };
    let mut of_startup = transports_of(control.startup.card(), control.startup.needs());
    of_startup.retain(|runs| runs.on != "linux" || !control.startup.is_landed());
    let of_avoidance = transports_of(control.avoidance.card(), control.avoidance.needs());
    let both = |runs: &RunsOn| of_avoidance.iter().any(|other| other.on == runs.on);
    of_startup.iter().filter(|runs| both(runs)).map(|runs| runs.on).collect()
}

/// The transports, as `--on` takes them, and what each provides besides ACKs and losses.
pub const PROVIDED: [(&str, Facilities); TRANSPORTS.len()] = [
    (TRANSPORTS[0], firstflight_sim::PROVIDES),
    (TRANSPORTS[1], firstflight_quic::quinn::PROVIDES),
    (TRANSPORTS[2], firstflight_quic::noq::PROVIDES),
    (TRANSPORTS[3], firstflight_kernel::PROVIDES),
];
