//! The output of `ss -tin`, taken again and again with the time before each: what the kernel's
//! `TCP_INFO` says of a sender, as text.
//!
//! ```text
//! 1764122400.250000000
//! ESTAB 0 2868896 10.0.0.1:45678 10.0.0.2:5201
//!      cubic rto:204 rtt:1.5/0.75 mss:1448 cwnd:10 bytes_sent:14480 unacked:10 retrans:0/0
//! ```

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use firstflight_qlog::{Connection, Event, Lost, Metrics, Packet, State, What};

use crate::{RecordError, Recorded};

/// Reads the connection of this number, from 1; without one that which sent most bytes.
///
/// # Errors
/// A file that cannot be read, has no sample of a sender, or not the connection asked for. A line
/// that is wrong is left out and named in [`Recorded::skipped`].
pub fn open(path: &Path, number: Option<usize>) -> Result<Recorded, RecordError> {
    let file = path.display().to_string();
    let opened = File::open(path)
        .map_err(|source| RecordError::Unreadable { file: file.clone(), source })?;
    read(&file, opened, number)
}

/// Reads from bytes; `file` is for messages.
///
/// # Errors
/// As [`open`].
pub fn read(file: &str, bytes: impl Read, number: Option<usize>) -> Result<Recorded, RecordError> {
    let mut reading = Reading::new(file);
    let mut lines = BufReader::new(bytes).take(0);
    for number in 1.. {
        let mut line = Vec::new();
        lines.set_limit(LONGEST);
        let length = lines
            .read_until(b'\n', &mut line)
            .map_err(|source| RecordError::Unreadable { file: file.to_owned(), source })?;
        if length == 0 {
            break;
        }
        let wrong =
            |problem: String| RecordError::Line { file: file.to_owned(), line: number, problem };
        if length as u64 == LONGEST && line.last() != Some(&b'\n') {
            return Err(wrong(format!("longer than {LONGEST} bytes; accepted: {ACCEPTED}")));
        }
        let Ok(line) = std::str::from_utf8(&line) else {
            return Err(wrong(format!("no text; accepted: {ACCEPTED}")));
        };
        if let Err(problem) = reading.take(line) {
            reading.skipped.push(wrong(problem).to_string());
        }
    }
    reading.recorded(number)
}

/// Whether a line begins a socket: its state, two queues, two ends.
pub(crate) fn is_state(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(3).collect();
    let whole = |word: &&str| word.parse::<u64>().is_ok();
    // With other sockets beside those of TCP there is a column more.
    let words = words.strip_prefix(&["tcp"]).unwrap_or(&words);
    words.first().is_some_and(|word| STATES.contains(word)) && words.get(1).is_some_and(whole)
}

/// Whether a line is the heading of `ss`.
pub(crate) fn is_heading(line: &str) -> bool {
    line.contains("Recv-Q") && line.contains("Send-Q")
}

/// A file while its lines are read.
struct Reading<'a> {
    file: &'a str,
    /// The newest time, seconds.
    now_s: Option<f64>,
    /// The socket whose numbers come next.
    socket: Option<String>,
    sockets: HashMap<String, Socket>,
    /// In the order of their first lines.
    order: Vec<String>,
    skipped: Vec<String>,
    /// Numbers of a socket came before any time.
    timeless: bool,
}

/// A connection while its samples are read.
#[derive(Default)]
struct Socket {
    events: Vec<Event>,
    first_s: Option<f64>,
    last: Sample,
    algorithm: String,
}

/// What the kernel said at one time.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    mss: u64,
    cwnd: u64,
    ssthresh: Option<u64>,
    unacked: u64,
    retransmitted: u64,
    segments: u64,
    bytes: u64,
    acked: u64,
    rtt_ms: Option<f64>,
    min_rtt_ms: Option<f64>,
    /// The gain by which BBR paces.
    gain: Option<f64>,
}

