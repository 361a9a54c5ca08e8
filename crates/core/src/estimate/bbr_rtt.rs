//! BBR's smallest RTT and its ProbeRTT schedule (draft-ietf-ccwg-bbr-06 section 5.3.4.3): the
//! smallest sample of ten seconds, and, if none of the last five seconds was as small, a time of
//! little in flight that shows the path without a queue.

use crate::event::Ack;
use crate::units::{Bytes, Instant, Span};

/// The smallest RTT, and when to look for it with little in flight.
#[derive(Clone, Copy, Debug)]
pub struct BbrRtt {
    /// `BBR.min_rtt`.
    min_rtt: Span,
    /// When it was seen (`BBR.min_rtt_stamp`).
    min_rtt_stamp: Instant,
    /// `BBR.probe_rtt_min_delay`.
    probe_rtt_min_delay: Span,
    /// When it was seen (`BBR.probe_rtt_min_stamp`).
    probe_rtt_min_stamp: Instant,
    /// `BBR.probe_rtt_expired`: five seconds without as small a sample.
    probe_rtt_expired: bool,
    /// `BBR.probe_rtt_done_stamp`, `BBR.probe_rtt_round_done`.
    probe: Probe,
    /// When an ACK left nothing in flight.
    empty_since: Option<Instant>,
    /// The ACK at hand is the first of what left after silence (`BBR.idle_restart`).
    idle_restart: bool,
}

/// How far ProbeRTT has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    No,
    /// The flight is still larger than it shall be.
    Falling,
    /// The flight is small, until that time, and until a round has ended.
    Low {
        until: Instant,
        round: bool,
    },
}

/// What becomes of a ProbeRTT with an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeStep {
    /// It goes on.
    On,
    /// The flight has become small: a round begins.
    Low,
    /// It is over.
    Done,
}

impl BbrRtt {
    /// Before the first sample.
    pub const NEW: Self = Self {
        min_rtt: Span::MAX,
        min_rtt_stamp: Instant(0),
        probe_rtt_min_delay: Span::MAX,
        probe_rtt_min_stamp: Instant(0),
        probe_rtt_expired: false,
        probe: Probe::No,
        empty_since: None,
        idle_restart: false,
    };

    /// Takes in the sample of an ACK, if it has one (`UpdateMinRTT`).
    pub fn on_ack(&mut self, rtt: Option<Span>, now: Instant) {
        // The smallest of five seconds, and with it that of ten.
        self.probe_rtt_expired =
            self.probe_rtt_min_delay != Span::MAX && now.since(self.probe_rtt_min_stamp) > INTERVAL;
        if let Some(rtt) =
            rtt.filter(|rtt| *rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, now);
        }
        if self.probe_rtt_min_delay < self.min_rtt || now.since(self.min_rtt_stamp) > FILTER {
            (self.min_rtt, self.min_rtt_stamp) =
                (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
        }
    }

    /// The smallest RTT; [`Span::MAX`] before the first sample.
    pub fn min(&self) -> Span {
        self.min_rtt
    }

    /// Notes whether an ACK is the first after silence: its packet left after an ACK that had left
    /// nothing in flight, and `limited`, the source had had nothing to send (section 5.4.1).
    pub fn note_restart(&mut self, ack: &Ack, limited: bool) {
        let left = ack.packet.zip(self.empty_since);
        self.idle_restart = limited && left.is_some_and(|(packet, since)| packet.sent_at > since);
        self.empty_since = (ack.in_flight == Bytes(0)).then_some(ack.now);
    }

    /// Whether ProbeRTT is due: the path has not shown as small an RTT for five seconds, and no
    /// silence has drained the queue.
    pub fn is_due(&self) -> bool {
        self.probe_rtt_expired && !self.idle_restart
    }

    /// Whether ProbeRTT is under way.
    pub fn probes(&self) -> bool {
        self.probe != Probe::No
    }

    /// ProbeRTT begins.
    pub fn begin(&mut self) {
        self.probe = Probe::Falling;
    }

    /// ProbeRTT is given up, as by a timeout.
    pub fn abandon(&mut self) {
        self.probe = Probe::No;
    }

    /// What an ACK means for a ProbeRTT that lets at most `most` be in flight
    /// (`HandleProbeRTT`, `CheckProbeRTTDone`).
    pub fn probe(
        &mut self,
        in_flight: Bytes,
        most: Bytes,
        ends_round: bool,
        now: Instant,
    ) -> ProbeStep {
        match self.probe {
            // `HandleProbeRTT`: 200 ms and a round, counted from when the flight is small enough.
            Probe::Falling if in_flight <= most => {
                self.probe = Probe::Low { until: now + DURATION, round: false };
                ProbeStep::Low
            }
            Probe::Low { until, round } => {
                let round = round || ends_round;
                self.probe = Probe::Low { until, round };
                if round && self.ends(now) { ProbeStep::Done } else { ProbeStep::On }
            }
            _ => ProbeStep::On,
        }
    }

