//! Many transfers at once, as a host records them: how large they were, how long their paths are,
//! how fast, and whether they left slow start.
//!
//! [`open`] finds out what a file is:
//!
//! - the lines of `firstflight kernel watch --json`, a connection each;
//! - the output of `ss -tin`, once or again and again: the last sample of each socket;
//! - an access log, a request a line: JSON objects, CSV with a heading, or the combined format of
//!   web servers, which has sizes alone;
//! - any other record that [`open`](crate::open) reads, connection by connection.

mod access;
mod watched;

use std::io::{BufReader, Read, Seek};
use std::path::Path;

use firstflight_qlog::Skipped;
use firstflight_results::Table;
use firstflight_results::table::connections;

use crate::sockets::{self, Sample, next};
use crate::{RecordError, Recorded, Watched, packed, recorded, source};

/// The transfers of a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Mix {
    /// What the file is, in words.
    pub form: &'static str,
    /// Those that carried data, in the order of the file.
    pub transfers: Vec<Transfer>,
    /// Connections that carried none.
    pub idle: u64,
    /// Lines or connections that were left out.
    pub skipped: Skipped,
}

/// One transfer, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Payload.
    pub bytes: u64,
    /// The RTT of the path without a queue, seconds.
    pub rtt_s: Option<f64>,
    /// The rate of the path.
    pub rate: Option<Rate>,
    /// How long it took, seconds.
    pub duration_s: Option<f64>,
    /// The kernel's name of the control.
    pub control: Option<String>,
    /// Whether it left slow start.
    pub left: Option<bool>,
    /// The receiver's window or the send buffer held it back for most of the time.
    pub held: bool,
    /// Bytes sent again.
    pub again_bytes: Option<u64>,
}

/// What a transfer shows of its path's rate, bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// So much it carried.
    pub at_least: f64,
    /// No more than this, where the transfer has filled the path: its longest window in each RTT.
    pub at_most: Option<f64>,
}

/// Reads the transfers of a file; `-` is standard input.
///
/// # Errors
/// As [`crate::open`], and a file without a transfer.
pub fn open(path: &Path) -> Result<Mix, RecordError> {
    let (file, source) = source::open(path)?;
    read(&file, source)
}

/// Reads transfers from the begin of what may be packed; `file` is for messages.
///
/// # Errors
/// As [`open`].
pub fn read<R: Read + Seek + Send>(file: &str, mut source: R) -> Result<Mix, RecordError> {
    let mix = match packed::unpacked(file, &mut source)? {
        None => of(file, source),
        Some(mut kept) => of(file, &mut kept.content),
    }?;
    match mix.transfers.is_empty() {
        true => Err(RecordError::Nothing { file: file.to_owned(), problem: mix.nothing() }),
        false => Ok(mix),
    }
}

fn of<R: Read + Seek + Send>(file: &str, mut source: R) -> Result<Mix, RecordError> {
    let first = begin_of(file, &mut source)?;
    let text = first.trim_start_matches('\u{feff}').trim_start();
    if is_watched(text) {
        return by_lines(file, &mut source, "lines of kernel watch", &mut |_, line| {
            watched::transfer(line)
        });
    }
    if let Some(mut form) = access::Form::of(text) {
        let name = form.name();
        return by_lines(file, &mut source, name, &mut |number, line| form.transfer(number, line));
    }
    if text.lines().take(LINES).any(sockets::begins) {
        return of_sockets(file, &mut source);
    }
    of_records(file, source)
}

/// The first bytes as text.
fn begin_of<R: Read + Seek>(file: &str, source: &mut R) -> Result<String, RecordError> {
    let first = source::first(file, source, crate::FIRST)?;
    Ok(String::from_utf8_lossy(&first).into_owned())
}

fn is_watched(text: &str) -> bool {
    text.starts_with('{') && WATCHED.iter().any(|schema| text.contains(schema))
}

/// The table of the lines of `kernel watch`, if a file has such.
pub(crate) fn watched_table<R: Read + Seek>(
    file: &str,
    source: &mut R,
) -> Result<Option<Watched>, RecordError> {
    if !is_watched(begin_of(file, source)?.trim_start_matches('\u{feff}').trim_start()) {
        return Ok(None);
    }
    let mut table = Table::empty(connections::columns());
    let mix = by_lines(file, source, "lines of kernel watch", &mut |_, line| {
        if table.len() == MOST {
            return Err(format!("accepted: the first {MOST} connections"));
        }
        if !watched::is_none(line) {
            connections::push(&mut table, line)?;
        }
        Ok(None)
    })?;
    Ok(Some(Watched { table, skipped: mix.skipped }))
}

