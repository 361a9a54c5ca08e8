//! ABBA, accelerated bottleneck bandwidth adaptation, on CUBIC (draft-kazuho-ccwg-abba, Oku,
//! editor's copy of 7 September 2026).
//!
//! What it believes: slow start fills the queue, so that the RTT at its end is that of a full queue
//! (`full_rtt`), and the smallest RTT is that of an empty one. While the RTT says that the queue is
//! empty, CUBIC is too slow for a path whose rate may have risen; when the queue has not come back
//! for long, what is known of it is stale. What it does:
//!
//! ```text
//! gate  = min(max(past - deviation/2, minrtt + 2 ms), smallest since the last cut + 2 ms)
//! cwnd  = max(CUBIC's, cwnd + acked min(max(2 ms/gate, 1/40), (1/beta - 1)/2))
//!         while the window is full, rtt < gate, rtt < full_rtt/1.05, full_rtt > minrtt + 10 ms
//! past, deviation: of the smallest RTTs between cuts (weights 1/8 and 1/4, 5 ms at first)
//! start-up again, without ssthresh and W_max, when srtt has not been above the middle of minrtt
//!         and full_rtt, nor a mark come, for 2 min(K, Reno's way back) cbrt(full_rtt/minrtt)
//! ```
//!
//! Every loss and every mark costs what it costs CUBIC. It is what Load Gauge is to Westwood.
//!
//! Published: all of it, in the copy of that date which measures the bottom of the queue by the
//! smallest RTT. Its commit was not noted. A copy of the same date, commit dc55fe5 of the draft's
//! repository, has `bottom_rtt() + 10 ms` in the place of the middle and of minrtt + 10 ms; later
//! ones count what acceleration has added, too (`bytes_accelerated`).
//!
//! Decided here: a mark begins no recovery in this contract, so that the RTT after a mark that ends
//! start-up is taken with the next ACK; a spurious loss restores the time of the last full queue
//! too, which the draft keeps; the window is full where less than a segment of it was free when the
//! ACK came. Where start-up ended without a loss `full_rtt` is unknown, and ABBA is CUBIC until a
//! start-up ends with one.

use crate::avoidance::Cubic;
use crate::card::{Card, Listed};
use crate::curve::{Curve, FRACTION, cube_root};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{KnobOf, Knobs, RATIO_ONE};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Instant, Span};
use crate::view::{Phase, View, Window};

/// CUBIC, faster while the queue is empty, and back in start-up when it stays so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abba {
    cubic: Cubic,
    /// The smoothed RTT when the queue was known to be full (`full_rtt`).
    full_rtt: Option<Span>,
    /// A start-up ended with a cut whose recovery is not over.
    measures: bool,
    /// The smoothed RTT after the last ACK and the one before.
    smoothed: [Span; 2],
    /// The smallest RTT since the last cut (`cur_period_min`).
    cur_period_min: Option<Span>,
    /// The smallest RTTs of earlier times between cuts (`past_periods_min`).
    past_periods_min: Option<Past>,
    /// When much was last seen in the queue (`last_high_queue_at`).
    last_high_queue_at: Instant,
    /// The window with which this time of avoidance began (`cwnd_epoch`).
    cwnd_epoch: Option<Bytes>,
    /// The queue has not come back for long: start-up shall look for its end again.
    reprobes: bool,
}

/// The smallest RTTs between cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Past {
    smoothed: Span,
    deviation: Span,
}

impl Past {
    fn with(before: Option<Self>, sample: Span) -> Self {
        // Section 5.2, `update()`: 5 ms at first; then weights 1/4 and 1/8.
        let Some(Self { smoothed, deviation }) = before else {
            return Self { smoothed: sample, deviation: FIRST_DEVIATION };
        };
        let off = Span(smoothed.0.abs_diff(sample.0));
        Self {
            smoothed: smoothed - smoothed / 8 + sample / 8,
            deviation: deviation - deviation / 4 + off / 4,
        }
    }

    fn floor(self) -> Span {
        self.smoothed - self.deviation / 2
    }
}

impl Abba {
    /// Below which RTT the queue counts as empty; nothing as long as no cut has ended a time of
    /// avoidance (`drain_threshold`).
    fn gate(&self, view: &View) -> Option<Span> {
        // Section 4, `drain_threshold()`.
        let floor = self.past_periods_min?.floor().max(view.rtt.min + SMALL_QUEUE);
        Some(floor.min(self.cur_period_min? + SMALL_QUEUE))
    }

