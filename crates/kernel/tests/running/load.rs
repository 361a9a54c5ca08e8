//! Many short connections over ten emulated paths. `kernel steer` gives controls to those of one
//! service, `kernel trial` to those of another. Meanwhile both BPF programs are replaced, the
//! commands are killed, and the control is unloaded and loaded again. A second test measures what a
//! connection costs.
//!
//! `cargo xtask qemu --load` makes ten thousand connections in a guest, in virtual time. The tests
//! run the command `firstflight` with the feature `kernel`: this build's, or the guest's.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::PoisonError;
use std::thread::{self, sleep};
use std::time::Instant;

use firstflight_kernel::watch::Watch;
use libbpf_rs::query::ProgInfoIter;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::paths::{Ended, PORTS, Paths};
use crate::{EXCLUSIVE, able, cgroup};

#[test]
fn of_many_connections_none_is_lost_whatever_becomes_of_the_command() {
    // What `has_command` asks ends a trial of the test before.
    let _lock = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
    if !able() || cgroup().is_none() || !has_command() {
        return;
    }
    let paths = Paths::new();
    let all = connections();
    let record = std::env::temp_dir().join(format!("trial{}.jsonl", std::process::id()));
    let undone = ClearedOnDrop(Some(record.clone()));
    load();
    steer();
    let mut trial = begin(Some(&record));
    let (ended, away, found) = thread::scope(|scope| {
        let carried = scope.spawn(|| paths.carry());
        let more = || paths.carry_half_of(all / 8);
        more();
        steer();
        more();
        end(&mut trial);
        more();
        trial = begin(Some(&record));
        more();
        let from = Instant::now();
        run(&["unload", "--force", CONTROL]);
        let gone = Instant::now();
        more();
        let until = Instant::now();
        load();
        let away = [from, gone, until, Instant::now()];
        kill_steer_at_every_moment(&paths, all / 8);
        more();
        end(&mut trial);
        trial = begin(Some(&record));
        paths.close(all);
        let ended = carried.join().unwrap();
        (ended, away, interrupt(trial))
    });
    let [ruled, tried] = PORTS.map(|port| {
        let of = ended.iter().filter(|ended| ended.remote.port() == port);
        of.collect::<Vec<_>>()
    });
    assert_eq!(ended.len(), all);
    println!("{} connections, each byte as it was sent", ended.len());
    judge_rules(&ruled, away);
    judge_trial(&tried, &found, &record);
    drop(undone);
}

/// New connections get the control in the share that the rule says, and none while it is away.
fn judge_rules(ended: &[&Ended], [from, gone, until, back]: [Instant; 4]) {
    let has = |ended: &&&Ended| ended.control == CONTROL;
    let meant = |it: &&&Ended| it.connected < from || it.began > back;
    let none = |it: &&&Ended| it.began > gone && it.connected < until;
    let (steered, could) = (ended.iter().filter(meant).filter(has), ended.iter().filter(meant));
    is_binomial("by the rule", steered.count(), could.count());
    assert_eq!(ended.iter().filter(none).filter(has).count(), 0, "while the control was away");
    assert!(ended.iter().filter(none).count() > 0, "none began while the control was away");
    let rules = rules();
    println!("{rules:#}");
    assert_eq!(rules.as_array().unwrap().len(), 1);
    assert_eq!((&rules[0]["failed"], &rules[0]["own_choice"]), (&0.into(), &0.into()));
    assert!(rules[0]["matched"].as_u64().unwrap() > 0);
}

/// Each connection is reported once, with the control that its sender saw and that it was dealt.
fn judge_trial(ended: &[&Ended], found: &Value, record: &Path) {
    let text = fs::read_to_string(record).unwrap();
    let lines = text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let word = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    let made = ended
        .iter()
        .map(|it| [&it.local.to_string(), &it.remote.to_string(), &it.control].map(String::clone));
    let seen = lines.iter().map(|line| ["local", "remote", "control"].map(|key| word(line, key)));
    // Ends may come again.
    let [made, seen] = [made.collect(), seen.collect()].map(|mut all: Vec<_>| {
        all.sort();
        all
    });
    assert_eq!(seen.len(), made.len(), "{found:#}");
    assert!(seen == made, "other connections, or with other controls, than were made");
    let (mut refused, mut dealt) = (0, 0);
    for line in &lines {
        let (is_tried, is_refused) = (line["tried"] == true, line["refused"] == true);
        assert!(is_refused || line["control"] == if is_tried { CONTROL } else { "cubic" });
        dealt += usize::from(is_tried);
        refused += u64::from(is_refused);
    }
    println!("{found:#}");
    is_binomial("by the trial", dealt, ended.len());
    assert_eq!((&found["stopped"], &found["dropped"]), (&Value::Null, &0.into()));
    assert_eq!((&found["matched"], &found["refused"]), (&lines.len().into(), &refused.into()));
    assert!(refused > 0, "the control was away while connections were dealt it");
}

