//! Retransmission as ns-2.35's Vegas agent does it.
//!
//! A fine-grained timeout per packet is checked on duplicate ACKs and on the two ACKs after a
//! retransmission; the window is cut only for packets sent since the last cut, and is inflated by
//! duplicate ACKs. After an ordinary recovery it falls back to what the cut left, but when fewer
//! than four duplicates came it keeps the inflation and the ssthresh from before, as that agent
//! does: slow start then goes on.

use firstflight_core::event::{Loss, LossKind};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant, Span};

use super::log::Mark;
use super::{DUP_THRESHOLD, Repair, Tcp, Wire};

#[derive(Debug, Default)]
pub(super) struct Ns2Vegas {
    /// Smoothed RTT times 8 and mean deviation times 4, in nanoseconds.
    smoothed: i64,
    deviation: i64,
    timeout: Span,
    /// The window while duplicate ACKs inflate it, in bytes.
    inflated: Option<u64>,
    /// What the last cut left, in bytes.
    after_cut: u64,
    cut_at: Instant,
    /// ACKs on which the next packet's timeout is still to be checked.
    worried: u32,
    /// The window was cut and nothing new has been acknowledged since.
    cut: bool,
    /// When the connection was opened.
    opened: Instant,
    last_cut_was_timeout: bool,
}

impl Ns2Vegas {
    #[inline]
    pub(super) fn window(&self, cwnd: u64) -> u64 {
        self.inflated.unwrap_or(cwnd)
    }

    pub(super) fn abort<S, A>(&mut self, now: Instant, core: &mut Sender<S, A>)
    where
        S: Startup,
        A: Avoidance + Clone,
    {
        if let Some(cwnd) = self.inflated.take() {
            core.on_recovered(Some(Bytes(cwnd)));
        }
        self.after_cut = 0;
        self.cut = false;
        self.cut_at = now;
        self.last_cut_was_timeout = true;
    }

    /// The connection was opened at `at`, and the SYN answered after `rtt`: no RTT sample, but
    /// where the estimator begins.
    pub(super) fn open(&mut self, at: Instant, rtt: Span) {
        self.opened = at;
        self.begin(rtt);
    }

    fn begin(&mut self, rtt: Span) {
        (self.smoothed, self.deviation) = (rtt.0 as i64 * 8, rtt.0 as i64);
        self.timeout = Span(((self.smoothed / 4 + self.deviation) / 2) as u64);
    }

    /// Jacobson's estimator in nanoseconds, plus a sixteenth.
    fn observe(&mut self, sample: Span) {
        let rtt = sample.0 as i64;
        if self.smoothed == 0 {
            self.begin(sample);
        }
        let error = rtt - self.smoothed / 8;
        self.smoothed += error;
        self.deviation += error.abs() - self.deviation / 4;
        let timeout = (self.smoothed / 4 + self.deviation) / 2;
        self.timeout = Span((timeout + timeout / 16).max(0) as u64);
    }
}

impl Tcp {
    #[inline(never)]
    pub(super) fn ns2_vegas_ack(
        &mut self,
        now: Instant,
        next: u32,
        early: u32,
        wire: &mut impl Wire,
    ) {
        if next > self.una {
            self.ns2_vegas_new_ack(now, next, early, wire);
        } else if next == self.una && self.una < self.max {
            self.duplicate_ack(now, early);
            self.ns2_vegas_duplicate(now, wire);
        }
        if self.dupacks == 0 || self.dupacks >= DUP_THRESHOLD {
            self.send_window(now, 0, wire);
        }
    }

