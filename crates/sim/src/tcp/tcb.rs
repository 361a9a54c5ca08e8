//! The transmission control block (RFC 9293 section 3.3.1): what every kind of repair needs of a
//! connection's sender, and what each does alike with it.

use firstflight_core::event::{Ack, Loss, LossKind};
use firstflight_core::sender::Config;
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_results::Counts;

use super::Gaps;
use super::advertised_window::AdvertisedWindow;
use super::ecn::Ecn;
use super::log::{Mark, SendLog};
use super::repair::Repair;
use super::rto::Rto;
use super::samples::Samples;
use super::window_validation::WindowValidation;
use crate::control::{Core, Wants};
use crate::endpoint::rules::Halve;
use crate::endpoint::{Endpoint, Recovery};
use crate::network::FlowSpec;

/// The state of a sender but for that of its repair.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Tcb {
    pub(super) log: SendLog,
    /// First packet not acknowledged.
    pub(super) una: u32,
    /// Next packet to send.
    pub(super) nxt: u32,
    /// One past the highest packet sent.
    pub(super) max: u32,
    /// One past the last packet that may be sent: that there is, or that the receiver has room for.
    pub(super) limit: u32,
    /// How many packets the next calm ACK may cover.
    pub(super) calm_packets: u32,
    /// How many packets the next calm ACK may cover that takes the fastest path: 0 if the control
    /// needs rate samples, the connection ends with a FIN, the receiver's window still grows, or
    /// the timer is ns-2's.
    pub(super) calm_plain: u32,
    /// One past the last packet there is to send.
    pub(super) end: u32,
    /// The connection ends with the last packet there is to send, which carries the FIN as in
    /// Linux.
    pub(super) closes: bool,
    /// First packet that carries data: 1 after a SYN.
    pub(super) first_data: u32,
    /// Payload of a full packet, bytes.
    pub(super) mss: u64,
    /// The retransmission timer.
    pub(super) rto: Rto,
    /// Counters, without the packets that this connection sent for the first time.
    pub(super) counts: Counts,
    /// Duplicate ACKs since the last for new data.
    pub(super) dupacks: u32,
    /// Packets beyond `una` that have been credited already ([`super::credit`]).
    pub(super) credited_ahead: u32,
    /// One past the highest packet sent when the last recovery or timeout began; 0 before any.
    pub(super) recover: u32,
    /// Packets out of order that the next ACK reports besides its cause, as SACK blocks do.
    pub(super) blocks: Vec<u32>,
    /// Payload at and after `una` that parts of a split ACK have acknowledged to the core.
    pub(super) acked_in_parts: Bytes,
    /// How the receiver's window grows.
    pub(super) advertised: AdvertisedWindow,
    /// How many packets beyond `una` the receiver has, as long as its window grows.
    pub(super) ahead: u32,
    /// Packets the receiver takes beyond what it has acknowledged.
    pub(super) receiver_window: u32,
    /// What the endpoint fixes.
    pub(super) endpoint: Endpoint,
    /// Whether the fast path for calm ACKs is on.
    pub(super) fast_paths: bool,
    /// Whether packets or ACKs carry more than usual ([`super::path_signals`]).
    pub(super) listens: bool,
    /// Whether packets have a header for routers or links, and ACKs its answer.
    pub(super) writes_headers: bool,
    /// Whether routers read packets and write into them.
    pub(super) uses_routers: bool,
    /// Whether an ACK reports more to the core than usual: it needs samples, or the source rests.
    extends_acks: bool,
    /// Whether start-up may ask for packets to be sent again that are not known to be lost.
    pub(super) repeats: bool,
    /// With pacing: when the next packet may leave.
    pub(super) next_departure: Instant,
    /// The pacing rate at which the last packet or burst was sent, and its size.
    pub(super) paced_last: (Rate, Bytes),
    /// That size divided by that rate.
    pub(super) packet_time: Span,
    /// With pacing: until when neither the retransmission timer nor the repair is due, as long as
    /// that is `una`.
    pub(super) first_timer: (u32, Instant),
    /// The state in which packets left, for a control that needs it. Boxed because few do.
    pub(super) samples: Option<Box<Samples>>,
    /// How the window is used, of a source that rests. Boxed because few do.
    pub(super) validation: Option<Box<WindowValidation>>,
    /// Marks and their answers (RFC 3168); `None` without ECN.
    pub(super) ecn: Option<Ecn>,
    /// The last field: its policies come last in it and may have any size.
    pub(super) core: Core,
}

