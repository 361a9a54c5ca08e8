//! A scripted path for tests of policies: one bottleneck of unlimited buffer, every packet
//! acknowledged, one of them lost when the test says so.

use std::collections::VecDeque;

use firstflight_core::avoidance::Westwood;
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::sender::{Config, Sender};
use firstflight_core::startup::Astart;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::{Phase, Window};

/// Payload of a packet, in bytes.
pub(crate) const MSS: u64 = 1_000;
/// Time of a packet on the link, in ns: 100 Mbit/s.
pub(crate) const SERVICE: u64 = 80_000;
/// In ns.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// A connection over the path.
pub(crate) struct Path {
    pub(crate) sender: Sender<Pair<Astart, Westwood>>,
    pub(crate) now: u64,
    rtt: u64,
    busy_until: u64,
    /// Arrival of each ACK and when its packet was sent.
    acks: VecDeque<(u64, u64)>,
    sent: u64,
    /// Packets that were sent before the last loss was found: recovery lasts for so many ACKs.
    recovery: usize,
}

impl Path {
    /// A connection that has sent its first window; `rtt` is the propagation, in ns.
    pub(crate) fn new(astart: Astart, westwood: Westwood, rtt: u64) -> Self {
        let config = Config {
            mss: Bytes(MSS),
            initial_window: Bytes(2 * MSS),
            initial_ssthresh: Bytes(32 * MSS),
            max_cwnd: Bytes::MAX,
            limit_growth_to_flight: false,
            segment_per_ack: true,
            paces: false,
        };
        let mut sender = Sender::new(astart, westwood, config);
        sender.begin(Instant(0));
        let (acks, sent, recovery) = (VecDeque::new(), 0, 0);
        let mut path = Self { sender, now: 0, rtt, busy_until: 0, acks, sent, recovery };
        path.fill();
        path
    }

    fn fill(&mut self) {
        while (self.acks.len() as u64) < self.sender.cwnd().0 / MSS {
            self.busy_until = self.busy_until.max(self.now) + SERVICE;
            self.acks.push_back((self.busy_until + self.rtt, self.now));
            self.sent += MSS;
            let (now, in_flight) = (Instant(self.now), Bytes(self.acks.len() as u64 * MSS));
            self.sender.on_sent(&Sent { now, bytes: Bytes(MSS), in_flight, again: false });
        }
    }

    /// The next ACK, and what it lets out.
    pub(crate) fn step(&mut self) {
        let (at, sent) = self.acks.pop_front().expect("the window is never empty");
        self.now = at;
        self.sender.on_ack(&Ack {
            now: Instant(at),
            acked: Bytes(MSS),
            credited: Bytes(MSS),
            rtt: Some(Span(at - sent)),
            in_flight: Bytes(self.acks.len() as u64 * MSS),
            snd_nxt: Bytes(self.sent),
            ..Ack::default()
        });
        if self.recovery > 0 {
            self.recovery -= 1;
            if self.recovery == 0 {
                self.sender.on_recovered(None);
            }
        }
        self.fill();
    }

    pub(crate) fn run_until(&mut self, seconds: f64) -> &mut Self {
        while (self.now as f64) < seconds * SECOND as f64 {
            self.step();
        }
        self
    }

    /// The sender finds that one of the packets in flight is lost.
    pub(crate) fn lose_one(&mut self) -> &mut Self {
        let (now, flight) = (Instant(self.now), Bytes(self.acks.len() as u64 * MSS));
        let kind = LossKind::Recovery;
        self.sender.on_loss(&Loss::of(now, kind, Bytes(MSS), flight));
        self.recovery = self.acks.len();
        self
    }

    pub(crate) fn window(&self) -> Window {
        self.sender.view().window
    }

    pub(crate) fn packets(&self) -> u64 {
        self.window().cwnd.0 / MSS
    }

    pub(crate) fn phase(&self) -> Phase {
        self.sender.view().phase
    }
}
