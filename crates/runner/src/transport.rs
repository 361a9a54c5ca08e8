//! The trait through which a scenario runs on any transport.

use std::fmt;

use firstflight_scenario::expect::Names;
use firstflight_scenario::{Complete, ControlSpec, Scenario};

use crate::{Options, Report, RunError};

/// Runs scenarios. Implementations: the simulator, quinn in virtual time or over sockets, the
/// running kernel's TCP, and that of a kernel in virtual time.
pub trait Transport: fmt::Debug + Send + Sync {
    /// Its name, as `--on` takes it and results say it.
    fn name(&self) -> &'static str;

    /// The name of a control in results, with its knobs.
    ///
    /// # Errors
    /// The control does not exist here, or cannot be set so; with what is accepted.
    fn full_name(&self, control: &ControlSpec) -> Result<String, RunError>;

    /// The scenario as it runs here, complete.
    ///
    /// # Errors
    /// What contradicts itself, or what this transport cannot do.
    fn complete(&self, scenario: &Scenario) -> Result<Complete, RunError>;

    /// Refuses a key that is set and has no effect here, where [`Transport::complete`] does not.
    ///
    /// # Errors
    /// The first such key, at its place.
    fn check_keys(&self, _scenario: &Scenario) -> Result<(), RunError> {
        Ok(())
    }

    /// Runs every plan of the scenario with every seed.
    ///
    /// # Errors
    /// What cannot be run, what the machine lacks, a run that broke, or an interruption before any
    /// run was finished; a later one leaves what was finished in the report.
    fn run(&self, scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError>;

    /// What a result depends on besides the scenario and this program, such as the kernel's
    /// release. A kept run of another version is measured again.
    ///
    /// # Errors
    /// A kernel to be booted that is not there.
    fn version(&self) -> Result<String, RunError> {
        Ok(String::new())
    }

    /// Whether runs take real time on this machine, so that two at once would disturb each other.
    fn is_in_real_time(&self) -> bool {
        false
    }

    /// Checks a scenario before anything runs: its controls exist and differ, its keys have an
    /// effect, and what it expects is of controls and flows that it has.
    ///
    /// # Errors
    /// The first that is wrong, at its place.
    fn can(&self, scenario: &Scenario) -> Result<(), RunError> {
        scenario.check_controls(|spec| {
            self.full_name(spec).map(drop).map_err(|problem| problem.to_string())
        })?;
        scenario.check_distinct()?;
        self.check_keys(scenario)?;
        let mut names = Vec::new();
        for plan in scenario.plans()? {
            let full = plan.controls.iter().map(|spec| self.full_name(spec));
            let full: Vec<String> = full.collect::<Result<_, RunError>>()?;
            names.push(plan.name);
            names.push(full.join(", "));
        }
        names.dedup();
        let flows = self.complete(scenario)?.flow_count();
        Ok(scenario.check_expectations(Names { controls: &names, flows })?)
    }
}
