//! When start-up ended, found while the events pass: the rules are in [`crate::summary`].

use std::collections::VecDeque;

use crate::event::{Event, Metrics, State, What};
use crate::summary::{Evidence, Exit};

/// Walks through the events of a connection until start-up is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExitFinder {
    cwnd: Option<u64>,
    /// The window before it was last cut, and when that was.
    cut: Option<(f64, u64)>,
    /// The newest ssthresh, bytes.
    ssthresh: Option<u64>,
    /// The newest smoothed RTT; 0 before the first.
    smoothed_rtt_ms: f64,
    /// When the log last had the window.
    cwnd_at_ms: f64,
    /// When a packet was last declared lost, and how many were.
    last_loss_ms: Option<f64>,
    lost: u64,
    /// The log had a state of start-up: then states alone decide.
    states: bool,
    /// The newest state is one of start-up.
    started: bool,
    by_state: FirstExit,
    by_window: FirstExit,
}

/// The first end of start-up among those that may be one.
#[derive(Clone, Debug, Default)]
struct FirstExit {
    /// In order of time. Whether a loss is near is known only some time later.
    pending: VecDeque<Candidate>,
    end: Option<Candidate>,
}

/// What may be the end of start-up.
#[derive(Clone, Debug)]
struct Candidate {
    at_ms: f64,
    reason: Option<String>,
    evidence: Evidence,
    cwnd: Option<u64>,
    /// It is an end only if a loss is near.
    needs_loss: bool,
    lossy: bool,
    /// A loss logged until then is near.
    near_ms: f64,
    /// Losses until then are counted.
    counted_ms: f64,
    lost: u64,
}

impl ExitFinder {
    /// Takes an event, which is not before any that was taken.
    pub(crate) fn take(&mut self, event: &Event) {
        self.by_state.settle(event.at_ms);
        self.by_window.settle(event.at_ms);
        match &event.what {
            What::Lost(lost) => {
                self.last_loss_ms = Some(event.at_ms);
                self.lost = self.lost.saturating_add(lost.packets);
                self.by_state.lost(event.at_ms, lost.packets);
                self.by_window.lost(event.at_ms, lost.packets);
            }
            What::Metrics(metrics) => self.metrics(event.at_ms, metrics),
            What::State(state) => self.state(event.at_ms, state),
            What::Sent(_) | What::Received(_) | What::Credit(_) => {}
        }
    }

    /// Packets declared lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// The end, once all events were taken.
    pub(crate) fn finish(mut self) -> Option<Exit> {
        let found = if self.states { &mut self.by_state } else { &mut self.by_window };
        found.settle(f64::INFINITY);
        let end = found.end.take()?;
        let reason = end.reason.or_else(|| end.lossy.then(|| "loss".to_owned()));
        let reason = match (end.evidence, reason) {
            (Evidence::Threshold, None) => Some("ssthresh".to_owned()),
            (_, reason) => reason,
        };
        Some(Exit {
            time_s: end.at_ms / 1e3,
            reason,
            evidence: end.evidence,
            cwnd_bytes: end.cwnd,
            packets_lost: Some(end.lost),
        })
    }

    fn metrics(&mut self, at_ms: f64, metrics: &Metrics) {
        self.smoothed_rtt_ms = metrics.smoothed_rtt_ms.unwrap_or(self.smoothed_rtt_ms);
        self.ssthresh = metrics.ssthresh.or(self.ssthresh);
        let (before, cwnd_at_ms) = (self.cwnd, self.cwnd_at_ms);
        if let Some(cwnd) = metrics.congestion_window {
            (self.cwnd, self.cwnd_at_ms) = (Some(cwnd), at_ms);
        }
        let Some(now) = self.cwnd else { return };
        let cut = before.filter(|before| now < *before);
        if let Some(before) = cut {
            self.cut = Some((at_ms, before));
        }
        let reached = self.ssthresh.is_some_and(|threshold| now >= threshold);
        if !reached && cut.is_none() {
            return;
        }
        // Where the log rarely has the window, it was cut at any time since it was last logged.
        let cut_after_ms = if cut.is_some() { cwnd_at_ms } else { at_ms };
        let evidence = if reached { Evidence::Threshold } else { Evidence::Cut };
        let mut candidate = self.candidate(at_ms, cut_after_ms, evidence, before.max(Some(now)));
        candidate.needs_loss = !reached;
        self.by_window.push(candidate);
    }

    fn state(&mut self, at_ms: f64, state: &State) {
        let old = state.old.as_deref().is_some_and(starts_up);
        self.states |= old || starts_up(&state.new);
        let before = old || self.started;
        self.started = starts_up(&state.new) || (before && keeps_phase(&state.new));
        if !before || self.started {
            return;
        }
        // Some stacks log the cut window first.
        let cut = self.cut.filter(|(cut_ms, _)| at_ms - cut_ms <= SAME_MS).map(|(_, cwnd)| cwnd);
        let mut candidate = self.candidate(at_ms, at_ms, Evidence::State, cut.max(self.cwnd));
        candidate.reason.clone_from(&state.trigger);
        self.by_state.push(candidate);
    }

    /// What happened at some time between `after_ms` and `at_ms`.
    fn candidate(
        &self,
        at_ms: f64,
        after_ms: f64,
        evidence: Evidence,
        cwnd: Option<u64>,
    ) -> Candidate {
        // One RTT: a cut follows the loss that caused it within that.
        let vicinity_ms = self.smoothed_rtt_ms.max(SAME_MS);
        let late_ms = if after_ms < at_ms { vicinity_ms.max(at_ms - after_ms) } else { SAME_MS };
        Candidate {
            at_ms,
            reason: None,
            evidence,
            cwnd,
            needs_loss: false,
            lossy: self.last_loss_ms.is_some_and(|loss_ms| loss_ms >= after_ms - vicinity_ms),
            near_ms: at_ms + late_ms,
            counted_ms: at_ms + vicinity_ms,
            lost: self.lost,
        }
    }
}

impl FirstExit {
    fn push(&mut self, candidate: Candidate) {
        let decided = self.pending.back().is_some_and(|last| !last.needs_loss || last.lossy);
        if self.end.is_none() && !decided && self.pending.len() < MOST_PENDING {
            self.pending.push_back(candidate);
        }
    }

    fn lost(&mut self, at_ms: f64, packets: u64) {
        for candidate in self.pending.iter_mut().chain(&mut self.end) {
            candidate.lossy |= at_ms <= candidate.near_ms;
            if at_ms <= candidate.counted_ms {
                candidate.lost = candidate.lost.saturating_add(packets);
            }
        }
    }

    /// Decides what no later event can change.
    fn settle(&mut self, now_ms: f64) {
        while self.end.is_none()
            && let Some(first) = self.pending.front()
        {
            if first.needs_loss && !first.lossy && now_ms <= first.near_ms {
                return;
            }
            let first = self.pending.pop_front();
            self.end = first.filter(|first| !first.needs_loss || first.lossy);
        }
        if self.end.is_some() {
            self.pending.clear();
        }
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
fn keeps_phase(state: &str) -> bool {
    state.to_ascii_lowercase().contains("limited")
}

/// Events no further apart, in milliseconds, belong to one ACK: some stacks log the window before
/// the loss, some after it.
const SAME_MS: f64 = 1.0;
/// Cuts whose loss may still be logged.
const MOST_PENDING: usize = 64;
