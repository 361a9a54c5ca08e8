//! What of the eligible rate estimate can be set: knobs, presets, and the words for them.

use super::instability::LONGEST_WINDOW;
use crate::knob::{Knob, KnobKind, KnobValue, RATIO_ONE};
use crate::units::Span;

/// The low-pass filter that makes ERE of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Tustin's, which takes the mean of two samples.
    Trapezoid,
    /// The newer sample only.
    Plain,
    /// The mean of two samples with a fixed weight of 2/21 per ACK, as the first ns-2 module had
    /// it.
    Constant,
    /// The mean of two samples with that weight per packet acknowledged, however few ACKs tell of
    /// them.
    Packets,
}

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EreKnobs {
    /// Low-pass filter.
    pub filter: Filter,
    /// How far instability lengthens the time constant, in RTTs; 0 to 100.
    pub n: u64,
    /// Weight of the old achieved rate, in millionths.
    pub eps: u64,
    /// Update the achieved rate once per RTT, not on every ACK.
    pub re_per_rtt: bool,
    /// Smallest sampling interval, but no more than an RTT; zero for the spacing of ACKs.
    pub tmin: Span,
    /// RTTmin is known in whole ticks of this clock; zero for exactly.
    pub tick: Span,
    /// Samples of zero are taken every `tau / null_m` of silence; 0 for none, up to 8.
    pub null_m: u64,
    /// The largest instability is taken over so many samples, up to 10; 0 for the whole connection.
    pub umax_window: u64,
}

impl EreKnobs {
    /// What fits the published figures as a whole.
    pub const FIGURES: Self = Self { n: 3, tmin: Span::from_millis(15), ..Self::PAPER };

    /// What is published.
    pub const PAPER: Self = Self {
        filter: Filter::Trapezoid,
        n: 10,
        eps: 600_000,
        re_per_rtt: false,
        tmin: Span(0),
        tick: Span(0),
        null_m: 2,
        umax_window: 10,
    };

    /// What is published, with Umax as the public code that has N takes it, on ns-2's clock.
    pub const NS2: Self = Self { umax_window: 0, tick: NS2_TICK, ..Self::PAPER };

    /// Weights per packet, for paced senders and thinned ACKs.
    pub const PER_PACKET: Self =
        Self { filter: Filter::Packets, n: 0, tmin: GRANULARITY, ..Self::PAPER };

    /// Sets one by name; false if there is none of that name and kind.
    pub fn set(&mut self, name: &str, value: KnobValue) -> bool {
        match (name, value) {
            ("preset", KnobValue::Word(PER_PACKET)) => *self = Self::PER_PACKET,
            ("preset", KnobValue::Word("ns2")) => *self = Self::NS2,
            ("preset", KnobValue::Word("paper")) => *self = Self::PAPER,
            ("preset", KnobValue::Word("figures")) => *self = Self::FIGURES,
            ("ere.filter", KnobValue::Word("trapezoid")) => self.filter = Filter::Trapezoid,
            ("ere.filter", KnobValue::Word("plain")) => self.filter = Filter::Plain,
            ("ere.filter", KnobValue::Word("const")) => self.filter = Filter::Constant,
            ("ere.filter", KnobValue::Word("packets")) => self.filter = Filter::Packets,
            ("ere.N", KnobValue::Count(n)) => self.n = n.min(LARGEST_N),
            ("ere.eps", KnobValue::Ratio(eps)) => self.eps = eps.min(RATIO_ONE),
            ("ere.re_update", KnobValue::Word(word)) => self.re_per_rtt = word == "rtt",
            ("ere.tmin", KnobValue::Time(tmin)) => self.tmin = tmin.min(LONGEST_TMIN),
            ("ere.tick", KnobValue::Time(tick)) => self.tick = tick.min(LONGEST_TMIN),
            ("ere.null_m", KnobValue::Count(m)) => self.null_m = m.min(LARGEST_M),
            ("ere.umax_window", KnobValue::Count(window)) => {
                self.umax_window = window.min(LONGEST_WINDOW as u64);
            }
            _ => return false,
        }
        true
    }

