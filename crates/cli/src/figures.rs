//! Curves over time from the traces of a report: of every control's first run.

use firstflight_answers::endpoints::{self, in_force};
use firstflight_answers::measure::{self, Scale, bottleneck_bps};
use firstflight_report::{Axis, Figure, Panel, Series};
use firstflight_results::Series as Columns;
use firstflight_results::statistics::sent_by_link;
use firstflight_runner::{Report, Run};
use firstflight_scenario::{Rate, Time};

/// How many curves of one run are still told apart.
const MOST_CURVES: usize = 7;
/// Curves that can be told apart: the colours, plain and dotted.
const MOST_TOLD_APART: usize = 2 * MOST_CURVES;
/// Intervals over which a throughput is a mean, at most.
const INTERVALS: u64 = 200;

/// cwnd of every run, for a terminal; `None` without traces or when runs have several flows.
pub(crate) fn windows(report: &Report) -> Option<Figure> {
    let panel = window_panel(report)?;
    let (path, flows) = (report.scenario.path(), measure::flows(report));
    let conditions = format!("{path}{flows}{}; {}", seed(report), endpoints::common(report));
    let figure = Figure::new("cwnd", "cwnd over time", time());
    Some(until_end(figure.subtitle(conditions).panel(panel), report))
}

/// cwnd of every run, where runs have one flow, and the bottleneck's queue, for a terminal.
pub(crate) fn window_and_queue(report: &Report) -> Option<Figure> {
    let panels: Vec<Panel> =
        [window_panel(report), queue_panel(report)].into_iter().flatten().collect();
    let figure = Figure::new("references", "The references", time()).subtitle(conditions(report));
    (!panels.is_empty()).then(|| until_end(panels.into_iter().fold(figure, Figure::panel), report))
}

/// When the last flow was done, where all of them have an end and reached it; else the run's end.
fn end_s(report: &Report) -> f64 {
    let whole = report.scenario.duration.ns() as f64 / 1e9;
    let flows = || firsts(report).flat_map(|run| &run.result.flows);
    let done = flows().map(|flow| Some(flow.start_s + flow.completion_time_s?));
    let done: Option<Vec<f64>> = done.collect();
    let last = done.unwrap_or_default().into_iter().fold(0.0, f64::max);
    if last > 0.0 { last.min(whole) } else { whole }
}

/// The figure without what comes after the last event: a curve holds its value up to there.
fn until_end(mut figure: Figure, report: &Report) -> Figure {
    let end = end_s(report);
    for series in figure.panels.iter_mut().flat_map(|panel| &mut panel.series) {
        let after = series.points.iter().position(|(time, _)| *time > end);
        let Some(after) = after.filter(|after| *after > 0) else { continue };
        series.points.truncate(after);
        let (_, last) = series.points[after - 1];
        series.points.push((end, last));
    }
    figure
}

/// The figures of a page: of many controls a few in each, in their order.
pub(crate) fn of_page(report: &Report, command: &str) -> Vec<Figure> {
    let one_control = |one: &Run, next: &Run| one.result.alias == next.result.alias;
    let controls: Vec<&[Run]> = report.runs.chunk_by(one_control).collect();
    if controls.len() <= MOST_TOLD_APART {
        return all(report, command);
    }
    let parts = controls.chunks(MOST_CURVES).enumerate();
    let figures = parts.flat_map(|(part, controls)| {
        let part_of = Report::new(report.scenario.clone(), controls.concat(), false);
        let number = move |mut figure: Figure| {
            figure.id = format!("{}-part-{}", figure.id, part + 1);
            figure
        };
        all(&part_of, command).into_iter().map(number)
    });
    figures.collect()
}

