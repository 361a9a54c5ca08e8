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
//! for good; each ACK takes its share of the way to it, as to the curve.
//!
//! Integers ([`crate::curve`]). The growth of an ACK is by what it acknowledges, not per ACK, so
//! that delayed ACKs do not slow the curve down, as in Linux. Departures of `ns2` from its source:
//! the increments are not rounded to one segment per whole number of ACKs, the Reno estimate takes
//! effect at once instead of over one window, and its slope is not rounded (0.334 segments per RTT,
//! 0.348 there). Of `linux`: windows and increments are not rounded to whole packets and ACKs, and
//! time not to the ticks of its clock.

use crate::card::{Card, Listed};
use crate::curve::{Curve, FRACTION};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobKind, KnobValue, Knobs, RATIO_ONE, switch};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Instant, Span, mul_div};
use crate::view::{View, Window};

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
    /// Of the division that shares growth out over ACKs.
    remainder: u64,
    /// The source rested, and slow start leads back to the curve (Linux's `cubictcp_cwnd_event`).
    rested: bool,
}

/// What a preset or a knob decides.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Millionths.
    beta: u64,
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
        self.remainder = 0;
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
        let (cwnd, form) = (view.window.cwnd, &self.form);
        if form.era == Era::Rfc9438 {
            return self.curve.at(t + view.rtt.smoothed).clamp(cwnd, cwnd + cwnd / 2);
        }
        let rtt = if view.rtt.min == Span::MAX { Span(0) } else { view.rtt.min };
        if form.era == Era::Linux {
            let estimate = if form.friendly { self.estimate >> FRACTION } else { 0 };
            let blind = if self.w_max == Bytes(0) { cwnd + cwnd / BLIND_SHARE } else { cwnd };
            let least = blind.max(Bytes(estimate));
            return self.curve.at(t + rtt).max(least).min(cwnd + cwnd / 2);
        }
        if self.stage == (Stage::Running { cut: false }) {
            return cwnd + cwnd / BLIND_ACKS;
        }
        let mut missing = self.curve.at(t + rtt) - cwnd;
        if form.max_increment > 0 && self.curve.is_convex(t + rtt) {
            let most = (view.mss * form.max_increment).scaled(rtt.0, Span::from_millis(100).0);
            missing = missing.min(most);
        }
        cwnd + missing.scaled(SEGMENTS_PER_ACK.0, SEGMENTS_PER_ACK.1).min(cwnd)
    }

    /// The Reno estimate after an ACK for `acked`.
    fn reno(&mut self, acked: Bytes, view: &View) -> Bytes {
        let beta = self.form.beta;
        let passed = self.estimate >> FRACTION >= self.prior.0;
        let alpha = match self.form.era {
            Era::Rfc9438 if passed => 1 << FRACTION,
            Era::Linux => (8 << FRACTION) / linux_reno_acks(beta),
            _ => ((3 * (RATIO_ONE - beta)) << FRACTION) / (RATIO_ONE + beta),
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
        if window.cwnd < window.ssthresh {
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
        let estimate = self.reno(acked, view);
        let at_once = self.form.friendly && self.form.era != Era::Linux;
        let ahead = if at_once { estimate - window.cwnd } else { Bytes(0) };
        if at_once && self.form.era == Era::Rfc9438 && self.curve.at(t) < estimate {
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
        let cwnd = view.window.cwnd;
        let timeout = loss.kind == LossKind::Timeout;
        // A segment that times out twice is not a second sign of congestion (RFC 5681 section 3.1).
        let cut = if timeout && loss.again {
            view.window.ssthresh
        } else {
            loss.flight.scaled(self.form.beta, RATIO_ONE)
        };
        if timeout {
            self.stage = Stage::Unknown;
            self.w_max = Bytes(0);
        } else {
            let falls = self.form.fast_convergence && cwnd < self.w_max;
            let both = RATIO_ONE + self.form.beta;
            self.w_max = if falls { cwnd.scaled(both, 2 * RATIO_ONE) } else { cwnd };
            self.stage = Stage::Cut;
        }
        self.prior = cwnd;
        Window { cwnd: cut, ssthresh: cut }
    }
}

impl Form {
    const RFC9438: Self = Self {
        beta: 700_000,
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
        c: 410 * RATIO_ONE / 1024,
        fast_convergence: true,
        friendly: true,
        max_increment: 16,
        era: Era::Version21,
    };
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
            "c" => KnobValue::Ratio(form.c),
            "fast_convergence" => switch(form.fast_convergence),
            "friendly" => switch(form.friendly),
            "max_increment" => KnobValue::Count(form.max_increment),
            _ => return None,
        })
    }
}

