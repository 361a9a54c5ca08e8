//! QUIC's events become the core's. Nothing is decided here.

mod frame;
mod rest;

use std::fmt;
use std::time::{Duration, Instant as Clock};

use firstflight_core::event::{Loss, LossKind, Sent};
use firstflight_core::frame::{Frame, MAX_ACK_DELAY, Period};
use firstflight_core::hint::Learned;
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Policies;
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;

use crate::departures::Departures;
use crate::stack::Stack;
use rest::Rest;

/// A congestion controller of firstflight for a QUIC stack, whose trait it implements.
///
/// - The stack names every packet that an ACK frame acknowledges and then says that the frame is
///   through. The core gets its ACKs at that point, one per packet, all at the same time: in QUIC
///   the window grows by what was acknowledged (RFC 9002 section 7.3.1), however many packets one
///   frame covers. All of the frame counts as delivered with the first of them, and the others are
///   marked as its continuation ([`Ack::continues`](firstflight_core::event::Ack::continues)).
/// - A control that needs to know how much has left gets every packet as it leaves. All others get
///   the sum with the next ACK or loss.
/// - [`Sender::begin`] is called with the first packet of the path, and the handshake's RTT is the
///   sample of the first ACK. A stack that knows the handshake's packets knows that RTT before
///   data leaves: there `begin` is called with the first ACK, unless data has left earlier
///   ([`Controller::handshake_sent`], [`Controller::handshake_acknowledged`]).
/// - The RTT sample is of the newest packet acknowledged (RFC 9002 section 5.1), the delay that the
///   peer adds before it acknowledges included, as in TCP.
/// - Every loss is reported with the time at which its newest packet left; the core decides which
///   begin a recovery period. The period ends when a packet sent after its beginning is
///   acknowledged (RFC 9002 section 7.3.2). What was sent before is credited at once. It counts as
///   acknowledged with the packet that ends the period, like data that TCP's cumulative ACK covers
///   late; where start-up sets the window during the period, it counts at once.
/// - Persistent congestion is the core's timeout. A probe timeout changes nothing (RFC 9002 section
///   7.5).
/// - A pacing rate is followed in the stack's bursts. Where a control sets no rate, the stack's own
///   holds ([`Stack::PACER`]).
/// - The window never falls below two packets (RFC 9002 section 7.2).
/// - A loss halves the window, not the flight (RFC 9002 section 7.3.2).
/// - A source rests from its newest data on, once all of that is acknowledged and the stack has
///   nothing more to send. [`Sender::on_rest`] is called with the next data, as over TCP; the
///   window stays (RFC 9002 section 7.8).
#[derive(Clone)]
pub struct Controller<P, S> {
    sender: Sender<P>,
    epoch: Clock,
    initial_window: u64,
    mtu: u64,
    /// What may be in flight since the last event; less than the largest number.
    cwnd: u64,
    /// Bytes in flight as the core knows them: by the stack's last count and what was reported
    /// since.
    in_flight: u64,
    /// Sent, and not reported to the core yet, bytes.
    unreported: u64,
    /// The next packet is reported to the core one by one, and not only counted in `unreported`: it
    /// is the first, or the first after a rest, or the control needs a report of every packet.
    notes_sending: bool,
    /// [`Sender::begin`] was called.
    begun: bool,
    /// The control needs a report of every packet.
    reports_each: bool,
    /// The policies read times, in both phases.
    reads_times: bool,
    /// The last recovery period.
    period: Period<Clock>,
    /// When the newest packet acknowledged was sent; the beginning before the first ACK.
    newest: Clock,
    /// An ACK has come.
    had_ack: bool,
    /// A frame for one packet that left after the last recovery period began needs nothing more: an
    /// ACK has come before, no recovery runs, nothing is withheld, no departures are kept.
    calm: bool,
    /// What the ACK frame that the stack is reporting acknowledges so far.
    frame: Frame,
    /// The newest packet of all acknowledged so far is among them.
    frame_has_newest: bool,
    /// Whether the source has nothing to send.
    rest: Rest,
    /// Marked since the last frame, bytes.
    marked: u64,
    /// Kept where the control needs rate samples or the state in which packets left.
    departures: Option<Departures>,
    /// The control sets rates.
    sets_rate: bool,
    /// What this stack has besides the common events.
    pub(crate) stack: S,
}

impl<P: Policies, S: Stack> Controller<P, S> {
    pub(crate) fn new(mut sender: Sender<P>, now: Clock, mtu: u16) -> Self {
        sender.endpoint_paces(S::PACER);
        sender.marks_cut_window();
        sender.receiver_holds_acks(MAX_ACK_DELAY);
        let needs = sender.needs().all();
        let samples = needs.has(Facilities::RATES) || needs.has(Facilities::PACKETS);
        let mut controller = Self {
            epoch: now,
            sender,
            initial_window: 0,
            mtu: u64::from(mtu).max(1),
            cwnd: 0,
            in_flight: 0,
            unreported: 0,
            notes_sending: true,
            begun: false,
            reports_each: needs.has(Facilities::SENT),
            reads_times: !needs.is_empty(),
            period: Period::NONE,
            newest: now,
            had_ack: false,
            calm: false,
            frame: Frame::default(),
            frame_has_newest: false,
            rest: Rest::None,
            marked: 0,
            departures: samples.then(Departures::default),
            sets_rate: needs.has(Facilities::PACING),
            stack: S::default(),
        };
        controller.update_window();
        controller.initial_window = controller.cwnd;
        controller
    }

