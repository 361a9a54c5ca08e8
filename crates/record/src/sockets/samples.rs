//! The samples of one socket, read for its window, its losses and what held it back.

use firstflight_qlog::{Connection, Event, Limit, Lost, Metrics, Packet, State, Watch, What};

use super::line::Sample;

/// Which counters this version of `ss` knows: one that is 0 is left out of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    sent: bool,
    acked: bool,
    segments: bool,
    received: bool,
    /// It grows: one that stands still while data pass is not used.
    busy: bool,
    not_sent: bool,
}

/// A connection while its samples pass.
pub(crate) struct Samples {
    counters: Counters,
    watch: Watch,
    first_s: f64,
    now_s: f64,
    /// The first one, from which is counted where the record begins late, and the newest.
    base: Option<Sample>,
    last: Option<Sample>,
    hidden: Option<String>,
    /// An interval that one limit held, until the next one begins.
    limited: Option<(Limit, f64, f64)>,
}

impl Counters {
    /// With the counters that a sample has, which follows `before`.
    pub(crate) fn with(self, before: &Sample, sample: &Sample) -> Self {
        Self {
            sent: self.sent || sample.sent.is_some(),
            acked: self.acked || sample.acked.is_some(),
            segments: self.segments || sample.segments.is_some(),
            received: self.received || sample.received.is_some(),
            busy: self.busy || sample.busy_ms.unwrap_or(0) > before.busy_ms.unwrap_or(0),
            // A kernel that has either of the other two has this one too: it is older.
            not_sent: self.not_sent
                || sample.not_sent.is_some()
                || sample.busy_ms.is_some()
                || sample.app_limited,
        }
    }
}

impl Samples {
    pub(crate) fn new(counters: Counters) -> Self {
        Self {
            counters,
            watch: Watch::new(),
            first_s: 0.0,
            now_s: 0.0,
            base: None,
            last: None,
            hidden: None,
            limited: None,
        }
    }

    /// Bytes that have left: where an old kernel does not count them, what is acknowledged and what
    /// is in flight.
    fn bytes(&self, sample: &Sample) -> Option<u64> {
        let flight = sample.unacked.saturating_mul(sample.mss);
        match self.counters {
            Counters { sent: true, .. } => Some(sample.sent.unwrap_or(0)),
            Counters { acked: true, .. } => Some(acked(sample).saturating_add(flight)),
            _ => None,
        }
    }

    fn segments(&self, sample: &Sample) -> Option<u64> {
        self.counters.segments.then(|| sample.segments.unwrap_or(0))
    }

    pub(crate) fn take(&mut self, now_s: f64, sample: Sample) {
        let Some(last) = self.last else {
            (self.first_s, self.now_s) = (now_s, now_s);
            self.hidden = self.hidden_begin(&sample);
            // What was sent before a record that begins late was not sent at its begin.
            let base = if self.hidden.is_some() { sample } else { Sample::default() };
            self.base = Some(base);
            self.events(&base, &sample);
            self.last = Some(sample);
            return;
        };
        let before_s = std::mem::replace(&mut self.now_s, now_s);
        self.limit(before_s, &last, &sample);
        self.events(&last, &sample);
        self.last = Some(sample);
    }