/// What a line holds: nothing, a connection without data, or a transfer; an error says what is
/// wrong with it.
type Parsed = Result<Option<Transfer>, String>;

/// Reads a transfer a line.
fn by_lines<R: Read>(
    file: &str,
    source: &mut R,
    form: &'static str,
    take: &mut dyn FnMut(u64, &str) -> Parsed,
) -> Result<Mix, RecordError> {
    let unreadable = RecordError::unreadable(file);
    let mut mix = Mix { form, ..Mix::default() };
    let mut lines = BufReader::new(source);
    let mut bytes = Vec::new();
    for number in 1.. {
        let Some(length) = next(&mut lines, &mut bytes).map_err(unreadable)? else { break };
        let found = match std::str::from_utf8(&bytes) {
            _ if length > sockets::LONGEST => Err("a line that is too long".to_owned()),
            Err(_) => Err("no text".to_owned()),
            Ok(line) => take(number, line.trim_start_matches('\u{feff}').trim()),
        };
        match found {
            Ok(Some(transfer)) => mix.add(file, number, transfer),
            Ok(None) => {}
            Err(problem) => mix.skipped.add(|| format!("{file}:{number}: {problem}")),
        }
    }
    Ok(mix)
}

/// The last sample of each socket.
fn of_sockets<R: Read + Seek>(file: &str, source: &mut R) -> Result<Mix, RecordError> {
    let mut mix = Mix { form: "the output of ss", ..Mix::default() };
    let (last, skipped) = sockets::last(file, source)?;
    mix.skipped = skipped;
    for (number, (control, sample)) in (1..).zip(last) {
        mix.add(file, number, of_sample(control, &sample));
    }
    Ok(mix)
}

fn of_sample(control: String, sample: &Sample) -> Transfer {
    let seconds = |ms: Option<f64>| ms.map_or(0.0, |ms| ms / 1e3);
    let (srtt_s, min_rtt_s) =
        (seconds(sample.rtt_ms), seconds(sample.min_rtt_ms.or(sample.rtt_ms)));
    let left = sample.ssthresh.is_some();
    let busy = sample.busy_ms.unwrap_or(0) / 2;
    let held = [sample.by_window_ms, sample.by_buffer_ms];
    let shown = PathEvidence {
        delivered_bps: sample.delivered_bps,
        longest_window_bytes: sample.cwnd.saturating_mul(sample.mss),
        min_rtt_s,
        srtt_s,
        left,
    };
    Transfer {
        bytes: sample.acked.or(sample.sent).unwrap_or(0),
        rtt_s: Some(min_rtt_s).filter(|rtt| *rtt > 0.0),
        rate: shown.rate(),
        duration_s: None,
        control: Some(control).filter(|name| !name.is_empty()),
        left: Some(left),
        held: !left && held.iter().flatten().any(|held| *held > busy),
        again_bytes: sample.bytes_retransmitted.or(sample.sent.map(|_| 0)),
    }
}

/// The connections of a record of another kind, one after the other.
fn of_records<R: Read + Seek + Send>(file: &str, mut source: R) -> Result<Mix, RecordError> {
    let mut mix = Mix::default();
    let mut all = 1;
    let mut number = 1;
    while number <= all.min(MOST_RECORDED) {
        let one = recorded(file, &mut source, Some(number)).map_err(with_own_forms)?;
        (mix.form, all) = (one.form.name(), one.all.len());
        mix.add(file, number as u64, of_record(&one));
        number += 1;
    }
    for number in number..=all {
        mix.skipped.add(|| {
            format!("{file}: connection {number}; accepted: the first {MOST_RECORDED} of a record")
        });
    }
    Ok(mix)
}

/// What is accepted here besides records of one connection.
fn with_own_forms(error: RecordError) -> RecordError {
    match error {
        RecordError::Refused { file, found, accepted } => {
            let accepted = format!("{OURS}; {accepted}");
            RecordError::Refused { file, found, accepted }
        }
        other => other,
    }
}

fn of_record(one: &Recorded) -> Transfer {
    let (summary, listed) = (&one.connection.summary, one.all.get(one.number - 1));
    let bytes = listed.and_then(|listed| listed.bytes).or(summary.bytes_sent).unwrap_or(0);
    let rtt_s = summary.min_rtt_ms.map(|ms| ms / 1e3).filter(|rtt| *rtt > 0.0);
    let left = summary.exit.is_some();
    let again = summary.bytes_lost.unwrap_or(0);
    let shown = PathEvidence {
        delivered_bps: carried(bytes, summary.duration_s),
        longest_window_bytes: summary.peak_cwnd_bytes.or(summary.peak_in_flight_bytes).unwrap_or(0),
        min_rtt_s: rtt_s.unwrap_or(0.0),
        srtt_s: summary.peak_smoothed_rtt_ms.map_or(0.0, |ms| ms / 1e3),
        left,
    };
    Transfer {
        bytes: bytes.saturating_sub(again),
        rtt_s,
        rate: shown.rate(),
        duration_s: Some(summary.duration_s),
        control: None,
        left: Some(left).filter(|_| one.connection.hidden.is_none()),
        held: false,
        again_bytes: Some(again),
    }
}