/// `kernel.bpf_stats_enabled` counts the time within programs: in virtual time instructions. What
/// it takes to count is in it, and here what others do on this machine, too.
#[test]
fn a_short_connection_costs_little() {
    let _lock = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(cgroup) = able().then(cgroup).flatten().filter(|_| has_command()) else { return };
    let setting = "/proc/sys/kernel/bpf_stats_enabled";
    let before = fs::read(setting).unwrap();
    fs::write(setting, "1").unwrap();
    let undone = ClearedOnDrop(None);
    load();
    let paths = Paths::new();
    steer();
    let steer = cost("ff_steer", &paths, 1);
    run(&["steer", "--clear"]);
    let watch = Watch::attach(&cgroup).unwrap();
    let watch = (cost("ff_watch", &paths, 2), watch).0;
    let trial = begin(None);
    cost("ff_trial", &paths, 3);
    interrupt(trial);
    drop(undone);
    fs::write(setting, before).unwrap();
    let times = if is_guest() { 1. } else { 10. };
    assert!(steer < 5_000. * times && watch < 10_000. * times, "{steer:.0} and {watch:.0} ns");
}

/// What a connection with both ends here costs, in nanoseconds.
fn cost(program: &str, paths: &Paths, turn: usize) -> f64 {
    let totals = || {
        let mut all = ProgInfoIter::default();
        let found = all.find(|it| it.name.to_string_lossy() == program).unwrap();
        (found.run_time_ns, found.run_cnt)
    };
    let before = totals();
    paths.close(turn * connections() / 10);
    let count = paths.carry().len() as f64;
    let after = totals();
    let nanos = (after.0 - before.0) as f64 / count;
    let calls = (after.1 - before.1) as f64 / count;
    println!("{program}: {nanos:.0} ns and {calls:.1} calls for a connection and its two ends");
    nanos
}

fn is_binomial(what: &str, found: usize, of: usize) {
    let (expected, found) = (of as f64 * SHARE, found as f64);
    let deviations = (found - expected) / (expected * (1. - SHARE)).sqrt();
    println!("{found} of {of} {what}, {deviations:+.2} standard deviations from {expected}");
    assert!(deviations.abs() < 4., "{found} of {of} {what}");
}

/// Linux's own CUBIC, nearly: neither arm harms.
fn load() {
    run(&["load", &format!("{CONTROL}=cubic")]);
}

fn steer() {
    run(&STEER);
}

/// Whenever it is killed, a rule holds before and after.
fn kill_steer_at_every_moment(paths: &Paths, connections: usize) {
    let kills = u32::try_from(connections / 60).unwrap().clamp(2, 20);
    let begun = Instant::now();
    steer();
    let whole = begun.elapsed();
    for kill in 0..kills {
        paths.carry_half_of(connections / kills as usize);
        let mut child = command(&STEER).stdout(Stdio::null()).spawn().unwrap();
        sleep(whole * kill / kills);
        child.kill().unwrap();
        child.wait().unwrap();
        let rules = rules();
        assert_eq!(rules.as_array().unwrap().len(), 1, "killed at {kill}/{kills}: {rules:#}");
    }
    steer();
}

fn rules() -> Value {
    let document: Value = serde_json::from_slice(&run(&["steer", "--json"]).stdout).unwrap();
    document["rules"].clone()
}

/// Begins the trial, or goes on with it, and waits until it deals.
fn begin(record: Option<&Path>) -> Child {
    let mut command = command(&TRIAL);
    if let Some(record) = record {
        command.arg("--record").arg(record);
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("Ctrl-C ends it")));
    assert!(begun.is_some(), "{:?}", child.wait_with_output());
    thread::spawn(move || lines.for_each(drop));
    child
}

/// SIGKILL.
fn end(trial: &mut Child) {
    trial.kill().unwrap();
    trial.wait().unwrap();
}

/// Ctrl-C; what the trial found.
fn interrupt(trial: Child) -> Value {
    kill(Pid::from_raw(trial.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let output = trial.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run(words: &[&str]) -> Output {
    let output = command(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    output
}

fn command(words: &[&str]) -> Command {
    let own = std::env::current_exe().unwrap();
    let built = own.ancestors().nth(2).unwrap().join("firstflight");
    let program = if is_guest() { "firstflight".into() } else { built };
    let mut command = Command::new(program);
    command.arg("kernel").args(words).stdin(Stdio::null());
    command
}

/// Whether there is a command that knows rules and trials; says why not.
fn has_command() -> bool {
    let lack = match command(&["trial", "--clear"]).output() {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => format!("the command is not built: {error}"),
    };
    eprintln!("skipped: {lack}");
    assert!(std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_none(), "required here: {lack}");
    false
}

fn connections() -> usize {
    let asked = std::env::var(CONNECTIONS).ok();
    asked.map_or(800, |count| count.parse().unwrap())
}

fn is_guest() -> bool {
    std::env::var_os(CONNECTIONS).is_some()
}

/// The guest is asked for so many.
const CONNECTIONS: &str = "FIRSTFLIGHT_CONNECTIONS";

/// Takes away what is there, however a test ends.
struct ClearedOnDrop(Option<PathBuf>);

impl Drop for ClearedOnDrop {
    fn drop(&mut self) {
        for words in [&["steer", "--clear"][..], &["trial", "--clear"], &["unload", CONTROL]] {
            let _ = command(words).output();
        }
        let _ = self.0.take().map(fs::remove_file);
    }
}

const CONTROL: &str = "ff_load";
const SHARE: f64 = 0.3;
const STEER: [&str; 8] =
    ["steer", CONTROL, "--to", "10.91.0.0/16", "--port", "9001", "--share", "30%"];
/// What it would take for harm is more than chance does.
const TRIAL: [&str; 15] = [
    "trial",
    "--control",
    CONTROL,
    "--against",
    "cubic",
    "--to",
    "10.91.0.0/16",
    "--port",
    "9002",
    "--share",
    "30%",
    "--tolerate",
    "90%",
    "--json",
    "--for=24h",
];
