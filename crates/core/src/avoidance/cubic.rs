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
//! This file has what the three share: when the curve begins, what a cut leaves and where the curve
//! turns after it. How an ACK lets the window grow stands in a file for each source: `rfc9438.rs`,
//! `linux.rs`, `version21.rs`.
//!
//! Integers ([`crate::curve`]). With `rfc9438` and `linux` an ACK counts for what it acknowledges,
//! so that delayed ACKs do not slow the curve down; with `ns2` every ACK counts once, as in its
//! source. A departure of `linux`: time is not rounded to the ticks of its clock.

mod decrease;
mod linux;
mod rfc9438;
mod version21;

use crate::card::{Card, Listed};
use crate::curve::{C, Curve, FRACTION};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobOf, KnobValue, Knobs, RATIO_ONE, Words, words};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Instant, Span};
use crate::view::{View, Window};

use decrease::STARTUP_BETA;
pub(super) use decrease::{BETA, Decrease, FAST_CONVERGENCE, Stage, turn};

/// Growth along a cubic curve, and a cut to `beta`.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    form: Form,
    source: Source,
    stage: Stage,
    epoch: Epoch,
    /// The source rested, and slow start leads back to the curve (Linux's `cubictcp_cwnd_event`).
    rested: bool,
}

/// Numbers that a preset or a knob decides.
#[derive(Clone, Copy, Debug)]
struct Form {
    decrease: Decrease,
    /// `C`: segments per cubic second, in millionths.
    c: u64,
    /// The window is at least Reno's (RFC 9438 section 4.3).
    friendly: bool,
    /// Segments per 100 ms beyond `W_max`; 0 for no limit.
    max_increment: u64,
}

/// Which CUBIC it is, with the state that only its growth has.
#[derive(Clone, Copy, Debug)]
enum Source {
    Rfc9438(rfc9438::Growth),
    Linux(linux::Growth),
    Version21(version21::Growth),
}

/// The variables of a congestion-avoidance stage (RFC 9438 section 4.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    /// `W_max`: the window that the curve is flat around, after a cut.
    w_max: Bytes,
    /// `cwnd_prior`: the window before the last cut.
    cwnd_prior: Bytes,
    /// `W_cubic`.
    curve: Curve,
    /// `t_epoch`: since when the curve runs.
    t_epoch: Instant,
    /// The last step, or the end of a rest since.
    last: Instant,
    /// `W_est`: the Reno estimate, in 2^-16 bytes.
    w_est: u64,
}

impl Cubic {
    fn of(form: Form, source: Source) -> Self {
        let (stage, epoch) = (Stage::Unknown, Epoch::default());
        Self { form, source, stage, epoch, rested: false }
    }

    /// Starts the curve from the window as it is: after a cut around `W_max` (RFC 9438 section
    /// 4.2), otherwise flat, `K` being 0 (sections 4.8 and 4.10).
    fn begin(&mut self, view: &View) {
        let (cwnd, cut) = (view.window.cwnd, self.stage == Stage::Cut);
        let origin = if cut { self.epoch.w_max.max(cwnd) } else { cwnd };
        if !cut {
            self.epoch.cwnd_prior = cwnd;
        }
        self.epoch.curve = Curve::new(cwnd, origin, self.form.c, view.mss);
        self.stage = Stage::Running;
        (self.epoch.t_epoch, self.epoch.last) = (view.now, view.now);
        // Section 4.3: W_est begins as cwnd_epoch.
        self.epoch.w_est = cwnd.0.saturating_mul(1 << FRACTION);
        match &mut self.source {
            Source::Rfc9438(growth) => growth.begin(),
            Source::Linux(growth) => growth.begin(cut),
            Source::Version21(growth) => growth.begin(cwnd.0 / view.mss.0.max(1), cut),
        }
    }

    /// Forgets the window of the last loss.
    pub(crate) fn forget(&mut self) {
        (self.stage, self.epoch.w_max) = (Stage::Unknown, Bytes(0));
    }

    /// `beta` and `C`, in millionths.
    pub(crate) fn constants(&self) -> (u64, u64) {
        (self.form.decrease.beta, self.form.c)
    }

    /// `bytes` as the source counts a window at a loss: Linux's windows are whole packets.
    fn counted(&self, bytes: Bytes, mss: Bytes) -> Bytes {
        match self.source {
            Source::Rfc9438(_) => bytes,
            Source::Linux(_) | Source::Version21(_) => bytes - Bytes(bytes.0 % mss.0.max(1)),
        }
    }
}

impl Listed for Cubic {
    const CARD: Card =
        Card::new("cubic", "a cubic curve of time around the window of the last loss", "RFC 9438")
            .in_kernel("cubic")
            .knobs(Self::KNOBS);
}

impl Observer for Cubic {
    /// RFC 9438 section 5.8: time in which the source limits does not count; up to the last ACK it
    /// has been left out if that was application-limited, and counts if not. Linux leaves out rests
    /// from the last packet on (`cubictcp_cwnd_event`), CUBIC 2.1 nothing.
    fn on_rest(&mut self, idle: Span, view: &View) {
        self.rested = self.stage == Stage::Running;
        let epoch = &mut self.epoch;
        let left_out = match self.source {
            Source::Rfc9438(_) => idle.min(view.now.since(epoch.last)),
            Source::Linux(_) => idle,
            Source::Version21(_) => Span(0),
        };
        epoch.t_epoch = (epoch.t_epoch + left_out).min(view.now);
        epoch.last = view.now;
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("cubic_w_max", self.epoch.w_max.0);
        report("cubic_w_est", self.epoch.w_est >> FRACTION);
    }
}

