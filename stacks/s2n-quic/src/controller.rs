//! s2n-quic's trait, as s2n-quic 1.91 has it.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use firstflight_core::event::LossKind;
use firstflight_core::pacing::Pacing;
use firstflight_core::pair::Policies;
use firstflight_core::policy::Exit;
use firstflight_core::sender::Sender;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Phase;
use firstflight_quic::{Controller as Common, Named, Stack as _, Visit};
use s2n_quic_core::event::builder::SlowStartExitCause;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, RttEstimator};
use s2n_quic_core::time::Timestamp;

use crate::S2n;
use crate::pace::Departures;

/// A congestion controller of firstflight for s2n-quic.
///
/// s2n-quic reports a loss packet by packet and does not say which is the last, so the core gets
/// them as one loss once s2n-quic reports or asks for anything else.
pub struct Controller<P: Policies = Named> {
    /// In a cell: s2n-quic asks through shared references, and a pending loss is reported first.
    state: RefCell<State<P>>,
    /// Shared with copies, with one of which s2n-quic may go on: the last of a path ends the visit.
    visit: Option<Arc<Visit>>,
}

/// What is kept of a packet until it is acknowledged or lost.
#[derive(Clone, Copy, Debug)]
pub struct PacketInfo {
    sent: Timestamp,
    /// `None` for a packet of the handshake, of which s2n-quic does not say it.
    app_limited: Option<bool>,
}

#[derive(Clone)]
struct State<P> {
    core: Common<P, S2n>,
    /// When the path began, by the clock of the core's adapter, and s2n-quic's time of its first
    /// packet.
    epoch: Clock,
    zero: Option<Timestamp>,
    departures: Departures,
    /// s2n-quic's smoothed RTT, once there is one.
    srtt: Option<Span>,
    /// Bytes.
    in_flight: u64,
    /// Packets reported as marked whose ACK follows.
    marks: u64,
    loss: Option<Pending>,
    /// The end of start-up has been published to s2n-quic's subscribers.
    exit_published: bool,
}

/// Packets lost at one time.
#[derive(Clone, Copy, Debug)]
struct Pending {
    now: Timestamp,
    newest: Timestamp,
    bytes: u64,
    gaps: u32,
    persistent: bool,
}

impl<P: Policies> Controller<P> {
    pub(crate) fn new(core: Common<P, S2n>, epoch: Clock, visit: Option<Visit>) -> Self {
        let (zero, departures) = (None, Departures::default());
        let state = State {
            core,
            epoch,
            zero,
            departures,
            srtt: None,
            in_flight: 0,
            marks: 0,
            loss: None,
            exit_published: false,
        };
        Self { state: RefCell::new(state), visit: visit.map(Arc::new) }
    }

    /// Calls `at` with the core's sender.
    pub fn inspect<T>(&self, at: impl FnOnce(&Sender<P>) -> T) -> T {
        at(self.state.borrow_mut().flush().core.sender())
    }

    /// The state, once a pending loss is reported.
    fn flush(&mut self) -> &mut State<P> {
        self.state.get_mut().flush()
    }
}

impl<P: Policies> State<P> {
    /// Reports a pending loss to the core.
    fn flush(&mut self) -> &mut Self {
        if let Some(loss) = self.loss.take() {
            let (now, newest) = (self.clock(loss.now), self.clock(loss.newest));
            let kind = if loss.persistent { LossKind::Timeout } else { LossKind::Recovery };
            self.core.lost(now, newest, kind, loss.bytes, loss.gaps);
        }
        self
    }

    /// A time of s2n-quic's by the clock of the core's adapter.
    fn clock(&mut self, at: Timestamp) -> Clock {
        let zero = *self.zero.get_or_insert(at);
        self.epoch + at.saturating_duration_since(zero)
    }

