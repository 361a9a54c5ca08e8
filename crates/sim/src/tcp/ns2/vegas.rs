//! Retransmission as ns-2.35's Vegas agent does it.
//!
//! A fine-grained timeout per packet is checked on duplicate ACKs and on the two ACKs after a
//! retransmission; the window is cut only for packets sent since the last cut, and is inflated by
//! duplicate ACKs. After an ordinary recovery it falls back to what the cut left, but when fewer
//! than four duplicates came it keeps the inflation and the ssthresh from before, as that agent
//! does: slow start then goes on.

use firstflight_core::event::{Loss, LossKind};
use firstflight_core::units::{Bytes, Instant, Span};

use crate::tcp::log::Mark;
use crate::tcp::repair::{DataAck, Repair};
use crate::tcp::tcb::Tcb;
use crate::tcp::{DUP_THRESHOLD, Gaps, Wire};

#[derive(Debug, Default)]
pub(in crate::tcp) struct Ns2Vegas {
    /// The smoothed RTT times 8, in nanoseconds.
    smoothed: i64,
    /// The mean deviation times 4, in nanoseconds.
    deviation: i64,
    /// The fine-grained timeout.
    timeout: Span,
    /// The window while duplicate ACKs inflate it, in bytes.
    inflated: Option<u64>,
    /// What the last cut left, in bytes.
    after_cut: u64,
    /// When that was.
    cut_at: Instant,
    /// ACKs on which the next packet's timeout is still to be checked.
    acks_to_check: u32,
    /// The window was cut and nothing new has been acknowledged since.
    cut: bool,
    /// When the connection was opened.
    opened: Instant,
    /// The last cut was for a timeout.
    last_cut_was_timeout: bool,
}

impl Ns2Vegas {
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

    fn inflated(&self, cwnd: u64) -> u64 {
        self.inflated.unwrap_or(cwnd)
    }

