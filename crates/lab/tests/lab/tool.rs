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

/// Processes that sleep for so long.
fn sleeping(seconds: &str) -> usize {
    let running = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = running.filter_map(|p| std::fs::read_to_string(p.path().join("cmdline")).ok());
    lines.filter(|line| *line == format!("sleep\0{seconds}\0")).count()
}

#[test]
fn whatever_the_commands_started_ends_with_the_link() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let seconds = format!("30.{}", std::process::id());
    // One in the background, one that has left the session and lost its parent.
    let family = format!("sleep {seconds} & (setsid sleep {seconds} &)");
    let ends = Ends {
        near: words(&format!("{family}; sleep 0.2; [ $(ps -e | grep -c sleep) = 2 ]")),
        far: words(&format!("{family}; exec sleep {seconds}")),
        ..Ends::default()
    };
    let outcome = carry(&spec, &ends, &AtomicBool::new(false), || assert!(sleeping(&seconds) > 2));
    let Some(carried) = super::granted(outcome) else { return };
    assert_eq!((carried.near_exit, sleeping(&seconds)), (Some(0), 0));
}

#[test]
fn a_signal_that_ended_the_command_is_told_as_a_shell_tells_it() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let ends = Ends { near: words("kill -9 $$"), ..Ends::default() };
    let outcome = carry(&spec, &ends, &AtomicBool::new(false), || ());
    let Some(carried) = super::granted(outcome) else { return };
    assert_eq!((carried.near_exit, carried.near_failed), (Some(137), true));
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