impl Tcb {
    pub(super) fn new(spec: &FlowSpec, syn: bool, fast_paths: bool) -> Self {
        let endpoint = spec.endpoint.clone();
        let mss = spec.payload_bytes;
        let rests = rests(spec);
        // Its SYN is a packet of the window like any other.
        let first_data = u32::from(syn && endpoint.recovery != Recovery::Ns2Linux);
        let wants = Wants::of(&spec.control);
        let feedback = endpoint.feedback();
        let uses_routers = !wants.listens().is_empty();
        let writes_headers = uses_routers || feedback.is_some();
        let listens = writes_headers || rests;
        let tso = endpoint.tso;
        let core = core(spec);
        let repeats = wants.repeats() && endpoint.recovery == Recovery::Rack;
        let always_slow = listens || repeats || tso;
        let ends = spec.packets.is_some() || spec.files.is_some();
        Self {
            core,
            una: 0,
            nxt: 0,
            max: 0,
            limit: 0,
            closes: endpoint.fin && ends && !rests,
            end: spec.packets.map_or(GREEDY, |packets| packets.saturating_add(u32::from(syn))),
            advertised: AdvertisedWindow::of(&endpoint, mss),
            ahead: 0,
            first_data,
            dupacks: 0,
            credited_ahead: 0,
            recover: 0,
            blocks: Vec::new(),
            acked_in_parts: Bytes(0),
            mss,
            receiver_window: endpoint.receiver_window.min(endpoint.send_buffer).min(GREEDY),
            rto: Rto::new(endpoint.rto, endpoint.recovery),
            endpoint,
            log: SendLog::new(),
            counts: Counts::default(),
            // On fast paths the cap of cwnd is the only limit.
            fast_paths: fast_paths && !always_slow && spec.cwnd_is_the_limit(),
            repeats,
            calm_packets: 0,
            calm_plain: 0,
            listens,
            writes_headers,
            uses_routers,
            next_departure: Instant(0),
            paced_last: (Rate(0), Bytes(0)),
            packet_time: Span(0),
            extends_acks: wants.samples() || rests || feedback.is_some(),
            first_timer: (0, Instant(0)),
            samples: wants.samples().then(|| Box::new(Samples::new())),
            ecn: feedback.map(|feedback| Ecn::new(feedback, wants.is_l4s())),
            validation: rests.then(|| Box::new(WindowValidation::new(&spec.endpoint))),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let first_times = u64::from(self.max.saturating_sub(self.opening()));
        Counts { sent_packets: self.counts.sent_packets + first_times, ..self.counts }
    }

    /// Packets that open the connection and carry no data: the SYN, even where it counts as one of
    /// the window.
    #[cold]
    pub(super) fn opening(&self) -> u32 {
        let counted = self.endpoint.syn && self.endpoint.recovery == Recovery::Ns2Linux;
        self.first_data.max(u32::from(counted))
    }

    /// Data up to `next` is newly acknowledged, and so many packets beyond: timer, RTT, window.
    pub(super) fn new_ack(&mut self, repair: &impl Repair, now: Instant, next: u32, early: u32) {
        let newly = next - self.una;
        let sample = self.advance(now, next);
        let credited = self.credit(newly, early);
        self.tell_core(repair, now, newly, credited, sample);
    }

    /// Data up to `next` is newly acknowledged. Returns the RTT sample, which the timer has.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: Instant, next: u32) -> Option<Span> {
        let sample = self.rtt_sample(now, next);
        self.rto.note_deviation(sample, next, self.max);
        self.dupacks = 0;
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.rto.on_acked(next, now, sample);
        self.rearm(now);
        sample
    }

    #[inline(never)]
    pub(super) fn tell_core(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        newly: u32,
        credited: u32,
        sample: Option<Span>,
    ) {
        let in_parts = if newly > 0 { std::mem::take(&mut self.acked_in_parts) } else { Bytes(0) };
        self.tell(
            repair,
            now,
            self.bytes(newly) - in_parts,
            self.bytes(credited) - in_parts,
            sample,
        );
    }

    /// Tells the core of an ACK, with what is known of its newest packet if the control needs that.
    /// Every ACK is put together here but the calm ones.
    #[inline]
    pub(super) fn tell(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        acked: Bytes,
        credited: Bytes,
        rtt: Option<Span>,
    ) {
        let ack = Ack {
            now,
            acked,
            credited,
            rtt,
            // What earlier parts of this ACK have acknowledged is not in flight any more.
            in_flight: self.bytes(repair.in_flight(self)) - self.acked_in_parts,
            snd_nxt: self.bytes(self.nxt - self.first_data),
            ..Ack::default()
        };
        if self.extends_acks {
            return self.tell_extended(ack);
        }
        self.core.on_ack(&ack);
    }

    /// Apart, so that other ACKs need not be in memory.
    #[inline(never)]
    fn tell_extended(&mut self, mut ack: Ack) {
        if let Some(samples) = &mut self.samples {
            samples.complete(&mut ack, self.una);
        }
        if let Some(validation) = &self.validation {
            ack.app_limited |= !validation.is_whole(&self.core.view().window, self.mss);
        }
        match self.ecn.is_some() {
            true => self.tell_marked(ack),
            false => self.core.on_ack(&ack),
        }
    }

