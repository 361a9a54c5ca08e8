//! The model's bounds, worked by hand on a path of 1 MB/s and 100 ms, which 100 segments fill.

use super::*;
use crate::event::RateSample;
use crate::knob::KnobValue;
use crate::testing::{MSS, ack, gauge, view};
use crate::units::Instant;

const PIPE: Bytes = Bytes(100_000);

/// Cruising with a window of two pipes.
pub(super) fn known() -> (Bbr, View) {
    let mut view = view(200, Bytes::MAX);
    view.phase = Phase::Avoidance;
    view.now = Instant(10_000_000_000);
    view.delivered = MSS * 1_000;
    let mut bbr = Bbr { full_bw_reached: true, ..Bbr::default() };
    bbr.model.take(Rate(1_000_000), false);
    bbr.rtt.on_ack(Some(view.rtt.latest), view.now);
    bbr.start_down(&view);
    bbr.cycle.state = State::Cruise;
    (bbr, view)
}

/// An ACK for a packet that left when so much had been delivered, with a sample of 100 ms.
pub(super) fn sampled(view: &View, then: Bytes, delivered: Bytes) -> Ack {
    let (interval, app_limited) = (Span::from_millis(100), false);
    let packet = Departure { sent_at: Instant(0), delivered: then, in_flight: PIPE };
    let sample = Some(RateSample { delivered, interval, app_limited });
    Ack { packet: Some(packet), sample, ..ack(view, 1) }
}

/// `UpdateMaxInflight`, `UpdateOffloadBudget`, `QuantizationBudget`: a quantum is a millisecond of
/// the pacing rate, two segments to 64 KiB, and three of them always fly.
#[test]
fn the_largest_flight_is_the_gain_s_pipes_with_what_acks_run_ahead() {
    let (mut bbr, view) = known();
    let at = |bbr: &Bbr, rate, more| bbr.in_flight_at(Rate(rate), 2_000_000, Bytes(more), &view);
    assert_eq!(at(&bbr, 1_000_000, 5_000), Some(Bytes(205_000)));
    assert_eq!(at(&bbr, 10_000, 0), Some(MSS * 2 * 3));
    assert_eq!(at(&bbr, 0, 0), None);
    assert_eq!(at(&Bbr::default(), 1_000_000, 0), None, "no RTT is known");
    bbr.cycle.state = State::Up;
    assert_eq!(at(&bbr, 1_000_000, 5_000), Some(Bytes(205_000) + MSS * 2));
    for (rate, state, quantum) in [
        (30_000_000, State::Cruise, 30_000),
        (30_000_000, State::Down, 27_000),
        (100_000_000, State::Cruise, 65_536),
    ] {
        bbr.model.take(Rate(rate), false);
        bbr.cycle.state = state;
        assert_eq!(at(&bbr, 10_000, 0), Some(Bytes(3 * quantum)));
    }
}

#[test]
fn probe_rtt_headroom_and_target_are_shares_of_the_pipe_or_of_the_bound() {
    let (mut bbr, mut view) = known();
    assert_eq!(bbr.probe_rtt_window(&view), PIPE / 2);
    assert_eq!(bbr.with_headroom(&view), Bytes::MAX, "no bound");
    for (longterm, left) in [(100_000, 85_000), (6_000, 5_000), (4_000, 4_000)] {
        bbr.inflight_longterm = Bytes(longterm);
        assert_eq!(bbr.with_headroom(&view), Bytes(left));
    }
    assert_eq!(bbr.target(&view), PIPE);
    view.window.cwnd = PIPE / 2;
    assert_eq!(bbr.target(&view), PIPE / 2);
    bbr.bounds.rate = Rate(10_000);
    assert_eq!(bbr.probe_rtt_window(&view), MSS * 4, "BBR.MinPipeCwnd");
}

/// A probe's newest packet left with such a flight; then so much is lost.
fn after_losses(flight: u64, limited: bool, kind: LossKind, lost: &[u64]) -> Bbr {
    let (mut bbr, view) = known();
    let newest = sampled(&view, MSS * 900, PIPE).packet;
    bbr.newest = newest.map(|it| (Departure { in_flight: Bytes(flight), ..it }, limited));
    bbr.cycle.samples_probe = true;
    for lost in lost {
        bbr.lose(&Loss::of(view.now, kind, Bytes(*lost), PIPE), &view);
    }
    bbr
}

