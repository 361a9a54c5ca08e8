//! What the kernel reports of a connection: `TCP_INFO`, read by the offsets of `struct tcp_info`
//! in linux/tcp.h, which only ever grows at its end.

use std::io;
use std::os::fd::AsFd;

use crate::sys;

/// One sample of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    pub(crate) state: CaState,
    pub(crate) unacked: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retrans: u32,
    /// The smoothed RTT, microseconds.
    pub(crate) rtt_us: u32,
    /// The threshold, in packets; [`NO_THRESHOLD`] or more is none.
    pub(crate) ssthresh: u32,
    /// The window, in packets.
    pub(crate) cwnd: u32,
    /// Packets sent again.
    pub(crate) total_retrans: u32,
    /// Bytes per second; the largest value for none.
    pub(crate) pacing_rate: u64,
    /// Received in order.
    pub(crate) bytes_received: u64,
    /// Data packets sent, retransmissions included.
    pub(crate) data_segs_out: u32,
    /// Packets that the sender knows to have arrived.
    pub(crate) delivered: u32,
    /// Retransmission timeouts; 0 before Linux 6.7, which does not report them. There the samples
    /// that find a connection newly in [`CaState::Loss`] give a lower bound.
    pub(crate) timeouts: u16,
}

/// The state of congestion control, `enum tcp_ca_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CaState {
    /// Open or disorder: no loss is being repaired.
    #[default]
    Open,
    /// The window is being reduced for a mark.
    Reduced,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

impl TcpInfo {
    /// The sample of a socket now.
    ///
    /// # Errors
    /// The socket is no TCP socket.
    pub(crate) fn of(socket: &impl AsFd) -> io::Result<Self> {
        let (bytes, length) = sys::tcp_info(socket)?;
        Ok(Self::read(&bytes[..length.min(bytes.len())]))
    }

    fn read(bytes: &[u8]) -> Self {
        let word = |at: usize| field(bytes, at).map_or(0, u32::from_ne_bytes);
        let long = |at: usize| field(bytes, at).map_or(0, u64::from_ne_bytes);
        Self {
            state: match bytes.get(1) {
                Some(2) => CaState::Reduced,
                Some(3) => CaState::Recovery,
                Some(4) => CaState::Loss,
                _ => CaState::Open,
            },
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retrans: word(36),
            rtt_us: word(68),
            ssthresh: word(76),
            cwnd: word(80),
            total_retrans: word(100),
            pacing_rate: long(104),
            bytes_received: long(128),
            data_segs_out: word(156),
            delivered: word(192),
            timeouts: field(bytes, 240).map_or(0, u16::from_ne_bytes),
        }
    }

    /// Whether a loss is being repaired.
    pub(crate) fn repairs(&self) -> bool {
        matches!(self.state, CaState::Recovery | CaState::Loss)
    }

    /// Packets on the way, as the kernel counts them (`tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> u32 {
        (self.unacked + self.retrans).saturating_sub(self.sacked + self.lost)
    }

    /// The threshold in packets, if there is one.
    pub(crate) fn threshold(&self) -> Option<u32> {
        Some(self.ssthresh).filter(|ssthresh| *ssthresh < NO_THRESHOLD)
    }
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// `TCP_INFINITE_SSTHRESH`.
pub(crate) const NO_THRESHOLD: u32 = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_at_their_places_and_what_is_not_there_is_zero() {
        let mut bytes = [0; 248];
        bytes[1] = 3;
        let mut put = |at: usize, value: u32| {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        };
        put(24, 10);
        put(28, 4);
        put(32, 2);
        put(36, 1);
        put(76, NO_THRESHOLD);
        put(80, 33);
        bytes[240] = 7;
        let info = TcpInfo::read(&bytes);
        assert_eq!((info.state, info.in_flight(), info.cwnd), (CaState::Recovery, 5, 33));
        assert_eq!((info.threshold(), info.timeouts), (None, 7_u16.to_ne_bytes()[0].into()));
        assert_eq!(TcpInfo::read(&bytes[..240]).timeouts, 0);
    }
}
