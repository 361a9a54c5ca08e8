//! When the sender must be woken, and what a retransmission timeout does.

use firstflight_core::event::LossKind;
use firstflight_core::units::Instant;

use super::repair::Repair as _;
use super::tcb::Tcb;
use super::{Tcp, Wire};

impl Tcp {
    /// The retransmission timer fires, if it is still due. Also resumes a paced sender.
    pub(crate) fn on_timer(&mut self, now: Instant, wire: &mut impl Wire) {
        // Most timers of a paced sender are those of its pace.
        let is_paced = self.tcb.core.is_paced();
        let paces = is_paced && self.no_timer_before(Instant(now.0.saturating_add(1)));
        let Self { tcb, repair } = self;
        if paces && tcb.is_calm() && tcb.core.wake_at().is_none() {
            if tcb.next_departure <= now {
                tcb.send_calm_at_pace(now, wire);
            }
            return;
        }
        if !paces && repair.wake_at(tcb).is_some_and(|at| at <= now) {
            repair.on_wake(tcb, now, wire);
        } else if !paces && tcb.rto_deadline().is_some_and(|deadline| deadline <= now) {
            self.on_timeout(now, wire);
        } else {
            if tcb.core.wake_at().is_some_and(|at| at <= now) {
                tcb.core.on_wake(now);
                repair.send(tcb, now, wire);
            }
            if tcb.core.is_paced() && tcb.next_departure <= now {
                repair.send(tcb, now, wire);
            }
        }
        self.note_calm();
        if !paces {
            self.note_first_timer();
        }
    }

    /// The time of [`Tcp::next_at_pace`] has come.
    #[inline]
    pub(crate) fn leave_at_pace(&mut self, now: Instant, wire: &mut impl Wire) {
        match self.tcb.is_calm() {
            true => self.tcb.send_calm_at_pace(now, wire),
            false => self.on_timer(now, wire),
        }
    }

    /// [`Tcp::deadline`] of a sender that paces, where it is the time of the next packet, and of
    /// nothing else.
    #[inline]
    pub(crate) fn next_at_pace(&mut self) -> Option<Instant> {
        let Self { tcb, repair } = self;
        let has_room = || if tcb.is_calm() { tcb.has_calm_room() } else { repair.has_room(tcb) };
        let paces = tcb.core.is_paced() && tcb.core.wake_at().is_none() && has_room();
        let at = tcb.next_departure;
        (paces && self.no_timer_before(Instant(at.0.saturating_add(1)))).then_some(at)
    }

    /// [`Tcp::no_deadline_before`] of a calm sender that paces, and that its window keeps from
    /// sending.
    pub(crate) fn no_deadline_before_while_full(&mut self, at: Instant) -> bool {
        let tcb = &self.tcb;
        let waits = tcb.core.is_paced() && tcb.core.wake_at().is_none();
        waits && tcb.is_calm() && !tcb.has_calm_room() && self.no_timer_before(at)
    }

    /// When [`Tcp::on_timer`] must be called next.
    pub(crate) fn deadline(&mut self) -> Option<Instant> {
        let Self { tcb, repair } = self;
        if tcb.core.acts_on_acks_only() {
            return earlier(tcb.rto_deadline(), repair.wake_at(tcb));
        }
        if let Some(at) = self.next_at_pace() {
            return Some(at);
        }
        let Self { tcb, repair } = self;
        let paced = tcb.core.is_paced() && repair.has_room(tcb);
        let departure = paced.then_some(tcb.next_departure);
        let first = earlier(tcb.rto_deadline(), repair.wake_at(tcb));
        earlier(first, earlier(departure, tcb.core.wake_at()))
    }

    /// Whether neither the retransmission timer nor the repair is due before `at`, whatever the
    /// pace is.
    #[inline]
    fn no_timer_before(&mut self, at: Instant) -> bool {
        if self.tcb.first_timer.0 != self.tcb.una {
            self.note_first_timer();
        }
        at <= self.tcb.first_timer.1
    }

    /// The earliest that a timer may fire.
    #[inline(never)]
    fn first_timer(&self) -> Instant {
        let smoothed = self.tcb.core.view().rtt.smoothed;
        let idle = self.tcb.is_calm() || self.repair.is_idle();
        let until = idle.then(|| self.tcb.rto.first_deadline(smoothed));
        until.unwrap_or(Instant(0))
    }

    /// Notes [`Tcp::first_timer`] for a sender whose pace asks for it with every packet: only ACKs
    /// and timers that are not of its pace bring something nearer.
    #[inline]
    pub(super) fn note_first_timer(&mut self) {
        if !self.tcb.core.acts_on_acks_only() {
            self.tcb.first_timer = (self.tcb.una, self.first_timer());
        }
    }

    /// Whether nothing is due before `at`; may say no although it is so.
    #[inline]
    pub(crate) fn no_deadline_before(&self, at: Instant) -> bool {
        let Tcb { core, rto, .. } = &self.tcb;
        let while_calm = || rto.no_deadline_before_while_calm(at, &core.view().rtt);
        core.acts_on_acks_only()
            && (rto.no_deadline_before(at) || self.tcb.is_calm() && while_calm())
    }

    #[cold]
    fn on_timeout(&mut self, now: Instant, wire: &mut impl Wire) {
        let Self { tcb, repair } = self;
        if tcb.una == tcb.max {
            tcb.rto.cancel();
            return;
        }
        let answered = repair.repeats(tcb);
        let handshake = tcb.una < tcb.first_data;
        tcb.counts.timeouts += u64::from(!handshake);
        let found = repair.on_timeout(tcb, now, handshake);
        (tcb.dupacks, tcb.recover) = (tcb.kept_duplicates(), tcb.max);
        if !handshake || tcb.endpoint.rules.syn_timeout_cuts {
            tcb.declare_loss(now, LossKind::Timeout, answered, found);
        }
        if let Some(window) = repair.window_after_timeout(tcb).filter(|_| !handshake) {
            tcb.core.set_window(window);
        }
        tcb.rto.back_off(&tcb.core.view().rtt);
        tcb.rto.restart(now);
        tcb.rto.forget_timed();
        if handshake || repair.goes_back() {
            tcb.nxt = tcb.una;
        }
        if handshake {
            let packets = repair.packets_after_syn_timeout();
            if let Some(packets) = packets {
                tcb.core.set_window(tcb.bytes(packets));
            }
            for _ in 0..packets.unwrap_or(1) {
                tcb.transmit_next(repair, now, wire);
            }
            return;
        }
        repair.send(tcb, now, wire);
    }
}

impl Tcb {
    fn rto_deadline(&self) -> Option<Instant> {
        self.rto.deadline(&self.core.view().rtt)
    }

    /// What a timeout leaves of the count of duplicate ACKs.
    fn kept_duplicates(&self) -> u32 {
        if self.endpoint.rules.timeout_keeps_duplicates { self.dupacks } else { 0 }
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
