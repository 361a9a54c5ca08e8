//! What an estimator is shown of a connection in start-up, without a threshold.

use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::{Paced, Phase, Rtt, View, Window};

/// With segments of 1000 bytes.
pub(crate) fn view(cwnd: u64, srtt: u64, rtt_min: u64) -> View {
    let (smoothed, min) = (Span(srtt), Span(rtt_min));
    View {
        now: Instant(0),
        window: Window { cwnd: Bytes(cwnd), ssthresh: Bytes::MAX },
        mss: Bytes(1_000),
        rtt: Rtt { latest: smoothed, smoothed, variation: Span(0), min, first: min },
        in_flight: Bytes(0),
        acked: Bytes(0),
        snd_nxt: Bytes(0),
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
