//! The simulator and the running kernel's TCP on the same paths.

use std::fs;
use std::path::PathBuf;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde_json::Value;

use super::{Back, File, Lab, Pair, Route};
use crate::kept::Kept;
use crate::{Stop, step};

/// The points of one pair of controls that are measured.
pub(super) struct Table {
    pub(super) pair: Pair,
    pub(super) points: Vec<Point>,
}

/// One path with both.
pub(super) struct Point {
    pub(super) route: Route,
    pub(super) sim: Measured,
    pub(super) linux: Measured,
    explained: Option<String>,
}

impl Route {
    /// Rate, RTT and buffer, and the way back if it thins ACKs.
    pub(super) fn name(&self, between: &str) -> String {
        let mut parts = vec![self.rate.clone(), self.rtt.clone(), self.buffer.clone()];
        if let Some(Back { rate, buffer }) = &self.back {
            parts.push(format!("back {rate} {buffer}"));
        }
        parts.join(between)
    }
}

impl Point {
    /// By how much the kernel carries more, per cent.
    pub(super) fn percent(&self) -> f64 {
        100.0 * (self.linux.mbps - self.sim.mbps) / self.sim.mbps
    }

    /// Whether the difference is large and nobody has said why.
    pub(super) fn is_unexplained(&self) -> bool {
        self.percent().abs() > ACCEPTED && self.explained.is_none()
    }

    /// A word on a difference that is large.
    pub(super) fn remark(&self) -> &str {
        match &self.explained {
            _ if self.percent().abs() <= ACCEPTED => "",
            None => "NOT EXPLAINED",
            Some(reason) => reason,
        }
    }
}

/// One run on the kernel, as far as it is compared.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Measured {
    /// Throughput.
    pub mbps: f64,
    /// At the bottleneck.
    pub drops: u64,
    /// 99 % of the packets were at most this late, us.
    pub late_p99_us: f64,
}

/// Measures the pair's points, as far as there is time.
pub(super) fn measure(lab: &Lab<'_>, file: &File, pair: &Pair, kept: &Kept) -> Result<Table, Stop> {
    println!("{:<28} {:>9} {:>9} {:>7} {:>13}", "", "simulator", "kernel", "", "drops");
    // In virtual time guests side by side do not disturb each other.
    let threads = if lab.real_time { 1 } else { 0 };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Stop::failed(&error.to_string()))?;
    let points: Result<Vec<Option<Point>>, Stop> = pool.install(|| {
        let paths = file.paths(pair);
        paths.par_iter().with_max_len(1).map(|route| point(lab, pair, route, kept)).collect()
    });
    Ok(Table { pair: pair.clone(), points: points?.into_iter().flatten().collect() })
}

/// One point, `None` if there is no time for it or other work disturbed every try.
fn point(lab: &Lab<'_>, pair: &Pair, route: &Route, kept: &Kept) -> Result<Option<Point>, Stop> {
    let (sim, _) = run(lab, &pair.sim, route, &["--profile", "linux"])?;
    let name = route.name(" ");
    let Some(linux) = on_linux(lab, pair, route, kept)? else {
        println!("{name:<28} {:>9.3}", sim.mbps);
        return Ok(None);
    };
    let explained = route.explained.get(&pair.sim).cloned();
    let point = Point { route: route.clone(), sim, linux, explained };
    let Point { sim, linux, .. } = &point;
    let drops = format!("{}/{}", sim.drops, linux.drops);
    let (percent, remark) = (point.percent(), point.remark());
    let line = format!(
        "{name:<28} {:>9.3} {:>9.3} {percent:>+6.1}% {drops:>13} {remark}",
        sim.mbps, linux.mbps
    );
    println!("{}", line.trim_end());
    Ok(Some(point))
}

