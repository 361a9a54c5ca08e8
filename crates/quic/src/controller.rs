//! Translates QUIC's events into the core's. It decides nothing.

use std::any::Any;
use std::time::{Duration, Instant as Clock};

use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::hint::Learned;
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::ControllerMetrics;

use crate::departures::Departures;

/// What quinn 0.11 lets the adapter provide to every control. What earlier connections learned
/// ([`Facilities::MEMORY`]) it provides where it was given a hint
/// ([`Factory::hint`](crate::Factory::hint)).
///
/// Not provided: [`Facilities::PACING`] and [`Facilities::WAKE_UPS`], because quinn asks a
/// controller for nothing but its window and has no timer for it; [`Facilities::GAPS`], because it
/// tells the bytes of a loss and not the packets; [`Facilities::MARKS`], because it tells that
/// packets were marked ([`LossKind::Mark`]) and not how many.
pub const PROVIDES: Facilities = Facilities::SENDS
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
///   marked as its continuation ([`Ack::continues`]).
/// - A control that needs the time at which every packet leaves is told of every packet, in those
///   sizes into which quinn divides what it sends. To all others the adapter tells the sum with the
///   next ACK or loss. quinn does not say when an MTU probe leaves: one that is acknowledged counts
///   as sent then.
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
/// - The window never falls below two packets (RFC 9002 section 7.2).
/// - A loss halves the window, not the flight (RFC 9002 section 7.3.2).
#[derive(Clone, Debug)]
pub struct Controller<S = ChosenStartup, A = ChosenAvoidance> {
    sender: Sender<Pair<S, A>>,
    epoch: Clock,
    initial_window: u64,
    mtu: u64,
    /// The answer to quinn's question for the window: one byte more than it.
    allowed: u64,
    /// Bytes in flight when quinn last said so, less what was lost since, and all told since.
    in_flight: u64,
    /// Bytes that left and have not been reported to the core yet.
    untold: u64,
    /// Whether the next packet that leaves needs more than counting: it is the first, the control
    /// needs sends, or the state in which packets left is kept.
    notes_sending: bool,
    /// Whether [`Sender::begin`] was called.
    begun: bool,
    /// Whether the control needs every send ([`Facilities::SENDS`]).
    tells_each: bool,
    /// Whether the policies read times, in either phase.
    reads_times: bool,
    /// Bytes acknowledged since the path began, and how many of them recovery withholds.
    delivered: u64,
    withheld: u64,
    /// Start of the last recovery period.
    recovery: Option<Clock>,
    /// Whether ACKs of packets sent before that start are kept from opening the window.
    withholds: bool,
    /// When the newest packet acknowledged was sent; the beginning before the first ACK.
    newest: Clock,
    /// Whether an ACK has come.
    heard: bool,
    batch: Batch,
    /// Kept where the control needs rate samples or the state in which packets left.
    departures: Option<Departures>,
}

/// What one ACK frame acknowledges.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Packets sent after the last recovery period began.
    after: Count,
    /// Packets sent before, where start-up sets the window during the period.
    landing: Count,
    /// Bytes sent before, where recovery withholds them.
    withheld: u64,
    /// Whether the newest packet acknowledged so far is among them.
    newest: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    packets: u64,
    bytes: u64,
}

impl<S: Startup + Clone, A: Avoidance + Clone> Controller<S, A> {
    pub(crate) fn new(sender: Sender<Pair<S, A>>, now: Clock, mtu: u16) -> Self {
        let needs = sender.needs().all();
        let samples = needs.has(Facilities::RATES) || needs.has(Facilities::PACKETS);
        let mut controller = Self {
            epoch: now,
            sender,
            initial_window: 0,
            mtu: u64::from(mtu).max(1),
            allowed: 0,
            in_flight: 0,
            untold: 0,
            notes_sending: true,
            begun: false,
            tells_each: needs.has(Facilities::SENDS),
            reads_times: !needs.is_empty(),
            delivered: 0,
            withheld: 0,
            recovery: None,
            withholds: false,
            newest: now,
            heard: false,
            batch: Batch::default(),
            departures: samples.then(Departures::default),
        };
        controller.update_window();
        controller.initial_window = controller.cwnd();
        controller
    }

    /// The core's sender, for its phase, its estimators and how start-up ended.
    pub fn sender(&self) -> &Sender<Pair<S, A>> {
        &self.sender
    }

