//! The endpoint's constants for the simulator: what a profile means there, beyond the numbers that
//! a scenario can set alone.

use crate::ns2;
use firstflight_control::{Control, ControlProblem};
use firstflight_core::policy::Startup as _;
use firstflight_core::units::{Bytes, Span};
use firstflight_link::ROUNDING_NS;
use firstflight_scenario::keys::Stack;
use firstflight_scenario::{
    Complete, EcnFeedback, FastOpen, LinuxRelease, Pacer, Profile, Receiver, Recovery, Size,
    Timer as TimerOf, complete,
};
use firstflight_sim::{
    Compression, Endpoint, FullAck, GrowingWindow, Halve, LinuxAcks, PerWindow, RecoveryRules,
    RtoRules, Timer, UNLIMITED_WINDOW, provides,
};

/// The endpoint of a flow of one group under one control; `phase` is that of its clock's ticks.
pub(crate) fn endpoint(
    complete: &Complete,
    flow: &complete::Flow,
    control: &Control,
    phase: Span,
) -> Endpoint {
    let (common, set) = (&complete.endpoint, &complete.endpoint.switches);
    let recovery = flow.recovery.or_own(own_recovery(common.profile, control));
    let kind = recovery_kind(common.profile, recovery, control);
    // QUIC has neither segments nor a timer nor receivers of TCP, ns-2's agents have their own
    // handshake and no FIN.
    let quic = recovery == Recovery::Quic;
    let has_segments = !quic && !is_agent(kind);
    let linux_receiver = !quic && set.receiver == Receiver::Linux;
    let packets = |size: Option<Size>| limit(size, complete.packet);
    let ack_delay = flow.ack_delay().filter(|_| quic);
    Endpoint {
        // The SYN carries what the start-up asks of the routers.
        syn: control.startup.asks().is_some() || set.syn && set.fast_open != FastOpen::Cookie,
        handshake_ack: has_segments && set.handshake_ack,
        fin: has_segments && set.fin,
        wakes_up: has_segments && set.wake_up,
        fast_open: set.fast_open == FastOpen::On,
        initial_window: Bytes(flow.iw.value.bytes()),
        initial_ssthresh: initial_ssthresh(flow, control),
        receiver_window: packets(flow.receiver_window),
        send_buffer: packets(flow.send_buffer),
        recovery: kind,
        rules: RecoveryRules {
            duplicate_acks: count(
                flow.duplicate_acks.or_own(control.duplicate_acks.map(u64::from)),
            ),
            ..rules(common, recovery, control)
        },
        rto: rto(common, timer(set.timer, recovery, phase)),
        delayed_ack: ack_delay.map_or(count(flow.delayed_ack.value), |_| UNLIMITED_WINDOW),
        growing_window: linux_receiver
            .then(|| growing_window(complete.packet.bytes(), set.quick_acks)),
        linux_acks: linux_receiver.then(|| LinuxAcks {
            compress: set.ack_compression.then_some(match set.linux_release {
                LinuxRelease::V618 => Compression::UNTIL_6_18,
                LinuxRelease::V619 => Compression::SINCE_6_19,
            }),
        }),
        split_acks: count(flow.split_acks),
        delayed_ack_timeout: Span(ack_delay.unwrap_or(set.delayed_ack_timer).ns()),
        delayed_ack_ties: Span(if common.profile == Profile::Ns2 { ROUNDING_NS } else { 0 }),
        delay_repeated: !quic && set.receiver == Receiver::Ns2,
        overhead_bytes: if quic { overhead_bytes(complete) } else { 0 },
        ack_bytes: match quic {
            true => QUIC_ACK_BYTES + complete.headers.bytes(),
            false => set.ack_size.bytes(),
        },
        growth_limit: set.growth_limit,
        segment_per_ack: set.segment_per_ack,
        ecn: set.ecn,
        ecn_feedback: match set.ecn_feedback {
            EcnFeedback::Rfc3168 => firstflight_sim::EcnFeedback::Classic,
            EcnFeedback::Dctcp => firstflight_sim::EcnFeedback::Dctcp,
            EcnFeedback::AccEcn => firstflight_sim::EcnFeedback::Accurate,
        },
        slow_start_after_idle: set.slow_start_after_idle,
        paces: set.pacing,
        linux_pacing: !quic && set.pacer == Pacer::Linux && !set.pacing,
        tso: recovery == Recovery::Rack && set.tso,
    }
}

