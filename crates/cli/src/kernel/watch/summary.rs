//! The connections that were reported, counted by control and by the end of slow start.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use firstflight_kernel::watch::{Connection, Counts, End};
use firstflight_outside::digits;
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Table};
use firstflight_terminal::words::count;
use serde::Serialize;

/// What was counted since the command began.
#[derive(Default)]
pub(super) struct Summary {
    groups: BTreeMap<(String, End), Group>,
}

/// The connections of one control whose slow start ended in one way.
#[derive(Default)]
struct Group {
    connections: u64,
    acked: u64,
    sent_again: u64,
    /// Connections whose window at the end was at most the bound, by [`BOUNDS`], and their bytes;
    /// the last has none.
    windows: [(u64, u64); BOUNDS.len() + 1],
    window_sum: u64,
}

/// Bounds of the histogram of windows, in packets.
const BOUNDS: [u32; 10] = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120];

/// Characters of a bar that is all of them.
const BAR: f64 = 40.0;

/// What `--json` prints at the end.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    /// Connections that have begun, whatever the filter.
    began: u64,
    /// Connections that have closed.
    closed: u64,
    /// Connections that could not be reported, because too many closed at once.
    dropped: u64,
    /// Connections that never left slow start, and their bytes, over all that were reported.
    never_left_share_of_connections: f64,
    never_left_share_of_bytes: f64,
    groups: Vec<GroupRow<'a>>,
    /// The histogram of windows at the end of slow start, of all.
    windows: Vec<Window>,
}

/// Connections whose window at the end of slow start, or the longest where it did not end, was
/// above the bound before and at most this.
#[derive(Serialize)]
struct Window {
    /// None for the last.
    at_most_packets: Option<u32>,
    connections: u64,
    share_of_connections: f64,
    share_of_bytes: f64,
}

#[derive(Serialize)]
struct GroupRow<'a> {
    control: &'a str,
    slow_start_end: &'static str,
    slow_start_ended: bool,
    connections: u64,
    share_of_connections: f64,
    acked_bytes: u64,
    share_of_bytes: f64,
    sent_again_bytes: u64,
    mean_end_cwnd_packets: f64,
}

impl Summary {
    pub(super) fn add(&mut self, connection: &Connection) {
        let key = (connection.control.clone(), connection.slow_start.end);
        let group = self.groups.entry(key).or_default();
        let window = connection.slow_start.cwnd;
        group.connections += 1;
        group.acked += connection.acked;
        group.sent_again += connection.sent_again;
        let (connections, bytes) = &mut group.windows[BOUNDS.partition_point(|it| *it < window)];
        (*connections, *bytes) = (*connections + 1, *bytes + connection.acked);
        group.window_sum += u64::from(window);
    }

