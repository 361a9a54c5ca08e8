//! The rows: values of the profiles `linux`, `rfc`, `ns2` and `quic`, in this order.
//!
//! Sources, where a row names no other. `linux`: a current kernel. `rfc`: RFC 5681, 6298, 6582 and
//! 3042, and the windows of the Astart paper. `ns2`: `tcl/lib/ns-default.tcl` of ns-2.35; of older
//! releases what ns-2's own test suites (`tcl/test/test-suite-*.tcl`) say of defaults that changed,
//! in 2.26 as they were before May 2003. `quic`: RFC 9000 and RFC 9002.

use firstflight_control::quantity::{Size, Threshold, Time, Window};
use serde::Serialize;
use serde::ser::SerializeMap;

use super::support::Condition::{DelayedAcks, LinuxReceiver, NoPacing, Rest, Syn};
use super::support::Stack::{Kernel, NewReno, Ns2Sack, Quic, Quinn, Rack, Reno, Sack, Tahoe};
use super::table::keys;
use super::{Key, Support, Typed};
use crate::error::ScenarioError;
use crate::profile::{EcnFeedback, FastOpen, LinuxRelease, Pacer, Receiver, Recovery, Timer};
use crate::read::Fields;

keys! {
    /// The constants that a group of flows can set for itself.
    FlowKeys, FlowValues, FLOW_KEYS, flow:

    /// Initial window.
    ///
    /// Of `quic` no more than 14,720 bytes beyond two packets (RFC 9002 section 7.2).
    // TCP_INIT_CWND; windowInit_, of 1 until 2002.
    iw: Window = [packets(10), packets(1), packets(2), packets(10)], v2_1b6 packets(1);
        Support::EVERYWHERE;

    /// Initial ssthresh, or none.
    // TCP_INFINITE_SSTHRESH. That of ns-2 is the receiver's window; the papers set their own.
    ssthresh: Threshold = [
        Threshold::None,
        Threshold::At(packets(32)),
        Threshold::At(packets(32)),
        Threshold::None
    ];
        Support::EVERYWHERE;

    /// Advertised window, or none for no limit.
    receiver_window: Threshold =
        [Threshold::None, Threshold::None, Threshold::None, Threshold::None];
        Support::EVERYWHERE;

    /// What senders keep that is not acknowledged, or none for no limit.
    ///
    /// A sender whose application always has more fills it again at once.
    // SO_SNDBUF, by payload; quinn's send_window.
    send_buffer: Threshold = [Threshold::None, Threshold::None, Threshold::None, Threshold::None];
        Support::SIMULATED.and(Quinn);

    /// Loss recovery.
    ///
    /// With `ns2` also `ns2-linux`, the timer alone (ns-2's TCP/Linux with receivers that report
    /// nothing out of order).
    recovery: Recovery = [Recovery::Rack, Recovery::NewReno, Recovery::NewReno, Recovery::Quic];
        Support::EVERYWHERE;

    /// Packets per ACK.
    // RFC 9000 section 13.2.2.
    delayed_ack: u64 in (1..=1_000) = [1, 1, 1, 2];
        Support::EVERYWHERE;

    /// ACKs per round trip that a sender asks for instead of one for `delayed_ack` packets, or 0.
    ///
    /// An ACK waits that part of the round trip without queues (draft-ietf-quic-ack-frequency,
    /// whose frames ask for a longest delay).
    acks_per_rtt: u64 in (0..=1_000) = [0, 0, 0, 0];
        Support::by(&[Quic, Quinn]);

    /// Duplicate ACKs that mean a loss, and the packet threshold of QUIC.
    // RFC 5681 section 3.2, RFC 9002 section 6.1.1.
    duplicate_acks: u64 in (1..=100) = [3, 3, 3, 3];
        Support::by(&[Tahoe, Reno, NewReno, Quic, Quinn]);

    /// Parts in which the receiver sends each ACK for new data.
    ///
    /// An attack on senders that count ACKs.
    split_acks: u64 in (1..=100) = [1, 1, 1, 1];
        Support::TCP;
}

