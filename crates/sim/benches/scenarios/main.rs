//! Speed and memory of the simulator: `cargo bench -p firstflight-sim [-- --json]`.
//!
//! A benchmark reports and never fails. `cargo xtask bench` prints ns-2 and ns-3 beside it.

mod cases;
mod memory;
mod output;
mod speed;

use std::process::ExitCode;

use cases::{CASES, CONTROLS, LARGE_BDP, SMALL_BDP, THOUSAND};
use output::{Kept, Peak, Report, Row};
use speed::Speed;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == memory::CHILD) {
        return memory::child(&args[1..]).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    // Cargo adds `--bench` to the arguments of a benchmark, and nothing when it runs it as a test.
    let known = ["--bench", "--json"];
    if let Some(unknown) = args.iter().find(|arg| !known.contains(&arg.as_str())) {
        eprintln!("unknown argument `{unknown}`; accepted: --json");
        return ExitCode::from(2);
    }
    if !args.iter().any(|arg| arg == "--bench") {
        println!("skipped: a benchmark measures under `cargo bench` only");
        return ExitCode::SUCCESS;
    }
    let json = args.iter().any(|arg| arg == "--json");
    let show = |line: String| if json { eprintln!("{line}") } else { println!("{line}") };
    let report = measure(&show);
    if json {
        println!("{}", report.json());
    }
    ExitCode::SUCCESS
}

/// Measures everything, and shows each line as soon as it is known.
fn measure(show: &dyn Fn(String)) -> Report {
    show(output::SPEED_HEAD.to_owned());
    let mut rows = Vec::new();
    for case in CASES {
        show(format!("({}) {}", case.id, case.what()));
        for control in CONTROLS {
            let bar = case.bar.filter(|_| control.has_bar);
            let row = Row::new(&case, control.name, Speed::measure(&case, &control), bar);
            show(row.line());
            rows.push(row);
        }
    }

    show(format!(
        "\n(f) BDP {} against {} packets",
        LARGE_BDP.bdp_packets(),
        SMALL_BDP.bdp_packets()
    ));
    let mut kept = Vec::new();
    for control in CONTROLS {
        let [small, large] = [SMALL_BDP, LARGE_BDP]
            .map(|case| Row::new(&case, control.name, Speed::measure(&case, &control), None));
        let pair = Kept::new(control.name, small, large);
        show(pair.line());
        kept.push(pair);
    }

    show("\npeak memory of a process that runs nothing else".to_owned());
    let mut peaks = Vec::new();
    for control in CONTROLS {
        let peak = Peak::thousand(control.name, memory::peak_bytes(&THOUSAND, &control));
        show(peak.line());
        peaks.push(peak);
    }
    for control in CONTROLS {
        let [short, long] =
            [20, 1200].map(|seconds| memory::peak_bytes(&CASES[0].lasting(seconds), &control));
        let peak = Peak::long(control.name, short, long);
        show(peak.line());
        peaks.push(peak);
    }
    Report { rows, kept, peaks }
}