impl<'a> Reading<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            now_s: None,
            socket: None,
            sockets: HashMap::new(),
            order: Vec::new(),
            skipped: Vec::new(),
            timeless: false,
        }
    }

    /// Takes a line; an error says what is wrong with it.
    fn take(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim();
        if line.is_empty() || is_heading(line) {
            return Ok(());
        }
        if let Ok(time) = line.parse::<f64>() {
            if !time.is_finite() || self.now_s.is_some_and(|before| time < before) {
                return Err(format!("time {line} after a later one; accepted: times in order"));
            }
            (self.now_s, self.socket) = (Some(time), None);
            return Ok(());
        }
        if is_state(line) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let words = words.strip_prefix(&["tcp"]).unwrap_or(&words);
            let (Some(local), Some(peer)) = (words.get(3), words.get(4)) else {
                return Err("a socket without its two ends; accepted: a line of ss -tin".to_owned());
            };
            let name = format!("{local} to {peer}");
            self.socket = Some(name.clone());
            // With -O all is on one line.
            return if line.contains(" cwnd:") { self.sample(line) } else { Ok(()) };
        }
        if line.contains("cwnd:") {
            return self.sample(line);
        }
        match self.socket {
            // A listening socket has no window.
            Some(_) if line.contains(':') => Ok(()),
            _ => {
                let begin: String = line.chars().take(40).collect();
                Err(format!("found \"{}\"; accepted: {ACCEPTED}", begin.escape_debug()))
            }
        }
    }

    fn sample(&mut self, line: &str) -> Result<(), String> {
        let Some(name) = self.socket.clone() else {
            return Err(format!("numbers before any socket; accepted: {ACCEPTED}"));
        };
        let Some(now_s) = self.now_s else {
            self.timeless = true;
            return Err(format!("numbers before any time; accepted: {ACCEPTED}"));
        };
        let sample = Sample::of(line)?;
        let socket = self.sockets.entry(name.clone()).or_insert_with(|| {
            self.order.push(name);
            Socket::default()
        });
        let known = ["cubic", "bbr", "reno", "dctcp", "vegas", "westwood", "htcp", "hybla"];
        let algorithm = line.split_whitespace().find(|word| known.contains(word));
        socket.algorithm = algorithm.unwrap_or_default().to_owned();
        socket.take(now_s, sample);
        Ok(())
    }

    fn recorded(mut self, number: Option<usize>) -> Result<Recorded, RecordError> {
        let nothing =
            |problem: String| RecordError::Nothing { file: self.file.to_owned(), problem };
        let all = self.order.len();
        if all == 0 && self.timeless {
            return Err(nothing(format!("no time before the samples; accepted: {ACCEPTED}")));
        }
        if all == 0 {
            return Err(nothing(format!("no sample of a sender's cwnd; accepted: {ACCEPTED}")));
        }
        let bytes = |place: &usize| self.sockets[&self.order[*place]].last.bytes;
        let place = match number {
            Some(number) => number.checked_sub(1).filter(|place| *place < all),
            None => (0..all).rev().max_by_key(bytes),
        };
        let Some(place) = place else {
            let asked = number.unwrap_or_default();
            return Err(nothing(format!("connection {asked} of {all}; accepted: 1 to {all}")));
        };
        let name = self.order[place].clone();
        let socket = self.sockets.remove(&name).unwrap_or_default();
        let mut connection = Connection::new(socket.events);
        connection.title = format!("{} {name}", socket.algorithm).trim().to_owned();
        Ok(Recorded {
            summary: connection.summary(),
            connection,
            number: place + 1,
            connections: all,
            skipped: self.skipped,
            mss: socket.last.mss,
            ..Recorded::default()
        })
    }
}

