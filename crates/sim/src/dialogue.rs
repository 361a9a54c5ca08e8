//! What a flow's packets say to the routers on their way, and what its ACKs bring back from them.
//! Few flows have one, so what is said travels beside the packets: the packets of a flow do not
//! overtake one another, nor do its ACKs, so that the first in a queue belongs to the first to
//! come.

use std::collections::VecDeque;

use firstflight_core::feedback::Feedback;
use firstflight_core::needs::Facilities;
use firstflight_core::units::{Instant, Rate};

use crate::control::Wants;
use crate::link::Link;
use crate::router::Header;

/// A flow's talk with the routers.
#[derive(Debug)]
pub(crate) struct Dialogue {
    /// What is left of the rate that the connection's SYN asks for; 0 if it does not ask.
    pub(crate) asked_bps: u64,
    listens: Facilities,
    /// What packets on the way to each link carry.
    under_way: Vec<VecDeque<Header>>,
    /// What the packet carried that came over the last link last.
    arrived: Option<Header>,
    /// What has reached the receiver since its last ACK.
    received: Told,
    /// What ACKs under way bring back, and for which connection.
    back: VecDeque<(u64, Told)>,
    connection: u64,
}

/// What routers told, on a link.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    change_bps: i64,
    share_bps: Option<u64>,
}

/// A packet at a link of its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// On the link.
    pub(crate) bytes: u64,
    pub(crate) is_syn: bool,
    pub(crate) at: Instant,
    pub(crate) flow: u16,
    pub(crate) hop: usize,
}

impl Dialogue {
    /// Of a flow that wants something of the routers over so many links; `None` for one that does
    /// not.
    pub(crate) fn of(wants: Wants, links: usize) -> Option<Box<Self>> {
        let fresh = || Self {
            asked_bps: 0,
            listens: wants.listens(),
            under_way: vec![VecDeque::new(); links],
            arrived: None,
            received: Told::default(),
            back: VecDeque::new(),
            connection: 0,
        };
        wants.talks().then(|| Box::new(fresh()))
    }

    /// A new connection begins. What was told on the one before means nothing to it.
    pub(crate) fn renew(&mut self, asked_bps: u64) {
        self.asked_bps = asked_bps;
        self.connection += 1;
        self.received = Told::default();
    }

    /// A packet leaves a sender that listens.
    pub(crate) fn write_header(&mut self, header: Header) {
        self.under_way[0].push_back(header);
    }

    /// A packet reaches a link.
    pub(crate) fn pass(&mut self, link: &mut Link, packet: Passing) {
        let Passing { bytes, is_syn, at, flow, hop } = packet;
        if self.asked_bps > 0 && is_syn {
            self.asked_bps = link.approve(at, self.asked_bps);
        }
        let Some(mut header) = self.under_way[hop].pop_front() else { return };
        link.mark(at, bytes, (flow, self.listens), &mut header);
        match self.under_way.get_mut(hop + 1) {
            Some(next) => next.push_back(header),
            None => self.arrived = Some(header),
        }
    }

    /// That packet found no room there, or was lost behind it.
    pub(crate) fn lose(&mut self, hop: usize) {
        match self.under_way.get_mut(hop + 1) {
            Some(next) => drop(next.pop_back()),
            None => self.arrived = None,
        }
    }

    /// A packet of this connection reaches the receiver.
    pub(crate) fn receive(&mut self) {
        let Some(header) = self.arrived.take() else { return };
        self.received.change_bps = self.received.change_bps.saturating_add(header.change_bps);
        self.received.share_bps = Some(header.share_bps);
    }

    /// The receiver sends an ACK.
    pub(crate) fn answer(&mut self) {
        if !self.listens.is_empty() {
            self.back.push_back((self.connection, std::mem::take(&mut self.received)));
        }
    }

    /// An ACK of this connection reaches the sender: what it brings, as `payload_bps` turns bits
    /// per second on a link into those of payload.
    pub(crate) fn read_feedback(
        &mut self,
        payload_bps: impl Fn(u64) -> u64,
    ) -> [Option<Feedback>; 2] {
        while self.back.front().is_some_and(|(connection, _)| *connection < self.connection) {
            self.back.pop_front();
        }
        let Some((_, told)) = self.back.pop_front() else { return [None; 2] };
        let change = payload_bps(told.change_bps.unsigned_abs());
        let change = i64::try_from(change).unwrap_or(i64::MAX) * told.change_bps.signum();
        let share = told.share_bps.map(|bps| Rate::from_bits_per_second(payload_bps(bps)));
        [
            Some(Feedback::Change(change)).filter(|_| self.listens.has(Facilities::ROUTER_CHANGES)),
            share.map(Feedback::Share).filter(|_| self.listens.has(Facilities::ROUTER_SHARES)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use firstflight_core::units::Span;

    use super::*;
    use crate::loss::LossSpec;
    use crate::network::{Buffer, LinkSpec};
    use crate::random::stream;

    const SHARE: Wants = Wants::listening_to(Facilities::ROUTER_SHARES);

    fn link() -> Link {
        let spec = LinkSpec {
            rate_bps: 8_000_000,
            delay: Span(0),
            buffer: Buffer::Unlimited,
            in_service_counts: false,
            loss: LossSpec::NONE,
            drop_nth: Vec::new(),
        };
        let mut link = Link::new(&spec, stream(1, 0), Instant(1_000_000));
        link.serve(SHARE);
        link
    }

    fn pass(dialogue: &mut Dialogue, hop: usize) {
        let packet = Passing { bytes: 1_000, is_syn: false, at: Instant(0), flow: 0, hop };
        dialogue.pass(&mut link(), packet);
    }

    #[test]
    fn what_a_lost_packet_carried_is_lost_with_it() {
        for lost_at in [0, 1] {
            let mut dialogue = *Dialogue::of(SHARE, 2).unwrap();
            (1..=2).for_each(|spacing| dialogue.write_header(Header::new(Span(9), Span(spacing))));
            (0..=lost_at).for_each(|hop| pass(&mut dialogue, hop));
            dialogue.lose(lost_at);
            (0..2).for_each(|hop| pass(&mut dialogue, hop));
            assert_eq!(dialogue.arrived.unwrap().spacing, Span(2), "the second is not the first");
        }
    }

    #[test]
    fn a_connection_hears_nothing_that_was_told_to_the_one_before() {
        let mut dialogue = *Dialogue::of(SHARE, 1).unwrap();
        let answered = |dialogue: &mut Dialogue, bps| {
            dialogue.received.share_bps = Some(bps);
            dialogue.answer();
        };
        answered(&mut dialogue, 8_000);
        dialogue.renew(0);
        answered(&mut dialogue, 16_000);
        let told = dialogue.read_feedback(|bps| bps / 2);
        assert_eq!(told, [None, Some(Feedback::Share(Rate(1_000)))]);
        assert_eq!(dialogue.read_feedback(|bps| bps), [None; 2]);
    }
}
