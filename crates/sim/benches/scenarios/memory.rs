//! Peak memory of a run: the program calls itself, because the peak of a process never falls.

use std::process::Command;

use crate::cases::{CASES, CONTROLS, Case, Control, PROFILES, TODAY};

/// Peak resident memory of a process that runs `case` under `control`, in bytes; `None` where the
/// system does not tell.
pub(crate) fn peak_bytes(case: &Case, control: &Control) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let duration = case.duration_s.to_string();
    let output = Command::new(program).args([CHILD, case.id, control.name, &duration]).output();
    String::from_utf8(output.ok()?.stdout).ok()?.trim().parse().ok()
}

/// In the child: runs what the arguments behind [`CHILD`] name, and prints the peak in bytes.
pub(crate) fn child(args: &[String]) -> Option<()> {
    let [id, control, duration] = args else { return None };
    let case = CASES.iter().find(|case| case.id == id)?.lasting(duration.parse().ok()?);
    let control =
        CONTROLS.iter().chain(&PROFILES).chain(&TODAY).find(|known| known.name == control)?;
    std::hint::black_box(firstflight_sim::run(&case.network(control)));
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    println!("{}", kilobytes * 1024);
    Some(())
}

/// Marks the child's arguments.
pub(crate) const CHILD: &str = "--peak-memory";

/// Peak of scenario (d), in bytes.
pub(crate) const THOUSAND_BAR: u64 = 64 << 20;

/// How many more bytes a run sixty times as long may need: what one process and the next differ by.
pub(crate) const LONG_SLACK: u64 = 1 << 19;
