//! A boxed pair of policies is a pair of policies.

use alloc::boxed::Box;

use crate::event::{Ack, Loss, Sent};
use crate::feedback::Feedback;
use crate::hint::PathHint;
use crate::mechanism::Mechanism;
use crate::needs::Needs;
use crate::pair::Policies;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::Window;

impl<P: Policies + ?Sized> Policies for Box<P> {
    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        (**self).open(default, mss)
    }

    fn connect(&mut self, mechanism: &mut Mechanism) {
        (**self).connect(mechanism);
    }

    fn asks(&self) -> Option<Rate> {
        (**self).asks()
    }

    fn on_handshake(&mut self, mechanism: &mut Mechanism) {
        (**self).on_handshake(mechanism);
    }

    fn on_hint(&mut self, mechanism: &mut Mechanism, hint: &PathHint) {
        (**self).on_hint(mechanism, hint);
    }

    fn begin(&mut self, mechanism: &mut Mechanism) {
        (**self).begin(mechanism);
    }

    fn on_sent(&mut self, mechanism: &Mechanism, sent: &Sent) {
        (**self).on_sent(mechanism, sent);
    }

    #[inline(always)]
    fn on_ack(&mut self, mechanism: &mut Mechanism, ack: &Ack) {
        (**self).on_ack(mechanism, ack);
    }

    #[inline(always)]
    fn on_new_data(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Span,
        in_flight: Bytes,
    ) {
        (**self).on_new_data(mechanism, now, acked, rtt, in_flight);
    }

    #[inline(always)]
    fn on_packet_acked(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Option<Span>,
        in_flight: Bytes,
    ) {
        (**self).on_packet_acked(mechanism, now, acked, rtt, in_flight);
    }

    fn on_feedback(&mut self, mechanism: &mut Mechanism, feedback: &Feedback) {
        (**self).on_feedback(mechanism, feedback);
    }

    fn on_loss(&mut self, mechanism: &mut Mechanism, loss: &Loss) -> bool {
        (**self).on_loss(mechanism, loss)
    }

    fn cut_at(&self) -> Option<Instant> {
        (**self).cut_at()
    }

    fn on_restart(&mut self, mechanism: &mut Mechanism) {
        (**self).on_restart(mechanism);
    }

    fn on_recovered(&mut self, mechanism: &mut Mechanism) {
        (**self).on_recovered(mechanism);
    }

    fn on_spurious_loss(&mut self, mechanism: &mut Mechanism) {
        (**self).on_spurious_loss(mechanism);
    }

    fn on_wake(&mut self, mechanism: &mut Mechanism) {
        (**self).on_wake(mechanism);
    }

    fn refutes_hint(&self) -> bool {
        (**self).refutes_hint()
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        (**self).gauges(report);
    }
}
