//! BBR's model of a path (draft-ietf-ccwg-bbr-06): bandwidth, rounds, how far ACKs run ahead, and
//! what a round loses.
//!
//! Published: all of it; comments give the draft's names. The smallest RTT is the connection's
//! here; ProbeBW has its own ([`super::bbr_rtt`]). Bandwidth is the maximum of two cycles of
//! ProbeBW, of which a start-up has none, so that it is the maximum since the model began there.

use crate::event::{Ack, Loss, RateSample};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::View;

/// What is known of the path.
#[derive(Clone, Copy, Debug)]
pub struct BbrModel {
    /// The largest rates of this cycle of ProbeBW and of the last (`BBR.max_bw_filter`).
    max_bw_filter: [Rate; 2],
    /// `BBR.round_count`.
    round_count: u64,
    /// The round ends when a packet is acknowledged that left after so much had been delivered
    /// (`BBR.next_round_delivered`).
    next_round_delivered: Bytes,
    /// What had been delivered when it began.
    delivered_before: Bytes,
    /// Payload found lost in it.
    lost: Bytes,
    /// In so many separate gaps.
    gaps: u64,
    /// Found at so many times.
    events: u64,
    /// When something was found lost last.
    lost_at: Option<Instant>,
    /// How far ACKs run ahead.
    aggregate: Aggregate,
}

/// How far ACKs run ahead of the bandwidth (`BBRUpdateACKAggregation`).
#[derive(Clone, Copy, Debug)]
struct Aggregate {
    /// `BBR.extra_acked_interval_start`.
    since: Instant,
    /// `BBR.extra_acked_delivered`.
    delivered: Bytes,
    /// The largest excess of this round and of those before it (`BBR.extra_acked_filter`).
    excess: [Bytes; EXCESS_ROUNDS],
    /// The largest of them.
    most: Bytes,
}

/// A round that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundEnd {
    /// Payload delivered in it.
    pub delivered: Bytes,
    /// Payload found lost in it.
    pub lost: Bytes,
    /// In so many separate gaps.
    pub gaps: u64,
    /// Found at so many times.
    pub events: u64,
}

impl BbrModel {
    /// Before anything is known.
    pub const NEW: Self = Self {
        max_bw_filter: [Rate(0); 2],
        round_count: 0,
        next_round_delivered: Bytes(0),
        delivered_before: Bytes(0),
        lost: Bytes(0),
        gaps: 0,
        events: 0,
        lost_at: None,
        aggregate: Aggregate {
            since: Instant(0),
            delivered: Bytes(0),
            excess: [Bytes(0); EXCESS_ROUNDS],
            most: Bytes(0),
        },
    };

    /// Counts an ACK; the round that it ends, if it ends one.
    pub fn on_ack(&mut self, ack: &Ack, view: &View) -> Option<RoundEnd> {
        if let Some(rate) = usable(ack, view) {
            self.take(rate, ack.sample.is_some_and(|sample| sample.app_limited));
        }
        self.count(ack, self.bandwidth(), view)
    }

    /// Counts an ACK but for its rate, where the path is believed to have this bandwidth
    /// (`BBR.bw`); the round that it ends, if it ends one.
    pub fn count(&mut self, ack: &Ack, bandwidth: Rate, view: &View) -> Option<RoundEnd> {
        self.aggregate.count(ack, bandwidth, view);
        // `UpdateRound` (section 5.5.1).
        ack.packet.filter(|packet| packet.delivered >= self.next_round_delivered)?;
        let delivered = view.delivered - self.delivered_before;
        let Self { lost, gaps, events, .. } = *self;
        let ended = RoundEnd { delivered, lost, gaps, events };
        self.next_round_delivered = view.delivered;
        self.delivered_before = view.delivered;
        self.round_count += 1;
        (self.lost, self.gaps, self.events, self.lost_at) = (Bytes(0), 0, 0, None);
        self.aggregate.end_round();
        Some(ended)
    }

