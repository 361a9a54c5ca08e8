//! Speed and memory of the simulator: `cargo bench -p firstflight-sim [-- --rounds N] [--json]
//! [--today]`, the last for today's start-ups alone.
//!
//! Every scenario has its turn in every round. `best` and `worst` are whole runs. `calm` is what a
//! run would take undisturbed, each of its parts (2^14 events) as fast as it was in any round, and
//! what the bars are held against. Where neighbours are noisy, more rounds meet more calm moments.
//! A benchmark reports and never fails. `cargo xtask bench` prints ns-2 and ns-3 next to it.

mod cases;
mod endpoints;
mod memory;
mod output;
mod speed;

use std::process::ExitCode;

use cases::{CASES, CONTROLS, Case, Control, LARGE_BDP, PROFILES, SMALL_BDP, THOUSAND, TODAY};
use output::{Kept, Peak, Report, Row};
use speed::{Runs, Speed};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == memory::CHILD) {
        return memory::child(&args[1..]).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let options = match Options::read(&args) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}; accepted: --rounds N, N from 1 on, --json and --today");
            return ExitCode::from(2);
        }
    };
    if !options.measures {
        println!("skipped: a benchmark measures under `cargo bench` only");
        return ExitCode::SUCCESS;
    }
    let show = |line: String| if options.json { eprintln!("{line}") } else { println!("{line}") };
    let report = if options.today {
        Report { rows: today(options.rounds, &show), kept: Vec::new(), peaks: Vec::new() }
    } else {
        measure(options.rounds, &show)
    };
    if options.json {
        println!("{}", report.json());
    }
    ExitCode::SUCCESS
}

struct Options {
    measures: bool,
    json: bool,
    today: bool,
    rounds: u32,
}

impl Options {
    fn read(args: &[String]) -> Result<Self, String> {
        let mut options = Self { measures: false, json: false, today: false, rounds: ROUNDS };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                // Cargo adds it for a benchmark, and not when it runs it as a test.
                "--bench" => options.measures = true,
                "--json" => options.json = true,
                "--today" => options.today = true,
                "--rounds" => {
                    let number = args.next().map_or("", String::as_str);
                    let rounds = number.parse().ok().filter(|rounds| *rounds > 0);
                    options.rounds = rounds.ok_or(format!("--rounds: found `{number}`"))?;
                }
                _ => return Err(format!("unknown argument `{arg}`")),
            }
        }
        Ok(options)
    }
}

/// Runs everything in turn. How far it is stands on standard error.
fn speeds(rounds: u32, pairs: &[(Case, Control)]) -> Vec<Speed> {
    let mut all: Vec<Runs> = pairs.iter().map(|(case, control)| Runs::new(case, control)).collect();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        all.iter_mut().for_each(Runs::round);
    }
    all.iter().map(Runs::speed).collect()
}

/// Measures everything, and shows it.
fn measure(rounds: u32, show: &dyn Fn(String)) -> Report {
    let controls = [&CONTROLS[..], &PROFILES[..]].concat();
    let all = |case: &Case, controls: &[Control]| -> Vec<(Case, Control)> {
        controls.iter().map(|control| (*case, *control)).collect()
    };
    let mut pairs: Vec<_> = CASES.iter().flat_map(|case| all(case, &controls)).collect();
    pairs.extend([SMALL_BDP, LARGE_BDP].iter().flat_map(|case| all(case, &CONTROLS)));
    let speeds = speeds(rounds, &pairs);
    let (rfc_and_profiles, bdps) = speeds.split_at(CASES.len() * controls.len());

    show(output::SPEED_HEAD.to_owned());
    let mut rows = Vec::new();
    for (case, speeds) in CASES.iter().zip(rfc_and_profiles.chunks(controls.len())) {
        show(format!("({}) {}", case.id, case.what()));
        for (control, speed) in controls.iter().zip(speeds) {
            let row = Row::new(case, control.name, *speed, control.bar(case.bars));
            show(row.line());
            rows.push(row);
        }
    }

    rows.extend(today(rounds, show));

    show(format!(
        "\n(f) BDP {} against {} packets",
        LARGE_BDP.bdp_packets(),
        SMALL_BDP.bdp_packets()
    ));
    let mut kept = Vec::new();
    let (small, large) = bdps.split_at(CONTROLS.len());
    for ((control, small), large) in CONTROLS.iter().zip(small).zip(large) {
        let row = |case, speed: &Speed| Row::new(case, control.name, *speed, None);
        let pair = Kept::new(control.name, row(&SMALL_BDP, small), row(&LARGE_BDP, large));
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

/// Measures today's start-ups, and shows it.
fn today(rounds: u32, show: &dyn Fn(String)) -> Vec<Row> {
    let case = CASES[0];
    show(format!("({}) today's start-ups on Linux' endpoints", case.id));
    let speeds = speeds(rounds, &TODAY.map(|control| (case, control)));
    let row = |(control, speed): (&Control, &Speed)| {
        let row = Row::new(&case, control.name, *speed, control.bar(case.bars));
        show(row.line());
        row
    };
    TODAY.iter().zip(&speeds).map(row).collect()
}

/// Rounds, unless more are asked for.
const ROUNDS: u32 = 10;
