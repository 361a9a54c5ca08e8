//! The path between both ends: one link with a drop-tail buffer that the data crosses, and a delay.

use std::time::Duration;

use firstflight_core::units::Instant;
use firstflight_link::{Buffer, DropTailLink, Tie};
use s2n_quic::provider::congestion_controller::Timestamp;
use s2n_quic::provider::io::testing::network::{Buffers, Network, Packet};
use s2n_quic::provider::io::testing::{spawn, time};
use s2n_quic_core::inet::ExplicitCongestionNotification;

use crate::Shared;

/// A path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The rate of the link, bits per second.
    pub rate_bps: u64,
    /// Propagation there and back, without the time on the link.
    pub rtt: Duration,
    /// How many packets wait for the link at most.
    pub buffer_packets: u64,
    /// Headers of each UDP payload on the link, bytes.
    pub headers: u64,
    /// One packet in so many that the link carries is marked; none where this is 0.
    pub marks_every: u64,
}

/// What the link did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets that it sent.
    pub packets: u64,
    /// Packets that it had no room for.
    pub drops: u64,
    /// Packets that it marked.
    pub marks: u64,
}

pub(crate) struct Bottleneck {
    path: Path,
    link: DropTailLink,
    began: Option<Timestamp>,
    shared: Shared,
}

impl Bottleneck {
    pub(crate) fn new(path: &Path, shared: Shared) -> Self {
        let buffer = Buffer::Packets(path.buffer_packets);
        let link = DropTailLink::new(path.rate_bps, buffer, false, END_OF_RUN);
        Self { path: *path, link, began: None, shared }
    }

    /// How long a packet takes, `None` if it is dropped. Marks it where one is due.
    fn transit(&mut self, packet: &mut Packet) -> Option<Duration> {
        let state = &mut *self.shared.lock();
        let half = self.path.rtt / 2;
        if Some(std::net::SocketAddr::from(*packet.path.remote_address)) != state.server {
            return Some(half);
        }
        let now = time::now().saturating_duration_since(*self.began.get_or_insert_with(time::now));
        let at = Instant(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX));
        let bytes = packet.payload.len() as u64 + self.path.headers;
        let Some(sent) = self.link.arrive(at, bytes, Tie::DEPARTURE_FIRST) else {
            state.carried.drops += 1;
            return None;
        };
        state.carried.packets += 1;
        let every = self.path.marks_every;
        if every > 0 && state.carried.packets.is_multiple_of(every) && packet.ecn.using_ecn() {
            packet.ecn = ExplicitCongestionNotification::Ce;
            state.carried.marks += 1;
        }
        Some(half + Duration::from_nanos(sent.since(at).0))
    }
}

impl Network for Bottleneck {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let mut sent = 0;
        buffers.drain_pending_transmissions(|mut packet| {
            sent += 1;
            if let Some(transit) = self.transit(&mut packet) {
                let (buffers, arrives) = (buffers.clone(), time::now() + transit);
                packet.switch();
                spawn(async move {
                    time::delay_until(arrives).await;
                    buffers.rx(*packet.path.local_address, |queue| queue.enqueue(packet));
                });
            }
            Ok(())
        });
        sent
    }
}

/// A day.
const END_OF_RUN: Instant = Instant(86_400 * 1_000_000_000);
