//! CUBIC (RFC 9438): the window follows a cubic curve of the time since the last cut.
//!
//! What it believes: the window at the last loss, `W_max`, is about what the path holds. What it
//! does: after a cut to `beta` of the window it grows along `W(t) = C (t - K)^3 + W_max`, quickly
//! at first, flat around `W_max`, quickly again beyond it; `K = cbrt((W_max - cwnd) / C)` is when
//! the curve is back at `W_max`. Each ACK moves cwnd toward the curve one RTT ahead, by at most
//! half a window per RTT. Where Reno with the same average would be ahead, cwnd is that Reno's
//! estimate `W_est`, which grows by `alpha = 3 (1 - beta) / (1 + beta)` segments per RTT, and by
//! one once it has passed the window before the cut. A loss below the last `W_max` lowers it
//! further, to `(1 + beta) / 2` of the window: fast convergence, which makes room for others.
//! Without a loss to go by, after a timeout or a start-up that ended on its own, the curve starts
//! flat from the window as it is (sections 4.8 and 4.10), unless start-up hands over a larger
//! window that has room, or a pipe that it measured and did not fill: then the curve turns there.
//!
//! Preset `ns2` is CUBIC 2.1, of Linux 2.6.22 and of ns-2.35's TCP/Linux, which the M-Start paper
//! ran: beta 819/1024, C 410/1024, at most 16 segments per 100 ms beyond `W_max`, one segment per
//! 50 ACKs where there is no loss to go by, the curve looked up one smallest RTT ahead, at most one
//! segment per ACK. It multiplies growth by its estimate of segments per ACK, which starts at two
//! and, kept in sixteenths and rounded, stays at 31/16 when every segment is acknowledged; so it
//! grows about twice as fast as meant. It has no `HyStart`. Its Reno estimate never changes its
//! slope.
//!
//! Preset `linux` is `tcp_cubic.c` of Linux 6.1 (`bictcp_update`): until a first loss, and after a
//! timeout, the window grows by at least a twentieth per RTT. Beta is 717/1024 and C 410/1024, the
//! curve is looked up one smallest RTT ahead, and the Reno estimate grows by 8/15 segments per RTT
//! for good. It counts whole packets: what is left of less than one below the curve's flat part
//! counts as none, so that small windows are back at `W_max` within a round trip or two. The ACK
//! that ends a recovery counts for the packet that it is the first to tell of, with the next ACK.
//!
//! Integers ([`crate::curve`]). The growth of an ACK is by what it acknowledges, not per ACK, so
//! that delayed ACKs do not slow the curve down, as in Linux. Departures of `ns2` from its source:
//! the increments are not rounded to one segment per whole number of ACKs, the Reno estimate takes
//! effect at once instead of over one window, and its slope is not rounded (0.334 segments per RTT,
//! 0.348 there). Of `linux`: time is not rounded to the ticks of its clock.

use crate::card::{Card, Listed};
use crate::curve::{Curve, FRACTION};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobKind, KnobValue, Knobs, RATIO_ONE, switch};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Instant, Span, mul_div};
use crate::view::{Phase, View, Window};

/// Growth along a cubic curve, and a cut to `beta`.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    form: Form,
    stage: Stage,
    /// The window that the curve is flat around, after a cut.
    w_max: Bytes,
    /// The window before the last cut.
    prior: Bytes,
    curve: Curve,
    /// Since when the curve runs.
    start: Instant,
    /// The last step.
    last: Instant,
    /// The Reno estimate, in 2^-16 bytes.
    estimate: u64,
    /// Remainder of the division that shares growth out over ACKs.
    remainder: u64,
    /// What CUBIC 2.1 has instead of the two before.
    counters: Counters,
    /// The source rested, and slow start leads back to the curve (Linux's `cubictcp_cwnd_event`).
    rested: bool,
}

/// What a preset or a knob decides.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Millionths.
    beta: u64,
    /// What a loss during start-up leaves, in millionths; as any other loss if unset.
    startup_beta: Option<u64>,
    /// Segments per cubic second, in millionths.
    c: u64,
    fast_convergence: bool,
    friendly: bool,
    /// Segments per 100 ms beyond `W_max`; 0 for no limit.
    max_increment: u64,
    era: Era,
}

/// What is not worth a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Rfc9438,
    Linux,
    Version21,
}

