//! CUBIC of the RFC, and what its presets share.

use super::*;
use crate::testing::{self, MSS};
use crate::view::Phase;

pub(super) fn view(cwnd: u64, ssthresh: u64, now_ms: u64) -> View {
    let now = Instant(now_ms * 1_000_000);
    View { now, phase: Phase::Avoidance, ..testing::view(cwnd, MSS * ssthresh) }
}

pub(super) fn loss(kind: LossKind, flight: u64) -> Loss {
    Loss::of(Instant(0), kind, MSS, MSS * flight)
}

pub(super) fn ack() -> Ack {
    Ack { acked: MSS, credited: MSS, ..Ack::default() }
}

#[test]
fn a_loss_leaves_beta_and_a_second_below_it_makes_room() {
    let mut cubic = Cubic::default();
    let cut = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
    assert_eq!((cut.cwnd, cut.ssthresh), (Bytes(70_000), Bytes(70_000)));
    assert_eq!(cubic.epoch.w_max, Bytes(100_000));
    // 80 < 100: W_max = 80 * 1.7 / 2 = 68.
    let _ = cubic.cut(&loss(LossKind::Recovery, 80), &view(80, 70, 0));
    assert_eq!(cubic.epoch.w_max, Bytes(68_000));
    assert!(cubic.set("fast_convergence", KnobValue::Word("off")));
    let _ = cubic.cut(&loss(LossKind::Recovery, 60), &view(60, 56, 0));
    assert_eq!(cubic.epoch.w_max, Bytes(60_000));
}

#[test]
fn a_loss_during_start_up_leaves_what_its_own_knob_says() {
    let mut cubic = Cubic::default();
    let startup = View { phase: Phase::Startup, ..view(100, 200, 0) };
    let lost = loss(LossKind::Recovery, 100);
    assert_eq!(cubic.cut(&lost, &startup).cwnd, Bytes(70_000), "beta, unless told");
    assert!(cubic.set("startup_beta", KnobValue::Ratio(500_000)));
    assert_eq!(cubic.cut(&lost, &startup).cwnd, Bytes(50_000));
    assert_eq!(cubic.epoch.w_max, Bytes(100_000));
    assert_eq!(cubic.cut(&lost, &view(100, 50, 0)).cwnd, Bytes(70_000));
    assert!(cubic.set("preset", KnobValue::Word("linux")));
    assert_eq!(cubic.value("startup_beta"), Some(KnobValue::Ratio(717 * RATIO_ONE / 1024)));
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
    // 100 s later the curve is far above. The limit is half a window of 7 segments per RTT, and the
    // ACK of one segment adds a seventh of that.
    let step = cubic.step(&ack(), &view(7, 7, 100_000));
    assert_eq!(step.window.cwnd, Bytes(7_500));
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
    assert_eq!((cubic.epoch.curve.origin, cubic.epoch.curve.k), (Bytes(70_000), 0));
    assert_eq!(cubic.epoch.cwnd_prior, Bytes(70_000));
}

#[test]
fn time_in_which_the_source_limits_does_not_count() {
    // In Linux it does, but for rests, and in CUBIC 2.1 all of it.
    for (preset, limited, rested) in [("rfc9438", 5, 7), ("linux", 0, 2), ("ns2", 0, 0)] {
        let mut cubic = Cubic::default();
        assert!(cubic.set("preset", KnobValue::Word(preset)));
        let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        let _ = cubic.step(&ack(), &view(70, 60, 0));
        let window = view(70, 60, 5_000);
        let ack = Ack { app_limited: true, ..ack() };
        assert_eq!(cubic.step(&ack, &window).window.cwnd, Bytes(70_000));
        assert_eq!(cubic.epoch.t_epoch, Instant(limited * 1_000_000_000), "{preset}");
        cubic.on_rest(Span::from_secs(2), &view(70, 60, 9_000));
        assert_eq!(cubic.epoch.t_epoch, Instant(rested * 1_000_000_000), "{preset}");
    }
}

