//! The tables of `scenarios/quic/README.md`: quinn's own controls and firstflight's over quinn's
//! stack in virtual time, and controls over simulated TCP beside them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::step::{self, announce};
use crate::tables::{head, measure, row, write_between};
use crate::{Stop, no_arguments};

/// Measures, and writes the tables between the two marks of the document.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    no_arguments("quic", args)?;
    announce("build");
    let program = step::release(root, &[])?;
    let mut text = String::new();
    announce("completion");
    completion(&program, &mut text)?;
    announce("the Astart paper's paths");
    paths(&program, &mut text)?;
    announce("scenarios/quic");
    presets(root, &program, &mut text)?;
    announce("against simulated TCP");
    agreement(&program, &mut text)?;
    write_between(root, DOCUMENT, (BEGIN, END), &text)?;
    println!("quic: the tables of {DOCUMENT} are written");
    Ok(())
}

/// Files of three sizes over three paths.
fn completion(program: &Path, text: &mut String) -> Result<(), Stop> {
    for (title, flags) in COMPLETION {
        head(text, title, "size", CONTROLS);
        for size in ["1MB", "5MB", "30MB"] {
            let more = ["--size", size, "--duration", "400s", "--packet", "1200B"];
            let runs = compare(program, CONTROLS, &[flags, &more[..]].concat(), true)?;
            row(text, size, runs.iter().map(completed));
        }
    }
    Ok(())
}

/// 20 s over every path of the Astart paper's figures 6 and 7.
fn paths(program: &Path, text: &mut String) -> Result<(), Stop> {
    let title = "The Astart paper's paths: Mbit/s over 20 s, MB dropped, peak queue in packets";
    head(text, title, "path", CONTROLS);
    let rates =
        ["10Mbps", "20Mbps", "40Mbps", "80Mbps", "100Mbps", "150Mbps"].map(|r| (r, "100ms"));
    let rtts = ["20ms", "50ms", "150ms", "200ms"].map(|rtt| ("40Mbps", rtt));
    for (rate, rtt) in rates.into_iter().chain(rtts) {
        let flags = ["--rate", rate, "--rtt", rtt, "--duration", "20s", "--packet", "1200B"];
        let runs = compare(program, CONTROLS, &flags, true)?;
        row(text, &format!("{rate}, {rtt}"), runs.iter().map(carried));
    }
    Ok(())
}

