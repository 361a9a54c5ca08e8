//! What takes Linux, where there is none: the same names, and one answer. A guest still runs, if it
//! has a program for Linux.

use firstflight_runner::{Options, Report, RunError, Transport};
use firstflight_scenario::{Complete, ControlSpec, Scenario};

/// The lab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absent {
    name: &'static str,
    what: &'static str,
}

impl Transport for Absent {
    fn name(&self) -> &'static str {
        self.name
    }

    fn full_name(&self, _: &ControlSpec) -> Result<String, RunError> {
        Err(needs_linux(self.what))
    }

    fn complete(&self, _: &Scenario) -> Result<Complete, RunError> {
        Err(needs_linux(self.what))
    }

    fn run(&self, _: &Scenario, _: &Options<'_>) -> Result<Report, RunError> {
        Err(needs_linux(self.what))
    }
}

/// The one answer.
fn needs_linux(what: &str) -> RunError {
    RunError::Lacks(format!("{what} needs Linux, and this is {}", std::env::consts::OS))
}

/// Sockets across the lab's link.
pub(crate) mod sockets {
    use super::Absent;

    #[expect(non_upper_case_globals, reason = "as the type is called on Linux")]
    pub(crate) const Sockets: Absent = Absent { name: "quic", what: "--real-time" };
}

/// The inside of a guest.
pub(crate) mod in_guest {
    use firstflight_runner::RunError;

    /// No guest runs this program.
    ///
    /// # Errors
    /// None.
    pub fn serve() -> Result<bool, RunError> {
        Ok(false)
    }

    pub(crate) fn can_serve() -> bool {
        false
    }
}

/// The checks of the lab that a guest needs; the guest checks again what its kernel can do.
pub(crate) mod lab {
    use firstflight_control::Control;
    use firstflight_control::stack::OF_LINUX;
    use firstflight_kernel::KernelControl;
    use firstflight_scenario::Profile;

    use super::{Absent, Complete, ControlSpec, RunError, Scenario};

    pub(crate) struct Lab;

    impl Lab {
        pub(crate) fn read(_: Option<&str>, _: Option<&str>) -> Result<Absent, RunError> {
            Ok(Absent { name: "linux", what: "--on linux" })
        }
    }

    pub(crate) struct LinuxControl {
        pub(crate) full: String,
    }

    impl LinuxControl {
        pub(crate) fn resolve_for_guest(spec: &ControlSpec) -> Result<Self, RunError> {
            if spec.startup.name.starts_with(OF_LINUX) {
                return Ok(Self { full: spec.startup.name.clone() });
            }
            let control = KernelControl::new(&Control::resolve(spec)?);
            let control = control.map_err(|problem| RunError::Input(problem.to_string()))?;
            Ok(Self { full: control.full })
        }
    }

    pub(crate) fn complete(scenario: &Scenario) -> Result<Complete, RunError> {
        let mut scenario = scenario.clone();
        scenario.endpoint.profile.get_or_insert(Profile::Linux);
        Ok(scenario.complete()?)
    }

    /// Two programs, which need a guest that runs what this machine does.
    pub mod programs {
        use std::path::PathBuf;

        use firstflight_results::RunResult;
        use firstflight_runner::Run;
        use serde::{Deserialize, Serialize};

        use super::super::{Complete, RunError, Scenario, needs_linux};

        /// What runs at the ends, by `sh -c`.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub struct Programs {
            /// Runs first.
            pub server: String,
            /// Runs when the server listens.
            pub client: String,
            /// The client sends the data.
            pub upload: bool,
            /// The folder in which both run.
            pub folder: PathBuf,
        }

        pub(crate) fn complete(_: &Scenario) -> Result<Complete, RunError> {
            Err(needs_linux("judging programs"))
        }

        pub(crate) fn failed(why: String) -> Run {
            Run::new(RunResult { note: Some(why), ..RunResult::default() }, Vec::new(), Vec::new())
        }
    }
}
