//! The pictures of the page: four maps of the grid, and each start-up's window on one path.

use std::error::Error;

use firstflight_report::{Axis, Colors, Figure, HeatMap, Panel, ReportError, Series, Width, svg};
use firstflight_runner::Run;

use super::column;
use super::grid::{BUFFERS, PACKET, REFERENCE, RTTS_MS, carried, control};
use super::summary::{Help, Measure, Summary, four_bdp};

/// Where they are, beside the page.
pub(super) const FOLDER: &str = "img/startups";

/// The maps, by the names of their files.
pub(super) const MAPS: [(&str, Measure); 4] = [
    ("map-completion", Measure::Completion),
    ("map-lost", Measure::Lost),
    ("map-queue", Measure::Queue),
    ("map-rate", Measure::At90),
];

/// Each map as SVG, with its name.
pub(super) fn maps(summaries: &[Summary]) -> Result<Vec<(String, String)>, ReportError> {
    let map =
        |(name, measure): &(&str, Measure)| Ok(((*name).to_owned(), map(summaries, *measure)?));
    MAPS.iter().map(map).collect()
}

fn map(summaries: &[Summary], measure: Measure) -> Result<String, ReportError> {
    let (title, subtitle, colors) = match measure {
        Measure::Completion => {
            ("Completion time", "over slow start's: blue is sooner", Colors::Around(2.0))
        }
        Measure::Lost => ("Lost at the bottleneck", "in % of the transfer", Colors::UpTo(40.0)),
        Measure::Queue => ("Longest queue", "in BDP", Colors::UpTo(2.0)),
        Measure::At90 => (
            "Time to 90 % of the rate",
            "over slow start's: blue is sooner; grey: not reached",
            Colors::Around(2.0),
        ),
    };
    let groups = RTTS_MS.map(|rtt| format!("{rtt} ms")).to_vec();
    let columns = BUFFERS.map(|buffer| format!("{buffer}")).to_vec();
    let map = HeatMap::new(title, format!("{subtitle}. Columns: RTT, buffer in BDP"), colors);
    let mut before = Help::None;
    let rows = summaries.iter().fold(map.columns(groups, columns), |map, summary| {
        // An empty row stands between the kinds.
        let map = if summary.help == before { map } else { map.row("", Vec::new()) };
        before = summary.help;
        let cells = RTTS_MS.iter().flat_map(|rtt| BUFFERS.map(|buffer| (*rtt, buffer)));
        let value = |(rtt, buffer)| {
            let here = |case: &_| four_bdp(case) && (case.rtt_ms, case.buffer) == (rtt, buffer);
            Some(summary.mean(measure, here)?.mean)
        };
        map.row(summary.name(), cells.map(value).collect())
    });
    rows.svg()
}

/// Every start-up's window over slow start's, as SVG by its name.
pub(super) fn windows() -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let cards = carried();
    let controls: Vec<String> = cards.iter().map(|card| control(card)).collect();
    let text = format!(
        "controls = {controls:?}\nduration = \"{SECONDS}s\"\npacket = \"{PACKET}B\"\n\
         delayed_ack = 2\n[path]\nrate = \"{RATE_MBPS}Mbps\"\nrtt = \"{RTT_MS}ms\"\n\
         buffer = \"{BUFFER}bdp\"\n"
    );
    let runs = super::runs(&text, SAMPLES)?;
    let slow = cards.iter().position(|card| card.name == REFERENCE);
    let slow = slow.and_then(|at| runs.get(at));
    let width: Width = "440px".parse()?;
    let pairs = cards.iter().zip(&runs);
    let drawn = pairs.map(|(card, run)| {
        let slow = slow.filter(|_| card.name != REFERENCE);
        Ok((card.name.to_owned(), svg::render(&window(card.name, run, slow), width)?))
    });
    drawn.collect()
}

fn window(name: &str, run: &Run, slow: Option<&Run>) -> Figure {
    let bdp = (RATE_MBPS * RTT_MS * 125 / PACKET) as f64;
    let level = |packets: f64| vec![(0.0, packets), (f64::from(SECONDS), packets)];
    let mut panel = Panel::new(Axis::new("cwnd", "packets"))
        .with(Series::reference("BDP", level(bdp)))
        .with(Series::reference("BDP and buffer", level(bdp * (1.0 + BUFFER))));
    // Below the start-up that the picture is about, which hides it where both are equal.
    if let Some(slow) = slow {
        panel = panel.with(Series::steps("slow start", column(slow.flows.first(), CWND)));
    }
    let panel = panel.with(Series::steps(name, column(run.flows.first(), CWND)));
    Figure::new(name, run.result.alias.clone(), Axis::new("time", "s")).panel(panel)
}

/// The path of the windows.
pub(super) const RATE_MBPS: u64 = 50;
pub(super) const RTT_MS: u64 = 100;
pub(super) const BUFFER: f64 = 0.5;
const SECONDS: u32 = 3;
const CWND: &str = "cwnd_packets";
const SAMPLES: u32 = 150;
