//! The rules of each policy with numbers worked by hand: a view in, a window out. 1000-byte
//! segments.

use firstflight_core::avoidance::{NewReno, Westwood};
use firstflight_core::event::{Loss, LossKind};
use firstflight_core::knob::{Amount, KnobValue, Knobs};
use firstflight_core::policy::{Avoidance, Exit, Found, Observer, Startup};
use firstflight_core::registry::AnyAvoidance;
use firstflight_core::startup::{Astart, Hoe, LargeInitialWindow};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{Eligible, View, Window};

use crate::policy_view::{MSS, ack, loss, segments, view};

mod newreno {
    use super::*;

    #[test]
    fn grows_by_one_segment_per_window_of_acks() {
        let mut policy = NewReno::default();
        let mut window = Window { cwnd: segments(10), ssthresh: segments(2) };
        for i in 0..10 {
            let view = View { window, ..view(i, i, 10, 2) };
            window = policy.step(&ack(&view, 100), &view).window;
        }
        // 1000/10 + 1000/10.1 + ... falls a little short of a whole segment.
        assert_eq!(window.cwnd, Bytes(10_958));
    }

    fn in_doubles() -> NewReno {
        let mut policy = NewReno::default();
        assert!(policy.set("sums", KnobValue::Word("double")));
        policy
    }

    /// ns-2.35 adds `1 / cwnd_` to `cwnd_`, a double, and halves it at a loss.
    #[test]
    fn in_doubles_the_window_is_that_of_ns2() {
        let (mut policy, mut exact) = (in_doubles(), NewReno::default());
        let (mut window, mut other) = (segments(2), segments(2));
        let (mut real, mut differs) = (2.0_f64, false);
        for i in 0..2_000 {
            let at = |cwnd| {
                let window = Window { cwnd, ssthresh: segments(2) };
                View { window, ..view(i, i, 10, 2) }
            };
            window = policy.step(&ack(&at(window), 100), &at(window)).window.cwnd;
            other = exact.step(&ack(&at(other), 100), &at(other)).window.cwnd;
            real += 1.0 / real;
            if i % 300 == 299 {
                let lost = Loss { flight: window, ..loss(LossKind::Recovery, 0, false) };
                window = policy.cut(&lost, &at(window)).cwnd;
                let lost = Loss { flight: other, ..lost };
                other = exact.cut(&lost, &at(other)).cwnd;
                real /= 2.0;
            }
            // Exact: 2.9 in doubles are 2899 bytes and almost one more.
            let bytes = ((real * 2.0_f64.powi(52)) as u128 * u128::from(MSS)) >> 52;
            assert_eq!(u128::from(window.0), bytes, "after {i} ACKs");
            differs |= window != other;
        }
        assert!(differs, "the exact sums are other sums");
    }

    #[test]
    fn in_doubles_too_every_ack_counts_below_ssthresh() {
        let view = view(0, 0, 10, 11);
        assert_eq!(in_doubles().step(&ack(&view, 100), &view).window.cwnd, segments(11));
        let mut both = in_doubles();
        assert!(both.set("sums", KnobValue::Word("exact")));
        assert_eq!(format!("{both:?}"), format!("{:?}", NewReno::default()));
    }

    #[test]
    fn a_second_timeout_of_a_segment_leaves_ssthresh() {
        let mut policy = NewReno::default();
        let view = view(0, 0, 1, 8);
        assert_eq!(policy.cut(&loss(LossKind::Timeout, 6, false), &view).ssthresh, segments(3));
        assert_eq!(policy.cut(&loss(LossKind::Timeout, 6, true), &view).ssthresh, segments(8));
    }
}

mod liw {
    use super::*;

    #[test]
    fn begins_at_64_segments_and_is_in_avoidance_at_once() {
        let mut policy = LargeInitialWindow::default();
        let endpoint = Window { cwnd: segments(1), ssthresh: segments(32) };
        let first = Window { cwnd: segments(64), ssthresh: segments(64) };
        assert_eq!(policy.open(endpoint, Bytes(MSS)), first);
        let view = view(100, 1, 64, 64);
        let step = policy.step(&ack(&view, 100), &view);
        assert_eq!((step.window, step.exit), (view.window, Some(Exit::Threshold)));
    }

