//! QUIC's events become the core's. Nothing is decided here.

mod frame;
mod pace;
mod quinns;

use std::time::{Duration, Instant as Clock};

use firstflight_control::Named;
use firstflight_core::event::Sent;
use firstflight_core::frame::{Frame, Period};
use firstflight_core::hint::Learned;
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Policies;
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;

use crate::departures::Departures;
use pace::Pace;

/// What quinn 0.11 lets the adapter provide to every control. What earlier connections learned
/// ([`Facilities::MEMORY`]) it provides where it was given a hint
/// ([`Factory::hint`](crate::Factory::hint)).
///
/// quinn does not carry these:
/// - [`Facilities::WAKE_UPS`] and [`Facilities::PACED_WAKE_UPS`]: it gives a controller no timer;
/// - [`Facilities::GAPS`]: it tells a controller how many bytes were lost, not which packets;
/// - [`Facilities::MARKS`]: it tells that packets were marked
///   ([`LossKind::Mark`](firstflight_core::event::LossKind::Mark)), not how many.
pub const PROVIDES: Facilities = Facilities::SENT
    .and(Facilities::PACING)
    .and(Facilities::TIMES)
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::RECOVERY_WINDOW);

/// A congestion controller of firstflight in quinn's shape.
///
/// - quinn names every packet that an ACK frame acknowledges and then says that the frame is
///   through. The core gets its ACKs at that point, one per packet, all at the same time: in QUIC
///   the window grows by what was acknowledged (RFC 9002 section 7.3.1), however many packets one
///   frame covers. All of the frame counts as delivered with the first of them, and the others are
///   marked as its continuation ([`Ack::continues`](firstflight_core::event::Ack::continues)).
/// - A control that needs to know how much has left is told of every packet, in those sizes into
///   which quinn divides what it sends. To all others the adapter tells the sum with the next ACK
///   or loss. quinn does not say when an MTU probe leaves: one that is acknowledged counts as sent
///   then, and its ACK does not tell the state in which it left.
/// - [`Sender::begin`] comes with the first packet of the path, which is one of the handshake where
///   the path is new: quinn does not tell those from data. The handshake's RTT is that of the first
///   ACK.
/// - The RTT sample is of the newest packet acknowledged (RFC 9002 section 5.1), the delay that the
///   peer adds before it acknowledges included, as in TCP.
/// - Every loss is reported with the time at which its newest packet left; the core decides which
///   begin a recovery period. The period ends when a packet sent after its beginning is
///   acknowledged (RFC 9002 section 7.3.2). What was sent before is credited at once. It counts as
///   acknowledged with the packet that ends the period, like data that TCP's cumulative ACK covers
///   late; where start-up sets the window during the period, it counts at once.
/// - Persistent congestion is the core's timeout. A probe timeout changes nothing (RFC 9002 section
///   7.5).
/// - A pacing rate is followed from the first RTT on, in quinn's bursts: quinn asks for the window
///   twice per packet, and its pacer takes the second answer. Where a control sets no rate, quinn's
///   own holds, 1.25 windows per RTT.
/// - The window never falls below two packets (RFC 9002 section 7.2).
/// - A loss halves the window, not the flight (RFC 9002 section 7.3.2).
#[derive(Clone, Debug)]
pub struct Controller<P = Named> {
    sender: Sender<P>,
    epoch: Clock,
    initial_window: u64,
    mtu: u64,
    /// The answer to quinn's question for the window: one byte more than it.
    allowed: u64,
    /// Bytes in flight when quinn last said so, less what was lost since, and all told since.
    in_flight: u64,
    /// Sent, and not told yet.
    unreported: u64,
    /// A packet that leaves is more than bytes: the first, one that the control wants to hear of,
    /// or one whose state is kept.
    notes_sending: bool,
    /// [`Sender::begin`] was called.
    begun: bool,
    /// The control needs to be told of every packet.
    tells_each: bool,
    /// The policies read times, in both phases.
    reads_times: bool,
    /// The last recovery period.
    period: Period<Clock>,
    /// When the newest packet acknowledged was sent; the beginning before the first ACK.
    newest: Clock,
    /// An ACK has come.
    heard: bool,
    /// A frame for one packet that left after the last recovery period began is nothing but that:
    /// another ACK has come before, nothing is recovered from or withheld, no state is kept.
    calm: bool,
    /// What the ACK frame of which quinn is telling acknowledges so far.
    frame: Frame,
    /// The newest packet of all acknowledged so far is among them.
    frame_has_newest: bool,
    /// Kept where the control needs rate samples or the state in which packets left.
    departures: Option<Departures>,
    /// How packets leave.
    pace: Pace,
}

