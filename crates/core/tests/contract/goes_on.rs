//! An avoidance that answers losses by what it decides from then on.

use firstflight_core::event::LossKind;
use firstflight_core::policy::{Answer, Exit};
use firstflight_core::sender::Config;
use firstflight_core::view::Phase;

use crate::contract::support::{Call, Later, Line, MSS, Start, config};

/// Start-up leaves with the first ACK, after which the window is 10 or 11 segments.
fn after_startup(answer: Answer, config: Config) -> Line {
    let mut start = Start::answering(answer);
    start.step = |_, view| view.window.hold().exit(Exit::Heuristic);
    let mut line = Line::before(start, Later { goes_on: true, ..Later::default() }, config);
    line.sender.on_handshake(line.at(), firstflight_core::units::Span(1));
    line.sender.begin(line.at());
    line.fill().ack(1).fill();
    assert_eq!((line.phase(), line.cwnd()), (Phase::Avoidance, 11));
    line
}

#[test]
fn it_is_not_cut_and_decides_on_every_ack_of_the_recovery() {
    for answer in [Answer::Leave, Answer::Ignore] {
        let mut line = after_startup(answer, config());
        assert!(!line.lose(LossKind::Recovery));
        assert!(line.recovering() && line.sender.policy_sets_recovery_window());
        assert_eq!(line.duplicate().ack(1).cwnd(), 17, "three segments each");
        assert!(!line.lose(LossKind::Recovery));
        assert_eq!(line.later().recovers, 2);
        line.sender.on_recovered(Some(MSS * 4));
        assert!(!line.recovering() && !line.sender.policy_sets_recovery_window());
        assert_eq!(line.ack(1).cwnd(), 18, "the window is its own");
    }
}

#[test]
fn it_sees_marks_and_is_not_cut_for_them() {
    let mut line = after_startup(Answer::Leave, config());
    line.marked(1);
    assert_eq!((line.cwnd(), line.recovering()), (12, false), "it decides on the ACK");
    assert!(!line.lose(LossKind::Recovery));
    assert!(line.recovering(), "a mark covers no loss");
}

#[test]
fn a_timeout_cuts_it_and_ends_its_recovery() {
    let mut line = after_startup(Answer::Leave, config());
    line.lose(LossKind::Recovery);
    assert!(line.lose(LossKind::Timeout));
    assert_eq!((line.cwnd(), line.phase()), (1, Phase::Startup));
    assert!(!line.recovering() && !line.sender.policy_sets_recovery_window());
}

#[test]
fn a_recovery_that_start_up_ignored_is_its_own_when_start_up_leaves_in_it() {
    for goes_on in [true, false] {
        let mut start = Start::answering(Answer::Ignore);
        start.recovering = |_, view| view.window.hold().exit(Exit::Heuristic);
        let later = Later { goes_on, ..Later::default() };
        let mut line = Line::before(start, later, config());
        line.sender.begin(line.at());
        line.fill().lose(LossKind::Recovery);
        line.duplicate().duplicate();
        assert_eq!((line.phase(), line.recovering()), (Phase::Avoidance, true));
        assert_eq!(line.later().recovers, u64::from(goes_on));
        assert_eq!(line.sender.policy_sets_recovery_window(), goes_on);
    }
}

#[test]
fn a_loss_that_ends_start_up_cuts_and_the_transport_repairs() {
    let later = Later { goes_on: true, ..Later::default() };
    let mut line = Line::before(Start::default(), later, config());
    line.sender.begin(line.at());
    line.fill();
    assert!(line.lose(LossKind::Recovery));
    assert_eq!((line.cwnd(), line.sender.policy_sets_recovery_window()), (7, false));
    assert_eq!(line.calls(Call::Recovering), 0);
}

#[test]
fn its_window_may_be_three_times_the_flight_and_a_segment() {
    let limited = Config { limit_growth_to_flight: true, ..config() };
    let mut line = after_startup(Answer::Leave, limited);
    for _ in 0..30 {
        line.ack(1).send(1);
    }
    assert_eq!(line.cwnd(), 11 * 3 + 1);
}
