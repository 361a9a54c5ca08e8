//! The judge's path: a link of a fixed rate behind a drop-tail buffer, a fixed RTT, a receiver that
//! acknowledges as QUIC's do, and losses found by packet numbers (RFC 9002 section 6.1.1) or, at a
//! tail, by time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use serde::Deserialize;

use crate::peer::{Frame, PACKET, Packet, Peer, Time};

/// How packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sending {
    /// As the window allows.
    Bursts,
    /// At so many hundredths of the window per smoothed RTT.
    Paced(u64),
    /// As quinn 0.11 paces: 1.25 windows per smoothed RTT out of a bucket of 2 ms, 10 packets at
    /// least.
    AsQuinn,
    /// At the controller's own rate.
    OwnRate,
}

/// A path and how long it is used.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Path {
    /// The rate of the link.
    pub(crate) rate_mbps: u64,
    /// Two-way propagation.
    pub(crate) rtt_ms: u64,
    /// Packets that wait at most; without an end where it is `None`.
    pub(crate) buffer: Option<u64>,
    /// How the sender lets packets go.
    pub(crate) sending: Sending,
    /// The receiver acknowledges every so many packets, and what is out of order at once.
    pub(crate) ack_every: u64,
    /// How long the run is.
    pub(crate) lasts_s: u64,
}

/// What a run shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The window in packets as each round begins, in round 0 the first.
    pub(crate) rounds: Vec<f64>,
    /// The window in packets at each second.
    pub(crate) seconds: Vec<f64>,
    /// When start-up ended, with window and flight in packets.
    pub(crate) exit: Option<Exit>,
    /// Packets dropped.
    pub(crate) drops: u64,
    /// Packets sent.
    pub(crate) sent: u64,
    /// The longest queue in packets, by the end of start-up.
    pub(crate) peak_queue: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) at: Time,
    pub(crate) window: f64,
    pub(crate) flight: f64,
}

impl Path {
    fn service(&self) -> Time {
        PACKET * 8 * SECOND / (self.rate_mbps * 1_000_000)
    }

    fn rtt(&self) -> Time {
        self.rtt_ms * 1_000_000
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Receive(u64),
    DelayedAck(u64),
    Ack,
    Timer,
    Pace,
    Second,
}

/// One connection over a path.
struct Run<'a> {
    path: Path,
    peer: &'a mut dyn Peer,
    now: Time,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    seen: Seen,
    // The link.
    free_at: Time,
    // The receiver.
    expected: u64,
    unacked: Vec<u64>,
    acks: VecDeque<Vec<u64>>,
    // The sender.
    next: u64,
    flying: VecDeque<Packet>,
    round_end: u64,
    srtt: Time,
    pace_at: Time,
    pacing: bool,
    tokens: f64,
    filled_at: Time,
}

/// Drives `peer` over `path`.
pub(crate) fn run(path: Path, peer: &mut dyn Peer) -> Seen {
    let mut run = Run {
        path,
        peer,
        now: 0,
        events: BinaryHeap::new(),
        order: 0,
        seen: Seen::default(),
        free_at: 0,
        expected: 0,
        unacked: Vec::new(),
        acks: VecDeque::new(),
        next: 0,
        flying: VecDeque::new(),
        round_end: 0,
        srtt: 0,
        pace_at: 0,
        pacing: false,
        tokens: QUINN_BURST,
        filled_at: 0,
    };
    run.seen.rounds.push(run.window());
    run.at(0, Event::Second);
    run.send();
    while let Some(Reverse((at, _, event))) = run.events.pop() {
        if at > path.lasts_s * SECOND {
            break;
        }
        run.now = at;
        run.handle(event);
        run.note_exit();
    }
    run.seen
}

