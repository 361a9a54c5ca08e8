//! What `measure` found: a table, a document, a page.

use firstflight_answers::{Allowed, json};
use firstflight_report::{
    Axis, Column, Figure, Page, Panel, Section, Series, Table, terminal, wrapped, write_dir,
};
use firstflight_results::{FlowResult, Results, RunResult};
use serde::Serialize;

use super::median::Median;
use super::{Args, ControlRuns, Sender, in_order, is_whole, results};
use crate::failure::Failure;
use crate::socket_buffers::allowed;
use crate::{command_line, output};

/// The shared schema of results, and beside its keys the medians.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    results: Results,
    summary: Vec<Summary>,
    /// The sender's buffer; only where the kernel's TCP was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    socket_buffers: Option<Buffers>,
}

/// What the transfers took of the sender's socket buffer.
#[derive(Serialize)]
struct Buffers {
    /// The largest window of all transfers.
    largest_window_bytes: u64,
    #[serde(flatten)]
    allowed: Allowed,
}

/// One control over its transfers.
#[derive(Debug, Serialize)]
struct Summary {
    control: String,
    /// Transfers that were begun.
    transfers: usize,
    /// Transfers that came to their end.
    finished: usize,
    /// The median of their times, s.
    completion_time_s: Option<Median>,
    /// The median of their throughputs, bit/s.
    throughput_bps: Option<Median>,
    /// Throughput over that of the first control in the same round.
    throughput_ratio: Option<Median>,
    /// The median of the packets sent again.
    retransmitted_packets: Option<Median>,
}

/// Prints and writes what was asked for.
pub(super) fn print(
    args: &Args,
    sender: &dyn Sender,
    measured: Vec<ControlRuns>,
) -> Result<(), Failure> {
    let summary = summaries(&measured);
    let title = format!(
        "{} to {}, {}, {} transfers per control in turn: {}",
        args.size,
        args.to,
        if args.iperf3 { "TCP of the kernel by iperf3" } else { "QUIC" },
        args.runs,
        match summary.iter().any(|one| one.throughput_bps.is_some_and(|it| it.interval.is_some())) {
            true => "medians and their 95 % intervals",
            false => "medians, of too few for a 95 % interval",
        }
    );
    let socket_buffers = if args.iperf3 { Buffers::of(&measured) } else { None };
    let buffers = socket_buffers.as_ref().map(Buffers::sentence).unwrap_or_default();
    let table = table(&title, &summary);
    let mut sentences = sentences(&summary);
    sentences.extend((!buffers.is_empty()).then(|| buffers.clone()));
    let page = args.out.as_ref().map(|_| page(&title, &table, &sentences, &measured));
    let runs = in_order(&measured);
    let results = results(args, sender.what(), runs);
    let json = json(&Document { results, summary, socket_buffers })?;
    match args.json {
        true => output::print(&json)?,
        false => {
            let screen = output::screen();
            sentences.extend(args.iperf3.then(|| IPERF3.to_owned()));
            let sentences: String =
                sentences.iter().map(|it| wrapped(it, screen.width, "  ")).collect();
            output::print(&format!("{}\n{sentences}", terminal::table(&table, screen)))?;
        }
    }
    if let (Some(out), Some(page)) = (&args.out, page) {
        write_dir(out, &page, vec![("results.json".into(), json)])?;
        output::note_report(&out.join("report.html"));
    }
    Ok(())
}

impl Buffers {
    /// `None` where no transfer came through, or no Linux says what it allows.
    fn of(measured: &[ControlRuns]) -> Option<Self> {
        let flows = measured.iter().flat_map(|one| &one.runs).filter_map(|run| run.flows.first());
        let window = |flow: &FlowResult| {
            flow.peak_cwnd_packets * flow.delivered_bytes / flow.delivered_packets.max(1)
        };
        let largest_window_bytes = flows.map(window).max().filter(|window| *window > 0)?;
        Some(Self { largest_window_bytes, allowed: allowed()? })
    }

    fn sentence(&self) -> String {
        self.allowed.sentence_of(self.largest_window_bytes)
    }
}