/// The kernel's side, kept or new; `None` if time is over or other work disturbed every try.
fn on_linux(
    lab: &Lab<'_>,
    pair: &Pair,
    route: &Route,
    kept: &Kept,
) -> Result<Option<Measured>, Stop> {
    let (kernel, control, ends) = (&lab.kernel, &pair.linux, ENDS.join(" "));
    let (name, duration) = (route.name(" "), &route.duration);
    let key = format!("{kernel} {control} {name} {duration} {ends}");
    if let Some(kept) = kept.get(&key) {
        return Ok(Some(kept));
    }
    for _ in 0..lab.tries {
        if lab.is_over() {
            return Ok(None);
        }
        let words = ["--on", "linux", "--link", "tun", "--virtual-time"];
        let words = &words[..words.len() - usize::from(lab.real_time)];
        let (measured, timing) = run(lab, &pair.linux, route, words)?;
        // In virtual time the next try would be the same; the page says how late packets were.
        if timing == "valid" || !lab.real_time {
            kept.put(&key, &measured)?;
            return Ok(Some(measured));
        }
        println!("{name}: timing {timing}");
    }
    Ok(None)
}

/// Runs one control on one path; its timing is a second value.
fn run(
    lab: &Lab<'_>,
    control: &str,
    route: &Route,
    more: &[&str],
) -> Result<(Measured, String), Stop> {
    let mut command = step::bound(&lab.program);
    match &route.back {
        None => command.args(["compare", control]),
        // Only a file says what the way back is like.
        Some(back) => command.arg("run").arg(scenario(lab, control, back)?),
    };
    let output = command
        .args(["--json", "--duration", &route.duration])
        .args(["--rate", &route.rate, "--rtt", &route.rtt, "--buffer", &route.buffer])
        .args(ENDS)
        .args(more)
        .output()
        .map_err(|error| step::unable("firstflight", &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let stop = if output.status.code() == Some(3) { Stop::lacks } else { Stop::failed };
        return Err(stop(said.trim()));
    }
    read(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| Stop::failed("firstflight compare --json: no results in its document"))
}

/// Writes a scenario with the control and the way back.
fn scenario(lab: &Lab<'_>, control: &str, back: &Back) -> Result<PathBuf, Stop> {
    let Back { rate, buffer } = back;
    let text = format!(
        "controls = ['{control}']\n[path]\nback = {{ rate = '{rate}', buffer = '{buffer}' }}\n"
    );
    let folder = lab.root.join(SCENARIOS);
    let path = folder.join(format!("{control} {rate} {buffer}.toml"));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| step::unable(&path.display().to_string(), &error))?;
    Ok(path)
}

/// The first run of a document of results.
fn read(text: &str) -> Option<(Measured, String)> {
    let results: Value = serde_json::from_str(text).ok()?;
    let run = results.get("runs")?.get(0)?;
    let measured = Measured {
        mbps: run.get("total_throughput_bps")?.as_f64()? / 1e6,
        drops: run.get("bottleneck")?.get("drops")?.as_u64()?,
        late_p99_us: run["lab"]["late_p99_us"].as_f64().unwrap_or(0.0),
    };
    Some((measured, run["lab"]["timing"].as_str().unwrap_or("valid").to_owned()))
}

/// What real receivers do, and a full packet of an Ethernet.
const ENDS: [&str; 4] = ["--delayed-ack", "2", "--packet", "1448B"];
/// The files that points need.
const SCENARIOS: &str = "target/lab-scenarios";
/// Per cent of throughput.
pub(super) const ACCEPTED: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_results_is_read() {
        let text = r#"{"runs":[{"total_throughput_bps":2e6,"bottleneck":{"drops":3},
            "lab":{"timing":"degraded","late_p99_us":7.5}}]}"#;
        let (measured, timing) = read(text).unwrap();
        assert_eq!((measured.mbps, measured.drops, measured.late_p99_us), (2.0, 3, 7.5));
        assert_eq!(timing, "degraded");
        assert!(read("{}").is_none());
    }

    #[test]
    fn a_large_difference_needs_a_reason() {
        let of = |mbps: f64| Measured { mbps, ..Measured::default() };
        let route: Route =
            toml::from_str("rate = ''\nrtt = ''\nbuffer = ''\nduration = ''").unwrap();
        let (sim, linux) = (of(10.0), of(9.4));
        let mut point = Point { route, sim, linux, explained: None };
        assert_eq!((point.is_unexplained(), point.remark()), (true, "NOT EXPLAINED"));
        point.explained = Some("why".to_owned());
        assert_eq!((point.is_unexplained(), point.remark()), (false, "why"));
        point.linux.mbps = 9.6;
        assert_eq!((point.is_unexplained(), point.remark()), (false, ""));
    }
}
