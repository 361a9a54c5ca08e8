//! BBR's short-term model (draft-ietf-ccwg-bbr-06 section 5.5.10.3): rate and flight that the path
//! has delivered lately while packets were lost.
//!
//! A round in which something was lost lowers both to what it delivered, but to no less than beta
//! of what they were. A round with congestion marks, which take nothing from what is delivered,
//! leaves beta of them. Before the first such round, and again with every probe for bandwidth,
//! there is no bound.

use crate::event::Ack;
use crate::knob::RATIO_ONE;
use crate::units::{Bytes, Rate};
use crate::view::View;

/// What lately was delivered, and the bounds made of it.
#[derive(Clone, Copy, Debug)]
pub struct BbrBounds {
    /// `BBR.bw_shortterm`; [`Rate::MAX`] for none.
    pub rate: Rate,
    /// `BBR.inflight_shortterm`; [`Bytes::MAX`] for none.
    pub in_flight: Bytes,
    /// The largest delivery rate, and the most bytes delivered over one sample, of this round
    /// (`BBR.bw_latest`, `BBR.inflight_latest`).
    latest: (Rate, Bytes),
    /// Both numbers as the newest ACK has them.
    newest: (Rate, Bytes),
    /// `BBR.loss_round_delivered`.
    loss_round_delivered: Bytes,
    /// `BBR.loss_round_start`.
    loss_round_start: bool,
    /// `BBR.is_loss_in_round`.
    is_loss_in_round: bool,
    /// What counts as a loss of the round was a mark.
    marked: bool,
}

impl BbrBounds {
    /// Without bounds, before anything is known.
    pub const NONE: Self = Self {
        rate: Rate::MAX,
        in_flight: Bytes::MAX,
        latest: (Rate(0), Bytes(0)),
        newest: (Rate(0), Bytes(0)),
        loss_round_delivered: Bytes(0),
        loss_round_start: false,
        is_loss_in_round: false,
        marked: false,
    };

    /// Takes in an ACK whose sample has that rate, zero for none (`UpdateLatestDeliverySignals`).
    pub fn on_ack(&mut self, ack: &Ack, rate: Rate, view: &View) {
        self.newest = (rate, ack.sample.map_or(Bytes(0), |sample| sample.delivered));
        self.latest = (self.latest.0.max(self.newest.0), self.latest.1.max(self.newest.1));
        self.loss_round_start =
            ack.packet.is_some_and(|packet| packet.delivered >= self.loss_round_delivered);
        if self.loss_round_start {
            self.loss_round_delivered = view.delivered;
        }
    }

    /// Something was found lost (`NoteLoss`), or was marked.
    pub fn on_loss(&mut self, marked: bool, view: &View) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = view.delivered;
        }
        self.is_loss_in_round = true;
        self.marked |= marked;
    }

    /// At the end of a round: if it lost something and the policy does not probe, lowers the
    /// bounds, which begin at the rate and the window of before (`AdaptLowerBoundsFromCongestion`).
    pub fn adapt(&mut self, probes: bool, (rate, cwnd): (Rate, Bytes), beta: u64) {
        if !self.loss_round_start {
            return;
        }
        // `InitLowerBounds`, `LossLowerBounds`. Ours: a round with marks leaves beta, as nothing
        // that it delivered shows how much is too much.
        if self.is_loss_in_round && !probes {
            let rate = if self.rate == Rate::MAX { rate } else { self.rate };
            let in_flight = if self.in_flight == Bytes::MAX { cwnd } else { self.in_flight };
            let (delivered, flown) = if self.marked { NOTHING } else { self.latest };
            self.rate = delivered.max(rate.scaled(beta, RATIO_ONE));
            self.in_flight = flown.max(in_flight.scaled(beta, RATIO_ONE));
        }
        (self.is_loss_in_round, self.marked) = (false, false);
    }

    /// The ACK is done with: after the first of a round its sample alone is the latest
    /// (`AdvanceLatestDeliverySignals`).
    pub fn advance(&mut self) {
        if self.loss_round_start {
            self.latest = self.newest;
        }
    }

    /// What the path has delivered lately within a round trip (`BBR.inflight_latest`).
    pub fn delivered_lately(&self) -> Bytes {
        self.latest.1
    }

    /// Forgets what was delivered and lost lately (`ResetCongestionSignals`).
    pub fn forget_signals(&mut self) {
        (self.is_loss_in_round, self.marked, self.latest) = (false, false, NOTHING);
    }

    /// Lifts the bounds (`ResetShortTermModel`).
    pub fn lift(&mut self) {
        (self.rate, self.in_flight) = (Rate::MAX, Bytes::MAX);
    }
}

