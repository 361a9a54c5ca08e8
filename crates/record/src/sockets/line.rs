//! The lines of `ss`: a socket, and what the kernel says of it.

/// A line that begins a socket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Socket<'a> {
    /// Its state; `None` where `ss` was asked for one state only, and leaves the column out.
    pub(crate) state: Option<&'a str>,
    /// Bytes that are not acknowledged, sent or not.
    pub(crate) queued: u64,
    pub(crate) local: &'a str,
    pub(crate) peer: &'a str,
    /// What stands behind.
    pub(crate) rest: &'a str,
}

/// The socket of a line: maybe its kind and its state, two queues, two ends.
pub(crate) fn socket(line: &str) -> Option<Socket<'_>> {
    let mut rest = line;
    let mut next = || {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        (!word.is_empty()).then_some(word)
    };
    let number = |word: &str| word.parse::<u64>().ok();
    let mut word = next()?;
    if KINDS.contains(&word) {
        word = next()?;
    }
    let mut state = None;
    if STATES.contains(&word) {
        state = Some(word);
        word = next()?;
    }
    number(word)?;
    let queued = number(next()?)?;
    let (local, peer) = (next()?, next()?);
    let is_end = |end: &str| end.contains(':') && end.len() <= LONGEST;
    (is_end(local) && is_end(peer)).then_some(Socket { state, queued, local, peer, rest })
}

/// Whether a line is the heading of `ss`.
pub(crate) fn is_heading(line: &str) -> bool {
    line.contains("Recv-Q") && line.contains("Send-Q")
}

/// Whether a line has the numbers of a sender.
pub(crate) fn is_numbers(line: &str) -> bool {
    line.contains(" cwnd:") || line.starts_with("cwnd:")
}

/// The kernel's figures at one time. What is 0 `ss` leaves out, and so does an old one what it does
/// not know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    pub(crate) mss: u64,
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: Option<u64>,
    pub(crate) unacked: u64,
    pub(crate) retransmitted: u64,
    pub(crate) bytes_retransmitted: Option<u64>,
    pub(crate) segments: Option<u64>,
    pub(crate) sent: Option<u64>,
    pub(crate) acked: Option<u64>,
    pub(crate) received: Option<u64>,
    pub(crate) rtt_ms: Option<f64>,
    pub(crate) min_rtt_ms: Option<f64>,
    /// The gain by which BBR paces.
    pub(crate) gain: Option<f64>,
    /// The receiver's window.
    pub(crate) window: Option<u64>,
    pub(crate) not_sent: Option<u64>,
    /// The newest measure of the rate was of an application that had nothing to send.
    pub(crate) app_limited: bool,
    /// For how long there were data, and the receiver's window or the send buffer held them back,
    /// milliseconds.
    pub(crate) busy_ms: Option<u64>,
    pub(crate) by_window_ms: Option<u64>,
    pub(crate) by_buffer_ms: Option<u64>,
    /// How long ago something was sent, received, acknowledged, milliseconds.
    pub(crate) last_ms: [Option<u64>; 3],
    /// Bytes in the queue of sending, as the line of the socket says.
    pub(crate) queued: u64,
    /// The newest measure of the rate, bits per second.
    pub(crate) delivered_bps: Option<f64>,
}

