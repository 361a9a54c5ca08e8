//! The table of names: every start-up, every avoidance, every alias. Adding an algorithm is one
//! file and one entry here; the command line, scenario files, `list` and the tests read this table.

use crate::avoidance::{
    Cubic, Fast, HighSpeed, Hybla as HyblaAvoidance, NewReno, Scalable, StabilizedVegas,
    TcpEbn as TcpEbnAvoidance, Vegas as VegasAvoidance, Westwood, WestwoodPlus,
    Xcp as XcpAvoidance,
};
use crate::event::{Ack, Loss, Sent};
use crate::feedback::{Feedback, Signals};
use crate::hint::PathHint;
use crate::knob::{Knob, KnobValue, Knobs};
use crate::mechanism::Mechanism;
use crate::policy::{Avoidance, Entry, Observer, Startup, Step};
use crate::startup::{
    AfStart, Astart, ByteCounting, Conservative, DecreasingByteCounting, ESpeed, FastStart,
    GallopVegas, Hoe, HyStart, Hybla as HyblaStart, LargeInitialWindow, Limited, MStart, Paced,
    PacketPairStart, QuickStart, SlowStart, SmoothStart, Spand, TcpEbn as TcpEbnStart, TwoPhase,
    Vegas as VegasStart, Xcp as XcpStart,
};
use crate::units::{Bytes, Rate};
use crate::view::{View, Window};

/// What `list` says about a policy.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Name as users write it.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// It sets a pacing rate, which a transport without pacing control ignores.
    pub paced: bool,
    /// For a start-up: the avoidance it runs with when a control names none.
    pub partner: Option<&'static str>,
    /// Its knobs.
    pub knobs: &'static [Knob],
}

/// A short name for a pair of policies, as the papers call it.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The short name.
    pub name: &'static str,
    /// What it stands for, a control as users write it, with knobs where it sets some.
    pub control: &'static str,
    /// Who calls it so.
    pub source: &'static str,
}

/// Passes a call on to whichever policy `$self` is.
macro_rules! delegate {
    ($any:ident: $($variant:ident)*; $self:ident, $policy:ident => $call:expr) => {
        match $self { $($any::$variant($policy) => $call,)* }
    };
}

/// What both axes share: the enum, its names, its knobs, and what every policy observes.
macro_rules! policies {
    ($any:ident, $axis:literal, $table:ident,
     $($variant:ident = $name:literal, $partner:expr, $paced:literal, $what:literal,
       $source:literal;)*) => {
        #[doc = concat!("Any ", $axis, " policy, chosen by name.")]
        #[derive(Clone, Debug)]
        // A tag of its own: which policy it is, every event asks several times.
        #[repr(u8)]
        #[expect(missing_docs, reason = "the variants are the policies of the same name")]
        #[allow(clippy::large_enum_variant, reason = "nothing is allocated, so nothing is boxed")]
        pub enum $any {
            $($variant($variant),)*
        }

        impl $any {
            /// The policy of that name with its default knobs.
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant($variant::default())),)*
                    _ => None,
                }
            }

            /// Sets one of the policy's knobs; false if it has none of that name and kind.
            pub fn set(&mut self, name: &str, value: KnobValue) -> bool {
                delegate!($any: $($variant)*; self, policy => policy.set(name, value))
            }
        }

        impl Observer for $any {
            fn on_handshake(&mut self, view: &View) {
                delegate!($any: $($variant)*; self, policy => policy.on_handshake(view))
            }

            fn on_sent(&mut self, sent: &Sent, view: &View) {
                delegate!($any: $($variant)*; self, policy => policy.on_sent(sent, view))
            }

            fn watches_sends(&self) -> bool {
                delegate!($any: $($variant)*; self, policy => policy.watches_sends())
            }

            #[inline(always)]
            fn on_ack(&mut self, ack: &Ack, view: &View) {
                delegate!($any: $($variant)*; self, policy => Observer::on_ack(policy, ack, view))
            }

            fn on_loss(&mut self, loss: &Loss, view: &View) {
                delegate!($any: $($variant)*; self, policy => policy.on_loss(loss, view))
            }

            fn reads_times(&self) -> bool {
                delegate!($any: $($variant)*; self, policy => policy.reads_times())
            }

            fn listens(&self) -> Signals {
                delegate!($any: $($variant)*; self, policy => policy.listens())
            }

            fn on_feedback(&mut self, feedback: &Feedback, view: &View) {
                delegate!($any: $($variant)*; self, policy => policy.on_feedback(feedback, view))
            }

            #[inline]
            fn eligible(&self) -> Option<Rate> {
                delegate!($any: $($variant)*; self, policy => policy.eligible())
            }

            fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
                delegate!($any: $($variant)*; self, policy => policy.gauges(report))
            }
        }

        #[doc = concat!("Every ", $axis, " policy.")]
        pub const $table: &[Listing] = &[
            $(Listing {
                name: $name,
                summary: $what,
                source: $source,
                paced: $paced,
                partner: $partner,
                knobs: $variant::KNOBS,
            },)*
        ];
    };
}

