//! What a log says about a connection's start-up.
//!
//! No version of qlog has an event for the end of start-up. The summary therefore takes the best
//! evidence that the log has, and names it. From best to worst it is
//!
//! 1. a change of the congestion controller's state out of a start-up state;
//! 2. a window that has reached a slow-start threshold;
//! 3. the first cut of the window near a loss.
//!
//! A log with states is judged by its states alone: Astart has a threshold and goes on above it. A
//! cut belongs to a loss within an RTT. Where the log rarely has the window, it belongs to a loss
//! within an RTT of the time in which the window was cut.

use serde::Serialize;

use crate::event::{Event, Lost, Metrics, Packet, What};
use crate::lengths::Lengths;

/// Start-up and what a connection cost, as far as its log shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Time from the first event to the last, seconds.
    pub duration_s: f64,
    /// How start-up ended; `None` if it did not, or the log does not show it.
    pub exit: Option<Exit>,
    /// The first window logged, bytes.
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
    /// Packets sent; `None` if the log has no packets.
    pub packets_sent: Option<u64>,
    /// The bytes of these packets; `None` if the log has the length of none.
    pub bytes_sent: Option<u64>,
    /// Packets declared lost; `None` if the log has neither packets nor losses.
    pub packets_lost: Option<u64>,
    /// The bytes of the lost packets whose length the log has; `None` if it has none.
    pub bytes_lost: Option<u64>,
}

/// How start-up ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Exit {
    /// When start-up ended, in seconds after the first event.
    pub time_s: f64,
    /// Why it ended: the log's own word, or `loss`, `ssthresh`; `None` if nothing shows it.
    pub reason: Option<String>,
    /// What the log has that says so.
    pub evidence: Evidence,
    /// The window at that time, before any cut, bytes.
    pub cwnd_bytes: Option<u64>,
    /// Packets declared lost until one smoothed RTT after the end; `None` if the log has neither
    /// packets nor losses.
    pub packets_lost: Option<u64>,
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
        packets_lost: Option<u64>,
    ) -> Self {
        Self { time_s, reason: Some(reason.to_owned()), evidence, cwnd_bytes, packets_lost }
    }
}

/// The counts of a connection while its events pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    summary: Summary,
    lengths: Lengths,
}

impl Counts {
    pub(crate) fn take(&mut self, event: &Event) {
        self.summary.duration_s = event.at_ms / 1e3;
        match &event.what {
            What::Metrics(metrics) => self.summary.measure(metrics),
            What::Sent(packet) => self.sent(packet),
            What::Lost(lost) => self.lost(lost),
            What::State(_) | What::Received(_) | What::Credit(_) => {}
        }
    }

    fn sent(&mut self, packet: &Packet) {
        let summary = &mut self.summary;
        *summary.packets_sent.get_or_insert(0) += 1;
        summary.packets_lost.get_or_insert(0);
        if let Some(length) = packet.length {
            let sum = summary.bytes_sent.unwrap_or(0).saturating_add(length);
            summary.bytes_sent = Some(sum);
            self.lengths.sent(packet.packet_type, packet.number, length);
        }
    }

    /// Most stacks log of a loss only which packet it was.
    fn lost(&mut self, lost: &Lost) {
        let summary = &mut self.summary;
        let sum = summary.packets_lost.unwrap_or(0).saturating_add(lost.packets);
        summary.packets_lost = Some(sum);
        let known = || self.lengths.of(lost.packet_type, lost.number?);
        if let Some(bytes) = lost.bytes.or_else(known) {
            summary.bytes_lost = Some(summary.bytes_lost.unwrap_or(0).saturating_add(bytes));
        }
    }

    /// Forgets the RTTs: those before the first answer are the stack's guess (RFC 9002, section
    /// 6.2.2), not measurements.
    pub(crate) fn forget_rtts(&mut self) {
        (self.summary.min_rtt_ms, self.summary.peak_smoothed_rtt_ms) = (None, None);
    }

    pub(crate) fn finish(self, exit: Option<Exit>) -> Summary {
        let mut summary = Summary { exit, ..self.summary };
        if let Some(exit) = &mut summary.exit {
            exit.packets_lost = exit.packets_lost.filter(|_| summary.packets_lost.is_some());
        }
        // Nothing was lost, where losses are logged.
        if summary.packets_lost == Some(0) && summary.bytes_sent.is_some() {
            summary.bytes_lost = Some(0);
        }
        summary
    }
}

impl Summary {
    fn measure(&mut self, metrics: &Metrics) {
        if let Some(cwnd) = metrics.congestion_window {
            self.initial_cwnd_bytes.get_or_insert(cwnd);
            self.final_cwnd_bytes = Some(cwnd);
        }
        self.peak_cwnd_bytes = self.peak_cwnd_bytes.max(metrics.congestion_window);
        self.peak_in_flight_bytes = self.peak_in_flight_bytes.max(metrics.bytes_in_flight);
        let largest = self.peak_smoothed_rtt_ms.unwrap_or(0.0);
        if let Some(rtt) = metrics.smoothed_rtt_ms {
            self.peak_smoothed_rtt_ms = Some(rtt.max(largest));
        }
        for rtt in [metrics.min_rtt_ms, metrics.latest_rtt_ms].into_iter().flatten() {
            self.min_rtt_ms = Some(self.min_rtt_ms.map_or(rtt, |min| min.min(rtt)));
        }
    }
}
