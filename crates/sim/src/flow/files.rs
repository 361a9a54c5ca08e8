//! A source of files: one after the other over the same route, each on a connection of its own, or
//! all on one.
//!
//! A connection begins only after the one before has had its last ACK, and its packets follow the
//! earlier ones through the same FIFO links. So packets and ACKs of two connections at most are
//! under way at any time, and one bit on them tells which is which.

use firstflight_core::units::{Instant, Span};
use firstflight_link::stream;
use firstflight_results::FileOutcome;
use rand_pcg::Pcg64Mcg;

use crate::memory::PastConnection;
use crate::network::{FilesSpec, FlowSpec};
use crate::tcp::Tcp;

/// Sizes and pauses of one source, file by file: the same to everybody who draws them with a seed.
#[derive(Clone, Debug)]
pub struct FileDraws {
    files: FilesSpec,
    rng: Pcg64Mcg,
}

impl FileDraws {
    /// The files of the flow at this place in the network.
    pub fn new(files: FilesSpec, seed: u64, place: u64) -> Self {
        Self { files, rng: stream(seed, FILES_STREAM + place) }
    }

    /// The packets of the next file.
    pub fn packets(&mut self, packet_bytes: u64) -> u32 {
        let bytes = self.files.bytes.draw(&mut self.rng);
        bytes.div_ceil(packet_bytes.max(1)).clamp(1, MOST_PACKETS) as u32
    }

    /// The pause after it.
    pub fn pause(&mut self) -> Span {
        Span(self.files.pause_ns.draw(&mut self.rng))
    }
}

/// Which file comes next, and what became of those before.
#[derive(Debug)]
pub(crate) struct FileSource<'a> {
    spec: &'a FlowSpec,
    draws: FileDraws,
    sending: bool,
    stopped: bool,
    /// A connection has begun.
    connected: bool,
    /// Size of the file under way.
    packets: u32,
    /// When the file under way began.
    began: Instant,
    /// What had been sent before the file under way.
    sent_before: u64,
    /// What the connection before left behind; with Fast Open, its cookie too.
    pub(crate) own: Option<PastConnection>,
    /// Packets delivered of all files before this one.
    pub(crate) delivered_before: u64,
    /// The files that are over.
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
    pub(crate) fn new(spec: &'a FlowSpec, draws: FileDraws) -> Self {
        Self {
            spec,
            draws,
            sending: false,
            stopped: false,
            connected: false,
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
        let packets = self.next_file(now, earlier)?;
        self.connected = true;
        let endpoint = &self.spec.endpoint;
        let syn = endpoint.syn && !(endpoint.fast_open && self.own.is_some());
        let next = Next { packets, syn };
        Some((earlier.successor(self.spec, packets, syn), next))
    }

    /// Whether the next file goes to the connection that there is.
    pub(crate) fn keeps_connection(&self) -> bool {
        self.draws.files.keep_alive && self.connected
    }

    /// The packets of the next file, which `tcp` sends or another connection after it; `None` if
    /// the source has been stopped.
    pub(crate) fn next_file(&mut self, now: Instant, tcp: &Tcp) -> Option<u32> {
        if self.stopped {
            return None;
        }
        self.sending = true;
        self.packets = self.draws.packets(self.spec.data_bytes());
        self.began = now;
        self.sent_before = tcp.counts().sent_packets;
        Some(self.packets)
    }

    /// The sender has had the last ACK of the file, which was all `delivered` at some time before:
    /// the pause until the next file, if one follows.
    pub(crate) fn end(
        &mut self,
        tcp: &Tcp,
        delivered: Option<Instant>,
        kept: Option<PastConnection>,
    ) -> Option<Span> {
        if !std::mem::take(&mut self.sending) {
            return None;
        }
        self.own = kept.or(self.own);
        // A stop leaves the file it cuts short without an end.
        let delivered = delivered?;
        let sent = tcp.counts().sent_packets - self.sent_before;
        let (packets, began) = (self.packets, self.began);
        self.done.push(FileOutcome { packets, sent, began, delivered });
        Some(self.draws.pause())
    }

    /// No other file follows.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }
}

/// Streams of sources of files begin here; below are the links' and the starts of flows.
const FILES_STREAM: u64 = 1 << 33;

/// Sequence numbers leave room for this many.
const MOST_PACKETS: u64 = 1 << 30;