    #[test]
    fn is_slow_start_after_a_timeout() {
        let mut policy = LargeInitialWindow::default();
        let view = view(100, 1, 1, 32);
        assert_eq!(policy.step(&ack(&view, 100), &view).window.cwnd, segments(2));
    }
}

mod hoe {
    use super::*;

    /// ACKs of one round, one every millisecond: 1 MB/s, which over 100 ms are 100 segments.
    fn after_acks(policy: &mut Hoe, count: u64, ssthresh: u64) -> Window {
        let mut window = Window { cwnd: segments(4), ssthresh: segments(ssthresh) };
        for i in 1..=count {
            let view = View { window, ..view(100 + i, i, 4, ssthresh) };
            let ack = ack(&view, 100);
            policy.on_ack(&ack, &view);
            window = policy.step(&ack, &view).window;
        }
        window
    }

    fn rate(policy: &Hoe) -> Option<u64> {
        let mut found = None;
        policy.gauges(&mut |name, value| found = (name == "pair_rate").then_some(value));
        found
    }

    #[test]
    fn it_reports_the_rate_that_it_measured() {
        let mut policy = Hoe::default();
        let _ = after_acks(&mut policy, 3, 32);
        assert_eq!(rate(&policy), Some(1_000_000));
    }

    #[test]
    fn three_close_acks_set_ssthresh_up_or_down() {
        assert_eq!(after_acks(&mut Hoe::default(), 2, 32).ssthresh, segments(32));
        assert_eq!(after_acks(&mut Hoe::default(), 3, 32).ssthresh, segments(100));
        assert_eq!(after_acks(&mut Hoe::default(), 3, 5_000).ssthresh, segments(100));
        assert_eq!(after_acks(&mut Hoe::default(), 3, 32).cwnd, segments(7), "slow start goes on");
    }

    #[test]
    fn acks_a_quarter_of_the_rtt_apart_are_not_close() {
        let mut policy = Hoe::default();
        for i in 0..6 {
            // Pairs of ACKs once per 25 ms: any three span at least that.
            let view = view(100 + i / 2 * 25 + i % 2, i + 1, 4, 32);
            policy.on_ack(&ack(&view, 100), &view);
            assert_eq!(policy.step(&ack(&view, 100), &view).window.ssthresh, segments(32));
        }
    }

    #[test]
    fn the_ns2_preset_takes_the_second_and_third_ack_and_only_lowers() {
        let ns2 = || {
            let mut policy = Hoe::default();
            assert!(policy.set("preset", KnobValue::Word("ns2")));
            policy
        };
        // Without a handshake the ACKs of the first three segments count, with one those of two.
        assert_eq!(after_acks(&mut ns2(), 2, 5_000).ssthresh, segments(5_000));
        assert_eq!(after_acks(&mut ns2(), 3, 5_000).ssthresh, segments(100));
        assert_eq!(after_acks(&mut ns2(), 3, 32).ssthresh, segments(32));
        let mut greeted = ns2();
        greeted.on_handshake(&view(100, 0, 1, 5_000));
        assert_eq!(after_acks(&mut greeted, 2, 5_000).ssthresh, segments(100));
    }

    /// A clock of 30 ms reads 100 ms as 90: 90 segments at 1 MB/s.
    #[test]
    fn a_coarse_clock_makes_ssthresh_smaller() {
        for preset in ["paper", "ns2"] {
            let mut policy = Hoe::default();
            assert!(policy.set("preset", KnobValue::Word(preset)));
            assert!(policy.set("tick", KnobValue::Time(Span::from_millis(30))));
            assert_eq!(after_acks(&mut policy, 3, 5_000).ssthresh, segments(90), "{preset}");
        }
    }

