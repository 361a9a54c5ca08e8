//! What a flow's packets say to the routers on their way, and what its ACKs bring back from them;
//! and marks of congestion, which links set and the receiver echoes (RFC 3168).
//! Few flows have one, so what is said travels beside the packets, under their numbers. The ACKs of
//! a flow do not overtake one another, so that the first in their queue belongs to the first to
//! come.

use std::collections::VecDeque;

use firstflight_core::feedback::Feedback;
use firstflight_core::needs::Facilities;
use firstflight_core::units::{Instant, Rate};
use firstflight_link::Tie;

use crate::control::Wants;
use crate::endpoint::EcnFeedback;
use crate::link::Link;
use crate::router::{EcnBits, Header};

/// A flow's talk with the routers.
#[derive(Debug)]
pub(crate) struct Dialogue {
    /// What is left of the rate that the connection's SYN asks for; 0 if it does not ask.
    pub(crate) asked_bps: u64,
    /// What the control wants to hear.
    listens: Facilities,
    /// How the receiver of a flow with ECN reports marks.
    ecn: Option<EcnFeedback>,
    /// The receiver echoes a mark: until it hears that the window was reduced
    /// (`TCP_ECN_DEMAND_CWR`), or, as DCTCP's and AccECN's, until a packet comes without one
    /// (`DCTCP.CE`).
    echoes: bool,
    /// What packets on the way to each link carry, and behind those on the way to the receiver,
    /// under their numbers as they travel.
    under_way: Vec<VecDeque<(u32, Header)>>,
    /// What the packet carried that reached the receiver last.
    arrived: Option<Header>,
    /// What has reached the receiver since its last ACK.
    received: Report,
    /// What ACKs under way bring back, and for which connection.
    back: VecDeque<(u64, Report)>,
    /// The number of the connection, of a source that opens several.
    connection: u64,
}

/// What routers told, on a link.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    change_bps: i64,
    share_bps: Option<u64>,
    /// ECN-Echo.
    echo: bool,
    /// Packets marked since the ACK before: by how much AccECN's or QUIC's counters have grown.
    marked: u32,
}

/// What an ACK brings to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) feedback: [Option<Feedback>; 2],
    /// It echoes a mark.
    pub(crate) echo: bool,
    /// By AccECN or QUIC: so many packets more were marked.
    pub(crate) marked: u32,
}

/// A packet at a link of its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// Its number as it travels.
    pub(crate) tagged: u32,
    /// Its size on the link.
    pub(crate) bytes: u64,
    /// It opens the connection.
    pub(crate) is_syn: bool,
    /// When it reaches the link.
    pub(crate) at: Instant,
    /// The flow's number.
    pub(crate) flow: u16,
    /// The link's place on the flow's way, from 0.
    pub(crate) hop: usize,
    /// Who comes first of what reaches the link at one instant.
    pub(crate) tie: Tie,
}

impl Dialogue {
    /// The dialogue of a flow that asks the routers of `links` links, or has ECN; `None` for one
    /// without either.
    pub(crate) fn of(wants: Wants, ecn: Option<EcnFeedback>, links: usize) -> Option<Box<Self>> {
        let fresh = || Self {
            asked_bps: 0,
            listens: wants.listens(),
            ecn,
            echoes: false,
            under_way: vec![VecDeque::new(); links + 1],
            arrived: None,
            received: Report::default(),
            back: VecDeque::new(),
            connection: 0,
        };
        (wants.talks() || ecn.is_some()).then(|| Box::new(fresh()))
    }

    /// A new connection begins. What was told on the one before means nothing to it.
    pub(crate) fn renew(&mut self, asked_bps: u64) {
        self.asked_bps = asked_bps;
        self.connection += 1;
        self.received = Report::default();
        self.echoes = false;
    }

    /// A packet leaves a sender that listens, or has ECN.
    pub(crate) fn write_header(&mut self, tagged: u32, header: Header) {
        self.under_way[0].push_back((tagged, header));
    }

    /// A packet reaches a link. Whether it is marked there, if it finds room.
    pub(crate) fn pass(&mut self, link: &mut Link, packet: Passing) -> bool {
        let Passing { tagged, bytes, is_syn, at, flow, hop, tie } = packet;
        if self.asked_bps > 0 && is_syn {
            self.asked_bps = link.approve(at, self.asked_bps);
        }
        let Some(mut header) = take(&mut self.under_way[hop], tagged) else { return false };
        link.mark(at, bytes, (flow, self.listens), &mut header);
        let marks = header.ecn.capable && link.is_congested(at, tie);
        header.ecn.marked |= marks;
        self.under_way[hop + 1].push_back((tagged, header));
        marks
    }

