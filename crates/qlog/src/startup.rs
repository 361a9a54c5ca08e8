//! What a log says about a connection's start-up.
//!
//! No version of qlog has an event for the end of start-up. The summary therefore takes the best
//! evidence that the log has, and names it. From best to worst it is
//!
//! 1. a change of the congestion controller's state out of a start-up state;
//! 2. a window that has reached a slow-start threshold;
//! 3. the first cut of the window near a loss.
//!
//! A log with states is judged by its states alone: Astart has a threshold and goes on above it.

use std::collections::HashMap;

use serde::Serialize;

use crate::event::{Event, Metrics, PacketType, What};
use crate::read::Connection;

/// Start-up and what a connection cost, as far as its log tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Time from the first event to the last, seconds.
    pub duration_s: f64,
    /// How start-up ended; `None` if it did not, or the log does not tell.
    pub exit: Option<Exit>,
    /// The first window told, bytes.
    pub initial_cwnd_bytes: Option<u64>,
    /// The largest window, bytes.
    pub peak_cwnd_bytes: Option<u64>,
    /// The last window, bytes.
    pub final_cwnd_bytes: Option<u64>,
    /// The most bytes in flight.
    pub peak_in_flight_bytes: Option<u64>,
    /// The smallest RTT, milliseconds.
    pub min_rtt_ms: Option<f64>,
    /// The largest smoothed RTT, milliseconds.
    pub peak_smoothed_rtt_ms: Option<f64>,
    /// Packets sent, if the log has packets.
    pub packets_sent: u64,
    /// The bytes of these packets.
    pub bytes_sent: u64,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// The bytes of the lost packets, as far as the log tells them.
    pub bytes_lost: u64,
}

/// How start-up ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Exit {
    /// When start-up ended, in seconds after the first event.
    pub time_s: f64,
    /// Why it ended: the log's own word, or `loss`, `ssthresh`; `None` if nothing tells.
    pub reason: Option<String>,
    /// What the log has that says so.
    pub evidence: Evidence,
    /// The window at that time, before any cut, bytes.
    pub cwnd_bytes: Option<u64>,
    /// Packets declared lost until one smoothed RTT after the end.
    pub packets_lost: u64,
}

/// What in a log says that start-up has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The congestion controller's state changed.
    State,
    /// The window reached the slow-start threshold.
    Threshold,
    /// The window was cut near a loss.
    Cut,
    /// A record without a window: what was in flight no longer grew, or was sent again.
    Flight,
}

impl Exit {
    /// An end of start-up that something else than a qlog shows; the time is in seconds after the
    /// first event, the window in bytes.
    pub fn new(
        time_s: f64,
        reason: &str,
        evidence: Evidence,
        cwnd_bytes: Option<u64>,
        packets_lost: u64,
    ) -> Self {
        Self { time_s, reason: Some(reason.to_owned()), evidence, cwnd_bytes, packets_lost }
    }
}

impl Connection {
    /// What the log says about start-up and losses.
    pub fn summary(&self) -> Summary {
        let last = self.events.last().map_or(0.0, |event| event.at_ms);
        let mut summary = Summary { duration_s: last / 1e3, ..Summary::default() };
        let answered = self.first_answer_ms();
        let mut lengths = HashMap::new();
        for event in &self.events {
            summary.count(event, event.at_ms >= answered, &mut lengths);
        }
        summary.exit = exit(&self.events);
        summary
    }
}

impl Summary {
    /// `lengths` has those of the packets that were sent: most stacks tell of a loss only which
    /// packet it was.
    fn count(
        &mut self,
        event: &Event,
        answered: bool,
        lengths: &mut HashMap<(PacketType, u64), u64>,
    ) {
        match &event.what {
            What::Metrics(metrics) => self.measure(metrics, answered),
            What::Sent(packet) => {
                self.packets_sent += 1;
                let length = packet.length.unwrap_or(0);
                self.bytes_sent = self.bytes_sent.saturating_add(length);
                lengths.extend(packet.number.map(|number| ((packet.packet_type, number), length)));
            }
            What::Lost(lost) => {
                self.packets_lost = self.packets_lost.saturating_add(lost.packets);
                let known = || lengths.get(&(lost.packet_type, lost.number?)).copied();
                let bytes = lost.bytes.or_else(known).unwrap_or(0);
                self.bytes_lost = self.bytes_lost.saturating_add(bytes);
            }
            What::State(_) | What::Received(_) => {}
        }
    }

    fn measure(&mut self, metrics: &Metrics, answered: bool) {
        if let Some(cwnd) = metrics.congestion_window {
            self.initial_cwnd_bytes.get_or_insert(cwnd);
            self.final_cwnd_bytes = Some(cwnd);
        }
        self.peak_cwnd_bytes = self.peak_cwnd_bytes.max(metrics.congestion_window);
        self.peak_in_flight_bytes = self.peak_in_flight_bytes.max(metrics.bytes_in_flight);
        if !answered {
            return;
        }
        let largest = self.peak_smoothed_rtt_ms.unwrap_or(0.0);
        if let Some(rtt) = metrics.smoothed_rtt_ms {
            self.peak_smoothed_rtt_ms = Some(rtt.max(largest));
        }
        for rtt in [metrics.min_rtt_ms, metrics.latest_rtt_ms].into_iter().flatten() {
            self.min_rtt_ms = Some(self.min_rtt_ms.map_or(rtt, |min| min.min(rtt)));
        }
    }
}

