//! Socket buffers of TCP: what a path needs at its ends, and up to which path this host's are
//! enough. No control helps a connection whose buffers hold less than its path.

use firstflight_outside::short;
use serde::Serialize;

/// What Linux must allow a connection so that its buffers hold no window back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Needed {
    /// Rate times RTT.
    bdp_bytes: u64,
    /// The least third value of `net.ipv4.tcp_wmem` at the sender.
    tcp_wmem_bytes: u64,
    /// The least third value of `net.ipv4.tcp_rmem` at the receiver.
    tcp_rmem_bytes: u64,
}

/// What this host allows, which is what autotuning ends at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Allowed {
    /// The third value of `net.ipv4.tcp_wmem`.
    tcp_wmem_bytes: u64,
    /// The third value of `net.ipv4.tcp_rmem`.
    tcp_rmem_bytes: u64,
    /// The largest BDP for which the first is enough.
    sends_up_to_bdp_bytes: u64,
    /// The largest BDP for which the second is enough.
    receives_up_to_bdp_bytes: u64,
}

impl Needed {
    /// For a path, and a transfer of so many bytes, which need no larger buffer than themselves.
    pub fn of(rate_bps: f64, rtt_s: f64, size: Option<u64>) -> Self {
        let bdp_bytes = (rate_bps * rtt_s / 8.0).ceil() as u64;
        let held = bdp_bytes.saturating_mul(WINDOWS).min(size.unwrap_or(u64::MAX));
        let tcp_rmem_bytes = held.saturating_mul(RECEIVED);
        Self { bdp_bytes, tcp_wmem_bytes: held, tcp_rmem_bytes }
    }

    /// For an operator.
    pub fn sentence(&self) -> String {
        let Self { bdp_bytes, tcp_wmem_bytes: send, tcp_rmem_bytes: receive } = *self;
        let allowed = Allowed::of(USUAL_WMEM, USUAL_RMEM);
        let bdp = megabytes(bdp_bytes);
        if send <= allowed.tcp_wmem_bytes && receive <= allowed.tcp_rmem_bytes {
            return format!(
                "Socket buffers: the path holds {bdp}, for which Linux's usual limits are enough \
                 ({} to send, {} to receive).",
                megabytes(USUAL_WMEM),
                megabytes(USUAL_RMEM)
            );
        }
        format!(
            "Socket buffers: the path holds {bdp}. For a start-up to fill it, the third value of \
             net.ipv4.tcp_wmem must be {send} or more at the sender, and that of \
             net.ipv4.tcp_rmem {receive} or more at the receiver (docs/operators.md says why)."
        )
    }
}

impl Allowed {
    /// From the third values of both, in bytes.
    pub fn of(tcp_wmem_bytes: u64, tcp_rmem_bytes: u64) -> Self {
        Self {
            tcp_wmem_bytes,
            tcp_rmem_bytes,
            sends_up_to_bdp_bytes: tcp_wmem_bytes / WINDOWS,
            receives_up_to_bdp_bytes: tcp_rmem_bytes / RECEIVED / WINDOWS,
        }
    }

    /// For an operator who sends from here.
    pub fn sentence(&self) -> String {
        let (sends, receives) = (self.sends_up_to_bdp_bytes, self.receives_up_to_bdp_bytes);
        // Rates at the RTT of a geostationary satellite and of another continent.
        let rate = |rtt_s: f64| format!("{:.0} Mbit/s", sends as f64 * 8.0 / rtt_s / 1e6);
        format!(
            "Socket buffers: net.ipv4.tcp_wmem here is enough to send over paths whose rate times \
             RTT is up to {} ({} at 600 ms, {} at 150 ms), net.ipv4.tcp_rmem to receive over \
             paths up to {}. Beyond that no control helps: `firstflight predict` says what your \
             path needs.",
            megabytes(sends),
            rate(0.6),
            rate(0.15),
            megabytes(receives)
        )
    }

