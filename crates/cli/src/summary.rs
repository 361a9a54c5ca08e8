//! Controls side by side: a row for each, over its flows and runs.

use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Mean, Table, wrapped};
use firstflight_runner::Report;
use firstflight_scenario::measure::mean_and_interval;
use firstflight_scenario::{FilesResult, FlowResult, RunResult};

use crate::endpoints::in_force;
use crate::reading;

/// The table of a report. Several flows of one run share a row: rates are their sum, counts too,
/// windows and times their mean. So do several runs of one control: their mean, with the 95 %
/// confidence interval.
pub(crate) fn table(report: &Report) -> Table {
    let scale = Scale::of(report);
    let resolved = &report.resolved;
    let flows = resolved.flow_count();
    let has = Has {
        size: resolved.flows.iter().any(|group| group.size_bytes.is_some()),
        files: resolved.flows.iter().any(|group| group.files.is_some()),
        flows: flows > 1,
    };
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
    if has.size {
        columns.push(Column::number("completion", "s"));
    }
    if has.files {
        columns.push(Column::number("files", ""));
        columns.push(Column::number("file throughput", scale.unit));
        columns.push(Column::number("time of a file", "s"));
    }
    if has.flows {
        columns.push(Column::number("Jain index", ""));
    }
    let by_control = || report.runs.chunk_by(|one, next| one.result.alias == next.result.alias);
    let rows = what_rows_are(report);
    let title = format!("{}, {rows}; {}", resolved.path(), in_force(report));
    let mut table = Table::new("summary", title, columns);
    for runs in by_control() {
        let results: Vec<&RunResult> = runs.iter().map(|run| &run.result).collect();
        table.push(row(report, &results, &scale, has));
    }
    table
}

/// `one flow`, or what a row is the sum or the mean of.
pub(crate) fn what_rows_are(report: &Report) -> String {
    let of_flows = match report.resolved.flow_count() {
        1 => "one flow".to_owned(),
        n => format!("{n} flows summed or averaged"),
    };
    let by_control = || report.runs.chunk_by(|one, next| one.result.alias == next.result.alias);
    // Fewer than asked for if the work was interrupted, and then not of every control.
    let counts: Vec<usize> = by_control().map(<[_]>::len).collect();
    let of_runs = match (counts.iter().min(), counts.iter().max()) {
        (_, None | Some(1)) => String::new(),
        (Some(few), Some(many)) if few < many => {
            format!(", mean of {few} to {many} runs and its 95 % confidence interval")
        }
        (_, Some(n)) => format!(", mean of {n} runs and its 95 % confidence interval"),
    };
    format!("{of_flows}{of_runs}")
}

/// What a row has beyond the columns of every table.
#[derive(Clone, Copy, Debug)]
struct Has {
    size: bool,
    files: bool,
    flows: bool,
}

/// The table for a terminal, and below it what it says in words.
pub(crate) fn text(report: &Report, screen: Screen) -> String {
    let said = reading::sentences(report);
    let said = said.iter().map(|sentence| wrapped(sentence, screen.width, "  "));
    format!("{}\n{}", drawn(report, screen), said.collect::<String>())
}

/// A row for each of many controls, with what compares them and a few lines of a terminal hold, and
/// below it those that were refused.
pub(crate) fn rows(report: &Report, screen: Screen) -> String {
    let mut table = table(report);
    let narrow = |column: &Column| !LEFT_OUT.contains(&column.name.as_str());
    let kept: Vec<bool> = table.columns.iter().map(narrow).collect();
    for row in &mut table.rows {
        let cells = row.drain(..).zip(&kept);
        *row = cells.filter_map(|(cell, kept)| kept.then_some(cell)).collect();
    }
    let mut kept = kept.into_iter();
    table.columns.retain(|_| kept.next().unwrap_or(true));
    let mut text = format!("{}\n", terminal::table(&table, screen));
    for sentence in reading::sentences(report).into_iter().chain(refusals(report)) {
        text.push_str(&wrapped(&sentence, screen.width, "  "));
    }
    text
}

/// What many controls are not compared by.
const LEFT_OUT: [&str; 3] = ["utilization", "retransmitted", "exit window"];

/// The controls that the transport does not carry, a sentence each.
pub(crate) fn refusals(report: &Report) -> impl Iterator<Item = String> + '_ {
    report.refused.iter().map(|refused| format!("Refused: {}.", refused.reason))
}