    fn events(&mut self, before: &Sample, sample: &Sample) {
        let at_ms = (self.now_s - self.first_s) * 1e3;
        let bytes = grown(self.bytes(sample), self.bytes(before));
        let mut push = |what: What| self.watch.take(&Event { at_ms, what });
        if let Some(length) = bytes.filter(|length| *length > 0) {
            push(What::Sent(Packet { length: Some(length), ..Packet::default() }));
        }
        let lost = sample.retransmitted.saturating_sub(before.retransmitted);
        if lost > 0 {
            let bytes = grown(sample.bytes_retransmitted, before.bytes_retransmitted);
            let bytes = bytes.filter(|bytes| *bytes > 0).or(Some(lost.saturating_mul(sample.mss)));
            push(What::Lost(Lost { packets: lost, bytes, ..Lost::default() }));
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
    }

    /// Why start-up is not in a record that begins with this sample, if it is not: more was
    /// acknowledged than the first window can have had.
    fn hidden_begin(&self, first: &Sample) -> Option<String> {
        let window = FIRST_WINDOW.saturating_mul(first.mss);
        let begins = |bytes: u64| {
            format!("the record begins {:.1} kB into the connection", bytes as f64 / 1e3)
        };
        if self.counters.acked {
            let acked = acked(first);
            return (acked > window).then(|| begins(acked));
        }
        let sent = match self.counters {
            Counters { sent: true, .. } => first.sent,
            Counters { segments: true, .. } => {
                first.segments.map(|all| all.saturating_mul(first.mss))
            }
            _ => None,
        };
        if let Some(sent) = sent {
            // A window and what its ACKs let go.
            return (sent > 3 * window).then(|| begins(sent));
        }
        if let Some(packets) = first.ssthresh {
            return Some(format!(
                "the record begins after start-up: its first sample has a threshold of {packets} \
                 packets"
            ));
        }
        let cwnd = first.cwnd;
        (cwnd > 2 * FIRST_WINDOW || first.retransmitted > 0)
            .then(|| format!("the record begins in the middle: cwnd is {cwnd} packets then"))
    }

    /// What held the sender back between two samples.
    fn limit(&mut self, before_s: f64, before: &Sample, now: &Sample) {
        let elapsed_ms = (self.now_s - before_s) * 1e3;
        let counted = |now, before| grown(now, before).unwrap_or(0) as f64;
        let by_window = counted(now.by_window_ms, before.by_window_ms);
        let by_buffer = counted(now.by_buffer_ms, before.by_buffer_ms);
        let idle = match self.counters.busy {
            true => elapsed_ms - counted(now.busy_ms, before.busy_ms) - GRAIN_MS,
            false => 0.0,
        };
        let has_nothing_to_send = self.has_nothing_to_send(before) && self.has_nothing_to_send(now);
        let rest = if has_nothing_to_send { elapsed_ms - by_window - by_buffer } else { idle };
        // Of kernels before 4.10, which do not count the time.
        let full = |sample: &Sample| {
            let flight = sample.unacked.saturating_add(1).saturating_mul(sample.mss);
            sample.window.is_some_and(|window| flight > window)
        };
        let by_window =
            if !self.counters.busy && full(before) && full(now) { elapsed_ms } else { by_window };
        let all = [
            (Limit::Receiver, by_window),
            (Limit::SendBuffer, by_buffer),
            (Limit::Application, rest),
        ];
        let Some((by, held_ms)) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return;
        };
        if held_ms < elapsed_ms / 10.0 || elapsed_ms <= 0.0 {
            return;
        }
        let to_ms = (self.now_s - self.first_s) * 1e3;
        // Where in the interval it was is not known.
        let begin_ms = (before_s - self.first_s) * 1e3;
        let from_ms = if held_ms >= elapsed_ms / 2.0 { begin_ms } else { to_ms - held_ms };
        match &mut self.limited {
            Some((last, _, until_ms)) if *last == by && from_ms <= *until_ms => *until_ms = to_ms,
            _ => {
                self.end_limited();
                self.limited = Some((by, from_ms, to_ms));
            }
        }
    }

    /// Whether a sender has nothing to send and could: nothing waits, and the window has room.
    fn has_nothing_to_send(&self, sample: &Sample) -> bool {
        let flight = sample.unacked.saturating_mul(sample.mss);
        let waiting = match self.counters.not_sent {
            true => sample.not_sent.unwrap_or(0),
            false => sample.queued.saturating_sub(flight).saturating_sub(sample.mss),
        };
        waiting == 0 && sample.unacked < sample.cwnd
    }