/// Walks through the events until start-up is over.
fn exit(events: &[Event]) -> Option<Exit> {
    let states = events.iter().any(|event| match &event.what {
        What::State(state) => starts_up(&state.new) || state.old.as_deref().is_some_and(starts_up),
        _ => false,
    });
    let mut walk = Walk { events, ..Walk::default() };
    events.iter().find_map(|event| match &event.what {
        What::Metrics(metrics) => walk.metrics(event.at_ms, metrics, !states),
        What::State(state) if states => walk.state(event.at_ms, state),
        _ => None,
    })
}

/// What is known after the events read so far.
#[derive(Default)]
struct Walk<'a> {
    events: &'a [Event],
    cwnd: Option<u64>,
    /// The window before it was last cut, and when that was.
    cut: Option<(f64, u64)>,
    /// The newest ssthresh, bytes.
    ssthresh: Option<u64>,
    /// The newest smoothed RTT; 0 before the first.
    smoothed_rtt_ms: f64,
    /// Data have been sent.
    started: bool,
}

impl Walk<'_> {
    fn metrics(&mut self, at_ms: f64, metrics: &Metrics, judge: bool) -> Option<Exit> {
        let before = self.cwnd;
        self.cwnd = metrics.congestion_window.or(self.cwnd);
        if self.cwnd < before {
            self.cut = before.map(|cwnd| (at_ms, cwnd));
        }
        self.ssthresh = metrics.ssthresh.or(self.ssthresh);
        self.smoothed_rtt_ms = metrics.smoothed_rtt_ms.unwrap_or(self.smoothed_rtt_ms);
        if !judge {
            return None;
        }
        let (now, largest) = (self.cwnd?, before.max(self.cwnd));
        let lossy = self.lost(at_ms - self.vicinity(), at_ms + SAME_MS) > 0;
        let why = |reason: &str| Some(reason.to_owned());
        if self.ssthresh.is_some_and(|threshold| now >= threshold) {
            let reason = why(if lossy { "loss" } else { "ssthresh" });
            return Some(self.end(at_ms, reason, Evidence::Threshold, largest));
        }
        if lossy && before.is_some_and(|before| now < before) {
            return Some(self.end(at_ms, why("loss"), Evidence::Cut, largest));
        }
        None
    }

    fn state(&mut self, at_ms: f64, state: &crate::State) -> Option<Exit> {
        let before = state.old.as_deref().is_some_and(starts_up) || self.started;
        self.started = starts_up(&state.new) || (before && keeps(&state.new));
        if !before || self.started {
            return None;
        }
        let lossy = self.lost(at_ms - self.vicinity(), at_ms + SAME_MS) > 0;
        let reason = state.trigger.clone().or_else(|| lossy.then(|| "loss".to_owned()));
        // Some stacks tell the cut window first.
        let cut = self.cut.filter(|(cut_ms, _)| at_ms - cut_ms <= SAME_MS).map(|(_, cwnd)| cwnd);
        Some(self.end(at_ms, reason, Evidence::State, cut.max(self.cwnd)))
    }

    fn end(
        &self,
        at_ms: f64,
        reason: Option<String>,
        evidence: Evidence,
        cwnd: Option<u64>,
    ) -> Exit {
        let packets_lost = self.lost(0.0, at_ms + self.vicinity());
        Exit { time_s: at_ms / 1e3, reason, evidence, cwnd_bytes: cwnd, packets_lost }
    }

    /// One RTT: a cut follows the loss that caused it within that.
    fn vicinity(&self) -> f64 {
        self.smoothed_rtt_ms.max(SAME_MS)
    }

    /// Packets declared lost between two times.
    fn lost(&self, from_ms: f64, to_ms: f64) -> u64 {
        let begin = self.events.partition_point(|event| event.at_ms < from_ms);
        let near = self.events[begin..].iter().take_while(|event| event.at_ms <= to_ms);
        near.fold(0, |sum, event| match &event.what {
            What::Lost(lost) => lost.packets.saturating_add(sum),
            _ => sum,
        })
    }
}

/// Whether a state is start-up: slow start of NewReno and CUBIC, HyStart and the slow start of
/// HyStart++ that is called conservative (RFC 9406, section 4.2), BBR's, with or without its name.
fn starts_up(state: &str) -> bool {
    let plain: String =
        state.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    ["slowstart", "startup", "hystart", "conservativeslowstart", "css", "initial", "init"]
        .contains(&plain.trim_start_matches("bbr"))
}

/// Whether a state says nothing about the phase: start-up may go on in it.
fn keeps(state: &str) -> bool {
    state.to_ascii_lowercase().contains("limited")
}

/// Events no further apart, in milliseconds, belong to one ACK: some stacks log the window before
/// the loss, some after it.
const SAME_MS: f64 = 1.0;