/// A column per control if the screen is wide enough, else a row per control, else several tables
/// of a column per control.
fn drawn(report: &Report, screen: Screen) -> String {
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

/// The network and the endpoints in words.
pub(crate) fn conditions(report: &Report) -> String {
    format!("{}{}; {}", report.resolved.path(), flows(report), in_force(report))
}

/// `, 4 flows`, where there are several.
pub(crate) fn flows(report: &Report) -> String {
    match report.resolved.flow_count() {
        1 => String::new(),
        flows => format!(", {flows} flows"),
    }
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

fn row(report: &Report, runs: &[&RunResult], scale: &Scale, has: Has) -> Vec<Cell> {
    // Each of many flows has a small share of the path.
    let shares = if runs.iter().any(|run| run.flows.len() > 10) { 4 } else { 2 };
    let capacity = bottleneck_bps(report).max(1) as f64;
    let sum = |count: fn(&FlowResult) -> u64| {
        mean(runs, 0, |run| Some(run.flows.iter().map(count).sum::<u64>() as f64))
    };
    let flows = |decimals, value: fn(&FlowResult) -> Option<f64>| {
        mean(runs, decimals, |run| average(&run.flows, value))
    };
    let mut row = vec![
        runs.first().map_or(String::new(), |run| run.alias.clone()).into(),
        mean(runs, 2, |run| Some(throughput(run) / scale.bps)),
        mean(runs, 1, |run| Some(utilization(run, capacity) * 100.0)),
        flows(shares, |flow| flow.startup.exit_window_over_bdp),
        exit_reason(runs).into(),
        flows(2, |flow| flow.startup.time_to_bdp_s.at_90),
        mean(runs, 0, |run| Some(run.bottleneck.drops as f64)),
        sum(|flow| flow.timeouts),
        sum(|flow| flow.retransmitted_packets),
        mean(runs, 0, |run| Some(run.bottleneck.peak_queue_packets as f64)),
    ];
    if has.size {
        row.push(flows(3, |flow| flow.completion_time_s));
    }
    if has.files {
        let of_file = |decimals, value: fn(&FilesResult) -> f64| {
            mean(runs, decimals, |run| over_files(run, value))
        };
        row.push(sum(|flow| flow.files.map_or(0, |files| files.count)));
        let bps = mean(runs, 2, |run| {
            Some(over_files(run, |files| files.mean_throughput_bps)? / scale.bps)
        });
        row.push(bps);
        row.push(of_file(3, |files| files.mean_time_s));
    }
    if has.flows {
        row.push(mean(runs, 3, |run| Some(run.jain_index)));
    }
    row
}

/// A single flow is measured over its own life, several over the whole run.
pub(crate) fn throughput(run: &RunResult) -> f64 {
    match run.flows.as_slice() {
        [flow] => flow.throughput_bps,
        _ => run.total_throughput_bps,
    }
}

fn utilization(run: &RunResult, capacity_bps: f64) -> f64 {
    match run.flows.as_slice() {
        [flow] => flow.utilization,
        _ => run.total_throughput_bps / capacity_bps,
    }
}

/// The mean over all files of all sources of a run; `None` if none was done.
pub(crate) fn over_files(run: &RunResult, value: fn(&FilesResult) -> f64) -> Option<f64> {
    let done: Vec<&FilesResult> = run.flows.iter().filter_map(|flow| flow.files.as_ref()).collect();
    let count: u64 = done.iter().map(|files| files.count).sum();
    let sum: f64 = done.iter().map(|files| value(files) * files.count as f64).sum();
    (count > 0).then(|| sum / count as f64)
}

/// The mean over the flows that have a value.
fn average(flows: &[FlowResult], value: fn(&FlowResult) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = flows.iter().filter_map(value).collect();
    mean_and_interval(&values).0
}

/// The mean over the runs that have a value, a dash when none has; with several of them its
/// confidence interval, and how many they are where that is not all.
fn mean(runs: &[&RunResult], decimals: u8, value: impl Fn(&RunResult) -> Option<f64>) -> Cell {
    let values: Vec<f64> = runs.iter().filter_map(|run| value(run)).collect();
    let (mean, half) = mean_and_interval(&values);
    match mean {
        // A mean of whole numbers is none.
        Some(value) if runs.len() > 1 => Cell::Mean(Mean {
            value,
            half,
            decimals: decimals.max(1),
            runs: (values.len(), runs.len()),
        }),
        _ => Cell::number(mean.unwrap_or(f64::NAN), decimals),
    }
}

/// The most frequent reason, with how often it occurs where that is not always.
fn exit_reason(runs: &[&RunResult]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for flow in runs.iter().flat_map(|run| &run.flows) {
        let reason = flow.startup.exit_reason.as_deref().unwrap_or("none");
        match counts.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason, 1)),
        }
    }
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    match counts.iter().max_by_key(|(_, count)| *count) {
        None => "none".to_owned(),
        Some((reason, _)) if counts.len() == 1 => (*reason).to_owned(),
        Some((reason, count)) => format!("{reason} ({count} of {all})"),
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
