//! What a flow's packets say to the routers on their way, and what its ACKs bring back from them;
//! and marks of congestion, which links set and the receiver echoes (RFC 3168).
//! Few flows have one, so what is said travels beside the packets: the packets of a flow do not
//! overtake one another, nor do its ACKs, so that the first in a queue belongs to the first to
//! come.

use std::collections::VecDeque;

use firstflight_core::feedback::Feedback;
use firstflight_core::needs::Facilities;
use firstflight_core::units::{Instant, Rate};

use crate::control::Wants;
use crate::link::{Link, Tie};
use crate::router::Header;

/// A flow's talk with the routers.
#[derive(Debug)]
pub(crate) struct Dialogue {
    /// What is left of the rate that the connection's SYN asks for; 0 if it does not ask.
    pub(crate) asked_bps: u64,
    listens: Facilities,
    /// Of a flow with ECN.
    ecn: bool,
    /// The receiver echoes a mark, until it hears that the window was reduced
    /// (`TCP_ECN_DEMAND_CWR`).
    echoes: bool,
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
    /// ECN-Echo.
    echo: bool,
}

/// What an ACK brings to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) feedback: [Option<Feedback>; 2],
    /// It echoes a mark.
    pub(crate) echo: bool,
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
    pub(crate) tie: Tie,
}

impl Dialogue {
    /// Of a flow that wants something of the routers over so many links, or has ECN; `None` for one
    /// without either.
    pub(crate) fn of(wants: Wants, ecn: bool, links: usize) -> Option<Box<Self>> {
        let fresh = || Self {
            asked_bps: 0,
            listens: wants.listens(),
            ecn,
            echoes: false,
            under_way: vec![VecDeque::new(); links],
            arrived: None,
            received: Told::default(),
            back: VecDeque::new(),
            connection: 0,
        };
        (wants.talks() || ecn).then(|| Box::new(fresh()))
    }

    /// A new connection begins. What was told on the one before means nothing to it.
    pub(crate) fn renew(&mut self, asked_bps: u64) {
        self.asked_bps = asked_bps;
        self.connection += 1;
        self.received = Told::default();
        self.echoes = false;
    }

    /// A packet leaves a sender that listens, or has ECN.
    pub(crate) fn write_header(&mut self, header: Header) {
        self.under_way[0].push_back(header);
    }

    /// A packet reaches a link. Whether it is marked there, if it finds room.
    pub(crate) fn pass(&mut self, link: &mut Link, packet: Passing) -> bool {
        let Passing { bytes, is_syn, at, flow, hop, tie } = packet;
        if self.asked_bps > 0 && is_syn {
            self.asked_bps = link.approve(at, self.asked_bps);
        }
        let Some(mut header) = self.under_way[hop].pop_front() else { return false };
        link.mark(at, bytes, (flow, self.listens), &mut header);
        let marks = header.ecn.capable && link.is_congested(at, tie);
        header.ecn.marked |= marks;
        match self.under_way.get_mut(hop + 1) {
            Some(next) => next.push_back(header),
            None => self.arrived = Some(header),
        }
        marks
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

    /// A packet of this connection is about to be taken by the receiver: how many ACKs from now on
    /// are not to be delayed. Linux answers at once the first mark and the packet after it, because
    /// the sender's window may be small (`__tcp_ecn_check_ce`), and what says that the window was
    /// reduced (`tcp_ecn_accept_cwr`).
    pub(crate) fn hurries(&mut self) -> u32 {
        let Some(Header { ecn, .. }) = self.arrived.filter(|_| self.ecn) else { return 0 };
        self.echoes &= !ecn.reduced;
        let begins = ecn.marked && !self.echoes;
        self.echoes |= ecn.marked;
        match (begins, ecn.reduced) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }

    /// Whether the flow has ECN.
    pub(crate) fn has_ecn(&self) -> bool {
        self.ecn
    }

    /// The receiver sends an ACK.
    pub(crate) fn answer(&mut self) {
        if !self.listens.is_empty() || self.ecn {
            let told = Told { echo: self.echoes, ..std::mem::take(&mut self.received) };
            self.back.push_back((self.connection, told));
        }
    }

    /// An ACK of this connection reaches the sender: what it brings, as `payload_bps` turns bits
    /// per second on a link into those of payload.
    pub(crate) fn read_feedback(&mut self, payload_bps: impl Fn(u64) -> u64) -> Heard {
        while self.back.front().is_some_and(|(connection, _)| *connection < self.connection) {
            self.back.pop_front();
        }
        let Some((_, told)) = self.back.pop_front() else { return Heard::default() };
        let change = payload_bps(told.change_bps.unsigned_abs());
        let change = i64::try_from(change).unwrap_or(i64::MAX) * told.change_bps.signum();
        let share = told.share_bps.map(|bps| Rate::from_bits_per_second(payload_bps(bps)));
        let feedback = [
            Some(Feedback::Change(change)).filter(|_| self.listens.has(Facilities::ROUTER_CHANGES)),
            share.map(Feedback::Share).filter(|_| self.listens.has(Facilities::ROUTER_SHARES)),
        ];
        Heard { feedback, echo: told.echo }
    }
}

#[cfg(test)]
mod tests {
    use firstflight_core::units::Span;

