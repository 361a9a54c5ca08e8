//! Which transport carries the flows: the one place where the command line chooses among them.

use firstflight_runner::{Options, Report};
use firstflight_scenario::{ControlSpec, Scenario, nearest};

use crate::failure::Failure;

/// What `--on` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct On {
    /// Transport: sim; quic and linux are not in this build [default: sim]
    #[arg(long = "on", value_name = "TRANSPORT", default_value = "sim", hide_default_value = true)]
    name: String,
}

/// A transport of this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// The packet simulator.
    Sim,
}

impl On {
    /// The transport that was asked for.
    ///
    /// # Errors
    /// A name that is none, or one that this build does not have.
    pub(crate) fn transport(&self) -> Result<Transport, Failure> {
        let name = self.name.as_str();
        if let Some(found) = Transport::ALL.iter().find(|transport| transport.name() == name) {
            return Ok(*found);
        }
        if ELSEWHERE.contains(&name) {
            return Err(Failure::NoTransport(self.name.clone()));
        }
        let hint = nearest(name, TRANSPORTS.iter().chain(ELSEWHERE).copied());
        let hint = hint.map_or(String::new(), |name| format!(", did you mean `{name}`?"));
        let accepted = TRANSPORTS.join(", ");
        Err(Failure::Usage(format!("--on {name}: unknown transport{hint}; accepted: {accepted}")))
    }
}

impl Transport {
    /// Those of this build.
    const ALL: &[Self] = &[Self::Sim];

    /// As `--on` takes it and results name it.
    fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
        }
    }

    /// Checks that a control exists here and that its knobs can be set so, without running it.
    ///
    /// # Errors
    /// What is wrong, with the nearest name and what is accepted.
    pub(crate) fn check_control(self, spec: &ControlSpec) -> Result<(), Failure> {
        match self {
            Self::Sim => Ok(firstflight_runner::check_control(spec)?),
        }
    }

    /// Runs every plan of the scenario.
    ///
    /// # Errors
    /// A scenario that cannot be, or an interruption before any run was finished.
    pub(crate) fn run(self, scenario: &Scenario, options: &Options<'_>) -> Result<Report, Failure> {
        match self {
            Self::Sim => Ok(firstflight_runner::run(scenario, options)?),
        }
    }
}

/// The names of the transports of this build.
pub(crate) const TRANSPORTS: &[&str] = &["sim"];

/// Transports that firstflight has in other builds.
const ELSEWHERE: &[&str] = &["quic", "linux"];