/// Window, queue and throughput of every run on one time axis, as far as they are known (netem does
/// not tell its queue, iperf3 not what arrived), and for runs of several flows the windows of the
/// first of them. Empty without traces.
pub(crate) fn all(report: &Report, command: &str) -> Vec<Figure> {
    if firsts(report).all(|run| run.flows.is_empty()) {
        return Vec::new();
    }
    let panels = [window_panel(report), queue_panel(report), throughput_panel(report)];
    let mut overview = Figure::new("over-time", title(&panels), time());
    let [window, queue, throughput] = panels;
    overview
        .panels
        .extend([window, queue, carried_panel(report), throughput].into_iter().flatten());
    let mut figures = Vec::new();
    if !overview.panels.is_empty() {
        let overview = overview.caption(above_capacity(report));
        figures.push(described(overview, report, command));
    }
    if report.scenario.flow_count() > 1 {
        let each = firsts(report).enumerate().map(|(i, run)| flows_of(report, run, i));
        figures.extend(each.map(|figure| described(figure, report, command)));
    }
    figures
}

/// `Window, queue and throughput`, or those of them that are there.
fn title(panels: &[Option<Panel>; 3]) -> String {
    let names = ["window", "queue", "throughput"].into_iter().zip(panels);
    let names: Vec<&str> = names.filter_map(|(name, panel)| panel.as_ref().map(|_| name)).collect();
    let (last, before) = names.split_last().unwrap_or((&"", &[]));
    let title = match before {
        [] => (*last).to_owned(),
        before => format!("{} and {last}", before.join(", ")),
    };
    title[..title.len().min(1)].to_uppercase() + title.get(1..).unwrap_or_default()
}

/// The run of every control with the first seed. Curves of several seeds would hide each other.
fn firsts(report: &Report) -> impl Iterator<Item = &Run> {
    report.runs.iter().filter(|run| run.result.seed == report.scenario.seed)
}

fn described(figure: Figure, report: &Report, command: &str) -> Figure {
    until_end(figure.subtitle(conditions(report)).command(command), report)
}

/// The path, which seed is drawn, and the endpoints.
fn conditions(report: &Report) -> String {
    let (path, flows) = (report.scenario.path(), measure::flows(report));
    format!("{path}{flows}{}; {}", seed(report), in_force(report))
}

/// Which of several runs is drawn.
fn seed(report: &Report) -> String {
    match report.scenario.runs {
        runs if runs > 1 && report.scenario.seed == 1 => ", seed 1".to_owned(),
        // Another seed stands in the path's words.
        _ => String::new(),
    }
}

/// One curve per run and the BDP, if every run has one flow.
fn window_panel(report: &Report) -> Option<Panel> {
    if firsts(report).any(|run| run.flows.len() != 1) {
        return None;
    }
    let curves = firsts(report)
        .map(|run| Series::steps(run.result.alias.clone(), points(&run.flows[0], "cwnd_packets")));
    let panel = Panel::new(Axis::new("cwnd", "packets"));
    Some(with_bdp(curves.fold(panel, Panel::with), report))
}

/// Adds each flow's share of the BDP.
fn with_bdp(panel: Panel, report: &Report) -> Panel {
    let flows = report.scenario.flow_count();
    let rtt = report.scenario.flows.first().map_or(Time::ZERO, |flow| flow.rtt);
    let bdp = report.scenario.bdp_packets(Rate::from_bps(bottleneck_bps(report)), rtt) as f64;
    let name = if flows == 1 { "BDP".to_owned() } else { format!("BDP / {flows}") };
    panel.with(Series::reference(name, level(report, bdp / flows.max(1) as f64)))
}

fn queue_panel(report: &Report) -> Option<Panel> {
    let slowest = report.scenario.slowest_link();
    let curves = firsts(report).filter_map(|run| {
        let queue = run.queues.get(slowest)?;
        Some(Series::steps(run.result.alias.clone(), points(queue, "queue_packets")))
    });
    let panel = curves.fold(Panel::new(Axis::new("queue", "packets")), Panel::with);
    (!panel.series.is_empty()).then_some(panel)
}

