//! Runs firstflight at a point: writes the scenario as a user would, and runs the program on it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measured::Measured;
use super::point::Point;
use crate::Stop;

/// The built program.
pub(crate) struct Ours {
    program: PathBuf,
    scenarios: PathBuf,
}

impl Ours {
    /// This binary, and where its scenarios are left.
    pub(crate) fn new(program: &Path, cache: &Path) -> Result<Self, Stop> {
        let scenarios = cache.join("scenarios");
        fs::create_dir_all(&scenarios).map_err(|error| Stop::failed(&error.to_string()))?;
        Ok(Self { program: program.to_path_buf(), scenarios })
    }

    /// What firstflight measures at a point.
    pub(crate) fn measure(&self, point: &Point) -> Result<Measured, Stop> {
        let path = self.scenarios.join(format!("{}.toml", point.id));
        let failed = |problem: String| {
            Stop::failed(&format!("firstflight run {}: {problem}", path.display()))
        };
        fs::write(&path, scenario(point)).map_err(|error| failed(error.to_string()))?;
        let output = Command::new(&self.program)
            .args(["run", "--json"])
            .arg(&path)
            .output()
            .map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Measured::from_results(&text, point.number("rate")).map_err(|problem| {
            failed(format!("{problem}; {}", String::from_utf8_lossy(&output.stderr).trim()))
        })
    }
}

/// The point as a scenario file.
fn scenario(point: &Point) -> String {
    let (control, recovery) = match point.text("alg") {
        "tahoe" => ("tahoe", "tahoe"),
        "reno" => ("reno", "reno"),
        "sack" => ("newreno", "sack"),
        "vegas" => ("vegas", "newreno"),
        "hoe" => ("hoe", "newreno"),
        "linux" => ("cubic(preset=ns2)", "ns2-linux"),
        _ => ("newreno", "newreno"),
    };
    let ssthresh = match point.text("ssthresh") {
        "0" => "none".to_owned(),
        packets => format!("{packets}pkt"),
    };
    let access_delay = point.number("adelay");
    let mut text = format!(
        "name = \"{}\"\nprofile = \"ns2\"\ncontrols = [\"{control}\"]\nrecovery = \"{recovery}\"\n",
        point.id
    );
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "duration = \"{}s\"\npacket = \"{}B\"",
        point.text("dur"),
        point.text("pkt")
    );
    let _ = writeln!(text, "iw = \"{}pkt\"\nssthresh = \"{ssthresh}\"", point.text("iw"));
    // TCP/Linux and Vegas have rules of their own for duplicate ACKs, and ns-2.1b6 has none.
    let release = point.text("release");
    if recovery != "ns2-linux" && control != "vegas" && release != "2.1b6" {
        let _ = writeln!(text, "limited_transmit = {}", point.text("lt") != "0");
    }
    if matches!(release, "2.26" | "2.1b6") {
        let _ = writeln!(text, "ns2_release = \"{release}\"");
    }
    let _ = writeln!(text, "delayed_ack = {}\n\n[path]", point.text("ack"));
    let _ = writeln!(text, "rate = \"{}Mbps\"", point.text("rate"));
    // To the nanosecond and the bit, which is as fine as a scenario's times and rates are.
    let _ = writeln!(text, "rtt = \"{:.6}ms\"", point.number("rtt") - 4.0 * access_delay);
    let _ = writeln!(text, "buffer = \"{}pkt\"", point.buffer());
    let _ = writeln!(text, "access_delay = \"{access_delay}ms\"");
    let _ = writeln!(text, "access_rate = \"{:.6}Mbps\"", point.access());
    let (delays, rates) = (point.list("adelays"), point.list("accesses"));
    for (flow, start) in point.starts().into_iter().enumerate() {
        let _ = writeln!(text, "\n[[flow]]\nstart = \"{start}s\"");
        if let Some(delay) = delays.get(flow) {
            let _ = writeln!(text, "access_delay = \"{delay}ms\"");
        }
        if let Some(rate) = rates.get(flow) {
            let _ = writeln!(text, "access_rate = \"{rate}Mbps\"");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::point;
    use super::*;

    /// `ns2-dumbbell.tcl` overrides `lt` with the release's own: none in 2000.
    #[test]
    fn limited_transmit_is_that_of_the_release() {
        let said = |words: &str| {
            let random = BTreeMap::from([("one".to_owned(), words.to_owned())]);
            let file = xtask::root().join("oracles/points.toml");
            scenario(&point::load(&file, Some(random), &[]).ok().unwrap()[0])
        };
        assert!(said("sack").contains("limited_transmit = true"));
        assert!(said("sack release=2.26").contains("limited_transmit = true"));
        let of_2000 = said("sack release=2.1b6");
        assert!(of_2000.contains("ns2_release = \"2.1b6\"") && !of_2000.contains("limited"));
    }
}
