//! What the two ends of a flow keep of marks of congestion, which links set and the receiver echoes
//! (RFC 3168), and of the routers' feedback. Few flows have either.

use firstflight_core::feedback::Feedback;
use firstflight_core::needs::Facilities;
use firstflight_core::units::Rate;
use firstflight_link::Ecn;

use crate::control::Wants;
use crate::endpoint::EcnFeedback;
use crate::packet::{Label, Report};

/// What a flow's ends keep of marks and routers.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The rate that the connection's first SYN asks for; 0 if it does not ask, or has.
    asks_bps: u64,
    /// The routers' feedback that the control needs.
    listens: Facilities,
    /// How the receiver of a flow with ECN reports marks.
    ecn: Option<EcnFeedback>,
    /// The receiver echoes a mark: until it learns that the window was reduced
    /// (`TCP_ECN_DEMAND_CWR`), or, as DCTCP's and AccECN's, until a packet comes without one
    /// (`DCTCP.CE`).
    echoes: bool,
    /// What has reached the receiver since its last ACK.
    received: Report,
    /// What the ACK reports that the sender had last.
    reported: Report,
    /// Marked packets that lost ACKs reported.
    lost_marks: u32,
}

/// What an ACK brings to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckSignals {
    pub(crate) feedback: [Option<Feedback>; 2],
    /// It echoes a mark.
    pub(crate) echo: bool,
    /// By AccECN or QUIC: so many packets more were marked.
    pub(crate) marked: u32,
}

impl Signals {
    /// What a flow keeps that talks to routers or has ECN; `None` for one that does neither.
    pub(crate) fn of(wants: Wants, ecn: Option<EcnFeedback>) -> Option<Box<Self>> {
        let fresh = || Self {
            asks_bps: 0,
            listens: wants.listens(),
            ecn,
            echoes: false,
            received: Report::default(),
            reported: Report::default(),
            lost_marks: 0,
        };
        (wants.talks() || ecn.is_some()).then(|| Box::new(fresh()))
    }

    /// A new connection begins. Reports on the one before mean nothing to it.
    pub(crate) fn renew(&mut self, asks_bps: u64) {
        *self =
            Self { asks_bps, echoes: false, received: Report::default(), lost_marks: 0, ..*self };
    }

    /// The sender's SYN leaves: the rate that it asks for. One that is sent again asks for none.
    pub(crate) fn ask(&mut self) -> u64 {
        std::mem::take(&mut self.asks_bps)
    }

