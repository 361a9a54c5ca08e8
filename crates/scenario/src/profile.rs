//! Endpoint profiles: the constants that stacks differ in, under one name.

use std::fmt;
use std::str::FromStr;

use firstflight_control::hint;

use crate::keys::{FlowValues, Key, Switches};

/// A named set of the constants in which implementations of TCP and QUIC differ. A scenario can
/// set each of them by its own key too.
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
    /// A current Linux kernel, up to 6.18 unless [`LinuxRelease`] says otherwise. A scenario that
    /// names no profile has this one.
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

/// Which retransmission timer senders have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timer {
    /// RFC 6298's.
    Rfc6298,
    /// Linux's: the smallest RTO is the least of what is added to the smoothed RTT, and the timer
    /// fires with a tick of 4 ms (`tcp_rtt_estimator`).
    Linux,
    /// ns-2's: one packet at a time is timed, in whole ticks of the clock.
    Ns2,
}

/// Which receiver's rules decide when ACKs leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Receiver {
    /// RFC 5681's (section 4.2), with the whole window from the SYN on.
    Rfc5681,
    /// Linux's: the offered window grows with what comes (`tcp_grow_window`), and how long an ACK
    /// waits is estimated (`tcp_send_delayed_ack`).
    Linux,
    /// ns-2's: the ACK of a packet that comes twice may be delayed too.
    Ns2,
}

/// Which clock paces a control that sets a pacing rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacer {
    /// Every packet leaves when the one before has had its time.
    Exact,
    /// TCP's own timer in Linux, without `fq` (`tcp_update_skb_after_send`).
    Linux,
}

/// Which Linux a receiver of Linux's is, where releases differ.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum LinuxRelease {
    /// Up to 6.18.
    #[default]
    #[serde(rename = "6.18")]
    V618,
    /// 6.19 and later: `tcp_comp_sack_rtt_percent` is 33 and no longer fixed at 5, and
    /// `tcp_comp_sack_slack_ns` 10 and no longer 100 microseconds.
    #[serde(rename = "6.19")]
    V619,
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
    /// Those that a group of flows can set for itself.
    pub flow: FlowValues,
    /// Those of all endpoints.
    pub switches: Switches,
}

impl Profile {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Rfc, Self::Ns2, Self::Quic];

    /// The constants under this name.
    pub const fn constants(self) -> &'static Constants {
        match self {
            Self::Linux => &Constants { flow: FlowValues::LINUX, switches: Switches::LINUX },
            Self::Rfc => &Constants { flow: FlowValues::RFC, switches: Switches::RFC },
            Self::Ns2 => &Constants { flow: FlowValues::NS2, switches: Switches::NS2 },
            Self::Quic => &Constants { flow: FlowValues::QUIC, switches: Switches::QUIC },
        }
    }
}

impl Ns2Release {
    /// The constants of that release.
    pub const fn constants(self) -> &'static Constants {
        match self {
            Self::V21b6 => {
                &Constants { flow: FlowValues::NS2_2_1B6, switches: Switches::NS2_2_1B6 }
            }
            Self::V226 => &Constants { flow: FlowValues::NS2_2_26, switches: Switches::NS2_2_26 },
            Self::V235 => Profile::Ns2.constants(),
        }
    }

    /// Whether Reno's fast recovery, once over, is over for good, as it is since 29 July 2003
    /// (`exitFastRetrans_`, `CWND_ACTION_EXITED`).
    ///
    /// Before, duplicate ACKs widened the window in a recovery or not, and Reno answered each loss
    /// of a window by itself until a timeout. ns-2's list of changes has the date, `tcp-reno.cc` of
    /// 1997 and `tcp.h` of March 2001 the rule.
    pub const fn exits_fast_recovery(self) -> bool {
        matches!(self, Self::V235)
    }
}

impl Constants {
    /// Each under its key in a scenario file, as written there.
    pub fn named(&self) -> Vec<(&'static str, String)> {
        Key::all().map(|key| (key.name, key.value(self))).collect()
    }
}

/// Names in files and flags for an enum without fields.
macro_rules! named {
    ($type:ty, $what:literal, $($name:literal => $value:path),+) => {
        impl $type {
            /// What is accepted.
            pub const NAMES: &'static [&'static str] = &[$($name),+];
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok($value),)+
                    _ => {
                        let hint = hint(text, Self::NAMES.iter().copied());
                        let names = Self::NAMES.join(", ");
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
named!(
    LinuxRelease, "release of Linux",
    "6.18" => LinuxRelease::V618, "6.19" => LinuxRelease::V619
);
named!(Carrier, "transport", "tcp" => Carrier::Tcp, "quic" => Carrier::Quic);
named!(
    FastOpen, "fast open",
    "off" => FastOpen::Off, "on" => FastOpen::On, "cookie" => FastOpen::Cookie
);
named!(
    Timer, "timer",
    "rfc6298" => Timer::Rfc6298, "linux" => Timer::Linux, "ns2" => Timer::Ns2
);
named!(
    Receiver, "receiver",
    "rfc5681" => Receiver::Rfc5681, "linux" => Receiver::Linux, "ns2" => Receiver::Ns2
);
named!(Pacer, "pacer", "exact" => Pacer::Exact, "linux" => Pacer::Linux);
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

#[cfg(test)]
mod tests {
    use firstflight_control::quantity::{Time, Window};

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
        assert_eq!((ns2.switches.syn, ns2.flow.iw), (true, Window::Packets(2)));
        assert_eq!(ns2.switches.rto_min, Time::from_ms(200));
    }

    #[test]
    fn an_older_release_of_ns2_has_what_was_so_before_the_newer_one() {
        let [of_2000, of_2003] = [Ns2Release::V21b6, Ns2Release::V226].map(Ns2Release::constants);
        let timers = |it: &Constants| (it.switches.rto_initial.ns(), it.switches.rto_min.ns());
        assert_eq!(timers(of_2003), (6_000_000_000, 1_000_000_000));
        assert_eq!(timers(of_2000), (6_000_000_000, 200_000_000));
        assert_eq!((of_2000.switches.impatient, of_2000.flow.iw), (false, Window::Packets(1)));
        assert_eq!((of_2003.switches.syn, of_2003.switches.growth_limit), (true, false));
    }
}
