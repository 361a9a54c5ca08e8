//! The sending endpoint: sequence numbers in packets, the window, the retransmission timer.
//!
//! Mechanism only: how large the window is, the core's sender decides. How lost packets are
//! found and repaired stands in one file per kind of recovery.

mod calm;
mod credit;
mod fast_recovery;
mod log;
mod ns2_sack;
mod ns2_vegas;
mod parts;
mod prr;
mod sack;
mod samples;
mod send;
mod timeout;
mod told;
mod wire;

use firstflight_core::event::{Ack, Loss, LossKind};
use firstflight_core::hint::PathHint;
use firstflight_core::sender::Config;
use firstflight_core::units::{Bytes, Instant, Span};

use crate::control::{Core, Wants};
use crate::endpoint::{Endpoint, Halve, Recovery};
use crate::files::Next;
use crate::network::FlowSpec;
use crate::rto::Rto;
use fast_recovery::FastRecovery;
use log::{Mark, SendLog};
use ns2_sack::Ns2Sack;
use ns2_vegas::Ns2Vegas;
pub(crate) use parts::PART;
use sack::Sack;
use samples::Samples;
pub(crate) use wire::Wire;

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Data packets sent again.
    pub retransmitted: u64,
    /// Recoveries begun without a timeout.
    pub fast_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times the window was cut.
    pub cuts: u64,
}

/// One flow's sender.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tcp {
    log: SendLog,
    /// First packet not acknowledged.
    una: u32,
    /// Next packet to send.
    nxt: u32,
    /// One past the highest packet sent.
    max: u32,
    /// One past the last packet there is to send.
    limit: u32,
    /// How many packets the next calm ACK may cover.
    calm_packets: u32,
    /// First packet that carries data: 1 after a SYN.
    first_data: u32,
    mss: u64,
    rto: Rto,
    /// Counters, without the packets that this connection sent for the first time.
    counts: Counts,
    repair: Repair,
    dupacks: u32,
    /// Packets beyond `una` that have been credited already ([`credit`]).
    credited_ahead: u32,
    /// One past the highest packet sent when the last recovery or timeout began; 0 before any.
    recover: u32,
    /// Payload at and after `una` that parts of a split ACK have acknowledged to the core.
    acked_in_parts: Bytes,
    /// Packets the receiver takes beyond what it has acknowledged.
    receiver_window: u32,
    endpoint: Endpoint,
    /// Whether the fast path for calm ACKs is on.
    shortcuts: bool,
    /// Whether the control needs what routers tell ([`told`]).
    listens: bool,
    /// With pacing: when the next packet may leave.
    next_departure: Instant,
    /// The state in which packets left, for a control that needs it. Boxed because few do.
    samples: Option<Box<Samples>>,
    /// The last field: its policies come last in it and may have any size.
    core: Core,
}

/// The state of loss repair. `repr(u8)` gives it a tag of its own, which every event reads.
#[derive(Debug)]
#[repr(u8)]
enum Repair {
    FastRecovery(FastRecovery),
    Sack(Sack),
    Ns2Sack(Ns2Sack),
    Ns2Vegas(Ns2Vegas),
}

impl Tcp {
    /// The first connection of a flow; `shortcuts` lets calm ACKs take their own way ([`calm`]).
    pub(crate) fn new(spec: &FlowSpec, shortcuts: bool) -> Self {
        Self::with(spec, spec.endpoint.syn, shortcuts)
    }

    fn with(spec: &FlowSpec, syn: bool, shortcuts: bool) -> Self {
        let endpoint = spec.endpoint.clone();
        let mss = spec.payload_bytes;
        let late = endpoint.rules.late_initial_window;
        let config = Config {
            mss: Bytes(mss),
            initial_window: if late { Bytes(mss) } else { endpoint.initial_window },
            initial_ssthresh: endpoint.initial_ssthresh,
            max_cwnd: Bytes(mss * u64::from(endpoint.receiver_window)),
            limit_growth_to_flight: endpoint.limit_growth_to_flight,
            paces: endpoint.paces,
        };
        let first_data = u32::from(syn);
        let wants = Wants::of(&spec.control);
        let listens = !wants.listens().is_empty();
        Self {
            core: Core::of(spec.control.policies(), config),
            repair: match endpoint.recovery {
                Recovery::Tahoe => Repair::FastRecovery(FastRecovery::TAHOE),
                Recovery::Reno => Repair::FastRecovery(FastRecovery::RENO),
                Recovery::NewReno => Repair::FastRecovery(FastRecovery::NEW_RENO),
                Recovery::Sack => Repair::Sack(Sack::new(endpoint.rules.prr)),
                Recovery::Ns2Sack => Repair::Ns2Sack(Ns2Sack::default()),
                Recovery::Ns2Vegas => Repair::Ns2Vegas(Ns2Vegas::default()),
            },
            una: 0,
            nxt: 0,
            max: 0,
            limit: spec.packets.map_or(GREEDY, |packets| packets.saturating_add(first_data)),
            first_data,
            dupacks: 0,
            credited_ahead: 0,
            recover: 0,
            acked_in_parts: Bytes(0),
            mss,
            receiver_window: endpoint.receiver_window.min(GREEDY),
            rto: Rto::new(endpoint.rto),
            endpoint,
            log: SendLog::new(),
            counts: Counts::default(),
            shortcuts: shortcuts && !listens && !wants.samples(),
            calm_packets: 0,
            listens,
            next_departure: Instant(0),
            samples: wants.samples().then(Box::default),
        }
    }

