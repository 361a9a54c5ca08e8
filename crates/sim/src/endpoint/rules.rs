//! The constants of one part of an endpoint each: how losses are repaired, the retransmission
//! timer, the window that a receiver offers, and when a Linux receiver sends ACKs.

use firstflight_core::units::{Bytes, Span};

/// Details of recovery in which implementations differ.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryRules {
    /// Duplicate ACKs that mean a loss to Tahoe, Reno and NewReno: 3 (RFC 5681 section 3.2), or
    /// fewer.
    pub duplicate_acks: u32,
    /// Send a new packet on each duplicate ACK before those (RFC 3042).
    pub limited_transmit: bool,
    /// What a loss halves.
    pub halve: Halve,
    /// Only the first partial ACK restarts the timer (RFC 6582 section 4, the Impatient variant).
    pub impatient: bool,
    /// A partial ACK takes what it acknowledges out of the window (RFC 6582 section 3.2 step 3).
    /// Otherwise it ends the inflation by duplicate ACKs, and the window stays what the cut left
    /// (ns-2 before `partial_window_deflation_`).
    pub partial_deflation: bool,
    /// How often losses within one window may begin a recovery.
    pub per_window: PerWindow,
    /// From the third on every duplicate ACK widens the window, in a recovery or not (Reno and
    /// NewReno of ns-2 without `exitFastRetrans_`, which came on 29 July 2003). RFC 5681 section
    /// 3.2 has that in fast recovery alone.
    pub duplicates_inflate: bool,
    /// The window after a full ACK.
    pub full_ack: FullAck,
    /// At most this many packets leave per ACK during recovery; 0 is no limit.
    pub recovery_burst: u32,
    /// In recovery send one new packet for every second duplicate ACK and nothing else (Hoe 1996,
    /// as ns-2.35's option does it).
    pub flywheel: bool,
    /// The initial window opens only with the first data ACK (ns-2.35's Vegas agent).
    pub late_initial_window: bool,
    /// Duplicate ACKs before a timeout count with those after it, so that limited transmit rests
    /// (ns-2.35's Tahoe).
    pub timeout_keeps_duplicates: bool,
    /// A SYN's timeout cuts ssthresh as one of data does (ns-2). RFC 5681 section 3.1 asks only for
    /// an initial window of one segment after it, and Linux keeps ssthresh too.
    pub syn_timeout_cuts: bool,
    /// A SACK sender that repairs sends in proportion to what arrives (RFC 9937).
    pub prr: bool,
}

/// What a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halve {
    /// FlightSize (RFC 5681 section 3.1, equation 4).
    Flight,
    /// The congestion window (ns-2, Linux).
    Window,
}

/// How often losses within one window of Tahoe, Reno or NewReno may begin a recovery by duplicate
/// ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerWindow {
    /// Once (RFC 6582 section 3.2, `recover`).
    Once,
    /// Each loss by itself, as RFC 5681 leaves Reno free to do.
    Each,
    /// Each loss by itself, but after a timeout none of a packet that was sent before it
    /// (`RenoTcpAgent::dupack_action` of ns-2 before `exitFastRetrans_`).
    EachUntilTimeout,
}

/// The window after a full ACK ends NewReno recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullAck {
    /// `min(ssthresh, max(FlightSize, SMSS) + SMSS)` (RFC 6582 section 3.2 step 3 option 1).
    Flight,
    /// Whatever partial window deflation left (ns-2.35, `exit_recovery_fix_` off).
    Keep,
}

impl RecoveryRules {
    /// RFC 5681, 3042 and 6582 with its Impatient variant.
    pub const RFC: Self = Self {
        duplicate_acks: 3,
        limited_transmit: true,
        halve: Halve::Flight,
        impatient: true,
        partial_deflation: true,
        per_window: PerWindow::Once,
        duplicates_inflate: false,
        full_ack: FullAck::Flight,
        recovery_burst: 0,
        flywheel: false,
        timeout_keeps_duplicates: false,
        syn_timeout_cuts: false,
        late_initial_window: false,
        prr: false,
    };
}

