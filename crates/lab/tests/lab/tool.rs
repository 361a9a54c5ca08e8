//! The link around commands.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use firstflight_lab::LabError;
use firstflight_lab::link::DirectionSpec;
use firstflight_lab::tool::{Ends, carry};

fn words(line: &str) -> Vec<String> {
    ["sh", "-c", line].map(str::to_owned).into()
}

#[test]
fn a_command_sees_the_far_end_and_its_failure_is_told() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let ends = Ends { near: words("ip route get $FF_FAR >&2 && exit 7"), ..Ends::default() };
    let outcome = carry(&spec, &ends, &AtomicBool::new(false), || ());
    let Some(carried) = super::granted(outcome) else { return };
    assert_eq!((carried.near_exit, carried.near_failed), (Some(7), true));
}

#[test]
fn the_far_command_ends_with_the_link() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let marker = format!("30.{}", std::process::id());
    let ends = Ends {
        near: words("true"),
        far: words(&format!("exec sleep {marker}")),
        ..Ends::default()
    };
    if super::granted(carry(&spec, &ends, &AtomicBool::new(false), || ())).is_none() {
        return;
    }
    let running = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = running.filter_map(|p| std::fs::read_to_string(p.path().join("cmdline")).ok());
    assert!(!lines.any(|line| line == format!("sleep\0{marker}\0")));
}

#[test]
fn what_cannot_be_is_said_and_told_to_stop_it_stops() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let missing = Ends { near: vec!["no-such-program".to_owned()], ..Ends::default() };
    match carry(&spec, &missing, &AtomicBool::new(false), || ()) {
        Err(LabError::Input(problem)) => assert!(problem.starts_with("no-such-program:")),
        Err(LabError::Lacks(_)) => return,
        other => panic!("{other:?}"),
    }
    let nowhere = Ends { namespaces: Some(("no-a".into(), "no-b".into())), ..Ends::default() };
    let problem = carry(&spec, &nowhere, &AtomicBool::new(false), || ()).unwrap_err().to_string();
    assert!(problem.starts_with("namespace `no-a`:"), "{problem}");
    // It would otherwise take a minute.
    let long = Ends { near: words("sleep 60"), duration: None, ..Ends::default() };
    let carried = carry(&spec, &long, &AtomicBool::new(true), || ()).unwrap();
    assert_eq!((carried.near_exit, carried.near_failed), (None, false));
    let timed = Ends { duration: Some(Duration::from_millis(1)), ..long };
    assert!(!carry(&spec, &timed, &AtomicBool::new(false), || ()).unwrap().near_failed);
}