/// What CUBIC 2.1 takes an ACK to stand for when it stands for one segment.
const SEGMENTS_PER_ACK: (u64, u64) = (31, 16);

/// CUBIC 2.1 without a loss to go by: 50 ACKs, over 31/16 and rounded down, and one to start
/// counting.
const BLIND_ACKS: u64 = 26;

/// Linux without a loss to go by: an ACK of twenty, `cnt` at most.
const BLIND_SHARE: u64 = 20;

/// For how many eighths of a window of ACKs Linux's Reno estimate grows by one segment
/// (`beta_scale`): 15 with its own beta.
fn linux_reno_acks(beta: u64) -> u64 {
    (8 * (RATIO_ONE + beta) / (3 * (RATIO_ONE - beta))).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, MSS};
    use crate::view::Phase;

    fn view(cwnd: u64, ssthresh: u64, now_ms: u64) -> View {
        let now = Instant(now_ms * 1_000_000);
        View { now, phase: Phase::Avoidance, ..testing::view(cwnd, MSS * ssthresh) }
    }

    fn loss(kind: LossKind, flight: u64) -> Loss {
        Loss::of(Instant(0), kind, MSS, MSS * flight)
    }

    fn ack() -> Ack {
        Ack { acked: MSS, credited: MSS, ..Ack::default() }
    }

    #[test]
    fn a_loss_leaves_beta_and_a_second_below_it_makes_room() {
        let mut cubic = Cubic::default();
        let cut = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        assert_eq!((cut.cwnd, cut.ssthresh), (Bytes(70_000), Bytes(70_000)));
        assert_eq!(cubic.w_max, Bytes(100_000));
        // 80 < 100: W_max = 80 * 1.7 / 2 = 68.
        let _ = cubic.cut(&loss(LossKind::Recovery, 80), &view(80, 70, 0));
        assert_eq!(cubic.w_max, Bytes(68_000));
        assert!(cubic.set("fast_convergence", KnobValue::Word("off")));
        let _ = cubic.cut(&loss(LossKind::Recovery, 60), &view(60, 56, 0));
        assert_eq!(cubic.w_max, Bytes(60_000));
    }

    #[test]
    fn an_ack_moves_cwnd_by_its_share_of_the_way_to_the_curve() {
        let mut cubic = Cubic::default();
        let _ = cubic.cut(&loss(LossKind::Recovery, 1_000), &view(1_000, 500, 0));
        // At t = 0 the curve one RTT ahead is 1000 - 0.4 * (9.0856 - 0.1)^3 = 709.797; the ACK's
        // share is 1/700 of 9.797 segments: 13.996 bytes.
        let step = cubic.step(&ack(), &view(700, 700, 0));
        assert_eq!(step.window.cwnd, Bytes(700_013));
        assert_eq!(step.exit, None);
    }

    #[test]
    fn growth_is_at_most_half_a_window_per_rtt() {
        let mut cubic = Cubic::default();
        let _ = cubic.cut(&loss(LossKind::Recovery, 10), &view(10, 5, 0));
        let _ = cubic.step(&ack(), &view(7, 7, 0));
        // 100 s later the curve is far away: 1/7 of half of 7 segments.
        let step = cubic.step(&ack(), &view(7, 7, 100_000));
        assert_eq!(step.window.cwnd, Bytes(7_500));
    }

    /// `bictcp_update`: `cnt` is 20 at most while there is no `last_max_cwnd`, so that 20 segments
    /// acknowledged add one; after a loss Reno's estimate adds 8/15 of one per window, also beyond
    /// the window before the loss.
    #[test]
    fn linux_grows_by_a_twentieth_until_a_loss_and_then_as_reno_at_least() {
        let mut cubic = Cubic::default();
        assert!(cubic.set("preset", KnobValue::Word("linux")));
        assert_eq!(cubic.beta(), 700_195);
        let step = cubic.step(&ack(), &view(100, 50, 0));
        assert_eq!(step.window.cwnd, Bytes(100_050));
        assert!(cubic.set("c", KnobValue::Ratio(1_000)));
        let _ = cubic.cut(&loss(LossKind::Recovery, 10), &view(10, 5, 0));
        let grown = |cubic: &mut Cubic, cwnd: u64| {
            let mut now = view(7, 7, 1);
            now.window.cwnd = Bytes(cwnd);
            cubic.step(&ack(), &now).window.cwnd.0
        };
        let first = (0..7).fold(7_000, |cwnd, _| grown(&mut cubic, cwnd));
        // 8/15 of a segment over a window of 7, less because it has grown meanwhile.
        assert!((7_510..=7_533).contains(&(cubic.estimate >> FRACTION)));
        assert!((7_150..=7_300).contains(&first), "{first}: its share of the way, every ACK");
        (cubic.estimate, cubic.remainder) = (10_500 << FRACTION, 0);
        assert_eq!(grown(&mut cubic, 8_000), 8_000 + 2_566 / 8, "beyond 10 too");
        let _ = cubic.cut(&loss(LossKind::Timeout, 10), &view(10, 5, 0));
        assert_eq!(cubic.step(&ack(), &view(100, 50, 0)).window.cwnd, Bytes(100_050));
    }

    #[test]
    fn small_windows_grow_as_renos_do() {
        let mut cubic = Cubic::default();
        let _ = cubic.cut(&loss(LossKind::Recovery, 10), &view(10, 5, 0));
        // The curve gains 0.4 * 0.1^3 segments in the first RTT; W_est alpha = 9/17 per window.
        let mut window = view(7, 7, 0).window;
        for n in 0..7 {
            let mut now = view(7, 7, n * 14);
            now.window = window;
            window = cubic.step(&ack(), &now).window;
        }
        assert!((7_500..7_530).contains(&window.cwnd.0), "{window:?}");
    }

    #[test]
    fn without_a_loss_to_go_by_the_curve_starts_flat() {
        let mut cubic = Cubic::default();
        let _ = cubic.cut(&loss(LossKind::Timeout, 100), &view(100, 500, 0));
        cubic.enter(&Found::default(), &view(70, 70, 0));
        let _ = cubic.step(&ack(), &view(70, 70, 0));
        assert_eq!((cubic.curve.origin, cubic.curve.k), (Bytes(70_000), 0));
        assert_eq!(cubic.prior, Bytes(70_000));
    }

    #[test]
    fn time_in_which_the_source_limits_does_not_count() {
        let mut cubic = Cubic::default();
        let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        let _ = cubic.step(&ack(), &view(70, 70, 0));
        let limited = Ack { app_limited: true, ..ack() };
        assert_eq!(cubic.step(&limited, &view(70, 70, 5_000)).window.cwnd, Bytes(70_000));
        assert_eq!(cubic.start, Instant(5_000_000_000));
    }

    #[test]
    fn the_older_form_has_its_own_constants() {
        let mut cubic = Cubic::default();
        assert!(cubic.set("preset", KnobValue::Word("ns2")));
        // No loss to go by: one segment per 50 * 16 / 31 + 1 ACKs.
        let step = cubic.step(&ack(), &view(100, 100, 0));
        assert_eq!(step.window.cwnd, Bytes(100_038));
        let cut = cubic.cut(&loss(LossKind::Recovery, 1_024), &view(1_024, 512, 0));
        assert_eq!(cut.cwnd.0 / MSS.0, 818, "819 less what millionths cannot hold");
        // Beyond W_max no more than 16 segments per RTT of 100 ms, times 31/16.
        let _ = cubic.step(&ack(), &view(819, 819, 0));
        let step = cubic.step(&ack(), &view(819, 819, 60_000));
        let grown = step.window.cwnd - MSS * 819;
        assert_eq!(grown, MSS * 31 / 819 + Bytes(1), "one byte is left over from the ACK before");
    }

    /// RFC 9438 section 4.7: only below W_max did another flow take bandwidth.
    #[test]
    fn a_second_loss_at_the_same_window_makes_no_room() {
        let mut cubic = Cubic::default();
        for _ in 0..2 {
            let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        }
        assert_eq!(cubic.w_max, Bytes(100_000));
    }

    /// RFC 9438 section 4.3: it is Reno's growth where the curve is below the estimate of Reno.
    /// Here both are the window. 0.4 * 5^3 are 50 segments in an RTT of 5 s, of which an ACK for
    /// one byte of 100 kB adds half a byte.
    #[test]
    fn where_the_curve_meets_the_estimate_of_reno_the_curve_decides() {
        let (mut cubic, mut now) = (Cubic::default(), view(100, 100, 0));
        now.rtt.smoothed = crate::units::Span::from_secs(5);
        let byte = Ack { acked: Bytes(1), ..ack() };
        let grown = [(); 3].map(|()| cubic.step(&byte, &now).window.cwnd - now.window.cwnd);
        assert_eq!(grown, [Bytes(0), Bytes(0), Bytes(1)], "two are a little short of a byte");
    }

    #[test]
    fn the_curve_starts_anew_when_avoidance_begins_without_a_cut() {
        let mut cubic = Cubic::default();
        let _ = cubic.step(&ack(), &view(70, 70, 0));
        cubic.enter(&Found::default(), &view(90, 70, 1_000));
        let _ = cubic.step(&ack(), &view(90, 70, 1_000));
        assert_eq!((cubic.curve.origin, cubic.start), (MSS * 90, Instant(1_000_000_000)));
    }

    #[test]
    fn what_start_up_hands_on_is_where_the_curve_turns_if_it_is_beyond_the_window() {
        let origin = |pipe: u64, peak: Option<u64>, cut: bool| {
            let mut cubic = Cubic::default();
            if cut {
                let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
            }
            let (pipe, peak) = (Some(MSS * pipe), peak.map(|peak| MSS * peak));
            cubic.enter(&Found { pipe, peak, rate: None }, &view(70, 70, 0));
            let _ = cubic.step(&ack(), &view(70, 70, 0));
            cubic.curve.origin.0 / MSS.0
        };
        assert_eq!(origin(90, None, false), 90, "a pipe not filled");
        assert_eq!(origin(60, None, false), 70, "a pipe with a queue: flat from here");
        assert_eq!(origin(90, Some(120), false), 120, "what it believes there is room for");
        assert_eq!(origin(90, None, true), 100, "the loss that ended it knows better");
        assert_eq!(origin(90, Some(120), true), 120);
        let mut cubic = Cubic::default();
        let pipe = Some(MSS * 70);
        cubic.enter(&Found { pipe, ..Found::default() }, &view(70, 70, 0));
        assert_eq!((cubic.stage, cubic.w_max), (Stage::Unknown, Bytes(0)), "a pipe that is filled");
    }

    #[test]
    fn a_cut_that_ended_start_up_is_where_the_curve_comes_from() {
        let mut cubic = Cubic::default();
        let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        cubic.enter(&Found::default(), &view(70, 70, 0));
        let _ = cubic.step(&ack(), &view(70, 70, 0));
        assert_eq!(cubic.curve.origin, MSS * 100);
        let gauges = ["cubic_w_max", "cubic_w_est"].map(|name| testing::gauge(&cubic, name));
        // W_est begins at 70 segments; an ACK for one adds alpha = 9/17 over 70: 7.56 bytes.
        assert_eq!(gauges, [Some(100_000), Some(70_007)]);
    }

    /// The older form's limit, 16 segments per 100 ms, holds once the curve is past `K` an RTT from
    /// now. 204 segments are missing there; an ACK adds 31/16 of that share of the window.
    #[test]
    fn the_older_form_limits_growth_only_beyond_the_loss_and_only_if_asked() {
        let grown = |before_k_ms: i64, most| {
            let mut cubic = Cubic::default();
            assert!(cubic.set("preset", KnobValue::Word("ns2")));
            assert!(cubic.set("max_increment", KnobValue::Count(most)));
            let _ = cubic.cut(&loss(LossKind::Recovery, 1_024), &view(1_024, 512, 0));
            let _ = cubic.step(&ack(), &view(819, 819, 0));
            let k_ms = ((cubic.curve.k * 1_000) >> FRACTION) as i64;
            let now = view(819, 819, (k_ms - before_k_ms) as u64);
            (cubic.step(&ack(), &now).window.cwnd - MSS * 819).0
        };
        let (limited, free) = (16_000 * 31 / 16 / 819, 204_900 * 31 / 16 / 819);
        for (before_k_ms, most, expected) in
            [(200, 16, free), (50, 16, limited), (-10, 16, limited), (50, 0, free)]
        {
            let found = grown(before_k_ms, most);
            assert!(found.abs_diff(expected) <= 2, "{before_k_ms} {most}: {found} {expected}");
        }
    }
}
