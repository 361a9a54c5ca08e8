//! Runs side by side: one row per control.

use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Table};
use firstflight_runner::Report;
use firstflight_scenario::{FlowResult, Rate, ResolvedBuffer, RunResult, Time};

/// The table of a report. Several flows of one run share a row: rates are their sum, counts too,
/// windows and times their mean.
pub(crate) fn table(report: &Report) -> Table {
    let scale = Scale::of(report);
    let flows = report.resolved.flow_count();
    let sized = report.resolved.flows.iter().any(|group| group.size_bytes.is_some());
    let mut columns = vec![
        Column::text("control"),
        Column::number("throughput", scale.unit),
        Column::number("utilization", "%"),
        Column::number("exit window", "BDP"),
        Column::text("exit reason"),
        Column::number("0.9 BDP after", "s"),
        Column::number("drops", ""),
        Column::number("timeouts", ""),
        Column::number("retransmitted", ""),
        Column::number("peak queue", "packets"),
    ];
    if sized {
        columns.push(Column::number("completion", "s"));
    }
    if flows > 1 {
        columns.push(Column::number("Jain index", ""));
    }
    let title = match flows {
        1 => format!("{}, one flow", path(report)),
        n => format!("{}, {n} flows summed or averaged", path(report)),
    };
    let mut table = Table::new("summary", title, columns);
    for run in &report.runs {
        let mut row = row(report, &run.result, &scale);
        if sized {
            row.push(mean(&run.result, |flow| flow.completion_time_s, 3));
        }
        if flows > 1 {
            row.push(Cell::number(run.result.jain_index, 3));
        }
        table.push(row);
    }
    table
}

/// The table for a terminal: a column per control if the screen is wide enough, else a row per
/// control, else several tables of a column per control.
pub(crate) fn text(report: &Report, screen: Screen) -> String {
    let table = table(report);
    let blocks = turned(&table, screen.width);
    if blocks.len() > 1 && width(&table) <= screen.width {
        return terminal::table(&table, screen);
    }
    let blocks: Vec<String> = blocks.iter().map(|block| terminal::table(block, screen)).collect();
    blocks.join("\n")
}

/// The table with rows and columns exchanged, in as many parts as the width asks for.
fn turned(table: &Table, width: usize) -> Vec<Table> {
    let labels: Vec<String> = table.columns.iter().skip(1).map(Column::label).collect();
    let margin = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) + GAP;
    let mut parts: Vec<(usize, Vec<&Vec<Cell>>)> = Vec::new();
    for row in &table.rows {
        let own = row.iter().map(|cell| cell.to_string().chars().count()).max().unwrap_or(0);
        let own = own + GAP;
        match parts.last_mut() {
            Some((used, rows)) if *used + own <= width => {
                *used += own;
                rows.push(row);
            }
            _ => parts.push((margin + own, vec![row])),
        }
    }
    let turn = |(_, rows): (usize, Vec<&Vec<Cell>>)| {
        let heads = rows.iter().map(|row| Column::number(row[0].to_string(), ""));
        let columns = std::iter::once(Column::text("")).chain(heads);
        let mut turned = Table::new(&table.id, &table.title, columns);
        for (at, label) in labels.iter().enumerate() {
            let cells = rows.iter().map(|row| row[at + 1].clone());
            turned.push(std::iter::once(label.as_str().into()).chain(cells));
        }
        turned
    };
    parts.into_iter().map(turn).collect()
}

/// Blanks between columns.
const GAP: usize = 2;

/// The fewest characters a line of the table can have: words are not broken.
fn width(table: &Table) -> usize {
    let widest = |(at, column): (usize, &Column)| {
        let cells = table.rows.iter().map(|row| row[at].to_string());
        let texts = cells.chain([column.label()]);
        texts.flat_map(|text| text.split(' ').map(|word| word.chars().count()).max()).max()
    };
    table.columns.iter().enumerate().filter_map(widest).map(|width| width + GAP).sum()
}

/// The network in words: `40 Mbps, 100 ms, buffer 500 packets, 20 s`.
pub(crate) fn path(report: &Report) -> String {
    let resolved = &report.resolved;
    let all: Vec<usize> = (0..resolved.links.len()).collect();
    let Some(link) = resolved.links.get(resolved.bottleneck(&all)) else {
        return "no link".to_owned();
    };
    let buffer = match link.buffer {
        ResolvedBuffer::Packets(packets) => format!("{packets} packets"),
        ResolvedBuffer::Bytes(bytes) => format!("{bytes} bytes"),
    };
    let rtt_ns = resolved.flows.first().map_or(0, |flow| flow.rtt_ns);
    let rate = Rate::from_bps(link.rate_bps);
    let rtt = Time::from_ns(rtt_ns);
    let duration = Time::from_ns(resolved.duration_ns);
    let udp = resolved.udp.iter().map(|source| Rate::from_bps(source.rate_bps));
    let udp: String = udp.map(|rate| format!(", UDP at {rate}")).collect();
    format!("{rate}, {rtt}, buffer {buffer}, {duration}{udp}")
}

