//! Data leaves again after a rest, with what the transport leaves of the window.

use firstflight_core::event::LossKind;
use firstflight_core::policy::{Entry, Exit};
use firstflight_core::units::{Rate, Span};
use firstflight_core::view::{Phase, Window};

use crate::contract::support::{Call, Later, Line, MSS, Start, config};

/// Avoidance begins with the first ACK, at 11 segments.
fn in_avoidance(later: Later) -> Line {
    let step =
        |_: &_, view: &firstflight_core::view::View| view.window.hold().exit(Exit::Heuristic);
    let start = Start { step, ..Start::default() };
    let mut line = Line::before(start, later, config());
    line.fill().ack(1);
    assert_eq!((line.phase(), line.cwnd()), (Phase::Avoidance, 11));
    line
}

/// Leaves so many segments below an ssthresh of 8, or at it.
fn rest(line: &mut Line, cwnd: u64) {
    let window = Window { cwnd: MSS * cwnd, ssthresh: MSS * 8 };
    line.sender.on_rest(line.at(), Span::from_secs(1), Some(window));
    let left = if line.later().goes_on { 11 } else { cwnd };
    assert_eq!(line.cwnd(), left);
}

#[test]
fn both_policies_see_how_long_the_source_had_nothing_to_send() {
    let mut line = in_avoidance(Later::default());
    let rests = |line: &Line| {
        let logs = [line.start.borrow(), line.later.borrow()];
        logs.map(|log| log.iter().filter(|call| matches!(call, Call::Rest(_))).count())
    };
    line.sender.on_rest(line.at(), Span(0), None);
    assert_eq!(rests(&line), [0, 0], "it had data, and did not use its window");
    line.sender.on_rest(line.at(), Span(7), None);
    assert_eq!(rests(&line), [1, 1]);
    assert_eq!(line.calls(Call::Rest(Span(7))), 1);
    assert_eq!((line.cwnd(), line.phase()), (11, Phase::Avoidance), "and keeps its window");
}

/// RFC 5681 section 4.1: the window is below ssthresh, where slow start is used.
#[test]
fn a_window_reduced_below_ssthresh_grows_in_slow_start() {
    let mut line = in_avoidance(Later::default());
    rest(&mut line, 8);
    assert_eq!((line.phase(), line.calls(Call::Enter(Entry::Rest))), (Phase::Avoidance, 0));
    rest(&mut line, 7);
    assert_eq!((line.phase(), line.calls(Call::Enter(Entry::Rest))), (Phase::Startup, 1));
    rest(&mut line, 6);
    assert_eq!(line.calls(Call::Enter(Entry::Rest)), 1, "it goes on");
    assert_eq!(line.ssthresh(), 8);
}

#[test]
fn a_recovery_goes_on_and_so_does_a_control_that_keeps_its_window() {
    let mut line = in_avoidance(Later::default());
    line.lose(LossKind::Recovery);
    rest(&mut line, 5);
    assert_eq!((line.phase(), line.recovering()), (Phase::Avoidance, true));
    let mut line = in_avoidance(Later { goes_on: true, ..Later::default() });
    rest(&mut line, 5);
    assert_eq!(line.phase(), Phase::Avoidance);
}

/// draft-ietf-ccwg-bbr section 5.4.1: before the packet leaves, not with its ACK.
#[test]
fn an_avoidance_sets_the_pace_of_what_leaves_after_a_rest() {
    let paced = |line: &Line| line.sender.pacing().map(|pacing| pacing.rate);
    for rate in [None, Some(Rate(7))] {
        let mut line = in_avoidance(Later { paced: rate, ..Later::default() });
        line.sender.on_rest(line.at(), Span(0), None);
        assert_eq!(paced(&line), None, "it had data");
        line.lose(LossKind::Recovery);
        line.sender.on_rest(line.at(), Span(7), None);
        assert_eq!(paced(&line), None, "it repairs");
        line.sender.on_recovered(None);
        line.sender.on_rest(line.at(), Span(7), None);
        assert_eq!(paced(&line), rate);
    }
    let later = Later { paced: Some(Rate(7)), ..Later::default() };
    let mut line = Line::before(Start::default(), later, config());
    line.sender.on_rest(line.at(), Span(7), None);
    assert_eq!((paced(&line), line.phase()), (None, Phase::Startup));
}