    /// What to add of what is acknowledged, in millionths (`ratio`).
    fn ratio(&self, gate: Span) -> u64 {
        // Section 4, `ratio()`: at most half of what a cut would have to be made good by.
        let (beta, _) = self.cubic.constants();
        let most = (RATIO_ONE * RATIO_ONE / beta.max(1)).saturating_sub(RATIO_ONE) / 2;
        SMALL_QUEUE.scaled(RATIO_ONE, gate.0).0.max(RATIO_ONE / 40).min(most)
    }

    /// By how much to accelerate, in millionths, while the queue is empty; `None` otherwise, and
    /// while no queue has been seen that was clearly fuller.
    fn accelerates(&self, view: &View) -> Option<u64> {
        let (gate, full, latest) = (self.gate(view)?, self.full_rtt?, view.rtt.latest);
        // Section 4, `abba_cwnd()`: full and empty must be apart, and the RTT below the threshold.
        let seen = full > view.rtt.min + APART && full > latest.scaled(105, 100);
        (seen && latest < gate).then(|| self.ratio(gate))
    }

    /// How long CUBIC takes to fill the queue again (`expected_high_queue_interval`).
    fn interval(&self, full: Span, view: &View) -> Span {
        // Section 5.3, `expected_high_queue_interval()`: the shorter of CUBIC's and Reno's way
        // back.
        let (beta, c) = self.cubic.constants();
        let epoch = self.cwnd_epoch.unwrap_or(view.window.cwnd);
        let before = epoch.scaled(RATIO_ONE, beta);
        let k = Curve::new(epoch, before, c, view.mss).k;
        let k = Span::from_secs(1).scaled(k, 1 << FRACTION);
        // C K^3 segments at alpha = 3 (1 - beta) / (1 + beta) per RTT.
        let rounds = (before - epoch).scaled(RATIO_ONE + beta, 3 * (RATIO_ONE - beta));
        let reno = full.scaled(rounds.0, view.mss.0);
        let ratio = (u128::from(full.0) << (3 * FRACTION)) / u128::from(view.rtt.min.0.max(1));
        k.min(reno).scaled(cube_root(ratio), 1 << FRACTION)
    }

    /// Looks whether the queue has come back; if it has not for long, start-up shall look for its
    /// end again.
    fn watch(&mut self, view: &View) {
        let Some(full) = self.full_rtt else { return };
        // Section 5.3: a queue above the middle of empty and full counts as high; without one for
        // twice the interval `recalibrate()` clears W_max and ssthresh.
        if view.rtt.smoothed >= (view.rtt.min + full) / 2 {
            self.last_high_queue_at = view.now;
        } else if view.now.since(self.last_high_queue_at) >= self.interval(full, view) * 2 {
            self.cubic.forget();
            self.reprobes = true;
        }
    }
}

