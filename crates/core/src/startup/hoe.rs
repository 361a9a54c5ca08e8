//! Hoe's start-up (SIGCOMM 1996, section 3): slow start toward an ssthresh measured on the first
//! ACKs.
//!
//! What it believes: ACKs that answer one burst leave the bottleneck at its rate, and that rate
//! over the RTT of the first segment is the window to stop at. What it does: sets
//! `ssthresh = rate * RTT / MSS` once, in whole segments; slow start then runs unchanged.
//!
//! Preset `paper`: rate by least squares over three closely spaced ACKs
//! ([`crate::estimate::packet_pair`]). Preset `ns2`, what ns-2.35's NewReno agent does with its Hoe
//! option: the rate is one segment per spacing of the connection's second and third ACK, the
//! handshake's counting as the first; the RTT is that of the handshake or first segment; ssthresh
//! is only ever lowered.
//!
//! That RTT is exact in either preset, as ns-2.35's option takes it from the simulator's clock. A
//! TCP that takes it from its own clock knows it in whole ticks, rounded down (`tick`).
//!
//! Departures: Hoe's retransmission on partial ACKs became NewReno (RFC 6582) and is the
//! transport's; ssthresh stays at least two segments.

use crate::card::{Card, Listed};
use crate::estimate::packet_pair::{PacketPair, QUARTER};
use crate::event::Ack;
use crate::knob::{Knob, KnobKind, KnobOf, KnobValue, Knobs, RATIO_ONE, Words};
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{View, Window};

/// Slow start toward a measured ssthresh.
#[derive(Clone, Copy, Debug)]
pub struct Hoe {
    opening: Opening,
    method: Method,
    /// The RTT is known in whole ticks of this clock; zero for exactly.
    tick: Span,
    /// The window measured, until a step has used it.
    measured: Option<Bytes>,
    /// The rate measured; zero before it is.
    rate: Rate,
}

/// Where the rate comes from.
#[derive(Clone, Copy, Debug)]
enum Method {
    LeastSquares(PacketPair),
    SecondAndThirdAck { acks: u8, second: Instant },
}

impl Listed for Hoe {
    const CARD: Card = Card::new(
        "hoe",
        "slow start to an ssthresh measured on the first ACKs",
        "Hoe, SIGCOMM 1996",
    )
    .with("newreno")
    .about(
        "The spacing of the first closely spaced ACKs, once.",
        "ACKs that answer one burst come at the bottleneck's rate, and that rate times the RTT is \
         the window to stop at.",
        "One measurement decides for the whole connection: other traffic, jitter, delayed ACKs or \
         a paced first window make it wrong.",
    )
    .in_kernel("hoe")
    .knobs(Self::KNOBS);
}

impl Observer for Hoe {
    fn on_handshake(&mut self, _view: &View) {
        if let Method::SecondAndThirdAck { acks, .. } = &mut self.method {
            *acks = 1;
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.rate == Rate(0) {
            self.measure(ack, view);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("pair_rate", self.rate.0);
    }
}

impl Hoe {
    /// Measures with an ACK while the rate is not known. Not inlined, so that later ACKs do not pay
    /// for its registers.
    #[inline(never)]
    fn measure(&mut self, ack: &Ack, view: &View) {
        let rate = match &mut self.method {
            Method::LeastSquares(pair) => {
                pair.on_ack(ack, view);
                pair.rate()
            }
            Method::SecondAndThirdAck { acks, second } => spacing(acks, second, ack, view.mss),
        };
        if let Some(rate) = rate {
            self.rate = rate.max(Rate(1));
            // Section 3: the BDP by the RTT of the first segment, in whole segments.
            let rtt = view.rtt.first.in_ticks(self.tick);
            let window = self.rate.over(rtt).whole_segments(view.mss);
            self.measured = Some(window.max(view.mss * 2));
        }
    }
}

impl Startup for Hoe {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Some(measured) = self.measured.take() else { return double(ack, view) };
        // Section 3: ssthresh is set once. ns-2.35's option only lowers it.
        let mut view = *view;
        view.window.ssthresh = match self.method {
            Method::LeastSquares(_) => measured,
            Method::SecondAndThirdAck { .. } => measured.min(view.window.ssthresh),
        };
        double(ack, &view)
    }
}

impl Default for Hoe {
    fn default() -> Self {
        let method = Method::LeastSquares(PacketPair::new(QUARTER));
        Self { opening: Opening::default(), method, tick: Span(0), measured: None, rate: Rate(0) }
    }
}

impl Knobs for Hoe {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("preset")
            .means("paper: least squares over three close ACKs; ns2: ACKs 2 and 3, only lowers")
            .word(Words {
                all: &["paper", "ns2"],
                get: |p| {
                    Some(match p.method {
                        Method::LeastSquares(_) => "paper",
                        Method::SecondAndThirdAck { .. } => "ns2",
                    })
                },
                set: |p, word| {
                    p.method = match word {
                        "ns2" => Method::SecondAndThirdAck { acks: 0, second: Instant(0) },
                        _ => Method::LeastSquares(PacketPair::new(QUARTER)),
                    };
                },
            }),
        opening(|p| &mut p.opening),
        Knob::new("span")
            .means("fraction of the smallest RTT within which three ACKs are closely spaced")
            .by_default("0.25 (paper)")
            .of_kind(KnobKind::Ratio(1, RATIO_ONE))
            .derived(
                |p| match &p.method {
                    Method::LeastSquares(pair) => Some(KnobValue::Ratio(pair.span())),
                    Method::SecondAndThirdAck { .. } => None,
                },
                |p, value| {
                    if let KnobValue::Ratio(span) = value {
                        p.method = Method::LeastSquares(PacketPair::new(span));
                    }
                },
            ),
        Knob::new("tick")
            .means(
                "clock in whose whole ticks the RTT is known, 10ms in ns-2's TCP; 0s for exactly",
            )
            .time(Span(0)..=LONGEST_TICK, |p| &mut p.tick),
    ];
}

const LONGEST_TICK: Span = Span::from_secs(1);

/// Counts an ACK; on the third, one segment per spacing from the second.
fn spacing(acks: &mut u8, second: &mut Instant, ack: &Ack, mss: Bytes) -> Option<Rate> {
    if *acks >= 3 {
        return None;
    }
    // ns-2.35's NewReno agent (`tcp-newreno.cc`): the handshake's ACK is the first of three.
    *acks += 1;
    if *acks == 2 {
        *second = ack.now;
    }
    let gap = ack.now.since(*second);
    (*acks == 3 && gap > Span(0)).then(|| mss.per(gap))
}
