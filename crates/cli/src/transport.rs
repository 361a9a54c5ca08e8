//! Which transport carries the flows.

use firstflight_scenario::nearest;

use crate::failure::Failure;

/// What `--on` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct On {
    /// Transport: sim; quic and linux are not in this build [default: sim]
    #[arg(long = "on", value_name = "TRANSPORT", default_value = SIM, hide_default_value = true)]
    name: String,
}

impl On {
    /// Whether this build has it.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let name = self.name.as_str();
        if name == SIM {
            return Ok(());
        }
        if ELSEWHERE.contains(&name) {
            return Err(Failure::NoTransport(self.name.clone()));
        }
        let hint = nearest(name, [SIM].into_iter().chain(ELSEWHERE.iter().copied()));
        let hint = hint.map_or(String::new(), |name| format!(", did you mean `{name}`?"));
        Err(Failure::Usage(format!("--on {name}: unknown transport{hint}; accepted: sim")))
    }
}

/// The transports of this build.
pub(crate) const TRANSPORTS: &[&str] = &[SIM];

const SIM: &str = "sim";
/// Transports that firstflight has in other builds.
const ELSEWHERE: &[&str] = &["quic", "linux"];
