//! A flow of our TCP: its events, and what follows each of them.

pub(crate) mod access;
mod connection;
pub(crate) mod files;
pub(crate) mod path;
pub(crate) mod reverse;
pub(crate) mod route;
pub(crate) mod wire;

use firstflight_core::units::{Bytes, Instant};
use firstflight_results::FlowOutcome;

use crate::control::Wants;
use crate::end::End;
use crate::endpoint::UNLIMITED_WINDOW;
use crate::event::timer::{Timer, timer};
use crate::net::Net;
use crate::network::{FlowSpec, Network};
use crate::packet::{Kind, Packet};
use crate::signals::Signals;
use crate::tcp::Tcp;
use crate::watch::Watch;
use files::{FileDraws, FileSource};
use path::FlowPath;
use route::Route;
use wire::FlowWire;

/// A flow's two ends and what lies between.
///
/// The flows of a large network do not stay in the nearest cache, so every event pays for the cache
/// lines it touches. This struct and those below it fix their order: what every ACK touches stands
/// together, at the end of [`Watch`], at the beginning of the parts of `path` and `tcp` and in
/// front of `tcp`.
#[repr(C, align(64))]
pub(crate) struct Flow<'a> {
    pub(crate) spec: &'a FlowSpec,
    pub(crate) path: FlowPath,
    /// Boxed because few flows have one.
    pub(crate) files: Option<Box<FileSource<'a>>>,
    /// A later timer event that is pending all the same: it was the earliest before `timer_at`.
    pub(crate) later_timer_at: u64,
    /// Its SYN has not been acknowledged, and ACKs queue on the reverse path.
    pub(crate) opening: bool,
    /// When the pending timer event fires; `u64::MAX` if none is pending.
    pub(crate) timer_at: u64,
    /// `timer_at`, if its event is not pending because an ACK of the flow comes before it, or
    /// `u64::MAX`.
    pub(crate) owed_at: u64,
    /// Something follows when all there is to send has been acknowledged, or the SYN.
    pub(crate) ends: bool,
    /// The sender.
    pub(crate) tcp: Tcp,
}

impl<'a> Flow<'a> {
    /// The flow of that number, of a network, by this route.
    pub(crate) fn new(
        network: &Network,
        id: u16,
        (place, spec): (usize, &'a FlowSpec),
        route: Route,
    ) -> Self {
        let draws = |files| FileDraws::new(files, network.seed, place as u64);
        Self {
            tcp: Tcp::new(spec, route.fast_paths),
            spec,
            files: spec.files.map(|files| Box::new(FileSource::new(spec, draws(files)))),
            ends: spec.files.is_some() || spec.packets.is_some(),
            path: FlowPath {
                id,
                route,
                record: None,
                signals: Signals::of(Wants::of(&spec.control), spec.endpoint.feedback()),
                watch: Watch::new(spec.bdp_bytes, network.sample_every),
            },
            timer_at: u64::MAX,
            owed_at: u64::MAX,
            later_timer_at: u64::MAX,
            opening: false,
        }
    }

    /// The events that its specification names: start, stop, writes, and a window that opens.
    pub(crate) fn schedule(&self, net: &mut Net) {
        let Self { spec, path, .. } = self;
        let mut push = |at, what| net.queue.push_out_of_order(timer(at, path.id.into(), what));
        push(spec.start, Timer::Start);
        if let Some(stop) = spec.stop {
            push(stop, Timer::Stop);
        }
        for (after, _) in &spec.writes {
            push(spec.start + *after, Timer::Write);
        }
        if let Some(after) = spec.receiver_window_until {
            push(spec.start + after, Timer::Open);
        }
    }
}

impl Flow<'_> {
    /// The time of a timer has come.
    #[cold]
    fn on_timer(&mut self, timer: u64, now: Instant, net: &mut Net) {
        if timer == Timer::Start as u64 {
            if self.write_again(now, net) {
                return self.after_event(now, net);
            }
            if !self.begin(now, net) {
                return;
            }
        }
        if timer == Timer::Start as u64 && self.spec.endpoint.syn && self.files.is_none() {
            self.opening = self.path.opens(net);
            self.ends |= self.opening;
        }
        if timer == Timer::Write as u64 {
            self.write_more(now, net);
            return self.after_event(now, net);
        }
        let mut wire = FlowWire { now, path: &mut self.path, net };
        match timer {
            timer if timer == Timer::Open as u64 => self.tcp.open_window(now, &mut wire),
            timer if timer == Timer::Start as u64 => self.tcp.start(now, &mut wire),
            timer if timer == Timer::Stop as u64 => {
                self.tcp.stop();
                self.files.iter_mut().for_each(|files| files.stop());
            }
            timer if timer == Timer::DelayedAck as u64 => {
                return self.path.on_wake(net, now);
            }
            _ => {
                if now.0 == self.later_timer_at {
                    self.later_timer_at = u64::MAX;
                }
                if now.0 != self.timer_at {
                    return;
                }
                self.timer_at = u64::MAX;
                self.tcp.on_timer(now, &mut wire);
                self.path.watch.look(now, &self.tcp);
                return self.go_on_at_pace(now, net);
            }
        }
        self.after_event(now, net);
    }