/// A limit in packets of so many bytes, one at least; no limit without one in bytes.
fn limit(size: Option<Size>, packet: Size) -> u32 {
    let packets = size.map(|size| size.bytes() / packet.bytes().max(1));
    packets.map_or(UNLIMITED_WINDOW, |packets| packets.clamp(1, UNLIMITED_WINDOW.into()) as u32)
}

/// The profile's ssthresh does not apply to a start-up that finds its own end.
pub(crate) fn initial_ssthresh(flow: &complete::Flow, control: &Control) -> Bytes {
    let own = control.startup.card().own_end.then_some(None);
    flow.ssthresh.or_own(own).map_or(Bytes::MAX, |size| Bytes(size.bytes()))
}

/// QUIC's own bytes in a packet's UDP payload.
pub(crate) fn overhead_bytes(complete: &Complete) -> u64 {
    QUIC_OVERHEAD.min(complete.packet.bytes().saturating_sub(1))
}

/// What opens a connection: as long as an ACK, but of QUIC as long as a packet (RFC 9000 section
/// 14.1), and of ns-2's Vegas.
pub(crate) fn syn_bytes(complete: &Complete, flow: &complete::Flow, control: &Control) -> u64 {
    let own = own_recovery(complete.endpoint.profile, control);
    match flow.recovery.or_own(own) {
        Recovery::Quic => complete.wire_bytes(),
        _ => ns2::syn_bytes(complete, control),
    }
}

