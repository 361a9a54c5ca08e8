//! What noq reports and quinn does not.

use std::time::{Duration, Instant};

use noq_proto::congestion::Controller as _;

use super::*;

const MTU: u16 = 1_200;
const PACKET: u64 = MTU as u64;

/// A controller that has sent packets of these numbers at its beginning.
struct Path {
    controller: Controller,
    zero: Instant,
}

impl Path {
    fn new(control_name: &str, packets: u64) -> Self {
        let zero = Instant::now();
        let mut controller = control(control_name).unwrap().controller(zero, MTU);
        (0..packets).for_each(|number| controller.on_packet_sent(zero, MTU, number));
        Self { controller, zero }
    }

    fn at(&self, ms: u64) -> Instant {
        self.zero + Duration::from_millis(ms)
    }

    /// One ACK frame for so many packets that left at the beginning.
    fn ack(&mut self, ms: u64, packets: u64, in_flight: u64) {
        (0..packets).for_each(|_| self.controller.acknowledged(self.zero, PACKET));
        self.controller.on_end_acks(self.at(ms), in_flight * PACKET, false, None);
    }

    fn lose(&mut self, ms: u64, numbers: &[u64]) {
        let now = self.at(ms);
        numbers.iter().for_each(|number| self.controller.on_packet_lost(MTU, *number, now));
        let (bytes, last) = (numbers.len() as u64 * PACKET, numbers[numbers.len() - 1]);
        self.controller.on_congestion_event(now, self.zero, false, false, bytes, last);
    }

    fn mark(&mut self, ms: u64) {
        self.controller.on_congestion_event(self.at(ms), self.zero, false, true, 0, 0);
    }

    fn cwnd(&self) -> u64 {
        self.controller.window() / PACKET
    }
}

#[test]
fn runs_of_numbers_that_were_lost_are_the_gaps_of_a_loss() {
    let mut noq = Noq::default();
    let mut gaps = |numbers: &[u64]| {
        numbers.iter().for_each(|number| noq.note_lost(*number));
        noq.take_gaps()
    };
    assert_eq!(gaps(&[4]), 1);
    assert_eq!(gaps(&[5, 6, 9, 11, 12]), 3, "the first goes on what an earlier loss ended with");
}

#[test]
fn a_loss_that_was_none_is_undone_once_and_a_mark_is_not() {
    let mut path = Path::new("newreno", 10);
    path.lose(100, &[0]);
    assert_eq!(path.cwnd(), 5);
    path.controller.on_spurious_congestion_event();
    assert_eq!(path.cwnd(), 10);
    let mut path = Path::new("newreno", 10);
    path.mark(100);
    path.controller.on_packet_lost(0, 3, path.at(101));
    path.controller.on_spurious_congestion_event();
    assert_eq!(path.cwnd(), 5, "only packets without bytes were none");
}

#[test]
fn a_mark_between_the_packets_of_a_loss_and_its_event_leaves_them() {
    let mut path = Path::new("newreno", 10);
    path.controller.on_packet_lost(MTU, 2, path.at(100));
    path.mark(100);
    assert_eq!(path.controller.stack.take_gaps(), 1);
}

#[test]
fn the_window_is_cwnd_and_the_pacers_rate_is_the_controls() {
    let mut plain = Path::new("newreno", 10);
    assert_eq!(plain.controller.window(), 12_000);
    plain.ack(100, 10, 0);
    assert_eq!(plain.controller.metrics().pacing_rate, None);
    let mut paced = Path::new("paced", 10);
    paced.ack(100, 10, 0);
    let rate = paced.controller.sender().pacing().unwrap().rate.0;
    assert!(rate > 0);
    assert_eq!(paced.controller.metrics().pacing_rate, Some(rate));
}

#[test]
fn each_packet_is_reported_as_it_is_whatever_its_size() {
    let mut path = Path::new("search", 0);
    path.controller.on_packet_sent(path.zero, 1_452, 0);
    path.controller.on_packet_sent(path.zero, 40, 1);
    assert_eq!(path.controller.sender().view().sent.0, 1_492);
    path.controller.on_sent(path.zero, 9_000, 1);
    assert_eq!(path.controller.sender().view().sent.0, 1_492, "a transmission is its packets");
}

#[test]
fn what_noq_lacks_is_named() {
    let missing = |name: &str| control(name).unwrap().missing();
    assert_eq!(missing("bbr"), Facilities::NONE);
    assert_eq!(missing("careful-resume"), Facilities::WAKE_UPS | Facilities::MEMORY);
    let refused = control("prague").unwrap_err().to_string();
    assert!(refused.contains("which noq does not provide"), "{refused}");
}
