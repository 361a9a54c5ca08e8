//! The JSON of iperf3: one document (`--json`), or a line per interval (`--json-stream`).
//!
//! For each stream of TCP that this end sends, an interval has the bytes that the application
//! wrote, retransmissions, and the kernel's window and smoothed RTT at its end. What happens within
//! an interval is not in it.

use std::fmt;
use std::io::{BufReader, Read, Seek, SeekFrom};

use firstflight_outside::word;
use firstflight_qlog::{Event, Limit, Listed, Lost, Metrics, Packet, Watch, What};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::{Form, RecordError, Recorded, choose};
pub use document::{Document, End, Interval, Start, StreamEnd, StreamInterval, StreamSender, Sum};

mod document;

/// Reads the stream of this number, from 1; without one that with most bytes.
pub(crate) fn read<R: Read + Seek>(
    file: &str,
    source: &mut R,
    number: Option<usize>,
) -> Result<Recorded, RecordError> {
    let unreadable = RecordError::unreadable(file);
    if source.seek(SeekFrom::End(0)).map_err(unreadable)? > LARGEST {
        return Err(RecordError::Refused {
            file: file.to_owned(),
            found: "more than 64 MiB of iperf3's JSON".to_owned(),
            accepted: "at most so much, as days of intervals have".to_owned(),
        });
    }
    source.rewind().map_err(unreadable)?;
    let mut test = Test::default();
    let ended = test.read(BufReader::new(source));
    let nothing = |problem: String| RecordError::Nothing { file: file.to_owned(), problem };
    if test.streams.iter().all(|stream| stream.rows.is_empty()) {
        let found = match (&test.error, &ended) {
            (Some(error), _) => format!("iperf3 failed: {}", error.escape_debug()),
            (None, Err(error)) => error.to_string(),
            (None, Ok(())) => "no interval of a stream".to_owned(),
        };
        return Err(nothing(format!(
            "{found}; accepted: what iperf3 -c HOST -i 0.1 --json writes"
        )));
    }
    let all: Vec<Listed> = test.streams.iter().map(Stream::listed).collect();
    let place = choose(file, number, all.len(), |place| all[place].bytes)?;
    let mut recorded = test.streams.swap_remove(place).recorded();
    recorded.connection.title.clone_from(&all[place].title);
    Ok(Recorded {
        form: Form::Iperf,
        version: word(&test.version),
        number: place + 1,
        all,
        truncated: ended.is_err(),
        mss: test.mss.filter(|bytes| *bytes > 0),
        udp: test.udp,
        ..recorded
    })
}

/// A test as far as it was read.
#[derive(Default)]
struct Test {
    version: String,
    error: Option<String>,
    mss: Option<u64>,
    udp: bool,
    streams: Vec<Stream>,
}

/// A stream of a test.
#[derive(Default)]
struct Stream {
    socket: i64,
    title: String,
    /// Seconds to add to the times of the next interval: they begin again after omitted intervals.
    offset_s: f64,
    rows: Vec<StreamInterval>,
}

/// A line of `--json-stream`.
#[derive(Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    data: Value,
}

impl Test {
    /// Reads as far as the JSON is whole.
    fn read(&mut self, source: impl Read) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Deserializer::from_reader(source);
        self.deserialize(&mut json)?;
        // A line may follow the other.
        for line in json.into_iter::<Line>() {
            let line = line?;
            self.line(&line.event, line.data)?;
        }
        Ok(())
    }

    fn line(&mut self, event: &str, data: Value) -> Result<(), serde_json::Error> {
        match event {
            "start" => self.start(serde_json::from_value(data)?),
            "interval" => self.interval(&serde_json::from_value(data)?),
            "error" => self.error = data.as_str().map(str::to_owned),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, start: Start) {
        self.version = start.version;
        self.udp = start.test_start.protocol == "UDP";
        self.mss = start.tcp_mss_default.map(whole);
        let protocol = if self.udp { "UDP" } else { "TCP" };
        for it in start.connected.into_iter().take(MOST) {
            let end = |host: &str, port: &Value| format!("{:.100}:{:.10}", host, port.to_string());
            let (local, remote) =
                (end(&it.local_host, &it.local_port), end(&it.remote_host, &it.remote_port));
            let title = word(&format!("{protocol} from {local} to {remote}"));
            self.streams.push(Stream { socket: it.socket, title, ..Stream::default() });
        }
    }

    fn interval(&mut self, interval: &Interval) {
        for row in &interval.streams {
            let known = self.streams.iter().position(|stream| stream.socket == row.socket);
            let place = known.unwrap_or(self.streams.len());
            if known.is_none() {
                if place >= MOST {
                    continue;
                }
                let title = format!("stream {}", row.socket);
                self.streams.push(Stream { socket: row.socket, title, ..Stream::default() });
            }
            self.streams[place].take(*row);
        }
    }
}

