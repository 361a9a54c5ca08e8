//! A source of files: one after the other over the same route, each on a connection of its own.
//!
//! A connection begins only after the one before has had its last ACK, and its packets follow the
//! earlier ones through the same FIFO links. So packets and ACKs of two connections at most are
//! under way at any time, and one bit on them tells which is which.

use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

use crate::memory::Kept;
use crate::network::{FilesSpec, FlowSpec, Uniform};
use crate::outcome::FileOutcome;
use crate::tcp::Tcp;

/// Which file comes next, and what became of those before.
#[derive(Debug)]
pub(crate) struct FileSource<'a> {
    spec: &'a FlowSpec,
    files: FilesSpec,
    rng: Pcg64Mcg,
    sending: bool,
    stopped: bool,
    /// Size of the file under way, when it began, and what had been sent before it.
    packets: u32,
    began: Instant,
    sent_before: u64,
    /// What the connection before left behind; with Fast Open, its cookie too.
    pub(crate) own: Option<Kept>,
    /// Packets delivered of all files before this one.
    pub(crate) delivered_before: u64,
    pub(crate) done: Vec<FileOutcome>,
}

/// The connection that follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    /// How many packets it has to send.
    pub(crate) packets: u32,
    /// It begins with a SYN exchange.
    pub(crate) syn: bool,
}

impl<'a> FileSource<'a> {
    pub(crate) fn new(spec: &'a FlowSpec, files: FilesSpec, rng: Pcg64Mcg) -> Self {
        Self {
            spec,
            files,
            rng,
            sending: false,
            stopped: false,
            packets: 0,
            began: Instant(0),
            sent_before: 0,
            own: None,
            delivered_before: 0,
            done: Vec::new(),
        }
    }

    /// The connection for the next file in place of `earlier`; `None` if the source has been
    /// stopped.
    pub(crate) fn begin(&mut self, now: Instant, earlier: &Tcp) -> Option<(Tcp, Next)> {
        if self.stopped {
            return None;
        }
        self.sending = true;
        let bytes = self.files.bytes.draw(&mut self.rng);
        let packets = bytes.div_ceil(self.spec.data_bytes()).clamp(1, MOST_PACKETS);
        self.packets = packets as u32;
        self.began = now;
        self.sent_before = earlier.counts().sent;
        let endpoint = &self.spec.endpoint;
        let next = Next {
            packets: self.packets,
            syn: endpoint.syn && !(endpoint.fast_open && self.own.is_some()),
        };
        Some((earlier.successor(self.spec, next), next))
    }

    /// The sender has had the last ACK of the file, which was all `delivered` at some time before:
    /// the pause until the next file, if one follows.
    pub(crate) fn end(
        &mut self,
        tcp: &Tcp,
        delivered: Option<Instant>,
        kept: Option<Kept>,
    ) -> Option<Span> {
        if !std::mem::take(&mut self.sending) {
            return None;
        }
        self.own = kept.or(self.own);
        // A stop leaves the file it cuts short without an end.
        let delivered = delivered?;
        let sent = tcp.counts().sent - self.sent_before;
        let (packets, began) = (self.packets, self.began);
        self.done.push(FileOutcome { packets, sent, began, delivered });
        Some(Span(self.files.pause_ns.draw(&mut self.rng)))
    }

    /// No other file follows.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }
}

impl Uniform {
    /// From `from` to `until`, both included.
    fn draw(self, rng: &mut Pcg64Mcg) -> u64 {
        let values = u128::from(self.until.saturating_sub(self.from)) + 1;
        self.from + ((u128::from(rng.next_u64()) * values) >> 64) as u64
    }
}

/// Sequence numbers leave room for this many.
const MOST_PACKETS: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use rand_pcg::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn draws_are_uniform_and_reach_both_ends() {
        let mut rng = Pcg64Mcg::from_seed([7; 16]);
        let mut seen = [0_u32; 5];
        for _ in 0..50_000 {
            seen[Uniform { from: 3, until: 7 }.draw(&mut rng) as usize - 3] += 1;
        }
        assert!(seen.iter().all(|count| count.abs_diff(10_000) < 400), "{seen:?}");
        assert_eq!(Uniform { from: 9, until: 9 }.draw(&mut rng), 9);
    }
}
