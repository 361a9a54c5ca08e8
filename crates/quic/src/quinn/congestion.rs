//! quinn's trait, as quinn 0.11 has it, and its calls as data.

use std::any::Any;
use std::time::Instant;

use firstflight_core::event::LossKind;
use firstflight_core::pair::Policies;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller as Quinns, ControllerMetrics};

use super::{Controller, Watch, Watched};

impl<P> Quinns for Controller<P>
where
    P: Policies + Clone + Send + Sync + 'static,
{
    /// A transmission is divided into packets as quinn does.
    #[inline]
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.sent(now, bytes, self.mtu());
    }

    #[inline]
    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if self.sets_rate() {
            self.stack.note_rtt(rtt);
        }
        self.acknowledged(sent, bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.end_frame(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let kind = match (is_persistent_congestion, lost_bytes) {
            (true, _) => LossKind::Timeout,
            (false, 0) => LossKind::Mark,
            (false, _) => LossKind::Recovery,
        };
        self.lost(now, sent, kind, lost_bytes, 0);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.set_mtu(new_mtu);
    }

    /// quinn sends while the flight with the next packet is *below* this, where RFC 9002 section 7
    /// allows it to reach cwnd, so the adapter reports one byte more than cwnd. Otherwise a cwnd of
    /// whole packets would never be full, and the limit of growth to the flight would keep it.
    ///
    /// Where the control sets a pacing rate, every second answer is that rate: see the module
    /// `pace`. [`ControllerMetrics::congestion_window`] is cwnd always.
    #[inline]
    fn window(&self) -> u64 {
        let allowed = self.cwnd() + 1;
        if !self.stack.is_set() {
            return allowed;
        }
        self.stack.answer(allowed, self.with_next() >= allowed)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.cwnd();
        metrics.ssthresh = self.ssthresh();
        metrics.pacing_rate = self.sender().pacing().map(|pacing| pacing.rate.0.saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Quinns> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.first_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A call of quinn's to a controller, with the arguments of its trait.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "quinn's trait has the words")]
pub enum Event {
    /// Packets left.
    Sent { now: Instant, bytes: u64, last_packet_number: u64 },
    /// A packet was acknowledged.
    Ack { now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: RttEstimator },
    /// The ACK frame is through.
    EndAcks { now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64> },
    /// Packets were lost or marked.
    Congestion { now: Instant, sent: Instant, persistent: bool, lost: u64 },
    /// The size of a packet changed.
    Mtu(u16),
    /// quinn asked for the window.
    Window,
}

impl Event {
    /// Makes this call.
    #[inline]
    pub fn apply(&self, to: &mut dyn Quinns) {
        match *self {
            Self::Sent { now, bytes, last_packet_number } => {
                to.on_sent(now, bytes, last_packet_number);
            }
            Self::Ack { now, sent, bytes, app_limited, ref rtt } => {
                to.on_ack(now, sent, bytes, app_limited, rtt);
            }
            Self::EndAcks { now, in_flight, app_limited, largest } => {
                to.on_end_acks(now, in_flight, app_limited, largest);
            }
            Self::Congestion { now, sent, persistent, lost } => {
                to.on_congestion_event(now, sent, persistent, lost);
            }
            Self::Mtu(mtu) => to.on_mtu_update(mtu),
            Self::Window => {
                to.window();
            }
        }
    }
}

impl<W: Watch> Quinns for Watched<W> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.forward(Event::Sent { now, bytes, last_packet_number });
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.forward(Event::Ack { now, sent, bytes, app_limited, rtt: *rtt });
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

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.forward(Event::Congestion { now, sent, persistent, lost });
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

    fn clone_box(&self) -> Box<dyn Quinns> {
        Box::new(self.copy())
    }

    fn initial_window(&self) -> u64 {
        self.lock().controller.as_stacks().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
