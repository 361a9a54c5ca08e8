//! Loss repair as QUIC has it (RFC 9002). What quinn 0.11 does otherwise, and which of the two this
//! is, `docs/deviations.md` says.
//!
//! A packet number is never used again: what is lost leaves once more in a packet with a new
//! number. So the numbers that [`Tcb`] counts are packet numbers here, `una` is the first of them
//! of which nothing is known, and each loss moves the end of what there is to send by one. An ACK
//! frame lists exactly the packets that have arrived, and a receiver does not renege.

mod ack;
mod detect;
mod pacer;
mod rtt;

use firstflight_core::event::Sent;
use firstflight_core::frame::Period;
use firstflight_core::units::{Bytes, Instant, Span};

use super::repair::{DataAck, Repair};
use super::tcb::Tcb;
use super::{Gaps, Wire};
use crate::endpoint::Endpoint;
use crate::packet::HELD;
pub(super) use pacer::PACER_PERCENT;
use pacer::Pacer;
use rtt::Rtt;

#[derive(Debug)]
pub(super) struct Quic {
    rtt: Rtt,
    paces: bool,
    /// `None` if the endpoint does not pace.
    pacer: Option<Pacer>,
    /// Packets of data in flight: neither acknowledged nor lost.
    in_flight: u32,
    /// One past the largest packet number acknowledged.
    acked_end: u32,
    /// When the last packet left: probes are due after a time from then.
    last_sent: Instant,
    /// When the first packet that is in doubt is lost, if it is not acknowledged before (RFC 9002
    /// section 6.1.2).
    lost_at: Option<Instant>,
    /// Probe timeouts since an ACK came.
    timeouts: u32,
    /// Probes to send whatever the window says.
    probes: u32,
    /// Packets of the probes that carried no data, and are not known to the core.
    empty: Vec<u32>,
    /// No sample of the RTT existed when packets below left (RFC 9002 section 7.6.2).
    measured_from: Option<u32>,
    /// When the pacer lets the next packet go, if it keeps one back.
    paced_until: Option<Instant>,
    /// There was nothing more to send when the window had room last.
    app_limited: bool,
    /// The last recovery period.
    period: Period<Instant>,
    /// How long the receiver holds an ACK back at most (RFC 9000 section 18.2).
    max_ack_delay: Span,
    /// Packets sent after one and acknowledged before it that make it lost (RFC 9002 section
    /// 6.1.1).
    packet_threshold: u32,
}

impl Quic {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self {
            rtt: Rtt::new(),
            paces: endpoint.paces,
            pacer: None,
            in_flight: 0,
            acked_end: 0,
            last_sent: Instant(0),
            lost_at: None,
            timeouts: 0,
            probes: 0,
            empty: Vec::new(),
            measured_from: None,
            paced_until: None,
            app_limited: false,
            period: Period::NONE,
            max_ack_delay: endpoint.delayed_ack_timeout,
            packet_threshold: endpoint.rules.duplicate_acks.max(1),
        }
    }

    /// There is something to send, and the receiver takes it.
    fn has_data(&self, tcb: &Tcb) -> bool {
        tcb.nxt < tcb.end && tcb.nxt - tcb.una < tcb.receiver_window
    }

    /// The window has room for one packet more.
    fn fits(&self, tcb: &Tcb) -> bool {
        (u64::from(self.in_flight) + 1) * tcb.mss <= self.window(tcb)
    }

    /// Whether the pacing rate lets a packet go now: the control's own, or else the endpoint's.
    fn departs(&mut self, tcb: &mut Tcb, now: Instant) -> bool {
        if tcb.core.pacing().is_some() {
            return tcb.may_depart(now);
        }
        let (window, packet) = (self.window(tcb), tcb.mss);
        let smoothed = self.rtt.smoothed();
        let Some(pacer) = &mut self.pacer else { return true };
        self.paced_until = pacer.take(smoothed, packet, window, now);
        self.paced_until.is_none()
    }

    /// A packet leaves, with data or as an empty probe.
    fn transmit(&mut self, tcb: &mut Tcb, now: Instant, data: bool, wire: &mut impl Wire) {
        let (seq, idle) = (tcb.nxt, self.in_flight == 0);
        (tcb.nxt, tcb.max) = (seq + 1, seq + 1);
        tcb.log.sent(seq, tcb.una, now);
        self.last_sent = now;
        self.in_flight += u32::from(data);
        let in_flight = tcb.bytes(self.in_flight);
        if data {
            tcb.core.on_sent(&Sent { now, bytes: Bytes(tcb.mss), in_flight, again: false });
        } else {
            self.empty.push(seq);
            self.repeat(tcb, 1);
        }
        if let Some(samples) = &mut tcb.samples {
            samples.on_sent(seq, now, in_flight, idle);
            if tcb.nxt >= tcb.end {
                samples.on_app_limited(in_flight);
            }
        }
        if !data {
            wire.leaves_empty(seq);
        }
        match tcb.listens {
            true => wire.transmit_labelled(seq, tcb.label(now, false)),
            false => wire.transmit(seq),
        }
    }

    /// Adds as many packet numbers as have brought nothing over.
    fn repeat(&self, tcb: &mut Tcb, packets: u32) {
        tcb.end = tcb.end.saturating_add(packets);
        tcb.limit = tcb.end;
    }

    /// When something must be done about silence: packets in doubt are lost, or a probe is due (RFC
    /// 9002 section 6.2.1).
    fn silence_ends(&self) -> Option<Instant> {
        let waits = self.in_flight > 0;
        let probe = || self.last_sent + self.rtt.probe_timeout(self.max_ack_delay, self.timeouts);
        self.lost_at.or_else(|| waits.then(probe))
    }
}

