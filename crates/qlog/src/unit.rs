//! The unit of a log's RTTs, checked against the log itself: an ACK comes an RTT after its packet,
//! and no RTT is longer than the log.

use std::collections::HashMap;

use crate::event::{PacketType, What};
use crate::head::Head;
use crate::survey::Units;

/// What a log's first events show of the unit of its RTTs.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitEvidence {
    /// When packets left whose ACK may come, milliseconds.
    sent: HashMap<(PacketType, u64), f64>,
    first_sent_ms: Option<f64>,
    first_answer_ms: Option<f64>,
    /// The shortest time from a packet to the ACK that names it.
    delay_ms: Option<f64>,
    /// The least RTT after the first answer, in the log's own unit, and the largest.
    least_rtt: Option<f64>,
    largest_rtt: f64,
    events: u64,
    last_ms: f64,
}

impl UnitEvidence {
    /// Whether enough was seen, so that events need not be read for it any more.
    pub(crate) fn is_enough(&self) -> bool {
        self.events >= ENOUGH
    }

    /// Takes what an event says, its RTTs in the log's own unit.
    pub(crate) fn take(&mut self, at_ms: f64, what: &What) {
        self.events += 1;
        self.last_ms = self.last_ms.max(at_ms);
        match what {
            What::Sent(packet) => {
                self.first_sent_ms.get_or_insert(at_ms);
                if let Some(number) = packet.number {
                    self.sent.insert((packet.packet_type, number), at_ms);
                }
            }
            What::Received(packet) => {
                if self.first_sent_ms.is_some() {
                    self.first_answer_ms.get_or_insert(at_ms);
                }
                // The newest packet that is acknowledged gives the sample (RFC 9002, section 5.1).
                let newest = packet.acked.iter().map(|(_, last)| *last).max();
                let sent = newest.and_then(|last| self.sent.get(&(packet.packet_type, last)));
                if let Some(delay) = sent.map(|sent_ms| at_ms - sent_ms).filter(|it| *it > 0.0) {
                    self.delay_ms = Some(self.delay_ms.map_or(delay, |least| least.min(delay)));
                }
            }
            What::Metrics(metrics) if self.first_answer_ms.is_some() => {
                let rtts = [metrics.latest_rtt_ms, metrics.min_rtt_ms, metrics.smoothed_rtt_ms];
                for rtt in rtts.into_iter().flatten().filter(|rtt| *rtt > 0.0) {
                    self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
                    self.largest_rtt = self.largest_rtt.max(rtt);
                }
            }
            _ => {}
        }
    }

    /// Takes the time of an event that is not read.
    pub(crate) fn until(&mut self, at_ms: f64) {
        self.last_ms = self.last_ms.max(at_ms);
    }

    /// The units of a trace: those of its head or else the usual ones, unless the log's own events
    /// contradict them and others fit.
    pub(crate) fn units(&self, head: &Head, first_ms: f64) -> Units {
        let assumed = Units { time: 1.0, rtt_to_ms: head.rtt_to_ms };
        let Some(rtt) = self.least_rtt else { return assumed };
        let distance = |measured: f64, unit: f64| (rtt * unit / measured).log10().abs();
        if let Some(delay) = self.delay_ms {
            if distance(delay, assumed.rtt_to_ms) <= FAR {
                return assumed;
            }
            let nearest = UNITS
                .into_iter()
                .min_by(|a, b| distance(delay, *a).total_cmp(&distance(delay, *b)));
            let rtt_to_ms = nearest.unwrap_or(assumed.rtt_to_ms);
            // Either the RTTs are in another unit, or the times: the RTT of a path decides.
            let times = UNITS
                .into_iter()
                .filter(|unit| *unit != 1.0)
                .find(|unit| distance(delay * unit, assumed.rtt_to_ms) <= FAR && !head.has_unit);
            return match times {
                Some(time)
                    if !OF_A_PATH.contains(&(rtt * rtt_to_ms))
                        && OF_A_PATH.contains(&(rtt * assumed.rtt_to_ms)) =>
                {
                    Units { time, ..assumed }
                }
                _ => Units { rtt_to_ms, ..assumed },
            };
        }
        let duration_ms = self.last_ms - first_ms;
        let answer = self.first_answer_ms.zip(self.first_sent_ms).map(|(back, left)| back - left);
        let answer = answer.filter(|answer| *answer > 0.0);
        let assumed_ms = rtt * assumed.rtt_to_ms;
        let doubtful = !OF_A_PATH.contains(&assumed_ms)
            && answer.is_some_and(|answer| distance(answer, assumed.rtt_to_ms) > FAR);
        if duration_ms <= 0.0 || (assumed_ms <= duration_ms && !doubtful) {
            return assumed;
        }
        let answer = answer.unwrap_or(duration_ms);
        let fitting = UNITS.into_iter().filter(|unit| rtt * unit <= duration_ms);
        let nearest = fitting.min_by(|a, b| distance(answer, *a).total_cmp(&distance(answer, *b)));
        Units { rtt_to_ms: nearest.unwrap_or(assumed.rtt_to_ms), ..assumed }
    }
}