fn summaries(measured: &[ControlRuns]) -> Vec<Summary> {
    let whole = |run: &&RunResult| is_whole(run);
    let of = |one: &ControlRuns| {
        let done = || one.runs.iter().filter(whole);
        let flows = || done().filter_map(|run| run.flows.first());
        let firsts = measured[0].runs.iter().zip(&one.runs);
        let pairs = firsts.filter(|(first, run)| is_whole(first) && is_whole(run));
        let ratio = |(first, run): (&RunResult, &RunResult)| {
            run.total_throughput_bps / first.total_throughput_bps
        };
        Summary {
            control: one.control.clone(),
            transfers: one.runs.len(),
            finished: done().count(),
            completion_time_s: Median::of(flows().filter_map(|flow| flow.completion_time_s)),
            throughput_bps: Median::of(flows().map(|flow| flow.throughput_bps)),
            throughput_ratio: Median::of(pairs.map(ratio).filter(|ratio| ratio.is_finite())),
            retransmitted_packets: Median::of(
                flows().map(|flow| flow.counts.retransmitted_packets as f64),
            ),
        }
    };
    measured.iter().map(of).collect()
}

/// What the ratios of rates within a round say of each control beside the first.
fn sentences(summary: &[Summary]) -> Vec<String> {
    let Some((first, others)) = summary.split_first() else { return Vec::new() };
    let first = &first.control;
    let of = |one: &Summary| {
        let name = &one.control;
        let Median { median, interval } = one.throughput_ratio?;
        let times = format!("{median:.2} times the rate of {first} in the same round");
        Some(match interval {
            None => format!("{name} has {times}; six rounds and more show whether that is chance."),
            Some((low, high)) if low <= 1.0 && high >= 1.0 => format!(
                "No difference is shown between {name} and {first}: {name} has {times}, and the \
                 interval {low:.2} to {high:.2} holds 1."
            ),
            Some((low, high)) => {
                let than = if median > 1.0 { "faster" } else { "slower" };
                format!("{name} is {than}: {times}, {low:.2} to {high:.2}.")
            }
        })
    };
    others.iter().filter_map(of).collect()
}

fn table(title: &str, summary: &[Summary]) -> Table {
    let first = summary.first().map_or("", |first| &*first.control);
    let columns = [
        Column::text("control"),
        Column::text("finished"),
        Column::number("completion", "s"),
        Column::number("throughput", "Mbps"),
        Column::number(format!("rate over {first}'s"), ""),
        Column::number("retransmitted", "packets"),
    ];
    let mut table = Table::new("measured", title, columns);
    for (at, one) in summary.iter().enumerate() {
        let ratio = if at == 0 { None } else { one.throughput_ratio };
        table.push([
            one.control.as_str().into(),
            format!("{} of {}", one.finished, one.transfers).into(),
            cell(one.completion_time_s, 1.0, 3).into(),
            cell(one.throughput_bps, 1e6, 2).into(),
            cell(ratio, 1.0, 2).into(),
            cell(one.retransmitted_packets, 1.0, 0).into(),
        ]);
    }
    table
}

fn cell(median: Option<Median>, unit: f64, decimals: usize) -> String {
    match median {
        None => "-".to_owned(),
        Some(Median { median, interval: None }) => format!("{:.decimals$}", median / unit),
        Some(Median { median, interval: Some((low, high)) }) => format!(
            "{:.decimals$} [{:.decimals$}–{:.decimals$}]",
            median / unit,
            low / unit,
            high / unit
        ),
    }
}

/// The page: the table, what it says, and every transfer over its round.
fn page(title: &str, table: &Table, sentences: &[String], measured: &[ControlRuns]) -> Page {
    let command = command_line::typed();
    let curves = |value: fn(&RunResult) -> Option<f64>| -> Vec<Series> {
        let points = |one: &ControlRuns| {
            let at = |(round, run): (usize, &RunResult)| {
                let value = value(run).filter(|_| is_whole(run))?;
                Some(((round + 1) as f64, value))
            };
            one.runs.iter().enumerate().filter_map(at).collect()
        };
        let named = |one: &ControlRuns| Series::points(one.control.clone(), points(one));
        let mut all: Vec<Series> = measured.iter().map(named).collect();
        let pairs = in_pairs(&all);
        all.push(Series::reference("the same round", pairs));
        all
    };
    let ratios = over_first(measured);
    let completion = curves(|run| run.flows.first()?.completion_time_s);
    let throughput = curves(|run| Some(run.total_throughput_bps / 1e6));
    let mut figure =
        Figure::new("transfers", "Every transfer", Axis::new("round", "")).command(command.clone());
    let panels =
        [(completion, Axis::new("completion", "s")), (throughput, Axis::new("throughput", "Mbps"))];
    for (series, axis) in panels {
        if series.iter().any(|series| !series.points.is_empty()) {
            figure = figure.panel(series.into_iter().fold(Panel::new(axis), Panel::with));
        }
    }
    if !ratios.is_empty() {
        let first = &measured[0].control;
        let panel = Panel::new(Axis::new(format!("rate over {first}'s"), ""));
        figure = figure.panel(ratios.into_iter().fold(panel, Panel::with)).caption(
            "Transfers of one round are joined: what the network did meanwhile was much the same \
             for them, so that the ratio within a round is what compares the controls.",
        );
    }
    let mut section = Section::new("results", "Results").table(table.clone());
    section = sentences.iter().fold(section, |section, sentence| section.text(sentence.as_str()));
    if !figure.panels.is_empty() {
        section = section.figure(figure);
    }
    let failed = measured.iter().flat_map(|one| &one.runs).filter(|run| !is_whole(run));
    let mut notes: Vec<String> = failed.filter_map(RunResult::named_note).collect();
    notes.dedup();
    let section = notes.into_iter().fold(section, Section::text);
    let names: Vec<&str> = measured.iter().map(|one| &*one.control).collect();
    let page = Page::new(format!("Measured in turn: {}", names.join(", ")));
    let page = page.subtitle(title).section(section);
    page.command(command).fact("version", env!("CARGO_PKG_VERSION"))
}