const NOTHING: (Rate, Bytes) = (Rate(0), Bytes(0));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Departure, RateSample};
    use crate::testing::{MSS, ack, view};
    use crate::units::{Instant, Span};

    const BETA: u64 = 700_000;
    const BEFORE: (Rate, Bytes) = (Rate(1_000_000), Bytes(200_000));

    /// An ACK that ends a round, of so many segments in 100 ms.
    fn round(bounds: &mut BbrBounds, view: &mut View, segments: u64) {
        let delivered = view.delivered;
        view.delivered += MSS * segments;
        let (interval, app_limited) = (Span::from_millis(100), false);
        let sample = RateSample { delivered: MSS * segments, interval, app_limited };
        let packet = Departure { sent_at: Instant(0), delivered, in_flight: MSS };
        let ack = Ack { sample: Some(sample), packet: Some(packet), ..ack(view, segments) };
        bounds.on_ack(&ack, (MSS * segments).per(interval), view);
    }

    #[test]
    fn a_lossy_round_lowers_to_what_it_delivered_and_at_most_by_beta() {
        let (mut bounds, mut view) = (BbrBounds::NONE, view(200, Bytes::MAX));
        for (delivered, rate, in_flight) in [(90, 900_000, 140_000), (30, 630_000, 98_000)] {
            bounds.on_loss(false, &view);
            round(&mut bounds, &mut view, delivered);
            bounds.adapt(false, BEFORE, BETA);
            bounds.advance();
            assert_eq!((bounds.rate, bounds.in_flight), (Rate(rate), Bytes(in_flight)));
            assert_eq!(bounds.delivered_lately(), MSS * delivered);
            // What the first of a round shows is known in the next.
            bounds.forget_signals();
        }
        bounds.lift();
        assert_eq!((bounds.rate, bounds.in_flight), (Rate::MAX, Bytes::MAX));
    }

    #[test]
    fn a_round_without_loss_or_of_a_probe_changes_nothing() {
        let (mut bounds, mut view) = (BbrBounds::NONE, view(200, Bytes::MAX));
        round(&mut bounds, &mut view, 90);
        bounds.adapt(false, BEFORE, BETA);
        bounds.on_loss(false, &view);
        round(&mut bounds, &mut view, 90);
        bounds.adapt(true, BEFORE, BETA);
        assert_eq!((bounds.rate, bounds.in_flight), (Rate::MAX, Bytes::MAX));
        round(&mut bounds, &mut view, 90);
        bounds.adapt(false, BEFORE, BETA);
        assert_eq!(bounds.rate, Rate::MAX, "the loss belonged to the probe's round");
    }

    #[test]
    fn a_marked_round_leaves_beta_whatever_it_delivered() {
        let (mut bounds, mut view) = (BbrBounds::NONE, view(200, Bytes::MAX));
        bounds.on_loss(true, &view);
        round(&mut bounds, &mut view, 90);
        bounds.adapt(false, BEFORE, BETA);
        assert_eq!((bounds.rate, bounds.in_flight), (Rate(700_000), Bytes(140_000)));
    }

    #[test]
    fn a_round_of_losses_begins_with_its_first() {
        let (mut bounds, mut view) = (BbrBounds::NONE, view(200, Bytes::MAX));
        view.delivered = MSS * 50;
        bounds.on_loss(false, &view);
        let packet = |delivered| Departure { sent_at: Instant(0), delivered, in_flight: MSS };
        for (then, lowered) in [(MSS * 49, false), (MSS * 50, true)] {
            let ack = Ack { packet: Some(packet(then)), ..ack(&view, 1) };
            bounds.on_ack(&ack, Rate(0), &view);
            bounds.adapt(false, BEFORE, BETA);
            assert_eq!(bounds.rate < Rate::MAX, lowered);
        }
    }
}
