//! Drives the core, another project's controllers and plain readings of the RFCs over one path,
//! and prints their windows round by round.
//!
//! `readings [POINT ...]` runs these points, or all. It fails where two differ by more than a point
//! allows and `validation/explained.toml` has no reason, and where a reason has nothing to explain.

#[expect(dead_code, reason = "the table of ns-2 and ns-3 alone names reasons")]
#[path = "../../../crates/studies/src/explained.rs"]
mod explained;
mod ours;
mod path;
mod peer;
mod point;
mod reading;
mod s2n;

use std::env;
use std::process::ExitCode;

use explained::{Explained, Finding};
use path::{Path, SECOND, Seen};
use point::Point;

fn main() -> ExitCode {
    let asked: Vec<String> = env::args().skip(1).collect();
    let (points, explained) = match read() {
        Ok(read) => read,
        Err(problem) => {
            eprintln!("readings: {problem}");
            return ExitCode::from(2);
        }
    };
    if let Some(wrong) = asked.iter().find(|name| points.iter().all(|point| point.name != **name)) {
        let names: Vec<&str> = points.iter().map(|point| point.name.as_str()).collect();
        eprintln!("readings: found point `{wrong}`, accepted: {}", names.join(", "));
        return ExitCode::from(2);
    }
    let wanted = |point: &&Point| asked.is_empty() || asked.contains(&point.name);
    let wrong: usize = points.iter().filter(wanted).map(|point| judge(point, &explained)).sum();
    let reasons = explained.differs.iter().filter(|reason| reason.from == READINGS);
    let unknown = reasons.flat_map(|reason| &reason.at);
    let unknown = unknown.filter(|at| !points.iter().any(|point| is_of(point, at)));
    let unknown: Vec<&String> = unknown.collect();
    for at in &unknown {
        println!("explained.toml: no point compares `{at}`");
    }
    if wrong + unknown.len() > 0 {
        println!("{wrong} differences without a reason or reasons without a difference");
        return ExitCode::FAILURE;
    }
    println!("no difference without a reason");
    ExitCode::SUCCESS
}

/// The points, and every known difference.
fn read() -> Result<(Vec<Point>, Explained), String> {
    let points = Point::all().map_err(|problem| format!("points.toml: {problem}"))?;
    let explained = toml::from_str(include_str!("../../explained.toml"));
    Ok((points, explained.map_err(|error| format!("explained.toml: {error}"))?))
}

fn is_of(point: &Point, at: &str) -> bool {
    point.compared.iter().any(|what| at == format!("{} {}", point.name, what.name()))
}

/// Runs a point and prints it; how many of its measures are wrong.
fn judge(point: &Point, explained: &Explained) -> usize {
    println!("{}: {}", point.name, describe(&point.path));
    let [ours, other] = point.run();
    show(&point.ours, &ours);
    show(&point.other, &other);
    let mut wrong = 0;
    for what in &point.compared {
        let at = format!("{} {}", point.name, what.name());
        let difference = what.difference(&ours, &other);
        let finding = explained.finding(READINGS, &at, difference.is_some());
        wrong += usize::from(finding.is_wrong());
        let found = difference.unwrap_or_default();
        let verdict = match finding {
            Finding::Equal => "equal".to_owned(),
            Finding::Explained(why) => format!("{found}: {why}"),
            Finding::Unexplained => format!("DIFFER, {found}"),
            Finding::Needless => "EQUAL, and explained.toml has a reason why not".to_owned(),
        };
        println!("  {}: {verdict}", what.name());
    }
    println!();
    wrong
}

fn describe(path: &Path) -> String {
    let buffer = path.buffer.map_or("no end".to_owned(), |packets| format!("{packets} packets"));
    format!(
        "{} Mbit/s, {} ms, buffer {buffer}, {:?}, an ACK for {}, {} s",
        path.rate_mbps, path.rtt_ms, path.sending, path.ack_every, path.lasts_s,
    )
}

fn show(name: &str, seen: &Seen) {
    let row = |of: &[f64]| {
        let numbers = of.iter().take(16).map(|window| format!("{window:.1}"));
        numbers.collect::<Vec<_>>().join(" ")
    };
    let exit = seen.exit.map_or("not left".to_owned(), |exit| {
        let at = exit.at as f64 / SECOND as f64;
        format!("left at {:.1} with {:.0} in flight, {at:.3} s", exit.window, exit.flight)
    });
    println!(
        "  {name}: {exit}; {} sent, {} dropped, queue {}",
        seen.sent, seen.drops, seen.peak_queue
    );
    println!("    rounds  {}", row(&seen.rounds));
    println!("    seconds {}", row(&seen.seconds));
}

/// What the file of reasons calls all that stands beside the core here.
const READINGS: &str = "readings";