    /// The value of one by name.
    pub fn value(&self, name: &str) -> Option<KnobValue> {
        Some(match name {
            "ere.filter" => KnobValue::Word(match self.filter {
                Filter::Trapezoid => "trapezoid",
                Filter::Plain => "plain",
                Filter::Constant => "const",
                Filter::Packets => "packets",
            }),
            "ere.N" => KnobValue::Count(self.n),
            "ere.eps" => KnobValue::Ratio(self.eps),
            "ere.re_update" => KnobValue::Word(if self.re_per_rtt { "rtt" } else { "ack" }),
            "ere.tmin" => KnobValue::Time(self.tmin),
            "ere.tick" => KnobValue::Time(self.tick),
            "ere.null_m" => KnobValue::Count(self.null_m),
            "ere.umax_window" => KnobValue::Count(self.umax_window),
            _ => return None,
        })
    }

    pub(super) const fn gaps(&self) -> u64 {
        if self.null_m == 0 { 1 } else { self.null_m }
    }
}

impl Default for EreKnobs {
    fn default() -> Self {
        Self::FIGURES
    }
}

/// The preset, where a policy has no more to it than its estimator's.
pub const PRESET: Knob = Knob {
    name: "preset",
    kind: KnobKind::Word(&["figures", "paper", "ns2", PER_PACKET]),
    default: "figures",
    doc: "figures: N = 3, tmin = 15ms, fits the published throughputs; paper: N = 10, tmin = 0s; \
        ns2: paper with Umax over all samples, tick = 10ms, ns-2's clock; \
        per-packet: filter = packets, tmin = 1ms, for paced senders and thinned ACKs, which \
        QUIC and delayed ACKs take by themselves",
};

/// The preset for paced senders and thinned ACKs ([`EreKnobs::PER_PACKET`]).
pub const PER_PACKET: &str = "per-packet";

/// The other knobs, in the order of the formulas.
pub const KNOBS: [Knob; 8] = [
    Knob {
        name: "ere.eps",
        kind: KnobKind::Ratio(0, RATIO_ONE),
        default: "0.6",
        doc: "weight of the old achieved rate RE (Globecom 2002)",
    },
    Knob {
        name: "ere.re_update",
        kind: KnobKind::Word(&["ack", "rtt"]),
        default: "ack",
        doc: "when RE is updated; the papers do not say",
    },
    Knob {
        name: "ere.tmin",
        kind: KnobKind::Time(Span(0), LONGEST_TMIN),
        default: "15ms (figures), 0s (paper, ns2), 1ms (per-packet)",
        doc: "smallest sampling interval Tk, at most an RTT; 0s is the spacing of two ACKs",
    },
    Knob {
        name: "ere.tick",
        kind: KnobKind::Time(Span(0), LONGEST_TMIN),
        default: "0s (figures, paper, per-packet), 10ms (ns2)",
        doc: "clock in whose whole ticks RTTmin is known; 0s for exactly",
    },
    Knob {
        name: "ere.umax_window",
        kind: KnobKind::Count(0, LONGEST_WINDOW as u64),
        default: "10 (figures, paper, per-packet), 0 (ns2)",
        doc: "samples over which the largest instability Umax is taken; 0 for all",
    },
    Knob {
        name: "ere.N",
        kind: KnobKind::Count(0, LARGEST_N),
        default: "3 (figures), 10 (paper, ns2), 0 (per-packet)",
        doc: "RTTs by which full instability lengthens the time constant",
    },
    Knob {
        name: "ere.filter",
        kind: KnobKind::Word(&["trapezoid", "plain", "const", "packets"]),
        default: "trapezoid (figures, paper, ns2), packets (per-packet)",
        doc: "low-pass filter: mean of two samples, newest one, or weights per ACK or packet",
    },
    Knob {
        name: "ere.null_m",
        kind: KnobKind::Count(0, LARGEST_M),
        default: "2",
        doc: "samples of zero per time constant of silence; 0 for none",
    },
];

const LARGEST_N: u64 = 100;
const LARGEST_M: u64 = 8;
const LONGEST_TMIN: Span = Span::from_secs(1);

/// QUIC's timer granularity (RFC 9002 section 6.1.2), the smallest interval of preset `per-packet`.
const GRANULARITY: Span = Span::from_millis(1);

/// ns-2's TCP clock (`tcpTick_`).
pub(crate) const NS2_TICK: Span = Span::from_millis(10);
