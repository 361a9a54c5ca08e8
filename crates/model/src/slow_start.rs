//! Slow start over one drop-tail buffer (section 2, Figure 1): the model's parameters.

use num_bigint::BigInt;
use num_traits::Pow;

use crate::aggressiveness::Aggressiveness;
use crate::error::ModelError;
use crate::packets::{Packets, whole};

/// One connection in slow start over one bottleneck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowStart {
    bdp: Packets,
    buffer: u64,
    aggressiveness: Aggressiveness,
    initial_window: u64,
}

impl SlowStart {
    /// A connection over a path of `bdp` packets, with a buffer in which `buffer` packets can wait.
    /// It starts with a window of one packet, as in the paper.
    pub fn new(bdp: Packets, buffer: u64, aggressiveness: Aggressiveness) -> Self {
        Self { bdp, buffer, aggressiveness, initial_window: 1 }
    }

    /// This connection with a first window of so many packets.
    ///
    /// The paper needs no more than `W(n) = alpha * W(n - 1)`, so any first window is allowed. It
    /// decides in which round the buffer overflows, and so by how much Theorem 1 exceeds equation
    /// 4.
    ///
    /// # Errors
    /// A window of zero.
    pub fn with_initial_window(self, packets: u64) -> Result<Self, ModelError> {
        match packets {
            0 => Err(ModelError::Zero { key: "initial window" }),
            _ => Ok(Self { initial_window: packets, ..self }),
        }
    }

    /// This connection with another growth.
    pub fn with_aggressiveness(&self, aggressiveness: Aggressiveness) -> Self {
        Self { aggressiveness, ..self.clone() }
    }

    /// `mu*T`: packets in flight that fill the path with an empty buffer.
    pub fn bdp(&self) -> &Packets {
        &self.bdp
    }

    /// `B`: packets that can wait at the bottleneck.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// `d`, the packets acknowledged per packet of growth.
    pub fn aggressiveness(&self) -> Aggressiveness {
        self.aggressiveness
    }

    /// `W(0)`, the first window, in packets.
    pub fn initial_window(&self) -> u64 {
        self.initial_window
    }

    /// `B + mu*T`: what the path and its buffer hold together.
    pub fn pipe(&self) -> Packets {
        whole(self.buffer) + &self.bdp
    }

    /// `W(n)`, the packets sent in mini-cycle `n` (equation 1): `alpha^n` times the first window.
    /// Before the first mini-cycle the window is carried on backwards.
    pub fn window(&self, cycle: i32) -> Packets {
        let alpha = self.aggressiveness.alpha();
        whole(self.initial_window) * Pow::pow(alpha, cycle)
    }

    /// The window once so many packets have been acknowledged: one more for every `d` of them.
    pub fn window_after_acked(&self, acked: u64) -> Packets {
        whole(self.initial_window) + whole(acked) / self.aggressiveness.d()
    }

    /// Packets sent when the window reaches `window`: those acknowledged, and the window itself.
    pub fn sent_at(&self, window: &Packets) -> Packets {
        let grown = window - whole(self.initial_window);
        grown * self.aggressiveness.d() + window
    }
}

/// The bandwidth-delay product of a rate in bits per second and a round trip in nanoseconds, in
/// packets of so many bytes on the link. Exact.
///
/// # Errors
/// The rate, the round trip or the size is zero.
pub(crate) fn bdp(rate_bps: u64, rtt_ns: u64, packet_bytes: u64) -> Result<Packets, ModelError> {
    for (key, value) in [("rate", rate_bps), ("RTT", rtt_ns), ("packet", packet_bytes)] {
        if value == 0 {
            return Err(ModelError::Zero { key });
        }
    }
    let bits = BigInt::from(rate_bps) * BigInt::from(rtt_ns);
    Ok(Packets::new(bits, BigInt::from(packet_bytes) * BigInt::from(BIT_NANOS_PER_BYTE_SECOND)))
}

const BIT_NANOS_PER_BYTE_SECOND: u64 = 8_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bdp_is_exact() {
        assert_eq!(bdp(40_000_000, 100_000_000, 1000).unwrap(), whole(500));
        // 1.5 Mbit/s, 190 ms, 512 bytes: the paper's "approximately 70 packets".
        assert_eq!(
            bdp(1_500_000, 190_000_000, 512).unwrap(),
            Packets::new(285_000.into(), 4_096.into())
        );
        assert_eq!(bdp(1, 0, 1), Err(ModelError::Zero { key: "RTT" }));
    }

    #[test]
    fn windows_grow_by_alpha_a_round_and_by_one_for_d_packets() {
        let path = SlowStart::new(whole(70), 20, Aggressiveness::TWO);
        assert_eq!(path.window(0), whole(1));
        assert_eq!(path.window(3), Packets::new(27.into(), 8.into()));
        assert_eq!(path.window(-1), Packets::new(2.into(), 3.into()));
        assert_eq!(path.window_after_acked(20), whole(11));
        assert_eq!(path.sent_at(&whole(11)), whole(31));
        let wide = path.with_initial_window(4).unwrap();
        assert_eq!(wide.window(2), whole(9));
        assert_eq!(wide.window_after_acked(4), whole(6));
        assert!(wide.with_initial_window(0).is_err());
    }
}
