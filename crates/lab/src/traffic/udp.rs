//! Cross traffic: datagrams at a constant rate.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use firstflight_scenario::complete;
use nix::sys::prctl::set_timerslack;

use super::{LONGEST_SLEEP, Schedule};
use crate::link::Clock;
use crate::namespace::Namespace;
use crate::sys;

/// A source, ready to start. Nobody reads what it sends: its sink is a socket that overflows.
pub(crate) struct Source {
    job: complete::Udp,
    sender: UdpSocket,
    _sink: UdpSocket,
}

impl Source {
    /// Makes the sockets of source number `index`, which sends to an address of the far end.
    ///
    /// # Errors
    /// The kernel gives none.
    pub(crate) fn new(
        near: &Namespace,
        (far, address): (&Namespace, Ipv4Addr),
        index: usize,
        job: &complete::Udp,
    ) -> io::Result<Self> {
        let to = SocketAddr::from((address, port(index)));
        let sink = far.run(|| UdpSocket::bind(to))??;
        let sender = near.run(|| UdpSocket::bind("0.0.0.0:0"))??;
        sender.connect(to)?;
        Ok(Self { job: job.clone(), sender, _sink: sink })
    }

    /// Sends until its end, the run's, or `over`.
    pub(crate) fn run(&self, schedule: Schedule, clock: Clock, over: &AtomicBool) {
        let _ = (sys::set_nice(), set_timerslack(1));
        let payload = vec![0; (self.job.packet.bytes() - HEADERS) as usize];
        let start = schedule.from + self.job.start.ns();
        let stop = schedule.until.min(schedule.from.saturating_add(self.job.stop.ns()));
        let mut sent: u128 = 0;
        while !over.load(Ordering::Relaxed) {
            let due = start.saturating_add(self.due(sent));
            if due >= stop {
                return;
            }
            let left = due.saturating_sub(clock.now());
            if left > 0 {
                thread::sleep(Duration::from_nanos(left.min(LONGEST_SLEEP)));
                continue;
            }
            // A datagram that the kernel does not take is one that the path lost.
            let _ = self.sender.send(&payload);
            sent += 1;
        }
    }

    /// When packet number `sent` is due, ns after the start.
    fn due(&self, sent: u128) -> u64 {
        let bits = sent * u128::from(self.job.packet.bytes()) * 8;
        u64::try_from(bits * 1_000_000_000 / u128::from(self.job.rate.bps().max(1)))
            .unwrap_or(u64::MAX)
    }
}

/// Where source number `index` sends to.
pub(crate) fn port(index: usize) -> u16 {
    FIRST_PORT + index as u16
}

/// IPv4 and UDP.
const HEADERS: u64 = 28;
const FIRST_PORT: u16 = 20_000;
