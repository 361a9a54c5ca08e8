//! The integer estimate against its formulas in floating point, with every ACK kept.
//!
//! Stated bound: with few enough ACKs that none is merged, RE and ERE are within 8 bytes per second
//! and 5 millionths of the fastest sample so far, and Tk within three bytes' share of an RTT.

use crate::start_up_view::view;
use firstflight_core::estimate::ere::{Ere, EreKnobs, Filter};
use firstflight_core::event::Ack;
use firstflight_core::knob::{KnobValue, Knobs};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::View;
use proptest::prelude::*;

const MSS: u64 = 1_000;

fn ack(now: u64, credited: u64) -> Ack {
    Ack { now: Instant(now), acked: Bytes(credited), credited: Bytes(credited), ..Ack::default() }
}

/// The formulas of the module's documentation, in bytes and seconds.
struct Twin {
    knobs: EreKnobs,
    acks: Vec<(u64, u64)>,
    at: Option<u64>,
    achieved_at: u64,
    achieved: f64,
    sample: f64,
    instability: Vec<f64>,
    estimate: f64,
    fastest: f64,
    /// The silence was a whole number of slices but for rounding, so that one sample of zero more
    /// or less is as right: the formulas jump there.
    undecided: bool,
}

impl Twin {
    fn new(knobs: EreKnobs) -> Self {
        let (at, achieved_at) = (None, 0);
        let (acks, instability) = (Vec::new(), vec![0.0]);
        let (achieved, sample, estimate, fastest) = (0.0, 0.0, 0.0, 0.0);
        let undecided = false;
        Self {
            knobs,
            acks,
            at,
            achieved_at,
            achieved,
            sample,
            instability,
            estimate,
            fastest,
            undecided,
        }
    }

    fn within(&self, now: u64, span: u64) -> f64 {
        let inside = self.acks.iter().filter(|(at, _)| *at > now.saturating_sub(span));
        inside.map(|(_, credit)| *credit as f64).sum()
    }

    /// Takes an ACK in. `interval` is the Tk to sample over, after comparing it with the formula's.
    fn on_ack(&mut self, now: u64, credit: u64, view: &View, interval: u64) -> Result<(), String> {
        let srtt = view.rtt.smoothed.0;
        self.acks.push((now, credit));
        let first = self.at.is_none();
        if !self.knobs.re_per_rtt || first || now - self.achieved_at >= srtt {
            let eps = self.knobs.eps as f64 / 1e6;
            let rate = self.within(now, srtt) / (srtt as f64 / 1e9);
            self.achieved = eps * self.achieved + (1.0 - eps) * rate;
            self.achieved_at = now;
        }
        let Some(last) = self.at.replace(now) else { return Ok(()) };
        let cwnd = view.window.cwnd.0 as f64;
        let (exact, tick) = (view.rtt.min.0, self.knobs.tick.0);
        let rtt_min = exact.checked_div(tick).map_or(exact, |ticks| ticks.max(1) * tick);
        let excess = (cwnd - self.achieved * rtt_min as f64 / 1e9).max(0.0) / cwnd;
        let tmin = self.knobs.tmin.0.min(srtt) as f64;
        let expected = (srtt as f64 * excess).max(tmin);
        let tolerance = srtt as f64 * (3.0 / cwnd + 1e-5) + 2.0;
        if (interval as f64 - expected).abs() > tolerance {
            return Err(format!("Tk {interval} for {expected}"));
        }
        let dt = now - last;
        let over = if interval <= dt {
            (credit as f64, dt)
        } else {
            (self.within(now, interval), interval)
        };
        let sample = over.0 / (over.1 as f64 / 1e9);
        self.fastest = self.fastest.max(sample);
        let packets = (credit as f64 / MSS as f64).floor().clamp(1.0, 63.0);
        self.filter(dt as f64 / 1e9, sample, srtt as f64 / 1e9, packets);
        Ok(())
    }