    /// The core's sender, for its phase, its estimators and how start-up ended.
    pub fn sender(&self) -> &Sender<P> {
        &self.sender
    }

    /// What this connection has learned of its path, to be handed to the next one by
    /// [`Factory::hint`](crate::Factory::hint) with its age: [`Sender::learned`].
    pub fn learned(&self) -> Option<Learned> {
        self.sender.learned()
    }

    /// The hint that this connection was given proved wrong: whoever keeps it should forget it.
    pub fn refutes_hint(&self) -> bool {
        self.sender.refutes_hint()
    }

    /// The last loss reported was spurious: undoes its cut. quinn 0.11 never says so.
    pub fn on_spurious_loss(&mut self) {
        self.sender.on_spurious_loss();
        self.calm = false;
        self.note_recovery(false);
        self.update_window();
    }

    /// An ACK frame acknowledges a packet of `bytes` that left at `sent`; what the frame does comes
    /// with `on_end_acks`. The adapter takes nothing else of a stack's `on_ack`, so that
    /// it works without the RTT estimator, which only the stack can make.
    #[inline]
    pub fn acknowledged(&mut self, sent: Clock, bytes: u64) {
        if sent >= self.newest {
            (self.newest, self.frame_has_newest) = (sent, true);
        }
        if self.period.is_after(sent) {
            return self.acknowledged_in_recovery(bytes);
        }
        self.frame.after.add(bytes);
    }

    #[cold]
    fn acknowledged_in_recovery(&mut self, bytes: u64) {
        self.calm = false;
        self.frame.before.add(bytes);
    }

    /// The frame acknowledges so many bytes that were marked, where the stack counts marks. Where
    /// it does not, a mark is a loss ([`Controller::lost`]).
    pub fn marked(&mut self, bytes: u64) {
        self.calm = false;
        self.marked = self.marked.saturating_add(bytes);
    }

    /// A transmission leaves, in packets of this size but for the last.
    #[inline]
    pub fn sent(&mut self, now: Clock, bytes: u64, packet: u64) {
        if self.notes_sending {
            return self.note_sending(now, bytes, packet);
        }
        self.unreported = self.unreported.saturating_add(bytes);
    }

    /// A packet of the handshake leaves, if the stack distinguishes those from data.
    pub fn handshake_sent(&mut self, now: Clock, bytes: u64) {
        if self.begun {
            return self.sent(now, bytes, bytes);
        }
        self.note_packet(self.now(now), bytes);
    }

    /// The next frame acknowledges a packet of the handshake that left at `sent`.
    pub fn handshake_acknowledged(&mut self, now: Clock, sent: Clock) {
        if !self.begun {
            let at = self.now(now);
            self.sender.on_handshake(at, elapsed(sent, now));
            self.begin(at);
        }
    }

    /// Packets were lost, with so many gaps, or marked. The newest of them left at `sent`.
    pub fn lost(&mut self, now: Clock, sent: Clock, kind: LossKind, bytes: u64, gaps: u32) {
        self.calm = false;
        let at = self.now(now);
        if self.unreported > 0 {
            self.report_sent(at);
        }
        self.in_flight = self.in_flight.saturating_sub(bytes);
        let loss = Loss::of(at, kind, Bytes(bytes), Bytes(self.cwnd));
        let gaps = loss.gaps.max(gaps);
        let loss = Loss { sent_at: Some(self.time(sent)), gaps, ..loss };
        let cut = self.sender.on_loss(&loss);
        self.note_recovery(cut && !self.sender.policy_sets_recovery_window());
        self.update_window();
    }

    /// A packet has this size from now on.
    pub fn set_mtu(&mut self, mtu: u16) {
        self.mtu = u64::from(mtu).max(1);
        self.sender.set_mss(Bytes(self.mtu));
        self.update_window();
    }

    /// Whether the control sets rates.
    #[cfg(feature = "quinn")]
    #[inline]
    pub(crate) fn sets_rate(&self) -> bool {
        self.sets_rate
    }

    /// The size of a packet, bytes.
    #[inline]
    pub fn mtu(&self) -> u64 {
        self.mtu
    }

    /// The first window, bytes.
    pub fn first_window(&self) -> u64 {
        self.initial_window
    }

    /// The window, bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// The ssthresh, bytes, if there is one.
    pub fn ssthresh(&self) -> Option<u64> {
        Some(self.sender.ssthresh().0).filter(|ssthresh| *ssthresh != Bytes::MAX.0)
    }