    /// What this connection has learned of its path, to be handed to the next one by
    /// [`Factory::hint`](crate::Factory::hint) with its age; `None` before the first RTT sample.
    /// The RTTs of a control that reads no times are those of its start-up.
    pub fn learned(&self) -> Option<Learned> {
        let view = self.sender.view();
        (view.rtt.smoothed > Span(0)).then_some(Learned {
            window: view.window,
            rtt: view.rtt.smoothed,
            min_rtt: view.rtt.min.max(Span(1)),
            delivered: view.delivered,
            age: Span(0),
        })
    }

    /// Whether the hint that this connection was given proved wrong. The service that keeps it
    /// should then forget it.
    pub fn refutes_hint(&self) -> bool {
        self.sender.refutes_hint()
    }

    /// The last loss reported was spurious: undoes its cut. quinn 0.11 never says so.
    pub fn on_spurious_loss(&mut self) {
        self.sender.on_spurious_loss();
        self.note_recovery(false);
        self.update_window();
    }

    /// An ACK frame acknowledges a packet of `bytes` that left at `sent`; what the frame does comes
    /// with `on_end_acks`. All that the adapter takes from quinn's `on_ack`, whose RTT estimator
    /// only quinn can make.
    #[inline]
    pub fn acknowledged(&mut self, sent: Clock, bytes: u64) {
        if sent >= self.newest {
            (self.newest, self.batch.newest) = (sent, true);
        }
        if self.left_before_recovery(sent) {
            return self.acknowledged_in_recovery(bytes);
        }
        self.batch.after.packets += 1;
        self.batch.after.bytes = self.batch.after.bytes.saturating_add(bytes);
    }

    #[cold]
    fn acknowledged_in_recovery(&mut self, bytes: u64) {
        let Batch { landing, withheld, .. } = &mut self.batch;
        if self.withholds {
            *withheld = withheld.saturating_add(bytes);
        } else {
            landing.packets += 1;
            landing.bytes = landing.bytes.saturating_add(bytes);
        }
    }

    /// Stores the window that the core has set, for which quinn asks several times per packet.
    #[inline]
    fn update_window(&mut self) {
        let floor = MIN_PACKETS * self.mtu;
        self.allowed = self.sender.cwnd().0.max(floor).saturating_add(1);
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

    /// Whether a packet sent at that time left before the last recovery period began.
    #[inline]
    fn left_before_recovery(&self, sent: Clock) -> bool {
        self.recovery.is_some_and(|start| sent <= start)
    }

    /// Takes over when the last recovery period began. `cut` if the window has just been cut, and
    /// not by a start-up that stays in charge: what left before does not open it again.
    fn note_recovery(&mut self, cut: bool) {
        let began = self.sender.recovery_began();
        let start = began.and_then(|at| self.epoch.checked_add(Duration::from_nanos(at.0)));
        if cut || start != self.recovery {
            self.withholds = cut;
        }
        self.recovery = start;
    }

    /// A packet leaves that is the first, or that the control wants to know of.
    #[cold]
    fn note_sending(&mut self, now: Clock, bytes: u64) {
        let now = self.now(now);
        if !self.begun {
            self.begun = true;
            self.sender.begin(now);
            self.notes_sending = self.tells_each || self.departures.is_some();
            self.update_window();
        }
        if !self.tells_each {
            return self.note_packet(now, bytes);
        }
        let mut rest = bytes;
        for _ in 1..MOST_PACKETS_AT_ONCE {
            if rest > self.mtu {
                rest -= self.mtu;
                self.note_packet(now, self.mtu);
                self.tell_sent(now);
            }
        }
        self.note_packet(now, rest);
        self.tell_sent(now);
    }

    fn note_packet(&mut self, now: Instant, bytes: u64) {
        let before = self.in_flight.saturating_add(self.untold);
        self.untold = self.untold.saturating_add(bytes);
        if let Some(departures) = &mut self.departures {
            departures.on_sent(now, Bytes(before.saturating_add(bytes)), before == 0);
        }
    }

    /// Reports to the core what has left since the last report.
    #[inline]
    fn tell_sent(&mut self, now: Instant) {
        let bytes = std::mem::take(&mut self.untold);
        self.in_flight = self.in_flight.saturating_add(bytes);
        let (bytes, in_flight) = (Bytes(bytes), Bytes(self.in_flight));
        self.sender.on_sent(&Sent { now, bytes, in_flight, again: false });
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
            self.sender.on_ack(&ack);
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
            self.sender.on_ack(ack);
            (ack.credited, ack.rtt, ack.sample, ack.packet) = (Bytes(0), None, None, None);
            ack.continues = true;
        }
    }
}