impl Sample {
    fn of(line: &str) -> Result<Self, String> {
        let mut sample = Self::default();
        for word in line.split_whitespace() {
            let Some((key, value)) = word.split_once(':') else { continue };
            let whole = |value: &str| {
                let read = value.parse::<u64>();
                read.map_err(|_| format!("{key}: found \"{value}\"; accepted: a whole number"))
            };
            match key {
                "mss" => sample.mss = whole(value)?,
                "cwnd" => sample.cwnd = whole(value)?,
                "ssthresh" => sample.ssthresh = Some(whole(value)?),
                "unacked" => sample.unacked = whole(value)?,
                "bytes_sent" => sample.bytes = whole(value)?,
                "bytes_acked" => sample.acked = whole(value)?,
                "data_segs_out" => sample.segments = whole(value)?,
                // Those in flight, and all of them.
                "retrans" => sample.retransmitted = whole(value.split('/').nth(1).unwrap_or("0"))?,
                "rtt" => sample.rtt_ms = Some(real(key, value.split('/').next().unwrap_or(""))?),
                "minrtt" => sample.min_rtt_ms = Some(real(key, value)?),
                "bbr" => {
                    let gain = value.split(',').find_map(|part| part.split_once("pacing_gain:"));
                    let gain = gain.map(|(_, gain)| gain.trim_end_matches(')'));
                    sample.gain = gain.map(|gain| real("pacing_gain", gain)).transpose()?;
                }
                _ => {}
            }
        }
        match sample.cwnd {
            0 => Err("no cwnd; accepted: a line of ss -tin".to_owned()),
            _ => Ok(Self { mss: sample.mss.max(1), ..sample }),
        }
    }
}

fn real(key: &str, value: &str) -> Result<f64, String> {
    let read = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    read.ok_or_else(|| format!("{key}: found \"{value}\"; accepted: a number"))
}

impl Socket {
    fn take(&mut self, now_s: f64, sample: Sample) {
        let at_ms = (now_s - *self.first_s.get_or_insert(now_s)) * 1e3;
        let mut push = |what: What| self.events.push(Event { at_ms, what });
        let before = self.last;
        let segments = sample.segments.saturating_sub(before.segments).min(MOST_SEGMENTS);
        let bytes = sample.bytes.saturating_sub(before.bytes);
        for part in 0..segments {
            // What is left over goes to the first ones, so that the sum is right.
            let length = bytes / segments + u64::from(part < bytes % segments);
            push(What::Sent(Packet { length: Some(length), ..Packet::default() }));
        }
        let lost = sample.retransmitted.saturating_sub(before.retransmitted);
        if lost > 0 {
            let bytes = Some(lost.saturating_mul(sample.mss));
            push(What::Lost(Lost { packets: lost, bytes, ..Lost::default() }));
        }
        if sample.acked > before.acked {
            push(What::Received(Packet::default()));
        }
        if let Some(state) = startup(before.gain, sample.gain) {
            push(What::State(state));
        }
        push(What::Metrics(Metrics {
            congestion_window: Some(sample.cwnd.saturating_mul(sample.mss)),
            ssthresh: sample.ssthresh.map(|packets| packets.saturating_mul(sample.mss)),
            bytes_in_flight: Some(sample.unacked.saturating_mul(sample.mss)),
            packets_in_flight: Some(sample.unacked),
            smoothed_rtt_ms: sample.rtt_ms,
            min_rtt_ms: sample.min_rtt_ms,
            ..Metrics::default()
        }));
        self.last = sample;
    }
}

/// BBR tells its state by the gain of its pacing: 2.77 or 2.89 in Startup, and no other above 2.
fn startup(before: Option<f64>, now: Option<f64>) -> Option<State> {
    let starts = |gain: f64| gain > 2.0;
    match (before.map(starts), starts(now?)) {
        (None | Some(false), true) => Some(State::begin()),
        (Some(true), false) => Some(State::end(Some("heuristic"))),
        _ => None,
    }
}

