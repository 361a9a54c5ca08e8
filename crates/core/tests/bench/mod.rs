//! A sender whose packets the test acknowledges and loses one by one.

use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;

/// Payload of a packet, in bytes.
pub(crate) const MSS: u64 = 1_000;

/// A sender on a path without a queue: what it sends is acknowledged when the test says so.
pub(crate) struct Bench<S, A> {
    pub(crate) sender: Sender<Pair<S, A>>,
    pub(crate) now: u64,
    pub(crate) acked: u64,
    pub(crate) sent: u64,
}

impl<S: Startup + Clone, A: Avoidance + Clone> Bench<S, A> {
    pub(crate) fn new(startup: S, avoidance: A, config: Config) -> Self {
        Self { sender: Sender::new(startup, avoidance, config), now: 0, acked: 0, sent: 0 }
    }

    /// Sends what the window allows.
    pub(crate) fn fill(&mut self) -> &mut Self {
        self.send_up_to(self.sender.cwnd().0 / MSS)
    }

    pub(crate) fn send_up_to(&mut self, segments: u64) -> &mut Self {
        while self.sent - self.acked < segments * MSS {
            self.sent += MSS;
            let (now, in_flight) = (Instant(self.now), Bytes(self.sent - self.acked));
            self.sender.on_sent(&Sent { now, bytes: Bytes(MSS), in_flight, again: false });
        }
        self
    }

    pub(crate) fn ack(&self, segments: u64) -> Ack {
        Ack {
            now: Instant(self.now),
            acked: Bytes(segments * MSS),
            credited: Bytes(segments * MSS),
            rtt: Some(Span::from_millis(100)),
            in_flight: Bytes(self.sent - self.acked - segments * MSS),
            snd_nxt: Bytes(self.sent),
            ..Ack::default()
        }
    }

    /// One segment is acknowledged; nothing is sent.
    pub(crate) fn step(&mut self) -> &mut Self {
        self.now += 1_000_000;
        let ack = self.ack(1);
        self.acked += MSS;
        self.sender.on_ack(&ack);
        self
    }

    /// Every segment now in flight is acknowledged, and each time the window is filled.
    pub(crate) fn round(&mut self) -> &mut Self {
        self.fill();
        for _ in 0..(self.sent - self.acked) / MSS {
            self.step().fill();
        }
        self
    }

    pub(crate) fn marked(&mut self) -> &mut Self {
        self.now += 1_000_000;
        let ack = Ack { marked: Bytes(MSS), ..self.ack(1) };
        self.acked += MSS;
        self.sender.on_ack(&ack);
        self
    }

    pub(crate) fn lose(&mut self, kind: LossKind) -> bool {
        let (now, lost) = (Instant(self.now), Bytes(MSS));
        let flight = Bytes(self.sent - self.acked);
        self.sender.on_loss(&Loss::of(now, kind, lost, flight))
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.sender.cwnd().0 / MSS
    }

    pub(crate) fn ssthresh(&self) -> u64 {
        self.sender.ssthresh().0 / MSS
    }

    pub(crate) fn phase(&self) -> Phase {
        self.sender.view().phase
    }
}
