//! QUIC's events become the core's. Nothing is decided here.

use std::any::Any;
use std::time::Instant as Clock;

use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant};
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
    /// Bytes in flight as quinn counts them, and all it has sent since it last said so.
    in_flight: u64,
    /// Acknowledged since the path began, and how much of it recovery withholds.
    delivered: u64,
    withheld: u64,
    /// Start of the last recovery period.
    recovery: Option<Instant>,
    /// When the newest packet acknowledged was sent.
    newest: Option<Instant>,
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
    newest: Instant,
}

impl<S: Startup + Clone, A: Avoidance + Clone> Controller<S, A> {
    pub(crate) fn new(sender: Sender<S, A>, now: Clock, mtu: u16, rate_samples: bool) -> Self {
        let min_window = MIN_PACKETS * u64::from(mtu);
        Self {
            epoch: now,
            initial_window: sender.cwnd().0.max(min_window),
            sender,
            min_window,
            in_flight: 0,
            delivered: 0,
            withheld: 0,
            recovery: None,
            newest: None,
            app_limited: false,
            batch: Batch::default(),
            snapshots: rate_samples.then(Snapshots::default),
        }
    }

    /// The core's sender, for its phase, its estimators and how start-up ended.
    pub fn sender(&self) -> &Sender<S, A> {
        &self.sender
    }

    /// The last loss reported was none: undoes its cut. quinn 0.11 never says so.
    pub fn on_spurious_loss(&mut self) {
        self.sender.on_spurious_loss();
        self.recovery = None;
    }

    /// An ACK frame acknowledges a packet of `bytes` that left at `sent`; what the frame does comes
    /// with `on_end_acks`. All that the adapter takes from quinn's `on_ack`, whose RTT estimator
    /// nobody but quinn can make.
    #[inline]
    pub fn acknowledged(&mut self, sent: Clock, bytes: u64) {
        self.take_in(self.time(sent), bytes);
    }

    /// What may be in flight.
    fn cwnd(&self) -> u64 {
        self.sender.cwnd().0.max(self.min_window)
    }

    /// Time since the path began. What quinn remembers from before is as old as the path.
    fn time(&self, at: Clock) -> Instant {
        let ns = at.saturating_duration_since(self.epoch).as_nanos();
        Instant(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// What was sent then was sent before the last recovery period began.
    fn is_answered(&self, sent: Instant) -> bool {
        self.recovery.is_some_and(|start| sent <= start)
    }

    /// An ACK frame acknowledges a packet of `bytes` that left at `sent`.
    #[inline]
    fn take_in(&mut self, sent: Instant, bytes: u64) {
        self.batch.newest = self.batch.newest.max(sent);
        if self.is_answered(sent) {
            self.batch.earlier = self.batch.earlier.saturating_add(bytes);
        } else {
            self.batch.packets += 1;
            self.batch.bytes = self.batch.bytes.saturating_add(bytes);
        }
    }

    /// One ACK that credits `credited` bytes, of which `acked` let the window grow.
    fn acknowledge(&mut self, ack: &Ack, acked: u64, credited: u64) {
        self.sender.on_ack(&Ack { acked: Bytes(acked), credited: Bytes(credited), ..*ack });
    }
}

impl<S, A> quinn_proto::congestion::Controller for Controller<S, A>
where
    S: Startup + Clone + Send + Sync + 'static,
    A: Avoidance + Clone + Send + Sync + 'static,
{
    fn on_sent(&mut self, now: Clock, bytes: u64, _last_packet_number: u64) {
        let now = self.time(now);
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.on_sent(now, self.in_flight == 0, self.delivered, self.app_limited);
        }
        self.in_flight = self.in_flight.saturating_add(bytes);
        let in_flight = Bytes(self.in_flight);
        self.sender.on_sent(&Sent { now, bytes: Bytes(bytes), in_flight });
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
        let total = batch.bytes.saturating_add(batch.earlier);
        if total == 0 {
            return;
        }
        let now = self.time(now);
        self.delivered = self.delivered.saturating_add(total);
        let is_newest = self.newest.is_none_or(|newest| batch.newest >= newest);
        let first = self.newest.is_none();
        let mut ack = Ack {
            now,
            in_flight: Bytes(in_flight),
            sent: Bytes(self.delivered.saturating_add(in_flight)),
            app_limited,
            ..Ack::default()
        };
        if is_newest {
            self.newest = Some(batch.newest);
            let rtt = now.since(batch.newest);
            let snapshots = self.snapshots.as_mut();
            ack.sample = snapshots.and_then(|it| it.sample(now, batch.newest, self.delivered));
            if first {
                self.sender.on_handshake(now, rtt);
            } else {
                ack.rtt = Some(rtt);
            }
        }
        self.withheld = self.withheld.saturating_add(batch.earlier);
        if batch.packets == 0 {
            return self.acknowledge(&ack, 0, total);
        }
        if self.sender.view().recovering {
            self.sender.on_recovered(None);
        }
        let (mut rest, mut credited) = (batch.bytes, total);
        for left in (1..=batch.packets).rev() {
            let share = if left == 1 { rest } else { rest / left };
            rest -= share;
            let acked = share.saturating_add(std::mem::take(&mut self.withheld));
            self.acknowledge(&ack, acked, std::mem::take(&mut credited));
            (ack.rtt, ack.sample) = (None, None);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Clock,
        sent: Clock,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        let again = self.is_answered(self.time(sent));
        if again && !is_persistent_congestion {
            return;
        }
        let kind = match (is_persistent_congestion, lost_bytes) {
            (true, _) => LossKind::Timeout,
            (false, 0) => LossKind::Mark,
            (false, _) => LossKind::Recovery,
        };
        let now = self.time(now);
        let (lost, flight) = (Bytes(lost_bytes), Bytes(self.cwnd()));
        self.sender.on_loss(&Loss { now, kind, lost, flight, again });
        self.recovery = Some(now);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.min_window = MIN_PACKETS * u64::from(new_mtu);
        self.sender.set_mss(Bytes(new_mtu.into()));
    }

    /// quinn sends while flight plus packet stay *below* this, RFC 9002 section 7 up to cwnd: one
    /// byte more makes them the same. Without it a window of whole packets is never full, and a
    /// window that may grow only as far as the flight justifies would stand still there.
    #[inline]
    fn window(&self) -> u64 {
        self.cwnd().saturating_add(1)
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

/// RFC 9002 section 7.2: the smallest window is two packets.
const MIN_PACKETS: u64 = 2;

#[cfg(test)]
mod tests;