fn count(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The recovery that a control brings. Linux repairs the losses of every control alike; Tahoe is
/// nothing but its answer to a loss. QUIC has one way to repair.
pub fn own_recovery(profile: Profile, control: &Control) -> Option<Recovery> {
    let own = control.recovery.and_then(|name| name.parse().ok());
    own.filter(|own| match profile {
        Profile::Rfc | Profile::Ns2 => true,
        Profile::Linux => *own == Recovery::Tahoe,
        Profile::Quic => false,
    })
}

/// Refuses a control that needs what the simulator's TCP lacks under the flow's recovery.
pub(crate) fn check_recovery(
    profile: Profile,
    flow: &complete::Flow,
    control: &Control,
) -> Result<(), ControlProblem> {
    let recovery = flow.recovery.or_own(own_recovery(profile, control));
    let provided = provides(recovery_kind(profile, recovery, control));
    let name = if recovery == Recovery::Rack { "sim" } else { "sim without recovery `rack`" };
    control.clone().on(name, provided).map(drop)
}

/// A packet adds twice the receiver's MSS, which timestamps make smaller
/// (`tcp_create_openreq_child`, `tcp_grow_window`), as far as half of its buffer
/// (`tcp_win_from_space` with `tcp_adv_win_scale` 1) but for a segment (`tcp_init_buffer_space`).
fn growing_window(packet_bytes: u64, quick: bool) -> GrowingWindow {
    let mtu = (packet_bytes + HEADERS).max(ETHERNET_MTU);
    let mss = mtu - IP_AND_TCP - TIMESTAMPS;
    GrowingWindow {
        first: Bytes(FIRST_WINDOW),
        step: Bytes(2 * mss),
        most: Bytes(RECEIVE_BUFFER / 2 - mss),
        quick,
    }
}

/// The stack whose keys such a flow supports.
pub(crate) fn stack(profile: Profile, flow: &complete::Flow, control: &Control) -> Stack {
    use firstflight_sim::Recovery as Sim;
    let recovery = flow.recovery.or_own(own_recovery(profile, control));
    match recovery_kind(profile, recovery, control) {
        Sim::Tahoe => Stack::Tahoe,
        Sim::Reno => Stack::Reno,
        Sim::NewReno => Stack::NewReno,
        Sim::Sack => Stack::Sack,
        Sim::Rack => Stack::Rack,
        Sim::Quic => Stack::Quic,
        Sim::Ns2Sack => Stack::Ns2Sack,
        Sim::Ns2Vegas => Stack::Ns2Vegas,
        Sim::Ns2Linux => Stack::Ns2Linux,
    }
}

fn recovery_kind(
    profile: Profile,
    recovery: Recovery,
    control: &Control,
) -> firstflight_sim::Recovery {
    use firstflight_sim::Recovery as Sim;
    match (profile, recovery) {
        (_, Recovery::Ns2Linux) => Sim::Ns2Linux,
        (Profile::Ns2, _) if control.startup_name == "vegas" => Sim::Ns2Vegas,
        (_, Recovery::Tahoe) => Sim::Tahoe,
        (_, Recovery::Reno) => Sim::Reno,
        (_, Recovery::NewReno) => Sim::NewReno,
        (Profile::Ns2, Recovery::Sack) => Sim::Ns2Sack,
        (_, Recovery::Sack) => Sim::Sack,
        (_, Recovery::Rack) => Sim::Rack,
        (_, Recovery::Quic) => Sim::Quic,
    }
}

/// Whether that is an agent of ns-2's.
fn is_agent(kind: firstflight_sim::Recovery) -> bool {
    use firstflight_sim::Recovery as Sim;
    matches!(kind, Sim::Ns2Sack | Sim::Ns2Vegas | Sim::Ns2Linux)
}

/// The RFCs leave Reno free to answer several losses of one window one by one, as ns-2 did until
/// July 2003; ns-2.35 and Linux do not.
fn rules(common: &complete::Endpoint, recovery: Recovery, control: &Control) -> RecoveryRules {
    let set = &common.switches;
    let old = common.ns2_release.is_some_and(|release| !release.exits_fast_recovery());
    let if_reno = |often| if recovery == Recovery::Reno { often } else { PerWindow::Once };
    let base = RecoveryRules {
        limited_transmit: set.limited_transmit,
        impatient: set.impatient,
        partial_deflation: set.partial_deflation,
        ..RecoveryRules::RFC
    };
    match common.profile {
        Profile::Rfc => RecoveryRules { per_window: if_reno(PerWindow::Each), ..base },
        Profile::Linux | Profile::Quic => RecoveryRules { halve: Halve::Window, prr: true, ..base },
        Profile::Ns2 => RecoveryRules {
            per_window: if old { if_reno(PerWindow::EachUntilTimeout) } else { PerWindow::Once },
            duplicates_inflate: old && recovery != Recovery::Tahoe,
            halve: Halve::Window,
            full_ack: FullAck::Keep,
            recovery_burst: 2,
            flywheel: control.startup_name == "hoe",
            late_initial_window: control.startup_name == "vegas",
            timeout_keeps_duplicates: recovery == Recovery::Tahoe,
            syn_timeout_cuts: true,
            ..base
        },
    }
}

/// The retransmission timer; QUIC's recovery has its own.
fn timer(timer: TimerOf, recovery: Recovery, phase: Span) -> Timer {
    match timer {
        _ if recovery == Recovery::Quic => Timer::Quic,
        TimerOf::Rfc6298 => Timer::Rfc6298,
        TimerOf::Linux => Timer::Linux,
        TimerOf::Ns2 => Timer::Ns2 { phase, eighths_below: recovery == Recovery::Ns2Linux },
    }
}

fn rto(common: &complete::Endpoint, timer: Timer) -> RtoRules {
    let set = &common.switches;
    RtoRules {
        min: Span(set.rto_min.ns()),
        max: Span(set.rto_max.ns()),
        initial: Span(set.rto_initial.ns()),
        granularity: Span(set.rto_granularity.ns()),
        timer,
        progress_ends_backoff: set.progress_ends_backoff,
    }
}

/// In a packet full of one stream's data, as quinn writes it: a header of 1 byte with 8 bytes of
/// connection ID and 2 of packet number, a frame's type, stream and offset in 7, and 16 of tag.
const QUIC_OVERHEAD: u64 = 34;
/// A packet with nothing but an ACK frame of one range.
const QUIC_ACK_BYTES: u64 = 35;
/// What the lab gives a receiver, so that its window never limits.
const RECEIVE_BUFFER: u64 = 64 << 20;
/// The largest window without scaling (RFC 7323 section 2).
const FIRST_WINDOW: u64 = 65_535;
/// The lab's MTU, in bytes: Ethernet's, or a packet's with its headers.
const ETHERNET_MTU: u64 = 1_500;
const HEADERS: u64 = 100;
/// IP and TCP header without options.
const IP_AND_TCP: u64 = 40;
/// The option of RFC 7323 section 3, padded (`TCPOLEN_TSTAMP_ALIGNED`).
const TIMESTAMPS: u64 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    /// As in Linux 6.1.192: packets of 1448 bytes, of which each adds 2992, up to 33,552,936.
    #[test]
    fn the_receivers_window_grows_as_in_the_lab() {
        let window = growing_window(1_448, true);
        assert_eq!((window.step, window.most), (Bytes(2_992), Bytes(33_552_936)));
        assert_eq!(window.packets(), 11_193);
    }
}
