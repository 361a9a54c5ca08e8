//! Flow control that does not limit: windows for a path.

use crate::constants::TransportSettings;

/// Flow-control windows for a path, so that the congestion controller is what limits.
///
#[cfg_attr(feature = "quinn", doc = "```")]
#[cfg_attr(not(feature = "quinn"), doc = "```ignore")]
/// use firstflight_quic::FlowControl;
///
/// let mut transport = quinn::TransportConfig::default();
/// FlowControl::for_path(1_000_000_000, 100).apply(&mut transport); // 1 Gbit/s, 100 ms
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    bytes: u64,
}

impl FlowControl {
    /// Four times the BDP of `rate_bps` bits per second and `rtt_ms` milliseconds, and never below
    /// quinn's own windows, which noq has too: start-up may reach two BDPs, queue included, and a
    /// receiver announces more room only after an RTT.
    pub fn for_path(rate_bps: u64, rtt_ms: u64) -> Self {
        let bdp = u128::from(rate_bps) * u128::from(rtt_ms) / 8_000;
        Self::of(u64::try_from(bdp * 4).unwrap_or(u64::MAX))
    }

    /// Windows of `bytes`, and never below quinn's own. Each stream may take them whole.
    pub fn of(bytes: u64) -> Self {
        Self { bytes: bytes.clamp(SEND_WINDOW, MOST) }
    }

    /// Sets the stream, receive and send windows.
    pub fn apply(self, transport: &mut impl TransportSettings) {
        transport.set_windows(self.bytes);
    }

    /// The window, in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

/// The default send window of quinn 0.11 and noq 1.4: 8 stream windows of 12.5 MB/s over 100 ms.
const SEND_WINDOW: u64 = 10_000_000;
/// The largest number of QUIC (RFC 9000 section 16).
const MOST: u64 = (1 << 62) - 1;
