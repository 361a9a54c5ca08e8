//! BBR's cycle, worked by hand from the draft.

use super::super::tests::{known, sampled};
use super::*;
use crate::event::{Loss, LossKind};
use crate::testing::{MSS, ack};

const NOTHING: Now = Now { round: false, rate: Rate(0), limited: false };
const ROUND: Now = Now { round: true, rate: Rate(500_000), limited: false };

/// The table of section 5.6.1, in hundredths.
#[test]
fn each_state_has_its_gains() {
    for (state, pacing, window, probes) in [
        (State::Down, 90, 200, false),
        (State::Cruise, 100, 200, false),
        (State::Refill, 100, 200, true),
        (State::Up, 125, 225, true),
        (State::ProbeRtt, 100, 50, false),
    ] {
        assert_eq!((state.pacing(), state.window()), (pacing * 10_000, window * 10_000));
        assert_eq!(state.probes(), probes, "{state:?}");
    }
}

/// The first two outputs of SplitMix64 from seed 0, as published with it.
#[test]
fn draws_are_split_mix_64_s() {
    assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
    assert_eq!(mixed(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
}

/// `PickProbeWait`: two to three seconds and none or one round, from each bit of what is the
/// flow's own.
#[test]
fn waits_differ_with_the_time_with_what_is_delivered_and_with_the_rtt() {
    let (bbr, view) = known();
    let drawn = |view: &View| {
        let mut cycle = bbr.cycle;
        cycle.draw_wait(view);
        assert!(
            cycle.bw_probe_wait >= Span::from_secs(2) && cycle.bw_probe_wait < Span::from_secs(3)
        );
        assert!(cycle.rounds_since_up <= 1);
        (cycle.bw_probe_wait, cycle.rounds_since_up)
    };
    let (mut odd, mut rounds) = ([0, 0], [0, 0]);
    for bit in (0..64).map(|bit| 1 << bit) {
        let (mut time, mut data, mut rtt) = (view, view, view);
        time.now.0 ^= bit;
        data.delivered.0 ^= bit;
        rtt.rtt.smoothed.0 ^= bit;
        for other in [time, data, rtt] {
            let (wait, round) = drawn(&other);
            assert_ne!((wait, round), drawn(&view));
            odd[(wait.0 & 1) as usize] += 1;
            rounds[round as usize] += 1;
        }
    }
    assert!(odd.iter().chain(&rounds).all(|count| *count > 64), "{odd:?} {rounds:?}");
}

/// `CheckFullBWReached`: what counts as a round, and that a full pipe stays full.
#[test]
fn rounds_count_that_the_source_did_not_limit() {
    let mut full = FullPipe::default();
    let mut after = |rate, round, limited| {
        Now { round, rate: Rate(rate), limited }.check(&mut full);
        (full.best().0, full.flat_rounds(), full.is_full())
    };
    assert_eq!(after(125, true, false), (125, 0, false));
    assert_eq!(after(130, true, false), (125, 1, false));
    assert_eq!(after(130, false, false), (125, 1, false), "no round");
    assert_eq!(after(130, true, true), (125, 1, false), "limited by the source");
    assert_eq!(after(0, true, false), (125, 1, false), "no sample");
    assert_eq!(after(130, true, false), (125, 2, false));
    assert_eq!(after(130, true, false), (125, 3, true));
    assert_eq!(after(500, true, false), (125, 3, true), "full it stays");
}

/// `RaiseInflightLongtermSlope`: a segment more per window, then per half, and so on.
#[test]
fn the_slope_of_the_bound_doubles_with_each_round() {
    let (mut bbr, view) = known();
    bbr.cycle.up_rounds = 0;
    for (rounds, increment) in [(1, 200_000), (2, 100_000), (3, 50_000)] {
        bbr.cycle.steepen(&view);
        let cycle = bbr.cycle;
        assert_eq!((cycle.up_rounds, cycle.acked_per_increment), (rounds, Bytes(increment)));
    }
    bbr.cycle.up_rounds = 30;
    bbr.cycle.steepen(&view);
    assert_eq!((bbr.cycle.up_rounds, bbr.cycle.acked_per_increment), (30, MSS));
}

/// `IsTimeToProbeBW`: the drawn time, 63 rounds, or as many rounds as Reno would take.
#[test]
fn a_probe_is_due_by_time_or_by_rounds() {
    let (mut bbr, mut view) = known();
    let due = |bbr: &Bbr, view: &View, ns, rounds| {
        let (mut bbr, mut view) = (*bbr, *view);
        view.now = bbr.cycle.cycle_stamp + bbr.cycle.bw_probe_wait + Span(ns);
        bbr.cycle.rounds_since_up = rounds;
        bbr.is_time_to_probe(&view)
    };
    assert!(!due(&bbr, &view, 0, 62) && due(&bbr, &view, 1, 0) && due(&bbr, &view, 0, 63));
    view.window.cwnd = MSS * 40;
    assert!(!due(&bbr, &view, 0, 39) && due(&bbr, &view, 0, 40));
    bbr.cycle.bw_probe_wait = Span(0);
    bbr.advance(&ack(&view, 1), NOTHING, &view);
    assert_eq!(bbr.cycle.state, State::Cruise, "no time has passed");
}

/// `IsTimeToCruise`: the flight is within the pipe and leaves headroom.
#[test]
fn down_ends_when_the_queue_is_drained() {
    let cruises = |longterm, in_flight| {
        let (mut bbr, mut view) = known();
        bbr.cycle.state = State::Down;
        (bbr.inflight_longterm, view.in_flight) = (Bytes(longterm), Bytes(in_flight));
        bbr.advance(&ack(&view, 1), NOTHING, &view);
        bbr.cycle.state == State::Cruise
    };
    assert!(cruises(u64::MAX, 100_000) && !cruises(u64::MAX, 100_001));
    assert!(cruises(100_000, 85_000) && !cruises(100_000, 85_001));
}

/// A cycle, state by state (`UpdateProbeBWCyclePhase`).
#[test]
fn refill_takes_a_round_up_ends_when_the_rate_stops_growing() {
    for before in [State::Down, State::Cruise] {
        let (mut bbr, mut view) = known();
        (bbr.cycle.state, bbr.cycle.stopping) = (before, true);
        bbr.bounds.rate = Rate(900_000);
        (bbr.cycle.up_rounds, bbr.cycle.up_acked) = (3, MSS);
        bbr.cycle.precautionary = true;
        view.now = view.now + Span::from_secs(4);
        bbr.advance(&ack(&view, 1), NOTHING, &view);
        let Cycle { state, stopping, up_rounds, up_acked, precautionary, .. } = bbr.cycle;
        assert_eq!((state, stopping, precautionary), (State::Refill, false, false));
        assert_eq!((up_rounds, up_acked, bbr.bounds.rate), (0, Bytes(0), Rate::MAX));
        bbr.advance(&ack(&view, 1), NOTHING, &view);
        assert_eq!(bbr.cycle.state, State::Refill);
        bbr.advance(&ack(&view, 1), ROUND, &view);
        let Cycle { state, samples_probe, up_rounds, .. } = bbr.cycle;
        assert_eq!((state, samples_probe), (State::Up, true));
        assert_eq!((up_rounds, bbr.full.best()), (1, ROUND.rate));
        bbr.advance(&ack(&view, 1), ROUND, &view);
        assert_eq!(bbr.cycle.state, State::Up);
        (bbr.full, bbr.cycle.too_high) = (FullPipe::FULL, true);
        bbr.advance(&ack(&view, 1), NOTHING, &view);
        let Cycle { state, stopping, too_high, acked_per_increment, cycle_stamp, .. } = bbr.cycle;
        assert_eq!((state, stopping, too_high), (State::Down, true, false));
        assert_eq!((acked_per_increment, cycle_stamp), (Bytes::MAX, view.now));
    }
}

/// Rounds of the model begin with each state: its ACKs are for packets that left in it.
#[test]
fn a_state_s_first_round_ends_with_a_packet_that_left_in_it() {
    type Start = fn(&mut Bbr, &View);
    let starts: [Start; 3] = [
        |bbr, view| bbr.start_down(view),
        |bbr, view| bbr.start_refill(view),
        |bbr, view| bbr.start_up(Rate(1), view),
    ];
    for start in starts {
        let (mut bbr, mut view) = known();
        view.delivered += MSS;
        start(&mut bbr, &view);
        for (then, ends) in [(view.delivered - MSS, false), (view.delivered, true)] {
            let ack = sampled(&view, then, MSS);
            assert_eq!(bbr.model.count(&ack, Rate(1), &view).is_some(), ends);
        }
    }
}

/// `IsTimeToGoDown`. A flight counts in whole segments, rounded up.
#[test]
fn a_precautionary_probe_ends_at_the_bound() {
    let goes = |precaution, too_high, in_flight| {
        let (mut bbr, view) = known();
        (bbr.form.precaution, bbr.cycle.too_high) = (precaution, too_high);
        bbr.inflight_longterm = Bytes(100_000);
        let ack = Ack { in_flight: Bytes(in_flight), ..ack(&view, 1) };
        let goes = bbr.is_time_to_go_down(&ack, NOTHING, &view);
        assert_eq!(bbr.cycle.precautionary, goes);
        goes
    };
    assert!(goes(true, true, 98_001) && !goes(true, true, 98_000));
    assert!(!goes(false, true, 98_001) && !goes(true, false, 98_001));
}

#[test]
fn a_rate_that_the_bound_limits_does_not_end_up() {
    for (filled, cwnd, ends) in [
        ([true, false], 100, false),
        ([false, true], 101, false),
        ([false, false], 100, true),
        ([true, false], 99, true),
    ] {
        let (mut bbr, mut view) = known();
        (bbr.is_cwnd_limited, bbr.inflight_longterm) = (filled, Bytes(100_000));
        bbr.full = FullPipe::FULL;
        view.window.cwnd = MSS * cwnd;
        assert_eq!(bbr.is_time_to_go_down(&ack(&view, 1), ROUND, &view), ends);
        assert_eq!(bbr.full.best(), if ends { Rate(0) } else { ROUND.rate });
    }
}

/// `AdaptLongTermModel` forgets the rate of the cycle before last, unless the source limited.
#[test]
fn a_cycle_s_rate_counts_for_two() {
    let after = |state, limited| {
        let (mut bbr, view) = known();
        bbr.model.next_cycle();
        bbr.cycle.state = state;
        bbr.cycle.stopping = true;
        bbr.cycle.samples_probe = true;
        assert!(!bbr.adapt_long_term(&ack(&view, 1), NOTHING, &view));
        assert!(bbr.cycle.samples_probe && bbr.cycle.stopping);
        assert!(!bbr.adapt_long_term(&ack(&view, 1), Now { limited, ..ROUND }, &view));
        assert!(!bbr.cycle.samples_probe && !bbr.cycle.stopping);
        bbr.model.bandwidth()
    };
    assert_eq!(after(State::Down, false), Rate(0));
    assert_eq!(after(State::Down, true), Rate(1_000_000));
    assert_eq!(after(State::ProbeRtt, false), Rate(1_000_000));
}

#[test]
fn a_precautionary_probe_without_too_many_losses_is_followed_by_the_next() {
    let refills = |state, precautionary, too_high| {
        let (mut bbr, view) = known();
        (bbr.cycle.state, bbr.cycle.stopping) = (state, true);
        (bbr.cycle.precautionary, bbr.cycle.too_high) = (precautionary, too_high);
        bbr.adapt_long_term(&ack(&view, 1), ROUND, &view) && bbr.cycle.state == State::Refill
    };
    assert!(refills(State::Down, true, false));
    assert!(!refills(State::Down, true, true) && !refills(State::Down, false, false));
    assert!(!refills(State::ProbeRtt, true, false));
}

/// The bound follows a flight that lost at most two percent, and in UP it grows beyond.
#[test]
fn a_flight_without_many_losses_raises_the_bound() {
    let raised = |state, longterm, lost| {
        let (mut bbr, view) = known();
        (bbr.cycle.state, bbr.inflight_longterm, bbr.is_cwnd_limited) =
            (state, Bytes(longterm), [true, false]);
        bbr.cycle.acked_per_increment = Bytes(400);
        bbr.lose(&Loss::of(view.now, LossKind::Recovery, Bytes(lost), Bytes(0)), &view);
        let ack = sampled(&view, MSS * 900, MSS);
        assert!(!bbr.adapt_long_term(&ack, NOTHING, &view));
        bbr.inflight_longterm.0
    };
    assert_eq!(raised(State::Cruise, 80_000, 2_000), 100_000);
    assert_eq!(raised(State::Cruise, 80_000, 2_001), 80_000);
    assert_eq!(raised(State::Cruise, 120_000, 0), 120_000);
    assert_eq!(raised(State::Up, 120_000, 0), 122_000, "1000 bytes are two times 400");
    assert_eq!(raised(State::Up, 120_000, 3_000), 120_000);
    assert_eq!(raised(State::Up, u64::MAX, 0), u64::MAX);
}

/// `ProbeInflightLongtermUpward`.
#[test]
fn the_bound_grows_only_where_it_limits_the_flight() {
    for (filled, cwnd, grows) in [
        ([false, true], 100, true),
        ([true, false], 101, true),
        ([false, false], 100, false),
        ([true, false], 99, false),
    ] {
        let (mut bbr, mut view) = known();
        (bbr.is_cwnd_limited, bbr.inflight_longterm) = (filled, Bytes(100_000));
        (bbr.cycle.up_rounds, bbr.cycle.acked_per_increment) = (0, Bytes(400));
        view.window.cwnd = MSS * cwnd;
        bbr.probe_upward(MSS, false, &view);
        let (longterm, rest) = if grows { (102_000, 200) } else { (100_000, 0) };
        assert_eq!((bbr.inflight_longterm, bbr.cycle.up_acked), (Bytes(longterm), Bytes(rest)));
        bbr.inflight_longterm = Bytes(100_000);
        bbr.probe_upward(Bytes(100), true, &view);
        assert_eq!((bbr.cycle.up_rounds, bbr.cycle.up_acked.0), (grows as u32, rest / 2 * 3));
    }
}
