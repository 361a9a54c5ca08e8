//! Load Gauge: does the path have room for more than this connection uses? (Yamada, Wang, Sanadidi
//! and Gerla, "TCP Westwood with Agile Probing: Dealing with Dynamic, Large, Leaky Pipes", section
//! III.)
//!
//! What it believes: while nothing queues, the achieved rate RE follows the window up; with a
//! queue, it stays where it was when congestion avoidance began. What it does on every ACK in
//! congestion avoidance, with windows in place of rates because both sides are divided by the same
//! RTTmin:
//!
//! ```text
//! Boundary = beta (cwnd - 1.5) + (1 - beta) ssthresh
//! within guard RTTs of entering or of a loss:  counter = 0
//! RE RTTmin > Boundary:                        counter += 1
//! otherwise:                                   counter -= 1, not below 0
//! counter > cwnd in segments:                  start-up again, counter = 0
//! ```
//!
//! ssthresh does not move in congestion avoidance, so it is the window at its beginning. RE is
//! what arrived in an RTT over that RTT, smoothed once per RTT: `RE = eps RE + (1 - eps) r`.
//!
//! What was inferred: the test of the counter stands apart from the test of RE, not within its
//! second branch as in the paper's listing, where it could never become true for the first time.
//! The guard begins when recovery and slow start are over. Counted from the loss, the boundary
//! would still be below ssthresh, and a path that is just full would look light; by then it is a
//! quarter of a segment above. eps is not stated for this use; 0.6 is that of the rate estimate,
//! 0.8 the lag that the paper's Figures 2 and 4 show if RTTmin is known exactly. ns-2 knew it in
//! ticks of 10 ms, rounded down (`lg.tick`): RE RTTmin is then a few per cent below the window
//! without any lag, and 0.6 gives those figures. A load must also stay light for longer, which
//! keeps the gauge from acting after nearly every loss.
//!
//! The 1.5 segments are what a window that grows by one per RTT gained in the 1.5 RTTs after the
//! data behind RE was sent. A receiver that acknowledges every other packet halves that growth, and
//! 0.75 would be right; 1.5 is kept, because nothing in an ACK shows it for certain, and it errs to
//! the side of more restarts by 0.4 segments.

use crate::estimate::ere_knobs::{EreKnobs, NS2_TICK};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, words};
use crate::units::{Bytes, Instant, Span, mul_div};
use crate::view::View;

/// The gauge. It must see every ACK of the connection once; off, it does nothing.
#[derive(Clone, Debug)]
pub struct LoadGauge {
    /// What was set.
    pub knobs: LoadGaugeKnobs,
    /// RE in 2^-32 bytes per ns.
    re: u64,
    /// Beginning of the RTT being measured; `None` before the first ACK.
    since: Option<Instant>,
    /// Delivered since then.
    arrived: Bytes,
    /// RTTmin as its clock showed it then.
    rtt_min: Span,
    /// When congestion avoidance began, or the last loss.
    entered: Instant,
    /// ACKs above the boundary, less those below it.
    counter: u64,
    /// How often the load was found light.
    restarts: u64,
    /// It was found light, and congestion avoidance has not begun anew since.
    light: bool,
}

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadGaugeKnobs {
    /// Whether it acts at all.
    pub on: bool,
    /// Weight of the present window in the boundary, in millionths.
    pub beta: u64,
    /// Weight of the old achieved rate, in millionths.
    pub eps: u64,
    /// RTTs after entering congestion avoidance, or a loss, in which it does not judge.
    pub guard_rtts: u64,
    /// RTTmin is known in whole ticks of this clock; zero for exactly.
    pub tick: Span,
}

impl LoadGauge {
    /// A gauge that has seen nothing.
    pub const fn new(knobs: LoadGaugeKnobs) -> Self {
        Self {
            knobs,
            re: 0,
            since: None,
            arrived: Bytes(0),
            rtt_min: Span(0),
            entered: Instant(0),
            counter: 0,
            restarts: 0,
            light: false,
        }
    }