/// What the bottleneck sent, where it has one rate, all its packets have one size and the simulator
/// counted them.
fn carried_panel(report: &Report) -> Option<Panel> {
    let complete = &report.scenario;
    let wire_bytes = complete.wire_bytes();
    if changes_rate(report) || complete.udp.iter().any(|udp| udp.packet.bytes() != wire_bytes) {
        return None;
    }
    let scale = Scale::of(report);
    let slowest = &complete.links[complete.slowest_link()];
    let bits = slowest.elements.on_link(wire_bytes) as f64 * 8.0;
    let packets_per_s = slowest.rate.bps() as f64 / bits;
    let curves = firsts(report).filter(|run| run.result.transport == "sim").filter_map(|run| {
        let link = run.queues.get(complete.slowest_link())?;
        let sent = sent_by_link(&points(link, "carried_packets"), packets_per_s);
        let rates = rates(report, run, &[sent], bits / scale.bps);
        (!link.is_empty()).then(|| Series::steps(run.result.alias.clone(), rates))
    });
    let panel = curves.fold(Panel::new(Axis::new("on the link", scale.unit)), Panel::with);
    (!panel.series.is_empty()).then(|| with_capacity(panel, report, &scale))
}

/// What the receivers delivered in order.
fn throughput_panel(report: &Report) -> Option<Panel> {
    let scale = Scale::of(report);
    let curves = firsts(report)
        .filter(|run| run.flows.iter().any(|flow| !delivered(flow).is_empty()))
        .map(|run| Series::steps(run.result.alias.clone(), throughput(report, run, scale.bps)));
    let panel = curves.fold(Panel::new(Axis::new("throughput", scale.unit)), Panel::with);
    let capacity = bottleneck_bps(report) as f64 / scale.bps;
    (!panel.series.is_empty()).then(|| match changes_rate(report) {
        true => panel,
        false => with_capacity(panel, report, &scale).up_to(capacity * MOST_ABOVE),
    })
}

/// Where the axis of throughput ends, as a multiple of the capacity: what stands above it is data
/// that waited for a gap.
const MOST_ABOVE: f64 = 1.5;

/// Adds the bottleneck's rate, where it has one.
fn with_capacity(panel: Panel, report: &Report, scale: &Scale) -> Panel {
    if changes_rate(report) {
        return panel;
    }
    let rate = bottleneck_bps(report) as f64 / scale.bps;
    panel.with(Series::reference("capacity", level(report, rate)))
}

/// Whether the bottleneck's rate changes over time.
fn changes_rate(report: &Report) -> bool {
    report.scenario.links[report.scenario.slowest_link()].elements.written.has_rates()
}

/// Why a curve of throughput may stand above the capacity, where one does; else nothing.
fn above_capacity(report: &Report) -> &'static str {
    // By more than the intervals' edges make of it.
    let capacity = bottleneck_bps(report) as f64 * 1.01;
    let above = |run: &Run| throughput(report, run, 1.0).iter().any(|(_, bps)| *bps > capacity);
    if !changes_rate(report) && firsts(report).any(above) { ABOVE_CAPACITY } else { "" }
}

const ABOVE_CAPACITY: &str = "Throughput is what the receiver can hand to its application, in \
    order. When a retransmission fills a gap, all that had waited behind it counts at once: the \
    curve then stands above the capacity for an interval, though the link never carried more. The \
    axis ends at one and a half times the capacity.";

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

/// What all flows of a run delivered, as a mean rate over each interval.
fn throughput(report: &Report, run: &Run, unit_bps: f64) -> Vec<(f64, f64)> {
    let counts: Vec<_> = run.flows.iter().map(delivered).collect();
    rates(report, run, &counts, report.scenario.packet.bytes() as f64 * 8.0 / unit_bps)
}