    /// That packet found no room there, or was lost behind it.
    pub(crate) fn lose(&mut self, hop: usize) {
        self.under_way[hop + 1].pop_back();
    }

    /// The header of the packet that has just come to that link, which waits there.
    pub(crate) fn take_passed(&mut self, hop: usize) -> Option<Header> {
        self.under_way[hop + 1].pop_back().map(|(_, header)| header)
    }

    /// That packet leaves the link.
    pub(crate) fn put_passed(&mut self, hop: usize, tagged: u32, header: Header) {
        self.under_way[hop + 1].push_back((tagged, header));
    }

    /// The ECN field of the packet that has just passed that link.
    pub(crate) fn passed(&mut self, hop: usize) -> Option<&mut EcnBits> {
        self.under_way[hop + 1].back_mut().map(|(_, header)| &mut header.ecn)
    }

    /// A packet, of whatever connection, reaches the receiver.
    pub(crate) fn arrive(&mut self, tagged: u32) {
        self.arrived = self.under_way.last_mut().and_then(|queue| take(queue, tagged));
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
        let (Some(Header { ecn, .. }), Some(feedback)) = (self.arrived, self.ecn) else { return 0 };
        if feedback != EcnFeedback::Classic {
            return self.count_mark(ecn, feedback);
        }
        self.echoes &= !ecn.reduced;
        let begins = ecn.marked && !self.echoes;
        self.echoes |= ecn.marked;
        match (begins, ecn.reduced) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }

    /// Counts a mark with feedback that says how much was marked. DCTCP's answers at once the
    /// packet with which a run of marks begins or ends (RFC 8257 section 3.2), and as Linux what
    /// says that the window was reduced (`tcp_ecn_accept_cwr`). AccECN's answers at once the first
    /// mark after a packet without one, and every second mark (RFC 9768 section 3.2.2.5.1, with
    /// n = 2). QUIC's answers every mark at once (RFC 9000 section 13.2.1).
    fn count_mark(&mut self, ecn: EcnBits, feedback: EcnFeedback) -> u32 {
        let EcnBits { marked, reduced, .. } = ecn;
        let changes = self.echoes != marked;
        self.echoes = marked;
        self.received.marked += u32::from(marked);
        match feedback {
            EcnFeedback::Accurate => u32::from(marked && (changes || self.received.marked >= 2)),
            EcnFeedback::Counts => u32::from(marked),
            _ => u32::from(changes || reduced),
        }
    }

    /// Whether the packet about to be taken by the receiver ends a run of packets that were all
    /// marked, or all not, as DCTCP counts them: what waits is acknowledged by itself.
    pub(crate) fn ends_run(&self) -> bool {
        let marked = self.arrived.map(|header| header.ecn.marked);
        self.ecn == Some(EcnFeedback::Dctcp) && marked.is_some_and(|marked| marked != self.echoes)
    }

    /// Whether the flow has ECN.
    pub(crate) fn has_ecn(&self) -> bool {
        self.ecn.is_some()
    }

    /// The receiver sends an ACK.
    pub(crate) fn answer(&mut self) {
        if !self.listens.is_empty() || self.ecn.is_some() {
            let report = Report { echo: self.echoes, ..std::mem::take(&mut self.received) };
            self.back.push_back((self.connection, report));
        }
    }

    /// An ACK has been lost behind which so many more have set out: what it says of marks the next
    /// one says, whose counters hold it. What routers told with it is lost.
    #[cold]
    pub(crate) fn lose_answer(&mut self, behind: usize) {
        let Some(place) = self.back.len().checked_sub(behind + 1) else { return };
        let Some((connection, lost)) = self.back.remove(place) else { return };
        let next = self.back.get_mut(place).filter(|(of, _)| *of == connection);
        let next = next.map_or(&mut self.received, |(_, report)| report);
        next.marked += lost.marked;
    }

    /// An ACK of this connection reaches the sender: what it brings, as `payload_bps` turns bits
    /// per second on a link into those of payload.
    pub(crate) fn read_feedback(&mut self, payload_bps: impl Fn(u64) -> u64) -> Heard {
        while self.back.front().is_some_and(|(connection, _)| *connection < self.connection) {
            self.back.pop_front();
        }
        let Some((_, report)) = self.back.pop_front() else { return Heard::default() };
        let change = payload_bps(report.change_bps.unsigned_abs());
        let change = i64::try_from(change).unwrap_or(i64::MAX) * report.change_bps.signum();
        let share = report.share_bps.map(|bps| Rate::from_bits_per_second(payload_bps(bps)));
        let feedback = [
            Some(Feedback::Change(change)).filter(|_| self.listens.has(Facilities::ROUTER_CHANGES)),
            share.map(Feedback::Share).filter(|_| self.listens.has(Facilities::ROUTER_SHARES)),
        ];
        Heard { feedback, echo: report.echo, marked: report.marked }
    }
}

