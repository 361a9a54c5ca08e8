//! The link around commands.

use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use firstflight_control::quantity::Rate;
use firstflight_lab::link::DirectionSpec;
use firstflight_lab::tool::{LinkEnds, carry};
use firstflight_runner::RunError;

fn words(line: &str) -> Vec<String> {
    ["sh", "-c", line].map(str::to_owned).into()
}

#[test]
fn a_command_sees_the_far_end_and_its_failure_is_reported() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let ends =
        LinkEnds { near: words("ip route get $FF_FAR >&2 && exit 7"), ..LinkEnds::default() };
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

/// Whether it holds in the end, within half a minute.
fn holds(what: impl Fn() -> bool) -> bool {
    (0..300).any(|_| {
        sleep(Duration::from_millis(100));
        what()
    })
}

#[test]
fn whatever_the_commands_started_ends_with_the_link() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let seconds = format!("30.{}", std::process::id());
    // One in the background, one that has left the session and lost its parent.
    let family = format!("sleep {seconds} & (setsid sleep {seconds} &)");
    let count = "$(ps -e | grep -c sleep)";
    let ends = LinkEnds {
        near: words(&format!("{family}; until [ {count} -ge 2 ]; do :; done; [ {count} = 2 ]")),
        far: words(&format!("{family}; exec sleep {seconds}")),
        duration: Some(Duration::from_secs(30)),
        ..LinkEnds::default()
    };
    let ready = || assert!(holds(|| sleeping(&seconds) > 2));
    let outcome = carry(&spec, &ends, &AtomicBool::new(false), ready);
    let Some(carried) = super::granted(outcome) else { return };
    assert_eq!((carried.near_exit, sleeping(&seconds)), (Some(0), 0));
}

#[test]
fn a_signal_that_ended_the_command_is_reported_as_a_shell_does() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let ends = LinkEnds { near: words("kill -9 $$"), ..LinkEnds::default() };
    let outcome = carry(&spec, &ends, &AtomicBool::new(false), || ());
    let Some(carried) = super::granted(outcome) else { return };
    assert_eq!((carried.near_exit, carried.near_failed), (Some(137), true));
}

#[test]
fn what_cannot_be_is_refused_and_stop_ends_it() {
    let spec = super::spec(DirectionSpec::default(), DirectionSpec::default());
    let missing = LinkEnds { near: vec!["no-such-program".to_owned()], ..LinkEnds::default() };
    match carry(&spec, &missing, &AtomicBool::new(false), || ()) {
        Err(RunError::Input(problem)) => assert!(problem.starts_with("no-such-program:")),
        Err(RunError::Lacks(_)) => return,
        other => panic!("{other:?}"),
    }
    for (near, far, wanted) in [
        ("no-a", "no-b", "namespace `no-a`:"),
        ("", "no-b", "namespace ``:"),
        ("../net", "no-b", "namespace `../net`:"),
        ("one", "one", "namespace `one` is near and far"),
    ] {
        let ends = LinkEnds { namespaces: Some((near.into(), far.into())), ..LinkEnds::default() };
        match carry(&spec, &ends, &AtomicBool::new(false), || ()) {
            Err(RunError::Input(problem)) => assert!(problem.starts_with(wanted), "{problem}"),
            other => panic!("{other:?}"),
        }
    }
    // It would otherwise take a minute.
    let long = LinkEnds { near: words("sleep 60"), duration: None, ..LinkEnds::default() };
    let carried = carry(&spec, &long, &AtomicBool::new(true), || ()).unwrap();
    assert_eq!((carried.near_exit, carried.near_failed, carried.interrupted), (None, false, true));
    let timed = LinkEnds { duration: Some(Duration::from_millis(1)), ..long };
    let carried = carry(&spec, &timed, &AtomicBool::new(false), || ()).unwrap();
    assert!(!carried.near_failed && !carried.interrupted);
    // Without a command and a time, `stop` is the proper end.
    let endless = carry(&spec, &LinkEnds::default(), &AtomicBool::new(true), || ()).unwrap();
    assert!(!endless.interrupted);
}

/// Connections that no process has open, of the whole machine.
fn orphans() -> u64 {
    let text = std::fs::read_to_string("/proc/net/sockstat").unwrap();
    let words = text.split_whitespace().skip_while(|word| *word != "orphan").nth(1);
    words.unwrap().parse().unwrap()
}

/// The kernel goes on for minutes with what a killed program has not sent, and keeps its namespace.
/// The command ends, and so iperf3 is killed, when it has told what it sent in a tenth of a second.
#[test]
fn connections_that_a_command_left_end_with_the_link() {
    if Command::new("iperf3").arg("--version").stdout(Stdio::null()).status().is_err() {
        let _: Option<()> = super::granted(Err(RunError::Lacks("there is no iperf3".to_owned())));
        return;
    }
    let rate = Some(Rate::from_bps(10_000_000));
    let spec = super::spec(DirectionSpec { rate, ..Default::default() }, DirectionSpec::default());
    let client = "iperf3 -c $FF_FAR -t 60 -i 0.1 --forceflush";
    let ends = LinkEnds {
        near: words(&format!("{{ {client} & }} | grep -qm1 sec")),
        far: words("exec iperf3 -s -1 >/dev/null"),
        duration: Some(Duration::from_secs(30)),
        listen_timeout: Some(Duration::from_secs(30)),
        ..LinkEnds::default()
    };
    let before = orphans();
    let outcome = carry(&spec, &ends, &AtomicBool::new(false), || ());
    let Some(carried) = super::granted(outcome) else { return };
    assert_eq!(carried.near_exit, Some(0), "iperf3 sent nothing");
    assert!(holds(|| orphans() <= before), "{} of them, {before} before", orphans());
}