/// One entry per start-up: `Type = name + usual avoidance, paced, what it does, source;`.
macro_rules! startups {
    ($($variant:ident = $name:literal + $partner:literal, $paced:literal, $what:literal,
       $source:literal;)*) => {
        policies! { AnyStartup, "start-up", STARTUPS,
            $($variant = $name, Some($partner), $paced, $what, $source;)*
        }

        impl Startup for AnyStartup {
            fn open(&self, default: Window, mss: Bytes) -> Window {
                delegate!(Self: $($variant)*; self, it => it.open(default, mss))
            }

            fn restart_window(&self, mss: Bytes) -> Bytes {
                delegate!(Self: $($variant)*; self, it => it.restart_window(mss))
            }

            fn asks(&self) -> Option<Rate> {
                delegate!(Self: $($variant)*; self, it => it.asks())
            }

            fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
                delegate!(Self: $($variant)*; self, it => it.inform(hint, view))
            }

            fn retreat(&mut self, loss: &Loss, view: &View) -> Option<Window> {
                delegate!(Self: $($variant)*; self, it => it.retreat(loss, view))
            }

            fn enter(&mut self, why: Entry, view: &View) {
                delegate!(Self: $($variant)*; self, it => it.enter(why, view))
            }

            #[inline(always)]
            fn step(&mut self, ack: &Ack, view: &View) -> Step {
                delegate!(Self: $($variant)*; self, it => it.step(ack, view))
            }

            #[inline(always)]
            fn receive(
                &mut self,
                avoidance: &mut impl Avoidance,
                mechanism: &mut Mechanism,
                ack: &Ack,
            ) {
                pass_on(self, avoidance, mechanism, ack);
            }
        }
    };
}

/// One entry per avoidance: `Type = name, paced, what it does, source;`.
macro_rules! avoidances {
    ($($variant:ident = $name:literal, $paced:literal, $what:literal, $source:literal;)*) => {
        policies! { AnyAvoidance, "avoidance", AVOIDANCES,
            $($variant = $name, None, $paced, $what, $source;)*
        }

        impl Avoidance for AnyAvoidance {
            fn enter(&mut self, view: &View) {
                delegate!(Self: $($variant)*; self, it => it.enter(view))
            }

            #[inline(always)]
            fn step(&mut self, ack: &Ack, view: &View) -> Step {
                delegate!(Self: $($variant)*; self, it => it.step(ack, view))
            }

            fn cut(&mut self, loss: &Loss, view: &View) -> Window {
                delegate!(Self: $($variant)*; self, it => it.cut(loss, view))
            }

            #[inline(always)]
            fn wants_reprobe(&self) -> bool {
                delegate!(Self: $($variant)*; self, it => it.wants_reprobe())
            }

            #[inline(always)]
            fn chosen(&mut self) -> Option<&mut AnyAvoidance> {
                Some(self)
            }
        }
    };
}

