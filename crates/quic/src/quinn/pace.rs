//! A control's pacing rate in quinn 0.11, which asks a controller for its window only.
//!
//! quinn's `poll_transmit` (quinn-proto 0.11.19) asks for the window twice before each datagram.
//! The first answer is a limit: flight and datagram must stay below it, or quinn waits for the next
//! event. If they do, it asks again, and its pacer lets 1.25 times that answer leave per smoothed
//! RTT, or sets quinn's pacing timer. So the answer to the second question is a rate, and the
//! adapter answers it with the window at which quinn's pacer has the control's rate.
//!
//! The two questions look alike. The adapter knows the first by what quinn must do with the answer:
//! where flight and a packet stay below the window, quinn asks again, and otherwise it does not.
//! Everything that quinn reports begins anew with the first question. A question from elsewhere
//! (`Connection::stats`) makes the next pair change places once: quinn then takes the rate's window
//! as limit, and may wait for the next ACK.
//!
//! The bursts are quinn's: what leaves in 2 ms, at least 10 packets and at most 256.

use std::sync::atomic::{AtomicBool, Ordering};

use firstflight_core::needs::Facilities;
use firstflight_core::pacing::Pacing;
use firstflight_core::units::Span;
use quinn_proto::RttEstimator;

use crate::stack::Stack;

/// quinn 0.11: the control's rate as the window that makes quinn's pacer keep to it.
#[derive(Debug, Default)]
pub struct Quinn {
    /// quinn's smoothed RTT; zero before the first sample.
    pub(crate) srtt: Span,
    /// The answer to the second question; 0 where the pacer is to take the control's own window.
    window: u64,
    /// quinn's next question is the second.
    second: AtomicBool,
}

impl Quinn {
    /// quinn's smoothed RTT, by which its pacer divides.
    #[inline]
    pub(super) fn note_rtt(&mut self, rtt: &RttEstimator) {
        self.srtt = Span(u64::try_from(rtt.get().as_nanos()).unwrap_or(u64::MAX));
    }

    /// Whether the control's rate is answered.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.window != 0
    }

    /// The answer to a question while a rate is set: `allowed` where it is the first, of which
    /// quinn does not ask the second if it is `full`.
    #[cold]
    pub(super) fn answer(&self, allowed: u64, full: bool) -> u64 {
        if self.second.swap(false, Ordering::Relaxed) {
            return self.window;
        }
        self.second.store(!full, Ordering::Relaxed);
        allowed
    }
}

impl Clone for Quinn {
    /// A copy is asked by another path, which begins with the first question.
    fn clone(&self) -> Self {
        Self { second: AtomicBool::new(false), ..*self }
    }
}

impl Stack for Quinn {
    const NAME: &'static str = "quic";

    const PROVIDES: Facilities = super::PROVIDES;

    const REPORTS_PURE_ACKS: bool = true;

    fn set_pace(&mut self, pacing: Option<Pacing>, mtu: u64) {
        self.window = match pacing {
            Some(pacing) if self.srtt > Span(0) => {
                let per_rtt = pacing.rate.over(self.srtt).0 / 5 * 4;
                per_rtt.clamp(LEAST_PACKETS * mtu + 1, PACER_OFF)
            }
            _ => 0,
        };
    }

    /// quinn's next question is the first.
    #[inline]
    fn on_event(&mut self) {
        *self.second.get_mut() = false;
    }
}

/// The smallest answer: a question that was taken for the other must let a packet leave where
/// nothing is in flight, or nothing would ever happen again.
const LEAST_PACKETS: u64 = 2;

/// Above this window quinn does not pace.
const PACER_OFF: u64 = u32::MAX as u64;