    fn filter(&mut self, mut dt: f64, sample: f64, srtt: f64, packets: f64) {
        let last = self.instability.last().copied().unwrap_or(0.0);
        let unstable = 0.6 * last + 0.4 * (sample - self.sample).abs();
        self.instability.push(unstable);
        let window =
            if self.knobs.umax_window == 0 { usize::MAX } else { self.knobs.umax_window as usize };
        let largest = self.instability.iter().rev().take(window).fold(0.0, |a: f64, b| a.max(*b));
        let ratio = if largest > 0.0 { unstable / largest } else { 0.0 };
        let tau = srtt * (1.0 + self.knobs.n as f64 * ratio);
        let slice = tau / self.knobs.null_m as f64;
        let slices = dt / slice;
        // Samples are known to a quarter of a byte per second, so that the time constant of a flow
        // of few bytes per second is known to some per cent.
        let precision = 1e-6 + 1.0 / largest.max(1.0);
        self.undecided |= slices > 0.5 && (slices - slices.round()).abs() < precision * slices;
        if self.knobs.null_m > 0 && dt / slice > (64 * self.knobs.null_m + 1) as f64 {
            (self.estimate, self.sample) = (0.0, 0.0);
            dt %= slice;
        }
        while self.knobs.null_m > 0 && dt > slice {
            self.step(slice, 0.0, tau, 1.0);
            dt -= slice;
        }
        self.step(dt, sample, tau, packets);
    }

    fn step(&mut self, dt: f64, sample: f64, tau: f64, packets: f64) {
        let a = match self.knobs.filter {
            Filter::Constant => 19.0 / 21.0,
            Filter::Packets => (19.0 / 21.0_f64).powf(packets),
            _ => ((2.0 * tau - dt) / (2.0 * tau + dt)).max(0.0),
        };
        let mean = (sample + self.sample) / 2.0;
        let input = if self.knobs.filter == Filter::Plain { sample } else { mean };
        self.estimate = a * self.estimate + (1.0 - a) * input;
        self.sample = sample;
    }
}

fn gauge(ere: &Ere, wanted: usize) -> u64 {
    let mut values = Vec::new();
    ere.gauges(["ere", "re", "tk"], &mut |_, value| values.push(value));
    values[wanted]
}

fn knobs() -> impl Strategy<Value = EreKnobs> {
    let filter = prop_oneof![
        4 => Just(Filter::Trapezoid),
        1 => Just(Filter::Plain),
        1 => Just(Filter::Constant),
        1 => Just(Filter::Packets),
    ];
    let tmin = prop_oneof![Just(0u64), Just(10_000_000), 0u64..50_000_000];
    let tick = prop_oneof![2 => Just(0u64), 1 => Just(10_000_000), 1 => 0u64..50_000_000];
    (filter, 0u64..20, 0u64..=1_000_000, any::<bool>(), tmin, tick, 0u64..=8, 0u64..=10).prop_map(
        |(filter, n, eps, re_per_rtt, tmin, tick, null_m, umax_window)| EreKnobs {
            filter,
            n,
            eps,
            re_per_rtt,
            tmin: Span(tmin),
            tick: Span(tick),
            null_m,
            umax_window,
        },
    )
}

/// Segments that an ACK acknowledges: one or two, or, now and then, a whole window.
fn segments() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 1u64..3, 1 => 3u64..100]
}

proptest! {
    #[test]
    fn the_estimate_follows_its_formulas(
        knobs in knobs(),
        rtt_min in 5_000_000u64..500_000_000,
        acks in prop::collection::vec(
            (1_000u64..2_000_000, 0u64..100, segments(), 4u64..200, 0u64..50), 20..120),
    ) {
        let (mut ere, mut twin) = (Ere::new(knobs), Twin::new(knobs));
        let mut now = 1_000_000_000;
        for (gap, pause, segments, window, queue) in acks {
            // At most 16 ACKs an RTT, so that none is merged; now and then a pause of many RTTs.
            now += rtt_min / 12 + gap + if pause == 0 { rtt_min * window } else { 0 };
            let view = view(window * MSS, rtt_min + rtt_min * queue / 200, rtt_min);
            ere.on_ack(&ack(now, segments * MSS), &view);
            let checked = twin.on_ack(now, segments * MSS, &view, gauge(&ere, 2));
            prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
            if twin.undecided {
                break;
            }
            let bound = 5e-6 * twin.fastest + 8.0;
            let (re, estimate) = (gauge(&ere, 1) as f64, gauge(&ere, 0) as f64);
            prop_assert!((re - twin.achieved).abs() <= bound, "RE {re} for {}", twin.achieved);
            let off = (estimate - twin.estimate).abs();
            prop_assert!(off <= bound, "ERE {estimate} for {}", twin.estimate);
        }
    }

    #[test]
    fn no_input_breaks_the_estimate(
        knobs in knobs(),
        events in prop::collection::vec(any::<[u64; 5]>(), 1..60),
        shifts in prop::collection::vec(0u32..64, 5),
    ) {
        let mut ere = Ere::new(knobs);
        for [now, credit, cwnd, srtt, min] in events {
            let view = view(cwnd >> shifts[0], srtt >> shifts[1], min >> shifts[2]);
            ere.on_ack(&ack(now >> shifts[3], credit >> shifts[4]), &view);
            prop_assert!(ere.over(Span::MAX) >= ere.over(Span(1)));
            prop_assert!(ere.rate().0 <= 4_096_000_000_001);
        }
    }
}