    /// Writes down an interval, with the newest numbers.
    fn end_limited(&mut self) {
        let (Some((by, from_ms, to_ms)), Some(now)) = (self.limited.take(), self.last) else {
            return;
        };
        // A queue that is empty for a moment is no limit.
        if by == Limit::Application && to_ms - from_ms < now.rtt_ms.unwrap_or(0.0) {
            return;
        }
        let kb = |bytes: u64| format!("{:.1} kB", bytes as f64 / 1e3);
        let flight = kb(now.unacked.saturating_mul(now.mss));
        let why = match by {
            Limit::Receiver => {
                let window = now.window.map_or(String::new(), |window| {
                    format!("; the receiver offers {}, {flight} are in flight", kb(window))
                });
                match now.by_window_ms {
                    Some(ms) => format!("rwnd_limited has risen to {ms} ms{window}"),
                    None => format!("the receiver's window has no room{window}"),
                }
            }
            Limit::SendBuffer => {
                let ms = now.by_buffer_ms.unwrap_or(0);
                format!("sndbuf_limited has risen to {ms} ms; {flight} are in flight")
            }
            Limit::Application => {
                let window = kb(now.cwnd.saturating_mul(now.mss));
                format!("nothing waits to be sent; {flight} of a window of {window} are in flight")
            }
        };
        self.watch.limits().add(by, from_ms, to_ms, 0.0, why);
    }

    pub(crate) fn finish(mut self) -> Connection {
        self.end_limited();
        let (Some(base), Some(last)) = (self.base, self.last) else { return Connection::default() };
        let taken = grown(last.received, base.received).unwrap_or(0);
        let left = grown(self.bytes(&last), self.bytes(&base));
        let segments = grown(self.segments(&last), self.segments(&base));
        let mut connection = self.watch.finish();
        let summary = &mut connection.summary;
        summary.duration_s = self.now_s - self.first_s;
        summary.packets_sent = segments;
        let lost = last.retransmitted.saturating_sub(base.retransmitted);
        summary.packets_lost = Some(lost);
        if lost == 0 {
            summary.bytes_lost = Some(0);
        }
        if let Some(exit) = &mut summary.exit {
            exit.packets_lost.get_or_insert(0);
        }
        // A request goes the other way too.
        if self.hidden.is_none()
            && self.counters.received
            && left.is_some_and(|left| taken > 2 * left)
        {
            self.hidden = Some(format!(
                "the record is of the end that receives: {:.1} kB came and {:.1} kB left; what \
                 limits a sender its own ss shows",
                taken as f64 / 1e3,
                left.unwrap_or(0) as f64 / 1e3
            ));
        }
        if self.hidden.is_some() {
            summary.exit = None;
        }
        connection.hidden = self.hidden;
        connection
    }
}

/// By how much a counter has grown, where it is known.
fn grown(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now.map(|now| now.saturating_sub(before.unwrap_or(0)))
}

/// Bytes acknowledged; the SYN counts as one.
fn acked(sample: &Sample) -> u64 {
    sample.acked.unwrap_or(0).saturating_sub(1)
}

/// The gain of BBR's pacing shows its state: 2.77 or 2.89 in Startup, and no other above 2.
fn startup(before: Option<f64>, now: Option<f64>) -> Option<State> {
    let starts = |gain: f64| gain > 2.0;
    match (before.map(starts), starts(now?)) {
        (None | Some(false), true) => Some(State::begin()),
        (Some(true), false) => Some(State::end(Some("heuristic"))),
        _ => None,
    }
}

/// How much the time of a sample and its counters may be apart, milliseconds: `ss` takes some to
/// run, and the kernel counts in its ticks, of 10 ms at most.
const GRAIN_MS: f64 = 20.0;
/// The first window of Linux, segments (RFC 6928).
const FIRST_WINDOW: u64 = 10;
