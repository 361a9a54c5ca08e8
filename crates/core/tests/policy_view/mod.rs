//! What a policy is shown of a connection that is full, its ACKs and losses. 1000-byte segments.

use firstflight_core::event::{Ack, Loss, LossKind};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::{View, Window};

pub(crate) const MSS: u64 = 1_000;

pub(crate) fn segments(count: u64) -> Bytes {
    Bytes(count * MSS)
}

/// A window of `cwnd` segments, all of it outstanding when the ACK came.
pub(crate) fn view(now_ms: u64, acked: u64, cwnd: u64, ssthresh: u64) -> View {
    let rtt = Span::from_millis(100).0;
    View {
        now: Instant(now_ms * 1_000_000),
        window: Window { cwnd: segments(cwnd), ssthresh: segments(ssthresh) },
        in_flight: segments(cwnd - 1),
        acked: segments(acked),
        snd_nxt: segments(acked + cwnd - 1),
        sent: Bytes(0),
        delivered: segments(acked),
        ..crate::start_up_view::view(cwnd, rtt, rtt)
    }
}

/// An ACK for one segment with an RTT sample.
pub(crate) fn ack(view: &View, rtt_ms: u64) -> Ack {
    Ack {
        now: view.now,
        acked: Bytes(MSS),
        credited: Bytes(MSS),
        rtt: Some(Span::from_millis(rtt_ms)),
        in_flight: view.in_flight,
        snd_nxt: view.snd_nxt,
        ..Ack::default()
    }
}

pub(crate) fn loss(kind: LossKind, flight: u64, again: bool) -> Loss {
    let loss = Loss::of(Instant(0), kind, Bytes(MSS), segments(flight));
    Loss { again, answered: again, ..loss }
}