    fn on_new_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, early, .. } = ack;
        if tcb.endpoint.rules.late_initial_window && tcb.una == tcb.first_data {
            tcb.core.set_window(tcb.endpoint.initial_window);
        }
        let dupacks = tcb.dupacks;
        let sample = tcb.rtt_sample(now, next);
        if let Some(inflated) = self.inflated.take() {
            // `VegasTcpAgent::recv` (`tcp-vegas.cc`): back to the window of the cut, but not where
            // fewer than four duplicates came.
            let deflate = dupacks > DUP_THRESHOLD && inflated > self.after_cut;
            match (deflate, self.cut) {
                (true, false) => self.cut_again(tcb, now),
                (false, true) => undo_cut(tcb),
                _ => {}
            }
            self.cut = false;
            let cwnd = if deflate { self.after_cut } else { inflated };
            tcb.core.on_recovered(Some(Bytes(cwnd)));
        }
        if let Some(sample) = sample {
            self.observe(sample);
        }
        tcb.new_ack(self, now, next, early);
        if self.acks_to_check == 0 {
            return;
        }
        let expired = self.has_expired(tcb, now);
        self.acks_to_check = if expired { self.acks_to_check - 1 } else { 0 };
        if expired {
            tcb.dupacks = DUP_THRESHOLD;
            tcb.transmit(self, tcb.una, now, wire);
        }
    }

    fn on_duplicate(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        tcb.dupacks += 1;
        let expired = self.has_expired(tcb, now);
        if !expired && tcb.dupacks != DUP_THRESHOLD {
            if tcb.dupacks > DUP_THRESHOLD {
                self.inflated = Some(self.inflated(tcb.core.cwnd().0) + tcb.mss);
            }
            return;
        }
        if self.last_cut_was_timeout && tcb.recover > 0 && tcb.una <= tcb.recover {
            return;
        }
        self.last_cut_was_timeout = false;
        self.acks_to_check = (tcb.nxt - tcb.una + 1).min(ACKS_TO_CHECK);
        let resent = tcb.log.has(tcb.una, Mark::RESENT);
        self.timeout = if resent { self.timeout * 2 } else { self.timeout + self.timeout / 8 };
        // Only what was sent after the last cut cuts again (Brakmo and others, 1994, section 3.1).
        let fresh = self.cut_at < tcb.log.sent_at(tcb.una);
        tcb.recover = tcb.max;
        if fresh {
            self.cut(tcb, now, resent);
        }
        tcb.rto.back_off(&tcb.core.view().rtt);
        tcb.rto.restart(now);
        tcb.rto.forget_timed();
        tcb.transmit(self, tcb.una, now, wire);
        if !resent {
            tcb.dupacks = DUP_THRESHOLD;
        }
    }

    fn cut(&mut self, tcb: &mut Tcb, now: Instant, again: bool) {
        let window = self.inflated(tcb.core.cwnd().0) / tcb.mss * tcb.mss;
        self.cut_at = now;
        tcb.core.on_recovered(None);
        let (kind, lost, flight) = (LossKind::Recovery, Bytes(tcb.mss), Bytes(window));
        let cut = tcb.core.on_loss(&Loss { again, ..Loss::of(now, kind, lost, flight) });
        tcb.counts.cuts += u64::from(cut);
        tcb.counts.fast_retransmits += 1;
        self.after_cut = tcb.core.cwnd().0;
        self.cut = true;
        self.inflated = Some(self.after_cut + u64::from(tcb.dupacks) * tcb.mss);
    }

    /// The window falls to what the last cut left, although that cut has been taken back: ssthresh
    /// goes down with it.
    fn cut_again(&self, tcb: &mut Tcb, now: Instant) {
        let (kind, lost, flight) = (LossKind::Recovery, Bytes(tcb.mss), Bytes(self.after_cut));
        tcb.core.on_loss(&Loss::of(now, kind, lost, flight));
    }

    /// Whether the next packet's own timeout has passed. To that agent a packet never sent left a
    /// second before the connection was opened, so it is overdue, leaves, and counts as outside
    /// the window: the window then sends it again.
    fn has_expired(&self, tcb: &Tcb, now: Instant) -> bool {
        let waited = if tcb.una < tcb.max {
            now.since(tcb.log.sent_at(tcb.una))
        } else {
            now.since(self.opened) + Span::from_secs(1)
        };
        tcb.una < tcb.limit && waited >= self.timeout
    }
}

impl Repair for Ns2Vegas {
    #[inline(never)]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, early, .. } = ack;
        if next > tcb.una {
            self.on_new_ack(tcb, ack, wire);
        } else if next == tcb.una && tcb.una < tcb.max {
            tcb.duplicate_ack(self, now, early);
            self.on_duplicate(tcb, now, wire);
        }
        if tcb.dupacks == 0 || tcb.dupacks >= DUP_THRESHOLD {
            tcb.send_window(self, now, 0, wire);
        }
    }

    fn on_timeout(&mut self, tcb: &mut Tcb, now: Instant, _handshake: bool) -> Gaps {
        if let Some(cwnd) = self.inflated.take() {
            tcb.core.on_recovered(Some(Bytes(cwnd)));
        }
        self.after_cut = 0;
        self.cut = false;
        self.cut_at = now;
        self.last_cut_was_timeout = true;
        Gaps::ONE
    }

    fn window(&self, tcb: &Tcb) -> u64 {
        self.inflated(tcb.core.cwnd().0)
    }

    /// The agent counts time from its SYN and takes a send time of 0 for "not sent", so its SYN is
    /// no sample of the RTT, but where its own estimator begins.
    fn on_syn_answered(&mut self, at: Instant, rtt: Span) -> bool {
        self.opened = at;
        self.begin(rtt);
        false
    }

    /// The agent begins every slow start with two packets, the SYN being one of them.
    fn packets_after_syn_timeout(&self) -> Option<u32> {
        Some(2)
    }
}

/// The window keeps its inflation, and ssthresh what it was before the cut, as after a loss that
/// was none.
fn undo_cut(tcb: &mut Tcb) {
    tcb.core.on_spurious_loss();
}

/// ACKs after a fast retransmit on which the agent looks for another overdue packet.
const ACKS_TO_CHECK: u32 = 2;