/// Where the curve comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No loss to go by since the connection began or timed out.
    Unknown,
    /// The window was cut; the curve begins with the next step.
    Cut,
    /// The curve runs, from a cut or not.
    Running { cut: bool },
}

impl Cubic {
    /// Starts the curve from the window as it is.
    fn begin(&mut self, view: &View) {
        let (cwnd, cut) = (view.window.cwnd, self.stage == Stage::Cut);
        let origin = if cut { self.w_max.max(cwnd) } else { cwnd };
        if !cut {
            self.prior = cwnd;
        }
        self.curve = Curve::new(cwnd, origin, self.form.c, view.mss);
        self.stage = Stage::Running { cut };
        self.start = view.now;
        self.last = view.now;
        self.estimate = cwnd.0.saturating_mul(1 << FRACTION);
        self.counters.begin((cwnd.0 / view.mss.0.max(1)).max(1));
        if !cut || self.form.era != Era::Linux {
            self.remainder = 0;
        }
    }

    /// Forgets the window of the last loss.
    pub(crate) fn forget(&mut self) {
        (self.stage, self.w_max) = (Stage::Unknown, Bytes(0));
    }

    /// `beta` and `C`, in millionths.
    pub(crate) fn constants(&self) -> (u64, u64) {
        (self.form.beta, self.form.c)
    }

    /// What cwnd is moved toward within a window of ACKs.
    fn target(&self, t: Span, view: &View) -> Bytes {
        let cwnd = view.window.cwnd;
        self.curve.at(t + view.rtt.smoothed).clamp(cwnd, cwnd + cwnd / 2)
    }

    /// What Linux adds for an ACK: a packet for every `cnt` acknowledged.
    fn linux_growth(&mut self, acked: Bytes, t: Span, view: &View) -> Bytes {
        let packets = |bytes: Bytes| bytes.0 / view.mss.0.max(1);
        let cwnd = packets(view.window.cwnd).max(1);
        // Its Reno estimate: a packet more for 15/8 of a window of them.
        let of_reno = (cwnd.saturating_mul(linux_reno_eighths(self.form.beta)) / 8).max(1);
        let more = acked.0.saturating_mul(1 << FRACTION) / of_reno;
        self.estimate = self.estimate.saturating_add(more);
        let (origin, at) = (self.curve.origin, self.curve.at(t + smallest_rtt(view)));
        let target = packets(origin).saturating_add(packets(at - origin));
        let target = target.saturating_sub(packets(origin - at));
        let estimate = if self.form.friendly { self.estimate >> FRACTION } else { 0 };
        let missing = target.max(packets(Bytes(estimate))).saturating_sub(cwnd);
        let count = cwnd.checked_div(missing).unwrap_or(cwnd.saturating_mul(100));
        let most = if self.w_max == Bytes(0) { BLIND_COUNT } else { u64::MAX };
        let count = count.min(most).max(2);
        let product = acked.0.saturating_add(self.remainder);
        self.remainder = product % count;
        Bytes(product / count)
    }

    /// The Reno estimate after an ACK for `acked`.
    fn reno(&mut self, acked: Bytes, view: &View) -> Bytes {
        let beta = self.form.beta;
        let passed = self.estimate >> FRACTION >= self.prior.0;
        let alpha = match passed {
            true => 1 << FRACTION,
            false => ((3 * (RATIO_ONE - beta)) << FRACTION) / (RATIO_ONE + beta),
        };
        let share = mul_div(acked.0, view.mss.0, 1).saturating_mul(alpha);
        self.estimate = self.estimate.saturating_add(share / view.window.cwnd.0.max(1));
        Bytes(self.estimate >> FRACTION)
    }
}

impl Listed for Cubic {
    const CARD: Card =
        Card::new("cubic", "a cubic curve of time around the window of the last loss", "RFC 9438")
            .in_kernel("cubic")
            .knobs(Self::KNOBS);
}

impl Observer for Cubic {
    /// RFC 9438 section 5.8: time in which the source limits does not count.
    fn on_rest(&mut self, idle: Span, view: &View) {
        self.rested = matches!(self.stage, Stage::Running { .. });
        self.start = (self.start + idle).min(view.now);
        self.last = view.now;
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("cubic_w_max", self.w_max.0);
        report("cubic_w_est", self.estimate >> FRACTION);
    }
}