    /// The RTT of the newest packet that an ACK for all below `next` covers, but none if the first
    /// or the newest of them was sent again (Karn's algorithm, RFC 6298 section 3). Where the first
    /// was, it has filled a gap, and the others may have waited for it at the receiver: Linux takes
    /// no sample of such an ACK either (`tcp_clean_rtx_queue`, `FLAG_RETRANS_DATA_ACKED`). ns-2's
    /// timer, which ticks, times one segment and forgets it when something is sent again.
    #[inline]
    pub(super) fn rtt_sample(&self, now: Instant, next: u32) -> Option<Span> {
        let newest = next - 1;
        let waited = !self.endpoint.rto.timer.ticks() && self.log.has(self.una, Mark::RESENT);
        let again = waited || self.log.has(newest, Mark::RESENT);
        (!again).then(|| now.since(self.log.sent_at(newest)))
    }

    /// Whether an ACK for all packets below `next` is the first that acknowledges packet `seq`
    /// selectively. An old ACK that arrives late may name packets below SND.UNA, which count no
    /// more.
    #[inline]
    pub(super) fn is_first_sacked(&self, next: u32, seq: u32) -> bool {
        seq > next.max(self.una) && seq < self.max && !self.log.has(seq, Mark::SACKED)
    }

    /// Restarts the timer while anything is outstanding (RFC 6298 sections 5.2, 5.3).
    pub(super) fn rearm(&mut self, now: Instant) {
        if self.nxt > self.una || self.una < self.max {
            self.rto.restart(now);
        } else {
            self.rto.cancel();
        }
    }

    /// Begins a fast recovery, which ends when all that has been sent so far is acknowledged: cwnd
    /// is reduced for the packets found lost, and the retransmission timer starts anew.
    pub(super) fn begin_recovery(&mut self, now: Instant, found: Gaps) {
        self.recover = self.max;
        self.counts.fast_retransmits += 1;
        self.declare_loss(now, LossKind::Recovery, false, found);
        self.rto.restart(now);
        self.rto.forget_timed();
    }

    /// Tells the core that packets are lost, in a number of gaps; `answered` as in
    /// [`Loss::answered`].
    pub(super) fn declare_loss(
        &mut self,
        now: Instant,
        kind: LossKind,
        answered: bool,
        found: Gaps,
    ) {
        let outstanding = self.bytes(self.max - self.una);
        let flight = match self.endpoint.rules.halve {
            Halve::Flight => outstanding,
            Halve::Window => self.core.cwnd(),
        };
        let (lost, Gaps { gaps, again, .. }) = (self.bytes(found.packets), found);
        let loss = Loss { gaps, again, answered, ..Loss::of(now, kind, lost, flight) };
        let cut = self.core.on_loss(&loss);
        self.counts.cuts += u64::from(cut);
        if cut {
            self.owe_cwr();
        }
    }

    /// More packets are found lost while what was lost before them, perhaps by a timeout, is
    /// repaired: they are reported to the core, which does not cut again.
    pub(super) fn declare_further_loss(&mut self, now: Instant, found: Gaps, after_timeout: bool) {
        let (lost, flight) = (self.bytes(found.packets), self.bytes(self.max - self.una));
        let loss = Loss::of(now, LossKind::Recovery, lost, flight);
        let Gaps { gaps, again, .. } = found;
        self.core.on_loss(&Loss { gaps, again, after_timeout, ..loss });
    }

    pub(super) fn bytes(&self, packets: u32) -> Bytes {
        Bytes(u64::from(packets) * self.mss)
    }
}

/// The congestion controller of a flow, as its endpoint has it.
fn core(spec: &FlowSpec) -> Core {
    let endpoint = &spec.endpoint;
    let quic = endpoint.recovery == Recovery::Quic;
    let mut core = Core::of(spec.control.policies(), config(spec));
    if endpoint.linux_pacing {
        core.pace_as_linux();
    }
    if quic || endpoint.rules.halve == Halve::Window {
        core.marks_cut_window();
    }
    if quic {
        core.receiver_holds_acks(endpoint.delayed_ack_timeout);
    }
    if endpoint.paces && quic {
        core.endpoint_paces(super::quic::PACER_PERCENT);
    }
    core
}

/// Whether its connection may have nothing to send for a while.
fn rests(spec: &FlowSpec) -> bool {
    spec.files.is_some_and(|files| files.keep_alive) || !spec.writes.is_empty()
}

/// What its endpoint fixes for the control.
fn config(spec: &FlowSpec) -> Config {
    let (endpoint, mss) = (&spec.endpoint, spec.payload_bytes);
    let (quic, late) = (endpoint.recovery == Recovery::Quic, endpoint.rules.late_initial_window);
    Config {
        mss: Bytes(mss),
        initial_window: if late { Bytes(mss) } else { endpoint.initial_window },
        initial_ssthresh: endpoint.initial_ssthresh,
        max_cwnd: Bytes(mss * u64::from(spec.largest_window())),
        limit_growth_to_flight: endpoint.growth_limit && !rests(spec),
        // QUIC tells of each packet.
        segment_per_ack: endpoint.segment_per_ack || quic,
        // QUIC paces by a rule of its own.
        paces: endpoint.paces && !quic,
    }
}

/// More packets than any run can send.
pub(super) const GREEDY: u32 = u32::MAX / 2;