    /// After every event of the sender: looks at it, and sees that a timer event is pending no
    /// later than its deadline. Most deadlines only move away, so most of the time one is.
    #[inline(always)]
    pub(crate) fn after_event(&mut self, now: Instant, net: &mut Net) {
        self.path.watch.look(now, &self.tcp);
        let owes = self.owed_at != u64::MAX;
        if owes || !self.tcp.no_deadline_before(Instant(self.timer_at)) {
            // What follows the last ACK of a flow that ends comes first.
            match !owes && (self.ends || self.tcp.core().acts_on_acks_only()) {
                true => self.set_timer(now, net),
                false => self.go_on_at_pace(now, net),
            }
        }
    }

    #[inline(never)]
    pub(crate) fn set_timer(&mut self, now: Instant, net: &mut Net) {
        let at = self.tcp.deadline().map(|deadline| deadline.max(now));
        if let Some(at) = at.filter(|at| self.note_timer(*at)) {
            self.push_timer(at, net);
        }
    }

    /// The sender is to be woken at that time: whether that takes another event than those pending.
    pub(crate) fn note_timer(&mut self, at: Instant) -> bool {
        if at.0 >= self.timer_at {
            return false;
        }
        // A paced sender goes to and fro between its pace and its retransmission timer.
        if self.timer_at == u64::MAX && self.later_timer_at <= at.0 {
            self.timer_at = self.later_timer_at;
            return false;
        }
        if self.timer_at != u64::MAX {
            self.later_timer_at = self.timer_at;
        }
        self.timer_at = at.0;
        true
    }

    pub(crate) fn push_timer(&self, at: Instant, net: &mut Net) {
        net.queue.push_out_of_order(timer(at, self.path.id as usize, Timer::Retransmit));
    }

    /// What became of the flow, which is over. It stays where it is: a flow is kilobytes large.
    pub(crate) fn outcome(&mut self) -> FlowOutcome {
        self.path.watch.finish(&self.tcp);
        let watch = &mut self.path.watch;
        let receiver = &self.path.route.receiver;
        let finished_at = receiver.finished_at().filter(|_| self.files.is_none());
        let before = self.files.as_ref().map_or(0, |files| files.delivered_before);
        let delivered_packets = before + u64::from(receiver.delivered());
        FlowOutcome {
            delivered_packets,
            delivered_bytes: Bytes(delivered_packets * self.spec.data_bytes()),
            counts: self.tcp.counts(),
            drops: watch.drops,
            finished_at,
            failure: None,
            files: self.files.take().map_or(Vec::new(), |files| files.done),
            peak_cwnd: watch.peak_cwnd,
            final_cwnd: self.tcp.core().cwnd(),
            startup: watch.startup,
            flights: std::mem::take(&mut watch.flights),
            reprobes: self.tcp.core().reprobes(),
            series: std::mem::take(&mut watch.series),
            lost_at: std::mem::take(&mut watch.lost_at),
            gauge_names: std::mem::take(&mut watch.gauge_names),
        }
    }
}

impl End for Flow<'_> {
    fn arrive(&mut self, net: &mut Net, packet: Packet, at: Instant) {
        self.path.arrive(net, packet, at);
    }

    fn lose(&mut self, _net: &mut Net, packet: Packet, at: Instant) {
        self.path.lose(packet, at);
    }

    /// An ACK reaches the sender; one of a connection that is over means nothing to it.
    fn receive(&mut self, net: &mut Net, packet: Packet, now: Instant) {
        let Kind::Ack { ack, report, .. } = packet.kind else { return };
        if packet.connection != self.path.route.connection {
            return;
        }
        self.path.signals.iter_mut().for_each(|signals| signals.note(report.as_deref()));
        let record = self.path.record.as_mut();
        let place = record.map(|record| record.acked(now, packet.connection, &ack));
        let mut wire = FlowWire { now, path: &mut self.path, net };
        self.tcp.on_ack(now, ack.next, ack.cause, &mut wire);
        if let (Some(record), Some(place)) = (&mut self.path.record, place) {
            let is_open = |after| now >= self.spec.start + after;
            let is_open = self.spec.receiver_window_until.is_some_and(is_open);
            record.advertised(
                place,
                if is_open { UNLIMITED_WINDOW } else { self.tcp.advertised_window() },
            );
        }
        self.after_event(now, net);
        if self.ends && self.tcp.is_done() {
            self.end(now, net);
        }
    }

    fn wake(&mut self, net: &mut Net, what: u64, now: Instant) {
        self.on_timer(what, now, net);
    }
}
