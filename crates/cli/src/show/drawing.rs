//! The picture and the table of a connection.

use firstflight_qlog::{Connection, Curve, Curves, Limited};
use firstflight_report::{Axis, Cell, Column, Figure, Panel, Series, Table};

use crate::words::count;

/// Windows, rate, RTT and losses on one time axis, up to `until_s`.
pub(super) fn figure(heading: &str, connection: &Connection, until_s: f64) -> Figure {
    let curves = connection.curves(until_s);
    let exit = connection.summary.exit.as_ref().filter(|exit| exit.time_s <= until_s);
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
    let kb = |curve: &Curve| -> Vec<(f64, f64)> {
        curve.points().iter().map(|(at, bytes)| (*at, bytes / 1e3)).collect()
    };
    let mut panel = Panel::new(Axis::new("window", "kB"))
        .with(Series::steps("in flight", kb(&curves.in_flight)));
    if curves.in_flight.points().is_empty() && curves.cwnd.points().is_empty() {
        return None;
    }
    // A capture has none.
    if !curves.cwnd.points().is_empty() {
        panel = panel.with(Series::steps("cwnd", to_end(kb(&curves.cwnd), until_s)));
    }
    if !curves.ssthresh.points().is_empty() {
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
    let rtt_s = curves
        .min_rtt
        .points()
        .last()
        .or(curves.smoothed_rtt.points().last())
        .map_or(0.0, |rtt| rtt.1 / 1e3);
    let sent_so_far = curves.sent.points();
    sent_so_far.last().filter(|(_, bytes)| *bytes > 0.0)?;
    // At least a round trip: a window leaves in one burst per round trip while it is small.
    let least_s = (until_s / INTERVALS).max(rtt_s).max(1e-6);
    let intervals = (until_s / least_s).floor().max(1.0);
    let width = (until_s / intervals).max(1e-6);
    let mut points = Vec::new();
    let (mut before, mut place) = (0.0, 0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 200")]
    for interval in 1..=intervals as u32 {
        let end = f64::from(interval) * width;
        // What left at the very end belongs to the last interval.
        let within = |at: f64| at < end || f64::from(interval) >= intervals;
        while sent_so_far.get(place).is_some_and(|(at, _)| within(*at)) {
            place += 1;
        }
        let sent = place.checked_sub(1).map_or(0.0, |last| sent_so_far[last].1);
        points.push((end - width, (sent - before) * 8.0 / 1e6 / width));
        before = sent;
    }
    points.extend(points.last().map(|(_, mbps)| (until_s, *mbps)));
    Some(Panel::new(Axis::new("sending", "Mbps")).with(Series::steps("rate", points)))
}

fn rtt(curves: &Curves) -> Option<Panel> {
    let all = [("latest RTT", &curves.latest_rtt), ("smoothed RTT", &curves.smoothed_rtt)];
    if all.iter().all(|(_, points)| points.points().is_empty()) {
        return None;
    }
    let drawn = all.into_iter().filter(|(_, points)| !points.points().is_empty());
    let panel = Panel::new(Axis::new("RTT", "ms"));
    Some(drawn.fold(panel, |panel, (name, points)| {
        panel.with(Series::steps(name, points.points().to_vec()))
    }))
}

fn losses(curves: &Curves, until_s: f64) -> Option<Panel> {
    if curves.lost.points().is_empty() {
        return None;
    }
    let from_zero =
        std::iter::once((0.0, 0.0)).chain(curves.lost.points().iter().copied()).collect();
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
pub(super) fn table(connection: &Connection) -> Table {
    let summary = &connection.summary;
    let columns = [Column::text("quantity"), Column::text("value")];
    let mut table = Table::new("summary", "The connection", columns);
    let mut row = |name: &str, text: String| table.push([name.into(), Cell::from(text)]);
    let or_not = |value: Option<String>| value.unwrap_or("not told".to_owned());
    let bytes =
        |bytes: Option<u64>| or_not(bytes.map(|bytes| format!("{:.1} kB", bytes as f64 / 1e3)));
    let packets = |packets: Option<u64>| or_not(packets.map(counted));
    let ms = |ms: Option<f64>| or_not(ms.map(milliseconds));
    match (&connection.hidden, &summary.exit) {
        (Some(why), _) => row("end of start-up", format!("not in this record: {why}")),
        (None, None) => row("end of start-up", "not in this record".to_owned()),
        (None, Some(exit)) => {
            row("end of start-up", format!("after {:.3} s", exit.time_s));
            row("its reason", or_not(exit.reason.clone()));
            row("cwnd then", bytes(exit.cwnd_bytes));
            row("lost by then", packets(exit.packets_lost));
        }
    }
    row("first cwnd", bytes(summary.initial_cwnd_bytes));
    row("largest cwnd", bytes(summary.peak_cwnd_bytes));
    row("last cwnd", bytes(summary.final_cwnd_bytes));
    row("most in flight", bytes(summary.peak_in_flight_bytes));
    row("smallest RTT", ms(summary.min_rtt_ms));
    row("largest smoothed RTT", ms(summary.peak_smoothed_rtt_ms));
    let megabytes = summary.bytes_sent.map(|bytes| format!("{:.3} MB", bytes as f64 / 1e6));
    let sent = match (summary.packets_sent, megabytes) {
        (Some(packets), Some(megabytes)) => format!("{}, {megabytes}", counted(packets)),
        (Some(packets), None) => format!("{}, their length not told", counted(packets)),
        (None, megabytes) => or_not(megabytes),
    };
    row("sent", sent);
    row("lost", packets(summary.packets_lost));
    row("duration", format!("{:.3} s", summary.duration_s));
    table
}

/// What limited the sender other than its window, an interval a row; `None` if nothing did.
pub(super) fn limits(connection: &Connection) -> Option<Table> {
    let all = connection.limits.intervals();
    let columns = [
        Column::text("limited by"),
        Column::number("from", "s"),
        Column::number("to", "s"),
        Column::text("how it shows"),
    ];
    let mut table = Table::new("limits", "What limited the sender other than its window", columns);
    let row = |limited: &Limited| {
        let [from, to] =
            [limited.from_s, limited.to_s].map(|time| Cell::from(format!("{time:.3}")));
        [limited.by.name().into(), from, to, Cell::from(limited.why.clone())]
    };
    all.iter().take(MOST_INTERVALS).for_each(|limited| table.push(row(limited)));
    if let Some(more) = all.len().checked_sub(MOST_INTERVALS + 1) {
        let more = format!("{} more intervals, which --json has", more + 1);
        table.push(["...".into(), "".into(), "".into(), Cell::from(more)]);
    }
    (!all.is_empty()).then_some(table)
}

fn counted(packets: u64) -> String {
    count(packets, "packet")
}

/// Milliseconds with two decimals; a time below 0.1 ms in microseconds.
fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms >= 0.1 || ms <= 0.0 => format!("{ms:.2} ms"),
        ms => format!("{:.1} us", ms * 1e3),
    }
}

/// Intervals of a limit that a table has.
const MOST_INTERVALS: usize = 10;
/// Intervals of the rate of sending, at most.
const INTERVALS: f64 = 200.0;