keys! {
    /// The constants of all endpoints of a scenario.
    SwitchKeys, Switches, SWITCHES, switches:

    /// Whether a SYN exchange comes before the first data packet, and gives the first RTT sample.
    ///
    /// Of `quic` it is the handshake.
    // syn_, off until 2002.
    syn: bool = [true, false, true, true], v2_1b6 false;
        Support::SIMULATED;

    /// Which connections send data without waiting for the SYN exchange (RFC 7413).
    ///
    /// `on`: those after a source's first; `cookie`: all.
    fast_open: FastOpen = [FastOpen::Off, FastOpen::Off, FastOpen::Off, FastOpen::Off];
        Support::SIMULATED;

    /// Whether the third packet of the SYN exchange crosses the links and fills a buffer's place.
    // RFC 9293 section 3.5; tcp_rcv_synsent_state_process sends it before there is data.
    handshake_ack: bool = [true, false, false, false], usual hidden;
        Support::RFC_TCP.only(Syn);

    /// Whether the last packet carries the FIN, and leaves even if the congestion window is full.
    ///
    /// It holds for flows that end and do not keep their connection for more.
    // tcp_cwnd_test.
    fin: bool = [true, false, false, false], usual hidden;
        Support::RFC_TCP;

    /// Whether a packet that reaches the first link just as another leaves it finds the queue still
    /// full. On Linux it does: the packets that an ACK releases come some microseconds early.
    wake_up: bool = [true, false, false, false], usual hidden;
        Support::RFC_TCP;

    /// Which retransmission timer senders have.
    ///
    /// `rfc6298`: RFC 6298's; `linux`: at least `rto_min` is added to the smoothed RTT, and the
    /// timer fires with ticks of 4 ms; `ns2`: one packet at a time is timed, in whole ticks of
    /// `rto_granularity`. QUIC's recovery has its own.
    timer: Timer = [Timer::Linux, Timer::Rfc6298, Timer::Ns2, Timer::Rfc6298], usual hidden;
        Support::TCP;

    /// RTO before the first RTT sample.
    // TCP_TIMEOUT_INIT; RFC 6298 section 2.1; rtxcur_init_, changed in January 2006; the probe
    // timeout of kInitialRtt, 333 ms (RFC 9002 sections 6.2.1 and 6.2.2).
    rto_initial: Time = [ms(1_000), ms(1_000), ms(3_000), ms(999)], v2_26 ms(6_000);
        Support::SIMULATED;

    /// Smallest RTO, 100 us or more.
    // TCP_RTO_MIN; RFC 6298 section 2.4; minrto_, changed in October 2004, before 2003 0, where
    // two ticks of the clock are the least all the same (TcpAgent::rtt_timeout); kGranularity.
    rto_min: Time = [ms(200), ms(1_000), ms(200), ms(1)], v2_26 ms(1_000), v2_1b6 ms(200);
        Support::SIMULATED.and(Kernel);

    /// Largest RTO, 100 us or more.
    // TCP_RTO_MAX; RFC 6298 section 2.5; maxrto_.
    rto_max: Time = [ms(120_000), ms(60_000), ms(60_000), ms(60_000)];
        Support::SIMULATED;

    /// Granularity of the retransmission clock.
    ///
    /// With `ns2-linux` 1 ms if nothing is written; with timer `linux` only a floor, of twice its
    /// value.
    // tcpTick_, changed in 2002.
    rto_granularity: Time = [ms(1), ms(1), ms(10), ms(1)], v2_1b6 ms(100);
        Support::SIMULATED;

    /// Which receiver's rules decide when ACKs leave.
    ///
    /// `rfc5681`: RFC 5681's, with the whole window from the start; `linux`: the offered window
    /// begins at 64 KB and grows with what comes, and how long an ACK waits is estimated; `ns2`:
    /// the ACK of a packet that comes twice may be delayed too. QUIC's recovery has its own.
    receiver: Receiver =
        [Receiver::Linux, Receiver::Rfc5681, Receiver::Ns2, Receiver::Rfc5681], usual hidden;
        Support::TCP;

    /// Longest time that an ACK is held back.
    ///
    /// With profile `quic` it is `max_ack_delay`.
    // TCP_DELACK_MIN; RFC 5681 section 4.2 allows 500 ms; DelAck interval_; RFC 9000 section 18.2.
    delayed_ack_timer: Time = [ms(40), ms(200), ms(100), ms(25)];
        Support::SIMULATED.only(DelayedAcks);

    /// Whether the first two duplicate ACKs each let new data leave (RFC 3042).
    // singledup_, off until 2002.
    limited_transmit: bool = [true, true, true, true], v2_1b6 false;
        Support::by(&[Tahoe, Reno, NewReno, Ns2Sack]);

    /// Whether only the first partial ACK restarts the timer (RFC 6582 section 4).
    // newreno_changes1_, changed on 5 May 2003.
    impatient: bool = [true, true, true, true], v2_26 false;
        Support::by(&[NewReno]);

    /// Whether a partial ACK takes what it acknowledges out of the window (RFC 6582 section 3.2).
    ///
    /// Otherwise it ends the inflation by duplicate ACKs.
    // partial_window_deflation_, changed on 5 May 2003.
    partial_deflation: bool = [true, true, true, true], v2_26 false, hidden true;
        Support::by(&[NewReno]);

    /// Whether new data acknowledged ends the back-off of the RTO even without an RTT sample.
    ///
    /// With TCP timestamps the ACK of a retransmission gives one (RFC 7323 section 4).
    // tcp_timestamps: tcp_ack_update_rtt takes a sample from every ACK of new data.
    progress_ends_backoff: bool = [true, false, false, true];
        Support::TCP;

    /// Whether one ACK tells of several packets out of order, as Linux's receivers do.
    ///
    /// Above three packets out of order there is one ACK a millisecond, or a share of the RTT
    /// (`linux_release`).
    ack_compression: bool = [true, false, false, false], hidden false;
        Support::by(&[Sack, Rack, Kernel]).only(DelayedAcks).only(LinuxReceiver);

    /// Which Linux receivers are, where releases differ: up to `6.18`, or from `6.19` on.
    ///
    /// `ack_compression` waits for 5 % of the RTT and 0.1 ms, since 6.19 for 33 % and 0.01 ms; the
    /// millisecond is the most in both. On Linux the kernel that runs decides.
    // tcp_comp_sack_rtt_percent and tcp_comp_sack_slack_ns.
    linux_release: LinuxRelease = [
        LinuxRelease::V618,
        LinuxRelease::V618,
        LinuxRelease::V618,
        LinuxRelease::V618
    ], hidden LinuxRelease::V618;
        Support::by(&[Sack, Rack]).only(DelayedAcks).only(LinuxReceiver);

    /// Whether a receiver that delays ACKs answers the first packets at once, as Linux's do.
    ///
    /// These are the first 11,000, as long as the offered window grows; `false`: `delayed_ack`
    /// holds from the first packet, as where GRO thins ACKs, and as quinn does.
    quick_acks: bool = [true, true, true, true], hidden true;
        Support::TCP.only(DelayedAcks).only(LinuxReceiver).quinn_does("false");

    /// Size of an ACK on a link, without SACK blocks, which take 8 bytes each.
    ///
    /// With time stamps it is 52 bytes long (RFC 7323, appendix A).
    ack_size: Size = [bytes(40), bytes(40), bytes(40), bytes(40)], hidden bytes(40);
        Support::TCP.and(Kernel);

    /// Whether cwnd grows only as far as the largest flight justifies (twice it in start-up).
    // control_increase_.
    growth_limit: bool = [true, true, false, true];
        Support::SIMULATED;

    /// Whether an ACK opens the window by one segment at most in slow start (RFC 5681).
    ///
    /// `false`: by all that it acknowledges, however many packets it stands for.
    // RFC 5681 section 3.1, equation 2; ns-2 counts ACKs; tcp_slow_start, since Linux 3.13; RFC
    // 9002 section 7.3.1.
    segment_per_ack: bool = [false, true, true, false], usual hidden;
        Support::TCP.quinn_does("false");

    /// Whether endpoints use explicit congestion notification (RFC 3168).
    ///
    /// The ends have agreed on it; not with `ns2`.
    ecn: bool = [false, false, false, false], hidden false;
        Support::EVERYWHERE;

    /// How receivers tell senders of marks.
    ///
    /// `dctcp` echoes runs of marks (RFC 8257), `accecn` counts them (RFC 9768), as quinn's ACK
    /// frames do (RFC 9000 section 13.4); with `ecn`.
    ecn_feedback: EcnFeedback = [
        EcnFeedback::Rfc3168,
        EcnFeedback::Rfc3168,
        EcnFeedback::Rfc3168,
        EcnFeedback::Rfc3168
    ], hidden EcnFeedback::Rfc3168;
        Support::TCP.quinn_does("accecn");

    /// Whether a window that an application-limited sender leaves unused decays (RFC 2861).
    ///
    /// As Linux has it: the window is halved for every timeout without data, down to `iw`, and
    /// falls halfway to the part that was used. QUIC keeps it, and paces (RFC 9002 section 7.8).
    slow_start_after_idle: bool = [true, true, true, false], usual hidden;
        Support::TCP.and(Kernel).only(Rest).quinn_does("false");

    /// Whether packets are paced where the control does not pace them.
    ///
    /// They leave at 2 cwnd/srtt in start-up and at 1.25 cwnd/srtt after it; with profile `quic`
    /// always at 1.25.
    pacing: bool = [false, false, false, true], hidden false;
        Support::SIMULATED;

    /// Which clock paces a control that sets a pacing rate.
    ///
    /// `exact`: every packet leaves when the one before has had its time; `linux`: TCP's own timer,
    /// which paces from the tenth packet on, and goes on where the control says nothing.
    pacer: Pacer = [Pacer::Linux, Pacer::Exact, Pacer::Exact, Pacer::Exact], usual hidden;
        Support::TCP.only(NoPacing);

    /// Whether senders have segmentation offload, with profile linux.
    ///
    /// They hand over several packets at once, as many as the pacing rate carries in a millisecond
    /// and two at least; on Linux with `--link tun`.
    tso: bool = [false, false, false, false], hidden false;
        Support::by(&[Rack, Kernel]);

    /// Whether a buffer of B packets counts the one being sent.
    buffer_counts_in_service: bool = [false, false, false, false];
        Support::EVERYWHERE;
}

const fn packets(count: u64) -> Window {
    Window::Packets(count)
}

const fn bytes(count: u64) -> Size {
    Size::from_bytes(count)
}

const fn ms(count: u64) -> Time {
    Time::from_ms(count)
}
