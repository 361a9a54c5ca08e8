//! QUIC's events become the core's. Nothing is decided here.

use std::any::Any;
use std::time::Instant as Clock;

use firstflight_core::event::{Ack, Loss, LossKind, RateSample, Sent};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::ControllerMetrics;

use crate::rate_sample::Snapshots;

/// A congestion controller of firstflight in quinn's shape.
///
/// - quinn names every packet that an ACK frame acknowledges and then says that the frame is
///   through. The core gets its ACKs at that point, one per packet, all at the same time: in QUIC
///   the window grows by what was acknowledged (RFC 9002 section 7.3.1), however many packets one
///   frame covers. All of the frame counts as delivered with the first of them, so that what
///   measures rates sees one ACK per frame, as of a TCP receiver that delays ACKs.
/// - The core hears of the first packet when it leaves, and of all that leaves later with the next
///   ACK or loss, as a sum: no policy looks at the leaving of any packet but the first.
/// - The RTT sample is of the newest packet acknowledged (RFC 9002 section 5.1), the delay that the
///   peer adds before it acknowledges included, as in TCP.
/// - A recovery period begins with a loss or a mark and ends when a packet sent after that is
///   acknowledged (RFC 9002 section 7.3.2). What was sent before it is credited at once, and counts
///   as acknowledged with the packet that ends the period, like data that TCP's cumulative ACK
///   covers late. No second loss of what was sent before is reported.
/// - Persistent congestion is the core's timeout. A probe timeout changes nothing (RFC 9002 section
///   7.5).
/// - The window never falls below two packets (RFC 9002 section 7.2).
/// - A loss halves the window, not the flight (RFC 9002 section 7.3.2).
#[derive(Clone, Debug)]
pub struct Controller<S = AnyStartup, A = AnyAvoidance> {
    sender: Sender<S, A>,
    epoch: Clock,
    initial_window: u64,
    min_window: u64,
    /// The answer to quinn's question for the window: one byte more than it.
    allowed: u64,
    /// Bytes in flight when quinn last said so, less what was lost since, and all sent since.
    in_flight: u64,
    untold: u64,
    /// A packet that leaves is more than bytes: the first, and those that samples are taken of.
    notes_sending: bool,
    /// The policies read times, in both phases.
    reads_times: bool,
    /// Acknowledged since the path began, and how much of it recovery withholds.
    delivered: u64,
    withheld: u64,
    /// Start of the last recovery period.
    recovery: Option<Clock>,
    /// When the newest packet acknowledged was sent; the beginning before the first ACK.
    newest: Clock,
    /// An ACK has come.
    heard: bool,
    app_limited: bool,
    batch: Batch,
    snapshots: Option<Snapshots>,
}

/// What one ACK frame acknowledges.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Packets sent after the last recovery period began, and their bytes.
    packets: u64,
    bytes: u64,
    /// Bytes sent before.
    earlier: u64,
    /// The newest packet of all acknowledged so far is among them.
    newest: bool,
}

impl<S: Startup + Clone, A: Avoidance + Clone> Controller<S, A> {
    pub(crate) fn new(sender: Sender<S, A>, now: Clock, mtu: u16, rate_samples: bool) -> Self {
        let min_window = MIN_PACKETS * u64::from(mtu);
        let mut controller = Self {
            epoch: now,
            reads_times: rate_samples || sender.reads_times(),
            sender,
            initial_window: 0,
            min_window,
            allowed: 0,
            in_flight: 0,
            untold: 0,
            notes_sending: true,
            delivered: 0,
            withheld: 0,
            recovery: None,
            newest: now,
            heard: false,
            app_limited: false,
            batch: Batch::default(),
            snapshots: rate_samples.then(Snapshots::default),
        };
        controller.decided();
        controller.initial_window = controller.cwnd();
        controller
    }

    /// The core's sender, for its phase, its estimators and how start-up ended.
    pub fn sender(&self) -> &Sender<S, A> {
        &self.sender
    }

    /// The last loss reported was none: undoes its cut. quinn 0.11 never says so.
    pub fn on_spurious_loss(&mut self) {
        self.sender.on_spurious_loss();
        self.recovery = None;
        self.decided();
    }

    /// An ACK frame acknowledges a packet of `bytes` that left at `sent`; what the frame does comes
    /// with `on_end_acks`. All that the adapter takes from quinn's `on_ack`, whose RTT estimator
    /// nobody but quinn can make.
    #[inline]
    pub fn acknowledged(&mut self, sent: Clock, bytes: u64) {
        if sent >= self.newest {
            (self.newest, self.batch.newest) = (sent, true);
        }
        if self.is_answered(sent) {
            self.batch.earlier = self.batch.earlier.saturating_add(bytes);
        } else {
            self.batch.packets += 1;
            self.batch.bytes = self.batch.bytes.saturating_add(bytes);
        }
    }

    /// The core has had its say. quinn asks for the window several times per packet.
    #[inline]
    fn decided(&mut self) {
        self.allowed = self.sender.cwnd().0.max(self.min_window).saturating_add(1);
    }

    /// What may be in flight since the last event; less than the largest number.
    fn cwnd(&self) -> u64 {
        self.allowed - 1
    }