/// The curve runs for 3 s. The last packet leaves at 4 s, its ACK comes at 5 s and is
/// application-limited, and more data leaves at 7 s: that ACK has left out the time up to 5 s.
/// Linux knows no such ACKs.
#[test]
fn time_that_an_application_limited_ack_has_left_out_is_not_left_out_again() {
    for (preset, t_epoch) in [("rfc9438", 4), ("linux", 3), ("ns2", 0)] {
        let mut cubic = Cubic::default();
        assert!(cubic.set("preset", KnobValue::Word(preset)));
        let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        let _ = cubic.step(&ack(), &view(70, 60, 0));
        let _ = cubic.step(&ack(), &view(70, 60, 3_000));
        let _ = cubic.step(&Ack { app_limited: true, ..ack() }, &view(70, 60, 5_000));
        cubic.on_rest(Span::from_secs(3), &view(70, 60, 7_000));
        assert_eq!(cubic.epoch.t_epoch, Instant(t_epoch * 1_000_000_000), "{preset}");
    }
}

/// RFC 9438 section 5.8; slow start after a rest leads back to the curve, once.
#[test]
fn a_rest_does_not_count_either() {
    let mut cubic = Cubic::default();
    let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
    let _ = cubic.step(&ack(), &view(70, 70, 1_000));
    cubic.on_rest(Span::from_secs(5), &view(70, 70, 7_000));
    assert_eq!(
        (cubic.epoch.t_epoch, cubic.epoch.last),
        (Instant(6_000_000_000), Instant(7_000_000_000))
    );
    for stage in [Stage::Running, Stage::Unknown] {
        cubic.enter(&Found::default(), &view(70, 70, 7_000));
        assert_eq!(cubic.stage, stage);
    }
    cubic.on_rest(Span::from_secs(60), &view(70, 70, 8_000));
    assert_eq!(cubic.epoch.t_epoch, Instant(7_000_000_000), "not since before the last rest");
    assert!(cubic.set("preset", KnobValue::Word("linux")));
    cubic.on_rest(Span::from_secs(60), &view(70, 70, 9_000));
    assert_eq!(cubic.epoch.t_epoch, Instant(9_000_000_000), "not after now");
}

/// RFC 9438 section 4.7: only below W_max did another flow take bandwidth.
#[test]
fn a_second_loss_at_the_same_window_makes_no_room() {
    let mut cubic = Cubic::default();
    for _ in 0..2 {
        let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
    }
    assert_eq!(cubic.epoch.w_max, Bytes(100_000));
}

/// RFC 9438 section 4.3: cwnd follows the Reno estimate where the curve is below it. Here curve and
/// estimate are equal. The curve grows by 0.4 * 5^3 = 50 segments in an RTT of 5 s, of which an ACK
/// for one byte of a window of 100 kB adds half a byte.
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
    assert_eq!((cubic.epoch.curve.origin, cubic.epoch.t_epoch), (MSS * 90, Instant(1_000_000_000)));
}

#[test]
fn what_start_up_hands_on_is_where_the_curve_turns_if_it_is_beyond_the_window() {
    let origin = |pipe: u64, peak: Option<u64>, cut: bool| {
        let mut cubic = Cubic::default();
        if cut {
            let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        }
        let (pipe, peak) = (Some(MSS * pipe), peak.map(|peak| MSS * peak));
        cubic.enter(&Found { pipe, peak, ..Found::default() }, &view(70, 70, 0));
        let _ = cubic.step(&ack(), &view(70, 70, 0));
        cubic.epoch.curve.origin.0 / MSS.0
    };
    assert_eq!(origin(90, None, false), 90, "a pipe not filled");
    assert_eq!(origin(60, None, false), 70, "a pipe with a queue: flat from here");
    assert_eq!(origin(90, Some(120), false), 120, "what it believes there is room for");
    assert_eq!(origin(90, None, true), 100, "the loss that ended it knows better");
    assert_eq!(origin(90, Some(120), true), 120);
    let mut cubic = Cubic::default();
    let pipe = Some(MSS * 70);
    cubic.enter(&Found { pipe, ..Found::default() }, &view(70, 70, 0));
    assert_eq!(
        (cubic.stage, cubic.epoch.w_max),
        (Stage::Unknown, Bytes(0)),
        "a pipe that is filled"
    );
}

#[test]
fn a_cut_that_ended_start_up_is_where_the_curve_comes_from() {
    let mut cubic = Cubic::default();
    let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
    cubic.enter(&Found::default(), &view(70, 70, 0));
    let _ = cubic.step(&ack(), &view(70, 70, 0));
    assert_eq!(cubic.epoch.curve.origin, MSS * 100);
    let gauges = ["cubic_w_max", "cubic_w_est"].map(|name| testing::gauge(&cubic, name));
    // W_est begins at 70 segments; an ACK for one adds alpha = 9/17 over 70: 7.56 bytes.
    assert_eq!(gauges, [Some(100_000), Some(70_007)]);
}