    /// The third ACK comes with the second: what lies between them has no rate.
    #[test]
    fn the_ns2_preset_measures_nothing_between_acks_of_one_instant() {
        let mut policy = Hoe::default();
        assert!(policy.set("preset", KnobValue::Word("ns2")));
        for (now, acked) in [(100, 1), (101, 2), (101, 3)] {
            let view = view(now, acked, 4, 5_000);
            policy.on_ack(&ack(&view, 100), &view);
        }
        assert_eq!(rate(&policy), Some(0));
    }

    /// 10 bytes every millisecond are 1000 bytes in 100 ms, one segment.
    #[test]
    fn ssthresh_is_never_below_two_segments() {
        let mut policy = Hoe::default();
        for i in 1..=3 {
            let view = View { delivered: Bytes(10 * i), ..view(100 + i, i, 4, 32) };
            policy.on_ack(&ack(&view, 100), &view);
        }
        let last = view(103, 3, 4, 32);
        assert_eq!(policy.step(&ack(&last, 100), &last).window.ssthresh, segments(2));
    }
}

mod astart {
    use super::*;

    /// A start-up that has seen 5 MB/s for two seconds: 500 segments over 100 ms.
    fn warm() -> Astart {
        let mut policy = Astart::default();
        for i in 0..10_000 {
            let mut view = view(0, i, 500, 32);
            view.now = Instant(1_000_000_000 + i * 200_000);
            policy.on_ack(&ack(&view, 100), &view);
        }
        policy
    }

    /// Whole segments of the estimate, which the window's edge of an interval keeps a little high.
    fn estimated(policy: &Astart) -> u64 {
        policy.eligible().map_or(0, |it| it.window(Span::from_millis(100)).0 / MSS)
    }

    #[test]
    fn it_reports_its_estimate() {
        let (policy, mut found) = (warm(), Vec::new());
        policy.gauges(&mut |name, value| found.push((name, value)));
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["ere", "re", "tk"]);
        assert_eq!(Some(Eligible::exact(Rate(found[0].1))), policy.eligible());
        assert!(found[0].1.abs_diff(5_000_000) < 50_000, "{found:?}");
    }

    #[test]
    fn the_estimate_raises_ssthresh_to_whole_segments() {
        let mut policy = warm();
        let estimate = estimated(&policy);
        assert!((495..=515).contains(&estimate), "{estimate}");
        let below = view(3_000, 0, 40, 32);
        let step = policy.step(&ack(&below, 100), &below);
        assert_eq!((step.window.ssthresh, step.window.cwnd), (segments(estimate), segments(41)));
        assert_eq!(step.exit, None);
    }

    #[test]
    fn ssthresh_is_never_lowered_and_the_linear_phase_does_not_end_start_up() {
        let mut policy = warm();
        let above = view(3_000, 0, 1_000, 800);
        let step = policy.step(&ack(&above, 100), &above);
        assert_eq!((step.window.ssthresh, step.window.cwnd), (segments(800), Bytes(1_000_001)));
        assert_eq!(step.exit, None);
    }

    #[test]
    fn the_first_ssthresh_is_32_segments_where_the_endpoint_has_none() {
        let mut policy = Astart::default();
        let first = |policy: &Astart, ssthresh: Bytes| {
            policy.open(Window { cwnd: segments(2), ssthresh }, Bytes(MSS)).ssthresh
        };
        assert_eq!(first(&policy, Bytes::MAX), segments(32));
        assert_eq!(first(&policy, segments(7)), segments(7));
        assert!(policy.set("ssthresh", KnobValue::Window(Amount::Unlimited)));
        assert_eq!(first(&policy, segments(7)), Bytes::MAX);
    }
}

mod westwood {
    use super::*;

    /// 5 MB/s by the start-up's estimate: 500 segments.
    fn estimated(cwnd: u64) -> View {
        View { eligible: Some(Eligible::exact(Rate(5_000_900))), ..view(0, 0, cwnd, 32) }
    }