/// `InflightAtLoss`: of the flight before these losses, (0.02 flight - lost before) / 0.98 more.
#[test]
fn a_probe_that_loses_more_than_two_percent_bounds_the_flight_where_it_passed_them() {
    let longterm =
        |bbr: Bbr| (bbr.inflight_longterm.0, bbr.cycle.too_high, bbr.cycle.samples_probe);
    let lossy =
        |flight, lost: &[u64]| longterm(after_losses(flight, false, LossKind::Recovery, lost));
    assert_eq!(lossy(100_000, &[2_000]), (u64::MAX, false, true), "two percent are allowed");
    // 97 000 + 1940 / 0.98; 98 500 + (1970 - 1000) / 0.98.
    assert_eq!(lossy(100_000, &[3_000]), (98_979, true, false));
    assert_eq!(lossy(100_000, &[1_000, 1_500]), (99_489, true, false));
    assert_eq!(lossy(10_000, &[1_000]), (70_000, true, false), "no less than 0.7 of the target");
    let limited = after_losses(100_000, true, LossKind::Recovery, &[3_000]);
    assert_eq!(longterm(limited), (u64::MAX, true, false), "the source's flight is no bound");
    let marked = after_losses(200_000, false, LossKind::Mark, &[0]);
    assert_eq!(longterm(marked), (140_000, true, false), "beta of the flight");
}

#[test]
fn losses_outside_a_probe_set_no_bound_and_those_in_up_end_it() {
    let (mut bbr, view) = known();
    bbr.newest = sampled(&view, MSS * 900, PIPE).packet.map(|packet| (packet, false));
    let loss = Loss::of(view.now, LossKind::Recovery, MSS * 50, PIPE);
    bbr.lose(&loss, &view);
    assert_eq!((bbr.inflight_longterm, bbr.cycle.too_high), (Bytes::MAX, false));
    for (state, then) in [(State::Cruise, State::Cruise), (State::Up, State::Down)] {
        bbr.cycle.samples_probe = true;
        bbr.cycle.state = state;
        bbr.lose(&loss, &view);
        assert_eq!(bbr.cycle.state, then);
    }
}

/// `AdaptLowerBoundsFromCongestion` takes what a round of losses delivered, of a marked one beta.
#[test]
fn a_round_of_losses_lowers_the_short_term_bounds_unless_it_probes() {
    for (kind, state, phase, rate) in [
        (LossKind::Recovery, State::Cruise, Phase::Avoidance, 900_000),
        (LossKind::Mark, State::Cruise, Phase::Avoidance, 700_000),
        (LossKind::Recovery, State::Refill, Phase::Avoidance, u64::MAX),
        (LossKind::Recovery, State::Cruise, Phase::Startup, u64::MAX),
    ] {
        let (mut bbr, mut view) = known();
        (bbr.cycle.state, view.phase) = (state, phase);
        bbr.on_loss(&Loss::of(view.now, kind, MSS, PIPE), &view);
        bbr.on_ack(&sampled(&view, view.delivered, Bytes(90_000)), &view);
        assert_eq!(bbr.bounds.rate, Rate(rate), "{kind:?} {state:?} {phase:?}");
    }
}

/// `HandleRestartFromIdle`: what was delivered before it takes no part in its pace.
#[test]
fn after_a_rest_the_rate_is_the_pace_and_a_probe_rtt_that_is_over_ends() {
    for (state, now, after) in [
        (State::Down, 0, State::Down),
        (State::Up, 0, State::Up),
        (State::ProbeRtt, 200, State::ProbeRtt),
        (State::ProbeRtt, 201, State::Cruise),
    ] {
        let (mut bbr, mut view) = known();
        view.window.cwnd = PIPE / 2;
        (bbr.cycle.state, bbr.prior_cwnd) = (state, MSS * 150);
        bbr.rtt.begin();
        assert_eq!(bbr.rtt.probe(Bytes(0), PIPE, false, view.now), ProbeStep::Low);
        view.now = view.now + Span::from_millis(now);
        let window = if after == State::Cruise { MSS * 150 } else { PIPE / 2 };
        let step = bbr.rested(&view);
        assert_eq!((step.window.cwnd, bbr.cycle.state), (window, after));
        assert_eq!(step, Window { cwnd: window, ..view.window }.hold().paced(Rate(990_000)));
    }
}