/// Pairs of policies for which all that a sender does with an ACK is compiled as one, so that it
/// asks once which policies it has and keeps in registers what they tell each other. Any others it
/// asks one by one, at a dozen instructions per question. On the list is what the speed of the
/// simulator is measured with; every pair costs its code once more.
macro_rules! compiled_pairs {
    ($($startup:ident + $avoidance:ident,)*) => {
        #[inline(always)]
        fn pass_on(
            startup: &mut AnyStartup,
            avoidance: &mut impl Avoidance,
            mechanism: &mut Mechanism,
            ack: &Ack,
        ) {
            match (&mut *startup, avoidance.chosen()) {
                $((AnyStartup::$startup(startup), Some(AnyAvoidance::$avoidance(avoidance))) => {
                    mechanism.pass_on(ack, startup, avoidance);
                })*
                _ => pass_on_to_any(startup, avoidance, mechanism, *ack),
            }
        }
    };
}

compiled_pairs! {
    SlowStart + NewReno,
    Astart + Westwood,
}

/// Takes the ACK by value: nobody else needs it in memory then.
#[inline(never)]
fn pass_on_to_any(
    startup: &mut AnyStartup,
    avoidance: &mut impl Avoidance,
    mechanism: &mut Mechanism,
    ack: Ack,
) {
    mechanism.pass_on(&ack, startup, avoidance);
}

startups! {
    SlowStart = "slow-start" + "newreno", false,
        "one segment more per ACK until ssthresh", "RFC 5681 section 3.1";
    LargeInitialWindow = "liw" + "newreno", false,
        "a large first window and no slow start", "Astart paper, section V.D";
    Hoe = "hoe" + "newreno", false,
        "slow start to an ssthresh measured on the first ACKs", "Hoe, SIGCOMM 1996";
    VegasStart = "vegas" + "vegas", false,
        "slow start in every other round, until segments queue", "Brakmo and others, SIGCOMM 1994";
    Astart = "astart" + "westwood", false,
        "slow start whose ssthresh follows the estimated rate up", "Wang and others, INFOCOM 2004";
    ByteCounting = "bc" + "newreno", false,
        "slow start by bytes acknowledged, so that delayed ACKs do not slow it", "RFC 3465";
    DecreasingByteCounting = "dbc" + "newreno", false,
        "byte counting that becomes gentler as the window nears ssthresh",
        "Short-transfers paper, section 4.3";
    MStart = "mstart" + "cubic", false,
        "slow start with a step-up count from 10 down to 1, over and over", "M-Start paper";
    HyStart = "hystart" + "cubic", false,
        "slow start that leaves when ACK trains are long or the RTT grows",
        "Ha and Rhee, 2008; Linux tcp_cubic.c";
    Limited = "limited" + "newreno", false,
        "slow start by at most about 50 segments per RTT above 100", "RFC 3742";
    HyblaStart = "hybla" + "hybla", false,
        "slow start at the pace of a connection of 25 ms",
        "Caini and Firrincieli, 2004; Linux tcp_hybla.c";
    TwoPhase = "two-phase" + "newreno", false,
        "slow start to half of ssthresh, then ever smaller steps",
        "P-TCP; M-Start paper, reference 9";
    SmoothStart = "smooth-start" + "newreno", false,
        "slow start that grows on every second, then every third ACK near ssthresh",
        "Wang and others, ISCC 2000";
    Paced = "paced" + "newreno", true,
        "slow start spread over the RTT by pacing", "M-Start paper, reference 12; TR98-318";
    PacketPairStart = "packet-pair" + "newreno", false,
        "a jump to the window that the spacing of the first ACKs shows",
        "M-Start paper, reference 10";
    Conservative = "conservative" + "newreno", false,
        "slow start by fractions of a segment, less as the queue grows",
        "M-Start paper, reference 16";
    AfStart = "afstart" + "fast", true,
        "a climb to an ssthresh that packet trains measure on the way",
        "Zhang and others, ICC 2012";
    GallopVegas = "gallop-vegas" + "vegas", false,
        "half a segment per ACK in every round, until segments queue",
        "Ho, Chan and Chen, JCN 2006";
    FastStart = "fast-start" + "newreno", true,
        "slow start from the cached window of an earlier connection",
        "Padmanabhan and Katz, Globecom 1998";
    Spand = "spand" + "newreno", true,
        "starts at the window that connections of its site have learned",
        "SPAND, USITS 1997; Zhang and others, 1999";
    QuickStart = "quick-start" + "newreno", true,
        "slow start from a rate that the path's routers granted", "RFC 4782";
    ESpeed = "e-speed" + "newreno", false,
        "one of two speeds of slow start, chosen by the measured BDP",
        "Oyeyinka and others, 2011; M-Start paper, reference 13";
    XcpStart = "xcp" + "xcp", false,
        "a window that the path's routers raise packet by packet",
        "Katabi and others, SIGCOMM 2002";
    TcpEbnStart = "tcp-ebn" + "tcp-ebn", true,
        "a jump to the window that the path's routers tell", "Dutta and Zhang, ICC 2002";
}

