//! What the commands ask of the lab, where there is no Linux: one answer.

use firstflight_control::own::OF_LINUX;
use firstflight_kernel::KernelControl;
use firstflight_runner::{Control, Options, Report};
use firstflight_scenario::{ControlSpec, Profile, Resolved, Scenario};

use crate::failure::Failure;

/// How to run on real Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lab;

/// A control that a socket can be given.
pub(crate) struct LinuxControl {
    pub(crate) full: String,
}

impl Lab {
    /// As on Linux.
    pub(crate) const TUN: Self = Self;

    /// The flags are read in the guest, where there is one.
    pub(crate) fn read(_: Option<&str>, _: Option<&str>) -> Result<Self, Failure> {
        Ok(Self)
    }
}

impl LinuxControl {
    /// There are none here.
    pub(crate) fn resolve(_: &ControlSpec) -> Result<Self, Failure> {
        Err(needs_linux("--on linux"))
    }

    /// For a guest of `--virtual-time`.
    pub(crate) fn resolve_elsewhere(spec: &ControlSpec) -> Result<Self, Failure> {
        if spec.startup.name.starts_with(OF_LINUX) {
            return Ok(Self { full: spec.startup.name.clone() });
        }
        let control = Control::resolve(spec)?;
        Ok(Self { full: KernelControl::new(&control)?.full })
    }
}

/// As on Linux, where the guest of `--virtual-time` looks once more at what a kernel can do.
pub(crate) fn resolve(scenario: &Scenario) -> Result<Resolved, Failure> {
    let mut scenario = scenario.clone();
    scenario.endpoint.profile.get_or_insert(Profile::Linux);
    Ok(scenario.resolve()?)
}

/// Nothing is run on Linux here.
pub(crate) fn run(_: &Scenario, _: &Options<'_>, _: Lab) -> Result<Report, Failure> {
    Err(needs_linux("the lab"))
}

/// No kernel's runs are kept here.
pub(crate) fn kernel_release() -> String {
    String::new()
}

/// The one answer.
pub(crate) fn needs_linux(what: &str) -> Failure {
    Failure::Lacks(format!("{what} needs Linux, and this is {}", std::env::consts::OS))
}

/// Names of controls.
pub(crate) mod control {
    use firstflight_control::Own;

    /// None are known here.
    pub(crate) const OWN: &[Own] = &[];
}

/// Two programs, which need a guest that runs what this machine does.
pub(crate) mod programs {
    use std::path::PathBuf;

    use firstflight_results::RunResult;
    use firstflight_runner::Run;
    use firstflight_scenario::{Resolved, Scenario};
    use serde::{Deserialize, Serialize};

    use crate::failure::Failure;

    /// As on Linux.
    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct Programs {
        pub(crate) server: String,
        pub(crate) client: String,
        pub(crate) upload: bool,
        pub(crate) folder: PathBuf,
    }

    /// There are none here.
    pub(crate) fn resolve(_: &Scenario) -> Result<Resolved, Failure> {
        Err(super::needs_linux("judging programs"))
    }

    /// As on Linux, for runs that there are none of.
    pub(crate) fn broken(why: String) -> Run {
        Run::new(RunResult { note: Some(why), ..RunResult::default() }, Vec::new(), Vec::new())
    }
}
