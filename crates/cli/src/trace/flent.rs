//! A run as a data file of flent (its documentation's "The Data File Format"): what each flow
//! delivers over time, with cwnd and RTT as flent keeps them of `ss`.

use std::io::Write as _;
use std::path::Path;

use firstflight_answers::measure::conditions;
use firstflight_outside::Names;
use firstflight_report::{ReportError, write_file};
use firstflight_results::Series;
use firstflight_results::statistics::mean;
use firstflight_runner::{Report, Run};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Writes a file per run; returns their number.
pub(crate) fn write(out: &Path, report: &Report) -> Result<usize, Failure> {
    let names = Names::default();
    for run in &report.runs {
        let name = super::run_name(&report.scenario, &run.result);
        let path = out.join(names.take(&name, ".flent.gz"));
        let packed = packed(&document(report, run)).map_err(ReportError::write(&path))?;
        write_file(&path, packed)?;
    }
    Ok(report.runs.len())
}

fn packed(document: &Value) -> std::io::Result<Vec<u8>> {
    let mut file = GzEncoder::new(Vec::new(), Compression::default());
    file.write_all(document.to_string().as_bytes())?;
    file.finish()
}

/// flent's test `tcp_nup`, uploads side by side, without its ping: the simulator sends none.
fn document(report: &Report, run: &Run) -> Value {
    let length = report.scenario.duration.ns() as f64 / 1e9;
    let step = length / f64::from(STEPS);
    let times: Vec<f64> = (0..=STEPS).map(|at| f64::from(at) * step).collect();
    let curves = run.flows.iter().map(|flow| Curve::of(flow, &times, report));
    let curves: Vec<Curve> = curves.collect();
    let (mut results, mut raw, mut about) = (Map::new(), Map::new(), Map::new());
    for (number, curve) in (1..).zip(&curves) {
        let name = format!("TCP upload::{number}");
        let mean = mean(curve.mbps.iter().copied().flatten());
        about.insert(name.clone(), json!({ "UNITS": "Mbits/s", "MEAN_VALUE": mean }));
        raw.insert(name.clone(), curve.raw(&times));
        results.insert(name, json!(curve.mbps));
    }
    let over = |of: fn(&[f64]) -> f64| -> Vec<Option<f64>> {
        let at = |place: usize| {
            let all: Vec<f64> = curves.iter().filter_map(|curve| curve.mbps[place]).collect();
            (!all.is_empty()).then(|| of(&all))
        };
        (0..times.len()).map(at).collect()
    };
    results.insert("TCP upload sum".into(), json!(over(|all| all.iter().sum())));
    let average = over(|all| all.iter().sum::<f64>() / all.len() as f64);
    results.insert("TCP upload avg".into(), json!(average));
    json!({
        "version": 4,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": format!("{}, seed {}", run.result.alias, run.result.seed),
            "NOTE": conditions(report),
            "TIME": BEGIN,
            "T0": BEGIN,
            "LENGTH": length,
            "TOTAL_LENGTH": length,
            "STEP_SIZE": step,
            "HOST": run.result.transport,
            "HOSTS": [run.result.transport],
            "LOCAL_HOST": "firstflight",
            "IP_VERSION": 4,
            "TEST_PARAMETERS": { "upload_streams": curves.len().to_string() },
            "FIRSTFLIGHT_VERSION": env!("CARGO_PKG_VERSION"),
            "SERIES_META": about,
        },
        "x_values": times,
        "results": results,
        "raw_values": raw,
    })
}

/// What is known of a flow at each time; nothing before its first sample.
struct Curve {
    mbps: Vec<Option<f64>>,
    cwnd: Vec<Option<f64>>,
    rtt_ms: Vec<Option<f64>>,
}

impl Curve {
    fn of(flow: &Series, times: &[f64], report: &Report) -> Self {
        let columns = flow.columns();
        let place = |name: &str| columns.iter().position(|column| column == name);
        let [time, cwnd, rtt, delivered] =
            ["time_s", "cwnd_packets", "srtt_ms", "delivered_packets"].map(place);
        let mut rows = flow.rows().peekable();
        let (mut last, mut before) = (None, 0.0);
        let mut curve = Self { mbps: Vec::new(), cwnd: Vec::new(), rtt_ms: Vec::new() };
        let megabits = report.scenario.packet.bytes() as f64 * 8.0 / 1e6;
        let step = times.get(1).copied().unwrap_or(1.0);
        for now in times {
            let is_past = |row: &&[Option<f64>]| {
                time.and_then(|place| row[place]).is_some_and(|at| at <= *now)
            };
            while let Some(row) = rows.next_if(|row| is_past(row)) {
                last = Some(row);
            }
            let value = |place: Option<usize>| last.and_then(|row| row[place?]);
            let arrived = value(delivered);
            curve.mbps.push(arrived.map(|arrived| (arrived - before) * megabits / step));
            before = arrived.unwrap_or(before);
            curve.cwnd.push(value(cwnd));
            // Before the first sample the RTT is none, which the table of samples says as 0.
            curve.rtt_ms.push(value(rtt).filter(|ms| *ms > 0.0));
        }
        curve
    }

    /// The points as flent keeps them of a tool, with seconds since 1970.
    fn raw(&self, times: &[f64]) -> Value {
        let points = times.iter().enumerate().filter_map(|(place, at)| {
            let val = self.mbps[place]?;
            let (cwnd, rtt) = (self.cwnd[place], self.rtt_ms[place]);
            let mut point = json!({ "t": BEGIN_S + at, "val": val });
            for (key, value) in [("tcp_cwnd", cwnd), ("tcp_rtt", rtt)] {
                if let Some(value) = value {
                    point[key] = json!(value);
                }
            }
            Some(point)
        });
        points.collect()
    }
}

/// Points over time.
const STEPS: u16 = 500;
/// When a simulated run begins, for files that must have a date.
const BEGIN: &str = "2026-01-01T00:00:00.000000Z";
const BEGIN_S: f64 = 1_767_225_600.0;