    /// The source's next connection. Its counters go on from this one's.
    pub(crate) fn successor(&self, spec: &FlowSpec, next: Next) -> Self {
        let fresh = Self::with(spec, next.syn, self.shortcuts);
        let limit = next.packets.saturating_add(fresh.first_data);
        Self { limit, counts: self.counts(), ..fresh }
    }

    /// Everything there was to send has been acknowledged.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.una >= self.limit
    }

    /// Opens the connection.
    pub(crate) fn start(&mut self, now: Instant, wire: &mut impl Wire) {
        if self.first_data > 0 {
            self.transmit_next(now, wire);
        } else {
            self.core.begin(now);
            self.send_window(now, 0, wire);
        }
    }

    /// The source falls silent: what has been sent is still repaired.
    pub(crate) fn stop(&mut self) {
        self.limit = self.limit.min(self.max.max(self.first_data));
    }

    /// An ACK arrives: all below `next` has been received, and `cause` is the packet that caused
    /// it.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Instant, next: u32, cause: u32, wire: &mut impl Wire) {
        let packets = next.wrapping_sub(self.una);
        let may_be_calm = cause.wrapping_add(1) == next && self.calm_packets > 0;
        if !may_be_calm || !self.on_wide_ack(now, packets, &mut wire.reborrow()) {
            self.on_any_ack(now, next, cause, &mut wire.reborrow());
        }
    }

    /// [`Tcp::on_calm_ack`] in a place of its own.
    #[inline(never)]
    fn on_wide_ack(&mut self, now: Instant, packets: u32, wire: &mut impl Wire) -> bool {
        self.on_calm_ack(now, packets, wire)
    }

    /// An ACK arrives for the first packet that has not been acknowledged, which has caused it.
    #[inline]
    pub(crate) fn on_next_ack(&mut self, now: Instant, wire: &mut impl Wire) {
        if !self.on_calm_ack(now, 1, wire) {
            self.on_any_ack(now, self.una + 1, self.una, &mut wire.reborrow());
        }
    }

    /// An ACK that may need anything.
    #[inline(never)]
    fn on_any_ack(&mut self, now: Instant, next: u32, cause: u32, wire: &mut impl Wire) {
        if self.listens {
            self.read_feedback(now, cause, wire);
        }
        if self.una < self.first_data {
            self.on_handshake(now, next, wire);
        } else if cause & PART != 0 {
            self.on_part(now, next, wire);
        } else {
            let early = self.note_early(next, cause);
            match self.repair {
                Repair::FastRecovery(_) => self.fast_recovery_ack(now, next, early, wire),
                Repair::Sack(_) => self.sack_ack(now, next, cause, wire),
                Repair::Ns2Sack(_) => self.ns2_sack_ack(now, next, (cause, early), wire),
                Repair::Ns2Vegas(_) => self.ns2_vegas_ack(now, next, early, wire),
            }
        }
        self.calm_packets = self.calm_packets();
    }

    /// The congestion controller.
    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    pub(crate) fn counts(&self) -> Counts {
        let first_times = u64::from(self.max.saturating_sub(self.first_data));
        Counts { sent: self.counts.sent + first_times, ..self.counts }
    }

    /// Packets in flight.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        match &self.repair {
            Repair::Sack(sack) => sack.pipe(self.una, self.max),
            _ => self.nxt - self.una,
        }
    }

    #[cold]
    fn on_handshake(&mut self, now: Instant, next: u32, wire: &mut impl Wire) {
        if next <= self.una {
            return;
        }
        let sample = now.since(self.log.sent_at(0));
        // ns-2.35's Vegas counts time from its SYN and takes a send time of 0 for "not sent", so
        // its SYN is no sample.
        let unseen = matches!(self.repair, Repair::Ns2Vegas(_));
        if let Repair::Ns2Vegas(vegas) = &mut self.repair {
            vegas.open(self.log.sent_at(0), sample);
        }
        if !self.log.has(0, Mark::RESENT) && !unseen {
            self.core.on_handshake(now, sample);
            if let Some(rate) = wire.granted() {
                self.core.on_hint(now, &PathHint::Granted(rate));
            }
        }
        (self.una, self.nxt) = (next, self.nxt.max(next));
        let resent = self.log.has(0, Mark::RESENT);
        if resent {
            self.rto.fall_back();
        } else if unseen {
            self.rto.keep_own();
        }
        self.rto.on_acked(next, now, (!resent).then_some(sample));
        self.rto.cancel();
        self.core.begin(now);
        self.send_window(now, 0, wire);
    }

    /// Data up to `next` is newly acknowledged, and so many packets beyond: timer, RTT, window.
    fn new_ack(&mut self, now: Instant, next: u32, early: u32) {
        let newly = next - self.una;
        let sample = self.rtt_sample(now, next);
        self.dupacks = 0;
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.rto.on_acked(next, now, sample);
        self.rearm(now);
        let credited = self.credit(newly, early);
        self.tell_core(now, newly, credited, sample);
    }

    #[inline(never)]
    fn tell_core(&mut self, now: Instant, newly: u32, credited: u32, sample: Option<Span>) {
        let told = if newly > 0 { std::mem::take(&mut self.acked_in_parts) } else { Bytes(0) };
        self.tell(now, self.bytes(newly) - told, self.bytes(credited) - told, sample);
    }

    /// Tells the core of an ACK, with what is known of its newest packet if the control needs that.
    /// Every ACK is put together here but the calm ones.
    #[inline]
    fn tell(&mut self, now: Instant, acked: Bytes, credited: Bytes, rtt: Option<Span>) {
        let mut ack = Ack {
            now,
            acked,
            credited,
            rtt,
            // What earlier parts of this ACK have told of is not in flight any more.
            in_flight: self.bytes(self.in_flight()) - self.acked_in_parts,
            snd_nxt: self.bytes(self.nxt - self.first_data),
            ..Ack::default()
        };
        if let Some(samples) = &mut self.samples {
            samples.complete(&mut ack, self.una);
        }
        self.core.on_ack(&ack);
    }

    /// The RTT of the newest packet that an ACK for all below `next` covers (Karn).
    #[inline]
    fn rtt_sample(&self, now: Instant, next: u32) -> Option<Span> {
        let newest = next - 1;
        (!self.log.has(newest, Mark::RESENT)).then(|| now.since(self.log.sent_at(newest)))
    }

    /// Restarts the timer while anything is outstanding (RFC 6298 sections 5.2, 5.3).
    fn rearm(&mut self, now: Instant) {
        if self.nxt > self.una || self.una < self.max {
            self.rto.restart(now);
        } else {
            self.rto.cancel();
        }
    }

    /// So many packets are found lost, in so many gaps.
    fn declare_loss(&mut self, now: Instant, kind: LossKind, again: bool, found: Gaps) {
        let outstanding = self.bytes(self.max - self.una);
        let flight = match self.endpoint.rules.halve {
            Halve::Flight => outstanding,
            Halve::Window => self.core.cwnd(),
        };
        let (lost, gaps) = (self.bytes(found.packets), found.gaps);
        let loss = Loss { gaps, again, ..Loss::of(now, kind, lost, flight) };
        self.counts.cuts += u64::from(self.core.on_loss(&loss));
    }

    /// More packets are found lost while what was lost before them, perhaps by a timeout, is
    /// repaired: the core hears of them, and does not cut again.
    fn declare_further_loss(&mut self, now: Instant, found: Gaps, after_timeout: bool) {
        let (lost, flight) = (self.bytes(found.packets), self.bytes(self.max - self.una));
        let loss = Loss::of(now, LossKind::Recovery, lost, flight);
        self.core.on_loss(&Loss { gaps: found.gaps, after_timeout, ..loss });
    }

    #[inline]
    fn bytes(&self, packets: u32) -> Bytes {
        Bytes(u64::from(packets) * self.mss)
    }
}

/// Packets found lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gaps {
    packets: u32,
    /// The separate runs they make.
    gaps: u32,
}

impl Gaps {
    const ONE: Self = Self { packets: 1, gaps: 1 };

    /// Packet `seq` is found lost too; `joins` if the one before it is.
    fn add(&mut self, joins: bool) {
        self.packets += 1;
        self.gaps += u32::from(!joins);
    }
}

/// The duplicate ACKs that mean a loss (RFC 5681 section 3.2).
const DUP_THRESHOLD: u32 = 3;

/// More packets than any run can send.
const GREEDY: u32 = u32::MAX / 2;
