//! HyStart++ round by round against a plain reading of RFC 9406, over one path of a fixed rate and
//! RTT without an end of the buffer: in bursts, paced at two windows per RTT, and as quinn paces.
//! quiche's HyStart++ has the same windows on it to the packet.

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

/// What the path asks of a control.
trait Control {
    fn on_sent(&mut self, now: u64, in_flight: u64);
    fn on_ack(&mut self, now: u64, acked: u64, rtt: u64, in_flight: u64, snd_nxt: u64);
    fn cwnd(&self) -> u64;
    fn srtt(&self) -> u64;
    fn has_left(&self) -> bool;
    /// Rounds begun, and in which of them CSS.
    fn state(&self) -> (u64, bool);
}

/// RFC 9406 sections 4.2 and 4.3 as they stand, and the restart of the sample count as CSS begins.
struct Reading {
    cwnd: u64,
    srtt: u64,
    limit: u64,
    acked: u64,
    window_end: u64,
    rounds: u64,
    last_round_min_rtt: u64,
    current_round_min_rtt: u64,
    rtt_sample_count: u64,
    css_baseline_min_rtt: Option<u64>,
    css_rounds: u64,
    left: bool,
}

impl Reading {
    fn new(limit: u64) -> Self {
        Self {
            cwnd: 10 * PACKET,
            srtt: RTT,
            limit,
            acked: 0,
            window_end: 0,
            rounds: 0,
            last_round_min_rtt: u64::MAX,
            current_round_min_rtt: u64::MAX,
            rtt_sample_count: 0,
            css_baseline_min_rtt: None,
            css_rounds: 0,
            left: false,
        }
    }

    fn look(&mut self) {
        let (last, current) = (self.last_round_min_rtt, self.current_round_min_rtt);
        if self.rtt_sample_count < 8 {
            return;
        }
        match self.css_baseline_min_rtt {
            Some(baseline) if current < baseline => self.css_baseline_min_rtt = None,
            None if last != u64::MAX => {
                let thresh = (last / 8).clamp(4_000_000, 16_000_000);
                if current >= last + thresh {
                    self.css_baseline_min_rtt = Some(current);
                    (self.css_rounds, self.rtt_sample_count) = (0, 0);
                }
            }
            _ => {}
        }
    }
}

impl Control for Reading {
    fn on_sent(&mut self, _now: u64, _in_flight: u64) {}

    fn on_ack(&mut self, _now: u64, acked: u64, rtt: u64, _in_flight: u64, snd_nxt: u64) {
        if self.left {
            return;
        }
        self.acked += acked;
        self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
        let divisor = if self.css_baseline_min_rtt.is_some() { 4 } else { 1 };
        self.cwnd += acked.min(self.limit) / divisor;
        self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
        self.rtt_sample_count += 1;
        self.look();
        // windowEnd, the first byte not yet sent as the round began, is acknowledged.
        if self.acked <= self.window_end {
            return;
        }
        self.window_end = snd_nxt;
        self.rounds += 1;
        self.last_round_min_rtt = self.current_round_min_rtt;
        (self.current_round_min_rtt, self.rtt_sample_count) = (u64::MAX, 0);
        if self.css_baseline_min_rtt.is_some() {
            self.css_rounds += 1;
            self.left = self.css_rounds == 5;
        }
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn srtt(&self) -> u64 {
        self.srtt
    }

    fn has_left(&self) -> bool {
        self.left
    }

    fn state(&self) -> (u64, bool) {
        (self.rounds, self.css_baseline_min_rtt.is_some())
    }
}

impl Control for Sender<Pair<HyStartPp, NewReno>> {
    fn on_sent(&mut self, now: u64, in_flight: u64) {
        let (now, in_flight) = (Instant(now), Bytes(in_flight));
        self.on_sent(&Sent { now, bytes: Bytes(PACKET), in_flight, again: false });
    }

    fn on_ack(&mut self, now: u64, acked: u64, rtt: u64, in_flight: u64, snd_nxt: u64) {
        self.on_ack(&Ack {
            now: Instant(now),
            acked: Bytes(acked),
            credited: Bytes(acked),
            rtt: Some(Span(rtt)),
            in_flight: Bytes(in_flight),
            snd_nxt: Bytes(snd_nxt),
            ..Ack::default()
        });
    }

    fn cwnd(&self) -> u64 {
        Sender::cwnd(self).0
    }

    fn srtt(&self) -> u64 {
        self.view().rtt.smoothed.0
    }

    fn has_left(&self) -> bool {
        self.view().phase == Phase::Avoidance
    }

