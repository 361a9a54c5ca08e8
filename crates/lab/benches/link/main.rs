//! What the emulated link can do, measured with the system's own tools and sockets: the error of
//! an idle round trip, the dispersion of a packet pair, and the goodput at a high rate.
//!
//! It reports and never fails because something is slow: other work on the machine decides that.
//! `cargo bench -p firstflight-lab`; it takes root and ping.

mod goodput;
mod idle;
mod pair;

use std::process::ExitCode;

use firstflight_lab::LabError;
use firstflight_scenario::LabFigures;

fn main() -> ExitCode {
    // `cargo test --benches` runs this too, and asks for nothing to be measured.
    if std::env::args().any(|arg| arg == "--test") {
        return ExitCode::SUCCESS;
    }
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(LabError::Lacks(problem)) => {
            println!("skipped: {problem}");
            ExitCode::from(3)
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), LabError> {
    let head = ["measured", "late p99", "stolen", "timing"];
    println!("{:<42} {:>12} {:>9} {:>7}  {:<8}  bar", "", head[0], head[1], head[2], head[3]);
    idle::measure(SPIN_NS)?;
    idle::measure(0)?;
    pair::measure()?;
    goodput::measure("100Mbps", "")?;
    goodput::measure("1Gbps", "850 Mbit/s")
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
