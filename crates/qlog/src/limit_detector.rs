//! What limited a QUIC sender, by its events: its receiver's flow control, or its application.

use std::collections::HashMap;

use crate::event::{Event, FlowControl, Metrics, Packet, What};
use crate::limits::{Limit, Limits};

/// Finds where a sender used less than its window: it had no credit of its receiver, or no data.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitDetector {
    limits: Limits,
    cwnd: Option<u64>,
    in_flight: Option<u64>,
    smoothed_rtt_ms: f64,
    /// When data left last, and first.
    last_data_ms: Option<f64>,
    first_data_ms: f64,
    round: Round,
    /// More than half of the window has been in flight once.
    used: bool,
    credit: Credit,
    newest_ms: f64,
}

/// An RTT, and how much of the window was in flight in it.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    begin_ms: f64,
    most_in_flight: Option<u64>,
    window: u64,
    data: bool,
}

/// What the receiver allows (RFC 9000, section 4.1), and what was sent of it.
#[derive(Clone, Debug, Default)]
struct Credit {
    max_data: Option<u64>,
    /// The end of what was sent on each stream, and the sum of all.
    ends: HashMap<u64, u64>,
    sent: u64,
    blocked_since_ms: Option<f64>,
}

impl LimitDetector {
    /// Takes an event, which is not before any that was taken.
    pub(crate) fn take(&mut self, event: &Event) {
        self.newest_ms = event.at_ms;
        match &event.what {
            What::Sent(packet) => self.sent(event.at_ms, packet),
            What::Received(packet) => self.received(event.at_ms, &packet.flow),
            What::Credit(bytes) => self.credit.max_data = Some(*bytes),
            What::Metrics(metrics) => self.metrics(event.at_ms, metrics),
            What::State(_) | What::Lost(_) => {}
        }
    }

    fn sent(&mut self, at_ms: f64, packet: &Packet) {
        if packet.flow.blocked {
            self.credit.blocked_since_ms.get_or_insert(at_ms);
        }
        if !carries_data(packet) {
            return;
        }
        let advanced = self.credit.send(&packet.flow);
        let since = self.credit.blocked_since_ms;
        // Data after a blocked frame: the frame was of another stream, or the credit was not
        // logged.
        if let Some(since) = since.filter(|since| advanced && at_ms > *since) {
            self.unblocked(since, at_ms);
        }
        self.pause(at_ms);
        if self.last_data_ms.replace(at_ms).is_none() {
            self.first_data_ms = at_ms;
        }
        self.round.data = true;
        if self.credit.is_used_up() {
            self.credit.blocked_since_ms.get_or_insert(at_ms);
        }
    }

    /// An interval without data of several RTTs, in which the window had room.
    fn pause(&mut self, at_ms: f64) {
        let (Some(last_ms), rtt_ms) = (self.last_data_ms, self.smoothed_rtt_ms) else { return };
        let roomy = match (self.in_flight, self.cwnd) {
            (Some(flight), Some(cwnd)) => flight < cwnd / 2,
            (flight, _) => flight.is_none_or(|flight| flight == 0),
        };
        let blocked = self.credit.blocked_since_ms.is_some();
        if rtt_ms > 0.0 && at_ms - last_ms > PAUSE_RTTS * rtt_ms && roomy && !blocked {
            let why = format!("no data left for {:.3} s", (at_ms - last_ms) / 1e3);
            self.limits.add(Limit::Application, last_ms + rtt_ms, at_ms, rtt_ms, why);
        }
    }

    fn received(&mut self, at_ms: f64, flow: &FlowControl) {
        self.credit.max_data = self.credit.max_data.max(flow.max_data);
        if let Some(since) = self.credit.blocked_since_ms
            && (flow.max_data.is_some() || flow.max_stream_data)
            && !self.credit.is_used_up()
        {
            self.unblocked(since, at_ms);
        }
    }

    fn unblocked(&mut self, since_ms: f64, at_ms: f64) {
        self.credit.blocked_since_ms = None;
        let why = match self.credit.max_data {
            Some(bytes) => format!("the receiver allowed {:.1} kB in all", bytes as f64 / 1e3),
            None => "the sender was blocked by flow control".to_owned(),
        };
        self.limits.add(Limit::Receiver, since_ms, at_ms, PAUSE_RTTS * self.smoothed_rtt_ms, why);
    }