/// ACKs for one segment each, `gap` apart, with the window that keeps a path of `rtt` just full.
fn steady(knobs: EreKnobs, gap: u64, rtt: u64, acks: u64) -> Ere {
    let mut ere = Ere::new(knobs);
    for i in 1..=acks {
        ere.on_ack(&ack(1_000_000_000 + i * gap, MSS), &view(rtt / gap * MSS, rtt, rtt));
    }
    ere
}

#[test]
fn a_full_path_is_estimated_at_its_rate() {
    // 1000 bytes every 200 us are 5 MB/s; after 20 RTTs of 100 ms the start is forgotten.
    for knobs in [EreKnobs::PAPER, EreKnobs::FIGURES, EreKnobs::NS2] {
        let ere = steady(knobs, 200_000, 100_000_000, 10_000);
        let rate = ere.rate().0;
        assert!((4_950_000..=5_050_000).contains(&rate), "{rate}");
    }
}

#[test]
fn silence_fades_the_estimate_by_three_fifths_per_half_time_constant() {
    // N = 0 makes tau the RTT; m = 2. After 10 ms steps of 100 ms RTT an ACK comes 200 ms later:
    // three nulls of 50 ms, the first of which still averages the last sample in, then the rest.
    let knobs = EreKnobs { n: 0, ..EreKnobs::PAPER };
    let (gap, rtt) = (10_000_000, 100_000_000);
    let mut ere = steady(knobs, gap, rtt, 1_000);
    let before = ere.rate().0 as f64;
    ere.on_ack(&ack(1_000_000_000 + 1_000 * gap + 200_000_000, MSS), &view(10_000, rtt, rtt));
    // All samples before were 100 kB/s: x = 0.6 x + 0.2 s, then 0.6 x twice, then with the new
    // sample of one segment over 200 ms 0.6 x + 0.2 * 5000.
    let faded = (0.6 * before + 0.2 * 100_000.0) * 0.6 * 0.6;
    let expected = 0.6 * faded + 0.2 * 5_000.0;
    assert!((ere.rate().0 as f64 - expected).abs() < 2.0, "{} for {expected}", ere.rate().0);
}

#[test]
fn the_longest_silence_costs_no_more_than_a_short_one() {
    let mut ere = steady(EreKnobs::PAPER, 200_000, 100_000_000, 5_000);
    ere.on_ack(&ack(u64::MAX, MSS), &view(500_000, 100_000_000, 100_000_000));
    assert!(ere.rate().0 < 1_000);
}

/// ns-3 removed its Westwood because it sampled once per acknowledged segment: many samples at one
/// instant, at next to no spacing (nsnam/ns-3-dev merge request 641).
#[test]
fn segments_acknowledged_at_one_instant_are_one_sample() {
    for knobs in [EreKnobs::PAPER, EreKnobs::FIGURES] {
        let (mut together, mut apart) = (Ere::new(knobs), Ere::new(knobs));
        let rtt = 100_000_000;
        for i in 1..2_000u64 {
            let (now, view) = (1_000_000_000 + i * 800_000, view(500_000, rtt, rtt));
            together.on_ack(&ack(now, 4 * MSS), &view);
            for part in 0..4 {
                apart.on_ack(&ack(now + part * 10, MSS), &view);
            }
        }
        // 4000 bytes every 800 us.
        for rate in [together.rate().0, apart.rate().0] {
            assert!((4_500_000..=5_500_000).contains(&rate), "{rate}");
        }
    }
}

