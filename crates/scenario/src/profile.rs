//! Endpoint profiles: the constants that stacks differ in, under one name.

use std::fmt;
use std::str::FromStr;

use firstflight_control::hint;

use crate::keys::{FlowValues, Key, Switches};

/// Declares an enum whose values are words of files and flags: its doc, its name, what messages
/// call it, then its values, each with its word.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident, $what:literal:
        $($(#[$meaning:meta])* $value:ident = $word:literal,)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// What is accepted.
            pub const NAMES: &'static [&'static str] = &[$($word),+];
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$value),)+
                    _ => {
                        let hint = hint(text, Self::NAMES.iter().copied());
                        let names = Self::NAMES.join(", ");
                        Err(format!("unknown {}{hint}; accepted: {names}", $what))
                    }
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$value => $word),+ })
            }
        }
    };
}

words! {
    /// A named set of the constants in which implementations of TCP and QUIC differ. A scenario can
    /// set each of them by its own key too.
    #[derive(Default)]
    Profile, "profile":
        /// RFC 5681, 6298, 6582 and 3042, with the papers' initial window of one packet, and
        /// without a SYN exchange.
        Rfc = "rfc",
        /// The stock agents of ns-2.35, which the papers ran.
        Ns2 = "ns2",
        /// A current Linux kernel, up to 6.18 unless [`LinuxRelease`] says otherwise. A scenario
        /// that names no profile has this one.
        #[default]
        Linux = "linux",
        /// QUIC's rules (RFC 9000, RFC 9002) with quinn's constants, without quinn.
        Quic = "quic",
}

words! {
    /// Which ns-2 profile `ns2` means. Its constants changed over the years, and a paper ran those
    /// of its time.
    #[derive(Default)]
    Ns2Release, "release of ns-2":
        /// ns-2.1b6, that of 2000.
        V21b6 = "2.1b6",
        /// ns-2.26, from before the changes of May 2003.
        V226 = "2.26",
        /// ns-2.35 of 2011, the last one.
        #[default]
        V235 = "2.35",
}

words! {
    /// How a sender repairs losses.
    Recovery, "recovery":
        /// Fast retransmit, then slow start from one segment (Jacobson, SIGCOMM 1988).
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery, over at the first new ACK (RFC 5681 section 3.2).
        Reno = "reno",
        /// Partial ACKs repair one loss per round trip (RFC 6582).
        NewReno = "newreno",
        /// The pipe algorithm over selective ACKs (RFC 6675).
        Sack = "sack",
        /// RACK-TLP (RFC 8985) over selective ACKs, with PRR and F-RTO, as Linux has them.
        Rack = "rack",
        /// Packet numbers that are never used again, and thresholds in packets and time (RFC 9002).
        Quic = "quic",
        /// The timer alone, and slow start after it: ns-2.35's TCP/Linux with receivers that report
        /// nothing out of order.
        Ns2Linux = "ns2-linux",
}

words! {
    /// What carries a flow.
    Carrier, "transport":
        /// The simulator's TCP.
        Tcp = "tcp",
        /// quinn's QUIC over the simulator's network.
        Quic = "quic",
}

words! {
    /// TCP Fast Open (RFC 7413): data that does not wait for the end of the SYN exchange.
    #[derive(Default)]
    FastOpen, "fast open":
        /// Every connection waits for its SYN exchange.
        #[default]
        Off = "off",
        /// The first connection of a source asks for a cookie; its later ones have one.
        On = "on",
        /// Every connection has a cookie, the first included.
        Cookie = "cookie",
}

words! {
    /// Which retransmission timer senders have.
    Timer, "timer":
        /// RFC 6298's.
        Rfc6298 = "rfc6298",
        /// Linux's: the smallest RTO is the least of what is added to the smoothed RTT, and the
        /// timer fires with a tick of 4 ms (`tcp_rtt_estimator`).
        Linux = "linux",
        /// ns-2's: one packet at a time is timed, in whole ticks of the clock.
        Ns2 = "ns2",
}

words! {
    /// Whose rules the receivers follow: when they send ACKs, and what window they advertise.
    Receiver, "receiver":
        /// RFC 5681's (section 4.2), with the whole window from the SYN on.
        Rfc5681 = "rfc5681",
        /// Linux's: the advertised window grows with the data that arrives (`tcp_grow_window`), and
        /// how long an ACK waits is estimated (`tcp_send_delayed_ack`).
        Linux = "linux",
        /// ns-2's: the ACK of a packet that comes twice may be delayed too.
        Ns2 = "ns2",
}

words! {
    /// Which clock paces a control that sets a pacing rate.
    Pacer, "pacer":
        /// Every packet leaves when the one before has had its time.
        Exact = "exact",
        /// TCP's own timer in Linux, without `fq` (`tcp_update_skb_after_send`).
        Linux = "linux",
}

words! {
    /// Which Linux a receiver of Linux's is, where releases differ.
    #[derive(Default)]
    LinuxRelease, "release of Linux":
        /// Up to 6.18.
        #[default]
        V618 = "6.18",
        /// 6.19 and later: `tcp_comp_sack_rtt_percent` is 33 and no longer fixed at 5, and
        /// `tcp_comp_sack_slack_ns` 10 and no longer 100 microseconds.
        V619 = "6.19",
}

words! {
    /// How receivers tell senders of marks.
    #[derive(Default)]
    EcnFeedback, "feedback of ECN":
        /// Every ACK echoes a mark until the sender has reduced its window (RFC 3168).
        #[default]
        Rfc3168 = "rfc3168",
        /// DCTCP's: ACKs echo runs of marks (RFC 8257 section 3.2).
        Dctcp = "dctcp",
        /// ACKs count marks (RFC 9768).
        AccEcn = "accecn",
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
