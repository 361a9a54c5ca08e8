//! What the judge tells a controller, and what it asks: QUIC's kind of events.

/// Nanoseconds since the beginning.
pub(crate) type Time = u64;

/// Bytes of every packet.
pub(crate) const PACKET: u64 = 1_200;

/// Packets of the initial window.
pub(crate) const IW: u64 = 10;

/// A packet, as its sender remembers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) number: u64,
    pub(crate) sent_at: Time,
}

/// An ACK frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) now: Time,
    /// What it newly acknowledges, oldest first; never empty.
    pub(crate) packets: &'a [Packet],
    /// Bytes in flight after it.
    pub(crate) in_flight: u64,
    /// The number of the next packet to be sent.
    pub(crate) next: u64,
}

impl Frame<'_> {
    /// The newest packet that it acknowledges.
    pub(crate) fn newest(&self) -> Packet {
        self.packets[self.packets.len() - 1]
    }

    /// The RTT of that packet.
    pub(crate) fn rtt(&self) -> Time {
        self.now - self.newest().sent_at
    }
}

/// A controller under the judge.
pub(crate) trait Peer {
    /// A packet leaves; `in_flight` includes it.
    fn on_sent(&mut self, packet: Packet, in_flight: u64);

    /// An ACK frame came.
    fn on_frame(&mut self, frame: &Frame);

    /// Packets are lost, found at the same time as the last frame. Oldest first; never empty.
    fn on_lost(&mut self, now: Time, packets: &[Packet], in_flight: u64);

    /// Bytes that may be in flight.
    fn window(&self) -> u64;

    /// The pace that it sets itself: bytes per second.
    fn rate(&self) -> Option<u64> {
        None
    }

    /// Start-up is over, by its own word.
    fn left(&self) -> bool;
}
