//! Controls side by side: a row for each, over its flows and runs.

use firstflight_answers::measure::{Scale, over_files, throughput};
use firstflight_answers::{endpoints, reading};
use firstflight_control::Control;
use firstflight_core::needs::Facilities;
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Mean, Table, wrapped};
use firstflight_results::statistics::mean_and_interval;
use firstflight_results::{FilesResult, FlowResult, Partial, RunResult};
use firstflight_runner::Report;

use crate::labels::Labels;

/// The table of a report. Several flows of one run share a row: rates are their sum, counts too,
/// windows and times their mean. So do several runs of one control: their mean, with the 95 %
/// confidence interval.
pub(crate) fn table(report: &Report) -> Table {
    let scale = Scale::of(report);
    let complete = &report.scenario;
    let flows = complete.flow_count();
    let has = Has {
        size: complete.flows.iter().any(|group| group.size.is_some()),
        files: complete.flows.iter().any(|group| group.files.is_some()),
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
    let mut table = Table::new("summary", head(report), columns);
    for runs in by_control() {
        let results: Vec<&RunResult> = runs.iter().map(|run| &run.result).collect();
        table.push(row(&results, &scale, has));
    }
    table
}

/// The path, what a row is, and the endpoints.
fn head(report: &Report) -> String {
    let (path, rows) = (report.scenario.path(), what_rows_are(report));
    format!("{path}, {rows}; {}", endpoints::common(report))
}

/// `one flow`, or what a row is the sum or the mean of.
pub(crate) fn what_rows_are(report: &Report) -> String {
    let of_flows = match report.scenario.flow_count() {
        1 => "one flow".to_owned(),
        n => format!("{n} flows summed or averaged"),
    };
    let by_control = || report.runs.chunk_by(|one, next| one.result.alias == next.result.alias);
    // Fewer than asked for if the work was interrupted, and of no whole round not of every control.
    let counts: Vec<usize> = by_control().map(<[_]>::len).collect();
    let of_runs = match (counts.iter().min(), counts.iter().max()) {
        (_, None | Some(1)) => String::new(),
        (Some(few), Some(many)) if few < many => {
            format!(", mean of {few} to {many} runs and its 95 % confidence interval")
        }
        (_, Some(n)) => format!(", mean of {n} runs and its 95 % confidence interval"),
    };
    let of_all = match report.partial() {
        Some(Partial { runs, asked }) => format!(", interrupted after {runs} of {asked} runs"),
        None => String::new(),
    };
    format!("{of_flows}{of_runs}{of_all}")
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
    with_table(report, labelled(report), screen)
}

/// [`text`] below a figure, which says what path and endpoints were.
pub(crate) fn text_below_figure(report: &Report, screen: Screen) -> String {
    let mut table = labelled(report);
    table.title = table.title.replacen(&head(report), &what_rows_are(report), 1);
    with_table(report, table, screen)
}

fn with_table(report: &Report, table: Table, screen: Screen) -> String {
    let table = drawn(&table, screen);
    match reading::no_round_trip(report) {
        Some(nothing) => format!("{}\n{table}", wrapped(&nothing, screen.width, "  ")),
        None => format!("{table}\n{}", below(report, &[], screen)),
    }
}

/// A row for each of many controls, with what compares them and a few lines of a terminal hold, and
/// below it those that were refused.
pub(crate) fn rows(report: &Report, screen: Screen) -> String {
    let mut table = labelled(report);
    without(&mut table, &["utilization", "retransmitted", "exit window"]);
    let mut more: Vec<String> = mark_routers(report, &mut table).into_iter().collect();
    more.extend(refusals(report));
    format!("{}\n{}", fitted(table, screen), below(report, &more, screen))
}

/// What stands below a table: what its intervals are, what single controls do otherwise, what the
/// numbers say, and more.
fn below(report: &Report, more: &[String], screen: Screen) -> String {
    let mut sentences: Vec<String> = cut_off(report).into_iter().collect();
    let otherwise = endpoints::otherwise(report);
    if !otherwise.is_empty() {
        sentences.push(format!("Otherwise than the others: {}.", otherwise.join("; ")));
    }
    sentences.extend(reading::sentences(report));
    sentences.extend(more.iter().cloned());
    sentences.iter().map(|sentence| wrapped(sentence, screen.width, "  ")).collect()
}

/// The table with short names of its controls.
fn labelled(report: &Report) -> Table {
    let mut table = table(report);
    let names: Vec<String> = table.rows.iter().map(|row| row[0].to_string()).collect();
    let labels = Labels::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for (row, name) in table.rows.iter_mut().zip(labels.names) {
        row[0] = name.into();
    }
    if let Some(all) = labels.all {
        table.title = format!("{all}, {}", table.title);
    }
    table
}

/// That intervals were cut off at zero, where one was.
fn cut_off(report: &Report) -> Option<String> {
    let table = table(report);
    let is_cut = |cell: &Cell| matches!(cell, Cell::Mean(mean) if mean.is_cut_off());
    table.rows.iter().flatten().any(is_cut).then(|| {
        "`(0 to ...)` is an interval by Student's t that would reach below zero, where no value of \
         its kind is: too few runs, or too far apart, to know more."
            .to_owned()
    })
}

/// Marks the controls whose routers have to take part, and says so.
fn mark_routers(report: &Report, table: &mut Table) -> Option<String> {
    let simulated = report.runs.iter().all(|run| run.result.transport == "sim");
    let mut any = false;
    for row in table.rows.iter_mut().filter(|_| simulated) {
        let name = row[0].to_string();
        let control = name.parse().ok().and_then(|spec| Control::resolve(&spec).ok());
        if control.is_some_and(|control| ROUTERS.iter().any(|it| control.needs().all().has(*it))) {
            row[0] = format!("{name} *").into();
            any = true;
        }
    }
    any.then(|| {
        "* Every router on the path has to take part, which the Internet's do not.".to_owned()
    })
}

/// What only routers made for it give a control.
const ROUTERS: [Facilities; 3] =
    [Facilities::GRANTS, Facilities::ROUTER_CHANGES, Facilities::ROUTER_SHARES];

/// Leaves out the columns of these names.
fn without(table: &mut Table, names: &[&str]) {
    let kept: Vec<bool> =
        table.columns.iter().map(|column| !names.contains(&column.name.as_str())).collect();
    for row in &mut table.rows {
        let cells = row.drain(..).zip(&kept);
        *row = cells.filter_map(|(cell, kept)| kept.then_some(cell)).collect();
    }
    let mut kept = kept.into_iter();
    table.columns.retain(|_| kept.next().unwrap_or(true));
}

/// The table for a screen, without the columns that say least about start-up as far as the width
/// asks for that; the report and --csv have all.
fn fitted(mut table: Table, screen: Screen) -> String {
    for name in LEAST {
        if width(&table) <= screen.width {
            break;
        }
        without(&mut table, &[name]);
    }
    terminal::table(&table, screen)
}

/// The columns that a narrow screen goes without, in this order.
const LEAST: [&str; 6] =
    ["utilization", "retransmitted", "timeouts", "peak queue", "exit reason", "exit window"];

/// The controls that the transport does not carry, a sentence each.
pub(crate) fn refusals(report: &Report) -> impl Iterator<Item = String> + '_ {
    report.refused.iter().map(|refused| format!("Refused: {}.", refused.reason))
}