/// The states in which `ss` shows a socket.
const STATES: [&str; 12] = [
    "ESTAB",
    "SYN-SENT",
    "SYN-RECV",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "UNCONN",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
    "CLOSED",
];
const ACCEPTED: &str = "the output of `date +%s.%N; ss -tin` again and again";
/// The longest line, bytes.
const LONGEST: u64 = 64 << 10;
/// Segments between two samples that are counted one by one.
const MOST_SEGMENTS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "ESTAB 0 2868896 10.0.0.1:45678 10.0.0.2:5201\n";

    fn recorded(text: &str) -> Recorded {
        read("ss.txt", text.as_bytes(), None).unwrap()
    }

    #[test]
    fn samples_become_windows_segments_and_losses() {
        let text = format!(
            "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n100.0\n{BEGIN}\t \
             cubic rto:204 rtt:40/20 mss:1000 cwnd:10 bytes_sent:10000 bytes_acked:1 \
             data_segs_out:10 unacked:10 minrtt:40\n100.5\n{BEGIN}\t cubic rto:204 rtt:41.5/3 \
             mss:1000 cwnd:14 ssthresh:14 bytes_sent:50003 bytes_acked:20001 data_segs_out:50 \
             unacked:14 retrans:1/3 minrtt:40\n"
        );
        let found = recorded(&text);
        assert!(found.skipped.is_empty(), "{:?}", found.skipped);
        let summary = &found.summary;
        assert_eq!((summary.packets_sent, summary.bytes_sent), (50, 50_003));
        assert_eq!((summary.packets_lost, summary.bytes_lost), (3, 3000));
        assert_eq!(summary.initial_cwnd_bytes, Some(10_000));
        assert_eq!(summary.min_rtt_ms, Some(40.0));
        let exit = summary.exit.as_ref().unwrap();
        assert_eq!((exit.time_s, exit.reason.as_deref()), (0.5, Some("loss")));
        assert_eq!(found.connection.title, "cubic 10.0.0.1:45678 to 10.0.0.2:5201");
    }

    #[test]
    fn bbr_leaves_start_up_when_its_gain_falls() {
        let line = |time: f64, gain: f64| {
            format!(
                "{time}\n{BEGIN} bbr bbr:(bw:9Mbps,mrtt:40,pacing_gain:{gain},cwnd_gain:2) \
                 mss:1448 cwnd:20 unacked:9\n"
            )
        };
        let found = recorded(&(line(1.0, 2.88672) + &line(1.5, 2.88672) + &line(2.0, 0.343)));
        let exit = found.summary.exit.unwrap();
        assert_eq!((exit.time_s, exit.reason.as_deref()), (1.0, Some("heuristic")));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_the_rest_is_read() {
        let good = format!("{BEGIN} cubic mss:1448 cwnd:10 unacked:3\n");
        let text = format!("1.0\n{good}0.5\n2.0\nrubbish\n{BEGIN} mss:1448 cwnd:many\n3.0\n{good}");
        let found = recorded(&text);
        assert_eq!(found.skipped.len(), 3, "{:?}", found.skipped);
        assert!(found.skipped[0].starts_with("ss.txt:4: time 0.5"), "{:?}", found.skipped);
        assert!(found.skipped[1].starts_with("ss.txt:6: found \"rubbish\""), "{:?}", found.skipped);
        assert!(found.skipped[2].contains("cwnd: found \"many\""), "{:?}", found.skipped);
        assert_eq!(found.summary.duration_s, 2.0);
    }

    #[test]
    fn a_file_without_times_or_samples_says_what_it_takes() {
        for (text, problem) in [
            ("", "ss.txt: no sample of a sender's cwnd"),
            ("ESTAB 0 0 a:1 b:2\n cubic mss:1448 cwnd:10\n", "ss.txt: no time before the samples"),
        ] {
            let error = read("ss.txt", text.as_bytes(), None).unwrap_err().to_string();
            assert!(error.starts_with(problem) && error.contains("date +%s.%N"), "{error}");
        }
        let text = format!("1.0\n{BEGIN} mss:1448 cwnd:10\n");
        let error = read("ss.txt", text.as_bytes(), Some(4)).unwrap_err().to_string();
        assert!(error.ends_with("connection 4 of 1; accepted: 1 to 1"), "{error}");
        let error = read("ss.txt", &[0xff; 9][..], None).unwrap_err().to_string();
        assert!(error.starts_with("ss.txt:1: no text"), "{error}");
    }
}
