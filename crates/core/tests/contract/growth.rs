//! Growth only as far as the flight justifies, and the counters that policies read.

use firstflight_core::event::{Ack, LossKind, Sent};
use firstflight_core::policy::{Answer, Entry, Exit};
use firstflight_core::sender::Config;
use firstflight_core::units::{Bytes, Instant};

use crate::contract::support::{Call, Later, Line, MSS, Start, config};

fn limited(growth: u64) -> Line {
    let step = |_: &Ack, view: &firstflight_core::view::View| view.window.grow(MSS * 1_000);
    let start = Start { growth, step, ..Start::default() };
    Line::with(start, Config { limit_growth_to_flight: true, initial_window: MSS * 4, ..config() })
}

#[test]
fn the_window_grows_to_the_factor_of_the_start_up_times_the_largest_flight() {
    for growth in [2, 3, 4] {
        for app_limited in [false, true] {
            let mut line = limited(growth);
            line.send(20);
            let ack = Ack { app_limited, ..line.next_ack(1) };
            line.sender.on_ack(&ack);
            assert_eq!(line.cwnd(), 20 * growth);
            // A smaller flight later takes nothing back and gives nothing more.
            line.ack(15).ack(1);
            assert_eq!(line.cwnd(), 20 * growth);
        }
    }
}

#[test]
fn the_first_window_counts_as_a_flight() {
    let mut line = limited(3);
    assert_eq!(line.send(1).ack(1).cwnd(), 12);
}

#[test]
fn after_a_cut_flights_count_anew_and_avoidance_grows_a_segment_beyond() {
    let mut line = limited(4);
    line.send(20).lose(LossKind::Recovery);
    line.sender.on_recovered(None);
    assert_eq!((line.cwnd(), line.sent), (14, 20_000));
    line.ack(13);
    assert_eq!(line.cwnd(), 15, "the flight was 20");
    let ack = Ack { app_limited: true, ..line.next_ack(1) };
    line.sender.on_ack(&ack);
    assert_eq!(line.cwnd(), 16, "an idle source is limited by the flight too");
    line.ack(1).ack(1).ack(1).ack(1);
    assert_eq!(line.cwnd(), 20);
    line.send(1).ack(1).send(1).ack(1).send(1).ack(1);
    assert_eq!(line.cwnd(), 21, "a segment more than the largest flight since the cut");
}

#[test]
fn without_the_limit_only_an_application_limited_ack_does_not_grow() {
    let step = |_: &Ack, view: &firstflight_core::view::View| view.window.grow(MSS * 5);
    let mut line = Line::begun(Start { step, ..Start::default() });
    line.send(2);
    let ack = Ack { app_limited: true, ..line.next_ack(1) };
    line.sender.on_ack(&ack);
    assert_eq!(line.cwnd(), 10);
    assert_eq!(line.ack(1).cwnd(), 15);
}

/// A model of the path bounds the window instead, in both phases and in recoveries.
#[test]
fn a_window_that_follows_a_model_grows_whatever_is_used_of_it() {
    let grown = |line: &mut Line| {
        let before = line.cwnd();
        let ack = Ack { app_limited: true, ..line.next_ack(1) };
        line.sender.on_ack(&ack);
        line.cwnd() - before
    };
    for (flight_limits, model) in [(false, false), (true, false), (false, true), (true, true)] {
        // The first ACK takes the window to four times the first flight.
        let step = |_: &Ack, view: &firstflight_core::view::View| view.window.grow(MSS * 30);
        let leaves = |_: &Ack, view: &firstflight_core::view::View| {
            view.window.grow(MSS * 30).exit(Exit::Heuristic)
        };
        let recovering = |_: &Ack, view: &firstflight_core::view::View| view.window.grow(MSS);
        let start = Start { growth: 4, step, recovering, follows_model: model, ..Start::default() };
        let start = Start { answer: Answer::Ignore, ..start };
        let later = Later { follows_model: model, goes_on: true, ..Later::default() };
        let limits = Config { limit_growth_to_flight: flight_limits, ..config() };
        let mut grows = Vec::new();
        for start in [start.anew(), Start { step: leaves, ..start }] {
            let mut line = Line::before(start, later.clone(), limits);
            line.send(4).ack(1);
            assert_eq!(line.cwnd(), 40);
            grows.push(grown(&mut line));
            line.lose(LossKind::Recovery);
            grows.push(grown(&mut line));
        }
        let expected = if model { [30, 1, 1, 3] } else { [0; 4] };
        assert_eq!(grows, expected, "{flight_limits}");
    }
}