impl Repair for Quic {
    /// The handshake has taken a round trip, which is the first sample of the RTT, and its first
    /// packet, as large as any, counts like all others (RFC 9002 section 7).
    fn begin(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        tcb.limit = tcb.end;
        self.acked_end = tcb.una;
        let opened = if tcb.first_data > 0 { tcb.log.sent_at(0) } else { now };
        if self.paces {
            let mut pacer =
                Pacer::new(self.rtt.smoothed(), tcb.mss, tcb.endpoint.initial_window.0, opened);
            if tcb.first_data > 0 {
                let window = tcb.endpoint.initial_window.0;
                pacer.take(self.rtt.smoothed(), tcb.mss, window, opened);
            }
            self.pacer = Some(pacer);
        }
        let rtt = tcb.core.view().rtt.latest;
        if rtt > Span(0) {
            self.rtt.observe(rtt, Span(0));
            self.measured_from = Some(tcb.nxt);
        }
        if tcb.first_data > 0 {
            Self::tell_handshake(tcb, now);
        }
        self.send(tcb, now, wire);
    }

    #[inline(never)]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, cause, .. } = ack;
        let delay = if cause & HELD != 0 { self.max_ack_delay } else { Span(0) };
        if self.take_frame(tcb, now, next, cause & !HELD, delay) {
            self.detect(tcb, now, true);
            self.timeouts = 0;
        }
        self.send(tcb, now, wire);
    }

    /// The timeout of the handshake: data have probes.
    fn on_timeout(&mut self, _tcb: &mut Tcb, _now: Instant, _handshake: bool) -> Gaps {
        Gaps::ONE
    }

    /// RFC 9002 has no rule that cuts the window where a packet of the handshake is sent again.
    fn packets_after_syn_timeout(&self) -> Option<u32> {
        None
    }

    fn in_flight(&self, _tcb: &Tcb) -> u32 {
        self.in_flight
    }

    /// RFC 9002 section 7.2: at least two packets.
    fn window(&self, tcb: &Tcb) -> u64 {
        tcb.core.cwnd().0.max(MIN_PACKETS * tcb.mss)
    }

    fn has_room(&self, tcb: &Tcb) -> bool {
        self.has_data(tcb) && self.fits(tcb)
    }

    /// Probes leave whatever window and pacer say (RFC 9002 section 7.5). A probe carries new data,
    /// or what is lost, if there is any, else nothing (section 6.2.4).
    fn send(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        self.paced_until = None;
        while self.probes > 0 {
            self.probes -= 1;
            let data = self.has_data(tcb);
            self.transmit(tcb, now, data, wire);
        }
        while self.has_data(tcb) {
            if !self.fits(tcb) || !self.departs(tcb, now) {
                self.app_limited = false;
                return;
            }
            self.transmit(tcb, now, true, wire);
        }
        self.app_limited = true;
    }

    fn wake_at(&self, tcb: &Tcb) -> Option<Instant> {
        if tcb.una < tcb.first_data {
            return None;
        }
        match (self.silence_ends(), self.paced_until) {
            (Some(ends), Some(paced)) => Some(ends.min(paced)),
            (ends, paced) => ends.or(paced),
        }
    }

    fn on_wake(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        if self.silence_ends().is_some_and(|at| at <= now) {
            if self.lost_at.is_some() {
                self.detect(tcb, now, false);
            } else {
                self.timeouts += 1;
                self.probes = PROBES;
            }
        }
        self.send(tcb, now, wire);
    }
}

/// RFC 9002 section 7.2.
const MIN_PACKETS: u64 = 2;

/// RFC 9002 section 6.2.4 allows two, of which one may be lost.
const PROBES: u32 = 2;