    #[test]
    fn a_loss_cuts_to_the_estimate_but_never_raises_cwnd() {
        let mut policy = Westwood::default();
        let cut = policy.cut(&loss(LossKind::Recovery, 800, false), &estimated(800));
        assert_eq!((cut.cwnd, cut.ssthresh), (segments(500), segments(500)));
        let cut = policy.cut(&loss(LossKind::Recovery, 80, false), &estimated(80));
        assert_eq!((cut.cwnd, cut.ssthresh), (segments(80), segments(500)));
    }

    /// The view's RTTmin is 100 ms, of which a clock of 30 ms tells 90: 450 segments of 500.
    #[test]
    fn a_cut_takes_rtt_min_as_the_estimate_knows_it() {
        let eligible = Eligible { rate: Rate(5_000_900), tick: Span::from_millis(30) };
        let view = View { eligible: Some(eligible), ..estimated(800) };
        let cut = Westwood::default().cut(&loss(LossKind::Recovery, 800, false), &view);
        assert_eq!(cut.ssthresh, segments(450));
    }

    #[test]
    fn without_an_estimate_two_segments_stay_and_without_an_rtt_half() {
        let mut policy = Westwood::default();
        let cut = policy.cut(&loss(LossKind::Timeout, 80, false), &view(0, 0, 80, 32));
        assert_eq!(cut.ssthresh, segments(2));
        let mut unmeasured = view(0, 0, 80, 32);
        unmeasured.rtt.min = Span::MAX;
        let cut = policy.cut(&loss(LossKind::Timeout, 80, false), &unmeasured);
        assert_eq!(cut.ssthresh, segments(40));
    }

    #[test]
    fn a_knob_of_its_own_makes_it_keep_its_own_estimate() {
        let mut policy = Westwood::default();
        assert!(policy.set("ere.N", KnobValue::Count(0)));
        let cut = policy.cut(&loss(LossKind::Recovery, 800, false), &estimated(800));
        assert_eq!(cut.ssthresh, segments(2), "its own has seen nothing");
    }

    fn gauge(policy: &Westwood, name: &str) -> Option<u64> {
        let mut found = None;
        policy.gauges(&mut |one, value| found = if one == name { Some(value) } else { found });
        found
    }

    /// A segment every millisecond for a second.
    fn run(policy: &mut Westwood, at: &View) -> View {
        let mut view = *at;
        for ms in 1_000..2_000 {
            view.now = Instant(ms * 1_000_000);
            policy.on_ack(&ack(&view, 100), &view);
            let _ = policy.step(&ack(&view, 100), &view);
        }
        view
    }

    #[test]
    fn its_own_estimate_rests_while_the_start_up_has_one() {
        let mut policy = Westwood::default();
        let _ = run(&mut policy, &estimated(100));
        assert_eq!(gauge(&policy, "westwood_ere"), Some(0));
        let _ = run(&mut policy, &view(0, 0, 100, 32));
        let found = gauge(&policy, "westwood_ere");
        assert!(found.is_some_and(|rate| rate.abs_diff(1_000_000) < 10_000), "{found:?}");
    }

    /// 1 MB/s over 100 ms are a hundred segments, more than a window of ten expects.
    #[test]
    fn signs_of_a_light_load_from_before_avoidance_began_do_not_count() {
        let mut policy = Westwood::default();
        assert!(policy.set("lg", KnobValue::Word("on")));
        let last = run(&mut policy, &estimated(32));
        assert!(policy.wants_reprobe() && gauge(&policy, "lg_counter") > Some(0));
        policy.enter(&Found::default(), &last);
        assert!(!policy.wants_reprobe() && gauge(&policy, "lg_counter") == Some(0));
    }
}

/// RFC 5681 section 3.1, RFC 9438 section 4.6, Kelly's b = 0.125, and Vegas' quarter.
#[test]
fn avoidances_report_what_a_loss_leaves() {
    let beta = |name| AnyAvoidance::by_name(name).map(|policy| policy.beta());
    let names = ["newreno", "cubic", "scalable", "vegas", "stabilized-vegas"];
    assert_eq!(names.map(beta), [500_000, 700_000, 875_000, 750_000, 750_000].map(Some));
}
