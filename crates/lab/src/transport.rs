//! The running kernel's TCP as a transport.

use firstflight_runner::{Options, Report, RunError, Transport};
use firstflight_scenario::{Complete, ControlSpec, Scenario};

use crate::control::LinuxControl;
use crate::outcome::kernel_release;
use crate::run::{Generator, Lab};
use crate::testbed::LinkKind;
use crate::{job, run};

impl Transport for Lab {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn full_name(&self, control: &ControlSpec) -> Result<String, RunError> {
        Ok(LinuxControl::resolve(control, false)?.full)
    }

    fn complete(&self, scenario: &Scenario) -> Result<Complete, RunError> {
        job::complete(scenario)
    }

    fn run(&self, scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
        run::run(scenario, options, *self)
    }

    fn version(&self) -> Result<String, RunError> {
        let link = match self.link {
            None => " on the usual link",
            Some(LinkKind::Netem) => " on netem",
            Some(LinkKind::Tun) => "",
        };
        let generator = match self.generator {
            Generator::Own => "",
            Generator::Iperf3 => " by iperf3",
        };
        Ok(format!("{}{link}{generator}", kernel_release()))
    }

    fn is_in_real_time(&self) -> bool {
        true
    }
}