    /// Takes an ACK into RE, in every phase.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.knobs.on {
            self.measure(ack.now, ack.credited, view);
        }
    }

    fn measure(&mut self, now: Instant, credited: Bytes, view: &View) {
        let srtt = view.rtt.smoothed;
        if srtt == Span(0) {
            return;
        }
        if view.recovering {
            self.restart(view.now);
        }
        let Some(since) = self.since else {
            self.since = Some(now);
            return;
        };
        self.arrived += credited;
        let elapsed = now.since(since);
        if elapsed < srtt {
            return;
        }
        // Section III: RE is what arrived in the latest RTT, smoothed.
        let newest = mul_div(self.arrived.0, 1 << 32, elapsed.0);
        let (kept, one) = (self.knobs.eps, RATIO_ONE);
        self.re = mul_div(self.re, kept, one).saturating_add(mul_div(newest, one - kept, one));
        (self.since, self.arrived) = (Some(now), Bytes(0));
        self.rtt_min = view.rtt.min.in_ticks(self.knobs.tick);
    }

    /// Congestion avoidance begins, or a loss cut the window: what was seen before is no sign.
    pub fn restart(&mut self, now: Instant) {
        self.entered = now;
        self.counter = 0;
        self.light = false;
    }

    /// Judges on an ACK for new data in congestion avoidance.
    #[inline]
    pub fn judge(&mut self, view: &View) {
        if !self.knobs.on {
            return;
        }
        if view.window.cwnd < view.window.ssthresh {
            return self.restart(view.now);
        }
        // Section III, listing: nothing in the first two RTTs.
        if view.now.since(self.entered) < view.rtt.smoothed * self.knobs.guard_rtts {
            self.counter = 0;
            return;
        }
        // Section III, listing: an ACK with RE above the boundary counts up, any other down. Ours:
        // the test of the counter stands apart from it.
        if self.achieved_over(view.rtt.min.in_ticks(self.knobs.tick)) > self.boundary(view) {
            self.counter += 1;
        } else {
            self.counter = self.counter.saturating_sub(1);
        }
        if self.counter > view.window.cwnd.0 / view.mss.0.max(1) {
            self.counter = 0;
            self.restarts += 1;
            self.light = true;
        }
    }

    /// The load was found light, and congestion avoidance has not begun anew since.
    #[inline]
    pub const fn is_light(&self) -> bool {
        self.light
    }

    /// Reports RE in bytes per second, RTTmin in ns, the counter, and how often the load was found
    /// light; nothing while off.
    pub fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        if !self.knobs.on {
            return;
        }
        report("lg_re", self.achieved_over(Span::from_secs(1)).0);
        report("lg_rtt_min", self.rtt_min.0);
        report("lg_counter", self.counter);
        report("lg_restarts", self.restarts);
    }

    fn boundary(&self, view: &View) -> Bytes {
        // Section III: `ExpectedRate = (cwnd - 1.5) / RTTmin`, `InitialExpectedRate = ssthresh /
        // RTTmin`, and `Boundary = beta ExpectedRate + (1 - beta) InitialExpectedRate`.
        let expected = view.window.cwnd - view.mss * 3 / 2;
        let beta = self.knobs.beta;
        expected.scaled(beta, RATIO_ONE) + view.window.ssthresh.scaled(RATIO_ONE - beta, RATIO_ONE)
    }

    /// What RE moves in `span`.
    fn achieved_over(&self, span: Span) -> Bytes {
        Bytes(mul_div(self.re, span.0, 1 << 32))
    }
}

impl LoadGaugeKnobs {
    /// Off; otherwise as the paper's text has it, with the smoothing of its figures.
    pub const OFF: Self =
        Self { on: false, beta: RATIO_ONE / 2, eps: EPS_OF_FIGURES, guard_rtts: 2, tick: Span(0) };

    /// Takes what a preset of the rate estimate means here ([`crate::estimate::ere::EreKnobs`]).
    pub fn take_preset(&mut self, preset: &str) {
        (self.eps, self.tick) = match preset {
            "figures" => (EPS_OF_FIGURES, Span(0)),
            "ns2" => (EreKnobs::PAPER.eps, NS2_TICK),
            _ => (EreKnobs::PAPER.eps, Span(0)),
        };
    }
}