avoidances! {
    NewReno = "newreno", false,
        "one segment more per RTT, half the flight at a loss", "RFC 5681, RFC 6582";
    VegasAvoidance = "vegas", false,
        "keeps a few segments queued", "Brakmo and others, SIGCOMM 1994";
    Westwood = "westwood", false,
        "one segment more per RTT, a cut to the estimated rate", "Wang and others, Globecom 2002";
    Cubic = "cubic", false,
        "a cubic curve of time around the window of the last loss", "RFC 9438";
    Fast = "fast", false,
        "keeps a number of segments queued, by steps in proportion to what is missing",
        "Wei and others, FAST TCP, 2006";
    HyblaAvoidance = "hybla", false,
        "linear growth at the pace of a connection of 25 ms",
        "Caini and Firrincieli, 2004; Linux tcp_hybla.c";
    WestwoodPlus = "westwood-plus", false,
        "one segment more per RTT, after a loss the rate of the last RTTs",
        "Grieco and Mascolo, 2004; Linux tcp_westwood.c";
    Scalable = "scalable", false,
        "a hundredth of a segment more per segment acknowledged, an eighth less at a loss",
        "Kelly, Scalable TCP, 2003";
    HighSpeed = "highspeed", false,
        "the larger the window, the more a RTT adds and the less a loss takes", "RFC 3649";
    StabilizedVegas = "stabilized-vegas", false,
        "Vegas that looks at where the queue is going", "Choe and Low, INFOCOM 2003";
    XcpAvoidance = "xcp", false,
        "the changes that the path's routers give", "Katabi and others, SIGCOMM 2002";
    TcpEbnAvoidance = "tcp-ebn", true,
        "the window that the path's routers tell", "Dutta and Zhang, ICC 2002";
}