impl Avoidance for Cubic {
    /// A window that start-up believes the path has room for is where the curve turns, as that of
    /// a loss is (draft-kazuho-ccwg-rapid-start-02 section 2.3.3). So is a measured pipe that the
    /// window does not fill: no source says so, but the RFC's flat start from a window below it
    /// would take the time of a loss that never was.
    fn enter(&mut self, found: &Found, view: &View) {
        let pipe = found.pipe.filter(|pipe| *pipe > view.window.cwnd && self.stage != Stage::Cut);
        if let Some(peak) = found.peak.or(pipe) {
            (self.stage, self.w_max, self.prior) = (Stage::Cut, peak, peak);
        }
        if self.stage != Stage::Cut && !core::mem::take(&mut self.rested) {
            self.stage = Stage::Unknown;
        }
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        // CUBIC 2.1 is still in slow start at ssthresh.
        let starts = self.form.era == Era::Version21 && window.cwnd == window.ssthresh;
        if window.cwnd < window.ssthresh || starts {
            return window.grow(ack.acked.min(view.mss));
        }
        if !matches!(self.stage, Stage::Running { .. }) {
            self.begin(view);
        }
        if ack.app_limited {
            // RFC 9438 section 5.8: time in which the source limits does not count.
            self.start = self.start + view.now.since(self.last);
            self.last = view.now;
            return window.hold();
        }
        self.last = view.now;
        let t = view.now.since(self.start);
        let acked = ack.acked.min(window.cwnd);
        if self.form.era == Era::Linux {
            return window.grow(self.linux_growth(acked, t, view));
        }
        if self.form.era == Era::Version21 {
            return window.grow(self.growth_21(ack, t, view));
        }
        let estimate = self.reno(acked, view);
        let ahead = if self.form.friendly { estimate - window.cwnd } else { Bytes(0) };
        if self.form.friendly && self.curve.at(t) < estimate {
            return window.grow(ahead);
        }
        let missing = self.target(t, view) - window.cwnd;
        let product = mul_div(acked.0, missing.0, 1).saturating_add(self.remainder);
        let increase = product / window.cwnd.0.max(1);
        self.remainder = product - increase * window.cwnd.0;
        window.grow(Bytes(increase).max(ahead))
    }

    fn beta(&self) -> u64 {
        self.form.beta
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // Linux's windows are whole packets.
        let part = if self.form.era == Era::Rfc9438 { 1 } else { view.mss.0.max(1) };
        let whole = |bytes: Bytes| bytes - Bytes(bytes.0 % part);
        let cwnd = whole(view.window.cwnd);
        let timeout = loss.kind == LossKind::Timeout;
        // A segment that times out twice is not a second sign of congestion (RFC 5681 section 3.1).
        let cut = if timeout && loss.answered {
            view.window.ssthresh
        } else {
            let beta = match view.phase {
                Phase::Startup => self.form.startup_beta(),
                Phase::Avoidance => self.form.beta,
            };
            whole(whole(loss.flight).scaled(beta, RATIO_ONE))
        };
        if timeout {
            self.stage = Stage::Unknown;
            self.w_max = Bytes(0);
        } else {
            let falls = self.form.fast_convergence && cwnd < self.w_max;
            let both = RATIO_ONE + self.form.beta;
            self.w_max = if falls { cwnd.scaled(both, 2 * RATIO_ONE) } else { cwnd };
            self.stage = Stage::Cut;
            self.remainder = if loss.kind == LossKind::Recovery { view.mss.0 } else { 0 };
        }
        self.prior = cwnd;
        self.counters.cut(timeout);
        Window { cwnd: cut, ssthresh: cut }
    }
}

impl Form {
    const RFC9438: Self = Self {
        beta: 700_000,
        startup_beta: None,
        c: 400_000,
        fast_convergence: true,
        friendly: true,
        max_increment: 0,
        era: Era::Rfc9438,
    };

    const LINUX: Self = Self {
        beta: 717 * RATIO_ONE / 1024,
        c: 410 * RATIO_ONE / 1024,
        era: Era::Linux,
        ..Self::RFC9438
    };

    const VERSION_21: Self = Self {
        beta: 819 * RATIO_ONE / 1024,
        startup_beta: None,
        c: 410 * RATIO_ONE / 1024,
        fast_convergence: true,
        friendly: true,
        max_increment: 16,
        era: Era::Version21,
    };

    fn startup_beta(&self) -> u64 {
        self.startup_beta.unwrap_or(self.beta)
    }
}