/// A line down from the largest to the smallest value of each round that has two.
fn in_pairs(all: &[Series]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = all.iter().flat_map(|series| series.points.clone()).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let rounds = points.chunk_by(|one, next| one.0 == next.0).filter(|round| round.len() > 1);
    rounds.flat_map(|round| [round[0], round[round.len() - 1], (round[0].0, f64::NAN)]).collect()
}

/// The ratio of rates of each round, of every control but the first, and a line at 1.
fn over_first(measured: &[ControlRuns]) -> Vec<Series> {
    let Some((first, others)) = measured.split_first() else { return Vec::new() };
    let of = |one: &ControlRuns| {
        let rounds = first.runs.iter().zip(&one.runs).enumerate();
        let both = rounds.filter(|(_, (first, run))| is_whole(first) && is_whole(run));
        let ratio = both.map(|(round, (first, run))| {
            ((round + 1) as f64, run.total_throughput_bps / first.total_throughput_bps)
        });
        Series::line(one.control.clone(), ratio.filter(|(_, it)| it.is_finite()).collect())
    };
    let mut all: Vec<Series> = others.iter().map(of).collect();
    all.retain(|series| !series.points.is_empty());
    if !all.is_empty() {
        let last = first.runs.len().max(2) as f64;
        all.push(Series::reference("equal", vec![(1.0, 1.0), (last, 1.0)]));
    }
    all
}

const IPERF3: &str = "iperf3 tells what its receiver had got when the last byte was in the \
    sender's buffer, not when all had arrived: there is no completion time, and a larger --size \
    is more exact.";

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(control: &str, mbps: &[f64]) -> ControlRuns {
        let run =
            |mbps: &f64| RunResult { total_throughput_bps: mbps * 1e6, ..RunResult::default() };
        ControlRuns { control: control.to_owned(), runs: mbps.iter().map(run).collect() }
    }

    #[test]
    fn a_difference_is_said_only_where_the_interval_of_the_ratio_shows_it() {
        let sentence = |other: &[f64]| {
            let first = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
            let all = [measured("cubic", &first[..other.len()]), measured("astart", other)];
            sentences(&summaries(&all)).remove(0)
        };
        let faster = sentence(&[1.5, 3.2, 4.5, 1.6, 3.0, 4.5]);
        assert!(faster.starts_with("astart is faster: 1.50 times the rate of cubic"), "{faster}");
        let none = sentence(&[0.9, 2.4, 2.8, 1.1, 2.0, 3.2]);
        assert!(none.starts_with("No difference is shown between astart and cubic"), "{none}");
        assert!(sentence(&[1.5, 3.0]).contains("six rounds and more"), "too few to tell");
    }

    #[test]
    fn the_page_joins_the_transfers_of_a_round_and_draws_their_ratio() {
        let all = [measured("cubic", &[1.0, 2.0]), measured("astart", &[2.0, 3.0])];
        let summary = summaries(&all);
        let page = page("t", &table("t", &summary), &sentences(&summary), &all);
        assert_eq!(page.title, "Measured in turn: cubic, astart");
        let figure = page.figures().next().unwrap();
        let [throughput, ratio] = &figure.panels[..] else { panic!("{:?}", figure.panels) };
        let pairs = &throughput.series[2].points;
        assert_eq!(pairs[..2], [(1.0, 1.0), (1.0, 2.0)]);
        assert_eq!(ratio.series[0].points, [(1.0, 2.0), (2.0, 1.5)]);
    }
}
