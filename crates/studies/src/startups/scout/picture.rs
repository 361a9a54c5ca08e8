//! One path, seen closely: the queue that trains build, and the windows.

use std::error::Error;

use firstflight_report::{Axis, Figure, Panel, Series, Width, svg};
use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;
use firstflight_scenario::series::Series as Columns;

const SECONDS: f64 = 1.2;
const SAMPLES: u32 = 1_200;

/// The picture as SVG, with its name.
pub(crate) fn queue() -> Result<(String, String), Box<dyn Error>> {
    let text = format!(
        "controls = [\"hystart-pp\", \"scout\"]\nduration = \"{SECONDS}s\"\npacket = \"1448B\"\n\
         [path]\nrate = \"50Mbps\"\nrtt = \"100ms\"\nbuffer = \"1bdp\"\n"
    );
    let scenario = Scenario::parse(&text, "scout.toml")?;
    let options = Options { samples: Some(SAMPLES), ..Options::default() };
    let report = run(&scenario, &options)?;
    let bdp = 50.0 * 100.0 * 125.0 / 1_448.0;
    let level = |packets: f64| vec![(0.0, packets), (SECONDS, packets)];
    let mut queue = Panel::new(Axis::new("queue", "packets"));
    let mut window =
        Panel::new(Axis::new("cwnd", "packets")).with(Series::reference("BDP", level(bdp)));
    for run in &report.runs {
        let name = run.result.alias.clone();
        queue = queue.with(Series::steps(&name, column(run.queues.first(), "queue_packets")));
        window = window.with(Series::steps(&name, column(run.flows.first(), "cwnd_packets")));
    }
    let figure =
        Figure::new("scout-queue", "50 Mbit/s, 100 ms, a buffer of a BDP", Axis::new("time", "s"))
            .panel(queue)
            .panel(window);
    let width: Width = "760px".parse()?;
    Ok(("scout-queue".to_owned(), svg::render(&figure, width)?))
}

/// A column over time.
fn column(series: Option<&Columns>, name: &str) -> Vec<(f64, f64)> {
    let Some((time, values)) = series.and_then(|it| it.column("time_s").zip(it.column(name)))
    else {
        return Vec::new();
    };
    let value = |value: Option<f64>| value.unwrap_or(f64::NAN);
    time.map(value).zip(values.map(value)).collect()
}
