//! What the tests of the policies share: a view and an ACK to decide on. Segments have 1000 bytes.

use crate::event::Ack;
use crate::policy::Observer;
use crate::units::{Bytes, Span};
use crate::view::{Rtt, View, Window};

/// The segment of all tests.
pub(crate) const MSS: Bytes = Bytes(1_000);

/// A window of `cwnd` segments, 100 ms, no queue.
pub(crate) fn view(cwnd: u64, ssthresh: Bytes) -> View {
    let rtt = Span::from_millis(100);
    let window = Window { cwnd: MSS * cwnd, ssthresh };
    View {
        rtt: Rtt { latest: rtt, smoothed: rtt, variation: Span(0), min: rtt, first: rtt },
        in_flight: MSS * cwnd,
        snd_nxt: MSS * cwnd,
        beta: 500_000,
        ..View::new(window, MSS)
    }
}

/// An ACK for so many segments at that time, with the view's newest RTT as its sample.
pub(crate) fn ack(view: &View, segments: u64) -> Ack {
    Ack {
        now: view.now,
        acked: MSS * segments,
        credited: MSS * segments,
        rtt: Some(view.rtt.latest),
        in_flight: view.in_flight,
        snd_nxt: view.snd_nxt,
        ..Ack::default()
    }
}

/// What the policy reports under that name.
pub(crate) fn gauge(policy: &impl Observer, name: &str) -> Option<u64> {
    let mut found = None;
    policy.gauges(&mut |one, value| {
        if one == name {
            found = Some(value);
        }
    });
    found
}
