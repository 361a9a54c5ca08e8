//! quinn's trait, as quinn 0.11 has it.

use std::any::Any;
use std::time::Instant as Clock;

use firstflight_core::event::{Loss, LossKind};
use firstflight_core::pair::Policies;
use firstflight_core::units::Bytes;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::ControllerMetrics;

use super::Controller;

impl<P> quinn_proto::congestion::Controller for Controller<P>
where
    P: Policies + Clone + Send + Sync + 'static,
{
    #[inline]
    fn on_sent(&mut self, now: Clock, bytes: u64, _last_packet_number: u64) {
        if self.notes_sending {
            return self.note_sending(now, bytes);
        }
        self.unreported = self.unreported.saturating_add(bytes);
    }

    #[inline]
    fn on_ack(
        &mut self,
        _now: Clock,
        sent: Clock,
        bytes: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.pace.note_rtt(rtt);
        self.acknowledged(sent, bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Clock,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.end_frame(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Clock,
        sent: Clock,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.calm = false;
        let at = self.now(now);
        if self.unreported > 0 {
            self.tell_sent(at);
        }
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        let kind = match (is_persistent_congestion, lost_bytes) {
            (true, _) => LossKind::Timeout,
            (false, 0) => LossKind::Mark,
            (false, _) => LossKind::Recovery,
        };
        let loss = Loss::of(at, kind, Bytes(lost_bytes), Bytes(self.cwnd()));
        let loss = Loss { sent_at: Some(self.time(sent)), ..loss };
        let cut = self.sender.on_loss(&loss);
        self.note_recovery(cut && !self.sender.policy_sets_recovery_window());
        self.update_window();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u64::from(new_mtu).max(1);
        self.sender.set_mss(Bytes(self.mtu));
        self.update_window();
    }

    /// quinn sends while the flight with the next packet is *below* this, where RFC 9002 section 7
    /// allows it to reach cwnd, so the adapter reports one byte more than cwnd. Otherwise a cwnd of
    /// whole packets would never be full, and the limit of growth to the flight would keep it.
    ///
    /// Where the control sets a pacing rate, every second answer is that rate: see the module
    /// `pace`. [`ControllerMetrics::congestion_window`] is cwnd always.
    #[inline]
    fn window(&self) -> u64 {
        if !self.pace.is_set() {
            return self.allowed;
        }
        let in_flight = self.in_flight.saturating_add(self.unreported);
        self.pace.answer(self.allowed, in_flight.saturating_add(self.mtu) >= self.allowed)
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