/// Two of the numbers that the short way cannot take, at once: nothing credited, no RTT, a time
/// that goes back. None of it is a sample.
#[test]
fn what_is_no_sample_changes_nothing() {
    let mut ere = Ere::new(EreKnobs::FIGURES);
    let (usual, mut unknown) = (view(100_000, 100_000_000, 100_000_000), view(100_000, 0, 0));
    unknown.rtt.min = usual.rtt.min;
    let start = 1_000_000_000;
    for ms in 0..100 {
        ere.on_ack(&ack(start + ms * 1_000_000, MSS), &usual);
    }
    let (before, last) = (ere.rate(), start + 99_000_000);
    assert!(before.0 > 0);
    ere.on_ack(&ack(last + 1_000_000, 0), &unknown);
    ere.on_ack(&ack(last - 1_000_000, MSS), &unknown);
    ere.on_ack(&ack(last - 1_000_000, 0), &usual);
    assert_eq!(ere.rate(), before);
}

/// A time constant of one RTT.
const ONE_RTT: EreKnobs = EreKnobs { n: 0, tick: EreKnobs::NS2.tick, ..EreKnobs::PAPER };

/// 2000 segments of 1000 bytes, 1 ms apart, with an RTT of 100 ms and a window that hides a queue.
fn without_a_queue(knobs: EreKnobs) -> (Ere, View, u64) {
    let (mut ere, at) = (Ere::new(knobs), view(50_000, 100_000_000, 100_000_000));
    let times = (1_000..3_000).map(|ms| ms * 1_000_000);
    times.for_each(|now| ere.on_ack(&ack(now, MSS), &at));
    (ere, at, 2_999_000_000)
}

#[test]
fn acks_100_ns_apart_are_two_samples_and_closer_ones_are_one() {
    for filter in [Filter::Trapezoid, Filter::Plain] {
        let sampled = |gap_ns| {
            let (mut ere, at, last) = without_a_queue(EreKnobs { filter, ..EreKnobs::PAPER });
            let before = ere.rate();
            ere.on_ack(&ack(last + gap_ns, MSS), &at);
            ere.rate() != before
        };
        assert_eq!([99, 100].map(sampled), [false, true], "{filter:?}");
    }
}

/// tau is the RTT where N is 0, and m is 2: after 75 ms of silence one sample of zero over 50 ms is
/// due. a = 150/250, and the estimate falls from 1 MB/s to 0.6 + 0.4 / 2 = 0.8. The ACK is worth
/// 1000 bytes over 75 ms, 13.3 kB/s, for the 25 ms left: a = 175/225, and 0.8 a + 0.0067 (1 - a)
/// are 623.7 kB/s.
#[test]
fn a_silence_shorter_than_an_rtt_takes_a_sample_of_zero_too() {
    let (mut ere, at, last) = without_a_queue(ONE_RTT);
    ere.on_ack(&ack(last + 75_000_000, MSS), &at);
    let found = ere.rate().0;
    assert!(found.abs_diff(623_704) < 10, "{found}");
}

#[test]
fn an_update_per_rtt_is_due_after_a_whole_rtt() {
    let mut ere = Ere::new(EreKnobs { re_per_rtt: true, ..EreKnobs::PAPER });
    let at = view(50_000, 100_000_000, 100_000_000);
    let achieved = [0, 99, 100, 199, 200].map(|ms| {
        ere.on_ack(&ack(1_000_000_000 + ms * 1_000_000, MSS), &at);
        gauge(&ere, 1)
    });
    // 0.4 of 10 kB/s; then two segments within 100 ms and 0.6 of 4; then again two and 0.6 of 10.4.
    // Each rounds down.
    assert_eq!(achieved.map(|rate| rate + 1), [4_000, 4_000, 10_400, 10_400, 14_240]);
}

/// m is 8 and tau the RTT: a second of silence is 79 samples of zero over 12.5 ms each, which leave
/// 15/17 of the estimate, the first with half of the sample before; then 12.5 ms with 1000 bytes
/// over a second. It is not yet forgotten.
#[test]
fn ten_time_constants_of_silence_leave_what_the_filter_leaves() {
    let (mut ere, at, last) = without_a_queue(EreKnobs { null_m: 8, ..ONE_RTT });
    ere.on_ack(&ack(last + 1_000_000_000, MSS), &at);
    let kept = 15.0_f64 / 17.0;
    let silent = (kept * 1e6 + (1.0 - kept) * 0.5e6) * kept.powi(78);
    let expected = kept * silent + (1.0 - kept) * 500.0;
    let found = ere.rate().0 as f64;
    assert!((found - expected).abs() < 2.0, "{found} for {expected}");
}

