//! An ACK frame of QUIC becomes ACKs, packet by packet.

use firstflight_core::avoidance::NewReno;
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::frame::{Count, Frame, Period, Reports};
use firstflight_core::pair::Pair;
use firstflight_core::sender::Sender;
use firstflight_core::startup::SlowStart;
use firstflight_core::units::{Bytes, Instant, Span};

use crate::contract::support::{MSS, config};

type Both = Pair<SlowStart, NewReno>;

/// What leaves is numbered; the period and packets are told apart by these numbers.
struct Line {
    sender: Sender<Both>,
    period: Period<u64>,
    reports: Vec<Ack>,
    /// The next ACK begins another period, as one with marks does.
    begins: Option<u64>,
}

impl Reports<u64> for Line {
    type Policies = Both;

    fn sender(&mut self) -> &mut Sender<Both> {
        &mut self.sender
    }

    fn period(&mut self) -> &mut Period<u64> {
        &mut self.period
    }

    fn report(&mut self, ack: &Ack) {
        self.reports.push(*ack);
        self.sender.on_ack(ack);
        if let Some(began) = self.begins.take() {
            self.period.note(Some(began), true);
        }
    }
}

impl Line {
    fn new() -> Self {
        let mut sender = Sender::new(SlowStart::default(), NewReno::default(), config());
        let (now, bytes) = (Instant(0), MSS * 10);
        sender.on_sent(&Sent { now, bytes, in_flight: bytes, again: false });
        Self { sender, period: Period::NONE, reports: Vec::new(), begins: None }
    }

    /// A recovery begins with the packet of this number.
    fn lose(&mut self, number: u64) {
        self.sender.on_loss(&Loss::of(Instant(0), LossKind::Recovery, MSS, MSS * 10));
        self.period.note(Some(number), true);
    }

    /// What a frame makes of so many packets and bytes before the period and after it.
    fn frame(&mut self, before: [u64; 2], after: [u64; 2]) -> Vec<u64> {
        self.reports.clear();
        let count = |[packets, bytes]: [u64; 2]| Count { packets, bytes };
        let frame = Frame { before: count(before), after: count(after) };
        let credited = Bytes(before[1] + after[1]);
        let mut ack = Ack { credited, rtt: Some(Span(7)), snd_nxt: MSS * 10, ..Ack::default() };
        self.report_frame(&mut ack, &frame);
        self.reports.iter().map(|ack| ack.acked.0).collect()
    }

    /// What each of them left to the next.
    fn to_come(&self) -> Vec<u64> {
        self.reports.iter().map(|ack| ack.to_come.0).collect()
    }
}

/// RFC 9002 section 7.3.1: the window grows by what was acknowledged, so that each packet is an
/// ACK with its share of the payload, and the frame a sample once.
#[test]
fn a_frame_is_an_ack_for_each_packet_and_one_sample() {
    let mut frame = Frame::default();
    for bytes in [1_000, 1_000, 501] {
        frame.after.add(bytes);
    }
    assert_eq!(frame.after, Count { packets: 3, bytes: 2_501 });
    let mut line = Line::new();
    assert_eq!(line.frame([0, 0], [3, 2_501]), [833, 834, 834]);
    let rest = line.reports.iter().map(|ack| (ack.credited.0, ack.rtt, ack.continues));
    let (first, more) = ((2_501, Some(Span(7)), false), (0, None, true));
    assert_eq!(rest.collect::<Vec<_>>(), [first, more, more]);
    assert_eq!(line.to_come(), [1_668, 834, 0]);
    assert_eq!(line.frame([0, 0], [0, 0]), [0], "an ACK that acknowledges nothing");
}

/// RFC 9002 section 7.3.2: what left before the period does not open the window; it counts with
/// the first packet that left after, which ends the recovery.
#[test]
fn what_left_before_a_recovery_counts_with_the_packet_that_ends_it() {
    let mut line = Line::new();
    line.lose(5);
    assert!(line.period.is_after(4) && line.period.is_after(5) && !line.period.is_after(6));
    assert_eq!(line.frame([2, 2_000], [0, 0]), [0]);
    assert_eq!(line.frame([1, 1_000], [0, 0]), [0]);
    assert!(line.period.has_withheld() && line.sender.view().recovering);
    assert_eq!(line.frame([1, 500], [2, 2_000]), [4_500, 1_000]);
    assert_eq!(line.to_come(), [1_000, 0], "without what counted before");
    assert!(!line.period.has_withheld() && !line.sender.view().recovering);
    let delivered = line.sender.view().delivered;
    assert_eq!((line.sender.view().acked, delivered), (Bytes(5_500), Bytes(5_500)));
}

/// A policy that sets the window of its recovery withholds nothing, and a cut or another period
/// decides anew.
#[test]
fn a_period_withholds_until_another_says_otherwise() {
    for (began, cut, withheld) in [(5, false, true), (6, false, false), (6, true, true)] {
        let mut line = Line::new();
        line.lose(5);
        line.period.note(Some(began), cut);
        let expected: &[u64] = if withheld { &[0] } else { &[1_000, 1_000] };
        assert_eq!(line.frame([2, 2_000], [0, 0]), expected, "{began} {cut}");
        assert_eq!(line.period.has_withheld(), withheld);
        assert_eq!(line.period.is_after(6), began == 6);
    }
}

#[test]
fn marks_that_begin_a_period_withhold_the_rest_of_their_frame() {
    let mut line = Line::new();
    line.begins = Some(9);
    assert_eq!(line.frame([0, 0], [3, 3_000]), [1_000]);
    assert_eq!(line.frame([0, 0], [1, 1_000]), [3_000]);
}
