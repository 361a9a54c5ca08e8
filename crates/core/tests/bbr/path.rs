//! A path for BBR: one bottleneck whose rate, losses, policer and ACKs a test can change, a source
//! that can be limited, and packets that leave as window and pacing allow. Every packet is new, as
//! in QUIC: what is lost leaves again under another number.

use std::collections::VecDeque;

use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;

pub(crate) const MSS: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;

struct Packet {
    number: u64,
    sent: u64,
    then: AtSending,
    /// When its ACK comes; never, if it is lost.
    acked: Option<u64>,
}

/// What lets no more through than a rate and a burst.
pub(crate) struct Policer {
    pub(crate) rate: u64,
    pub(crate) burst: u64,
    pub(crate) tokens: u64,
    pub(crate) filled: u64,
}

pub(crate) struct Path {
    pub(crate) sender: Sender<Pair<AnyStartup, AnyAvoidance>>,
    sampler: Sampler,
    pub(crate) now: u64,
    /// Bytes per second.
    pub(crate) rate: u64,
    /// RTT without queue, in ns.
    pub(crate) delay: u64,
    /// In packets.
    pub(crate) buffer: u64,
    /// ACKs come at multiples of this, in ns.
    pub(crate) aggregation: u64,
    /// Every such packet is lost on its way.
    pub(crate) drop_every: Option<u64>,
    pub(crate) policer: Option<Policer>,
    /// The source has a packet only so often, in ns; or none before a time.
    pub(crate) source_gap: u64,
    pub(crate) source_at: u64,
    busy: u64,
    flight: VecDeque<Packet>,
    next: u64,
    may_leave: u64,
    recovery_ends: u64,
    pub(crate) lost: u64,
    pub(crate) delivered: u64,
}

impl Path {
    /// `bbr+bbr` over so many kB/s and ms, with room for so many packets.
    pub(crate) fn new(rate: u64, delay_ms: u64, buffer: u64) -> Self {
        let config = Config {
            mss: Bytes(MSS),
            initial_window: Bytes(10 * MSS),
            initial_ssthresh: Bytes::MAX,
            max_cwnd: Bytes(1 << 40),
            limit_growth_to_flight: true,
            segment_per_ack: true,
            paces: false,
        };
        let (startup, avoidance) = (AnyStartup::by_name("bbr"), AnyAvoidance::by_name("bbr"));
        let mut sender = Sender::new(startup.unwrap(), avoidance.unwrap(), config);
        let now = delay_ms * MS;
        sender.on_handshake(Instant(now), Span(now));
        sender.begin(Instant(now));
        Self {
            sender,
            sampler: Sampler::default(),
            now,
            rate: rate * 1_000,
            delay: now,
            buffer,
            aggregation: 1,
            drop_every: None,
            policer: None,
            source_gap: 0,
            source_at: 0,
            busy: 0,
            flight: VecDeque::new(),
            next: 1,
            may_leave: 0,
            recovery_ends: 0,
            lost: 0,
            delivered: 0,
        }
    }

    /// What a policy reports under that name.
    pub(crate) fn gauge(&self, name: &str) -> u64 {
        let mut found = None;
        self.sender.gauges(&mut |one, value| found = if one == name { Some(value) } else { found });
        found.unwrap_or_else(|| panic!("no gauge {name}"))
    }