/// The mean rate of counts that only rise over equal intervals of at least two round trips: below
/// the BDP packets come in one burst per round trip. Each counted packet is `worth` so much.
fn rates(report: &Report, run: &Run, counts: &[Vec<(f64, f64)>], worth: f64) -> Vec<(f64, f64)> {
    let complete = &report.scenario;
    let rtt_ns = complete.flows.iter().map(|flow| flow.rtt.ns()).max().unwrap_or(1).max(1);
    let sampled_s = sampled_s(report, run);
    let count = ((sampled_s * 1e9) as u64 / 2 / rtt_ns).clamp(1, INTERVALS) as usize;
    let width_s = sampled_s / count as f64;
    let edges: Vec<f64> = (0..=count).map(|i| i as f64 * width_s).collect();
    let mut packets = vec![0.0; count];
    for samples in counts {
        let at_edges = interpolated(samples, &edges);
        for (packets, ends) in packets.iter_mut().zip(at_edges.windows(2)) {
            *packets += ends[1] - ends[0];
        }
    }
    let last = packets.last().copied();
    let rate = |packets: f64| packets * worth / width_s;
    edges.into_iter().zip(packets.into_iter().chain(last).map(rate)).collect()
}

/// Until when the flows of a run were sampled. The last sample falls short of the run's end, and
/// what nobody counted there would look like a drop of throughput.
fn sampled_s(report: &Report, run: &Run) -> f64 {
    let last = |flow| delivered(flow).last().map(|(time, _)| *time);
    let sampled = run.flows.iter().filter_map(last).fold(0.0, f64::max);
    if sampled > 0.0 { sampled.min(end_s(report)) } else { end_s(report) }
}

/// Packets that had arrived, where that is known.
fn delivered(flow: &Columns) -> Vec<(f64, f64)> {
    let all = points(flow, "delivered_packets").into_iter();
    all.filter(|(_, packets)| packets.is_finite()).collect()
}

/// A count that only rises, at the given times in order: straight between samples, as it was at
/// the last one after it, and none before the first.
fn interpolated(samples: &[(f64, f64)], times: &[f64]) -> Vec<f64> {
    let mut next = 0;
    let value = |time: &f64| {
        while samples.get(next).is_some_and(|(at, _)| at < time) {
            next += 1;
        }
        let before = next.checked_sub(1).map_or((0.0, 0.0), |i| samples[i]);
        match samples.get(next) {
            Some((at, count)) if *at > before.0 => {
                let share = (time - before.0) / (at - before.0);
                before.1 + (count - before.1) * share
            }
            Some((_, count)) => *count,
            None => before.1,
        }
    };
    times.iter().map(value).collect()
}

fn points(table: &Columns, column: &str) -> Vec<(f64, f64)> {
    let (Some(time), Some(values)) = (table.column("time_s"), table.column(column)) else {
        return Vec::new();
    };
    let value = |value: Option<f64>| value.unwrap_or(f64::NAN);
    time.map(value).zip(values.map(value)).collect()
}

fn level(report: &Report, value: f64) -> Vec<(f64, f64)> {
    vec![(0.0, value), (end_s(report), value)]
}