/// `CheckProbeRTT`, `HandleProbeRTT`.
#[test]
fn probe_rtt_keeps_half_the_pipe_and_restores_the_window() {
    let (mut bbr, mut view) = known();
    let check = |bbr: &mut Bbr, view: &View, in_flight, round| {
        let ack = Ack { in_flight: Bytes(in_flight), ..ack(view, 1) };
        bbr.check_probe_rtt(&ack, round, view);
        bbr.cycle.state
    };
    assert_eq!(check(&mut bbr, &view, 80_000, false), State::Cruise);
    view.now = Instant(16_000_000_000);
    bbr.rtt.on_ack(None, view.now);
    bbr.bounds.rate = Rate(900_000);
    assert_eq!(check(&mut bbr, &view, 80_000, false), State::ProbeRtt);
    // MarkConnectionAppLimited: what is delivered until the flight has arrived.
    assert_eq!(bbr.probe_rtt, (Bytes(1_000_000), Bytes(1_080_000)));
    assert_eq!(bbr.prior_cwnd, view.window.cwnd);
    view.delivered += MSS * 10;
    assert_eq!(check(&mut bbr, &view, 45_000, false), State::ProbeRtt);
    assert_eq!(bbr.probe_rtt, (Bytes(1_000_000), Bytes(1_055_000)));
    view.now = view.now + Span::from_millis(201);
    assert_eq!(check(&mut bbr, &view, 45_000, true), State::Cruise);
    assert!(bbr.restores && bbr.bounds.rate == Rate::MAX);
}

/// `SaveCwnd`: the last window, and in a recovery or in ProbeRTT the largest.
#[test]
fn a_window_that_losses_or_probe_rtt_lowered_is_not_saved() {
    let saved = |recovering, state, phase, full_bw_reached| {
        let (mut bbr, mut view) = known();
        (bbr.recovering, bbr.cycle.state, bbr.full_bw_reached) =
            (recovering, state, full_bw_reached);
        (bbr.prior_cwnd, view.phase) = (MSS * 300, phase);
        bbr.save_window(&view);
        bbr.prior_cwnd
    };
    let (calm, now) = (MSS * 300, MSS * 200);
    assert_eq!(saved(false, State::Cruise, Phase::Avoidance, true), now);
    assert_eq!(saved(true, State::Cruise, Phase::Avoidance, true), calm);
    assert_eq!(saved(false, State::ProbeRtt, Phase::Avoidance, true), calm);
    // Slow start after a timeout leads back to the window of before.
    assert_eq!(saved(false, State::Cruise, Phase::Startup, true), calm);
    assert_eq!(saved(false, State::Cruise, Phase::Startup, false), now);
}

/// `BoundCwndForModel`.
#[test]
fn the_bounds_leave_headroom_but_in_probes() {
    let (mut bbr, view) = known();
    bbr.inflight_longterm = PIPE;
    for (state, bound) in [
        (State::Cruise, 85_000),
        (State::Down, 100_000),
        (State::Refill, 100_000),
        (State::Up, 100_000),
        (State::ProbeRtt, 50_000),
    ] {
        bbr.cycle.state = state;
        assert_eq!(bbr.bounded(MSS * 200, &view), Bytes(bound), "{state:?}");
    }
    bbr.cycle.state = State::Cruise;
    assert_eq!(bbr.bounded(MSS * 20, &view), MSS * 20);
    for (short, bound) in [(30_000, 30_000), (1_000, 4_000)] {
        bbr.bounds.in_flight = Bytes(short);
        assert_eq!(bbr.bounded(MSS * 200, &view), Bytes(bound));
    }
}

/// `SetCwnd`, `RestoreCwnd`, `SetPacingRate` with its margin of a hundredth.
#[test]
fn the_window_grows_by_what_is_delivered_and_comes_back_after_a_recovery() {
    let (mut bbr, mut view) = known();
    view.window.cwnd = PIPE;
    bbr.prior_cwnd = MSS * 150;
    let cwnd = |bbr: &mut Bbr, view: &View| bbr.decide(view).window.cwnd;
    bbr.newly_acked = MSS * 10;
    bbr.cycle.state = State::Down;
    let step = bbr.decide(&view);
    assert_eq!(step, view.window.grow(MSS * 10).paced(Rate(891_000)));
    assert_eq!(cwnd(&mut bbr, &view), PIPE, "what is answered counts no more");
    bbr.newly_acked = MSS * 500;
    assert_eq!(cwnd(&mut bbr, &view), PIPE * 2);
    for (restores, before, now, comes_back) in [
        (true, false, false, true),
        (false, true, false, true),
        (true, true, false, true),
        (false, true, true, false),
        (false, false, true, false),
    ] {
        (bbr.restores, bbr.recovering, view.recovering) = (restores, before, now);
        let expected = if comes_back { MSS * 150 } else { PIPE };
        assert_eq!(cwnd(&mut bbr, &view), expected, "{restores} {before} {now}");
        assert_eq!((bbr.recovering, bbr.restores), (now, false));
    }
    assert_eq!(Bbr::default().decide(&view), view.window.hold());
}