/// The scenarios beside the document, each with its expectations.
fn presets(root: &Path, program: &Path, text: &mut String) -> Result<(), Stop> {
    let folder = root.join("scenarios/quic");
    let entries = fs::read_dir(&folder).map_err(|error| step::unable("scenarios/quic", &error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let title = "Paths people complained about: time or Mbit/s, MB dropped, peak queue";
    let names = ["quinn-cubic", "quinn-newreno", "newreno", "cubic", "astart"];
    head(text, title, "scenario", &names);
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let runs = measure(program, &["run", &file.to_string_lossy(), "--on", "quic", "--json"])?;
        row(text, &name, runs.iter().map(completed));
    }
    Ok(())
}

/// Each control over simulated TCP and over quinn's stack, on equal paths.
fn agreement(program: &Path, text: &mut String) -> Result<(), Stop> {
    let names = ["newreno", "hoe", "astart", "astart(preset=paper)"];
    head(text, "Simulated TCP / QUIC, Mbit/s over 20 s; bold: 10 % or more apart", "path", &names);
    let mut within = [0; 4];
    for rate in ["10Mbps", "40Mbps", "100Mbps"] {
        for (rtt, buffer) in
            [("20ms", "0.25bdp"), ("20ms", "1bdp"), ("200ms", "0.25bdp"), ("200ms", "1bdp")]
        {
            let path = ["--rate", rate, "--rtt", rtt, "--buffer", buffer, "--duration", "20s"];
            let common = [&path[..], &["--packet", "1200B", "--delayed-ack", "1"]].concat();
            let rfc = ["--profile", "rfc", "--syn", "true", "--recovery", "sack"];
            let tcp = [&rfc[..], &["--ssthresh", "none", "--iw", "10pkt"]].concat();
            let tcp = compare(program, &names, &[&common[..], &tcp].concat(), false)?;
            let quic = compare(program, &names, &common, true)?;
            let cells = tcp.iter().zip(&quic).enumerate().map(|(place, (tcp, quic))| {
                let [tcp, quic] = [tcp, quic].map(mbps);
                let agree = (tcp - quic).abs() <= 0.1 * tcp;
                within[place] += u32::from(agree);
                let mark = if agree { "" } else { "**" };
                format!("{tcp:.2} / {mark}{quic:.2}{mark}")
            });
            row(text, &format!("{rate}, {rtt}, {buffer}"), cells.collect::<Vec<_>>().into_iter());
        }
    }
    row(text, "within 10 %", within.iter().map(|count| format!("{count} of 12")));
    Ok(())
}

fn compare(program: &Path, names: &[&str], flags: &[&str], quic: bool) -> Result<Vec<Value>, Stop> {
    let on: &[&str] = if quic { &["--on", "quic"] } else { &[] };
    let words = [&["compare"], names, &["--json"], flags, on].concat();
    measure(program, &words)
}

fn mbps(run: &Value) -> f64 {
    run["total_throughput_bps"].as_f64().unwrap_or(f64::NAN) / 1e6
}

/// Seconds if the flow completed, what was dropped in MB, the peak queue in packets.
fn completed(run: &Value) -> String {
    match run["flows"][0]["completion_time_s"].as_f64() {
        Some(seconds) => format!("{seconds:.2} s, {}", queue(run)),
        None => carried(run),
    }
}

fn carried(run: &Value) -> String {
    format!("{:.2} Mbit/s, {}", mbps(run), queue(run))
}

fn queue(run: &Value) -> String {
    let bottleneck = &run["bottleneck"];
    let drops = bottleneck["drops"].as_u64().unwrap_or(0) as f64;
    let peak = bottleneck["peak_queue_packets"].as_u64().unwrap_or(0);
    format!("{:.2} MB, {peak}", drops * PACKET / 1e6)
}

const DOCUMENT: &str = "scenarios/quic/README.md";
const BEGIN: &str = "<!-- measured: cargo xtask quic -->";
const END: &str = "<!-- end of what is measured -->";

/// Bytes of a packet on these links.
const PACKET: f64 = 1_200.0;

const CONTROLS: &[&str] = &[
    "quinn-cubic",
    "quinn-newreno",
    "quinn-bbr",
    "hoe",
    "hoe+cubic",
    "astart",
    "astart(preset=paper)",
];

const COMPLETION: [(&str, &[&str]); 3] = [
    (
        "40 Mbit/s, 200 ms, 1 BDP: time, MB dropped, peak queue in packets",
        &["--rate", "40Mbps", "--rtt", "200ms"],
    ),
    ("GEO clean: 100 Mbit/s, 600 ms, 1 BDP", &["--rate", "100Mbps", "--rtt", "600ms"]),
    (
        "GEO lossy: 12 Mbit/s, 600 ms, 1.2 BDP, 0.5 %",
        &["--rate", "12Mbps", "--rtt", "600ms", "--buffer", "1.2bdp", "--loss", "0.5%"],
    ),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_told_by_its_time_or_its_rate() {
        let mut run = json!({
            "total_throughput_bps": 2e6,
            "flows": [{ "completion_time_s": 1.5 }],
            "bottleneck": { "drops": 1000, "peak_queue_packets": 7 },
        });
        assert_eq!(completed(&run), "1.50 s, 1.20 MB, 7");
        run["flows"][0]["completion_time_s"] = Value::Null;
        assert_eq!(completed(&run), "2.00 Mbit/s, 1.20 MB, 7");
    }
}