    /// Takes in the rate of a sample, unless the source limited it below what is known
    /// (`UpdateMaxBw`).
    pub fn take(&mut self, rate: Rate, limited: bool) {
        // Section 5.5.5: a sample that the source limited counts only if it is no smaller.
        if rate >= self.bandwidth() || !limited {
            self.max_bw_filter[0] = self.max_bw_filter[0].max(rate);
        }
    }

    /// The path is believed to have this bandwidth, whatever was measured.
    pub fn replace(&mut self, rate: Rate) {
        self.max_bw_filter = [rate, Rate(0)];
    }

    /// A cycle of ProbeBW is over: its largest rate counts for one more (`AdvanceMaxBwFilter`).
    pub fn next_cycle(&mut self) {
        self.max_bw_filter = [Rate(0), self.max_bw_filter[0]];
    }

    /// A round begins now (`StartRound`).
    pub fn start_round(&mut self, view: &View) {
        self.next_round_delivered = view.delivered;
    }

    /// Counts what is found lost.
    pub fn on_loss(&mut self, loss: &Loss) {
        self.lost += loss.lost;
        self.gaps = self.gaps.saturating_add(u64::from(loss.gaps));
        if self.lost_at != Some(loss.now) {
            (self.events, self.lost_at) = (self.events + 1, Some(loss.now));
        }
    }

    /// The largest rate seen in two cycles (`BBR.max_bw`).
    pub fn bandwidth(&self) -> Rate {
        self.max_bw_filter[0].max(self.max_bw_filter[1])
    }

    /// That rate, once there is one.
    pub(crate) fn rate(&self) -> Option<Rate> {
        Some(self.bandwidth()).filter(|rate| *rate > Rate(0))
    }

    /// Rounds ended.
    pub fn rounds(&self) -> u64 {
        self.round_count
    }

    /// What the path holds without a queue (`BBR.bdp`), if anything is known.
    pub fn pipe(&self, view: &View) -> Option<Bytes> {
        let bandwidth = self.bandwidth();
        let known = bandwidth > Rate(0) && view.rtt.min != Span::MAX;
        known.then(|| bandwidth.over(view.rtt.min))
    }

    /// How far ACKs have run ahead in this round or the last (`BBR.extra_acked`).
    pub fn extra_acked(&self) -> Bytes {
        self.aggregate.excess[0].max(self.aggregate.excess[1])
    }

    /// How far they have run ahead in the last ten rounds, as it counts after Startup.
    pub fn extra_acked_long(&self) -> Bytes {
        self.aggregate.most
    }
}

/// The rate of an ACK's sample, if its time is no shorter than the path's (draft section 4.1.2.3).
pub fn usable(ack: &Ack, view: &View) -> Option<Rate> {
    let RateSample { delivered, interval, .. } = ack.sample?;
    (interval >= view.rtt.min).then(|| delivered.per(interval))
}

impl Aggregate {
    fn count(&mut self, ack: &Ack, bandwidth: Rate, view: &View) {
        // Section 5.5.9: what was delivered beyond `BBR.bw` times the interval, at most cwnd; the
        // interval begins anew when nothing is.
        let mut expected = bandwidth.over(ack.now.since(self.since));
        if self.delivered <= expected {
            (self.since, self.delivered, expected) = (ack.now, Bytes(0), Bytes(0));
        }
        self.delivered += ack.credited;
        let excess = (self.delivered - expected).min(view.window.cwnd);
        self.excess[0] = self.excess[0].max(excess);
        self.most = self.most.max(excess);
    }

    fn end_round(&mut self) {
        self.excess.rotate_right(1);
        self.excess[0] = Bytes(0);
        self.most = self.excess.iter().copied().max().unwrap_or_default();
    }
}