impl Knobs for LoadGaugeKnobs {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("lg")
            .means(
                "Load Gauge: start-up again when the load is light (Agile Probing paper, section \
                 III)",
            )
            .word(words!(|p| p.on, ["off" = false, "on" = true])),
        Knob::new("lg.beta")
            .means(
                "weight of the present window in the boundary; above 0.5 it restarts more rarely",
            )
            .ratio(0..=RATIO_ONE, |p| &mut p.beta),
        Knob::new("lg.eps")
            .means("weight of the old achieved rate, per RTT")
            .by_default("0.8 (figures), 0.6 (paper, ns2, per-packet)")
            .ratio(0..=RATIO_ONE, |p| &mut p.eps),
        Knob::new("lg.guard_rtts")
            .means("RTTs after the beginning of congestion avoidance, or a loss, that do not count")
            .count(0..=100, |p| &mut p.guard_rtts),
        Knob::new("lg.tick")
            .means("clock in whose whole ticks RTTmin is known; 0s for exactly")
            .by_default("0s (figures, paper, per-packet), 10ms (ns2)")
            .time(Span(0)..=Span::from_secs(1), |p| &mut p.tick),
    ];
}

/// The lag between window and RE in Figures 2 and 4 of the paper.
const EPS_OF_FIGURES: u64 = 800_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::view::{Phase, Rtt, Window};

    const RTT: Span = Span::from_millis(100);
    const MSS: u64 = 1_000;

    fn view(ms: u64, cwnd: u64, ssthresh: u64) -> View {
        let rtt = Rtt { latest: RTT, smoothed: RTT, variation: Span(0), min: RTT, first: RTT };
        let window = Window { cwnd: Bytes(cwnd), ssthresh: Bytes(ssthresh) };
        View {
            now: Instant(ms * 1_000_000),
            rtt,
            phase: Phase::Avoidance,
            ..View::new(window, Bytes(MSS))
        }
    }

    fn gauge(eps: u64) -> LoadGauge {
        LoadGauge::new(LoadGaugeKnobs { on: true, eps, ..LoadGaugeKnobs::OFF })
    }

    fn ack(gauge: &mut LoadGauge, ms: u64, segments: u64) {
        let (now, credited) = (Instant(ms * 1_000_000), Bytes(segments * MSS));
        gauge.on_ack(&Ack { now, credited, ..Ack::default() }, &view(ms, 10 * MSS, 8 * MSS));
    }

    /// 10 segments per RTT of 100 ms from nothing, eps 0.8: 10 (1 - 0.8^n) after n RTTs. Ratios of
    /// two numbers in 2^-32 round down, so a byte is allowed.
    #[test]
    fn the_achieved_rate_is_smoothed_once_per_rtt() {
        let mut gauge = gauge(800_000);
        ack(&mut gauge, 0, 1);
        for (rtt, by_hand) in [(1, 2_000), (2, 3_600), (3, 4_880)] {
            ack(&mut gauge, rtt * 100 - 50, 5);
            ack(&mut gauge, rtt * 100, 5);
            let found = gauge.achieved_over(RTT).0;
            assert!((by_hand - 1..=by_hand).contains(&found), "{found} is not {by_hand}");
        }
    }

    /// cwnd 20, ssthresh 12 segments: 0.5 * 18.5 + 0.5 * 12 = 15.25.
    #[test]
    fn the_boundary_lies_between_the_window_now_and_at_the_beginning() {
        let view = view(0, 20 * MSS, 12 * MSS);
        assert_eq!(gauge(0).boundary(&view), Bytes(15_250));
        let mut wary = gauge(0);
        assert!(wary.knobs.set("lg.beta", KnobValue::Ratio(750_000)));
        assert_eq!(wary.boundary(&view), Bytes(16_875));
    }

    /// RE 10 segments per RTT against a boundary of 0.5 * 8.5 + 0.5 * 8 = 8.25: light. The guard
    /// ends at 200 ms; then 11 ACKs make the counter exceed the window of 10.
    #[test]
    fn light_load_must_last_a_window_of_acks_after_the_guard() {
        let mut gauge = gauge(0);
        ack(&mut gauge, 0, 1);
        ack(&mut gauge, 100, 10);
        gauge.restart(Instant(100_000_000));
        for ms in 100..300 {
            gauge.judge(&view(ms, 10 * MSS, 8 * MSS));
            assert_eq!(gauge.counter, 0, "at {ms} ms");
        }
        for ms in 300..310 {
            gauge.judge(&view(ms, 10 * MSS, 8 * MSS));
        }
        assert!(!gauge.is_light());
        gauge.judge(&view(310, 10 * MSS, 8 * MSS));
        assert!(gauge.is_light());
        assert_eq!((gauge.counter, gauge.restarts), (0, 1));
        gauge.restart(Instant(400_000_000));
        assert!(!gauge.is_light());
    }

    /// The boundary with a window of 12 is 0.5 * 10.5 + 0.5 * 10 = 10.25, above an RE of 10.
    #[test]
    fn heavy_load_counts_down_and_slow_start_does_not_count() {
        let mut gauge = gauge(0);
        ack(&mut gauge, 0, 1);
        ack(&mut gauge, 100, 10);
        (300..305).for_each(|ms| gauge.judge(&view(ms, 10 * MSS, 8 * MSS)));
        assert_eq!(gauge.counter, 5);
        (305..308).for_each(|ms| gauge.judge(&view(ms, 12 * MSS, 10 * MSS)));
        assert_eq!(gauge.counter, 2);
        gauge.judge(&view(308, 7 * MSS, 8 * MSS));
        assert_eq!((gauge.counter, gauge.entered), (0, Instant(308_000_000)));
    }

    /// An RTT of 109 ms is 100 to a clock of 10 ms: 10.5 segments per RTT of 109 ms, above the
    /// boundary of 0.5 * 10.5 + 0.5 * 10 = 10.25, are 9.6 in what it takes for an RTT.
    #[test]
    fn a_coarse_clock_asks_for_more_before_the_load_is_light() {
        let counted = |tick| {
            let mut gauge = gauge(0);
            gauge.knobs.tick = tick;
            ack(&mut gauge, 0, 1);
            ack(&mut gauge, 1_090, 105);
            let mut view = view(2_000, 12 * MSS, 10 * MSS);
            view.rtt.min = Span::from_millis(109);
            gauge.judge(&view);
            gauge.counter
        };
        assert_eq!((counted(Span(0)), counted(NS2_TICK)), (1, 0));
    }

    #[test]
    fn off_it_never_finds_the_load_light_and_reports_nothing() {
        let mut gauge = LoadGauge::new(LoadGaugeKnobs::OFF);
        ack(&mut gauge, 0, 1);
        ack(&mut gauge, 100, 1_000);
        (300..3_000).for_each(|ms| gauge.judge(&view(ms, 10 * MSS, 8 * MSS)));
        assert!(!gauge.is_light());
        let mut reported = 0;
        gauge.gauges(&mut |_, _| reported += 1);
        assert_eq!(reported, 0);
    }

    /// RE moves what the boundary is: the load is light only beyond it.
    #[test]
    fn an_achieved_rate_at_the_boundary_is_not_light() {
        let counted = |below: u64| {
            let mut gauge = gauge(0);
            ack(&mut gauge, 0, 1);
            ack(&mut gauge, 100, 10);
            // 0.5 * 10,000 + 0.5 * ssthresh.
            let ssthresh = 2 * gauge.achieved_over(RTT).0 - 10_000 - below;
            let view = view(300, 11_500, ssthresh);
            assert_eq!(gauge.boundary(&view) + Bytes(below / 2), gauge.achieved_over(RTT));
            gauge.judge(&view);
            gauge.counter
        };
        assert_eq!([0, 2].map(counted), [0, 1]);
    }

    #[test]
    fn presets_set_the_smoothing_and_the_clock() {
        let mut gauge = gauge(0);
        let mut set = |preset| {
            gauge.knobs.take_preset(preset);
            (gauge.knobs.eps, gauge.knobs.tick)
        };
        assert_eq!(set("paper"), (600_000, Span(0)));
        assert_eq!(set("ns2"), (600_000, Span::from_millis(10)));
        assert_eq!(set("figures"), (800_000, Span(0)));
    }
}