    /// Whether a ProbeRTT ends whose flight has been small for long enough (`CheckProbeRTTDone`).
    /// The next is due five seconds from now.
    pub fn ends(&mut self, now: Instant) -> bool {
        let ends = matches!(self.probe, Probe::Low { until, .. } if now > until);
        if ends {
            (self.probe, self.probe_rtt_min_stamp) = (Probe::No, now);
        }
        ends
    }
}

/// `BBR.ProbeRTTInterval`.
const INTERVAL: Span = Span::from_secs(5);

/// `BBR.MinRTTFilterLen`.
const FILTER: Span = Span::from_secs(10);

/// `BBR.ProbeRTTDuration`.
const DURATION: Span = Span::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Departure;

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    fn rtt(ms: u64) -> Option<Span> {
        Some(Span::from_millis(ms))
    }

    #[test]
    fn a_larger_rtt_counts_once_the_smaller_one_is_ten_seconds_old() {
        let mut filter = BbrRtt::NEW;
        filter.on_ack(rtt(50), at(0));
        let mut after = |ms, sample| {
            filter.on_ack(rtt(sample), at(ms));
            (filter.min().0 / 1_000_000, filter.is_due())
        };
        assert_eq!(after(5_000, 60), (50, false));
        assert_eq!(after(5_001, 60), (50, true));
        assert_eq!(after(5_002, 61), (50, false), "60 ms are the recent smallest now");
        assert_eq!(after(10_000, 70), (50, false));
        assert_eq!(after(10_001, 70), (60, false));
        assert_eq!(after(10_002, 40), (40, true), "60 ms were five seconds old");
    }

    /// `UpdateMinRTT` takes a smaller delay, not one as small: the first 50 ms are ten seconds old.
    #[test]
    fn an_equal_rtt_does_not_make_the_smallest_younger() {
        let mut filter = BbrRtt::NEW;
        for (ms, sample, smallest) in [(0, 50, 50), (5_001, 50, 50), (10_002, 70, 70)] {
            filter.on_ack(rtt(sample), at(ms));
            assert_eq!(Some(filter.min()), rtt(smallest));
        }
    }

    /// `HandleRestartFromIdle`: silence of the source has drained the queue.
    #[test]
    fn a_packet_that_left_after_silence_of_the_source_makes_no_probe_due() {
        for (sent, limited, due) in [(11, true, false), (10, true, true), (11, false, true)] {
            let mut filter = BbrRtt { probe_rtt_expired: true, ..BbrRtt::NEW };
            let mut is_due = |sent, in_flight, limited| {
                let packet = Departure { sent_at: Instant(sent), ..Departure::default() };
                let (packet, in_flight) = (Some(packet), Bytes(in_flight));
                let ack = Ack { now: Instant(10), packet, in_flight, ..Ack::default() };
                filter.note_restart(&ack, limited);
                filter.is_due()
            };
            assert!(is_due(9, 0, true), "nothing was silent before");
            assert_eq!(is_due(sent, 1, limited), due);
            assert!(is_due(12, 1, true), "something was in flight");
        }
    }

    #[test]
    fn without_a_sample_nothing_expires() {
        let mut filter = BbrRtt::NEW;
        filter.on_ack(None, at(60_000));
        assert_eq!((filter.min(), filter.is_due()), (Span::MAX, false));
    }

    #[test]
    fn a_probe_lasts_200_ms_of_little_in_flight_and_a_round() {
        let mut filter = BbrRtt::NEW;
        filter.on_ack(rtt(50), at(0));
        filter.on_ack(rtt(60), at(6_000));
        filter.begin();
        let mut after =
            |ms, in_flight, round| filter.probe(Bytes(in_flight), Bytes(10), round, at(ms));
        assert_eq!(after(6_000, 11, true), ProbeStep::On);
        assert_eq!(after(6_050, 10, true), ProbeStep::Low);
        assert_eq!(after(6_250, 10, true), ProbeStep::On, "not more than 200 ms");
        assert_eq!(after(6_251, 10, false), ProbeStep::Done);
        assert!(!filter.probes());
        filter.begin();
        let mut after = |ms, round| filter.probe(Bytes(0), Bytes(10), round, at(ms));
        assert_eq!([after(7_000, false), after(8_000, false)], [ProbeStep::Low, ProbeStep::On]);
        assert_eq!(after(8_001, true), ProbeStep::Done);
        filter.on_ack(rtt(70), at(13_001));
        assert!(!filter.is_due(), "the next is due five seconds after the last");
        filter.begin();
        filter.abandon();
        assert!(!filter.probes());
    }
}