    /// Somebody wants to know when this ACK came: the policies, or whoever asks later when start-up
    /// ended. Elsewhere the time stands still, because reckoning it and an RTT from quinn's
    /// instants costs as much as the rest of an ACK.
    #[inline]
    fn takes_times(&self) -> bool {
        self.reads_times || !self.heard || self.sender.view().phase == Phase::Startup
    }

    /// What the newest packet acknowledged tells, which left at [`Controller::newest`].
    #[inline]
    fn measure(&mut self, now: Clock, ack: &mut Ack) {
        if self.snapshots.is_some() {
            ack.sample = self.sample(ack.now, self.newest);
        }
        let rtt = elapsed(self.newest, now);
        if self.heard {
            ack.rtt = Some(rtt);
        } else {
            self.heard = true;
            self.sender.on_handshake(ack.now, rtt);
        }
    }

    /// Time since the path began. What quinn remembers from before is as old as the path.
    fn time(&self, at: Clock) -> Instant {
        Instant(elapsed(self.epoch, at).0)
    }

    /// What was sent then was sent before the last recovery period began.
    #[inline]
    fn is_answered(&self, sent: Clock) -> bool {
        self.recovery.is_some_and(|start| sent <= start)
    }

    /// An ACK for every packet of a frame that lets the window grow. The frame counts as delivered,
    /// and is a sample, with the first.
    #[inline]
    fn grant(&mut self, mut ack: Ack, batch: Batch) {
        if self.sender.view().recovering {
            self.sender.on_recovered(None);
        }
        let mut rest = batch.bytes;
        for left in (1..=batch.packets).rev() {
            let share = if left == 1 { rest } else { rest / left };
            rest -= share;
            ack.acked = Bytes(share.saturating_add(std::mem::take(&mut self.withheld)));
            self.sender.on_ack(&ack);
            (ack.credited, ack.rtt, ack.sample) = (Bytes(0), None, None);
        }
    }

    /// The first packet leaves, or one of which there may be a sample of the rate.
    #[cold]
    fn note_sending(&mut self, now: Clock, bytes: u64) {
        let (time, idle) = (self.time(now), self.in_flight.saturating_add(self.untold) == 0);
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.on_sent(time, idle, self.delivered, self.app_limited);
        }
        self.notes_sending = self.snapshots.is_some();
        self.untold = self.untold.saturating_add(bytes);
        if self.sender.view().sent == Bytes(0) {
            self.tell_sent(now);
        }
    }

    /// The sample of the packet that left at `sent`, for an ACK that came at `now`.
    #[cold]
    fn sample(&mut self, now: Instant, sent: Clock) -> Option<RateSample> {
        let (sent, delivered) = (self.time(sent), self.delivered);
        self.snapshots.as_mut()?.sample(now, sent, delivered)
    }

    /// Tells the core what has left since it last heard of it.
    #[cold]
    fn tell_sent(&mut self, now: Clock) {
        let bytes = std::mem::take(&mut self.untold);
        self.in_flight = self.in_flight.saturating_add(bytes);
        let (now, in_flight) = (self.time(now), Bytes(self.in_flight));
        self.sender.on_sent(&Sent { now, bytes: Bytes(bytes), in_flight });
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
        (self.in_flight, self.app_limited) = (in_flight, app_limited);
        // An ACK says how much has left by then.
        self.untold = 0;
        let total = batch.bytes.saturating_add(batch.earlier);
        if total == 0 {
            return;
        }
        self.delivered = self.delivered.saturating_add(total);
        let mut ack = Ack {
            now: self.sender.view().now,
            credited: Bytes(total),
            in_flight: Bytes(in_flight),
            sent: Bytes(self.delivered.saturating_add(in_flight)),
            app_limited,
            ..Ack::default()
        };
        if self.takes_times() {
            ack.now = self.time(now);
            if batch.newest {
                self.measure(now, &mut ack);
            }
        }
        self.withheld = self.withheld.saturating_add(batch.earlier);
        if batch.packets == 0 {
            self.sender.on_ack(&ack);
        } else {
            self.grant(ack, batch);
        }
        self.decided();
    }

    fn on_congestion_event(
        &mut self,
        now: Clock,
        sent: Clock,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let again = self.is_answered(sent);
        if self.untold > 0 {
            self.tell_sent(now);
        }
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        if again && !is_persistent_congestion {
            return;
        }
        let kind = match (is_persistent_congestion, lost_bytes) {
            (true, _) => LossKind::Timeout,
            (false, 0) => LossKind::Mark,
            (false, _) => LossKind::Recovery,
        };
        let (lost, flight) = (Bytes(lost_bytes), Bytes(self.cwnd()));
        let at = self.time(now);
        self.sender.on_loss(&Loss { now: at, kind, lost, flight, again });
        self.recovery = Some(now);
        self.decided();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.min_window = MIN_PACKETS * u64::from(new_mtu);
        self.sender.set_mss(Bytes(new_mtu.into()));
        self.decided();
    }

    /// quinn sends while flight plus packet stay *below* this, RFC 9002 section 7 up to cwnd: one
    /// byte more makes them the same. Without it a window of whole packets is never full, and a
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
        metrics.pacing_rate = self.sender.pace().map(|rate| rate.0.saturating_mul(8));
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

#[cfg(test)]
mod tests;