#[test]
fn the_factor_is_asked_when_start_up_begins_and_undone_with_it() {
    let mut line = limited(3);
    line.send(10).lose(LossKind::Timeout);
    assert_eq!(line.calls(Call::Enter(Entry::Timeout)), 1);
    line.ack(1);
    assert_eq!(line.cwnd(), 40, "this one grows by one more after a timeout");
    line.sender.on_spurious_loss();
    line.send(11).ack(1);
    assert_eq!(line.cwnd(), 60);
}

#[test]
fn the_flight_counts_what_the_ack_takes_out_of_it() {
    let mut line = limited(2);
    line.send(30);
    // Selectively acknowledged data left the network before; the larger of both counts.
    let ack = Ack { credited: Bytes(0), ..line.next_ack(10) };
    line.sender.on_ack(&ack);
    assert_eq!(line.cwnd(), 60);
    let mut line = limited(2);
    line.send(30);
    let ack = Ack { credited: MSS * 10, in_flight: MSS * 20, ..line.next_ack(1) };
    line.sender.on_ack(&ack);
    assert_eq!(line.cwnd(), 60);
}

#[test]
fn what_was_sent_never_falls_and_the_position_may() {
    let mut line = Line::begun(Start::default());
    line.send(10);
    let view = |line: &Line| (line.sender.view().sent.0, line.sender.view().snd_nxt.0);
    assert_eq!(view(&line), (10_000, 10_000));
    line.lose(LossKind::Timeout);
    let (now, in_flight) = (line.at(), MSS);
    line.sender.on_sent(&Sent { now, bytes: MSS, in_flight, again: true });
    assert_eq!(view(&line), (11_000, 10_000), "a retransmission is no new position");
    let ack = Ack { snd_nxt: MSS * 2, in_flight: Bytes(0), ..line.next_ack(1) };
    line.sender.on_ack(&ack);
    assert_eq!(view(&line), (11_000, 2_000), "TCP starts again from what is acknowledged");
    line.sender.on_sent(&Sent { now, bytes: MSS, in_flight, again: false });
    assert_eq!(view(&line), (12_000, 3_000));
}

#[test]
fn what_is_acknowledged_and_delivered_is_counted_apart() {
    let mut line = Line::begun(Start::default());
    line.fill().ack(2).duplicate();
    let view = line.sender.view();
    assert_eq!((view.acked, view.delivered), (MSS * 2, MSS * 3));
    assert_eq!((view.now, view.in_flight), (line.at(), MSS * 8));
}

#[test]
fn only_an_ack_for_new_data_begins_a_round() {
    let mut line = Line::begun(Start::default());
    line.send(2).ack(2);
    assert_eq!((line.sender.view().round, line.sender.view().round_start), (1, true));
    line.duplicate();
    assert_eq!((line.sender.view().round, line.sender.view().round_start), (1, false));
    line.send(1).ack(1);
    assert_eq!(line.sender.view().round, 2);
}

#[test]
fn an_exit_is_recorded_with_the_window_the_flight_and_the_time() {
    let step =
        |_: &Ack, view: &firstflight_core::view::View| view.window.grow(MSS).exit(Exit::Threshold);
    let mut line = Line::begun(Start { step, ..Start::default() });
    line.fill().ack(3);
    let exit = line.sender.first_exit().expect("it has left");
    assert_eq!((exit.cwnd, exit.in_flight), (MSS * 11, MSS * 7));
    assert_eq!((exit.at, exit.why), (Instant(1_001_000_000), Exit::Threshold));
    assert_eq!(line.cwnd(), 11, "the avoidance has no say on an ACK that changed the window");
}

#[test]
fn a_flight_before_a_cut_or_a_landing_justifies_nothing_after_it() {
    for answer in [Answer::Leave, Answer::Land(crate::contract::support::window(7))] {
        let limit = Config { limit_growth_to_flight: true, ..config() };
        let mut line = Line::with(Start::answering(answer), limit);
        line.send(40).ack(30).lose(LossKind::Recovery);
        line.sender.on_recovered(None);
        assert_eq!(line.cwnd(), 7);
        for _ in 0..9 {
            line.ack(1).send(1);
        }
        assert_eq!(line.cwnd(), 11, "a segment more than a flight of 10, after {answer:?}");
    }
}