/// `BBR.ExtraAckedFilterLen`.
const EXCESS_ROUNDS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Departure;
    use crate::testing::{MSS, ack, view};

    fn sampled(view: &View, segments: u64, ms: u64, app_limited: bool) -> Ack {
        let interval = Span::from_millis(ms);
        let sample = RateSample { delivered: MSS * segments, interval, app_limited };
        Ack { sample: Some(sample), ..ack(view, 1) }
    }

    #[test]
    fn the_bandwidth_is_the_largest_sample_that_took_at_least_the_smallest_rtt() {
        let (mut model, view) = (BbrModel::NEW, view(10, Bytes::MAX));
        let mut after = |segments, ms, limited| {
            let _ = model.on_ack(&sampled(&view, segments, ms, limited), &view);
            model.bandwidth().0
        };
        assert_eq!(after(10, 100, false), 100_000);
        assert_eq!(after(50, 99, false), 100_000, "shorter than the path");
        assert_eq!(after(9, 100, false), 100_000);
        assert_eq!(after(9, 100, true), 100_000);
        assert_eq!(after(11, 100, true), 110_000, "limited by the source, and yet more");
        assert_eq!(model.pipe(&view), Some(MSS * 11));
        assert_eq!(BbrModel::NEW.pipe(&view), None);
    }

    #[test]
    fn a_round_ends_with_a_packet_that_left_after_it_began() {
        let (mut model, mut view) = (BbrModel::NEW, view(10, Bytes::MAX));
        let mut ends = |delivered, then| {
            view.delivered = MSS * delivered;
            let packet = Departure { sent_at: Instant(0), delivered: MSS * then, in_flight: MSS };
            let ack = Ack { packet: Some(packet), ..ack(&view, 1) };
            let ended = model.on_ack(&ack, &view);
            model.on_loss(&Loss::of(Instant(0), crate::event::LossKind::Recovery, MSS, MSS));
            ended
        };
        let round = |delivered, lost| {
            let events = u64::from(lost > 0);
            Some(RoundEnd { delivered: MSS * delivered, lost: MSS * lost, gaps: lost, events })
        };
        assert_eq!(ends(1, 0), round(1, 0));
        assert_eq!([ends(2, 0), ends(3, 0)], [None, None]);
        assert_eq!(ends(4, 1), round(3, 3));
        assert_eq!([ends(5, 3), ends(6, 4)], [None, round(2, 2)]);
        assert_eq!(model.rounds(), 3);
    }

    #[test]
    fn a_round_begun_by_the_policy_ends_with_a_packet_that_left_after_that() {
        let (mut model, mut view) = (BbrModel::NEW, view(10, Bytes::MAX));
        view.delivered = MSS * 5;
        model.start_round(&view);
        for (delivered, ends) in [(4, false), (5, true)] {
            let then =
                Departure { sent_at: Instant(0), delivered: MSS * delivered, in_flight: MSS };
            let ack = Ack { packet: Some(then), ..ack(&view, 1) };
            assert_eq!(model.on_ack(&ack, &view).is_some(), ends);
        }
    }

    #[test]
    fn acks_that_come_at_once_run_ahead_and_are_forgotten_after_a_round() {
        let (mut model, mut view) = (BbrModel::NEW, view(100, Bytes::MAX));
        view.now = Instant(1_000_000_000);
        // 1 MB/s, one segment a millisecond.
        let _ = model.on_ack(&sampled(&view, 100, 100, false), &view);
        view.now = view.now + Span::from_millis(20);
        let burst = Ack { credited: MSS * 20, ..ack(&view, 20) };
        let _ = model.on_ack(&burst, &view);
        let _ = model.on_ack(&burst, &view);
        assert_eq!(model.extra_acked(), MSS * 40, "a new interval began with the burst");
        for (segments, ahead) in [(1, 40), (2, 0)] {
            view.now = view.now + Span::from_millis(200);
            view.delivered += MSS * 50;
            let packet = Departure { sent_at: view.now, delivered: view.delivered, in_flight: MSS };
            let _ = model.on_ack(&Ack { packet: Some(packet), ..ack(&view, 1) }, &view);
            let found = model.extra_acked();
            assert!(if ahead == 0 { found <= MSS } else { found == MSS * ahead }, "{segments}");
        }
    }
}
