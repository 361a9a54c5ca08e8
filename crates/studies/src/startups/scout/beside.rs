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
/// A flow that has gone on for so long is established.
const ESTABLISHED_MS: u64 = 12_000;
/// What is beside a transfer, by what control, and how long it is alone, in ms and in thousandths
/// of an RTT.
const RIVALS: [(&str, &str, (u64, u64)); 5] = [
    ("CUBIC, established", "cubic", (ESTABLISHED_MS, 0)),
    ("BBR, established", "bbr", (ESTABLISHED_MS, 0)),
    ("slow start, together", "slow-start+cubic", (0, 0)),
    ("slow start, 0.3 RTT before", "slow-start+cubic", (0, 300)),
    ("slow start, 1.5 RTT before", "slow-start+cubic", (0, 1_500)),
];

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

/// A path with a flow that has no end, and when the transfer begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    rate_mbps: u64,
    rtt_ms: u64,
    /// In BDP.
    buffer: f64,
    /// The flow without an end.
    rival: &'static str,
    begins_ms: u64,
}

/// Every path for a rival; how long it goes on alone, in ms and in thousandths of an RTT.
fn places(rates: &[u64], rival: &'static str, (ms, rtts): (u64, u64)) -> Vec<Place> {
    let mut places = Vec::new();
    for rate_mbps in rates.iter().copied() {
        for rtt_ms in RTTS_MS {
            let begins_ms = ms + rtts * rtt_ms / 1_000;
            let of = |buffer| Place { rate_mbps, rtt_ms, buffer, rival, begins_ms };
            places.extend(BUFFERS.map(of));
        }
    }
    places
}

/// A row for each start-up, over the first.
pub(super) fn table(controls: &[&str]) -> Result<String, Box<dyn Error>> {
    let runs = measured(&places(&RATES_MBPS, "cubic", (ESTABLISHED_MS, 0)), controls)?;
    let mut text = String::from(
        "| start-up | transfer: time | sent again | established: bytes (most) | sent again |\n\
         |---|---|---|---|---|\n",
    );
    for (at, control) in controls.iter().enumerate() {
        let Harm { time, worst, sent_again, bytes, most, again } = harm(&runs, at);
        let _ = writeln!(
            text,
            "| {control} | {time:.2} ({worst:.2}) | {sent_again:.0} | {bytes:.2} ({most:.2}) | \
             {again:+.0} |",
        );
    }
    Ok(text)
}

/// A row for each flow that was there before, beside rates that are not the highest.
pub(super) fn rivals(controls: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut text =
        format!("| beside | {} |\n|---|{}\n", controls.join(" | "), "---|".repeat(controls.len()));
    for (name, rival, alone) in RIVALS {
        let runs = measured(&places(&RATES_MBPS[..2], rival, alone), controls)?;
        let cell = |at| {
            let Harm { time, worst, bytes, most, again, .. } = harm(&runs, at);
            format!("{time:.2} ({worst:.2}); {bytes:.2} ({most:.2}); {again:+.0}")
        };
        let cells: Vec<String> = (0..controls.len()).map(cell).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    Ok(text)
}

/// What a start-up did over all places, over what the first did.
struct Harm {
    /// The transfer's time, and the longest.
    time: f64,
    worst: f64,
    /// What the transfer sent again, in packets.
    sent_again: f64,
    /// What the flow beside it delivered less, per byte of the transfer, and the most.
    bytes: f64,
    most: f64,
    /// What that flow sent again more, in packets.
    again: f64,
}

fn harm(runs: &[Vec<Beside>], at: usize) -> Harm {
    let pairs = || runs.iter().map(|run| (&run[at], &run[0]));
    let mean =
        |of: &dyn Fn((&Beside, &Beside)) -> f64| pairs().map(of).sum::<f64>() / runs.len() as f64;
    let ratio = |(one, first): (&Beside, &Beside)| one.completion_s / first.completion_s;
    let bytes = |(one, first): (&Beside, &Beside)| {
        (first.delivered_bytes - one.delivered_bytes) / one.size_bytes
    };
    Harm {
        time: mean(&|pair| ratio(pair).ln()).exp(),
        worst: pairs().map(ratio).fold(0.0, f64::max),
        sent_again: mean(&|(one, _)| one.sent_again),
        bytes: mean(&bytes),
        most: pairs().map(bytes).fold(f64::MIN, f64::max),
        again: mean(&|(one, first)| one.established_sent_again - first.established_sent_again),
    }
}

fn measured(places: &[Place], controls: &[&str]) -> Result<Vec<Vec<Beside>>, String> {
    places.par_iter().map(|place| measure(*place, controls)).collect()
}

fn measure(place: Place, controls: &[&str]) -> Result<Vec<Beside>, String> {
    let Place { rate_mbps: rate, rtt_ms: rtt, buffer, rival, begins_ms } = place;
    let size = (4 * rate * rtt * 125).max(500_000);
    let limit = begins_ms.div_ceil(1_000) + 60 + 40 * size / (rate * 125_000);
    let text = format!(
        "controls = {controls:?}\nduration = \"{limit}s\"\npacket = \"1448B\"\n\
         [path]\nrate = \"{rate}Mbps\"\nrtt = \"{rtt}ms\"\nbuffer = \"{buffer}bdp\"\n\
         [[flow]]\ncontrol = \"{rival}\"\n[[flow]]\nstart = \"{begins_ms}ms\"\nsize = \"{size}B\"\n"
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
        let place = places(&[10], "cubic", (ESTABLISHED_MS, 0))[1];
        let runs = measure(place, &["hystart-pp", "rapid-start"]).unwrap();
        assert!(runs.iter().all(|run| run.completion_s < 60.0), "both are done");
        let table = table(&["hystart-pp"]).unwrap();
        assert!(
            table.contains("| hystart-pp | 1.00 (1.00) |") && table.contains("| +0 |"),
            "{table}"
        );
    }
}
