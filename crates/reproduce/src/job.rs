//! The runs that a reproduction needs, each distinct one once.

use std::collections::HashMap;

use firstflight_scenario::Scenario;

use crate::error::ReproduceError;
use crate::file::On;
use crate::paper::{Expanded, ExpandedCase, Variant};

/// One run: a scenario with a single plan.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// Its name for people: file, case and control.
    pub name: String,
    /// What to run.
    pub scenario: Scenario,
    /// How many samples over time to keep.
    pub samples: Option<u32>,
    /// How many ACKs a scripted path gives, which then replaces the network.
    pub acks: Option<u32>,
    /// What carries the flows.
    pub on: On,
    /// Everything that decides the run's result, of the paper's files and of the program, as text.
    pub key: String,
}

/// Distinct runs by key, in the order in which they were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    list: Vec<Job>,
    by_key: HashMap<String, usize>,
}

impl Jobs {
    /// The jobs of a variant, one per seed; equal ones are shared.
    pub(crate) fn add(
        &mut self,
        expanded: &Expanded,
        case: &ExpandedCase,
        variant: &Variant,
    ) -> Result<(), ReproduceError> {
        for scenario in &variant.scenarios {
            let key = key(scenario, variant)?;
            if self.by_key.contains_key(&key) {
                continue;
            }
            self.by_key.insert(key.clone(), self.list.len());
            let seed = scenario.seed.unwrap_or(1);
            let control = if variant.control.is_empty() { "flows" } else { &variant.control };
            let name = format!("{} {} {control}, seed {seed}", expanded.stem, case.name);
            let (samples, acks, on) = (variant.samples, variant.acks, variant.on);
            self.list.push(Job { name, scenario: scenario.clone(), samples, acks, on, key });
        }
        Ok(())
    }

    /// The index of a job of this variant.
    pub(crate) fn find(&self, scenario: &Scenario, variant: &Variant) -> Option<usize> {
        let key = key(scenario, variant).ok()?;
        self.by_key.get(&key).copied()
    }

    pub(crate) fn list(&self) -> &[Job] {
        &self.list
    }
}

/// The key of a run. It leaves out names and titles, which do not change the result. It says
/// whether a value was given or is a default, because a control's own value wins over a default;
/// the scenario's JSON does not say that.
fn key(scenario: &Scenario, variant: &Variant) -> Result<String, ReproduceError> {
    let mut complete = scenario.complete()?;
    complete.name.clear();
    complete.title = None;
    let Variant { samples, acks, on, .. } = variant;
    let version = match on {
        On::Sim => VERSION,
        On::Linux => LAB_VERSION,
    };
    Ok(format!("{version} samples={samples:?} acks={acks:?} {complete:?}"))
}

/// The version of the program and of its sources.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "-", env!("FIRSTFLIGHT_SOURCES"));

/// The version of what decides the result of a run in the lab.
const LAB_VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "-linux-", env!("FIRSTFLIGHT_LAB_SOURCES"));

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(text: &str) -> String {
        key_on(text, On::Sim)
    }

    fn key_on(text: &str, on: On) -> String {
        let scenarios = vec![Scenario::parse(text, "x.toml").unwrap()];
        let variant = Variant { control: String::new(), scenarios, samples: None, acks: None, on };
        key(&variant.scenarios[0], &variant).unwrap()
    }

    #[test]
    fn names_do_not_distinguish_runs_but_all_that_counts_does() {
        let plain = key_of("controls = ['newreno']");
        assert_eq!(plain, key_of("controls = ['newreno']\nname = 'other'\ntitle = 'x'"));
        assert_eq!(plain, key_of("controls = ['newreno']\npath.rate = '40Mbps'"));
        assert_ne!(plain, key_of("controls = ['reno']"));
        assert_ne!(plain, key_on("controls = ['newreno']", On::Linux));
        assert_ne!(plain, key_of("controls = ['newreno']\nseed = 2"));
        assert_ne!(plain, key_of("controls = ['newreno']\nsyn = false"));
        assert_ne!(plain, key_of("controls = ['newreno']\niw = '10pkt'"), "given is not default");
    }
}