    /// A packet is about to be taken by the receiver: how many ACKs from now on are not to be
    /// delayed. Linux answers at once the first mark and the packet after it, because the sender's
    /// window may be small (`__tcp_ecn_check_ce`), and what says that the window was reduced
    /// (`tcp_ecn_accept_cwr`).
    pub(crate) fn immediate_acks(&mut self, label: &Label) -> u32 {
        let (marked, reduced) = (label.ecn == Ecn::Ce, label.reduced);
        match self.ecn {
            None => return 0,
            Some(EcnFeedback::Classic) => {}
            Some(feedback) => return self.count_mark(marked, reduced, feedback),
        }
        self.echoes &= !reduced;
        let begins = marked && !self.echoes;
        self.echoes |= marked;
        match (begins, reduced) {
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
    fn count_mark(&mut self, marked: bool, reduced: bool, feedback: EcnFeedback) -> u32 {
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
    pub(crate) fn ends_run(&self, label: &Label) -> bool {
        self.ecn == Some(EcnFeedback::Dctcp) && (label.ecn == Ecn::Ce) != self.echoes
    }

    /// Whether the flow has ECN.
    pub(crate) fn has_ecn(&self) -> bool {
        self.ecn.is_some()
    }

    /// The receiver has taken a packet in, with what routers wrote into it.
    pub(crate) fn receive(&mut self, label: &Label) {
        let Some(header) = &label.header else { return };
        self.received.change_bps = self.received.change_bps.saturating_add(header.change_bps);
        self.received.share_bps = Some(header.share_bps);
        self.received.granted_bps = header.asked_bps;
    }

    /// The receiver sends an ACK: what it reports.
    pub(crate) fn answer(&mut self) -> Box<Report> {
        Box::new(Report { echo: self.echoes, ..std::mem::take(&mut self.received) })
    }

    /// An ACK has been lost. The next one reports its marks, because its counters hold them; the
    /// routers' feedback in it is lost.
    #[cold]
    pub(crate) fn lose(&mut self, report: &Report) {
        self.lost_marks += report.marked;
    }

    /// An ACK arrives that is the first after lost ones: it reports their marks too.
    pub(crate) fn repeat(&mut self, report: &mut Report) {
        report.marked += std::mem::take(&mut self.lost_marks);
    }

    /// An ACK, or part of one, comes to the sender.
    pub(crate) fn note(&mut self, report: Option<&Report>) {
        self.reported = report.copied().unwrap_or_default();
    }

    /// What the routers granted the SYN, as the ACK at hand says, in bits per second on a link.
    pub(crate) fn granted_bps(&self) -> u64 {
        self.reported.granted_bps
    }

    /// What the ACK at hand brings, as `payload_bps` turns bits per second on a link into those of
    /// payload.
    pub(crate) fn read(&self, payload_bps: impl Fn(u64) -> u64) -> AckSignals {
        let report = &self.reported;
        let change = payload_bps(report.change_bps.unsigned_abs());
        let change = i64::try_from(change).unwrap_or(i64::MAX) * report.change_bps.signum();
        let share = report.share_bps.map(|bps| Rate::from_bits_per_second(payload_bps(bps)));
        let feedback = [
            Some(Feedback::Change(change)).filter(|_| self.listens.has(Facilities::ROUTER_CHANGES)),
            share.map(Feedback::Share).filter(|_| self.listens.has(Facilities::ROUTER_SHARES)),
        ];
        AckSignals { feedback, echo: report.echo, marked: report.marked }
    }
}

#[cfg(test)]
mod tests {
    use firstflight_core::units::Span;

    use super::*;
    use crate::packet::Header;

    fn signals(ecn: EcnFeedback) -> Box<Signals> {
        Signals::of(Wants::default(), Some(ecn)).unwrap()
    }

    fn label(marked: bool, reduced: bool) -> Label {
        Label { ecn: if marked { Ecn::Ce } else { Ecn::Ect0 }, reduced, header: None }
    }

    /// RFC 3168 section 6.1.3: every ACK echoes a mark until a packet says that the window was
    /// reduced; that packet may be marked itself.
    #[test]
    fn a_mark_is_echoed_until_the_window_was_reduced() {
        let mut signals = signals(EcnFeedback::Classic);
        let mut arrive = |marked, reduced| {
            let label = label(marked, reduced);
            let immediate_acks = signals.immediate_acks(&label);
            signals.receive(&label);
            (immediate_acks, signals.answer().echo)
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

    fn taken(signals: &mut Signals, marked: bool) -> (bool, u32) {
        let label = label(marked, false);
        (signals.ends_run(&label), signals.immediate_acks(&label))
    }

    /// RFC 8257 section 3.2, figure 1: an ACK at once in either direction.
    #[test]
    fn dctcp_echoes_runs_of_marks() {
        let mut signals = signals(EcnFeedback::Dctcp);
        for (marked, at_once) in [(false, 0), (true, 1), (true, 0), (false, 1), (false, 0)] {
            assert_eq!(taken(&mut signals, marked), (at_once == 1, at_once), "{marked}");
            assert_eq!(signals.answer().echo, marked);
        }
        let reduced = label(false, true);
        assert_eq!((signals.ends_run(&reduced), signals.immediate_acks(&reduced)), (false, 1));
    }

    /// RFC 9768 section 3.2.2.5.1; an ACK reports all marks since the one before, and none twice.
    /// The next ACK repeats what a lost one reported.
    #[test]
    fn accurate_ecn_counts_marks_between_acks() {
        let mut signals = signals(EcnFeedback::Accurate);
        assert_eq!(taken(&mut signals, true), (false, 1), "the first mark");
        let mut first = signals.answer();
        assert_eq!(first.marked, 1);
        assert_eq!(taken(&mut signals, true), (false, 0), "one since the last ACK");
        assert_eq!(taken(&mut signals, true), (false, 1), "two");
        assert_eq!(taken(&mut signals, false), (false, 0));
        assert_eq!([2, 0].map(|_| signals.answer().marked), [2, 0]);
        signals.lose(&first);
        signals.lose(&first);
        for marked in [3, 1] {
            first.marked = 1;
            signals.repeat(&mut first);
            assert_eq!(first.marked, marked);
        }
    }

    #[test]
    fn a_connection_gets_no_feedback_to_the_one_before() {
        let wants = Wants::listening_to(Facilities::ROUTER_SHARES);
        let mut signals = Signals::of(wants, None).unwrap();
        let labelled = |share_bps| {
            let header = Header { share_bps, ..Header::new(Span(9), Span(9)) };
            Label { header: Some(Box::new(header)), ..Label::NONE }
        };
        signals.receive(&labelled(8_000));
        signals.renew(1_000);
        assert_eq!(signals.answer().share_bps, None);
        signals.receive(&labelled(16_000));
        let report = signals.answer();
        signals.note(Some(&report));
        let read = signals.read(|bps| bps / 2);
        assert_eq!(read.feedback, [None, Some(Feedback::Share(Rate(1_000)))]);
        assert_eq!(
            [1, 2].map(|_| signals.ask()),
            [1_000, 0],
            "a SYN that is sent again asks nothing"
        );
    }
}
