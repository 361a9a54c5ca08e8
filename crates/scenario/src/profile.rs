//! Endpoint profiles: the constants that stacks differ in, under one name.

use std::fmt;
use std::str::FromStr;

use firstflight_control::hint;
use firstflight_control::quantity::{Threshold, Time, Window};

/// Whose constants an endpoint has. A scenario can also set each constant alone.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// RFC 5681, 6298, 6582 and 3042, with the papers' initial window of one packet, and without a
    /// SYN exchange.
    Rfc,
    /// The stock agents of ns-2.35, which the papers ran.
    Ns2,
    /// A current Linux kernel. A scenario that names no profile has this one.
    #[default]
    Linux,
    /// QUIC's rules (RFC 9000, RFC 9002) with quinn's constants, without quinn.
    Quic,
}

/// Which ns-2 profile `ns2` means. Its constants changed over the years, and a paper ran those of
/// its time.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Ns2Release {
    /// ns-2.1b6, that of 2000.
    #[serde(rename = "2.1b6")]
    V21b6,
    /// ns-2.26, from before the changes of May 2003.
    #[serde(rename = "2.26")]
    V226,
    /// ns-2.35 of 2011, the last one.
    #[default]
    #[serde(rename = "2.35")]
    V235,
}

/// How a sender repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast retransmit, then slow start from one segment (Jacobson, SIGCOMM 1988).
    Tahoe,
    /// Fast retransmit and fast recovery, over at the first new ACK (RFC 5681 section 3.2).
    Reno,
    /// Partial ACKs repair one loss per round trip (RFC 6582).
    NewReno,
    /// The pipe algorithm over selective ACKs (RFC 6675).
    Sack,
    /// RACK-TLP (RFC 8985) over selective ACKs, with PRR and F-RTO, as Linux has them.
    Rack,
    /// Packet numbers that are never used again, and thresholds in packets and time (RFC 9002).
    Quic,
    /// The timer alone, and slow start after it: ns-2.35's TCP/Linux with receivers that report
    /// nothing out of order.
    #[serde(rename = "ns2-linux")]
    Ns2Linux,
}

/// What carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// The simulator's TCP.
    Tcp,
    /// quinn's QUIC over the simulator's network.
    Quic,
}

/// TCP Fast Open (RFC 7413): data that does not wait for the end of the SYN exchange.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum FastOpen {
    /// Every connection waits for its SYN exchange.
    #[default]
    Off,
    /// The first connection of a source asks for a cookie; its later ones have one.
    On,
    /// Every connection has a cookie, the first included.
    Cookie,
}

/// How receivers tell senders of marks.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum EcnFeedback {
    /// Every ACK echoes a mark until the sender has reduced its window (RFC 3168).
    #[default]
    Rfc3168,
    /// DCTCP's: ACKs echo runs of marks (RFC 8257 section 3.2).
    Dctcp,
    /// ACKs count marks (RFC 9768).
    AccEcn,
}

/// The constants of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Constants {
    /// Whether a SYN exchange comes before the first data packet and gives the first RTT sample.
    pub syn: bool,
    /// Initial window.
    pub iw: Window,
    /// Initial ssthresh.
    pub ssthresh: Threshold,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Whether the first two duplicate ACKs each let new data leave (RFC 3042).
    pub limited_transmit: bool,
    /// Whether only the first partial ACK restarts the timer (RFC 6582 section 4, "Impatient").
    pub impatient: bool,
    /// Whether a partial ACK takes what it acknowledges out of the window (RFC 6582 section 3.2).
    pub partial_deflation: bool,
    /// Whether an ACK of new data resets the back-off of the RTO even without an RTT sample. With
    /// TCP timestamps the ACK of a retransmission gives one (RFC 7323 section 4).
    pub progress_ends_backoff: bool,
    /// RTO before the first RTT sample.
    pub rto_initial: Time,
    /// Lower bound of the RTO.
    pub rto_min: Time,
    /// Upper bound of the RTO.
    pub rto_max: Time,
    /// Granularity of the retransmission clock.
    pub rto_granularity: Time,
    /// For how many packets a receiver sends one ACK.
    pub delayed_ack: u64,
    /// How long a receiver that delays ACKs holds one back.
    pub delayed_ack_timer: Time,
    /// Whether one ACK tells of several packets out of order (Linux's compressed ACKs, with RACK
    /// and delayed ACKs).
    pub ack_compression: bool,
    /// Whether a receiver that delays ACKs answers every packet at once while the window that it
    /// offers grows (with RACK; Linux's quick ACKs).
    pub quick_acks: bool,
    /// Whether cwnd may grow only while it limits the sender.
    pub growth_limit: bool,
    /// Whether a window that a source on one connection leaves unused is taken back (RFC 2861, as
    /// Linux has it).
    pub slow_start_after_idle: bool,
    /// Whether packets are paced where the control does not pace them: at 2 cwnd/srtt in start-up,
    /// at 1.25 cwnd/srtt after it. QUIC's recovery has 1.25 cwnd/srtt always.
    pub pacing: bool,
    /// Whether a buffer of B packets counts the one being sent.
    pub buffer_counts_in_service: bool,
}