    fn rows(&self) -> Vec<GroupRow<'_>> {
        let all = |field: fn(&Group) -> u64| self.groups.values().map(field).sum::<u64>();
        let (connections, bytes) = (all(|group| group.connections), all(|group| group.acked));
        let rows = self.groups.iter().map(|((control, end), group)| GroupRow {
            control,
            slow_start_end: end.name(),
            slow_start_ended: end.is_left(),
            connections: group.connections,
            share_of_connections: share(group.connections, connections),
            acked_bytes: group.acked,
            share_of_bytes: share(group.acked, bytes),
            sent_again_bytes: group.sent_again,
            mean_end_cwnd_packets: share(group.window_sum, group.connections),
        });
        rows.collect()
    }

    /// All connections that were reported, and their bytes.
    fn all(&self) -> (u64, u64) {
        let groups = self.groups.values();
        groups.fold((0, 0), |all, group| (all.0 + group.connections, all.1 + group.acked))
    }

    /// The shares that never left slow start.
    fn never_left(&self) -> (f64, f64) {
        let (connections, bytes) = self.all();
        let stayed = self.groups.iter().filter(|((_, end), _)| !end.is_left());
        let stayed =
            stayed.fold((0, 0), |sum, (_, group)| (sum.0 + group.connections, sum.1 + group.acked));
        (share(stayed.0, connections), share(stayed.1, bytes))
    }

    /// The histogram of windows, up to the longest.
    fn windows(&self) -> Vec<Window> {
        let (all, all_bytes) = self.all();
        let bounds = BOUNDS.iter().copied().map(Some).chain([None]);
        let mut windows: Vec<Window> = bounds
            .enumerate()
            .map(|(place, at_most_packets)| {
                let groups = self.groups.values().map(|group| group.windows[place]);
                let (connections, bytes) =
                    groups.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                let share_of_connections = share(connections, all);
                let share_of_bytes = share(bytes, all_bytes);
                Window { at_most_packets, connections, share_of_connections, share_of_bytes }
            })
            .collect();
        let used = windows.iter().rposition(|window| window.connections > 0);
        windows.truncate(used.map_or(0, |last| last + 1));
        windows
    }

    pub(super) fn document(&self, counts: Counts) -> Document<'_> {
        let Counts { began, closed, dropped } = counts;
        let schema = "firstflight/watch@1";
        let version = env!("CARGO_PKG_VERSION");
        let never_left = self.never_left();
        Document {
            schema,
            version,
            began,
            closed,
            dropped,
            never_left_share_of_connections: never_left.0,
            never_left_share_of_bytes: never_left.1,
            groups: self.rows(),
            windows: self.windows(),
        }
    }

    /// What is printed at the end.
    pub(super) fn text(&self, counts: Counts, screen: Screen) -> String {
        let rows = self.rows();
        let mut text = String::new();
        if !rows.is_empty() {
            let columns = [
                Column::text("control"),
                Column::text("slow start ended by"),
                Column::number("connections", ""),
                Column::number("of connections", "%"),
                Column::number("of bytes", "%"),
                Column::number("mean window then", "packets"),
                Column::number("sent again", "%"),
            ];
            let mut table = Table::new("watch", "How start-up went", columns);
            for row in &rows {
                let (end, goes_on) = (row.slow_start_end, !row.slow_start_ended);
                let end = if goes_on { format!("not at all: {end}") } else { end.to_owned() };
                #[expect(clippy::cast_precision_loss, reason = "a count that people read")]
                let number = row.connections as f64;
                table.push([
                    row.control.into(),
                    end.into(),
                    Cell::number(number, 0),
                    Cell::number(100. * row.share_of_connections, 1),
                    Cell::number(100. * row.share_of_bytes, 1),
                    Cell::number(row.mean_end_cwnd_packets, 0),
                    Cell::number(100. * share(row.sent_again_bytes, row.acked_bytes), 2),
                ]);
            }
            text.push_str(terminal::table(&table, screen).trim_end());
            text.push_str("\n\n");
            text.push_str(terminal::table(&self.histogram(screen), screen).trim_end());
            text.push_str("\n\n");
        }
        let (closed, _) = self.all();
        let open = counts.began.saturating_sub(counts.closed);
        let _ = write!(text, "{}; {} still open", count(closed, "connection"), open);
        if closed > 0 {
            let (connections, bytes) = self.never_left();
            let (of, bytes) = (digits(connections * 100.0, 1), digits(bytes * 100.0, 1));
            let _ = write!(text, "; {of} % never left slow start, with {bytes} % of the bytes");
        }
        if counts.dropped > 0 {
            let _ = write!(text, "; {} not told, because too many closed at once", counts.dropped);
        }
        text + "\n"
    }

    /// The histogram of windows, a bar a bound.
    fn histogram(&self, screen: Screen) -> Table {
        let columns = [
            Column::text("window at the end"),
            Column::number("of connections", "%"),
            Column::number("of bytes", "%"),
            Column::text(""),
        ];
        let mut table = Table::new("windows", "Windows at the end of slow start", columns);
        let mut above = 0;
        for window in self.windows() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
            let length = (window.share_of_connections * BAR).round() as usize;
            let name = match window.at_most_packets {
                Some(most) => format!("{} to {most} packets", above + 1),
                None => format!("above {above} packets"),
            };
            above = window.at_most_packets.unwrap_or(above);
            table.push([
                name.into(),
                Cell::number(100. * window.share_of_connections, 1),
                Cell::number(100. * window.share_of_bytes, 1),
                (if screen.unicode { "█" } else { "#" }).repeat(length).into(),
            ]);
        }
        table
    }

    /// In the text format that Prometheus reads.
    pub(super) fn prometheus(&self, counts: Counts) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, lines: &[(String, u64)]| {
            let _ = writeln!(text, "# HELP firstflight_{name} {help}");
            let _ = writeln!(text, "# TYPE firstflight_{name} {kind}");
            for (labels, value) in lines {
                let _ = writeln!(text, "firstflight_{name}{labels} {value}");
            }
        };
        let each = |field: fn(&Group) -> u64| -> Vec<(String, u64)> {
            let lines = self.groups.iter();
            lines.map(|(key, group)| (format!("{{{}}}", labels(key)), field(group))).collect()
        };
        family(
            "connections_total",
            "counter",
            "Connections that closed, by control and by what ended slow start.",
            &each(|group| group.connections),
        );
        family("acked_bytes_total", "counter", "Their bytes acknowledged.", &each(|it| it.acked));
        family(
            "sent_again_bytes_total",
            "counter",
            "Their bytes sent again.",
            &each(|group| group.sent_again),
        );
        family(
            "end_cwnd_packets",
            "histogram",
            "The window at the end of slow start, the longest where it did not end.",
            &self.groups.iter().flat_map(histogram).collect::<Vec<_>>(),
        );
        for (name, help, value) in [
            ("begun_connections_total", "Connections that began.", counts.began),
            ("dropped_records_total", "Connections not told: too many closed.", counts.dropped),
        ] {
            family(name, "counter", help, &[(String::new(), value)]);
        }
        text
    }
}