    fn metrics(&mut self, at_ms: f64, metrics: &Metrics) {
        self.cwnd = metrics.congestion_window.or(self.cwnd);
        self.in_flight = metrics.bytes_in_flight.or(self.in_flight);
        self.smoothed_rtt_ms = metrics.smoothed_rtt_ms.unwrap_or(self.smoothed_rtt_ms);
        let (Some(cwnd), Some(flight)) = (self.cwnd, metrics.bytes_in_flight) else { return };
        if !self.used && flight >= cwnd / 2 {
            self.used = true;
            // A handshake cannot use the window.
            let handshake_ms = self.first_data_ms + HANDSHAKE_RTTS * self.smoothed_rtt_ms;
            if at_ms <= handshake_ms {
                self.limits.forget_until(at_ms);
            }
        }
        let round = &mut self.round;
        round.most_in_flight = round.most_in_flight.max(Some(flight));
        round.window = if round.window == 0 { cwnd } else { round.window.min(cwnd) };
        if self.smoothed_rtt_ms > 0.0 && at_ms - round.begin_ms >= self.smoothed_rtt_ms {
            let over = std::mem::replace(round, Round { begin_ms: at_ms, ..Round::default() });
            self.end_round(over, at_ms);
        }
    }

    /// A start-up at most doubles its window in an RTT, so a sender that fills it has had more than
    /// half of it in flight; RFC 9002 section 7.8 calls less underutilised.
    fn end_round(&mut self, round: Round, at_ms: f64) {
        // Where data left, something was in flight: a log that says 0 does not have the flight.
        let flight = round.most_in_flight.filter(|flight| *flight > 0 && round.data);
        let Some(flight) = flight else { return };
        if flight < round.window / 2 && self.credit.blocked_since_ms.is_none() {
            let [flight, window] = [flight, round.window].map(|bytes| bytes as f64 / 1e3);
            let why =
                format!("no more than {flight:.1} kB of a window of {window:.1} kB in flight");
            let gap_ms = self.smoothed_rtt_ms;
            self.limits.add(Limit::Application, round.begin_ms, at_ms, gap_ms, why);
        }
    }

    /// The intervals, once all events were taken.
    pub(crate) fn finish(mut self) -> Limits {
        if let Some(since) = self.credit.blocked_since_ms {
            self.unblocked(since, self.newest_ms);
        }
        self.limits
    }
}

impl Credit {
    /// Counts what a packet carries; whether any of it is new.
    fn send(&mut self, flow: &FlowControl) -> bool {
        let before = self.sent;
        for (stream, end) in &flow.ends {
            if self.ends.len() >= MOST_STREAMS && !self.ends.contains_key(stream) {
                // A stream that is done looks the same as one that rests.
                self.ends.clear();
            }
            let known = self.ends.entry(*stream).or_insert(0);
            self.sent = self.sent.saturating_add(end.saturating_sub(*known));
            *known = (*known).max(*end);
        }
        self.sent > before
    }

    fn is_used_up(&self) -> bool {
        self.max_data.is_some_and(|most| self.sent > 0 && self.sent + A_PACKET > most)
    }
}

/// Whether a packet carries data of the application: by its length where a log has no frames.
fn carries_data(packet: &Packet) -> bool {
    match packet.flow.has_frames {
        true => !packet.flow.ends.is_empty() || packet.flow.has_stream,
        false => packet.length.is_none_or(|bytes| bytes >= A_PACKET / 2),
    }
}

/// RTTs without data that are a pause: the kPersistentCongestionThreshold of RFC 9002 section
/// 7.6.1, after which a network would be taken for interrupted.
const PAUSE_RTTS: f64 = 3.0;
/// RTTs that a handshake takes at most, one repeated flight included.
const HANDSHAKE_RTTS: f64 = 4.0;
/// The least datagram that carries a handshake (RFC 9000, section 14.1), bytes.
const A_PACKET: u64 = 1200;
/// Streams whose ends are kept.
const MOST_STREAMS: usize = 4096;