/// Without samples of zero, 1.5 RTTs of silence move the estimate by 2 dt / (2 tau + dt), 6/7, to
/// the mean of 1 MB/s and of 1000 bytes over 150 ms; two RTTs move it all the way.
#[test]
fn silence_longer_than_the_time_constant_has_its_weight() {
    for (ms, weight) in [(150, 6.0 / 7.0), (200, 1.0)] {
        let (mut ere, at, last) = without_a_queue(EreKnobs { null_m: 0, ..ONE_RTT });
        ere.on_ack(&ack(last + ms * 1_000_000, MSS), &at);
        let mean = (1e6 + 1e6 / ms as f64) / 2.0;
        let (expected, found) = (1e6 + weight * (mean - 1e6), ere.rate().0 as f64);
        assert!((found - expected).abs() < 2.0, "{found} for {expected}");
    }
}

/// 2 GiB in 100 ns are more than can be told apart: 4096 bytes per ns count. Half of that, the mean
/// with nothing, moves the estimate by 2 dt / (2 tau + dt), 200 / 2,000,100, with an RTT of 1 ms.
#[test]
fn a_sample_beyond_the_fastest_rate_counts_as_that_rate() {
    let (mut ere, at) = (Ere::new(ONE_RTT), view(50_000, 1_000_000, 1_000_000));
    ere.on_ack(&ack(1_000_000_000, 1 << 31), &at);
    ere.on_ack(&ack(1_000_000_100, 1 << 31), &at);
    let expected = 2048e9 * 200.0 / 2_000_100.0;
    let found = ere.rate().0 as f64;
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} for {expected}");
}

/// 52 days count for no more than 52 days.
#[test]
fn a_longer_span_moves_no_less() {
    let (ere, ..) = without_a_queue(EreKnobs::PAPER);
    let moved = [1 << 51, (1 << 52) - 1, 1 << 52, u64::MAX].map(|span| ere.over(Span(span)).0);
    assert!(moved[0] * 2 - moved[1] < 1_000_000_000, "{moved:?}");
    assert_eq!(moved[1..], [moved[1]; 3]);
}

/// 20 time constants after the start the estimate is less than a byte per second below 1 MB/s.
#[test]
fn the_rate_is_rounded_to_the_nearest_byte() {
    assert_eq!(without_a_queue(ONE_RTT).0.rate().0, 1_000_000);
}

#[test]
fn knobs_set_by_name_do_what_the_same_ones_given_at_once_do() {
    for (word, filter) in [("trapezoid", Filter::Trapezoid), ("plain", Filter::Plain)] {
        let (tmin, tick) = (Span::from_millis(7), Span::from_millis(3));
        let (n, eps, re_per_rtt, null_m, umax_window) = (5, 300_000, word == "plain", 4, 2);
        let knobs = EreKnobs { filter, n, eps, re_per_rtt, tmin, tick, null_m, umax_window };
        let (mut given, mut set) = (Ere::new(knobs), Ere::new(EreKnobs::FIGURES));
        for (name, value) in [
            ("ere.filter", KnobValue::Word(word)),
            ("ere.N", KnobValue::Count(n)),
            ("ere.eps", KnobValue::Ratio(eps)),
            ("ere.re_update", KnobValue::Word(if re_per_rtt { "rtt" } else { "ack" })),
            ("ere.tmin", KnobValue::Time(tmin)),
            ("ere.tick", KnobValue::Time(tick)),
            ("ere.null_m", KnobValue::Count(null_m)),
            ("ere.umax_window", KnobValue::Count(umax_window)),
        ] {
            assert!(set.set(name, value) && set.value(name) == Some(value), "{name}");
        }
        let (at, mut now) = (view(200_000, 101_000_000, 100_000_000), 1_000_000_000);
        for i in 0..500 {
            now += [1_000_000, 300_000, 40_000_000, 7_000_000, 2_000][i % 5];
            given.on_ack(&ack(now, MSS), &at);
            set.on_ack(&ack(now, MSS), &at);
            for wanted in 0..3 {
                assert_eq!(gauge(&set, wanted), gauge(&given, wanted), "{word} {i}");
            }
        }
    }
}
