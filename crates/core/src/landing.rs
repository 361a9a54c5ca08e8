//! Landing by counting: after an overshoot the window comes down to a share of what the path
//! delivered of it, whatever was lost (draft-kazuho-ccwg-rapid-start section 3.3).
//!
//! With W0 the window before the loss, beta the share that is to be left and K a constant,
//!
//! ```text
//! first loss:  a = K (1 - beta);  cwnd = (beta + a) W0                     (section 3.3.1)
//! recovery:    cwnd -= a acked + (beta + a) lost;  cwnd >= least
//! ```
//!
//! If W0 was all in flight, `acked + lost` comes to W0 and cwnd to `beta acked`. The window first
//! falls by `1 - beta - a` only, so that sending pauses for a part of a round.
//!
//! Only what was outstanding when the recovery began counts. In QUIC nothing else can, because the
//! recovery period ends when a packet sent during it is acknowledged (RFC 9002 section 7.3.2); in
//! TCP recovery lasts until the last retransmission is acknowledged, and counting those would
//! subtract more than was sent. So a lost retransmission does not count, and once all of that data
//! is acknowledged or lost the window is held.

use crate::event::{Ack, Loss};
use crate::knob::RATIO_ONE;
use crate::units::Bytes;
use crate::view::{View, Window};

/// The window of a recovery that comes down by what is delivered and lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing {
    /// W0, in bytes.
    pub(crate) pre_recovery_cwnd: Bytes,
    /// Where it ends at the lowest: W0/6 in the draft.
    pub(crate) least: Bytes,
    /// What was in flight as the recovery began.
    pub(crate) outstanding: Bytes,
    /// What is left of what was delivered, in millionths.
    pub(crate) beta: u64,
    /// `K (1 - beta)`, in millionths.
    pub(crate) ack_factor: u64,
    /// The part of the outstanding data that has been acknowledged.
    pub(crate) acked: Bytes,
    /// The part of the outstanding data that has been lost.
    pub(crate) lost: Bytes,
}

impl Landing {
    /// The landing that a loss begins; K is a fraction.
    pub(crate) fn new(
        (pre_recovery_cwnd, least): (Bytes, Bytes),
        outstanding: Bytes,
        beta: u64,
        k: (u64, u64),
    ) -> Self {
        // Section 3.3.1: `ack_factor = K (1 - beta)`.
        let beta = beta.min(RATIO_ONE);
        let ack_factor = (RATIO_ONE - beta) * k.0 / k.1;
        let (acked, lost) = (Bytes(0), Bytes(0));
        Self { pre_recovery_cwnd, least, outstanding, beta, ack_factor, acked, lost }
    }

    /// The landing that `loss` begins from what is outstanding, and not from the window, which may
    /// be several times what ever arrived, as behind a policer. There the draft's least window,
    /// a sixth of W0, too may be several times what arrives in a round trip, and all of it is sent
    /// again and again until the recovery is over; so only [`LEAST_SEGMENTS`] stand in its place.
    pub(crate) fn from_outstanding(loss: &Loss, view: &View, beta: u64) -> Self {
        // draft-kazuho-ccwg-rapid-start section 3.3, with W0 and beta of ours.
        let outstanding = view.snd_nxt - view.acked;
        let least = view.mss * LEAST_SEGMENTS;
        let mut landing = Self::new((outstanding, least), outstanding, beta, K);
        landing.on_loss(&Loss { again: false, ..*loss });
        landing
    }

    /// The window by now, which never grows.
    pub(crate) fn window(&self, window: Window) -> Window {
        Window { cwnd: self.cwnd().min(window.cwnd), ..window }
    }

    /// The largest window that the path had room for, by where the landing ended.
    pub(crate) fn peak(&self, cwnd: Bytes) -> Option<Bytes> {
        let peak = self.cwnd().scaled(RATIO_ONE, self.beta).max(cwnd);
        // What saturates is no window.
        (peak < Bytes::MAX).then_some(peak)
    }

    /// What was outstanding and is neither acknowledged nor lost: no more counts.
    fn left(&self) -> Bytes {
        self.outstanding - (self.acked + self.lost)
    }

    /// An ACK of the recovery.
    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        // Section 3.3: `cwnd -= ack_factor * bytes_newly_acked`.
        self.acked += ack.credited.min(self.left());
    }

    /// The first loss, or a further one.
    pub(crate) fn on_loss(&mut self, loss: &Loss) {
        if !loss.again {
            // Section 3.3: `cwnd -= loss_factor * bytes_newly_lost`.
            self.lost += loss.lost.min(self.left());
        }
    }

    /// The window by now.
    pub(crate) fn cwnd(&self) -> Bytes {
        // Section 3.3.1: `silence_factor = loss_factor = beta + ack_factor`.
        let factor = self.beta + self.ack_factor;
        let off =
            self.acked.scaled(self.ack_factor, RATIO_ONE) + self.lost.scaled(factor, RATIO_ONE);
        (self.pre_recovery_cwnd.scaled(factor, RATIO_ONE) - off).max(self.least)
    }
}

/// What a landing from what is outstanding leaves of what arrived, in millionths: it arrived while
/// a queue was full, too.
pub(crate) const BETA: u64 = 850_000;
/// No landing leaves less: the loss of one packet is then still repaired without a timeout.
pub(crate) const LEAST_SEGMENTS: u64 = 4;
/// Rapid Start's K (draft-kazuho-ccwg-rapid-start section 3.3.1).
const K: (u64, u64) = (2, 3);