impl Profile {
    /// The constants under this name.
    pub const fn constants(self) -> &'static Constants {
        match self {
            Self::Rfc => &RFC,
            Self::Ns2 => &NS2,
            Self::Linux => &LINUX,
            Self::Quic => &QUIC,
        }
    }
}

impl Ns2Release {
    /// The constants of that release.
    pub const fn constants(self) -> &'static Constants {
        match self {
            Self::V21b6 => &NS2_OF_2000,
            Self::V226 => &NS2_OF_2003,
            Self::V235 => &NS2,
        }
    }
}

impl Constants {
    /// Each under its key in a scenario file, as written there.
    pub fn named(&self) -> [(&'static str, String); 20] {
        [
            ("iw", self.iw.to_string()),
            ("ssthresh", self.ssthresh.to_string()),
            ("recovery", self.recovery.to_string()),
            ("syn", self.syn.to_string()),
            ("rto_initial", self.rto_initial.to_string()),
            ("rto_min", self.rto_min.to_string()),
            ("rto_max", self.rto_max.to_string()),
            ("rto_granularity", self.rto_granularity.to_string()),
            ("delayed_ack", self.delayed_ack.to_string()),
            ("delayed_ack_timer", self.delayed_ack_timer.to_string()),
            ("ack_compression", self.ack_compression.to_string()),
            ("quick_acks", self.quick_acks.to_string()),
            ("growth_limit", self.growth_limit.to_string()),
            ("slow_start_after_idle", self.slow_start_after_idle.to_string()),
            ("pacing", self.pacing.to_string()),
            ("limited_transmit", self.limited_transmit.to_string()),
            ("impatient", self.impatient.to_string()),
            ("partial_deflation", self.partial_deflation.to_string()),
            ("progress_ends_backoff", self.progress_ends_backoff.to_string()),
            ("buffer_counts_in_service", self.buffer_counts_in_service.to_string()),
        ]
    }
}

/// Names in files and flags for an enum without fields.
macro_rules! named {
    ($type:ty, $what:literal, $($name:literal => $value:path),+) => {
        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok($value),)+
                    _ => {
                        let names = [$($name),+];
                        let (hint, names) = (hint(text, names), names.join(", "));
                        Err(format!("unknown {}{hint}; accepted: {names}", $what))
                    }
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($value => $name),+ })
            }
        }
    };
}

named!(
    Profile, "profile",
    "rfc" => Profile::Rfc, "ns2" => Profile::Ns2, "linux" => Profile::Linux,
    "quic" => Profile::Quic
);
named!(
    Ns2Release, "release of ns-2",
    "2.1b6" => Ns2Release::V21b6, "2.26" => Ns2Release::V226, "2.35" => Ns2Release::V235
);
named!(Carrier, "transport", "tcp" => Carrier::Tcp, "quic" => Carrier::Quic);
named!(
    FastOpen, "fast open",
    "off" => FastOpen::Off, "on" => FastOpen::On, "cookie" => FastOpen::Cookie
);
named!(
    EcnFeedback, "feedback of ECN",
    "rfc3168" => EcnFeedback::Rfc3168, "dctcp" => EcnFeedback::Dctcp,
    "accecn" => EcnFeedback::AccEcn
);
named!(
    Recovery, "recovery",
    "tahoe" => Recovery::Tahoe, "reno" => Recovery::Reno,
    "newreno" => Recovery::NewReno, "sack" => Recovery::Sack, "rack" => Recovery::Rack,
    "quic" => Recovery::Quic, "ns2-linux" => Recovery::Ns2Linux
);