impl<P: Policies> Controller<P> {
    pub(crate) fn new(mut sender: Sender<P>, now: Clock, mtu: u16) -> Self {
        sender.endpoint_paces(PACER_PERCENT);
        let needs = sender.needs().all();
        let samples = needs.has(Facilities::RATES) || needs.has(Facilities::PACKETS);
        let mut controller = Self {
            epoch: now,
            sender,
            initial_window: 0,
            mtu: u64::from(mtu).max(1),
            allowed: 0,
            in_flight: 0,
            unreported: 0,
            notes_sending: true,
            begun: false,
            tells_each: needs.has(Facilities::SENT),
            reads_times: !needs.is_empty(),
            period: Period::NONE,
            newest: now,
            heard: false,
            calm: false,
            frame: Frame::default(),
            frame_has_newest: false,
            departures: samples.then(Departures::default),
            pace: Pace::of(needs.has(Facilities::PACING)),
        };
        controller.update_window();
        controller.initial_window = controller.cwnd();
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

    /// The last loss reported was none: undoes its cut. quinn 0.11 never says so.
    pub fn on_spurious_loss(&mut self) {
        self.sender.on_spurious_loss();
        self.calm = false;
        self.note_recovery(false);
        self.update_window();
    }

    /// An ACK frame acknowledges a packet of `bytes` that left at `sent`; what the frame does comes
    /// with `on_end_acks`. All that the adapter takes from quinn's `on_ack`, whose RTT estimator
    /// nobody but quinn can make.
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

    /// Takes over the window that the core has set. quinn asks for it several times per packet.
    #[inline]
    fn update_window(&mut self) {
        let floor = MIN_PACKETS * self.mtu;
        self.allowed = self.sender.cwnd().0.max(floor).saturating_add(1);
        if self.pace.follows {
            self.pace.begin();
            self.update_pace();
        }
    }

    /// What may be in flight since the last event; less than the largest number.
    fn cwnd(&self) -> u64 {
        self.allowed - 1
    }

    /// Whether this ACK needs a time: the policies read times, or start-up may end, whose time is
    /// kept. Otherwise the core's clock stands still, because a time and an RTT made of quinn's
    /// instants cost as much as the rest of an ACK.
    #[inline]
    fn takes_times(&self) -> bool {
        self.reads_times || !self.heard || self.sender.view().phase == Phase::Startup
    }

    /// The time of an event. quinn over sockets takes the time of a datagram when it is received
    /// and may send before it handles it: what is told then counts as later, so that the core's
    /// clock does not go back.
    #[inline]
    fn now(&self, at: Clock) -> Instant {
        self.time(at).max(self.sender.view().now)
    }

    /// Time since the path began. What quinn remembers from before is as old as the path.
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

    /// A packet leaves that is the first, or that the control wants to know of.
    #[cold]
    fn note_sending(&mut self, now: Clock, bytes: u64) {
        let now = self.now(now);
        if !self.begun {
            self.begun = true;
            self.sender.begin(now);
            self.notes_sending = self.tells_each || self.departures.is_some() || self.pace.follows;
            self.update_window();
        }
        self.pace.begin();
        self.note_paced(bytes);
        if !self.tells_each {
            return self.note_packet(now, bytes);
        }
        let (mut rest, mut told) = (bytes, 1);
        while rest > self.mtu && told < MOST_PACKETS_AT_ONCE {
            (rest, told) = (rest - self.mtu, told + 1);
            self.note_packet(now, self.mtu);
            self.tell_sent(now);
        }
        self.note_packet(now, rest);
        self.tell_sent(now);
    }

    fn note_packet(&mut self, now: Instant, bytes: u64) {
        let before = self.in_flight.saturating_add(self.unreported);
        self.unreported = self.unreported.saturating_add(bytes);
        if let Some(departures) = &mut self.departures {
            departures.on_sent(now, Bytes(before.saturating_add(bytes)), before == 0);
        }
    }

    /// Tells the core what has left since it last heard of it.
    #[inline]
    fn tell_sent(&mut self, now: Instant) {
        let bytes = std::mem::take(&mut self.unreported);
        self.in_flight = self.in_flight.saturating_add(bytes);
        let (bytes, in_flight) = (Bytes(bytes), Bytes(self.in_flight));
        self.sender.on_sent(&Sent { now, bytes, in_flight, again: false });
    }
}

/// From one instant to another, which are less than 584 years apart; none if it is not later.
#[inline]
fn elapsed(from: Clock, to: Clock) -> Span {
    Span(to.saturating_duration_since(from).as_nanos() as u64)
}

/// quinn's own pacer, which nothing turns off: 1.25 windows per RTT (RFC 9002 section 7.7, quinn
/// 0.11 `connection/pacing.rs`).
const PACER_PERCENT: u16 = 125;

/// RFC 9002 section 7.2: the smallest window is two packets.
const MIN_PACKETS: u64 = 2;

/// How many packets of one transmission are told of one by one; the last of them stands for all the
/// rest. quinn 0.11 sends ten at most (`MAX_TRANSMIT_SEGMENTS`).
const MOST_PACKETS_AT_ONCE: u64 = 64;

#[cfg(test)]
mod tests;