    /// `down`, `cruise`, `refill`, `up`, `probe-rtt`, or a state of the start-up.
    pub(crate) fn state(&self) -> &'static str {
        if self.sender.view().phase == Phase::Startup {
            return if self.gauge("bbr_drains") == 1 { "drain" } else { "startup" };
        }
        ["down", "cruise", "refill", "up", "probe-rtt"][self.gauge("bbr_state") as usize]
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * MSS
    }

    /// Runs until the state is that one, for a minute at most.
    pub(crate) fn until(&mut self, state: &str) -> &mut Self {
        self.until_so(state, |path| path.state() == state)
    }

    pub(crate) fn until_so(&mut self, what: &str, so: impl Fn(&Self) -> bool) -> &mut Self {
        let end = self.now + 60_000 * MS;
        while !so(self) {
            assert!(self.now < end, "not {what} within a minute, but {}", self.state());
            self.event();
        }
        self
    }

    pub(crate) fn run(&mut self, ms: u64) -> &mut Self {
        let end = self.now + ms * MS;
        while self.now < end {
            self.event();
        }
        self
    }

    /// The next packet leaves, or the next ACK comes.
    pub(crate) fn event(&mut self) {
        let ack = self.flight.iter().find_map(|packet| packet.acked).unwrap_or(u64::MAX);
        let room = self.in_flight() + MSS <= self.sender.cwnd().0;
        let paced = if room { self.now.max(self.may_leave) } else { u64::MAX };
        let leaves = paced.max(self.source_at);
        assert!(ack < u64::MAX || room, "nothing happens any more");
        if room && self.source_at > paced && ack > paced {
            self.sampler.on_app_limited(Bytes(self.in_flight()));
        }
        if ack <= leaves {
            self.now = ack;
            self.on_ack();
        } else {
            self.now = leaves;
            self.source_at = self.source_at.max(self.now.saturating_sub(self.source_gap));
            self.source_at += self.source_gap;
            self.send();
        }
    }

    fn send(&mut self) {
        let in_flight = Bytes(self.in_flight() + MSS);
        let now = Instant(self.now);
        self.sender.on_sent(&Sent { now, bytes: Bytes(MSS), in_flight, again: false });
        let then = self.sampler.on_sent(now, in_flight, self.flight.is_empty());
        if let Some(pacing) = self.sender.pacing() {
            self.may_leave = self.may_leave.max(self.now) + MSS * 1_000_000_000 / pacing.rate.0;
        }
        let (number, sent, acked) = (self.next, self.now, self.transmit());
        self.flight.push_back(Packet { number, sent, then, acked });
        self.next += 1;
    }

    /// When the packet's ACK comes.
    fn transmit(&mut self) -> Option<u64> {
        let service = MSS * 1_000_000_000 / self.rate;
        let start = self.busy.max(self.now);
        let full = start - self.now > self.buffer * service;
        let dropped = self.drop_every.is_some_and(|every| self.next.is_multiple_of(every));
        if full || dropped || !self.passes_policer() {
            return None;
        }
        self.busy = start + service;
        Some((self.busy + self.delay).next_multiple_of(self.aggregation))
    }

    fn passes_policer(&mut self) -> bool {
        let Some(policer) = &mut self.policer else { return true };
        let fresh = (self.now - policer.filled) * policer.rate / 1_000_000_000;
        policer.filled += fresh * 1_000_000_000 / policer.rate;
        policer.tokens = (policer.tokens + fresh).min(policer.burst);
        let passes = policer.tokens >= MSS;
        policer.tokens -= if passes { MSS } else { 0 };
        passes
    }

    /// All that is acknowledged at this time is acknowledged by one ACK, and what left three
    /// packets before it is lost.
    fn on_ack(&mut self) {
        let (mut credited, mut newest) = (0, None);
        let now = self.now;
        self.flight.retain(|packet| {
            let acked = packet.acked == Some(now);
            if acked {
                credited += MSS;
                newest = Some((packet.number, packet.sent, packet.then));
            }
            !acked
        });
        let Some((number, sent, then)) = newest else { return };
        self.delivered += credited;
        let credited = Bytes(credited);
        let sample = self.sampler.on_delivered(Instant(now), credited, Instant(sent), &then);
        let view = self.sender.view();
        let in_flight = Bytes(self.flight.len() as u64 * MSS);
        let recovered = view.recovering && number >= self.recovery_ends;
        let ack = Ack {
            now: Instant(now),
            acked: credited,
            credited,
            rtt: Some(Span(now - sent)),
            in_flight,
            snd_nxt: view.acked + credited + in_flight,
            sample,
            packet: Some(then.departure),
            ..Ack::default()
        };
        self.sender.on_ack(&ack);
        if recovered {
            self.sender.on_recovered(None);
        }
        while self.flight.front().is_some_and(|first| first.number + 3 <= number) {
            self.flight.pop_front();
            self.lose(1);
        }
    }

    /// Tells the sender that `packets` packets are lost.
    pub(crate) fn lose(&mut self, packets: u64) {
        self.lost += packets;
        let (lost, flight) = (Bytes(packets * MSS), Bytes(self.in_flight()));
        let before = self.sender.view().recovering;
        self.sender.on_loss(&Loss::of(Instant(self.now), LossKind::Recovery, lost, flight));
        if !before {
            self.recovery_ends = self.next;
        }
    }
}