/// RFC 6298 sections 2.1, 2.4 and 2.5 for the timer, RFC 5681 section 4.2 for delayed ACKs (at
/// most 500 ms; 200 ms is the usual choice). The windows are those of the Astart paper.
const RFC: Constants = Constants {
    syn: false,
    iw: Window::Packets(1),
    ssthresh: Threshold::At(Window::Packets(32)),
    recovery: Recovery::NewReno,
    limited_transmit: true,
    impatient: true,
    partial_deflation: true,
    progress_ends_backoff: false,
    rto_initial: Time::from_ms(1_000),
    rto_min: Time::from_ms(1_000),
    rto_max: Time::from_ms(60_000),
    rto_granularity: Time::from_ms(1),
    delayed_ack: 1,
    delayed_ack_timer: Time::from_ms(200),
    ack_compression: false,
    quick_acks: true,
    growth_limit: true,
    slow_start_after_idle: true,
    pacing: false,
    buffer_counts_in_service: false,
};

/// ns-2.35, `tcl/lib/ns-default.tcl`: syn_, windowInit_, singledup_, newreno_changes1_,
/// rtxcur_init_, minrto_, maxrto_, tcpTick_, DelAck interval_, control_increase_. The papers'
/// ssthresh, since the stock one is the receiver's window.
const NS2: Constants = Constants {
    syn: true,
    iw: Window::Packets(2),
    rto_initial: Time::from_ms(3_000),
    rto_min: Time::from_ms(200),
    rto_granularity: Time::from_ms(10),
    delayed_ack_timer: Time::from_ms(100),
    growth_limit: false,
    ..RFC
};

/// ns-2.26, by what ns-2's own test suites (`tcl/test/test-suite-*.tcl`) say of defaults that
/// changed after it: `newreno_changes1_` and `partial_window_deflation_` on 5 May 2003, `minrto_`
/// on 14 October 2004, `rtxcur_init_` on 21 January 2006.
const NS2_OF_2003: Constants = Constants {
    impatient: false,
    partial_deflation: false,
    rto_initial: Time::from_ms(6_000),
    rto_min: Time::from_ms(1_000),
    ..NS2
};

/// ns-2.1b6, by the same suites: `syn_`, `windowInit_`, `singledup_` and `tcpTick_` changed after
/// it and before 2003. `minrto_` was 0; two ticks of the clock are the least all the same
/// (`TcpAgent::rtt_timeout`).
const NS2_OF_2000: Constants = Constants {
    syn: false,
    iw: Window::Packets(1),
    limited_transmit: false,
    rto_min: Time::from_ms(200),
    rto_granularity: Time::from_ms(100),
    ..NS2_OF_2003
};

/// Linux: TCP_INIT_CWND, TCP_INFINITE_SSTHRESH, TCP_TIMEOUT_INIT, TCP_RTO_MIN, TCP_RTO_MAX,
/// TCP_DELACK_MIN, a clock of 1000 Hz; tcp_timestamps, with which `tcp_ack_update_rtt` takes a
/// sample from every ACK of new data and ends the back-off.
const LINUX: Constants = Constants {
    syn: true,
    iw: Window::Packets(10),
    ssthresh: Threshold::None,
    recovery: Recovery::Rack,
    rto_min: Time::from_ms(200),
    rto_max: Time::from_ms(120_000),
    progress_ends_backoff: true,
    delayed_ack_timer: Time::from_ms(40),
    ack_compression: true,
    ..RFC
};

/// RFC 9002: the probe timeout of `kInitialRtt`, 333 ms (sections 6.2.1, 6.2.2), `kGranularity`.
/// RFC 9000: every second packet is acknowledged (section 13.2.2), `max_ack_delay` is 25 ms (18.2).
/// Beyond two packets the initial window has at most 14,720 bytes (RFC 9002 section 7.2).
const QUIC: Constants = Constants {
    syn: true,
    iw: Window::Packets(10),
    ssthresh: Threshold::None,
    recovery: Recovery::Quic,
    rto_initial: Time::from_ms(999),
    rto_min: Time::from_ms(1),
    progress_ends_backoff: true,
    delayed_ack: 2,
    delayed_ack_timer: Time::from_ms(25),
    pacing: true,
    ..RFC
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_a_slip_is_answered() {
        for profile in [Profile::Rfc, Profile::Ns2, Profile::Linux, Profile::Quic] {
            assert_eq!(profile.to_string().parse(), Ok(profile));
        }
        let problem = "unknown recovery, did you mean `newreno`; accepted: tahoe, reno, newreno, \
                       sack, rack, quic, ns2-linux";
        assert_eq!("newrno".parse::<Recovery>(), Err(problem.to_owned()));
    }

    #[test]
    fn the_stock_agents_of_ns2_open_with_a_syn_and_two_packets() {
        let ns2 = Profile::Ns2.constants();
        assert_eq!((ns2.syn, ns2.iw), (true, Window::Packets(2)));
        assert_eq!(ns2.rto_min, Time::from_ms(200));
    }
}