    fn ns2_vegas_new_ack(&mut self, now: Instant, next: u32, early: u32, wire: &mut impl Wire) {
        if self.endpoint.rules.late_initial_window && self.una == self.first_data {
            self.core.on_recovered(Some(self.endpoint.initial_window));
        }
        let dupacks = self.dupacks;
        let sample = self.rtt_sample(now, next);
        let Repair::Ns2Vegas(vegas) = &mut self.repair else { return };
        if let Some(inflated) = vegas.inflated.take() {
            let deflate = dupacks > DUP_THRESHOLD && inflated > vegas.after_cut;
            let cwnd = if deflate { vegas.after_cut } else { inflated };
            if deflate && !vegas.cut {
                // The ssthresh that was kept goes with a later deflation.
                let (kind, lost) = (LossKind::Recovery, Bytes(self.mss));
                let flight = Bytes(cwnd);
                self.core.on_loss(&Loss { now, kind, lost, flight, again: false });
            } else if !deflate && vegas.cut {
                self.core.on_spurious_loss();
            }
            vegas.cut = false;
            self.core.on_recovered(Some(Bytes(cwnd)));
        }
        if let Some(sample) = sample {
            vegas.observe(sample);
        }
        let worried = vegas.worried;
        self.new_ack(now, next, early);
        if worried == 0 {
            return;
        }
        let expired = self.ns2_vegas_expired(now);
        let Repair::Ns2Vegas(vegas) = &mut self.repair else { return };
        vegas.worried = if expired { worried - 1 } else { 0 };
        if expired {
            self.dupacks = DUP_THRESHOLD;
            self.transmit(self.una, now, wire);
        }
    }

    fn ns2_vegas_duplicate(&mut self, now: Instant, wire: &mut impl Wire) {
        self.dupacks += 1;
        let expired = self.ns2_vegas_expired(now);
        let Repair::Ns2Vegas(vegas) = &mut self.repair else { return };
        if !expired && self.dupacks != DUP_THRESHOLD {
            if self.dupacks > DUP_THRESHOLD {
                let window = vegas.window(self.core.cwnd().0);
                vegas.inflated = Some(window + self.mss);
            }
            return;
        }
        if vegas.last_cut_was_timeout && self.recover > 0 && self.una <= self.recover {
            return;
        }
        vegas.last_cut_was_timeout = false;
        vegas.worried = (self.nxt - self.una + 1).min(WORRIED_ACKS);
        let resent = self.log.has(self.una, Mark::RESENT);
        vegas.timeout = if resent { vegas.timeout * 2 } else { vegas.timeout + vegas.timeout / 8 };
        let fresh = vegas.cut_at < self.log.sent_at(self.una);
        self.recover = self.max;
        if fresh {
            self.ns2_vegas_cut(now, resent);
        }
        self.rto.back_off(&self.core.view().rtt);
        self.rto.restart(now);
        self.rto.forget_timed();
        self.transmit(self.una, now, wire);
        if !resent {
            self.dupacks = DUP_THRESHOLD;
        }
    }

    fn ns2_vegas_cut(&mut self, now: Instant, again: bool) {
        let Repair::Ns2Vegas(vegas) = &mut self.repair else { return };
        let window = vegas.window(self.core.cwnd().0) / self.mss * self.mss;
        vegas.cut_at = now;
        self.core.on_recovered(None);
        let (kind, lost, flight) = (LossKind::Recovery, Bytes(self.mss), Bytes(window));
        let cut = self.core.on_loss(&Loss { now, kind, lost, flight, again });
        self.counts.cuts += u64::from(cut);
        self.counts.fast_retransmits += 1;
        let after_cut = self.core.cwnd().0;
        let Repair::Ns2Vegas(vegas) = &mut self.repair else { return };
        vegas.after_cut = after_cut;
        vegas.cut = true;
        vegas.inflated = Some(after_cut + u64::from(self.dupacks) * self.mss);
    }

    /// Whether the next packet's own timeout has passed. To that agent a packet never sent left a
    /// second before the connection was opened, so it is overdue, leaves, and counts as outside
    /// the window: the window then sends it again.
    fn ns2_vegas_expired(&self, now: Instant) -> bool {
        let Repair::Ns2Vegas(vegas) = &self.repair else { return false };
        let waited = if self.una < self.max {
            now.since(self.log.sent_at(self.una))
        } else {
            now.since(vegas.opened) + Span::from_secs(1)
        };
        self.una < self.limit && waited >= vegas.timeout
    }
}

/// ACKs after a fast retransmit on which the agent looks for another overdue packet.
const WORRIED_ACKS: u32 = 2;
