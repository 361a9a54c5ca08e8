//! HyStart++ round by round over one path of a fixed rate and RTT without an end of the buffer: in
//! bursts, paced at two windows per RTT, and as quinn paces. quiche's HyStart++ has these windows
//! on it to the packet; a plain reading of RFC 9406 is in `validation/readings`, where the core
//! runs on many paths.

use std::collections::VecDeque;

use firstflight_core::avoidance::NewReno;
use firstflight_core::event::{Ack, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::sender::{Config, Sender};
use firstflight_core::startup::HyStartPp;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;

/// 20 Mbit/s take 480 us for a packet of 1200 bytes; 100 ms hold 208 of them.
const PACKET: u64 = 1_200;
const SERVICE: u64 = 480_000;
const RTT: u64 = 100_000_000;

type HyStart = Sender<Pair<HyStartPp, NewReno>>;

/// How packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    InBursts,
    /// Two windows per RTT, packet by packet.
    Paced,
    /// 1.25 windows per RTT, quinn's rate, packet by packet.
    AsQuinn,
}

/// What an ACK is for, and how it is reported to the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    EachPacket,
    /// Two packets at a time, each with a sample of its own, as quiche counts them.
    TwoPackets,
    /// Two packets at a time, with the sample of the newer.
    TwoAsOne,
}

/// Windows in packets as rounds begin, with CSS or without; the last one as it leaves.
fn windows(control: &mut HyStart, leaves: Leaves, acks: Acks) -> Vec<(u64, bool)> {
    let (mut now, mut acked, mut sent, mut round) = (0, 0, 0, 0);
    let mut path = Path { busy_until: 0, acks: VecDeque::new(), waits: None, how: acks };
    let mut pacer = Pacer { leaves, next: 0 };
    let mut found = Vec::new();
    while control.view().phase == Phase::Startup {
        let ack = path.acks.front().map_or(u64::MAX, |(at, ..)| *at);
        let room = sent - acked + PACKET <= control.cwnd().0;
        let departs = if room { pacer.departs(now) } else { u64::MAX };
        now = departs.min(ack);
        if departs <= ack {
            pacer.sent(control);
            sent += PACKET;
            let (now, in_flight) = (Instant(now), Bytes(sent - acked));
            control.on_sent(&Sent { now, bytes: Bytes(PACKET), in_flight, again: false });
            path.carry(now.0, sent);
            continue;
        }
        let (_, upto, left) = path.acks.pop_front().unwrap();
        let before = control.cwnd().0;
        control.on_ack(&Ack {
            now: Instant(now),
            acked: Bytes(upto - acked),
            credited: Bytes(upto - acked),
            rtt: Some(Span(now - left)),
            in_flight: Bytes(sent - upto),
            snd_nxt: Bytes(sent),
            ..Ack::default()
        });
        acked = upto;
        let mut css = false;
        control.gauges(&mut |name, value| css |= name == "hystart_pp_css_base" && value > 0);
        if control.view().round > round {
            round = control.view().round;
            found.push(((before + PACKET / 2) / PACKET, css));
        }
        assert!(round < 40, "it never leaves");
    }
    found
}

struct Path {
    busy_until: u64,
    /// When it comes, what it acknowledges, when the newest of that left.
    acks: VecDeque<(u64, u64, u64)>,
    /// A packet that waits for the next one.
    waits: Option<(u64, u64)>,
    how: Acks,
}

impl Path {
    fn carry(&mut self, now: u64, upto: u64) {
        self.busy_until = self.busy_until.max(now) + SERVICE;
        let first = self.waits.take();
        if self.how != Acks::EachPacket && first.is_none() {
            self.waits = Some((upto, now));
            return;
        }
        let at = self.busy_until + RTT;
        if let Some((upto, left)) = first.filter(|_| self.how == Acks::TwoPackets) {
            self.acks.push_back((at, upto, left));
        }
        self.acks.push_back((at, upto, now));
    }
}

struct Pacer {
    leaves: Leaves,
    next: u64,
}

impl Pacer {
    /// When the next packet may leave.
    fn departs(&mut self, now: u64) -> u64 {
        match self.leaves {
            Leaves::InBursts => now,
            Leaves::Paced | Leaves::AsQuinn => {
                self.next = self.next.max(now);
                self.next
            }
        }
    }

    fn sent(&mut self, control: &HyStart) {
        let (srtt, cwnd) = (control.view().rtt.smoothed.0, control.cwnd().0);
        match self.leaves {
            Leaves::InBursts => {}
            Leaves::Paced => self.next += PACKET * srtt / (2 * cwnd),
            Leaves::AsQuinn => self.next += PACKET * srtt * 4 / (5 * cwnd),
        }
    }
}

fn begun(percent: u16) -> HyStart {
    let config = Config {
        mss: Bytes(PACKET),
        initial_window: Bytes(10 * PACKET),
        initial_ssthresh: Bytes::MAX,
        max_cwnd: Bytes::MAX,
        limit_growth_to_flight: true,
        segment_per_ack: true,
        paces: false,
    };
    let mut sender = Sender::new(HyStartPp::default(), NewReno::default(), config);
    sender.endpoint_paces(percent);
    sender.on_handshake(Instant(0), Span(RTT));
    sender.begin(Instant(0));
    sender
}

/// The windows in packets; growth slows once a queue stands.
fn found(leaves: Leaves, acks: Acks) -> Vec<u64> {
    let percent = match leaves {
        Leaves::InBursts => 0,
        Leaves::Paced => 200,
        Leaves::AsQuinn => 125,
    };
    let found = windows(&mut begun(percent), leaves, acks);
    let slow = found.iter().find(|(_, css)| *css).unwrap();
    assert!(slow.0 > 208, "{leaves:?} {acks:?}: growth slows at {slow:?}, before a queue stands");
    found.iter().map(|(packets, _)| *packets).collect()
}

#[test]
fn in_bursts_it_leaves_at_1969_packets() {
    for acks in [Acks::EachPacket, Acks::TwoPackets] {
        let windows = found(Leaves::InBursts, acks);
        assert_eq!(windows, [10, 20, 40, 80, 160, 320, 640, 807, 1008, 1260, 1575, 1969]);
    }
    // Half the samples: growth slows eight packets later.
    assert_eq!(found(Leaves::InBursts, Acks::TwoAsOne).last(), Some(&1985));
}

#[test]
fn paced_at_two_windows_per_rtt_it_leaves_at_1969_packets() {
    assert_eq!(found(Leaves::Paced, Acks::EachPacket).last(), Some(&1969));
}

#[test]
fn at_quinns_rate_with_an_ack_for_every_second_packet_it_leaves_at_1707_packets() {
    assert_eq!(found(Leaves::AsQuinn, Acks::TwoPackets).last(), Some(&1707));
    assert_eq!(found(Leaves::AsQuinn, Acks::TwoAsOne).last(), Some(&1783));
}
