//! ACK frames: what a frame acknowledges becomes ACKs of the core's.

use std::time::Instant as Clock;

use firstflight_core::event::Ack;
use firstflight_core::frame::{Count, Period, Reports};
use firstflight_core::pair::Policies;
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant, Span};

use super::rest::Rest;
use super::{Controller, elapsed};
use crate::stack::Stack;

impl<P: Policies, S: Stack> Controller<P, S> {
    /// An ACK frame has been read. Where every packet is acknowledged alone, nearly all frames take
    /// `end_calm_frame`: `end_any_frame` without the steps that do nothing for such a frame.
    #[inline]
    pub fn end_frame(&mut self, now: Clock, in_flight: u64, app_limited: bool) {
        let (after, newest) = (self.frame.after, self.frame_has_newest);
        if self.calm && after.packets == 1 && after.bytes > 0 && !app_limited {
            (self.frame.after, self.frame_has_newest) = (Count::default(), false);
            return self.end_calm_frame(now, after.bytes, newest, in_flight);
        }
        self.end_any_frame(now, in_flight, app_limited);
    }

    /// The frame acknowledges one packet, where [`Controller::calm`] says that this is all.
    #[inline(always)]
    fn end_calm_frame(&mut self, now: Clock, bytes: u64, newest: bool, in_flight: u64) {
        let (mut at, mut rtt) = (self.sender.view().now, None);
        if self.takes_times() {
            at = self.now(now);
            rtt = newest.then(|| elapsed(self.newest, now));
        }
        self.catch_up(at, bytes, in_flight);
        self.sender.on_packet_acked(at, Bytes(bytes), rtt, Bytes(in_flight));
        self.update_window();
    }

    #[inline(never)]
    fn end_any_frame(&mut self, now: Clock, in_flight: u64, app_limited: bool) {
        let frame = std::mem::take(&mut self.frame);
        let newest = std::mem::take(&mut self.frame_has_newest);
        let total = frame.after.bytes.saturating_add(frame.before.bytes);
        if total == 0 {
            self.in_flight = in_flight.saturating_sub(self.unreported);
            return;
        }
        self.note_rest(in_flight, app_limited);
        let times = self.takes_times();
        let at = if times { self.now(now) } else { self.sender.view().now };
        let position = self.catch_up(at, total, in_flight);
        let mut ack = Ack {
            now: at,
            credited: Bytes(total),
            in_flight: Bytes(in_flight),
            snd_nxt: Bytes(position),
            app_limited,
            marked: Bytes(std::mem::take(&mut self.marked).min(total)),
            ..Ack::default()
        };
        if times && newest {
            self.measure(now, &mut ack);
        }
        if self.departures.is_some() {
            self.sample(&mut ack, newest);
        }
        self.report_frame(&mut ack, &frame);
        self.update_window();
        let repairs = self.period.has_withheld() || self.sender.view().recovering;
        let is_steady = !repairs && matches!(self.rest, Rest::None);
        self.calm = self.had_ack && is_steady && self.departures.is_none();
    }

    /// Reports what has left before a frame acknowledges `acked` bytes more, MTU probes included,
    /// of whose sending quinn says nothing. Returns SND.NXT.
    #[inline(always)]
    fn catch_up(&mut self, at: Instant, acked: u64, in_flight: u64) -> u64 {
        let view = self.sender.view();
        let position = view.delivered.0.saturating_add(acked).saturating_add(in_flight);
        self.unreported = self.unreported.max(position.saturating_sub(view.sent.0));
        if self.unreported > 0 {
            self.report_sent(at);
        }
        self.in_flight = in_flight;
        position
    }

    /// Takes the RTT of the newest packet acknowledged, which left at [`Controller::newest`].
    #[inline]
    fn measure(&mut self, now: Clock, ack: &mut Ack) {
        let rtt = elapsed(self.newest, now);
        if std::mem::replace(&mut self.had_ack, true) {
            ack.rtt = Some(rtt);
        } else if self.sender.view().rtt.smoothed == Span(0) {
            self.sender.on_handshake(ack.now, rtt);
        }
    }

    #[cold]
    fn sample(&mut self, ack: &mut Ack, newest: bool) {
        let newest = newest.then(|| self.time(self.newest));
        if let Some(departures) = &mut self.departures {
            departures.on_delivered(ack, newest);
        }
    }
}

impl<P: Policies, S: Stack> Reports<Clock> for Controller<P, S> {
    type Policies = P;

    fn sender(&mut self) -> &mut Sender<P> {
        &mut self.sender
    }

    fn period(&mut self) -> &mut Period<Clock> {
        &mut self.period
    }

    #[inline]
    fn report(&mut self, ack: &Ack) {
        match ack.marked {
            Bytes(0) => self.sender.on_ack(ack),
            _ => self.report_marked(ack),
        }
    }
}

impl<P: Policies, S: Stack> Controller<P, S> {
    /// An ACK that reports marks, once per frame. If it reduces the window for them, a recovery
    /// period begins (RFC 9002 appendix B.7).
    #[cold]
    fn report_marked(&mut self, ack: &Ack) {
        if ack.continues {
            return self.sender.on_ack(&Ack { marked: Bytes(0), ..*ack });
        }
        let before = self.sender.recovery_began();
        self.sender.on_ack(ack);
        let began = self.sender.recovery_began();
        if began != before {
            let reduced = self.sender.reduced_at() == began;
            self.note_recovery(reduced && !self.sender.policy_sets_recovery_window());
        }
    }
}