    /// A time of s2n-quic's by the core's clock.
    fn instant(&mut self, at: Timestamp) -> Instant {
        let since = self.clock(at).saturating_duration_since(self.epoch);
        Instant(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    fn sent(&mut self, at: Timestamp, bytes: u64, handshake: bool) {
        let now = self.instant(at);
        if let Some(pacing) = self.pacing() {
            self.departures.on_sent(now, bytes, pacing);
        }
        let clock = self.clock(at);
        self.in_flight = self.in_flight.saturating_add(bytes);
        match handshake {
            true => self.core.handshake_sent(clock, bytes),
            false => self.core.sent(clock, bytes, bytes),
        }
    }

    fn acknowledged(&mut self, packet: PacketInfo, newest: Timestamp, bytes: u64, now: Timestamp) {
        let (newest, now, mtu) = (self.clock(newest), self.clock(now), self.core.mtu());
        if packet.app_limited.is_none() {
            self.core.handshake_acknowledged(now, newest);
        }
        self.in_flight = self.in_flight.saturating_sub(bytes);
        let mut left = bytes;
        while left > 0 {
            let packet = left.min(mtu);
            self.core.acknowledged(newest, packet);
            left -= packet;
        }
        if self.marks > 0 {
            self.core.marked(std::mem::take(&mut self.marks).saturating_mul(mtu));
        }
        // A handshake is never limited by the window.
        self.core.end_frame(now, self.in_flight, packet.app_limited.unwrap_or(true));
    }

    fn lost(
        &mut self,
        packet: PacketInfo,
        bytes: u32,
        begins_gap: bool,
        persistent: bool,
        now: Timestamp,
    ) {
        if self.loss.is_some_and(|loss| loss.now != now) {
            self.flush();
        }
        self.in_flight = self.in_flight.saturating_sub(bytes.into());
        let none = Pending { now, newest: packet.sent, bytes: 0, gaps: 0, persistent: false };
        let loss = self.loss.get_or_insert(none);
        loss.newest = loss.newest.max(packet.sent);
        loss.bytes += u64::from(bytes);
        loss.gaps += u32::from(begins_gap);
        loss.persistent |= persistent;
    }

    /// The control's rate, or that of s2n-quic's own controllers.
    fn pacing(&self) -> Option<Pacing> {
        let sender = self.core.sender();
        sender.pacing().or_else(|| {
            let percent = match sender.view().phase {
                Phase::Startup => S2n::PACER,
                _ => LATER_PERCENT,
            };
            let rate = Bytes(self.core.cwnd()).per(self.srtt?).scaled(percent.into(), 100);
            Some(Pacing::at(rate).in_bursts_of(Bytes(BURST_PACKETS * self.core.mtu())))
        })
    }

    /// Whether another packet does not fit into the window.
    fn is_full(&self) -> bool {
        self.core.cwnd().saturating_sub(self.in_flight) < self.core.mtu()
    }

    fn earliest(&self) -> Option<Timestamp> {
        let pacing = self.pacing()?;
        self.zero?.checked_add(Duration::from_nanos(self.departures.next(pacing).0))
    }

    /// Publishes the end of start-up to s2n-quic's subscribers, once.
    fn publish(&mut self, publisher: &mut impl Publisher) {
        let unpublished = self.core.sender().first_exit().filter(|_| !self.exit_published);
        let Some(exit) = unpublished else { return };
        self.exit_published = true;
        let cause = match exit.why {
            Exit::Loss | Exit::Timeout => SlowStartExitCause::PacketLoss,
            Exit::Mark => SlowStartExitCause::Ecn,
            _ => SlowStartExitCause::Other,
        };
        publisher.on_slow_start_exited(cause, window(exit.cwnd.0));
    }
}

impl<P: Policies + Clone + Send + 'static> CongestionController for Controller<P> {
    type PacketInfo = PacketInfo;

    fn congestion_window(&self) -> u32 {
        window(self.state.borrow_mut().flush().core.cwnd())
    }

    fn bytes_in_flight(&self) -> u32 {
        window(self.state.borrow().in_flight)
    }

    fn is_congestion_limited(&self) -> bool {
        self.state.borrow_mut().flush().is_full()
    }

    /// RFC 9002 section 7.3.2 allows one packet as a recovery begins; none is sent.
    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        bytes: usize,
        app_limited: Option<bool>,
        _rtt: &RttEstimator,
        publisher: &mut Pub,
    ) -> PacketInfo {
        // A packet that is nothing but acknowledgements has no bytes.
        if bytes > 0 {
            let state = self.flush();
            state.sent(sent, bytes as u64, app_limited.is_none());
            state.publish(publisher);
        }
        PacketInfo { sent, app_limited }
    }

    /// The core takes an RTT of the frame that follows.
    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        _sent: Timestamp,
        _now: Timestamp,
        _rtt: &RttEstimator,
        _publisher: &mut Pub,
    ) {
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        newest: Timestamp,
        bytes: usize,
        packet: PacketInfo,
        rtt: &RttEstimator,
        _random: &mut dyn Generator,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        let state = self.flush();
        state.srtt = u64::try_from(rtt.smoothed_rtt().as_nanos()).ok().map(Span);
        state.acknowledged(packet, newest, bytes as u64, now);
        state.publish(publisher);
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        bytes: u32,
        packet: PacketInfo,
        persistent: bool,
        begins_gap: bool,
        _random: &mut dyn Generator,
        now: Timestamp,
        _publisher: &mut Pub,
    ) {
        self.state.get_mut().lost(packet, bytes, begins_gap, persistent, now);
    }

    /// The ACK of the same frame follows.
    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        marks: u64,
        _now: Timestamp,
        _publisher: &mut Pub,
    ) {
        let state = self.flush();
        state.marks = state.marks.saturating_add(marks);
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, mtu: u16, _publisher: &mut Pub) {
        self.flush().core.set_mtu(mtu);
    }

    /// Packets of the handshake whose keys are gone, and lost MTU probes.
    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes: usize, _publisher: &mut Pub) {
        let state = self.flush();
        state.in_flight = state.in_flight.saturating_sub(bytes as u64);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.state.borrow_mut().flush().earliest()
    }
}

impl<P: Policies + Clone> Clone for Controller<P> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), visit: self.visit.clone() }
    }
}

/// The connection is over.
impl<P: Policies> Drop for Controller<P> {
    fn drop(&mut self) {
        if let Some(visit) = self.visit.take().and_then(Arc::into_inner) {
            visit.end(&self.flush().core);
        }
    }
}

impl<P: Policies> fmt::Debug for Controller<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.borrow();
        let mut shown = f.debug_struct("Controller");
        let shown = shown.field("cwnd", &state.core.cwnd()).field("in_flight", &state.in_flight);
        shown.finish_non_exhaustive()
    }
}

/// After start-up, in hundredths of a window per RTT (RFC 9002 section 7.7).
const LATER_PERCENT: u16 = 125;
/// What leaves at once under s2n-quic's own controllers (`MAX_BURST_PACKETS`).
const BURST_PACKETS: u64 = 10;

/// Bytes as s2n-quic counts them.
fn window(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