impl Default for Cubic {
    fn default() -> Self {
        Self {
            form: Form::RFC9438,
            stage: Stage::Unknown,
            w_max: Bytes(0),
            prior: Bytes(0),
            curve: Curve::default(),
            start: Instant(0),
            last: Instant(0),
            estimate: 0,
            remainder: 0,
            counters: Counters::NEW,
            rested: false,
        }
    }
}

impl Knobs for Cubic {
    const KNOBS: &'static [Knob] = &[
        Knob {
            name: "preset",
            kind: KnobKind::Word(&["rfc9438", "ns2", "linux"]),
            default: "rfc9438",
            doc: "the RFC, CUBIC 2.1 of Linux 2.6.22 and ns-2.35, or CUBIC of Linux 6.1",
        },
        Knob {
            name: "beta",
            kind: KnobKind::Ratio(RATIO_ONE / 10, 950_000),
            default: "0.7 (rfc9438), 819/1024 (ns2), 717/1024 (linux)",
            doc: "what a loss leaves of the window",
        },
        Knob {
            name: "startup_beta",
            kind: KnobKind::Ratio(RATIO_ONE / 10, 950_000),
            default: "beta",
            doc: "what a loss during start-up leaves of the window; neqo has 0.5",
        },
        Knob {
            name: "c",
            kind: KnobKind::Ratio(RATIO_ONE / 1_000, 100 * RATIO_ONE),
            default: "0.4 (rfc9438), 410/1024 (ns2, linux)",
            doc: "steepness of the curve, segments per cubic second",
        },
        Knob {
            name: "fast_convergence",
            kind: KnobKind::Word(&["on", "off"]),
            default: "on",
            doc: "a loss below the last one's window makes room for others",
        },
        Knob {
            name: "friendly",
            kind: KnobKind::Word(&["on", "off"]),
            default: "on",
            doc: "never slower than Reno would be",
        },
        Knob {
            name: "max_increment",
            kind: KnobKind::Count(0, 1_000_000),
            default: "0, no limit (rfc9438, linux), 16 (ns2)",
            doc: "most segments per 100 ms beyond the last loss's window; only with preset ns2",
        },
    ];

    fn set(&mut self, name: &str, value: KnobValue) -> bool {
        let form = &mut self.form;
        match (name, value) {
            ("preset", KnobValue::Word("rfc9438")) => *form = Form::RFC9438,
            ("preset", KnobValue::Word("ns2")) => *form = Form::VERSION_21,
            ("preset", KnobValue::Word("linux")) => *form = Form::LINUX,
            ("beta", KnobValue::Ratio(beta)) => form.beta = beta.clamp(100_000, 950_000),
            ("startup_beta", KnobValue::Ratio(beta)) => {
                form.startup_beta = Some(beta.clamp(100_000, 950_000));
            }
            ("c", KnobValue::Ratio(c)) => form.c = c.clamp(1_000, 100 * RATIO_ONE),
            ("fast_convergence", KnobValue::Word(word)) => form.fast_convergence = word == "on",
            ("friendly", KnobValue::Word(word)) => form.friendly = word == "on",
            ("max_increment", KnobValue::Count(count)) => form.max_increment = count,
            _ => return false,
        }
        true
    }

    fn value(&self, name: &str) -> Option<KnobValue> {
        let form = &self.form;
        Some(match name {
            "preset" => KnobValue::Word(match form.era {
                Era::Rfc9438 => "rfc9438",
                Era::Linux => "linux",
                Era::Version21 => "ns2",
            }),
            "beta" => KnobValue::Ratio(form.beta),
            "startup_beta" => KnobValue::Ratio(form.startup_beta()),
            "c" => KnobValue::Ratio(form.c),
            "fast_convergence" => switch(form.fast_convergence),
            "friendly" => switch(form.friendly),
            "max_increment" => KnobValue::Count(form.max_increment),
            _ => return None,
        })
    }
}

/// Linux without a loss to go by: `cnt` at most.
const BLIND_COUNT: u64 = 20;

/// Zero without a sample.
fn smallest_rtt(view: &View) -> Span {
    if view.rtt.min == Span::MAX { Span(0) } else { view.rtt.min }
}

/// For how many eighths of a window of packets Linux's Reno estimate grows by one (`beta_scale`):
/// 15 with its own beta.
fn linux_reno_eighths(beta: u64) -> u64 {
    (8 * (RATIO_ONE + beta) / (3 * (RATIO_ONE - beta))).max(1)
}

mod version21;

use version21::Counters;

#[cfg(test)]
mod tests;