impl Mix {
    fn add(&mut self, file: &str, number: u64, transfer: Transfer) {
        if transfer.bytes <= HANDSHAKE {
            self.idle += 1;
        } else if self.transfers.len() < MOST {
            self.transfers.push(transfer);
        } else {
            self.skipped.add(|| format!("{file}:{number}: accepted: the first {MOST} transfers"));
        }
    }

    fn nothing(&self) -> String {
        let idle = match self.idle {
            0 => String::new(),
            idle => format!("; {idle} connections carried no data"),
        };
        let first = self.skipped.first.iter().map(|first| format!("; first left out: {first}"));
        format!("{} without a transfer{idle}{}", self.form, first.collect::<String>())
    }
}

/// What a connection's windows and times show of its path.
#[derive(Clone, Copy, Debug, Default)]
struct PathEvidence {
    /// The delivery rate, bits per second, at some time.
    delivered_bps: Option<f64>,
    longest_window_bytes: u64,
    min_rtt_s: f64,
    srtt_s: f64,
    left: bool,
}

impl PathEvidence {
    /// What left slow start has filled the path: its longest window was in the path and its queue.
    /// What did not leave it has doubled its window with each RTT, so that at least half of the
    /// longest was delivered in one.
    fn rate(&self) -> Option<Rate> {
        let over = |window: u64, rtt_s: f64| {
            Some(window as f64 * 8.0 / rtt_s).filter(|rate| rate.is_finite() && *rate > 0.0)
        };
        let delivered = self.delivered_bps.filter(|rate| *rate > 0.0);
        if !self.left {
            let doubled = over(self.longest_window_bytes / 2, self.srtt_s.max(self.min_rtt_s));
            let at_least = doubled.into_iter().chain(delivered).reduce(f64::max)?;
            return Some(Rate { at_least, at_most: None });
        }
        let most = over(self.longest_window_bytes, self.min_rtt_s);
        let at_least = delivered.or_else(|| over(self.longest_window_bytes / 2, self.srtt_s))?;
        Some(Rate { at_least, at_most: most.map(|most| most.max(at_least)) })
    }
}

