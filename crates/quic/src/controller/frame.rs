//! ACK frames: what a frame acknowledges becomes ACKs of the core's.

use std::time::Instant as Clock;

use firstflight_core::event::Ack;
use firstflight_core::pair::Policies;
use firstflight_core::units::{Bytes, Instant};

use super::{Controller, elapsed};

/// What one ACK frame acknowledges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    /// Packets sent after the last recovery period began.
    pub(super) after: Count,
    /// Packets sent before, where start-up sets the window during the period.
    pub(super) landing: Count,
    /// Bytes sent before, where recovery withholds them.
    pub(super) withheld: u64,
    /// The newest packet of all acknowledged so far is among them.
    pub(super) newest: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) packets: u64,
    pub(super) bytes: u64,
}

impl<P: Policies> Controller<P> {
    /// An ACK frame has been read. Where every packet is acknowledged alone, nearly all frames take
    /// [`Controller::end_calm_frame`]: [`Controller::end_any_frame`] without the steps that do
    /// nothing for such a frame.
    #[inline]
    pub(super) fn end_frame(&mut self, now: Clock, in_flight: u64, app_limited: bool) {
        let Batch { after, newest, .. } = self.batch;
        if self.calm && after.packets == 1 && after.bytes > 0 && !app_limited {
            (self.batch.after, self.batch.newest) = (Count::default(), false);
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
        let batch = std::mem::take(&mut self.batch);
        let Batch { after, landing, withheld, newest } = batch;
        let total = after.bytes.saturating_add(landing.bytes).saturating_add(withheld);
        if total == 0 {
            self.in_flight = in_flight.saturating_sub(self.untold);
            return;
        }
        let times = self.takes_times();
        let at = if times { self.now(now) } else { self.sender.view().now };
        let position = self.catch_up(at, total, in_flight);
        let mut ack = Ack {
            now: at,
            credited: Bytes(total),
            in_flight: Bytes(in_flight),
            snd_nxt: Bytes(position),
            app_limited,
            ..Ack::default()
        };
        if times && newest {
            self.measure(now, &mut ack);
        }
        if self.departures.is_some() {
            self.sample(&mut ack, newest);
        }
        self.pass_on(ack, batch);
        self.update_window();
        let repairs = self.withheld > 0 || self.sender.view().recovering;
        self.calm = self.heard && !repairs && self.departures.is_none();
    }

    /// Tells the core what has left before a frame acknowledges so much more, an MTU probe too, of
    /// which quinn says nothing. Returns SND.NXT.
    #[inline(always)]
    fn catch_up(&mut self, at: Instant, acked: u64, in_flight: u64) -> u64 {
        let view = self.sender.view();
        let position = view.delivered.0.saturating_add(acked).saturating_add(in_flight);
        self.untold = self.untold.max(position.saturating_sub(view.sent.0));
        if self.untold > 0 {
            self.tell_sent(at);
        }
        self.in_flight = in_flight;
        position
    }

    /// What the newest packet acknowledged tells, which left at [`Controller::newest`].
    #[inline]
    fn measure(&mut self, now: Clock, ack: &mut Ack) {
        let rtt = elapsed(self.newest, now);
        if self.heard {
            ack.rtt = Some(rtt);
        } else {
            self.heard = true;
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

    /// The core's ACKs for a frame: for what left before the recovery period, where start-up
    /// decides in it, and for what left after, which ends it.
    #[inline]
    fn pass_on(&mut self, mut ack: Ack, batch: Batch) {
        self.withheld = self.withheld.saturating_add(batch.withheld);
        if batch.landing.packets > 0 {
            self.acknowledge(&mut ack, batch.landing);
        }
        if batch.after.packets > 0 {
            if self.sender.view().recovering {
                self.sender.on_recovered(None);
            }
            self.acknowledge(&mut ack, batch.after);
        }
        if !ack.continues {
            self.tell_ack(&ack);
        }
    }

    /// An ACK for each packet. The frame counts as delivered, and is a sample, with the first.
    #[inline]
    fn acknowledge(&mut self, ack: &mut Ack, count: Count) {
        let mut rest = count.bytes;
        for left in (1..=count.packets).rev() {
            let share = if left == 1 { rest } else { rest / left };
            rest -= share;
            ack.acked = Bytes(share.saturating_add(std::mem::take(&mut self.withheld)));
            self.tell_ack(ack);
            (ack.credited, ack.rtt, ack.sample, ack.packet) = (Bytes(0), None, None, None);
            ack.continues = true;
        }
    }

    #[inline(never)]
    fn tell_ack(&mut self, ack: &Ack) {
        self.sender.on_ack(ack);
    }
}