/// A column per control if the screen is wide enough for all of them, else a row per control.
fn drawn(table: &Table, screen: Screen) -> String {
    match turned(table, screen.width) {
        Some(turned) => terminal::table(&turned, screen),
        None => fitted(table.clone(), screen),
    }
}

/// The table with rows and columns exchanged, if that is within the width.
fn turned(table: &Table, width: usize) -> Option<Table> {
    let labels: Vec<String> = table.columns.iter().skip(1).map(Column::label).collect();
    let widest = |texts: &mut dyn Iterator<Item = String>| {
        texts.map(|text| text.chars().count()).max().unwrap_or(0) + GAP
    };
    let margin = widest(&mut labels.iter().cloned());
    let needed = table.rows.iter().map(|row| widest(&mut row.iter().map(ToString::to_string)));
    // One control has a column in any case.
    if table.rows.len() > 1 && margin + needed.sum::<usize>() > width {
        return None;
    }
    let heads = table.rows.iter().map(|row| Column::number(row[0].to_string(), ""));
    let columns = std::iter::once(Column::text("")).chain(heads);
    let mut turned = Table::new(&table.id, &table.title, columns);
    for (at, label) in labels.iter().enumerate() {
        let cells = table.rows.iter().map(|row| row[at + 1].clone());
        turned.push(std::iter::once(label.as_str().into()).chain(cells));
    }
    Some(turned)
}

