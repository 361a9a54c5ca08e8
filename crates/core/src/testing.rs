//! What the tests of the policies share: a view and an ACK to decide on. Segments have 1000 bytes.

use crate::event::Ack;
use crate::policy::Observer;
use crate::units::{Bytes, Instant, Span};
use crate::view::{Paced, Phase, Rtt, View, Window};

/// The segment of all tests.
pub(crate) const MSS: Bytes = Bytes(1_000);

/// A window of `cwnd` segments, 100 ms, no queue.
pub(crate) fn view(cwnd: u64, ssthresh: Bytes) -> View {
    let rtt = Span::from_millis(100);
    View {
        now: Instant(0),
        window: Window { cwnd: MSS * cwnd, ssthresh },
        mss: MSS,
        rtt: Rtt { latest: rtt, smoothed: rtt, variation: Span(0), min: rtt, first: rtt },
        in_flight: MSS * cwnd,
        acked: Bytes(0),
        snd_nxt: MSS * cwnd,
        sent: Bytes(0),
        delivered: Bytes(0),
        phase: Phase::Startup,
        plain_slow_start: false,
        eligible: None,
        paced: Paced::No,
        recovering: false,
        beta: 500_000,
        round: 0,
        round_start: false,
        segment_per_ack: true,
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