fn time() -> Axis {
    Axis::new("time", "s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_straight_between_samples_and_flat_after_the_last() {
        let samples = [(1.0, 0.0), (2.0, 10.0), (4.0, 20.0)];
        let at = interpolated(&samples, &[0.0, 1.5, 2.0, 3.0, 4.0, 9.0]);
        assert_eq!(at, [0.0, 5.0, 10.0, 15.0, 20.0, 20.0]);
        assert_eq!(interpolated(&[], &[0.0, 1.0]), [0.0, 0.0]);
    }

    fn full() -> Report {
        let text = "controls = ['newreno']\nduration = '15s'";
        let scenario = firstflight_scenario::Scenario::parse(text, "full.toml").unwrap();
        let options = firstflight_runner::Options { samples: Some(150), ..Default::default() };
        firstflight_runner::run(&scenario, &options).unwrap()
    }

    #[test]
    fn what_is_not_known_is_not_drawn_and_the_rest_is() {
        let drawn = |report: &Report| -> Vec<(String, usize)> {
            let figures = all(report, "");
            figures.into_iter().map(|figure| (figure.title, figure.panels.len())).collect()
        };
        let mut report = full();
        assert_eq!(drawn(&report), [("Window, queue and throughput".to_owned(), 4)]);
        report.runs[0].queues.clear();
        assert_eq!(drawn(&report), [("Window and throughput".to_owned(), 2)]);
        let mut windows = Columns::new(["time_s", "cwnd_packets", "delivered_packets"]);
        windows.push(&[Some(1.0), Some(9.0), None]);
        report.runs[0].flows = vec![windows];
        assert_eq!(drawn(&report), [("Window".to_owned(), 1)]);
        report.runs[0].flows.clear();
        assert!(drawn(&report).is_empty());
    }

    #[test]
    fn delivery_exceeds_the_capacity_where_a_gap_is_filled_and_the_link_does_not() {
        let text = "controls = ['hystart']\nduration = '20s'\n[path]\nbuffer = '125pkt'";
        let scenario = firstflight_scenario::Scenario::parse(text, "gap.toml").unwrap();
        let options = firstflight_runner::Options { samples: Some(1000), ..Default::default() };
        let report = firstflight_runner::run(&scenario, &options).unwrap();
        let most = |panel: Option<Panel>| {
            panel.unwrap().series[0].points.iter().map(|(_, mbps)| *mbps).fold(0.0, f64::max)
        };
        assert!(most(throughput_panel(&report)) > 45.0, "no gap is filled");
        let carried = most(carried_panel(&report));
        assert!((39.0..=40.01).contains(&carried), "{carried}");
    }

    #[test]
    fn where_the_rate_changes_no_capacity_is_drawn() {
        let text = "controls = ['newreno']\nduration = '5s'\n[path]\n\
                    rates = [{ rate = '40Mbps' }, { at = '2s', rate = '80Mbps' }]";
        let scenario = firstflight_scenario::Scenario::parse(text, "rates.toml").unwrap();
        let options = firstflight_runner::Options { samples: Some(150), ..Default::default() };
        let report = firstflight_runner::run(&scenario, &options).unwrap();
        assert!(carried_panel(&report).is_none());
        let names = throughput_panel(&report).unwrap().series.into_iter().map(|it| it.name);
        assert_eq!(names.collect::<Vec<_>>(), ["newreno"]);
        assert_eq!(above_capacity(&report), "");
    }

    #[test]
    fn the_axis_of_transfers_ends_with_the_last_of_them() {
        let text = "controls = ['newreno', 'hystart']\nduration = '20s'\n[[flow]]\nsize = '2MB'";
        let scenario = firstflight_scenario::Scenario::parse(text, "size.toml").unwrap();
        let options = firstflight_runner::Options { samples: Some(2000), ..Default::default() };
        let report = firstflight_runner::run(&scenario, &options).unwrap();
        let done = report.runs.iter().map(|run| run.result.flows[0].completion_time_s.unwrap());
        let done = done.fold(0.0, f64::max);
        assert!(done < 5.0, "{done}");
        for figure in all(&report, "").into_iter().chain(windows(&report)) {
            let panels = figure.panels.iter().flat_map(|panel| &panel.series);
            let last = panels.flat_map(|series| series.points.last()).map(|(time, _)| *time);
            assert_eq!(last.fold(0.0, f64::max), done, "{}", figure.title);
        }
        // Unless one of them is not done.
        let scenario = text.replace("2MB", "2GB");
        let scenario = firstflight_scenario::Scenario::parse(&scenario, "size.toml").unwrap();
        let report = firstflight_runner::run(&scenario, &options).unwrap();
        assert_eq!(end_s(&report), 20.0);
    }

    #[test]
    fn a_full_path_is_drawn_full_to_the_end() {
        let report = full();
        let drawn = throughput(&report, &report.runs[0], 1e6);
        let ends = &drawn[drawn.len() - 4..];
        assert!(ends.iter().all(|(_, mbps)| *mbps > 0.97 * ends[0].1), "{ends:?}");
    }
}
