//! What the emulated link can do, measured with the system's own tools and sockets: the error of
//! an idle round trip, the dispersion of a packet pair, and the goodput at a high rate.
//!
//! It reports and never fails because something is slow: other work on the machine decides that.
//! `cargo bench -p firstflight-lab`; it takes root and ping. `-- idle 1Gbps` measures these alone,
//! of idle, pair, 100Mbps and 1Gbps.

mod goodput;
mod idle;
mod pair;

use std::process::ExitCode;

use firstflight_results::LabFigures;
use firstflight_runner::RunError;

fn main() -> ExitCode {
    // `cargo test --benches` runs this too, and asks for nothing to be measured.
    if std::env::args().any(|arg| arg == "--test") {
        return ExitCode::SUCCESS;
    }
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(RunError::Lacks(problem)) => {
            println!("skipped: {problem}");
            ExitCode::from(3)
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), RunError> {
    let head = ["measured", "late p99", "stolen", "timing"];
    println!("{:<42} {:>12} {:>9} {:>7}  {:<8}  bar", "", head[0], head[1], head[2], head[3]);
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|word| word == name);
    if wanted("idle") {
        idle::measure(SPIN_NS)?;
        idle::measure(0)?;
    }
    if wanted("pair") {
        pair::measure()?;
    }
    for (rate, bar) in [("100Mbps", ""), ("1Gbps", "850 Mbit/s")] {
        if wanted(rate) {
            goodput::measure(rate, bar)?;
        }
    }
    Ok(())
}

/// As the lab's own runs have it.
pub(crate) const SPIN_NS: u64 = firstflight_lab::link::SPIN_NS;

/// A line of the table. Of a run whose timing is not `valid`, the link's own lateness or the
/// machine's is a part.
pub(crate) fn row(what: &str, measured: &str, lab: &LabFigures, bar: &str) {
    let (late, stolen) = (lab.late_p99_us, 100.0 * lab.stolen_share);
    let timing = &lab.timing;
    let line =
        format!("{what:<42} {measured:>12} {late:>6.0} us {stolen:>5.1} %  {timing:<8}  {bar}");
    println!("{}", line.trim_end());
}