    /// What is in flight with the next packet, bytes.
    #[cfg(feature = "quinn")]
    #[inline]
    pub(crate) fn with_next(&self) -> u64 {
        self.in_flight.saturating_add(self.unreported).saturating_add(self.mtu)
    }

    /// Takes over the window and the rate that the core has set. A stack asks for them several
    /// times per packet.
    #[inline]
    fn update_window(&mut self) {
        let floor = MIN_PACKETS * self.mtu;
        self.cwnd = self.sender.cwnd().0.max(floor).min(u64::MAX - 1);
        if self.sets_rate {
            self.stack.on_event();
            self.update_pace();
        }
    }

    fn update_pace(&mut self) {
        self.stack.set_pace(self.sender.pacing(), self.mtu);
    }

    /// Whether this ACK needs a time: the policies read times, or start-up may end, whose time is
    /// kept. Otherwise the core's clock stands still, because a time and an RTT made of a stack's
    /// instants cost as much as the rest of an ACK.
    #[inline]
    fn takes_times(&self) -> bool {
        self.reads_times || !self.had_ack || self.sender.view().phase == Phase::Startup
    }

    /// The time of an event. A stack over sockets takes the time of a datagram when it is received
    /// and may send before it handles it: such a datagram counts as later, so that the core's
    /// clock does not go back.
    #[inline]
    fn now(&self, at: Clock) -> Instant {
        self.time(at).max(self.sender.view().now)
    }

    /// Time since the path began. What a stack remembers from before is as old as the path.
    fn time(&self, at: Clock) -> Instant {
        Instant(elapsed(self.epoch, at).0)
    }

    /// Takes over when the last recovery period began. `cut` if the window has just been cut, and
    /// not by a start-up that stays in charge: what left before does not open it again.
    fn note_recovery(&mut self, cut: bool) {
        let began = self.sender.recovery_began();
        let start = began.and_then(|at| self.epoch.checked_add(Duration::from_nanos(at.0)));
        self.period.note(start, cut);
    }

    fn begin(&mut self, now: Instant) {
        self.begun = true;
        self.sender.begin(now);
        self.notes_sending = self.notes_each();
        self.update_window();
    }

    /// Every packet is more than bytes to count.
    fn notes_each(&self) -> bool {
        self.reports_each || self.departures.is_some() || self.sets_rate
    }

    /// A transmission leaves that is more than bytes to count.
    #[cold]
    fn note_sending(&mut self, at: Clock, bytes: u64, packet: u64) {
        let now = self.now(at);
        if !self.begun {
            self.begin(now);
        }
        self.end_rest(at);
        self.stack.on_event();
        if self.sets_rate {
            self.sender.on_paced(Bytes(bytes));
            self.update_pace();
        }
        if !self.reports_each {
            return self.note_packet(now, bytes);
        }
        let (mut rest, mut packets) = (bytes, 1);
        while rest > packet && packets < MOST_PACKETS_AT_ONCE {
            (rest, packets) = (rest - packet, packets + 1);
            self.note_packet(now, packet);
            self.report_sent(now);
        }
        self.note_packet(now, rest);
        self.report_sent(now);
    }

    fn note_packet(&mut self, now: Instant, bytes: u64) {
        let before = self.in_flight.saturating_add(self.unreported);
        self.unreported = self.unreported.saturating_add(bytes);
        if let Some(departures) = &mut self.departures {
            departures.on_sent(now, Bytes(before.saturating_add(bytes)), before == 0);
        }
    }

    /// Reports to the core what has left since the last report.
    #[inline]
    fn report_sent(&mut self, now: Instant) {
        let bytes = std::mem::take(&mut self.unreported);
        self.in_flight = self.in_flight.saturating_add(bytes);
        let (bytes, in_flight) = (Bytes(bytes), Bytes(self.in_flight));
        self.sender.on_sent(&Sent { now, bytes, in_flight, again: false });
    }
}

/// By hand, because noq asks for it of every controller, and policies need not have it.
impl<P, S> fmt::Debug for Controller<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cwnd, in_flight, .. } = self;
        let mut shown = f.debug_struct("Controller");
        shown.field("cwnd", cwnd).field("in_flight", in_flight).finish_non_exhaustive()
    }
}

/// From one instant to another, which are less than 584 years apart; none if it is not later.
#[inline]
fn elapsed(from: Clock, to: Clock) -> Span {
    Span(to.saturating_duration_since(from).as_nanos() as u64)
}

/// RFC 9002 section 7.2: the smallest window is two packets.
const MIN_PACKETS: u64 = 2;

/// How many packets of one transmission are reported one by one; the last of them stands for all
/// the rest. quinn 0.11 sends ten at most (`MAX_TRANSMIT_SEGMENTS`).
const MOST_PACKETS_AT_ONCE: u64 = 64;

#[cfg(all(test, feature = "quinn"))]
mod tests;
