//! What is compared of a run.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Stop;
use crate::step::{self, unable};

/// One run, the flows together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Marks and drops at the bottleneck, lost ones among these.
    pub(super) marks: f64,
    pub(super) drops: f64,
    /// Payload that arrived.
    pub(super) mbps: f64,
    /// The smoothed RTT, mean over time and then over the flows.
    pub(super) rtt_ms: f64,
    /// The kernel's release; of the simulator nothing.
    pub(super) kernel: String,
}

/// The runs of a scenario.
pub(super) fn run(program: &Path, scenario: &str, more: &[&str]) -> Result<Vec<Measured>, Stop> {
    let folder = Folder::new()?;
    let (file, traces) = (folder.0.join("point.toml"), folder.0.join("traces"));
    fs::write(&file, scenario).map_err(|error| unable("point.toml", &error))?;
    let output = step::bound(program)
        .arg("run")
        .arg(&file)
        .args(["--json", "--trace"])
        .arg(&traces)
        .args(more)
        .output()
        .map_err(|error| unable("firstflight", &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let stop = if output.status.code() == Some(3) { Stop::lacks } else { Stop::failed };
        return Err(stop(&format!("{scenario}\n{}", said.trim())));
    }
    let results: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| Stop::failed(&format!("firstflight: {error}")))?;
    let runs = results["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let read = |run: &Value| {
        let seed = if runs.len() > 1 { format!(".seed-{}.", run["seed"]) } else { String::new() };
        let rtt_ms = rtt_ms(&traces, &seed).map_err(|error| unable("traces", &error))?;
        Measured::read(run, rtt_ms).ok_or_else(|| Stop::failed("firstflight: no results"))
    };
    runs.iter().map(read).collect()
}

impl Measured {
    fn read(run: &Value, rtt_ms: f64) -> Option<Self> {
        let flows = run.get("flows")?.as_array()?;
        let bytes: f64 = flows.iter().filter_map(|flow| flow["delivered_bytes"].as_f64()).sum();
        let at = &run["bottleneck"];
        Some(Self {
            // Left out where there is none.
            marks: at["marks"].as_f64().unwrap_or_default(),
            drops: at["drops"].as_f64()?,
            mbps: bytes * 8e-6 / run["duration_s"].as_f64()?,
            rtt_ms,
            kernel: run["lab"]["kernel"].as_str().unwrap_or_default().to_owned(),
        })
    }
}

/// The mean of `srtt_ms` in the flows' traces of one seed.
fn rtt_ms(traces: &Path, seed: &str) -> std::io::Result<f64> {
    let mut means = Vec::new();
    for entry in fs::read_dir(traces)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains(".flow-") && name.ends_with(".csv") && name.contains(seed) {
            means.extend(mean_of("srtt_ms", &fs::read_to_string(entry.path())?));
        }
    }
    Ok(mean(&means))
}

/// The mean of a column's values above 0.
fn mean_of(column: &str, text: &str) -> Option<f64> {
    let mut lines = text.lines();
    let place = lines.next()?.split(',').position(|name| name == column)?;
    let values = lines.filter_map(|line| line.split(',').nth(place)?.parse().ok());
    let values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    (!values.is_empty()).then(|| mean(&values))
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A folder that is gone with its owner.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Result<Self, Stop> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("firstflight-queues-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).map_err(|error| unable("temporary folder", &error))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed takes room, no more.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_and_a_column_has_its_mean() {
        let run = serde_json::json!({
            "duration_s": 2.0, "bottleneck": {"drops": 3, "marks": 4}, "lab": {"kernel": "6.1"},
            "flows": [{"delivered_bytes": 1_000_000}, {"delivered_bytes": 250_000}]});
        let measured = Measured::read(&run, 30.0).unwrap();
        assert_eq!((measured.marks, measured.drops, measured.mbps), (4.0, 3.0, 5.0));
        assert_eq!((measured.rtt_ms, measured.kernel.as_str()), (30.0, "6.1"));
        let text = "time_s,srtt_ms,flow\n0,0,1\n1,20,1\n2,,1\n3,40,1\n";
        assert_eq!((mean_of("srtt_ms", text), mean_of("none", text)), (Some(30.0), None));
    }
}
