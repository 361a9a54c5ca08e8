//! The endpoints that controls run on: those of the RFCs, and what the runner makes of the profiles
//! `linux`, `ns2` and `quic`.

use firstflight_core::units::{Bytes, Span};
use firstflight_link::ROUNDING_NS;
use firstflight_sim::{
    Compression, Endpoint, FullAck, GrowingWindow, Halve, LinuxAcks, Recovery, RecoveryRules,
    RtoRules, Timer,
};

/// Whose constants the endpoints have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoints {
    /// The RFCs', with every packet acknowledged and with this recovery.
    Rfc(Recovery),
    /// Linux', with delayed ACKs.
    Linux,
    /// Linux's without its pacing: a control is paced only as long as it says so.
    LinuxUnpaced,
    /// ns-2.35's NewReno agents. ACKs queue on the reverse path.
    Ns2,
    /// QUIC's, paced, with every second packet acknowledged.
    Quic,
}

impl Endpoints {
    /// The endpoint of flow `i`.
    pub(crate) fn endpoint(self, i: u64, mss: Bytes) -> Endpoint {
        let base = Endpoint { syn: true, initial_window: mss * 2, ..Endpoint::rfc(mss) };
        match self {
            Self::Rfc(recovery) => Endpoint { recovery, ..base },
            Self::LinuxUnpaced => Endpoint { linux_pacing: false, ..Self::Linux.endpoint(i, mss) },
            Self::Linux => Endpoint {
                initial_window: mss * 10,
                recovery: Recovery::Rack,
                rules: RecoveryRules { halve: Halve::Window, prr: true, ..RecoveryRules::RFC },
                rto: RtoRules {
                    min: Span::from_millis(200),
                    max: Span::from_secs(120),
                    progress_ends_backoff: true,
                    timer: Timer::Linux,
                    ..RtoRules::RFC
                },
                delayed_ack: 2,
                delayed_ack_timeout: Span::from_millis(40),
                handshake_ack: true,
                fin: true,
                wakes_up: true,
                linux_acks: Some(LinuxAcks { compress: Some(Compression::UNTIL_6_18) }),
                linux_pacing: true,
                growing_window: Some(GrowingWindow {
                    first: Bytes(65_535),
                    step: Bytes(2_920),
                    most: Bytes(32 << 20),
                    quick: true,
                }),
                ..base
            },
            Self::Quic => Endpoint {
                initial_window: mss * 10,
                recovery: Recovery::Quic,
                rto: RtoRules { initial: Span::from_millis(999), ..RtoRules::RFC },
                delayed_ack: 2,
                delayed_ack_timeout: Span::from_millis(25),
                overhead_bytes: 34,
                ack_bytes: 35,
                paces: true,
                ..base
            },
            Self::Ns2 => Endpoint {
                rules: RecoveryRules {
                    halve: Halve::Window,
                    full_ack: FullAck::Keep,
                    recovery_burst: 2,
                    syn_timeout_cuts: true,
                    ..RecoveryRules::RFC
                },
                rto: RtoRules {
                    min: Span::from_millis(200),
                    initial: Span::from_secs(3),
                    granularity: Span::from_millis(10),
                    timer: Timer::Ns2 {
                        phase: Span::from_millis(i * 7 % 10),
                        eighths_below: false,
                    },
                    ..RtoRules::RFC
                },
                delayed_ack_timeout: Span::from_millis(100),
                delayed_ack_ties: Span(ROUNDING_NS),
                delay_repeated: true,
                growth_limit: false,
                segment_per_ack: true,
                ..base
            },
        }
    }
}