impl Avoidance for Cubic {
    fn enter(&mut self, found: &Found, view: &View) {
        if let Some(peak) = turn(found, self.stage == Stage::Cut, view) {
            self.stage = Stage::Cut;
            (self.epoch.w_max, self.epoch.cwnd_prior) = (peak, peak);
        }
        if self.stage != Stage::Cut && !core::mem::take(&mut self.rested) {
            self.stage = Stage::Unknown;
        }
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        // CUBIC 2.1 is still in slow start at ssthresh (`snd_cwnd <= snd_ssthresh`).
        let starts = window.cwnd == window.ssthresh && matches!(self.source, Source::Version21(_));
        if window.cwnd < window.ssthresh || starts {
            return window.grow(view.slow_start_growth(ack));
        }
        if self.stage != Stage::Running {
            self.begin(view);
        }
        let Self { form, epoch, .. } = self;
        if ack.app_limited {
            // RFC 9438 section 5.8.
            if let Source::Rfc9438(_) = self.source {
                epoch.t_epoch = epoch.t_epoch + view.now.since(epoch.last);
            }
            epoch.last = view.now;
            return window.hold();
        }
        epoch.last = view.now;
        let t = view.now.since(epoch.t_epoch);
        let acked = ack.acked.min(window.cwnd);
        window.grow(match &mut self.source {
            Source::Rfc9438(growth) => growth.on_ack(acked, t, form, epoch, view),
            Source::Linux(growth) => growth.on_ack(acked, t, form, epoch, view),
            Source::Version21(growth) => growth.on_ack(ack.acked, t, form, epoch, view),
        })
    }

    fn beta(&self) -> u64 {
        self.form.decrease.beta
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // RFC 9438 sections 4.6 to 4.8; `bictcp_recalc_ssthresh()` counts whole packets.
        let counted = |bytes| self.counted(bytes, view.mss);
        let cwnd = counted(view.window.cwnd);
        let loss = Loss { flight: counted(loss.flight), ..*loss };
        // The mechanism makes ssthresh whole segments.
        let ssthresh = self.form.decrease.ssthresh(&loss, view);
        let left = Window { cwnd: counted(ssthresh), ssthresh };
        if loss.kind == LossKind::Timeout {
            self.forget();
        } else {
            self.stage = Stage::Cut;
            self.epoch.w_max = self.form.decrease.w_max(cwnd, self.epoch.w_max);
        }
        self.epoch.cwnd_prior = cwnd;
        match &mut self.source {
            Source::Rfc9438(_) => {}
            Source::Linux(growth) => growth.cut(loss.kind, view.mss),
            Source::Version21(growth) => growth.cut(loss.kind),
        }
        left
    }
}

impl Source {
    const RFC9438: Self = Self::Rfc9438(rfc9438::Growth::NEW);
    const LINUX: Self = Self::Linux(linux::Growth::NEW);
    const VERSION21: Self = Self::Version21(version21::Growth::NEW);
}

impl Default for Cubic {
    fn default() -> Self {
        Self::of(rfc9438::FORM, Source::RFC9438)
    }
}

impl Knobs for Cubic {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("preset")
            .means("the RFC, CUBIC 2.1 of Linux 2.6.22 and ns-2.35, or CUBIC of Linux 6.1")
            .word(Words {
                all: &["rfc9438", "ns2", "linux"],
                get: |p| {
                    Some(match p.source {
                        Source::Rfc9438(_) => "rfc9438",
                        Source::Linux(_) => "linux",
                        Source::Version21(_) => "ns2",
                    })
                },
                set: |p, word| {
                    *p = match word {
                        "ns2" => Self::of(version21::FORM, Source::VERSION21),
                        "linux" => Self::of(linux::FORM, Source::LINUX),
                        _ => Self::default(),
                    };
                },
            }),
        BETA.by_default("0.7 (rfc9438), 819/1024 (ns2), 717/1024 (linux)")
            .number(|p| &mut p.form.decrease.beta),
        STARTUP_BETA.derived(
            |p| Some(KnobValue::Ratio(p.form.decrease.startup_beta())),
            |p, value| {
                if let KnobValue::Ratio(beta) = value {
                    p.form.decrease.startup_beta = Some(beta);
                }
            },
        ),
        C.by_default("0.4 (rfc9438), 410/1024 (ns2, linux)").number(|p| &mut p.form.c),
        FAST_CONVERGENCE
            .word(words!(|p| p.form.decrease.fast_convergence, ["on" = true, "off" = false])),
        Knob::new("friendly")
            .means("never slower than Reno would be")
            .word(words!(|p| p.form.friendly, ["on" = true, "off" = false])),
        Knob::new("max_increment")
            .means("most segments per 100 ms beyond the last loss's window; only with preset ns2")
            .by_default("0, no limit (rfc9438, linux), 16 (ns2)")
            .count(0..=1_000_000, |p| &mut p.form.max_increment),
    ];
}

/// The smallest RTT; zero without a sample.
fn smallest_rtt(view: &View) -> Span {
    if view.rtt.min == Span::MAX { Span(0) } else { view.rtt.min }
}

/// For how many eighths of a window of packets Linux's Reno estimate grows by one (`beta_scale`):
/// 15 with its own beta.
fn linux_reno_eighths(beta: u64) -> u64 {
    (8 * (RATIO_ONE + beta) / (3 * (RATIO_ONE - beta))).max(1)
}

#[cfg(test)]
mod tests;