/// Reads a document, or the first line of several, into what is known of the test.
impl<'de> DeserializeSeed<'de> for &mut Test {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Test {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        let mut event = None;
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "start" => self.start(members.next_value()?),
                "intervals" => members.next_value_seed(Intervals(self))?,
                "error" => self.error = Some(members.next_value()?),
                "event" => event = Some(members.next_value::<String>()?),
                "data" => {
                    let event = event.clone().unwrap_or_default();
                    let line = self.line(&event, members.next_value()?);
                    line.map_err(serde::de::Error::custom)?;
                }
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The intervals of a document, one by one: of what breaks off those before are kept.
struct Intervals<'a>(&'a mut Test);

impl<'de> DeserializeSeed<'de> for Intervals<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Intervals<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of intervals")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut all: S) -> Result<(), S::Error> {
        while let Some(interval) = all.next_element()? {
            self.0.interval(&interval);
        }
        Ok(())
    }
}

impl Stream {
    fn take(&mut self, mut row: StreamInterval) {
        let before_s = self.rows.last().map_or(0.0, |before| before.end);
        row.end += self.offset_s;
        if row.end < before_s {
            self.offset_s += before_s;
            row.end += before_s;
        }
        if row.end.is_finite() && row.end >= before_s {
            self.rows.push(row);
        }
    }

    fn listed(&self) -> Listed {
        Listed {
            title: self.title.clone(),
            events: self.rows.len() as u64,
            bytes: Some(self.rows.iter().fold(0, |sum, row| whole(row.bytes).saturating_add(sum))),
            ..Listed::default()
        }
    }

    fn recorded(self) -> Recorded {
        let hidden = self.hidden();
        let mut watch = Watch::new();
        let mut before: Option<StreamInterval> = None;
        let mut lost = None;
        for row in &self.rows {
            let at_ms = row.end * 1e3;
            let mut push = |what: What| watch.take(&Event { at_ms, what });
            push(What::Sent(Packet { length: Some(whole(row.bytes)), ..Packet::default() }));
            if let Some(packets) = row.retransmits.map(whole) {
                lost = Some(packets.saturating_add(lost.unwrap_or(0)));
                if packets > 0 {
                    push(What::Lost(Lost { packets, ..Lost::default() }));
                }
            }
            if let Some(cwnd) = row.snd_cwnd {
                push(What::Metrics(Metrics {
                    congestion_window: Some(whole(cwnd)),
                    smoothed_rtt_ms: row.rtt.map(|rtt| rtt / 1e3),
                    ..Metrics::default()
                }));
            }
            let begin_ms = before.map_or(0.0, |before| before.end * 1e3);
            if let (Some(now), Some(then)) = (row.window(), before.and_then(|it| it.window()))
                && now.0 < now.1
                && then.0 < then.1
            {
                let [window, cwnd] = [now.0 / 1e3, now.1 / 1e3];
                let why = format!("the receiver offers {window:.1} kB, and cwnd is {cwnd:.1} kB");
                watch.limits().add(Limit::Receiver, begin_ms, at_ms, 0.0, why);
            }
            before = Some(*row);
        }
        let mut connection = watch.finish();
        let summary = &mut connection.summary;
        (summary.packets_sent, summary.packets_lost) = (None, lost);
        summary.bytes_lost = lost.filter(|lost| *lost == 0);
        if let Some(exit) = &mut summary.exit {
            exit.packets_lost = exit.packets_lost.or(lost.filter(|lost| *lost == 0));
        }
        if hidden.is_some() {
            summary.exit = None;
        }
        connection.hidden = hidden;
        Recorded { connection, ..Recorded::default() }
    }

    /// Why start-up cannot be seen, if it cannot.
    fn hidden(&self) -> Option<String> {
        if self.rows.iter().all(|row| row.snd_cwnd.is_none()) {
            let only = "iperf3 tells of this end only bytes: it receives, or the stream is UDP's";
            return Some(only.to_owned());
        }
        let last = self.rows.last()?;
        let interval_s = last.end / self.rows.len() as f64;
        let rtts = self.rows.iter().filter_map(|row| row.rtt).filter(|rtt| *rtt > 0.0);
        let rtt_s = rtts.reduce(f64::min)? / 1e6;
        (interval_s > FINE * rtt_s).then(|| {
            format!(
                "an interval of iperf3 is {interval_s:.3} s, {:.0} RTTs of {:.2} ms, and start-up \
                 takes a few; -i 0.1 makes the shortest",
                interval_s / rtt_s,
                rtt_s * 1e3
            )
        })
    }
}