    use super::*;
    use crate::loss::LossSpec;
    use crate::network::{Buffer, LinkSpec};
    use crate::random::stream;
    use crate::router::EcnBits;

    const SHARE: Wants = Wants::listening_to(Facilities::ROUTER_SHARES);

    fn link() -> Link {
        let spec = LinkSpec {
            rate_bps: 8_000_000,
            delay: Span(0),
            buffer: Buffer::Unlimited,
            in_service_counts: false,
            mark_from: None,
            loss: LossSpec::NONE,
            drop_nth: Vec::new(),
        };
        let mut link = Link::new(&spec, stream(1, 0), Instant(1_000_000));
        link.serve(SHARE);
        link
    }

    fn pass(dialogue: &mut Dialogue, hop: usize) {
        let packet = Passing {
            bytes: 1_000,
            is_syn: false,
            at: Instant(0),
            flow: 0,
            hop,
            tie: Tie::DEPARTURE_FIRST,
        };
        dialogue.pass(&mut link(), packet);
    }

    #[test]
    fn what_a_lost_packet_carried_is_lost_with_it() {
        for lost_at in [0, 1] {
            let mut dialogue = *Dialogue::of(SHARE, false, 2).unwrap();
            (1..=2).for_each(|spacing| dialogue.write_header(Header::new(Span(9), Span(spacing))));
            (0..=lost_at).for_each(|hop| pass(&mut dialogue, hop));
            dialogue.lose(lost_at);
            (0..2).for_each(|hop| pass(&mut dialogue, hop));
            assert_eq!(dialogue.arrived.unwrap().spacing, Span(2), "the second is not the first");
        }
    }

    /// RFC 3168 section 6.1.3: every ACK echoes a mark until a packet says that the window was
    /// reduced; that packet may be marked itself.
    #[test]
    fn a_mark_is_echoed_until_the_window_was_reduced() {
        let mut dialogue = *Dialogue::of(Wants::default(), true, 1).unwrap();
        let mut arrive = |marked, reduced| {
            let ecn = EcnBits { capable: true, marked, reduced };
            dialogue.arrived = Some(Header { ecn, ..Header::new(Span(9), Span(9)) });
            let hurries = dialogue.hurries();
            dialogue.receive();
            dialogue.answer();
            (hurries, dialogue.read_feedback(|bps| bps).echo)
        };
        assert_eq!(arrive(false, false), (0, false));
        assert_eq!(arrive(true, false), (2, true));
        assert_eq!(arrive(false, false), (0, true));
        assert_eq!(arrive(true, false), (0, true));
        assert_eq!(arrive(false, true), (1, false));
        assert_eq!(arrive(true, true), (2, true), "reduced, and marked again");
        assert_eq!(arrive(true, true), (2, true));
        assert_eq!(arrive(false, true), (1, false));
    }

    #[test]
    fn a_connection_hears_nothing_that_was_told_to_the_one_before() {
        let mut dialogue = *Dialogue::of(SHARE, false, 1).unwrap();
        let answered = |dialogue: &mut Dialogue, bps| {
            dialogue.received.share_bps = Some(bps);
            dialogue.answer();
        };
        answered(&mut dialogue, 8_000);
        dialogue.renew(0);
        answered(&mut dialogue, 16_000);
        let told = dialogue.read_feedback(|bps| bps / 2);
        assert_eq!(told.feedback, [None, Some(Feedback::Share(Rate(1_000)))]);
        assert_eq!(dialogue.read_feedback(|bps| bps), Heard::default());
    }
}
