//! Retransmission as ns-2.35's TCP/Linux does it when receivers report nothing out of order.
//!
//! That agent (`tcp-linux.cc`, `scoreboard1.cc`) finds losses by selective acknowledgements alone.
//! Without them duplicate ACKs neither repair nor release anything. Each of them only starts the
//! retransmission timer again, and the timer is what finds the loss: everything outstanding counts
//! as lost, and slow start sends it again from the first packet on. What the receiver has kept,
//! the first ACK behind it skips.
//!
//! The state Loss ends when everything sent before the timeout is acknowledged. If slow start has
//! not come back to ssthresh by then, the window rises to it at once, though not beyond what is in
//! flight and three packets.
//!
//! The SYN is the first packet of the window: data leaves with it, and its ACK lets the window grow
//! and is the first sample of the RTT.

use firstflight_core::units::Instant;

use crate::tcp::repair::{DataAck, Repair};
use crate::tcp::tcb::Tcb;
use crate::tcp::{Gaps, Wire};

#[derive(Debug, Default)]
pub(in crate::tcp) struct Ns2Linux {
    /// After a timeout: Linux's state `TCP_CA_Loss`.
    loss: bool,
}

impl Ns2Linux {
    /// `tcp_fastretrans_alert`, and `tcp_moderate_cwnd`.
    fn leave_loss(&mut self, tcb: &mut Tcb) {
        self.loss = false;
        let window = tcb.core.view().window;
        // `tcp_moderate_cwnd`: not beyond what is in flight and `tcp_max_burst`.
        if window.cwnd < window.ssthresh {
            let moderate = tcb.bytes((tcb.nxt - tcb.una).saturating_add(MAX_BURST));
            tcb.core.on_recovered(Some(window.ssthresh.min(moderate)));
        }
    }
}

impl Repair for Ns2Linux {
    #[inline(never)]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, early, .. } = ack;
        if next < tcb.una {
            return;
        }
        if next > tcb.una {
            tcb.new_ack(self, now, next, early);
        } else {
            tcb.duplicate_ack(self, now, early);
            tcb.rearm(now);
        }
        if self.loss && next >= tcb.recover {
            self.leave_loss(tcb);
        }
        tcb.send_window(self, now, 0, wire);
    }

    fn on_timeout(&mut self, _tcb: &mut Tcb, _now: Instant, _handshake: bool) -> Gaps {
        self.loss = true;
        Gaps::ONE
    }
}

/// `tcp_max_burst`.
const MAX_BURST: u32 = 3;

#[cfg(test)]
mod tests {
    use firstflight_core::units::{Bytes, Span};

    use super::*;
    use crate::endpoint::Recovery;
    use crate::endpoint::rules::{Halve, RtoRules, Timer};
    use crate::tcp::Tcp;
    use crate::tcp::testing::{Air, MSS, endpoint, flow};

    /// A sender of 2.6.22's CUBIC in ns-2, its clock at `now` ms, and what has left since it was
    /// asked last.
    struct Sender {
        tcp: Tcp,
        sent: Vec<u32>,
    }

    impl Sender {
        fn new(window: u64, ssthresh: u64) -> Self {
            let mut endpoint = endpoint();
            endpoint.recovery = Recovery::Ns2Linux;
            endpoint.syn = true;
            endpoint.initial_window = Bytes(MSS * window);
            endpoint.initial_ssthresh = Bytes(MSS * ssthresh);
            endpoint.rules.halve = Halve::Window;
            endpoint.growth_limit = false;
            let min = Span::from_millis(200);
            let timer = Timer::Ns2 { phase: Span(0), eighths_below: true };
            let initial = Span::from_secs(3);
            endpoint.rto = RtoRules { min, initial, timer, ..RtoRules::RFC };
            let mut tcp = Tcp::new(&flow("slow-start", "newreno", endpoint), true);
            let mut sent = Vec::new();
            tcp.start(Instant(0), &mut Air(&mut sent));
            Self { tcp, sent }
        }

        /// What leaves for an ACK of all before `next` that packet `cause` brings.
        fn ack(&mut self, at_ms: u64, next: u32, cause: u32) -> Vec<u32> {
            self.sent.clear();
            let now = Instant(at_ms * 1_000_000);
            self.tcp.on_ack(now, next, cause, &mut Air(&mut self.sent));
            self.sent.clone()
        }

        /// When the timer fires, in ms, and what leaves then.
        fn timeout(&mut self) -> (u64, Vec<u32>) {
            self.sent.clear();
            let due = self.tcp.deadline().unwrap();
            self.tcp.on_timer(due, &mut Air(&mut self.sent));
            (due.0 / 1_000_000, self.sent.clone())
        }

        fn cwnd(&self) -> u64 {
            self.tcp.core().cwnd().0 / MSS
        }
    }

    #[test]
    fn data_leaves_with_the_syn_whose_ack_lets_the_window_grow() {
        let mut sender = Sender::new(4, 1_000);
        assert_eq!(sender.sent, [0, 1, 2, 3], "the SYN is one of them");
        assert_eq!(sender.ack(100, 1, 0), [4, 5]);
        assert_eq!((sender.cwnd(), sender.tcp.counts().sent_packets), (5, 5), "and is no data");
    }

    #[test]
    fn duplicate_acks_send_nothing_and_start_the_timer_again() {
        let mut sender = Sender::new(10, 1_000);
        for next in 1..=3 {
            assert_eq!(sender.ack(100, next, next - 1).len(), 2);
        }
        // Packet 3 is lost: nothing leaves for what came behind it, ten times.
        for (n, cause) in (4..14).enumerate() {
            assert_eq!(sender.ack(101 + n as u64 * 10, 3, cause), [0; 0]);
        }
        // An RTT of 100 ms and four times half of it, from the last duplicate on.
        assert_eq!(sender.timeout(), (191 + 300, vec![3]));
        assert_eq!((sender.cwnd(), sender.tcp.counts().fast_retransmits), (1, 0));
    }

    /// 4 and 9 are lost of 0 to 19. ssthresh is half of 15, in slow start.
    #[test]
    fn after_a_timeout_slow_start_skips_what_the_receiver_has() {
        let mut sender = Sender::new(10, 1_000);
        for next in 1..=4 {
            sender.ack(100, next, next - 1);
        }
        for cause in (5..9).chain(10..18) {
            assert_eq!(sender.ack(101, 4, cause), [0; 0]);
        }
        assert_eq!(sender.timeout().1, [4]);
        assert_eq!(sender.ack(500, 9, 4), [9, 10], "5 to 8 had come");
        // Everything sent before the timeout is acknowledged: from 3 to ssthresh, 7, but not beyond
        // what is in flight, nothing, and three.
        assert_eq!(sender.ack(600, 18, 9), [18, 19, 20]);
        assert_eq!(sender.cwnd(), 3);
        assert_eq!(sender.ack(700, 19, 18), [21, 22], "the recovery is over: slow start");
    }

    #[test]
    fn a_second_timeout_doubles_the_timeout_until_new_data_is_acknowledged() {
        let mut sender = Sender::new(4, 1_000);
        sender.ack(100, 1, 0);
        assert_eq!(sender.timeout(), (400, vec![1]));
        assert_eq!(sender.timeout(), (1_000, vec![1]), "twice 300 ms");
        // The ACK of a retransmission is no sample, so that the timer stays backed off (Karn).
        sender.ack(1_100, 2, 1);
        assert_eq!(sender.timeout().0, 1_100 + 1_200);
    }
}