impl Run<'_> {
    fn at(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }

    fn window(&self) -> f64 {
        self.peer.window() as f64 / PACKET as f64
    }

    fn in_flight(&self) -> u64 {
        self.flying.len() as u64 * PACKET
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Receive(number) => self.receive(number),
            Event::DelayedAck(first) => {
                if self.unacked.first() == Some(&first) {
                    self.acknowledge();
                }
            }
            Event::Ack => self.on_ack(),
            Event::Timer => self.on_timer(),
            Event::Pace => {
                self.pacing = false;
                self.send();
            }
            Event::Second => {
                self.seen.seconds.push(self.window());
                self.at(self.now + SECOND, Event::Second);
            }
        }
    }

    fn note_exit(&mut self) {
        if self.seen.exit.is_none() && self.peer.left() {
            let flight = self.flying.len() as f64;
            self.seen.exit = Some(Exit { at: self.now, window: self.window(), flight });
        }
    }

    /// Everything that window and pace allow.
    fn send(&mut self) {
        while self.in_flight() + PACKET <= self.peer.window() {
            if let Some(at) = self.must_wait() {
                if !self.pacing {
                    self.pacing = true;
                    self.at(at, Event::Pace);
                }
                return;
            }
            self.send_one();
        }
    }

    /// When the next packet may leave, if not now.
    fn must_wait(&mut self) -> Option<Time> {
        let rate = match self.path.sending {
            Sending::Bursts => return None,
            _ if self.srtt == 0 => return None,
            Sending::AsQuinn => return self.quinn_waits(),
            Sending::Paced(percent) => self.peer.window() * percent * 10_000_000 / self.srtt,
            Sending::OwnRate => self.peer.rate()?,
        };
        if self.pace_at > self.now {
            return Some(self.pace_at);
        }
        self.pace_at = self.now.max(self.pace_at) + PACKET * SECOND / rate.max(1);
        None
    }

    /// quinn 0.11's token bucket.
    fn quinn_waits(&mut self) -> Option<Time> {
        let window = self.window();
        let rate = 1.25 * window / self.srtt as f64;
        let most = (window * 2e6 / self.srtt as f64).clamp(QUINN_BURST, 256.0);
        self.tokens = self.tokens.min(most);
        if self.tokens < 1.0 {
            let since = (self.now - self.filled_at) as f64;
            self.tokens = (self.tokens + since * rate).min(most);
            self.filled_at = self.now;
        }
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return None;
        }
        Some(self.now + ((most - self.tokens) / rate).ceil() as Time)
    }

    fn send_one(&mut self) {
        let packet = Packet { number: self.next, sent_at: self.now };
        self.next += 1;
        self.seen.sent += 1;
        self.flying.push_back(packet);
        self.peer.on_sent(packet, self.in_flight());
        let service = self.path.service();
        let queued = self.free_at.saturating_sub(self.now).div_ceil(service);
        // The packet in service is none that waits.
        if self.path.buffer.is_some_and(|most| queued > most) {
            self.seen.drops += 1;
        } else {
            self.free_at = self.free_at.max(self.now) + service;
            self.at(self.free_at + self.path.rtt() / 2, Event::Receive(packet.number));
            if self.seen.exit.is_none() {
                self.seen.peak_queue = self.seen.peak_queue.max(queued);
            }
        }
        if self.flying.len() == 1 {
            self.at(self.now + TAIL, Event::Timer);
        }
    }

    fn receive(&mut self, number: u64) {
        let in_order = number == self.expected;
        self.expected = number + 1;
        self.unacked.push(number);
        if !in_order || self.unacked.len() as u64 >= self.path.ack_every {
            self.acknowledge();
        } else if self.unacked.len() == 1 {
            self.at(self.now + ACK_DELAY, Event::DelayedAck(number));
        }
    }

    fn acknowledge(&mut self) {
        self.acks.push_back(std::mem::take(&mut self.unacked));
        self.at(self.now + self.path.rtt() - self.path.rtt() / 2, Event::Ack);
    }

    fn on_ack(&mut self) {
        let Some(numbers) = self.acks.pop_front() else { return };
        let newest = numbers[numbers.len() - 1];
        let of = |packet: &Packet| numbers.binary_search(&packet.number).is_ok();
        let acked: Vec<Packet> = self.flying.iter().copied().filter(of).collect();
        self.flying.retain(|packet| !of(packet));
        if let Some(last) = acked.last() {
            let rtt = self.now - last.sent_at;
            self.srtt = if self.srtt == 0 { rtt } else { self.srtt / 8 * 7 + rtt / 8 };
            let (now, in_flight) = (self.now, self.in_flight());
            self.peer.on_frame(&Frame { now, packets: &acked, in_flight, next: self.next });
        }
        if newest >= self.round_end {
            self.round_end = self.next;
            let window = self.window();
            self.seen.rounds.push(window);
        }
        self.lose(|packet| packet.number + PACKET_THRESHOLD <= newest);
        self.send();
    }

    fn lose(&mut self, lost: impl Fn(&Packet) -> bool) {
        let gone: Vec<Packet> = self.flying.iter().copied().filter(&lost).collect();
        if !gone.is_empty() {
            self.flying.retain(|packet| !lost(packet));
            self.peer.on_lost(self.now, &gone, self.in_flight());
        }
    }

    /// A tail for whose repair no ACK comes is lost in the end, so that nothing waits for ever.
    fn on_timer(&mut self) {
        let now = self.now;
        self.lose(|packet| packet.sent_at + TAIL <= now);
        if let Some(oldest) = self.flying.front() {
            self.at(oldest.sent_at + TAIL, Event::Timer);
        }
        self.send();
    }
}

pub(crate) const SECOND: Time = 1_000_000_000;

/// RFC 9000 section 18.2, `max_ack_delay`.
const ACK_DELAY: Time = 25_000_000;

/// RFC 9002 section 6.1.1, `kPacketThreshold`.
const PACKET_THRESHOLD: u64 = 3;

/// Longer than any queue of the points.
const TAIL: Time = 5 * SECOND;

/// quinn 0.11, `MIN_BURST_SIZE`.
const QUINN_BURST: f64 = 10.0;