/// Blanks between columns.
const GAP: usize = 2;

/// The fewest characters a line of the table can have: words are not broken.
fn width(table: &Table) -> usize {
    let widest = |(at, column): (usize, &Column)| {
        let cells = table.rows.iter().map(|row| terminal::widest_piece(&row[at]));
        cells.chain([terminal::widest_piece(&column.label().into())]).max()
    };
    table.columns.iter().enumerate().filter_map(widest).map(|width| width + GAP).sum()
}

fn row(runs: &[&RunResult], scale: &Scale, has: Has) -> Vec<Cell> {
    // Each of many flows has a small share of the path.
    let shares = if runs.iter().any(|run| run.flows.len() > 10) { 4 } else { 2 };
    let sum = |count: fn(&FlowResult) -> u64| {
        mean(runs, 0, |run| Some(run.flows.iter().map(count).sum::<u64>() as f64))
    };
    let flows = |decimals, value: fn(&FlowResult) -> Option<f64>| {
        mean(runs, decimals, |run| average(&run.flows, value))
    };
    let mut row = vec![
        runs.first().map_or(String::new(), |run| run.alias.clone()).into(),
        mean(runs, 2, |run| Some(throughput(run) / scale.bps)),
        mean(runs, 1, |run| Some(run.utilization * 100.0)),
        flows(shares, |flow| flow.startup.exit_window_over_bdp),
        exit_reason(runs).into(),
        flows(2, |flow| flow.startup.time_to_bdp_s.at_90),
        mean(runs, 0, |run| Some(run.bottleneck.drops as f64)),
        sum(|flow| flow.counts.timeouts),
        sum(|flow| flow.counts.retransmitted_packets),
        mean(runs, 0, |run| Some(run.bottleneck.peak_queue_packets? as f64)),
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
    fn controls_stand_side_by_side_as_far_as_the_screen_goes_and_then_in_rows() {
        let table = table(&["newreno", "hoe", "astart(preset=paper)"]);
        let turned = |width| turned(&table, width);
        assert_eq!(turned(100).unwrap().rows.len(), 1);
        assert!(turned(35).is_none());
        let screen = |width| Screen::plain(width);
        assert_eq!(drawn(&table, screen(35)).matches("throughput").count(), 1, "one table");
    }

    #[test]
    fn a_narrow_screen_goes_without_what_says_least() {
        let report = compared(
            "controls = ['hoe', 'slow-start(iw=10pkt,ssthresh=100pkt)+newreno', \
            'slow-start(iw=10pkt,ssthresh=200pkt)+newreno']\nruns = 3\nduration = '3s'\n\
            [path]\nloss = '1%'\n[[flow]]\nsize = '1MB'",
        );
        for width in [80, 100, 160] {
            let text = text(&report, Screen::plain(width));
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{widest} of {width}\n{text}");
            assert_eq!(text.matches("completion").count(), 1, "one table\n{text}");
        }
    }

    #[test]
    fn what_needs_routers_is_marked() {
        let report = compared("controls = ['hoe', 'xcp+xcp', 'quick-start']\nduration = '3s'");
        let text = rows(&report, Screen::plain(100));
        let marked = text.lines().filter(|line| line.contains(" * ")).count();
        assert_eq!(marked, 2, "{text}");
        assert!(text.contains("* Every router on the path has to take part"), "{text}");
    }

    fn compared(text: &str) -> Report {
        let scenario = firstflight_scenario::Scenario::parse(text, "x.toml").unwrap();
        firstflight_runner::run(&scenario, &Default::default()).unwrap()
    }

    #[test]
    fn a_table_is_as_wide_as_its_longest_words() {
        assert_eq!(width(&table(&["hoe"])), "control  throughput  ".len());
    }
}
