//! What an estimator is shown of a connection in start-up, without a threshold.

use firstflight_core::units::{Bytes, Span};
use firstflight_core::view::{Rtt, View, Window};

/// With segments of 1000 bytes.
pub(crate) fn view(cwnd: u64, srtt: u64, rtt_min: u64) -> View {
    let (smoothed, min) = (Span(srtt), Span(rtt_min));
    let window = Window { cwnd: Bytes(cwnd), ssthresh: Bytes::MAX };
    View {
        rtt: Rtt { latest: smoothed, smoothed, variation: Span(0), min, first: min },
        beta: 500_000,
        ..View::new(window, Bytes(1_000))
    }
}