impl Listed for Abba {
    const CARD: Card = Card::new(
        "abba",
        "CUBIC, faster while the queue is empty, back in start-up when it stays so",
        "draft-kazuho-ccwg-abba",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Abba {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        // Section 5.3: a mark shows a deep queue.
        if ack.marked > Bytes(0) {
            self.last_high_queue_at = view.now;
        }
        if self.measures && !view.recovering {
            // Section 5.1: the smoothed RTT before the ACK that ended the recovery, which is the
            // last before this one.
            self.measures = false;
            self.full_rtt = Some(self.smoothed[1]);
            self.last_high_queue_at = view.now;
        }
        self.smoothed = [view.rtt.smoothed, self.smoothed[0]];
        // Section 5.2: samples of a recovery do not count.
        if let Some(rtt) = ack.rtt.filter(|_| !view.recovering) {
            self.cur_period_min =
                Some(self.cur_period_min.map_or(rtt, |smallest| smallest.min(rtt)));
        }
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        if view.phase == Phase::Startup {
            self.measures = loss.kind != LossKind::Timeout;
        }
        // Section 5.2: a congestion event ends the period.
        if let Some(smallest) = self.cur_period_min.take() {
            self.past_periods_min = Some(Past::with(self.past_periods_min, smallest));
        }
    }

    fn on_rest(&mut self, idle: Span, view: &View) {
        self.cubic.on_rest(idle, view);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.cubic.gauges(report);
        report("abba_full_rtt", self.full_rtt.unwrap_or_default().0);
        report("abba_floor", self.past_periods_min.map_or(0, |past| past.floor().0));
        report("abba_smallest", self.cur_period_min.unwrap_or_default().0);
    }
}

impl Avoidance for Abba {
    fn enter(&mut self, found: &Found, view: &View) {
        (self.reprobes, self.cwnd_epoch) = (false, None);
        self.cubic.enter(found, view);
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let step = self.cubic.step(ack, view);
        let Window { cwnd, ssthresh } = view.window;
        // Section 4: `abba_cwnd()` in place of CUBIC's window, while the window limits sending.
        let filled = ack.in_flight + ack.credited + view.mss > cwnd && !ack.app_limited;
        if cwnd < ssthresh || !filled {
            return step;
        }
        self.cwnd_epoch.get_or_insert(cwnd);
        if ack.rtt.is_some() {
            self.watch(view);
        }
        if self.reprobes {
            return view.window.hold().threshold(Bytes::MAX);
        }
        let more = self.accelerates(view).map_or(Bytes(0), |it| ack.acked.scaled(it, RATIO_ONE));
        Step { window: Window { cwnd: step.window.cwnd.max(cwnd + more), ..step.window }, ..step }
    }

    fn beta(&self) -> u64 {
        self.cubic.beta()
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // Section 1: every loss and mark costs what it costs CUBIC.
        self.cwnd_epoch = None;
        self.cubic.cut(loss, view)
    }