#[test]
fn what_start_up_found_is_believed_where_nothing_is_known() {
    let (rate, peak) = (Some(Rate(500_000)), Some(Bytes(80_000)));
    let found = Found { rate, peak, ..Found::default() };
    let (_, view) = known();
    let mut bbr = Bbr::default();
    bbr.rtt.begin();
    bbr.enter(&found, &view);
    assert_eq!((bbr.bandwidth(), bbr.inflight_longterm), (Rate(500_000), Bytes(80_000)));
    assert!(bbr.full_bw_reached && bbr.cycle.state == State::Down && !bbr.rtt.probes());
    let other = Found { rate: Some(Rate(900_000)), peak: Some(Bytes(90_000)), ..found };
    bbr.enter(&other, &view);
    assert_eq!((bbr.bandwidth(), bbr.inflight_longterm), (Rate(500_000), Bytes(80_000)));
    for (full_bw_reached, longterm) in [(true, Bytes::MAX), (false, Bytes(70_000))] {
        let mut bbr = Bbr { full_bw_reached, inflight_longterm: longterm, ..Bbr::default() };
        bbr.enter(&found, &view);
        assert_eq!(bbr.inflight_longterm, longterm);
    }
    let mut bbr = Bbr::default();
    bbr.enter(&Found { peak: Some(Bytes(1)), ..found }, &view);
    assert_eq!(bbr.inflight_longterm, MSS * 4);
}

/// Section 5.3.1.3, and `SaveCwnd` at a timeout.
#[test]
fn a_cut_leaves_the_pipe_or_what_was_delivered_lately() {
    let loss = |kind| Loss::of(Instant(0), kind, MSS, Bytes(80_000));
    let cut = |bbr: &mut Bbr, kind, view: &View| {
        let Window { cwnd, ssthresh } = bbr.cut(&loss(kind), view);
        assert_eq!(cwnd, ssthresh);
        (cwnd.0, bbr.inflight_longterm.0)
    };
    let startup = || Bbr { full_bw_reached: false, ..known().0 };
    let (mut full, mut view) = known();
    assert_eq!(cut(&mut startup(), LossKind::Recovery, &view), (100_000, 100_000));
    assert_eq!(cut(&mut startup(), LossKind::Mark, &view), (100_000, u64::MAX));
    assert_eq!(cut(&mut startup(), LossKind::Timeout, &view), (100_000, u64::MAX));
    assert_eq!(cut(&mut full, LossKind::Recovery, &view), (100_000, u64::MAX));
    assert_eq!(cut(&mut Bbr::default(), LossKind::Recovery, &view), (56_000, u64::MAX));
    let mut delivered = startup();
    delivered.bounds.on_ack(&sampled(&view, MSS, Bytes(120_000)), Rate(0), &view);
    assert_eq!(cut(&mut delivered, LossKind::Recovery, &view), (120_000, 120_000));
    for (good, ssthresh) in [(150_000, 150_000), (500_000, 200_000)] {
        full.prior_cwnd = Bytes(good);
        assert_eq!(cut(&mut full, LossKind::Timeout, &view), (ssthresh, u64::MAX));
    }
    view.window.cwnd = MSS * 50;
    assert_eq!(cut(&mut startup(), LossKind::Recovery, &view), (50_000, 100_000));
}

/// What left during ProbeRTT says nothing of the path's rate.
#[test]
fn samples_of_probe_rtt_s_flight_are_limited() {
    let limited = |marks: (u64, u64), then| {
        let (mut bbr, view) = known();
        bbr.probe_rtt = (Bytes(marks.0), Bytes(marks.1));
        bbr.on_ack(&sampled(&view, Bytes(then), PIPE), &view);
        bbr.newest.is_some_and(|(_, limited)| limited)
    };
    let marks = (1_000, 2_000);
    let found = [999, 1_000, 1_500, 2_000, 2_001].map(|then| limited(marks, then));
    assert_eq!(found, [false, true, true, true, false]);
    assert!(!limited((0, 0), 0), "there was no ProbeRTT");
}