/// The rate of the slowest link over all, in bit/s.
pub(crate) fn bottleneck_bps(report: &Report) -> u64 {
    report.resolved.links.iter().map(|link| link.rate_bps).min().unwrap_or(0)
}

/// A unit in which the path's rate is a number of a few digits.
pub(crate) struct Scale {
    /// `kbps`, `Mbps` or `Gbps`.
    pub(crate) unit: &'static str,
    /// One of the unit in bit/s.
    pub(crate) bps: f64,
}

impl Scale {
    /// The unit for the rates of this report.
    pub(crate) fn of(report: &Report) -> Self {
        match bottleneck_bps(report) {
            0..1_000_000 => Self { unit: "kbps", bps: 1e3 },
            1_000_000..10_000_000_000 => Self { unit: "Mbps", bps: 1e6 },
            _ => Self { unit: "Gbps", bps: 1e9 },
        }
    }
}

fn row(report: &Report, run: &RunResult, scale: &Scale) -> Vec<Cell> {
    // A single flow is measured over its own life, several over the whole run.
    let (throughput, utilization) = match run.flows.as_slice() {
        [flow] => (flow.throughput_bps, flow.utilization),
        _ => {
            let total = run.total_throughput_bps;
            (total, total / bottleneck_bps(report).max(1) as f64)
        }
    };
    // Each of many flows has a small share of the path.
    let shares = if run.flows.len() > 10 { 4 } else { 2 };
    let sum = |count: fn(&FlowResult) -> u64| {
        Cell::number(run.flows.iter().map(count).sum::<u64>() as f64, 0)
    };
    vec![
        run.alias.clone().into(),
        Cell::number(throughput / scale.bps, 2),
        Cell::number(utilization * 100.0, 1),
        mean(run, |flow| flow.startup.exit_window_over_bdp, shares),
        exit_reason(run).into(),
        mean(run, |flow| flow.startup.time_to_bdp_s.at_90, 2),
        Cell::number(run.bottleneck.drops as f64, 0),
        sum(|flow| flow.timeouts),
        sum(|flow| flow.retransmitted_packets),
        Cell::number(run.bottleneck.peak_queue_packets as f64, 0),
    ]
}

/// The mean over the flows that have a value; a dash when none has.
fn mean(run: &RunResult, value: impl Fn(&FlowResult) -> Option<f64>, decimals: u8) -> Cell {
    let values: Vec<f64> = run.flows.iter().filter_map(value).collect();
    Cell::number(values.iter().sum::<f64>() / values.len() as f64, decimals)
}

/// The most frequent reason, with how often it occurs where that is not always.
fn exit_reason(run: &RunResult) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for flow in &run.flows {
        let reason = flow.startup.exit_reason.as_deref().unwrap_or("none");
        match counts.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason, 1)),
        }
    }
    match counts.iter().max_by_key(|(_, count)| *count) {
        None => "none".to_owned(),
        Some((reason, _)) if counts.len() == 1 => (*reason).to_owned(),
        Some((reason, count)) => format!("{reason} ({count} of {})", run.flows.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(controls: &[&str]) -> Table {
        let columns = [Column::text("control"), Column::number("throughput", "Mbps")];
        let mut table = Table::new("t", "T", columns);
        controls.iter().for_each(|name| table.push([(*name).into(), Cell::number(9.5, 2)]));
        table
    }

    #[test]
    fn controls_stand_side_by_side_as_far_as_the_screen_goes() {
        let table = table(&["newreno", "hoe", "astart(preset=paper)"]);
        let heads = |width| -> Vec<Vec<String>> {
            let parts = turned(&table, width);
            let names = |part: &Table| part.columns.iter().skip(1).map(Column::label).collect();
            parts.iter().map(names).collect()
        };
        assert_eq!(heads(100), [["newreno", "hoe", "astart(preset=paper)"]]);
        assert_eq!(heads(35), [vec!["newreno", "hoe"], vec!["astart(preset=paper)"]]);
        assert_eq!(heads(1).len(), 3, "one at least, however narrow");
    }

    #[test]
    fn a_table_is_as_wide_as_its_longest_words() {
        assert_eq!(width(&table(&["hoe"])), "control  throughput  ".len());
    }
}