/// Bits per second of a transfer.
fn carried(bytes: u64, seconds: f64) -> Option<f64> {
    Some(bytes as f64 * 8.0 / seconds).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// What stands in the lines of `kernel watch --json`.
const WATCHED: [&str; 2] = ["\"firstflight/connection@", "\"firstflight/watch@"];
const OURS: &str = "the lines of kernel watch --json, an access log of JSON lines or CSV with \
    `bytes`, or in the combined format";
/// Lines that are searched.
const LINES: usize = 500;
/// What the kernel counts as acknowledged without any data: SYN and FIN.
const HANDSHAKE: u64 = 2;
/// Transfers that are kept.
const MOST: usize = 500_000;
/// Connections of a record that is read again for each.
const MOST_RECORDED: usize = 32;

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn mix(text: &str) -> Mix {
        read("x", Cursor::new(text.to_owned())).unwrap()
    }

    fn refused(text: &str) -> String {
        read("x", Cursor::new(text.to_owned())).unwrap_err().to_string()
    }

    const WATCH: &str = concat!(
        r#"{"schema":"firstflight/connection@1","duration_s":2.0,"control":"cubic","#,
        r#""slow_start_end":"loss","slow_start_ended":true,"end_rate_bps":36000000,"#,
        r#""acked_bytes":6000000,"sent_again_bytes":14480,"mss_bytes":1448,"#,
        r#""longest_cwnd_packets":280,"min_rtt_s":0.04,"srtt_s":0.06}"#,
        "\n",
        r#"{"schema":"firstflight/connection@1","duration_s":1.0,"control":"ff_scout","#,
        r#""slow_start_end":"receiver-window","slow_start_ended":false,"end_rate_bps":null,"#,
        r#""acked_bytes":100000,"sent_again_bytes":0,"mss_bytes":1000,"#,
        r#""longest_cwnd_packets":80,"min_rtt_s":0.04,"srtt_s":0.05}"#,
        "\n",
        r#"{"schema":"firstflight/connection@1","duration_s":1.0,"control":"cubic","#,
        r#""slow_start_end":"application","slow_start_ended":false,"end_rate_bps":null,"#,
        r#""acked_bytes":2,"sent_again_bytes":0,"mss_bytes":1000,"#,
        r#""longest_cwnd_packets":10,"min_rtt_s":0.04,"srtt_s":0.05}"#,
        "\n{\"schema\":\"firstflight/watch@1\",\"began\":3}\nnonsense\n",
    );

    #[test]
    fn a_watched_connection_tells_its_path_as_far_as_it_filled_it() {
        let mix = mix(WATCH);
        assert_eq!((mix.transfers.len(), mix.idle, mix.skipped.count), (2, 1, 1), "{mix:?}");
        assert!(mix.skipped.first.unwrap().starts_with("x:5: "));
        let [left, held] = &mix.transfers[..] else { panic!() };
        // 280 packets of 1448 bytes in 40 ms.
        let most = 280.0 * 1448.0 * 8.0 / 0.04;
        assert_eq!(left.rate, Some(Rate { at_least: 36e6, at_most: Some(most) }));
        assert_eq!((left.left, left.held, left.rtt_s), (Some(true), false, Some(0.04)));
        // Half of 80 packets of 1000 bytes in 50 ms.
        assert_eq!(held.rate, Some(Rate { at_least: 6.4e6, at_most: None }));
        assert_eq!((held.left, held.held), (Some(false), true));
        assert_eq!(held.control.as_deref(), Some("ff_scout"));
        // Of one of them there is nothing to draw.
        let message = crate::read("x", Cursor::new(WATCH), None).unwrap_err().to_string();
        assert!(message.contains("firstflight kernel what-if FILE, or"), "{message}");
    }

    #[test]
    fn an_access_log_has_one_of_three_forms() {
        let json = mix("{\"bytes\":5000,\"duration_s\":0.5,\"rtt_us\":40000}\n{\"bytes\":\"7\"}\n");
        let first = &json.transfers[0];
        assert_eq!((first.bytes, first.rtt_s, first.left), (5000, Some(0.04), None));
        assert_eq!(first.rate, Some(Rate { at_least: 80_000.0, at_most: None }));
        assert_eq!(json.transfers[1], Transfer { bytes: 7, ..Transfer::default() });
        let csv = mix("time,bytes,rtt_s,rate_bps,control\n1,5000,0.04,1e6,cubic\n2,600,,,\n");
        let rate = Rate { at_least: 1e6, at_most: Some(1e6) };
        assert_eq!(csv.transfers[0].rate, Some(rate));
        assert_eq!(csv.transfers[0].control.as_deref(), Some("cubic"));
        assert_eq!(csv.transfers[1], Transfer { bytes: 600, ..Transfer::default() });
        let line = "192.0.2.1 - - [10/Oct/2025:13:55:36 -0700] \"GET /a\\\" b HTTP/1.1\" 200 2326 \
                    \"-\" \"curl/8\"\n";
        assert_eq!(mix(line).transfers[0], Transfer { bytes: 2326, ..Transfer::default() });
    }

    #[test]
    fn a_socket_counts_once_with_what_it_said_last_and_needs_no_time() {
        let text = "ESTAB 0 0 10.0.0.1:5000 10.0.0.2:80\n\t cubic wscale:7,7 rto:240 rtt:50/20 \
                    minrtt:40 mss:1448 cwnd:10 bytes_acked:9000 delivery_rate 1.5Mbps busy:100ms\n\
                    ESTAB 0 0 10.0.0.1:5000 10.0.0.2:80\n\t cubic wscale:7,7 rto:240 rtt:50/20 \
                    minrtt:40 mss:1448 cwnd:20 ssthresh:18 bytes_acked:90000 \
                    delivery_rate 4000000bps busy:200ms rwnd_limited:190ms(95.0%)\n";
        let mix = mix(text);
        let [one] = &mix.transfers[..] else { panic!("{mix:?}") };
        assert_eq!((one.bytes, one.left, one.held), (90_000, Some(true), false));
        let most = 20.0 * 1448.0 * 8.0 / 0.04;
        assert_eq!(one.rate, Some(Rate { at_least: 4e6, at_most: Some(most) }));
    }

    #[test]
    fn what_is_no_recording_is_refused_with_what_is_accepted() {
        assert!(refused("hello\n").contains("accepted: "), "{}", refused("hello\n"));
        let empty = refused("bytes,rtt_s\n");
        assert!(empty.starts_with("x: a CSV access log without a transfer"), "{empty}");
        let wrong = refused("bytes,rtt_s\n5000,-1\n");
        assert!(wrong.contains("x:2: rtt_s: found \"-1\"; accepted: "), "{wrong}");
    }
}