#[test]
fn an_ack_counts_rounds_and_full_windows_and_one_for_nothing_changes_nothing() {
    let (mut bbr, mut view) = known();
    let nothing = Ack { credited: Bytes(0), rtt: Some(Span(1)), ..sampled(&view, MSS, PIPE) };
    bbr.on_ack(&nothing, &view);
    assert_eq!((bbr.rtt.min(), bbr.newest), (view.rtt.latest, None));
    // The window is full where less than a segment of it is free.
    for (in_flight, full) in [(198, [false, false]), (199, [true, false]), (198, [false, true])] {
        let rounds = bbr.cycle.rounds_since_up;
        let flight = Ack { in_flight: MSS * in_flight, ..sampled(&view, view.delivered, PIPE) };
        bbr.on_ack(&flight, &view);
        assert_eq!((bbr.is_cwnd_limited, bbr.cycle.rounds_since_up), (full, rounds + 1));
        view.delivered += MSS;
    }
    let (mut startup, _) = known();
    view.phase = Phase::Startup;
    view.in_flight = Bytes(0);
    startup.cycle.state = State::Down;
    startup.on_ack(&sampled(&view, MSS, PIPE), &view);
    assert_eq!(
        (startup.cycle.state, startup.newly_acked),
        (State::Down, MSS),
        "start-up is in charge"
    );
    view.phase = Phase::Avoidance;
    startup.on_ack(&sampled(&view, MSS, PIPE), &view);
    assert_eq!((startup.cycle.state, startup.newly_acked), (State::Cruise, MSS * 2));
}

#[test]
fn a_loss_begins_a_recovery_and_a_mark_does_not() {
    for (kind, recovering, good) in
        [(LossKind::Recovery, true, MSS * 200), (LossKind::Mark, false, Bytes(0))]
    {
        let (mut bbr, view) = known();
        bbr.on_loss(&Loss::of(view.now, kind, MSS, PIPE), &view);
        assert_eq!((bbr.recovering, bbr.prior_cwnd), (recovering, good));
    }
    let (mut bbr, view) = known();
    bbr.on_further_loss(&Loss::of(view.now, LossKind::Recovery, MSS, PIPE), &view);
    assert_eq!(bbr.history.lost(), MSS);
}

#[test]
fn it_needs_samples_and_a_window_of_its_own_in_recoveries_and_reports_its_model() {
    let (mut bbr, view) = known();
    let recovery = Facilities::RECOVERY_WINDOW;
    let facilities = Facilities::TIMES | Facilities::RATES | Facilities::PACKETS | recovery;
    assert_eq!(bbr.needs(), Needs::required(facilities).wanting(Facilities::PACING));
    assert_eq!((bbr.follows_model(), bbr.beta(), bbr.goes_on()), (true, 700_000, true));
    bbr.bounds.rate = Rate(900_000);
    bbr.bounds.in_flight = Bytes(90_000);
    bbr.inflight_longterm = Bytes(120_000);
    for (name, value) in [
        ("bbr_max_bw", 1_000_000),
        ("bbr_bw", 900_000),
        ("bbr_min_rtt", 100_000_000),
        ("bbr_state", State::Cruise as u64),
        ("bbr_inflight_longterm", 120_000),
        ("bbr_inflight_shortterm", 90_000),
        ("bbr_extra_acked_long", 0),
    ] {
        assert_eq!(gauge(&bbr, name), Some(value), "{name}");
    }
    let mut fresh = Bbr::default();
    fresh.on_handshake(&view);
    assert_eq!(fresh.rtt.min(), view.rtt.latest);
    for (name, value) in [
        ("loss", KnobValue::Ratio(30_000)),
        ("beta", KnobValue::Ratio(800_000)),
        ("headroom", KnobValue::Ratio(200_000)),
        ("precaution", KnobValue::Word("off")),
    ] {
        assert_ne!(fresh.value(name), Some(value));
        assert!(fresh.set(name, value));
        assert_eq!(fresh.value(name), Some(value));
    }
    let form = Form { loss: 30_000, beta: 800_000, headroom: 200_000, precaution: false };
    assert_eq!(fresh.form, form);
    for (name, most) in [("loss", 500_000), ("beta", 1_000_000), ("headroom", 500_000)] {
        assert!(fresh.set(name, KnobValue::Ratio(u64::MAX)));
        assert_eq!(fresh.value(name), Some(KnobValue::Ratio(most)));
    }
}
