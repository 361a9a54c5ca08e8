//! The journeys of packets: when each left, waited, was lost or arrived, and when ACKs reached the
//! sender. No flow takes a fast path while they are recorded.

use firstflight_core::units::Instant;

use crate::fast::FastPaths;
use crate::net::Net;
use crate::network::Network;
use crate::packet::{AckOut, Kind, Packet};
use crate::run::Engine;

/// The journeys of the packets of a network's TCP flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// In the order in which they left.
    pub packets: Vec<Journey>,
    /// In the order in which they left.
    pub acks: Vec<AckJourney>,
    /// Whether more packets have left than were to be followed. What happens later is not recorded.
    pub is_full: bool,
    most: usize,
    /// The link that is watched.
    link: usize,
    /// Places in `packets` of those that are neither lost nor received.
    under_way: Vec<usize>,
}

/// What became of a packet of data, or of the SYN that is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journey {
    /// Its flow's place in the network.
    pub flow: usize,
    /// Which packet of the flow it is. One that is sent again has a journey for each time.
    pub seq: u32,
    /// It left its sender.
    pub left: Instant,
    /// It came to the link that is watched.
    pub came: Option<Instant>,
    /// That link began to send it.
    pub sent: Option<Instant>,
    /// A link lost it.
    pub lost: Option<Instant>,
    /// It reached the receiver.
    pub received: Option<Instant>,
}

/// An ACK on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckJourney {
    /// Its flow's place in the network.
    pub flow: usize,
    /// The next packet that the receiver expects.
    pub next: u32,
    /// It left the receiver.
    pub left: Instant,
    /// It reached the sender.
    pub home: Instant,
}

/// Runs `network` until `most` packets of its TCP flows have left, or to its end, and follows them;
/// `link` is where their waiting is watched.
pub fn follow(network: &Network, link: usize, most: usize) -> Journal {
    let mut engine = Engine::new(network, Vec::new(), FastPaths::Off);
    engine.net.journal = Some(Box::new(Journal { most, link, ..Journal::default() }));
    let is_full = |net: &Net| net.journal.as_ref().is_some_and(|it| it.is_full);
    // It is interrupted where more packets leave than are followed.
    let _ = engine.run(&mut |net| !is_full(net));
    engine.net.journal.take().map_or_else(Journal::default, |journal| *journal)
}

/// What a link does with a packet that comes to it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// It waits in a queue that decides later.
    Waits,
    /// The link begins to send it then.
    Sent(Instant),
    Lost,
}

impl Journal {
    /// A packet leaves its sender.
    pub(crate) fn leave(&mut self, flow: u16, kind: &Kind, left: Instant) {
        let Some(seq) = number(kind) else { return };
        self.is_full |= self.packets.len() >= self.most;
        if !self.is_full {
            let (came, sent, lost, received) = (None, None, None, None);
            self.under_way.push(self.packets.len());
            let flow = flow.into();
            self.packets.push(Journey { flow, seq, left, came, sent, lost, received });
        }
    }

    /// A packet comes to a link.
    pub(crate) fn cross(&mut self, packet: &Packet, link: usize, now: Instant, fate: Fate) {
        let is_watched = link == self.link;
        let Some(place) = self.find(packet, |it| !is_watched || it.came.is_none()) else { return };
        let journey = &mut self.packets[self.under_way[place]];
        if is_watched {
            journey.came = Some(now);
        }
        match fate {
            Fate::Waits => {}
            Fate::Sent(at) if is_watched => journey.sent = Some(at),
            Fate::Sent(_) => {}
            Fate::Lost => self.lose(place, now),
        }
    }

    /// A queue has sent a packet that waited there, or dropped it.
    pub(crate) fn serve(&mut self, packet: &Packet, link: usize, at: Instant, is_sent: bool) {
        let waits = |it: &Journey| link != self.link || it.came.is_some() && it.sent.is_none();
        let Some(place) = self.find(packet, waits) else { return };
        match is_sent {
            true if link == self.link => self.packets[self.under_way[place]].sent = Some(at),
            true => {}
            false => self.lose(place, at),
        }
    }

    /// A packet reaches the receiver.
    pub(crate) fn receive(&mut self, flow: u16, seq: u32, at: Instant) {
        let is_it = |it: &Journey| it.flow == usize::from(flow) && it.seq == seq;
        let Some(place) = self.under_way.iter().position(|it| is_it(&self.packets[*it])) else {
            return;
        };
        let journey = self.under_way.remove(place);
        self.packets[journey].received = Some(at);
    }

    /// An ACK will reach the sender.
    pub(crate) fn acknowledge(&mut self, flow: u16, ack: &AckOut, home: Instant) {
        let AckOut { next, at: left, .. } = *ack;
        self.acks.push(AckJourney { flow: flow.into(), next, left, home });
    }

    fn lose(&mut self, place: usize, at: Instant) {
        let journey = self.under_way.remove(place);
        self.packets[journey].lost = Some(at);
    }

    /// The packet's place among those under way, the first sent first.
    fn find(&self, packet: &Packet, stands: impl Fn(&Journey) -> bool) -> Option<usize> {
        let seq = number(&packet.kind)?;
        let is_it = |it: &Journey| it.flow == packet.path as usize && it.seq == seq && stands(it);
        self.under_way.iter().position(|it| is_it(&self.packets[*it]))
    }
}

/// Which packet of its flow it is.
fn number(kind: &Kind) -> Option<u32> {
    match kind {
        Kind::Data(seq) => Some(*seq),
        Kind::Syn => Some(0),
        _ => None,
    }
}