impl<S, A> quinn_proto::congestion::Controller for Controller<S, A>
where
    S: Startup + Clone + Send + Sync + 'static,
    A: Avoidance + Clone + Send + Sync + 'static,
{
    #[inline]
    fn on_sent(&mut self, now: Clock, bytes: u64, _last_packet_number: u64) {
        if self.notes_sending {
            return self.note_sending(now, bytes);
        }
        self.untold = self.untold.saturating_add(bytes);
    }

    #[inline]
    fn on_ack(
        &mut self,
        _now: Clock,
        sent: Clock,
        bytes: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.acknowledged(sent, bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Clock,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        let batch = std::mem::take(&mut self.batch);
        let Batch { after, landing, withheld, newest } = batch;
        let total = after.bytes.saturating_add(landing.bytes).saturating_add(withheld);
        if total == 0 {
            self.in_flight = in_flight.saturating_sub(self.untold);
            return;
        }
        self.delivered = self.delivered.saturating_add(total);
        let position = self.delivered.saturating_add(in_flight);
        let mut ack = Ack {
            now: self.sender.view().now,
            credited: Bytes(total),
            in_flight: Bytes(in_flight),
            snd_nxt: Bytes(position),
            app_limited,
            ..Ack::default()
        };
        let times = self.takes_times();
        if times {
            ack.now = self.now(now);
        }
        // What quinn did not say: an MTU probe has left.
        self.untold = self.untold.max(position.saturating_sub(self.sender.view().sent.0));
        if self.untold > 0 {
            self.tell_sent(ack.now);
        }
        self.in_flight = in_flight;
        if times && newest {
            self.measure(now, &mut ack);
        }
        if self.departures.is_some() {
            self.sample(&mut ack, newest);
        }
        self.pass_on(ack, batch);
        self.update_window();
    }

    fn on_congestion_event(
        &mut self,
        now: Clock,
        sent: Clock,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let again = self.left_before_recovery(sent);
        let at = self.now(now);
        if self.untold > 0 {
            self.tell_sent(at);
        }
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        let kind = match (is_persistent_congestion, lost_bytes) {
            (true, _) => LossKind::Timeout,
            (false, 0) => LossKind::Mark,
            (false, _) => LossKind::Recovery,
        };
        let loss = Loss::of(at, kind, Bytes(lost_bytes), Bytes(self.cwnd()));
        let loss = Loss { again, sent_at: Some(self.time(sent)), ..loss };
        let cut = self.sender.on_loss(&loss);
        self.note_recovery(cut && !self.sender.window_is_startups());
        self.update_window();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u64::from(new_mtu).max(1);
        self.sender.set_mss(Bytes(self.mtu));
        self.update_window();
    }

    /// quinn sends while flight plus packet stay *below* this, RFC 9002 section 7 up to cwnd: one
    /// byte more makes the two equal. Without it a window of whole packets is never full, and a
    /// window that may grow only as far as the flight justifies would stand still there.
    #[inline]
    fn window(&self) -> u64 {
        self.allowed
    }

    fn metrics(&self) -> ControllerMetrics {
        let ssthresh = Some(self.sender.ssthresh()).filter(|ssthresh| *ssthresh != Bytes::MAX);
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.cwnd();
        metrics.ssthresh = ssthresh.map(|ssthresh| ssthresh.0);
        metrics.pacing_rate = self.sender.pacing().map(|pacing| pacing.rate.0.saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn quinn_proto::congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// From one instant to another, which are less than 584 years apart; none if it is not later.
#[inline]
fn elapsed(from: Clock, to: Clock) -> Span {
    Span(to.saturating_duration_since(from).as_nanos() as u64)
}

/// RFC 9002 section 7.2: the smallest window is two packets.
const MIN_PACKETS: u64 = 2;

/// quinn sends ten packets at once at most (quinn 0.11, `MAX_TRANSMIT_SEGMENTS`). More than this
/// are told as one.
const MOST_PACKETS_AT_ONCE: u64 = 64;

#[cfg(test)]
mod tests;
