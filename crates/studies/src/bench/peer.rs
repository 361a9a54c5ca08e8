//! The speed of another simulator: packets it delivered, over the CPU time of its process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::Stop;
use crate::oracle::json_line;
use crate::step::{cpu_s, unable};

/// How to run another simulator.
pub(super) struct Peer {
    pub(super) program: PathBuf,
    /// Arguments before the keys.
    pub(super) before: Vec<String>,
}

/// What an oracle program prints.
#[derive(serde::Deserialize)]
struct Line {
    delivered: f64,
}

impl Peer {
    /// Delivered packets per second of CPU, the simulator's own start included.
    pub(super) fn speed(&self, id: &str, keys: &BTreeMap<String, String>) -> Result<f64, Stop> {
        let name = format!("({id}) {}", self.program.display());
        let before = cpu_s();
        let output = Command::new(&self.program)
            .args(&self.before)
            .args(keys.iter().map(|(key, value)| format!("{key}={value}")))
            .output()
            .map_err(|error| unable(&name, &error))?;
        let cpu_s = cpu_s() - before;
        let line: Line = json_line(&String::from_utf8_lossy(&output.stdout)).map_err(|error| {
            let errors = String::from_utf8_lossy(&output.stderr);
            Stop::failed(&format!("{name}: {error}; {}", errors.trim()))
        })?;
        println!("    ({id}) {:.0} packets in {cpu_s:.2} s of CPU", line.delivered);
        Ok(line.delivered / cpu_s)
    }
}