    /// What it means for transfers from here, the largest window of which was so long.
    pub fn sentence_of(&self, window: u64) -> String {
        let (largest, most) = (megabytes(window), megabytes(self.sends_up_to_bdp_bytes));
        if window <= self.sends_up_to_bdp_bytes {
            return format!(
                "Socket buffers: the largest window was {largest}; net.ipv4.tcp_wmem here is \
                 enough for {most}."
            );
        }
        let send = window.saturating_mul(WINDOWS);
        let receive = send.saturating_mul(RECEIVED);
        format!(
            "Socket buffers: the largest window was {largest}, and net.ipv4.tcp_wmem here is \
             enough for {most}: the buffer may have decided, not the control. Measure again with \
             a third value of {send} or more, and of {receive} or more in net.ipv4.tcp_rmem at \
             the receiver."
        )
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", short(bytes as f64 / 1e6))
}

/// Windows that a buffer must hold: while a lost segment is repaired, which takes a round trip,
/// both ends keep the window in which it was and the one that is sent meanwhile. Linux asks for the
/// same factor when it sizes the sender's buffer (`tcp_sndbuf_expand`); of 4 MiB, Linux 6.18 had
/// 1.9 MB in flight over 50 Mbit/s and 600 ms, without a loss.
const WINDOWS: u64 = 2;
/// A receiver offers half of its buffer as window, because the other half is for the headers and
/// the slack of what lies in it (tcp(7), `tcp_adv_win_scale`; later kernels begin with a half too).
const RECEIVED: u64 = 2;
/// The third value of `net.ipv4.tcp_wmem` on a host with 2 GB of memory or more (tcp(7)).
const USUAL_WMEM: u64 = 4 << 20;
/// That of `net.ipv4.tcp_rmem` (tcp(7)).
const USUAL_RMEM: u64 = 6 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_needs_two_windows_to_send_and_four_to_receive() {
        // A satellite: 50 Mbit/s for 600 ms are 3.75 MB.
        let needed = Needed::of(50e6, 0.6, None);
        let numbers = (needed.bdp_bytes, needed.tcp_wmem_bytes, needed.tcp_rmem_bytes);
        assert_eq!(numbers, (3_750_000, 7_500_000, 15_000_000));
        let text = needed.sentence();
        assert!(text.contains("tcp_wmem must be 7500000") && text.contains("15000000"), "{text}");
        let short = Needed::of(50e6, 0.6, Some(1_000_000));
        assert_eq!((short.tcp_wmem_bytes, short.tcp_rmem_bytes), (1_000_000, 2_000_000));
        assert!(short.sentence().contains("usual limits are enough"), "{}", short.sentence());
    }

    /// The receiver's limit is reached first, at a quarter of 6 MiB.
    #[test]
    fn the_usual_limits_are_enough_for_paths_of_one_and_a_half_megabytes() {
        let usual = |rate_bps| Needed::of(rate_bps, 1.0, None).sentence().contains("usual limits");
        assert!(usual(1_572_864.0 * 8.0) && !usual(1_572_865.0 * 8.0));
        let allowed = Allowed::of(USUAL_WMEM, USUAL_RMEM);
        assert_eq!(allowed.sends_up_to_bdp_bytes, 2_097_152);
        assert_eq!(allowed.receives_up_to_bdp_bytes, 1_572_864);
        let text = allowed.sentence();
        assert!(text.contains("2.097 MB (28 Mbit/s at 600 ms, 112 Mbit/s at 150 ms)"), "{text}");
    }

    #[test]
    fn a_window_that_the_buffer_may_have_ended_is_said_to_be_one() {
        let allowed = Allowed::of(USUAL_WMEM, USUAL_RMEM);
        assert!(!allowed.sentence_of(2_097_152).contains("may have decided"));
        let text = allowed.sentence_of(3_000_000);
        assert!(text.contains("may have decided") && text.contains("6000000"), "{text}");
        assert!(text.contains("12000000 or more in net.ipv4.tcp_rmem"), "{text}");
    }
}