    fn state(&self) -> (u64, bool) {
        let mut css = false;
        self.gauges(&mut |name, value| css |= name == "hystart_pp_css_base" && value > 0);
        (self.view().round, css)
    }
}

/// How packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    InBursts,
    /// Two windows per RTT, packet by packet.
    Paced,
    /// 1.25 windows per RTT, quinn's rate, packet by packet.
    AsQuinn,
}

/// What the receiver acknowledges, and what the control is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    EachPacket,
    /// Two packets at a time, each with a sample of its own, as quiche counts them.
    TwoPackets,
    /// Two packets at a time, with the sample of the newer.
    TwoAsOne,
}

/// Windows in packets as rounds begin, with CSS or without; the last one as it leaves.
fn windows(control: &mut impl Control, leaves: Leaves, acks: Acks) -> Vec<(u64, bool)> {
    let (mut now, mut acked, mut sent, mut heard) = (0, 0, 0, 0);
    let mut path = Path { busy_until: 0, acks: VecDeque::new(), waits: None, how: acks };
    let mut pacer = Pacer { leaves, next: 0 };
    let mut found = Vec::new();
    while !control.has_left() {
        let ack = path.acks.front().map_or(u64::MAX, |(at, ..)| *at);
        let room = sent - acked + PACKET <= control.cwnd();
        let departs = if room { pacer.departs(now) } else { u64::MAX };
        now = departs.min(ack);
        if departs <= ack {
            pacer.sent(control);
            sent += PACKET;
            control.on_sent(now, sent - acked);
            path.carry(now, sent);
            continue;
        }
        let (_, upto, left) = path.acks.pop_front().unwrap();
        let before = control.cwnd();
        control.on_ack(now, upto - acked, now - left, sent - upto, sent);
        acked = upto;
        let (rounds, css) = control.state();
        if rounds > heard {
            heard = rounds;
            found.push(((before + PACKET / 2) / PACKET, css));
        }
        assert!(heard < 40, "it never leaves");
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

    fn sent(&mut self, control: &impl Control) {
        match self.leaves {
            Leaves::InBursts => {}
            Leaves::Paced => self.next += PACKET * control.srtt() / (2 * control.cwnd()),
            Leaves::AsQuinn => self.next += PACKET * control.srtt() * 4 / (5 * control.cwnd()),
        }
    }
}

fn of_the_core(percent: u16) -> Sender<Pair<HyStartPp, NewReno>> {
    let config = Config {
        mss: Bytes(PACKET),
        initial_window: Bytes(10 * PACKET),
        initial_ssthresh: Bytes::MAX,
        max_cwnd: Bytes::MAX,
        limit_growth_to_flight: true,
        paces: false,
    };
    let mut sender = Sender::new(HyStartPp::default(), NewReno::default(), config);
    sender.endpoint_paces(percent);
    sender.on_handshake(Instant(0), Span(RTT));
    sender.begin(Instant(0));
    sender
}

/// The windows of both, which are the same.
fn both(leaves: Leaves, acks: Acks) -> Vec<u64> {
    let percent = match leaves {
        Leaves::InBursts => 0,
        Leaves::Paced => 200,
        Leaves::AsQuinn => 125,
    };
    let limit = if percent == 0 { 8 * PACKET } else { u64::MAX };
    let read = windows(&mut Reading::new(limit), leaves, acks);
    let core = windows(&mut of_the_core(percent), leaves, acks);
    assert_eq!(core, read, "{leaves:?} {acks:?}");
    let slow = read.iter().find(|(_, css)| *css).unwrap();
    assert!(slow.0 > 208, "{leaves:?} {acks:?}: growth slows at {slow:?}, before a queue stands");
    read.iter().map(|(packets, _)| *packets).collect()
}

#[test]
fn in_bursts_it_leaves_at_1969_packets() {
    for acks in [Acks::EachPacket, Acks::TwoPackets] {
        let found = both(Leaves::InBursts, acks);
        assert_eq!(found, [10, 20, 40, 80, 160, 320, 640, 807, 1008, 1260, 1575, 1969]);
    }
    // Half the samples: growth slows eight packets later.
    assert_eq!(both(Leaves::InBursts, Acks::TwoAsOne).last(), Some(&1985));
}

#[test]
fn paced_at_two_windows_per_rtt_it_leaves_at_1969_packets() {
    assert_eq!(both(Leaves::Paced, Acks::EachPacket).last(), Some(&1969));
}

#[test]
fn at_quinns_rate_with_an_ack_for_every_second_packet_it_leaves_at_1707_packets() {
    assert_eq!(both(Leaves::AsQuinn, Acks::TwoPackets).last(), Some(&1707));
    assert_eq!(both(Leaves::AsQuinn, Acks::TwoAsOne).last(), Some(&1783));
}
