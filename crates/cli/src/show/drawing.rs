//! The picture and the table of a connection.

use firstflight_qlog::{Connection, Curves, Summary};
use firstflight_report::{Axis, Cell, Column, Figure, Panel, Series, Table};

/// Windows, rate, RTT and losses on one time axis, up to `until_s`.
pub(super) fn figure(
    heading: &str,
    connection: &Connection,
    summary: &Summary,
    until_s: f64,
) -> Figure {
    let curves = connection.curves(until_s);
    let exit = summary.exit.as_ref().filter(|exit| exit.time_s <= until_s);
    let exit = exit.and_then(|exit| Some((exit.time_s, exit.cwnd_bytes? as f64)));
    let panels = [
        windows(&curves, exit, until_s),
        rate(&curves, until_s),
        rtt(&curves),
        losses(&curves, until_s),
    ];
    let figure = Figure::new("startup", heading, Axis::new("time", "s"));
    panels.into_iter().flatten().fold(figure, Figure::panel)
}

fn windows(curves: &Curves, exit: Option<(f64, f64)>, until_s: f64) -> Option<Panel> {
    let kb = |points: &[(f64, f64)]| points.iter().map(|(at, bytes)| (*at, bytes / 1e3)).collect();
    let mut panel = Panel::new(Axis::new("window", "kB"))
        .with(Series::steps("in flight", kb(&curves.in_flight)));
    if curves.in_flight.is_empty() && curves.cwnd.is_empty() {
        return None;
    }
    // A capture has none.
    if !curves.cwnd.is_empty() {
        panel = panel.with(Series::steps("cwnd", to_end(kb(&curves.cwnd), until_s)));
    }
    if !curves.ssthresh.is_empty() {
        let threshold = stairs(&to_end(kb(&curves.ssthresh), until_s));
        panel = panel.with(Series::reference("ssthresh", threshold));
    }
    if let Some((at, bytes)) = exit {
        panel = panel.with(Series::points("end of start-up", vec![(at, bytes / 1e3)]));
    }
    Some(panel)
}

/// Mean rate of sending over equal intervals; none if the log has no packets with their length.
fn rate(curves: &Curves, until_s: f64) -> Option<Panel> {
    let rtt_s = curves.min_rtt.last().or(curves.smoothed_rtt.last()).map_or(0.0, |rtt| rtt.1 / 1e3);
    curves.sent.last().filter(|(_, bytes)| *bytes > 0.0)?;
    // At least a round trip: a window leaves in one burst per round trip while it is small.
    let width = (until_s / INTERVALS).max(rtt_s).max(1e-6);
    let mut points = Vec::new();
    let (mut begin, mut before, mut place) = (0.0, 0.0, 0);
    while begin < until_s {
        let end: f64 = begin + width;
        while curves.sent.get(place).is_some_and(|(at, _)| *at < end) {
            place += 1;
        }
        let sent = place.checked_sub(1).map_or(0.0, |last| curves.sent[last].1);
        // The last interval may be cut short.
        let mbps = (sent - before) * 8.0 / 1e6 / (end.min(until_s) - begin).max(1e-9);
        points.push((begin, mbps));
        (begin, before) = (end, sent);
    }
    points.extend(points.last().map(|(_, mbps)| (until_s, *mbps)));
    Some(Panel::new(Axis::new("sending", "Mbps")).with(Series::steps("rate", points)))
}

fn rtt(curves: &Curves) -> Option<Panel> {
    let all = [("latest RTT", &curves.latest_rtt), ("smoothed RTT", &curves.smoothed_rtt)];
    if all.iter().all(|(_, points)| points.is_empty()) {
        return None;
    }
    let told = all.into_iter().filter(|(_, points)| !points.is_empty());
    let panel = Panel::new(Axis::new("RTT", "ms"));
    Some(told.fold(panel, |panel, (name, points)| panel.with(Series::steps(name, points.clone()))))
}

fn losses(curves: &Curves, until_s: f64) -> Option<Panel> {
    if curves.lost.is_empty() {
        return None;
    }
    let from_zero = std::iter::once((0.0, 0.0)).chain(curves.lost.iter().copied()).collect();
    let lost = Series::steps("lost", to_end(from_zero, until_s));
    Some(Panel::new(Axis::new("lost", "packets")).with(lost))
}

/// A log tells values when they change: the last one holds.
fn to_end(mut points: Vec<(f64, f64)>, until_s: f64) -> Vec<(f64, f64)> {
    points.extend(points.last().map(|(_, value)| (until_s, *value)));
    points
}

/// Steps as a line, for a style that has none.
fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::with_capacity(points.len() * 2);
    for (at, value) in points {
        line.extend(line.last().map(|(_, before)| (*at, *before)));
        line.push((*at, *value));
    }
    line
}

/// The summary as a table of two columns.
pub(super) fn table(summary: &Summary) -> Table {
    let columns = [Column::text("quantity"), Column::text("value")];
    let mut table = Table::new("summary", "The connection", columns);
    let mut row = |name: &str, text: String| table.push([name.into(), Cell::from(text)]);
    let bytes = |bytes: Option<u64>| {
        bytes.map_or("not told".to_owned(), |bytes| format!("{:.1} kB", bytes as f64 / 1e3))
    };
    // A log without packets does not tell what was sent and lost.
    let told = summary.packets_sent > 0 || summary.packets_lost > 0;
    let lost = |packets: u64| {
        if told { format!("{packets} packets") } else { "not told".to_owned() }
    };
    let ms = |ms: Option<f64>| ms.map_or("not told".to_owned(), |ms| format!("{ms:.2} ms"));
    match &summary.exit {
        None => row("end of start-up", "not in this log".to_owned()),
        Some(exit) => {
            row("end of start-up", format!("after {:.3} s", exit.time_s));
            row("its reason", exit.reason.clone().unwrap_or("not told".to_owned()));
            row("cwnd then", bytes(exit.cwnd_bytes));
            row("lost by then", lost(exit.packets_lost));
        }
    }
    row("first cwnd", bytes(summary.initial_cwnd_bytes));
    row("largest cwnd", bytes(summary.peak_cwnd_bytes));
    row("last cwnd", bytes(summary.final_cwnd_bytes));
    row("most in flight", bytes(summary.peak_in_flight_bytes));
    row("smallest RTT", ms(summary.min_rtt_ms));
    row("largest smoothed RTT", ms(summary.peak_smoothed_rtt_ms));
    let megabytes = summary.bytes_sent as f64 / 1e6;
    let sent = format!("{} packets, {megabytes:.3} MB", summary.packets_sent);
    row("sent", if told { sent } else { "not told".to_owned() });
    row("lost", lost(summary.packets_lost));
    row("duration", format!("{:.3} s", summary.duration_s));
    table
}

/// Intervals of the rate of sending, at most.
const INTERVALS: f64 = 200.0;