/// Every alias.
pub const ALIASES: &[Alias] = &[
    Alias { name: "tahoe", control: "slow-start+newreno", source: "Jacobson, SIGCOMM 1988" },
    Alias { name: "reno", control: "slow-start+newreno", source: "RFC 5681, Reno recovery" },
    Alias { name: "newreno", control: "slow-start+newreno", source: "RFC 6582" },
    Alias { name: "hoe", control: "hoe+newreno", source: "Hoe, SIGCOMM 1996" },
    Alias { name: "vegas", control: "vegas+vegas", source: "Brakmo and others, SIGCOMM 1994" },
    Alias { name: "tcpw", control: "slow-start+westwood", source: "TCP Westwood" },
    Alias { name: "astart", control: "astart+westwood", source: "Astart paper" },
    Alias { name: "tcpw-a", control: "astart+westwood(lg=on)", source: "Agile Probing paper" },
    Alias { name: "cubic", control: "slow-start+cubic", source: "RFC 9438" },
    Alias { name: "mstart", control: "mstart+cubic", source: "M-Start paper" },
    Alias { name: "liw", control: "liw+newreno", source: "Astart paper, section V.D" },
    Alias { name: "stcp", control: "slow-start+newreno", source: "Short-transfers paper" },
    Alias { name: "bc", control: "bc+newreno", source: "RFC 3465, in the short-transfers paper" },
    Alias {
        name: "p-tcp",
        control: "two-phase+newreno",
        source: "P-TCP; M-Start paper, reference 9",
    },
    Alias {
        name: "ack-counting",
        control: "slow-start(count=acks)+newreno",
        source: "RFC 2581; what ACK splitting abuses",
    },
    Alias {
        name: "hoe-early",
        control: "hoe+newreno",
        source: "M-Start paper, reference 15: Hoe, retransmission on the second duplicate ACK",
    },
    Alias { name: "iw4k", control: "slow-start(preset=rfc3390)+newreno", source: "RFC 3390" },
    Alias { name: "iw10", control: "slow-start(preset=rfc6928)+newreno", source: "RFC 6928" },
    Alias {
        name: "westwood-plus",
        control: "slow-start+westwood-plus",
        source: "Linux tcp_westwood.c",
    },
    Alias { name: "dbc", control: "dbc+newreno", source: "Short-transfers paper, section 4.3" },
    Alias {
        name: "scalable-tcp",
        control: "slow-start+scalable",
        source: "Kelly, 2003; Agile Probing paper, reference 15",
    },
    Alias {
        name: "highspeed-tcp",
        control: "slow-start+highspeed",
        source: "RFC 3649; Agile Probing paper, reference 10",
    },
    Alias {
        name: "stabilized-vegas",
        control: "vegas+stabilized-vegas",
        source: "Choe and Low, 2003; Agile Probing paper, reference 7",
    },
    Alias {
        name: "fast-tcp",
        control: "slow-start+fast",
        source: "Wei and others, 2006; Agile Probing and M-Start papers",
    },
];

/// Aliases that name a loss recovery with the policies, as a profile calls it: `tahoe`, `reno` and
/// `newreno` are the same policies, and the short-transfers paper ran Reno throughout (section 2).
pub const ALIAS_RECOVERY: &[(&str, &str)] = &[
    ("tahoe", "tahoe"),
    ("reno", "reno"),
    ("newreno", "newreno"),
    ("stcp", "reno"),
    ("bc", "reno"),
    ("dbc", "reno"),
];

/// Aliases that name how many duplicate ACKs mean a loss, where it is not three.
pub const ALIAS_DUPLICATE_ACKS: &[(&str, u32)] = &[("hoe-early", 2)];

/// Whether the policy of that name needs the routers of the path, on either axis.
pub fn needs_routers(policy: &str) -> bool {
    let startup = AnyStartup::by_name(policy);
    let avoidance = AnyAvoidance::by_name(policy);
    startup.is_some_and(|startup| startup.needs_routers())
        || avoidance.is_some_and(|avoidance| avoidance.needs_routers())
}

/// Start-ups that find their own end. The ssthresh of a profile, where NewReno's slow start ends in
/// the papers, is not for them: Vegas' windows in Table 3 of the Astart paper lie beyond it.
pub const OWN_END: &[&str] = &["vegas", "gallop-vegas", "hystart", "conservative"];

/// The avoidance a start-up runs with when a control names none.
pub fn partner(startup: &str) -> Option<&'static str> {
    STARTUPS.iter().find(|listing| listing.name == startup)?.partner
}

/// The alias of that name.
pub fn alias(name: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.name == name)
}