/// The samples of a group's histogram, each with its suffix and labels.
fn histogram((key, group): (&(String, End), &Group)) -> Vec<(String, u64)> {
    let labels = labels(key);
    let mut sum = 0;
    let bounds = BOUNDS.iter().map(u32::to_string).chain(["+Inf".to_owned()]);
    let buckets = bounds.zip(group.windows).map(|(bound, (count, _))| {
        sum += count;
        (format!("_bucket{{{labels},le=\"{bound}\"}}"), sum)
    });
    let totals = [("_sum", group.window_sum), ("_count", group.connections)];
    let totals = totals.map(|(suffix, value)| (format!("{suffix}{{{labels}}}"), value));
    buckets.collect::<Vec<_>>().into_iter().chain(totals).collect()
}

fn labels((control, end): &(String, End)) -> String {
    let control = control.replace(['\\', '"', '\n'], "_");
    format!("control=\"{control}\",slow_start_end=\"{}\"", end.name())
}

/// A part of a whole; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "shares and means that people read")]
    let quotient = part as f64 / whole.max(1) as f64;
    quotient
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use firstflight_kernel::watch::SlowStart;

    use super::*;

    /// A connection that left slow start by a loss.
    pub(in super::super) fn connection(control: &str, cwnd: u32, acked: u64) -> Connection {
        let millis = Duration::from_millis;
        Connection {
            control: control.to_owned(),
            local: "198.51.100.1:50000".parse().unwrap(),
            remote: "192.0.2.1:443".parse().unwrap(),
            accepted: false,
            duration: millis(2000),
            slow_start: SlowStart {
                end: End::Loss,
                cwnd,
                between: Some((millis(250), millis(296))),
                rate: Some(5_000_000),
                srtt: Some(millis(41)),
                timeouts: Some(0),
            },
            acked,
            sent_again: 10_000,
            sent_again_segments: 7,
            lost: 7,
            marked: 0,
            mss: 1448,
            longest_cwnd: cwnd,
            cwnd: 200,
            min_rtt: millis(40),
            srtt: millis(60),
        }
    }

    fn summary() -> (Summary, Counts) {
        let mut summary = Summary::default();
        let mut still = connection("cubic", 10, 60_000);
        still.slow_start.end = End::Application;
        still.sent_again = 0;
        [still, connection("cubic", 294, 1_500_000), connection("cubic", 306, 1_440_000)]
            .iter()
            .for_each(|one| summary.add(one));
        (summary, Counts { began: 5, closed: 4, dropped: 1 })
    }

    #[test]
    fn shares_are_of_connections_and_of_bytes() {
        let (summary, counts) = summary();
        let text = summary.text(counts, Screen::plain(160));
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        let has = |words: &[&str]| lines.iter().any(|line| line.ends_with(words));
        assert!(has(&["loss", "2", "66.7", "98.0", "300", "0.68"]), "{text}");
        assert!(has(&["application", "1", "33.3", "2.0", "10", "0.00"]), "{text}");
        // 60 kB of 3 MB.
        let last = "3 connections; 1 still open; 33.3 % never left slow start, with 2 % of the \
                    bytes; 1 not told, because too many closed at once\n";
        assert!(text.ends_with(last), "{text}");
        let bar = "#".repeat(27);
        assert!(has(&["161", "to", "320", "packets", "66.7", "98.0", &bar]), "{text}");
        let document = serde_json::to_value(summary.document(counts)).unwrap();
        assert_eq!(document["groups"][0]["connections"], 2, "{document}");
        assert_eq!(document["dropped"], 1, "{document}");
        assert_eq!(document["never_left_share_of_bytes"], 0.02, "{document}");
        let windows = document["windows"].as_array().unwrap();
        assert_eq!((windows.len(), &windows[5]["connections"]), (6, &2.into()), "{document}");
        assert_eq!(windows[0]["at_most_packets"], 10, "{document}");
    }

    #[test]
    fn prometheus_reads_counters_and_a_histogram() {
        let (summary, counts) = summary();
        let text = summary.prometheus(counts);
        let group = "control=\"cubic\",slow_start_end=\"loss\"";
        for line in [
            format!("firstflight_connections_total{{{group}}} 2"),
            format!("firstflight_acked_bytes_total{{{group}}} 2940000"),
            format!("firstflight_end_cwnd_packets_bucket{{{group},le=\"160\"}} 0"),
            format!("firstflight_end_cwnd_packets_bucket{{{group},le=\"320\"}} 2"),
            format!("firstflight_end_cwnd_packets_bucket{{{group},le=\"+Inf\"}} 2"),
            format!("firstflight_end_cwnd_packets_sum{{{group}}} 600"),
            "firstflight_dropped_records_total 1".to_owned(),
        ] {
            assert!(text.lines().any(|it| it == line), "{line}: {text}");
        }
        // What the board asks for is there.
        let board = include_str!("../../../../../docs/grafana.json");
        let board: serde_json::Value = serde_json::from_str(board).unwrap();
        for panel in board["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().unwrap() {
                let expr = target["expr"].as_str().unwrap();
                let name = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                for metric in expr.split(name).filter(|word| word.starts_with("firstflight_")) {
                    let is_it = |line: &str| line.split(['{', ' ']).next() == Some(metric);
                    assert!(text.lines().any(is_it), "{metric}: {text}");
                }
            }
        }
        let nothing = Summary::default();
        assert!(nothing.text(Counts::default(), Screen::plain(80)).starts_with("0 connections"));
    }
}