    fn wants_reprobe(&self) -> bool {
        self.reprobes
    }
}

impl Knobs for Abba {
    const ROWS: &'static [KnobOf<Self>] = &[KnobOf::part(Cubic::KNOBS, |p| &mut p.cubic)];
}

/// What an RTT of acceleration may add to the queue.
const SMALL_QUEUE: Span = Span::from_millis(2);

/// How far full and empty must be apart.
const APART: Span = Span::from_millis(10);

/// The deviation of the smallest RTTs before there are two.
const FIRST_DEVIATION: Span = Span::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, gauge, view};

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    /// In avoidance with a full window, RTTs of 100 ms, 150 ms with a full queue, one cut before.
    fn seen() -> (Abba, View) {
        let mut view = view(700, MSS * 700);
        view.phase = Phase::Avoidance;
        view.now = Instant(1_000_000_000);
        let past = Past { smoothed: ms(104), deviation: ms(4) };
        let mut abba = Abba {
            full_rtt: Some(ms(150)),
            last_high_queue_at: view.now,
            past_periods_min: Some(past),
            cur_period_min: Some(ms(100)),
            ..Abba::default()
        };
        abba.cubic.enter(&Found::default(), &view);
        (abba, view)
    }

    fn full(view: &View) -> Ack {
        Ack { in_flight: view.window.cwnd - MSS, ..ack(view, 1) }
    }

    /// min(max(104 - 2, 100 + 2), 100 + 2) = 102 ms; max(2/102, 1/40) of 1000 bytes are 25.
    #[test]
    fn a_fortieth_of_what_is_acknowledged_is_added_while_the_queue_is_empty() {
        let (mut abba, mut view) = seen();
        assert_eq!(abba.gate(&view), Some(ms(102)));
        let grown = |abba: &mut Abba, view: &View| abba.step(&full(view), view).window.cwnd;
        assert_eq!(grown(&mut abba, &view), MSS * 700 + Bytes(25));
        view.rtt.latest = ms(102);
        assert!(grown(&mut abba, &view) < MSS * 700 + Bytes(15), "CUBIC's alone");
        view.rtt.latest = ms(100);
        let idle = Ack { in_flight: MSS * 698, ..full(&view) };
        assert!(abba.step(&idle, &view).window.cwnd < MSS * 700 + Bytes(15), "a segment is free");
        view.window.ssthresh = MSS * 500;
        assert_eq!(grown(&mut abba, &view), MSS * 700 + Bytes(25), "above ssthresh too");
        abba.full_rtt = Some(ms(110));
        assert!(grown(&mut abba, &view) < MSS * 700 + Bytes(15), "not 10 ms apart");
        abba.full_rtt = Some(ms(150));
        abba.past_periods_min = None;
        assert!(grown(&mut abba, &view) < MSS * 700 + Bytes(15), "in its first period");
    }

    /// The mean of the smallest RTTs less half of their deviation, 110 - 4/2, but not below the
    /// smallest RTT and 2 ms, nor above the smallest since the last cut and 2 ms.
    #[test]
    fn the_queue_counts_as_empty_below_the_usual_smallest_rtt() {
        let (mut abba, mut view) = seen();
        abba.past_periods_min = Some(Past { smoothed: ms(110), deviation: ms(4) });
        abba.cur_period_min = Some(ms(120));
        assert_eq!(abba.gate(&view), Some(ms(108)));
        view.rtt.min = ms(109);
        assert_eq!(abba.gate(&view), Some(ms(111)));
        abba.cur_period_min = Some(ms(103));
        assert_eq!(abba.gate(&view), Some(ms(105)));
        let gauges = ["abba_full_rtt", "abba_floor", "abba_smallest"].map(|it| gauge(&abba, it));
        assert_eq!(gauges, [150, 108, 103].map(|rtt| Some(ms(rtt).0)));
    }

    /// The avoidance accelerates only if the RTT of the full queue is more than 5 % above the
    /// newest RTT of 100 ms: not at 105 ms, but above it.
    #[test]
    fn a_queue_that_differs_little_from_a_full_one_is_not_empty() {
        let (mut abba, mut view) = seen();
        view.rtt.min = ms(90);
        abba.full_rtt = Some(ms(105));
        assert_eq!(abba.accelerates(&view), None);
        abba.full_rtt = Some(ms(105) + Span(1));
        assert_eq!(abba.accelerates(&view), Some(25_000));
    }

    /// The period whose first window the way back is counted from begins above ssthresh, and the
    /// cut is CUBIC's.
    #[test]
    fn below_ssthresh_at_a_loss_and_in_its_knobs_it_is_cubic() {
        let (mut abba, mut view) = seen();
        view.window.ssthresh = MSS * 701;
        assert_eq!(abba.step(&full(&view), &view), Cubic::default().step(&full(&view), &view));
        assert_eq!((abba.cwnd_epoch, abba.beta()), (None, 700_000));
        assert!(abba.set("beta", KnobValue::Ratio(800_000)));
        assert_eq!((abba.value("beta"), abba.beta()), (Some(KnobValue::Ratio(800_000)), 800_000));
    }

    /// The curve stands still while the source rests, as CUBIC's does.
    #[test]
    fn a_rest_is_left_out_of_the_curve() {
        let (mut abba, mut view) = seen();
        view.rtt.latest = ms(150);
        let (mut cubic, ack) = (abba.cubic, full(&view));
        assert_eq!(abba.step(&ack, &view), cubic.step(&ack, &view));
        view.now = view.now + Span::from_secs(3);
        abba.on_rest(Span::from_secs(3), &view);
        cubic.on_rest(Span::from_secs(3), &view);
        abba.last_high_queue_at = view.now;
        assert_eq!(abba.step(&ack, &view), cubic.step(&ack, &view));
    }

    /// 2/22 where the gate is 22 ms; never more than half of (1/0.7 - 1).
    #[test]
    fn short_paths_add_a_larger_share_up_to_half_of_what_a_cut_takes() {
        let abba = Abba::default();
        assert_eq!(abba.ratio(ms(22)), 90_909);
        assert_eq!(abba.ratio(ms(3)), (1_428_571 - 1_000_000) / 2);
        assert_eq!(abba.ratio(ms(200)), 25_000);
    }

    #[test]
    fn the_smallest_rtts_between_cuts_are_averaged_and_those_of_recoveries_left_out() {
        let (mut abba, mut view) = (Abba::default(), view(700, MSS * 700));
        view.phase = Phase::Avoidance;
        let mut after = |samples: &[u64]| {
            for rtt in samples {
                abba.on_ack(&Ack { rtt: Some(ms(*rtt)), ..ack(&view, 1) }, &view);
            }
            let recovering = View { recovering: true, ..view };
            abba.on_ack(&Ack { rtt: Some(ms(1)), ..ack(&view, 1) }, &recovering);
            abba.on_loss(&Loss::of(Instant(0), LossKind::Recovery, MSS, MSS), &view);
            abba.past_periods_min
        };
        let past = |smoothed, deviation| Some(Past { smoothed: Span(smoothed), deviation });
        assert_eq!(after(&[120, 104, 130]), past(104_000_000, ms(5)));
        // 104 * 7/8 + 112/8 = 105; 5 * 3/4 + 8/4 = 5.75.
        assert_eq!(after(&[112, 113]), past(105_000_000, Span(5_750_000)));
        assert_eq!(after(&[]), past(105_000_000, Span(5_750_000)));
    }

    /// The RTT before the ACK that ends the recovery counts.
    #[test]
    fn the_full_queue_is_measured_when_the_recovery_after_start_up_ends() {
        let (mut abba, mut view) = (Abba::default(), view(700, MSS * 700));
        abba.on_loss(&Loss::of(Instant(0), LossKind::Recovery, MSS, MSS), &view);
        view.recovering = true;
        for smoothed in [140, 145, 130] {
            view.rtt.smoothed = ms(smoothed);
            abba.on_ack(&ack(&view, 1), &view);
            assert_eq!(abba.full_rtt, None);
        }
        view.recovering = false;
        abba.on_ack(&ack(&view, 1), &view);
        assert_eq!(abba.full_rtt, Some(ms(145)));
        view.phase = Phase::Avoidance;
        abba.on_loss(&Loss::of(Instant(0), LossKind::Recovery, MSS, MSS), &view);
        abba.on_ack(&ack(&view, 1), &view);
        assert_eq!(abba.full_rtt, Some(ms(145)), "a loss of avoidance measures nothing");
    }

    /// 700 segments of 1000: K = cbrt(300/0.4) = 9.086 s; Reno takes 300/0.529 = 566.7 rounds of
    /// 150 ms, 85 s. cbrt(1.5) = 1.1447, so 20.80 s are twice the interval.
    #[test]
    fn a_queue_that_stays_away_leads_back_to_start_up() {
        let (mut abba, mut view) = seen();
        abba.cubic.enter(&Found { peak: Some(MSS * 900), ..Found::default() }, &view);
        let begun = view.now;
        let step = abba.step(&full(&view), &view);
        assert!(!abba.wants_reprobe());
        assert_eq!(step.window.ssthresh, MSS * 700);
        view.now = begun + ms(20_799);
        abba.on_ack(&full(&view), &view);
        let _ = abba.step(&full(&view), &view);
        assert!(!abba.wants_reprobe());
        view.now = begun + ms(20_802);
        let step = abba.step(&full(&view), &view);
        assert!(abba.wants_reprobe());
        assert_eq!(step.window, Window { cwnd: MSS * 700, ssthresh: Bytes::MAX });
        assert_eq!(gauge(&abba, "cubic_w_max"), Some(0), "the old window is stale");
        abba.enter(&Found::default(), &view);
        assert!(!abba.wants_reprobe());
    }

    #[test]
    fn a_queue_or_a_mark_puts_that_off() {
        for marked in [Bytes(0), MSS] {
            let (mut abba, mut view) = seen();
            let begun = view.now;
            view.now = begun + ms(20_000);
            view.rtt.smoothed = if marked == Bytes(0) { ms(125) } else { ms(100) };
            abba.on_ack(&Ack { marked, ..full(&view) }, &view);
            let _ = abba.step(&full(&view), &view);
            view.rtt.smoothed = ms(100);
            view.now = begun + ms(40_000);
            let _ = abba.step(&full(&view), &view);
            assert!(!abba.wants_reprobe());
            view.now = begun + ms(40_810);
            let _ = abba.step(&full(&view), &view);
            assert!(abba.wants_reprobe());
        }
    }

    /// 7 segments of 10: Reno's way back is 3/0.529 = 5.67 rounds of 150 ms, 0.85 s; K is 1.96 s.
    #[test]
    fn small_windows_wait_for_reno_s_way_back() {
        let (mut abba, mut view) = seen();
        view.window = Window { cwnd: MSS * 7, ssthresh: MSS * 7 };
        view.in_flight = MSS * 6;
        let _ = abba.step(&full(&view), &view);
        let interval = abba.interval(ms(150), &view).0 / 1_000_000;
        assert!((972..=974).contains(&interval), "{interval}");
    }
}
