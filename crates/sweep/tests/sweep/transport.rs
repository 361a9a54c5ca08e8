//! A sweep names its transport and what runs in its guests, and takes no other's results.

use std::sync::Arc;

use firstflight_quic_sim::quinn::{QUIC, SIM};
use firstflight_runner::{Options, Report, RunError, Transport};
use firstflight_scenario::{Complete, ControlSpec, Scenario};
use firstflight_sweep::{Format, Shard, Store, Sweep, SweepError, run};

use crate::place::Place;

const GRID: &str = "
    scenario = { controls = ['newreno'], duration = '2s', flow = [{ size = '100KB' }] }
    grid = { 'path.rtt' = ['50ms', '100ms', '150ms'] }";

/// What runs on a kernel, played by the simulator.
#[derive(Debug)]
struct Kernel(Result<&'static str, &'static str>);

impl Transport for Kernel {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn full_name(&self, control: &ControlSpec) -> Result<String, RunError> {
        SIM.full_name(control)
    }

    fn complete(&self, scenario: &Scenario) -> Result<Complete, RunError> {
        SIM.complete(scenario)
    }

    fn run(&self, scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
        match self.0 {
            Ok(_) => SIM.run(scenario, options),
            Err(why) => Err(RunError::Lacks(why.to_owned())),
        }
    }

    fn version(&self) -> Result<String, RunError> {
        Ok(self.0.unwrap_or("6.1").to_owned())
    }
}

fn on(place: &Place, transport: impl Transport + 'static) -> Sweep {
    Sweep::parse(GRID, "grid.toml", &place.path(""), Arc::new(transport)).unwrap()
}

fn names(sweep: &Sweep) -> Vec<String> {
    (0..sweep.chunks()).map(|number| sweep.chunk(number).unwrap().name()).collect()
}

#[test]
fn chunks_of_other_transports_and_other_kernels_have_other_names() {
    let place = Place::new();
    let kernel = |version| on(&place, Kernel(Ok(version)));
    let all = [on(&place, SIM), on(&place, QUIC), kernel("6.1"), kernel("6.12")];
    for (at, sweep) in all.iter().enumerate() {
        for other in &all[..at] {
            assert!(names(sweep).iter().all(|name| !names(other).contains(name)));
            assert_ne!(sweep.hash(), other.hash());
        }
    }
    assert_eq!(names(&kernel("6.1")), names(&all[2]));
}

#[test]
fn a_guest_takes_so_long_that_a_chunk_is_one_point() {
    let place = Place::new();
    assert_eq!(on(&place, SIM).chunks(), 1);
    assert_eq!(on(&place, Kernel(Ok("6.1"))).chunks(), 3);
}

#[test]
fn the_folder_and_the_chunk_of_another_transport_are_refused() {
    let place = Place::new();
    drop(place.store("out", &on(&place, SIM)));
    let open = |sweep: &Sweep| {
        Store::open(&place.path("out"), sweep, Format::Csv, Shard::WHOLE).unwrap_err().to_string()
    };
    let problem = open(&on(&place, QUIC));
    assert!(problem.contains("found a sweep on sim, this one is on quic"), "{problem}");
    let problem = open(&on(&place, Kernel(Ok("6.1"))));
    assert!(problem.contains("this one is on linux 6.1"), "{problem}");
    let chunk = on(&place, QUIC).chunk(0).unwrap();
    let problem = chunk.run(&SIM, &Options::default()).unwrap_err().to_string();
    assert!(problem.contains("found the transport sim; accepted: its sweep's, quic"), "{problem}");
}

#[test]
fn what_the_machine_lacks_is_told_at_its_point() {
    let place = Place::new();
    let sweep = on(&place, Kernel(Err("no qemu")));
    let store = place.store("out", &sweep);
    let error = run(&sweep, &store, Shard::WHOLE, &false.into(), &|_, _| {}).unwrap_err();
    let SweepError::Run(RunError::Lacks(why)) = error else { panic!("{error}") };
    assert!(why.starts_with("at path.rtt = ") && why.ends_with("ms: no qemu"), "{why}");
}
