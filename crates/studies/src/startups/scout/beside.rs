//! What a flow that was there before loses to a transfer that begins.

use std::error::Error;
use std::fmt::Write as _;

use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;
use rayon::prelude::*;

const RATES_MBPS: [u64; 3] = [10, 50, 200];
const RTTS_MS: [u64; 2] = [20, 100];
const BUFFERS: [f64; 3] = [0.25, 1.0, 2.0];
pub(super) const COUNT: usize = RATES_MBPS.len() * RTTS_MS.len() * BUFFERS.len();
const BEGINS_S: u64 = 12;

/// A transfer, and the flow beside it.
struct Beside {
    completion_s: f64,
    sent_again: f64,
    size_bytes: f64,
    /// What the established flow delivered.
    delivered_bytes: f64,
    /// What the established flow sent again, bytes.
    established_sent_again: f64,
}

/// A row for each start-up, over the first.
pub(super) fn table(controls: &[&str]) -> Result<String, Box<dyn Error>> {
    let paths: Vec<(u64, u64, f64)> = RATES_MBPS
        .into_iter()
        .flat_map(|rate| RTTS_MS.into_iter().map(move |rtt| (rate, rtt)))
        .flat_map(|(rate, rtt)| BUFFERS.into_iter().map(move |buffer| (rate, rtt, buffer)))
        .collect();
    let runs: Result<Vec<Vec<Beside>>, String> =
        paths.par_iter().map(|path| measure(*path, controls)).collect();
    let runs = runs?;
    let mut text = String::from(
        "| start-up | transfer: time | sent again | established: bytes (most) | sent again |\n\
         |---|---|---|---|---|\n",
    );
    for (at, control) in controls.iter().enumerate() {
        let pairs = runs.iter().map(|run| (&run[at], &run[0]));
        let mean = |of: &dyn Fn((&Beside, &Beside)) -> f64| {
            pairs.clone().map(of).sum::<f64>() / COUNT as f64
        };
        let ratio = |(one, first): (&Beside, &Beside)| one.completion_s / first.completion_s;
        let bytes = |(one, first): (&Beside, &Beside)| {
            (first.delivered_bytes - one.delivered_bytes) / one.size_bytes
        };
        let time = mean(&|pair| ratio(pair).ln()).exp();
        let again = mean(&|(one, first)| one.established_sent_again - first.established_sent_again);
        let _ = writeln!(
            text,
            "| {control} | {time:.2} ({:.2}) | {:.0} | {:.2} ({:.2}) | {again:+.0} |",
            pairs.clone().map(ratio).fold(0.0, f64::max),
            mean(&|(one, _)| one.sent_again),
            mean(&bytes),
            pairs.clone().map(bytes).fold(f64::MIN, f64::max),
        );
    }
    Ok(text)
}

fn measure((rate, rtt, buffer): (u64, u64, f64), controls: &[&str]) -> Result<Vec<Beside>, String> {
    let size = (4 * rate * rtt * 125).max(500_000);
    let limit = BEGINS_S + 60 + 40 * size / (rate * 125_000);
    let text = format!(
        "controls = {controls:?}\nduration = \"{limit}s\"\npacket = \"1448B\"\n\
         [path]\nrate = \"{rate}Mbps\"\nrtt = \"{rtt}ms\"\nbuffer = \"{buffer}bdp\"\n\
         [[flow]]\ncontrol = \"cubic\"\n[[flow]]\nstart = \"{BEGINS_S}s\"\nsize = \"{size}B\"\n"
    );
    let scenario = Scenario::parse(&text, "beside.toml").map_err(|problem| problem.to_string())?;
    let report = run(&scenario, &Options::default()).map_err(|problem| problem.to_string())?;
    let beside = |run: &firstflight_runner::Run| {
        let (established, transfer) = (&run.result.flows[0], &run.result.flows[1]);
        Beside {
            completion_s: transfer.completion_time_s.unwrap_or(limit as f64),
            sent_again: transfer.retransmitted_packets as f64,
            size_bytes: size as f64,
            delivered_bytes: established.delivered_bytes as f64,
            established_sent_again: established.retransmitted_packets as f64,
        }
    };
    Ok(report.runs.iter().map(beside).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_control_takes_nothing_more_than_itself() {
        let runs = measure((10, 20, 1.0), &["hystart-pp", "rapid-start"]).unwrap();
        assert!(runs.iter().all(|run| run.completion_s < 60.0), "both are done");
        let table = table(&["hystart-pp"]).unwrap();
        assert!(
            table.contains("| hystart-pp | 1.00 (1.00) |") && table.contains("| +0 |"),
            "{table}"
        );
    }
}
