//! Curves over time from the traces of a report.

use firstflight_report::{Axis, Figure, Panel, Series};
use firstflight_runner::{Report, Run};
use firstflight_scenario::Series as Columns;

use crate::summary::{Scale, bottleneck_bps, path};

/// How many curves of one run are still told apart.
const MOST_CURVES: usize = 7;
/// Intervals over which a throughput is a mean, at most.
const INTERVALS: u64 = 200;

/// cwnd of every run, for a terminal; `None` without traces or when runs have several flows.
pub(crate) fn windows(report: &Report) -> Option<Figure> {
    let panel = window_panel(report)?;
    Some(Figure::new("cwnd", format!("cwnd over time: {}", path(report)), time()).panel(panel))
}

/// Window, queue and throughput of every run on one time axis, and for runs of several flows the
/// windows of the first of them. Empty without traces.
pub(crate) fn all(report: &Report, command: &str) -> Vec<Figure> {
    if report.runs.iter().all(|run| run.queues.is_empty()) {
        return Vec::new();
    }
    let title = match window_panel(report) {
        Some(_) => "Window, queue and throughput",
        None => "Queue and throughput",
    };
    let mut overview = Figure::new("over-time", title, time());
    overview.panels.extend(window_panel(report));
    overview.panels.extend([queue_panel(report), throughput_panel(report)]);
    let mut figures = vec![described(overview, report, command)];
    if report.resolved.flow_count() > 1 {
        let each = report.runs.iter().enumerate().map(|(i, run)| flows_of(report, run, i));
        figures.extend(each.map(|figure| described(figure, report, command)));
    }
    figures
}

fn described(figure: Figure, report: &Report, command: &str) -> Figure {
    let caption = format!("{}; {}", path(report), figure.caption);
    let caption = caption.trim_end_matches("; ").to_owned();
    figure.caption(caption).command(command)
}

/// One curve per run and the BDP, if every run has one flow.
fn window_panel(report: &Report) -> Option<Panel> {
    if report.runs.iter().any(|run| run.flows.len() != 1) {
        return None;
    }
    let curves = report
        .runs
        .iter()
        .map(|run| Series::steps(run.result.alias.clone(), points(&run.flows[0], "cwnd_packets")));
    let panel = Panel::new(Axis::new("cwnd", "packets"));
    Some(with_bdp(curves.fold(panel, Panel::with), report))
}

fn with_bdp(panel: Panel, report: &Report) -> Panel {
    let rtt_ns = report.resolved.flows.first().map_or(0, |flow| flow.rtt_ns);
    let bdp = report.resolved.bdp_packets(bottleneck_bps(report), rtt_ns) as f64;
    panel.with(Series::reference("BDP", level(report, bdp)))
}

fn queue_panel(report: &Report) -> Panel {
    let slowest = bottleneck_bps(report);
    let at = report.resolved.links.iter().position(|link| link.rate_bps == slowest).unwrap_or(0);
    let curves = report.runs.iter().filter_map(|run| {
        let queue = run.queues.get(at)?;
        Some(Series::steps(run.result.alias.clone(), points(queue, "queue_packets")))
    });
    curves.fold(Panel::new(Axis::new("queue", "packets")), Panel::with)
}

fn throughput_panel(report: &Report) -> Panel {
    let scale = Scale::of(report);
    let panel = Panel::new(Axis::new("throughput", scale.unit));
    let curves = report
        .runs
        .iter()
        .map(|run| Series::steps(run.result.alias.clone(), throughput(report, run, scale.bps)));
    let capacity = bottleneck_bps(report) as f64 / scale.bps;
    let capacity = Series::reference("capacity", level(report, capacity));
    curves.fold(panel, Panel::with).with(capacity)
}

/// The windows of the first flows of one run.
fn flows_of(report: &Report, run: &Run, index: usize) -> Figure {
    let shown = run.flows.len().min(MOST_CURVES);
    let curves = run.flows.iter().take(shown).enumerate();
    let curves =
        curves.map(|(id, flow)| Series::steps(format!("flow {id}"), points(flow, "cwnd_packets")));
    let panel = curves.fold(Panel::new(Axis::new("cwnd", "packets")), Panel::with);
    let title = format!("{}: windows of its flows", run.result.alias);
    let caption = match run.flows.len() {
        all if all > shown => format!("the first {shown} of {all} flows"),
        _ => String::new(),
    };
    Figure::new(format!("flows-{}", index + 1), title, time())
        .panel(with_bdp(panel, report))
        .caption(caption)
}

/// Mean throughput of all flows of a run over equal intervals of at least a round trip.
fn throughput(report: &Report, run: &Run, unit_bps: f64) -> Vec<(f64, f64)> {
    let resolved = &report.resolved;
    let rtt_ns = resolved.flows.iter().map(|flow| flow.rtt_ns).max().unwrap_or(1).max(1);
    let count = (resolved.duration_ns / rtt_ns).clamp(1, INTERVALS) as usize;
    let width_s = resolved.duration_ns as f64 / 1e9 / count as f64;
    let mut delivered = vec![0.0; count];
    for flow in &run.flows {
        let mut before = 0.0;
        for (at, so_far) in points(flow, "delivered_packets") {
            let interval = ((at / width_s) as usize).min(count - 1);
            delivered[interval] += so_far - before;
            before = so_far;
        }
    }
    let bits = resolved.packet_bytes as f64 * 8.0;
    let rate = |packets: f64| packets * bits / width_s / unit_bps;
    let starts = (0..=count).map(|i| i as f64 * width_s);
    let last = delivered.last().copied();
    starts.zip(delivered.into_iter().chain(last).map(rate)).collect()
}

fn points(table: &Columns, column: &str) -> Vec<(f64, f64)> {
    let (Some(time), Some(values)) = (table.column("time_s"), table.column(column)) else {
        return Vec::new();
    };
    let value = |value: Option<f64>| value.unwrap_or(f64::NAN);
    time.map(value).zip(values.map(value)).collect()
}

fn level(report: &Report, value: f64) -> Vec<(f64, f64)> {
    vec![(0.0, value), (report.resolved.duration_ns as f64 / 1e9, value)]
}

fn time() -> Axis {
    Axis::new("time", "s")
}