impl Sample {
    /// What a line says; an error says what is wrong with it.
    pub(crate) fn of(line: &str) -> Result<Self, String> {
        let mut sample = Self::default();
        let mut before = "";
        for word in line.split_ascii_whitespace() {
            match word.split_once(':') {
                Some((key, value)) => sample.take(key, value)?,
                None if before == "delivery_rate" => sample.delivered_bps = rate(word),
                None => sample.app_limited |= word == "app_limited",
            }
            before = word;
        }
        match sample {
            Self { cwnd: 0, .. } => Err("no cwnd; accepted: a line of ss -tin".to_owned()),
            // The window is in segments.
            Self { mss: 0, .. } => {
                Err("no mss, which an old ss does not tell; accepted: a newer ss".to_owned())
            }
            _ => Ok(sample),
        }
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), String> {
        let whole = || number(key, value, value);
        let ms = || number(key, value, value.split("ms").next().unwrap_or(""));
        match key {
            "mss" => self.mss = whole()?,
            "cwnd" => self.cwnd = whole()?,
            "ssthresh" => self.ssthresh = Some(whole()?),
            "unacked" => self.unacked = whole()?,
            "bytes_sent" => self.sent = Some(whole()?),
            "bytes_acked" => self.acked = Some(whole()?),
            "bytes_received" => self.received = Some(whole()?),
            "bytes_retrans" => self.bytes_retransmitted = Some(whole()?),
            "data_segs_out" => self.segments = Some(whole()?),
            // Those in flight, and all of them.
            "retrans" => {
                let all = value.split('/').nth(1).unwrap_or("0");
                self.retransmitted = number(key, value, all)?;
            }
            "rtt" => self.rtt_ms = Some(real(key, value.split('/').next().unwrap_or(""))?),
            "minrtt" => self.min_rtt_ms = Some(real(key, value)?),
            "snd_wnd" => self.window = Some(whole()?),
            "notsent" => self.not_sent = Some(whole()?),
            "busy" => self.busy_ms = Some(ms()?),
            "rwnd_limited" => self.by_window_ms = Some(ms()?),
            "sndbuf_limited" => self.by_buffer_ms = Some(ms()?),
            "lastsnd" => self.last_ms[0] = Some(whole()?),
            "lastrcv" => self.last_ms[1] = Some(whole()?),
            "lastack" => self.last_ms[2] = Some(whole()?),
            "bbr" => {
                let gain = value.split(',').find_map(|part| part.split_once("pacing_gain:"));
                let gain = gain.map(|(_, gain)| gain.trim_end_matches(')'));
                self.gain = gain.map(|gain| real("pacing_gain", gain)).transpose()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The least that has passed since another sample, by the counters of milliseconds: each grows
    /// no faster than time, and something that happened sets the last three back.
    pub(crate) fn passed_ms(&self, before: &Self) -> u64 {
        let grown = |now: Option<u64>, before: Option<u64>| now?.checked_sub(before?);
        let last = |place: usize| grown(self.last_ms[place], before.last_ms[place]);
        let busy = grown(self.busy_ms, before.busy_ms);
        [last(0), last(1), last(2), busy].into_iter().flatten().max().unwrap_or(0)
    }

    /// What only grows.
    pub(crate) fn sum(&self) -> Sum {
        Sum { sent: self.sent, acked: self.acked }
    }
}

/// Bytes that a connection has sent, and that were acknowledged, as far as `ss` prints them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    sent: Option<u64>,
    acked: Option<u64>,
}

impl Sum {
    /// Whether it is of the same connection as one before it: then it has not fallen.
    pub(crate) fn continues(&self, before: &Self) -> bool {
        let fell = |now: Option<u64>, before| now.zip(before).is_some_and(|(now, it)| now < it);
        !fell(self.sent, before.sent) && !fell(self.acked, before.acked)
    }
}

/// The algorithm, which stands before the scale of the windows or the timeout.
pub(crate) fn algorithm(line: &str) -> &str {
    let mut before = "";
    for word in line.split_ascii_whitespace() {
        if word.starts_with("wscale:") || word.starts_with("rto:") {
            break;
        }
        before = word;
    }
    let flags = ["ts", "sack", "ecn", "ecnseen", "fastopen"];
    // TCP_CA_NAME_MAX of Linux is 16.
    let is_name = !before.contains(':') && before.len() <= 16 && !flags.contains(&before);
    if is_name { before } else { "" }
}

/// A rate such as `11.6Mbps`.
fn rate(word: &str) -> Option<f64> {
    let word = word.strip_suffix("bps")?;
    let digits = word.trim_end_matches(['K', 'M', 'G', 'T']);
    let power = match &word[digits.len()..] {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => 1e12,
    };
    digits.parse().ok().map(|rate: f64| rate * power).filter(|rate| rate.is_finite())
}

fn number(key: &str, value: &str, digits: &str) -> Result<u64, String> {
    let read = digits.parse::<u64>();
    read.map_err(|_| {
        let value: String = value.chars().take(40).collect();
        format!("{key}: found \"{}\"; accepted: a whole number", value.escape_debug())
    })
}

fn real(key: &str, value: &str) -> Result<f64, String> {
    let read = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    read.ok_or_else(|| {
        let value: String = value.chars().take(40).collect();
        format!("{key}: found \"{}\"; accepted: a number", value.escape_debug())
    })
}

/// The kinds of sockets that `ss` writes in a column of its own where it was asked for several.
const KINDS: [&str; 3] = ["tcp", "mptcp", "dccp"];
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
/// The longest end: an address of IPv6 with an interface and a port, and room for names of hosts.
const LONGEST: usize = 160;