/// Constants of the timer.
#[derive(Clone, Copy, Debug)]
pub struct RtoRules {
    /// Smallest timeout, before backoff.
    pub min: Span,
    /// Largest timeout, after backoff.
    pub max: Span,
    /// Timeout before the first RTT sample.
    pub initial: Span,
    /// Clock granularity.
    pub granularity: Span,
    /// New data acknowledged ends the back-off even if the ACK gives no RTT sample. RFC 6298
    /// section 5 waits for a sample; with timestamps (RFC 7323) the ACK of a retransmission is one.
    /// Before the first sample nothing but it ends the back-off: the first timeout may be shorter
    /// than the path.
    pub progress_ends_backoff: bool,
    /// Which timer it is.
    pub timer: Timer,
}

/// Which retransmission timer it is: how RTT samples become a timeout, and when it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// RFC 6298's: every ACK of a segment sent once gives a sample, and [`RtoRules::min`] is the
    /// least of the whole timeout.
    Rfc6298,
    /// ns-2.35's: samples are whole ticks of the granularity, and one segment is timed at a time.
    Ns2 {
        /// When within a tick this endpoint's clock ticks.
        phase: Span,
        /// The variation follows samples below the mean by an eighth of what they are off beyond
        /// it, as in ns-2.35's TCP/Linux (`LinuxTcpAgent::rtt_update`).
        eighths_below: bool,
    },
    /// Linux's: [`RtoRules::min`] is the least of what is added to the smoothed RTT, not of the sum
    /// (`tcp_rtt_estimator`), and the timer fires with a tick of 4 ms.
    Linux,
    /// The timer of QUIC's handshake, with the arithmetic and the ticks of [`Timer::Linux`]. Data
    /// have probes (RFC 9002 section 6.2), which are the repair's.
    Quic,
}

impl Timer {
    /// Whether RTT samples are whole ticks, of one segment at a time.
    pub(crate) fn ticks(self) -> bool {
        matches!(self, Self::Ns2 { .. })
    }

    /// Whether the timer is Linux's: the smallest RTO bounds only what is added to the smoothed
    /// RTT, and the timer fires on a tick.
    #[inline]
    pub(crate) fn is_linuxs(self) -> bool {
        matches!(self, Self::Linux | Self::Quic)
    }
}

impl RtoRules {
    /// RFC 6298: first timeout and smallest timeout of one second, a clock of 1 ms.
    pub const RFC: Self = Self {
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        initial: Span::from_secs(1),
        granularity: Span::from_millis(1),
        progress_ends_backoff: false,
        timer: Timer::Rfc6298,
    };
}

/// The window of a Linux receiver, which grows with every packet that comes (`tcp_grow_window`). As
/// long as it does, a `quick` receiver that delays ACKs answers every packet at once, as any does
/// for 16 packets after one that comes twice (`tcp_enter_quickack_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowingWindow {
    /// What is advertised with the SYN.
    pub first: Bytes,
    /// What a packet adds.
    pub step: Bytes,
    /// What is advertised in the end, by what the receiver's buffer has room for.
    pub most: Bytes,
    /// Whether ACKs come at once as long as it grows.
    pub quick: bool,
}

impl GrowingWindow {
    /// Packets that make it grow.
    pub fn packets(&self) -> u32 {
        let room = self.most.0.saturating_sub(self.first.0);
        u32::try_from(room.div_ceil(self.step.0.max(1))).unwrap_or(u32::MAX)
    }
}

/// When a Linux receiver that delays ACKs sends them: it estimates how long to wait for the second
/// packet (`tcp_send_delayed_ack`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxAcks {
    /// From the fourth packet out of order on, one ACK reports those that come within 1 ms, or a
    /// share of the RTT if that is less (`__tcp_ack_snd_check`). Needs a sender that recovers by
    /// [`Sack`](crate::Recovery::Sack) or [`Rack`](crate::Recovery::Rack).
    pub compress: Option<Compression>,
}

/// For how long one ACK waits for packets out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Per cent of the RTT (`tcp_comp_sack_rtt_percent`).
    pub rtt_percent: u64,
    /// How much later the timer may fire (`tcp_comp_sack_slack_ns`).
    pub slack: Span,
}

impl Compression {
    /// As Linux has it up to 6.18.
    pub const UNTIL_6_18: Self = Self { rtt_percent: 5, slack: Span::from_micros(100) };

    /// As Linux has it since 6.19.
    pub const SINCE_6_19: Self = Self { rtt_percent: 33, slack: Span::from_micros(10) };
}