impl StreamInterval {
    /// The receiver's window and the congestion window, bytes.
    fn window(&self) -> Option<(f64, f64)> {
        Some((self.snd_wnd.filter(|bytes| *bytes > 0.0)?, self.snd_cwnd?))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(number: f64) -> u64 {
    number as u64
}

/// RTTs in an interval, at most, that show a start-up: it takes four or more to the BDP of any path
/// of 150 kB.
const FINE: f64 = 4.0;
/// The largest file, bytes.
const LARGEST: u64 = 64 << 20;
/// Streams of a test: iperf3 has 128 at most.
const MOST: usize = 1024;

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const START: &str = r#"{"connected":[{"socket":5,"local_host":"10.0.0.1","local_port":7,
        "remote_host":"10.0.0.2","remote_port":5201},{"socket":6}],"version":"iperf 3.12",
        "sock_bufsize":0,"sock_bufsize":0,"tcp_mss_default":1448,"test_start":{"protocol":"TCP"}}"#;

    fn row(socket: u8, end: f64, cwnd: u32, lost: u32) -> String {
        format!(
            r#"{{"streams":[{{"socket":{socket},"end":{end},"bytes":100000,"retransmits":{lost},
            "snd_cwnd":{cwnd},"snd_wnd":50000,"rtt":40000,"sender":true}}],"sum":{{"end":1}}}}"#
        )
    }

    fn rows() -> [String; 3] {
        [row(5, 0.1, 40_000, 0), row(5, 0.2, 80_000, 0), row(5, 0.3, 56_000, 3)]
    }

    fn of(text: &str, number: Option<usize>) -> Recorded {
        read("x.json", &mut Cursor::new(text.as_bytes()), number).unwrap()
    }

    #[test]
    fn a_document_and_its_lines_tell_the_same() {
        let document = format!(r#"{{"start":{START},"intervals":[{}]}}"#, rows().join(","));
        let found = of(&document, None);
        assert_eq!((found.number, found.all.len(), found.mss), (1, 2, Some(1448)));
        assert_eq!(found.connection.title, "TCP from 10.0.0.1:7 to 10.0.0.2:5201");
        assert_eq!((found.version.as_str(), found.truncated), ("iperf 3.12", false));
        let summary = &found.connection.summary;
        let exit = summary.exit.as_ref().unwrap();
        assert_eq!((exit.time_s, exit.reason.as_deref()), (0.3, Some("loss")));
        assert_eq!((exit.cwnd_bytes, exit.packets_lost), (Some(80_000), Some(3)));
        assert_eq!((summary.bytes_sent, summary.packets_sent), (Some(300_000), None));
        assert_eq!((summary.packets_lost, summary.bytes_lost), (Some(3), None));
        let limits = found.connection.limits.intervals();
        assert_eq!((limits.len(), limits[0].by), (1, Limit::Receiver), "{limits:?}");
        let lines = rows().map(|row| format!(r#"{{"event":"interval","data":{row}}}"#)).join("\n");
        let lines = of(&format!("{{\"event\":\"start\",\"data\":{START}}}\n{lines}\n"), None);
        assert_eq!(lines.connection, found.connection);
    }

    #[test]
    fn what_breaks_off_is_read_as_far_as_it_goes() {
        let document = format!(r#"{{"start":{START},"intervals":[{}"#, rows().join(","));
        let found = of(&document[..document.len() - 20], None);
        assert!(found.truncated);
        assert_eq!(found.connection.summary.bytes_sent, Some(200_000));
        let empty = read("x.json", &mut Cursor::new(r#"{"start":{},"error":"no\nroute"}"#), None);
        let message = empty.unwrap_err().to_string();
        assert!(message.starts_with("x.json: iperf3 failed: no\\nroute; accepted: "), "{message}");
    }

    #[test]
    fn long_intervals_and_receivers_show_no_start_up() {
        let long = rows().map(|row| row.replace("40000", "400"));
        let found = of(&format!(r#"{{"start":{START},"intervals":[{}]}}"#, long.join(",")), None);
        let hidden = found.connection.hidden.unwrap();
        assert!(hidden.contains("0.100 s, 250 RTTs of 0.40 ms"), "{hidden}");
        assert_eq!(found.connection.summary.exit, None);
        let receives = r#"{"start":{},"intervals":[{"streams":[{"socket":9,"end":1,"bytes":5}]}]}"#;
        let found = of(receives, None);
        assert!(found.connection.hidden.unwrap().contains("only bytes"));
        assert_eq!(found.connection.summary.packets_lost, None);
    }

    #[test]
    fn omitted_intervals_come_before_the_others() {
        let rows = [row(5, 1.0, 1000, 0), row(5, 2.0, 1000, 0), row(5, 1.0, 1000, 0)];
        let found = of(&format!(r#"{{"start":{START},"intervals":[{}]}}"#, rows.join(",")), None);
        assert_eq!(found.connection.summary.duration_s, 3.0);
    }
}
