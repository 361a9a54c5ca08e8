//! noq's trait, as noq 1.4 has it, and its calls as data.

use std::any::Any;
use std::time::{Duration, Instant};

use firstflight_core::event::LossKind;
use firstflight_core::needs::Facilities;
use firstflight_core::pacing::Pacing;
use firstflight_core::pair::Policies;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller as Noqs, ControllerMetrics};

use super::{Controller, Watch, Watched};
use crate::stack::Stack;

/// noq 1.4: the control's rate, and the loss that noq is reporting.
#[derive(Clone, Debug, Default)]
pub struct Noq {
    /// Asked for twice per packet.
    pacing: Option<Pacing>,
    /// The number of the last packet lost.
    last_lost: Option<u64>,
    /// Runs of numbers among the packets lost since the last event for a loss.
    gaps: u32,
    /// An event came for the last loss. None comes for lost packets that are nothing but
    /// acknowledgements, which noq may call spurious all the same.
    can_undo: bool,
}

impl Noq {
    #[cold]
    pub(super) fn note_lost(&mut self, number: u64) {
        let goes_on = self.last_lost.is_some_and(|last| number == last.saturating_add(1));
        self.gaps = self.gaps.saturating_add(u32::from(!goes_on));
        self.last_lost = Some(number);
    }

    /// How many gaps the loss made that is over with this.
    pub(super) fn take_gaps(&mut self) -> u32 {
        self.last_lost = None;
        std::mem::take(&mut self.gaps)
    }
}

impl Stack for Noq {
    const NAME: &'static str = "noq";

    const PROVIDES: Facilities = super::PROVIDES;

    fn set_pace(&mut self, pacing: Option<Pacing>, _mtu: u64) {
        self.pacing = pacing;
    }
}

impl<P> Noqs for Controller<P>
where
    P: Policies + Clone + Send + Sync + 'static,
{
    /// `on_sent` reports the transmission as a whole, with padding and with packets that are only
    /// acknowledgements, and without MTU probes.
    #[inline]
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _number: u64) {
        self.sent(now, bytes.into(), bytes.into());
    }

    #[inline]
    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        _number: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.acknowledged(sent, bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest: Option<u64>,
    ) {
        self.end_frame(now, in_flight, app_limited);
    }

    fn on_packet_lost(&mut self, _bytes: u16, number: u64, _now: Instant) {
        self.stack.note_lost(number);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost: u64,
    ) {
        let kind = match (is_persistent_congestion, is_ecn) {
            (true, _) => LossKind::Timeout,
            (false, true) => LossKind::Mark,
            (false, false) => LossKind::Recovery,
        };
        let gaps = if is_ecn { 0 } else { self.stack.take_gaps() };
        self.stack.can_undo |= !is_ecn;
        self.lost(now, sent, kind, lost_bytes, gaps);
    }

    fn on_spurious_congestion_event(&mut self) {
        if std::mem::take(&mut self.stack.can_undo) {
            self.on_spurious_loss();
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.set_mtu(new_mtu);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd()
    }

    /// noq's pacer takes the rate of these.
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.cwnd();
        metrics.ssthresh = self.ssthresh();
        if let Some(Pacing { rate, burst, .. }) = self.stack.pacing {
            metrics.pacing_rate = Some(rate.0);
            metrics.send_quantum = Some(burst.0).filter(|burst| *burst > 0);
        }
        metrics
    }

    fn clone_box(&self) -> Box<dyn Noqs> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.first_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A call of noq's to a controller, with the arguments of its trait.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "noq's trait has the words")]
pub enum Event {
    /// A packet left that asks for an ACK.
    Sent { now: Instant, bytes: u64, number: u64 },
    /// A transmission left.
    Transmitted { now: Instant, bytes: u64, last: u64 },
    /// The window held a packet back.
    Full,
    /// A packet was acknowledged.
    Ack { now: Instant, sent: Instant, bytes: u64, number: u64, idle: bool, rtt: RttEstimator },
    /// The ACK frame is through.
    EndAcks { now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64> },
    /// A packet was lost.
    Lost { now: Instant, bytes: u16, number: u64 },
    /// Packets were lost or marked.
    Congestion { now: Instant, sent: Instant, persistent: bool, ecn: bool, lost: u64, last: u64 },
    /// The last loss was spurious.
    Spurious,
    /// The peer is to acknowledge that often.
    AckFrequency { threshold: u64, delay: Duration },
    /// The size of a packet changed.
    Mtu(u16),
    /// noq asked for the window.
    Window,
}

impl Event {
    /// Makes this call.
    #[inline]
    pub fn apply(&self, to: &mut dyn Noqs) {
        match *self {
            Self::Sent { now, bytes, number } => {
                to.on_packet_sent(now, u16::try_from(bytes).unwrap_or(u16::MAX), number);
            }
            Self::Transmitted { now, bytes, last } => to.on_sent(now, bytes, last),
            Self::Full => to.on_cwnd_limited(),
            Self::Ack { now, sent, bytes, number, idle, ref rtt } => {
                to.on_ack(now, sent, bytes, number, idle, rtt);
            }
            Self::EndAcks { now, in_flight, app_limited, largest } => {
                to.on_end_acks(now, in_flight, app_limited, largest);
            }
            Self::Lost { now, bytes, number } => to.on_packet_lost(bytes, number, now),
            Self::Congestion { now, sent, persistent, ecn, lost, last } => {
                to.on_congestion_event(now, sent, persistent, ecn, lost, last);
            }
            Self::Spurious => to.on_spurious_congestion_event(),
            Self::AckFrequency { threshold, delay } => to.on_ack_frequency_update(threshold, delay),
            Self::Mtu(mtu) => to.on_mtu_update(mtu),
            Self::Window => {
                to.window();
            }
        }
    }
}

impl<W: Watch> Noqs for Watched<W> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.forward(Event::Transmitted { now, bytes, last });
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.forward(Event::Sent { now, bytes: bytes.into(), number });
    }

    fn on_cwnd_limited(&mut self) {
        self.forward(Event::Full);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        idle: bool,
        rtt: &RttEstimator,
    ) {
        self.forward(Event::Ack { now, sent, bytes, number, idle, rtt: *rtt });
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.forward(Event::EndAcks { now, in_flight, app_limited, largest });
    }

    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.forward(Event::Lost { now, bytes, number });
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost: u64,
        last: u64,
    ) {
        self.forward(Event::Congestion { now, sent, persistent, ecn, lost, last });
    }

    fn on_spurious_congestion_event(&mut self) {
        self.forward(Event::Spurious);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, delay: Duration) {
        self.forward(Event::AckFrequency { threshold, delay });
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.forward(Event::Mtu(mtu));
    }

    fn window(&self) -> u64 {
        self.asked_for_window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.lock().controller.as_stacks().metrics()
    }

    fn clone_box(&self) -> Box<dyn Noqs> {
        Box::new(self.copy())
    }

    fn initial_window(&self) -> u64 {
        self.lock().controller.as_stacks().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
