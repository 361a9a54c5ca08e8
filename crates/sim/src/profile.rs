//! Endpoint constants: what a TCP implementation fixes beside its congestion control.

use firstflight_core::units::{Bytes, Span};

use crate::rto::RtoRules;

/// The constants of one TCP endpoint pair.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Model the SYN exchange: one packet of [`Endpoint::ack_bytes`] before any data.
    pub syn: bool,
    /// Initial window, in bytes.
    pub initial_window: Bytes,
    /// Initial ssthresh, in bytes.
    pub initial_ssthresh: Bytes,
    /// Receiver's advertised window, in packets.
    pub receiver_window: u32,
    /// How lost packets are found and repaired.
    pub recovery: Recovery,
    /// Details of Reno and NewReno recovery.
    pub rules: RecoveryRules,
    /// Retransmission timer.
    pub rto: RtoRules,
    /// One ACK for this many packets.
    pub delayed_ack: u32,
    /// The longest an ACK is held back.
    pub delayed_ack_timeout: Span,
    /// Size of an ACK on a link, in bytes; also of a SYN.
    pub ack_bytes: u64,
    /// See [`firstflight_core::sender::Config::limit_growth_to_flight`].
    pub limit_growth_to_flight: bool,
}

/// How lost packets are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit and fast recovery (RFC 5681 section 3.2).
    Reno,
    /// The same with partial ACKs (RFC 6582).
    NewReno,
    /// SACK with a pipe estimate (RFC 6675).
    Sack,
    /// SACK as ns-2.35's Sack1 agent counts its pipe.
    Ns2Sack,
    /// Fine-grained retransmission as in ns-2.35's Vegas agent.
    Ns2Vegas,
}

/// Details of recovery in which implementations differ.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryRules {
    /// Send a new packet on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// What a loss halves.
    pub halve: Halve,
    /// Only the first partial ACK restarts the timer (RFC 6582 section 4, the Impatient variant).
    pub impatient: bool,
    /// No second fast retransmit for losses within one window (RFC 6582 section 3.2, `recover`).
    pub one_per_window: bool,
    /// The window after a full ACK.
    pub full_ack: FullAck,
    /// At most this many packets leave per ACK during recovery; 0 is no limit.
    pub recovery_burst: u32,
    /// In recovery send one new packet for every second duplicate ACK and nothing else (Hoe 1996,
    /// as ns-2.35's option does it).
    pub flywheel: bool,
    /// The initial window opens only with the first data ACK (ns-2.35's Vegas agent).
    pub late_initial_window: bool,
}

/// What a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halve {
    /// FlightSize (RFC 5681 section 3.1, equation 4).
    Flight,
    /// The congestion window (ns-2, Linux).
    Window,
}

/// The window after a full ACK ends NewReno recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullAck {
    /// `min(ssthresh, max(FlightSize, SMSS) + SMSS)` (RFC 6582 section 3.2 step 3 option 1).
    Flight,
    /// Whatever partial window deflation left (ns-2.35, `exit_recovery_fix_` off).
    Keep,
}

/// A named set of endpoint constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// What the RFCs say.
    Rfc,
    /// ns-2.35's stock agents, which the papers ran.
    Ns2,
    /// A current Linux kernel.
    Linux,
}

impl Profile {
    /// Every profile by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("rfc", Self::Rfc), ("ns2", Self::Ns2), ("linux", Self::Linux)];

    /// The profile's constants for packets of `mss`.
    pub fn endpoint(self, mss: Bytes) -> Endpoint {
        match self {
            Self::Rfc => rfc(mss),
            Self::Ns2 => ns2(mss),
            Self::Linux => linux(mss),
        }
    }

    /// Whether a buffer of B packets counts the packet in service.
    pub fn in_service_counts(self) -> bool {
        self == Self::Linux
    }
}

/// RFC 5681, 6298, 6582 with the papers' initial window of one segment; one SYN round trip is not
/// modelled, as in the papers' analysis.
fn rfc(mss: Bytes) -> Endpoint {
    Endpoint {
        syn: false,
        initial_window: mss,
        initial_ssthresh: mss * 32,
        receiver_window: UNLIMITED_WINDOW,
        recovery: Recovery::NewReno,
        rules: RecoveryRules {
            limited_transmit: true,
            halve: Halve::Flight,
            impatient: true,
            one_per_window: true,
            full_ack: FullAck::Flight,
            recovery_burst: 0,
            flywheel: false,
            late_initial_window: false,
        },
        rto: RtoRules::rfc6298(Span::from_secs(1), Span::from_millis(1)),
        delayed_ack: 1,
        delayed_ack_timeout: Span::from_millis(100),
        ack_bytes: 40,
        limit_growth_to_flight: true,
    }
}

/// ns-2.35, `tcl/lib/ns-default.tcl`: SYN, window of 2, 10 ms ticks, 0.2 s smallest timer.
fn ns2(mss: Bytes) -> Endpoint {
    let base = rfc(mss);
    Endpoint {
        syn: true,
        initial_window: mss * 2,
        rules: RecoveryRules {
            halve: Halve::Window,
            full_ack: FullAck::Keep,
            recovery_burst: 2,
            ..base.rules
        },
        rto: RtoRules::ns2(Span::from_millis(200), Span::from_millis(10)),
        limit_growth_to_flight: false,
        ..base
    }
}

/// Linux: window of 10 (RFC 6928), SACK, 0.2 s smallest timer (`TCP_RTO_MIN`), 40 ms delayed ACKs.
fn linux(mss: Bytes) -> Endpoint {
    let base = rfc(mss);
    Endpoint {
        syn: true,
        initial_window: mss * 10,
        recovery: Recovery::Sack,
        rules: RecoveryRules { halve: Halve::Window, ..base.rules },
        rto: RtoRules::rfc6298(Span::from_millis(200), Span::from_millis(1)),
        delayed_ack_timeout: Span::from_millis(40),
        ..base
    }
}

/// A receiver window that never limits.
pub const UNLIMITED_WINDOW: u32 = 1 << 30;