/// What packet `tagged` carries: mostly it is the first that comes.
fn take(queue: &mut VecDeque<(u32, Header)>, tagged: u32) -> Option<Header> {
    let place = queue.iter().position(|(other, _)| *other == tagged)?;
    queue.remove(place).map(|(_, header)| header)
}

#[cfg(test)]
mod tests {
    use firstflight_core::units::Span;

    use super::*;
    use crate::network::LinkSpec;
    use firstflight_link::{Buffer, LossSpec, stream};

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
            elements: Vec::new(),
            back: None,
            queue: None,
        };
        let mut link = Link::new(&spec, stream(1, 0), Instant(1_000_000));
        link.serve(SHARE);
        link
    }

    fn pass(dialogue: &mut Dialogue, tagged: u32, hop: usize) {
        let packet = Passing {
            tagged,
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
            let mut dialogue = *Dialogue::of(SHARE, None, 2).unwrap();
            for seq in 1..=2 {
                dialogue.write_header(seq, Header::new(Span(9), Span(u64::from(seq))));
            }
            (0..=lost_at).for_each(|hop| pass(&mut dialogue, 1, hop));
            dialogue.lose(lost_at);
            (0..2).for_each(|hop| pass(&mut dialogue, 2, hop));
            dialogue.arrive(2);
            assert_eq!(dialogue.arrived.unwrap().spacing, Span(2), "the second is not the first");
        }
    }

    /// RFC 3168 section 6.1.3: every ACK echoes a mark until a packet says that the window was
    /// reduced; that packet may be marked itself.
    #[test]
    fn a_mark_is_echoed_until_the_window_was_reduced() {
        let mut dialogue = *Dialogue::of(Wants::default(), Some(EcnFeedback::Classic), 1).unwrap();
        let mut arrive = |marked, reduced| {
            let ecn = EcnBits { capable: true, marked, reduced, ..EcnBits::default() };
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

    fn taken(dialogue: &mut Dialogue, marked: bool) -> (bool, u32) {
        let ecn = EcnBits { capable: true, marked, ..EcnBits::default() };
        dialogue.arrived = Some(Header { ecn, ..Header::new(Span(9), Span(9)) });
        let ends_run = dialogue.ends_run();
        let hurries = dialogue.hurries();
        dialogue.receive();
        (ends_run, hurries)
    }

    /// RFC 8257 section 3.2, figure 1: an ACK at once in either direction.
    #[test]
    fn dctcp_echoes_runs_of_marks() {
        let mut dialogue = *Dialogue::of(Wants::default(), Some(EcnFeedback::Dctcp), 1).unwrap();
        for (marked, at_once) in [(false, 0), (true, 1), (true, 0), (false, 1), (false, 0)] {
            assert_eq!(taken(&mut dialogue, marked), (at_once == 1, at_once), "{marked}");
            dialogue.answer();
            assert_eq!(dialogue.read_feedback(|bps| bps).echo, marked);
        }
        let ecn = EcnBits { capable: true, reduced: true, ..EcnBits::default() };
        dialogue.arrived = Some(Header { ecn, ..Header::new(Span(9), Span(9)) });
        assert_eq!((dialogue.ends_run(), dialogue.hurries()), (false, 1), "the window was reduced");
    }

    /// RFC 9768 section 3.2.2.5.1; an ACK tells of all since the one before, and of none twice.
    #[test]
    fn accurate_ecn_counts_marks_between_acks() {
        let ecn = Some(EcnFeedback::Accurate);
        let mut dialogue = *Dialogue::of(Wants::default(), ecn, 1).unwrap();
        assert_eq!(taken(&mut dialogue, true), (false, 1), "the first mark");
        dialogue.answer();
        assert_eq!(dialogue.read_feedback(|bps| bps).marked, 1);
        assert_eq!(taken(&mut dialogue, true), (false, 0), "one since the last ACK");
        assert_eq!(taken(&mut dialogue, true), (false, 1), "two");
        assert_eq!(taken(&mut dialogue, false), (false, 0));
        dialogue.answer();
        dialogue.answer();
        assert_eq!([2, 0].map(|_| dialogue.read_feedback(|bps| bps).marked), [2, 0]);
    }

    #[test]
    fn a_connection_hears_nothing_that_was_told_to_the_one_before() {
        let mut dialogue = *Dialogue::of(SHARE, None, 1).unwrap();
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
