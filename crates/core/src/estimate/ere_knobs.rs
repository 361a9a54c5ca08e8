//! The settings of the eligible rate estimate: knobs, presets, and the words for them.

use super::instability::LONGEST_WINDOW;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, Words, words};
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
    /// The mean of two samples with a weight of 2/21 per packet acknowledged: an ACK for three
    /// packets counts three times.
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

    /// The preset, the first of its knobs.
    pub(crate) const PRESET: &'static [Knob] = Self::KNOBS.split_at(1).0;

    /// All other knobs.
    pub(crate) const OTHERS: &'static [Knob] = Self::KNOBS.split_at(1).1;

    pub(super) const fn gaps(&self) -> u64 {
        if self.null_m == 0 { 1 } else { self.null_m }
    }
}

impl Default for EreKnobs {
    fn default() -> Self {
        Self::FIGURES
    }
}

/// The preset first, then the others in the order of the formulas. A policy that has no more to its
/// preset than its estimator's takes all of them.
impl Knobs for EreKnobs {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("preset")
            .means(
                "figures: N = 3, tmin = 15ms, fits the published throughputs; paper: N = 10, tmin \
                 = 0s; ns2: paper with Umax over all samples, tick = 10ms, ns-2's clock; \
                 per-packet: filter = packets, tmin = 1ms, for paced senders and thinned ACKs, \
                 which QUIC and delayed ACKs take by themselves",
            )
            .preset(Words {
                all: PRESETS,
                get: |_| None,
                set: |p, word| {
                    *p = match word {
                        "paper" => Self::PAPER,
                        "ns2" => Self::NS2,
                        PER_PACKET => Self::PER_PACKET,
                        _ => Self::FIGURES,
                    };
                },
            }),
        Knob::new("ere.eps")
            .means("weight of the old achieved rate RE (Globecom 2002)")
            .ratio(0..=RATIO_ONE, |p| &mut p.eps),
        Knob::new("ere.re_update")
            .means("when RE is updated; the papers do not say")
            .word(words!(|p| p.re_per_rtt, ["ack" = false, "rtt" = true])),
        Knob::new("ere.tmin")
            .means("smallest sampling interval Tk, at most an RTT; 0s is the spacing of two ACKs")
            .by_default("15ms (figures), 0s (paper, ns2), 1ms (per-packet)")
            .time(Span(0)..=LONGEST_TMIN, |p| &mut p.tmin),
        Knob::new("ere.tick")
            .means("clock in whose whole ticks RTTmin is known; 0s for exactly")
            .by_default("0s (figures, paper, per-packet), 10ms (ns2)")
            .time(Span(0)..=LONGEST_TMIN, |p| &mut p.tick),
        Knob::new("ere.umax_window")
            .means("samples over which the largest instability Umax is taken; 0 for all")
            .by_default("10 (figures, paper, per-packet), 0 (ns2)")
            .count(0..=LONGEST_WINDOW as u64, |p| &mut p.umax_window),
        Knob::new("ere.N")
            .means("RTTs by which full instability lengthens the time constant")
            .by_default("3 (figures), 10 (paper, ns2), 0 (per-packet)")
            .count(0..=LARGEST_N, |p| &mut p.n),
        Knob::new("ere.filter")
            .means("low-pass filter: mean of two samples, newest one, or weights per ACK or packet")
            .by_default("trapezoid (figures, paper, ns2), packets (per-packet)")
            .word(words!(
                |p| p.filter,
                [
                    "trapezoid" = Filter::Trapezoid,
                    "plain" = Filter::Plain,
                    "const" = Filter::Constant,
                    "packets" = Filter::Packets
                ]
            )),
        Knob::new("ere.null_m")
            .means("samples of zero per time constant of silence; 0 for none")
            .count(0..=LARGEST_M, |p| &mut p.null_m),
    ];
}

/// The words of the preset.
pub(crate) const PRESETS: &[&str] = &["figures", "paper", "ns2", PER_PACKET];

/// The preset for paced senders and thinned ACKs ([`EreKnobs::PER_PACKET`]).
pub const PER_PACKET: &str = "per-packet";

const LARGEST_N: u64 = 100;
const LARGEST_M: u64 = 8;
const LONGEST_TMIN: Span = Span::from_secs(1);

/// QUIC's timer granularity (RFC 9002 section 6.1.2), the smallest interval of preset `per-packet`.
const GRANULARITY: Span = Span::from_millis(1);

/// ns-2's TCP clock (`tcpTick_`).
pub(crate) const NS2_TICK: Span = Span::from_millis(10);