/// Seconds, milliseconds, microseconds.
const UNITS: [f64; 3] = [1e3, 1.0, 1e-3];
/// The power of ten by which an RTT may be off the time to an ACK: half of what units are apart.
const FAR: f64 = 1.5;
/// RTTs of a path between two hosts, milliseconds.
const OF_A_PATH: std::ops::RangeInclusive<f64> = 0.1..=5000.0;
/// Events that show the unit: some hundred round trips of a small window.
const ENOUGH: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Metrics, Packet};
    use crate::head::Members;

    /// A log of one round trip of 40 ms, with the RTT that it records; `named` ACKs name packets.
    fn seen(rtt: f64, named: bool) -> UnitEvidence {
        let mut evidence = UnitEvidence::default();
        let packet = Packet { number: Some(3), ..Packet::default() };
        evidence.take(0.0, &What::Sent(packet));
        let acked = if named { vec![(0, 3)] } else { Vec::new() };
        evidence.take(40.0, &What::Received(Packet { acked, ..Packet::default() }));
        let metrics = Metrics { latest_rtt_ms: Some(rtt), ..Metrics::default() };
        evidence.take(40.0, &What::Metrics(metrics));
        evidence.take(240.0, &What::Lost(crate::Lost::default()));
        evidence
    }

    /// The factor of the times, and milliseconds per unit of the RTTs, where so many are assumed.
    fn units(evidence: &UnitEvidence, assumed: f64) -> (f64, f64) {
        let nothing = Members::default();
        let mut head = Head::new(&nothing, &nothing);
        head.rtt_to_ms = assumed;
        let units = evidence.units(&head, 0.0);
        (units.time, units.rtt_to_ms)
    }

    #[test]
    fn the_time_to_an_ack_tells_the_unit_whatever_was_assumed() {
        for assumed in UNITS {
            assert_eq!(units(&seen(40.2, true), assumed), (1.0, 1.0));
        }
        assert_eq!(units(&seen(0.0402, true), 1.0), (1.0, 1e3));
        assert_eq!(units(&seen(40_200.0, true), 1.0), (1.0, 1e-3));
    }

    #[test]
    fn times_in_another_unit_are_known_by_an_rtt_that_no_path_has() {
        let mut microseconds = UnitEvidence::default();
        let packet = Packet { number: Some(3), ..Packet::default() };
        microseconds.take(0.0, &What::Sent(packet));
        let answer = Packet { acked: vec![(0, 3)], ..Packet::default() };
        microseconds.take(40_000.0, &What::Received(answer));
        let metrics = Metrics { latest_rtt_ms: Some(40.2), ..Metrics::default() };
        microseconds.take(40_000.0, &What::Metrics(metrics));
        assert_eq!(units(&microseconds, 1.0), (1e-3, 1.0));
    }

    #[test]
    fn without_it_no_rtt_is_longer_than_the_log() {
        assert_eq!(units(&seen(40.2, false), 1e3), (1.0, 1.0));
        assert_eq!(units(&seen(40_200.0, false), 1.0), (1.0, 1e-3));
        // What does not contradict the log is believed.
        assert_eq!(units(&seen(0.0402, false), 1e3), (1.0, 1e3));
        assert_eq!(units(&seen(1.4, false), 1.0), (1.0, 1.0));
        // An RTT that no path has is, where the first answer took another time.
        assert_eq!(units(&seen(0.0402, false), 1.0), (1.0, 1e3));
    }
}
