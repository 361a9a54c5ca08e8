//! What start-up may answer to a loss or a mark, and what follows.

use firstflight_core::event::{Ack, LossKind};
use firstflight_core::policy::{Answer, Entry, Exit};
use firstflight_core::units::Bytes;
use firstflight_core::view::{Phase, Window};

use crate::contract::support::{Call, Line, MSS, Start, config, window};

/// 20 segments in flight in a window of 20.
fn twenty(start: Start) -> Line {
    let mut line = Line::begun(start);
    line.fill().ack(10).fill();
    assert_eq!((line.cwnd(), line.sent - line.acked), (20, 20_000));
    line
}

#[test]
fn leave_ends_start_up_with_the_avoidances_cut() {
    let mut line = twenty(Start::default());
    assert!(line.lose(LossKind::Recovery));
    assert_eq!((line.cwnd(), line.ssthresh(), line.phase()), (14, 14, Phase::Avoidance));
    assert_eq!(line.exit(), Some((Exit::Loss, 20)));
    line.ack(1).duplicate();
    assert_eq!(line.calls(Call::Recovering), 0, "the transport repairs by itself");
    assert!(!line.sender.policy_sets_recovery_window());
    line.sender.on_recovered(Some(MSS * 12));
    assert_eq!((line.cwnd(), line.recovering()), (12, false));
}

#[test]
fn retreat_takes_the_window_back_and_begins_again() {
    let back = Window { cwnd: MSS * 4, ssthresh: MSS * 9 };
    let mut line = twenty(Start::answering(Answer::Retreat(back)));
    assert!(line.lose(LossKind::Recovery));
    assert_eq!((line.cwnd(), line.ssthresh(), line.phase()), (4, 9, Phase::Startup));
    assert!(!line.recovering() && !line.sender.policy_sets_recovery_window());
    assert_eq!(line.calls(Call::Enter(Entry::Retreat)), 1);
    assert_eq!(line.exit(), Some((Exit::Loss, 20)));
    assert!(!line.lose(LossKind::Recovery), "it was sent before");
    line.sender.on_recovered(None);
    assert_eq!(line.ack(2).cwnd(), 6, "it grows again");
}

/// Rapid Start sets the window on every ACK of the recovery; here it is always half the flight.
fn landing() -> Start {
    Start {
        answer: Answer::Land(Window { ssthresh: MSS * 30, ..window(16) }),
        recovering: |ack, view| Window { cwnd: ack.in_flight / 2, ..view.window }.hold(),
        ..Start::default()
    }
}

#[test]
fn land_lets_start_up_set_the_window_on_every_ack_of_the_recovery() {
    let mut line = twenty(landing());
    assert!(line.lose(LossKind::Recovery));
    assert_eq!((line.cwnd(), line.phase(), line.recovering()), (16, Phase::Startup, true));
    assert_eq!(line.exit(), Some((Exit::Loss, 20)), "recorded at the loss, with the window then");
    assert!(line.sender.policy_sets_recovery_window());
    assert_eq!(line.ssthresh(), 30);
    assert_eq!(line.ack(2).cwnd(), 9, "18 segments in flight");
    assert_eq!(line.ack(4).cwnd(), 7);
    line.send(6);
    assert_eq!(line.duplicate().cwnd(), 10, "up too, and on a duplicate ACK");
    assert_eq!(line.calls(Call::Recovering), 3);
    assert_eq!(line.calls(Call::Step), 1, "no decision of another kind");
}

#[test]
fn a_landing_ends_with_the_recovery_and_leaves_ssthresh_where_it_landed() {
    let mut line = twenty(landing());
    line.lose(LossKind::Recovery);
    line.ack(6);
    // What the recovery says of the window does not count.
    line.sender.on_recovered(Some(MSS * 3));
    assert_eq!((line.cwnd(), line.ssthresh(), line.phase()), (7, 7, Phase::Avoidance));
    assert!(!line.recovering() && !line.sender.policy_sets_recovery_window());
    assert_eq!(line.exit(), Some((Exit::Loss, 20)));
    assert_eq!(line.later.borrow().len(), 2, "the avoidance began, and took over");
    assert_eq!(line.ack(1).cwnd(), 8);
    line.sender.on_recovered(Some(MSS * 5));
    assert_eq!(line.cwnd(), 5, "the next recovery has its say");
}

#[test]
fn a_landing_keeps_floor_and_cap_and_ssthresh_two_segments() {
    let mut start = landing();
    start.recovering = |_, view| Window { cwnd: Bytes(0), ..view.window }.hold();
    start.answer = Answer::Land(Window { cwnd: Bytes::MAX, ssthresh: Bytes::MAX });
    let mut line = twenty(start);
    line.lose(LossKind::Recovery);
    assert_eq!(line.cwnd(), 10_000);
    line.ack(1);
    assert_eq!(line.cwnd(), 1);
    line.sender.on_recovered(None);
    assert_eq!((line.cwnd(), line.ssthresh()), (1, 2));
}

#[test]
fn neither_the_flight_nor_an_idle_source_limits_a_landing() {
    for limit_growth_to_flight in [false, true] {
        let mut start = landing();
        start.recovering = |_, view| window(view.window.cwnd.0 / MSS.0 + 100).hold();
        let mut line = Line::with(
            start,
            firstflight_core::sender::Config { limit_growth_to_flight, ..config() },
        );
        line.send(10).lose(LossKind::Recovery);
        assert_eq!(line.ack(1).cwnd(), 116);
        let ack = Ack { app_limited: true, ..line.next_ack(1) };
        line.sender.on_ack(&ack);
        assert_eq!(line.cwnd(), 216);
    }
}

#[test]
fn a_landing_ends_early_when_start_up_says_so() {
    let mut start = landing();
    start.recovering = |_, view| view.window.hold().threshold(MSS * 5).exit(Exit::Heuristic);
    let mut line = twenty(start);
    line.lose(LossKind::Recovery);
    line.ack(1);
    assert_eq!((line.phase(), line.ssthresh()), (Phase::Avoidance, 5));
    assert!(line.recovering(), "the transport still repairs");
    assert!(!line.sender.policy_sets_recovery_window());
    assert_eq!(line.ack(1).calls(Call::Recovering), 1);
    line.sender.on_recovered(Some(MSS * 5));
    assert_eq!((line.cwnd(), line.ssthresh()), (5, 5));
}

#[test]
fn a_landing_for_a_mark_ends_when_what_was_outstanding_is_acknowledged() {
    let mut line = twenty(landing());
    line.marked(1);
    assert_eq!((line.cwnd(), line.exit()), (16, Some((Exit::Mark, 20))));
    assert!(line.recovering());
    line.send(1).ack(18);
    assert_eq!((line.phase(), line.cwnd()), (Phase::Startup, 1), "one of them is outstanding");
    line.marked(1);
    assert_eq!((line.phase(), line.ssthresh()), (Phase::Avoidance, 2));
    assert!(!line.recovering());
    assert_eq!(line.calls(Call::Loss(LossKind::Mark)), 1, "answered once");
    assert_eq!(line.ack(1).cwnd(), 2, "growth goes on");
}

#[test]
fn a_loss_while_landing_for_a_mark_makes_it_last_until_the_recovery_ends() {
    let mut line = twenty(landing());
    line.marked(1);
    assert!(!line.lose(LossKind::Recovery), "answered with the mark");
    line.send(5).ack(19);
    assert_eq!((line.phase(), line.recovering()), (Phase::Startup, true));
    line.sender.on_recovered(None);
    assert_eq!((line.phase(), line.recovering()), (Phase::Avoidance, false));
}

#[test]
fn a_landing_for_a_mark_that_ends_early_leaves_no_recovery() {
    let mut start = landing();
    start.recovering = |_, view| view.window.hold().threshold(MSS * 5).exit(Exit::Heuristic);
    let mut line = twenty(start);
    line.marked(1).ack(1);
    assert_eq!((line.phase(), line.recovering()), (Phase::Avoidance, false));
    assert_eq!(line.ack(1).cwnd(), 17);
}

#[test]
fn ignore_lets_start_up_go_on() {
    let mut line = twenty(Start::answering(Answer::Ignore));
    assert!(!line.lose(LossKind::Recovery), "nothing was cut");
    assert_eq!((line.cwnd(), line.phase(), line.exit()), (20, Phase::Startup, None));
    assert!(line.recovering() && line.sender.policy_sets_recovery_window());
    line.ack(1).duplicate();
    assert_eq!((line.cwnd(), line.calls(Call::Recovering)), (20, 2), "it holds unless it decides");
    line.sender.on_recovered(Some(MSS * 3));
    assert_eq!((line.cwnd(), line.phase(), line.recovering()), (20, Phase::Startup, false));
    assert_eq!(line.ack(1).cwnd(), 21);
    assert_eq!(line.sender.ssthresh(), Bytes::MAX);
    assert_eq!(line.exit(), None);
    assert_eq!(line.later.borrow().len(), 1, "the avoidance has not taken over");
}

#[test]
fn a_start_up_that_ignores_a_loss_can_grow_and_end_during_the_recovery() {
    let mut start = Start::answering(Answer::Ignore);
    start.recovering = |ack, view| {
        let step = view.window.grow(ack.acked);
        if view.window.cwnd >= MSS * 22 { step.exit(Exit::Heuristic) } else { step }
    };
    let mut line = twenty(start);
    line.lose(LossKind::Recovery);
    assert_eq!((line.ack(2).cwnd(), line.exit()), (22, None));
    line.ack(3);
    assert_eq!((line.exit(), line.phase()), (Some((Exit::Heuristic, 25)), Phase::Avoidance));
    assert!(line.recovering() && !line.sender.policy_sets_recovery_window());
}

#[test]
fn the_flight_limits_growth_where_a_loss_was_ignored() {
    let mut start = Start::answering(Answer::Ignore);
    start.recovering = |_, view| view.window.grow(MSS * 100);
    let limited = firstflight_core::sender::Config { limit_growth_to_flight: true, ..config() };
    let mut line = Line::with(start, limited);
    line.send(15).lose(LossKind::Recovery);
    assert_eq!(line.ack(1).cwnd(), 30, "twice the largest flight");
}

#[test]
fn an_ignored_mark_covers_the_marks_of_its_window_and_no_loss() {
    let mut line = twenty(Start::answering(Answer::Ignore));
    line.marked(1);
    assert_eq!((line.cwnd(), line.recovering()), (21, false), "it decides on the same ACK");
    line.marked(1);
    assert_eq!(line.calls(Call::Loss(LossKind::Mark)), 1);
    line.lose(LossKind::Recovery);
    assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 1);
    line.marked(1);
    assert_eq!(line.calls(Call::Loss(LossKind::Mark)), 2, "nothing was cut for the loss either");
    assert_eq!(line.phase(), Phase::Startup);
}

#[test]
fn a_mark_that_start_up_leaves_for_does_not_end_the_repair_of_what_it_ignored() {
    for then in [Answer::Leave, Answer::Land(window(16))] {
        let start = Start { then: Some(then), ..Start::answering(Answer::Ignore) };
        let mut line = twenty(start);
        line.lose(LossKind::Recovery);
        line.marked(1);
        assert_eq!(line.exit(), Some((Exit::Mark, 20)));
        line.send(1).ack(19);
        assert!(line.recovering(), "what is lost is still being repaired, after {then:?}");
        line.sender.on_recovered(None);
        assert_eq!((line.recovering(), line.phase()), (false, Phase::Avoidance));
    }
}

#[test]
fn what_was_ignored_does_not_matter_once_a_loss_was_answered() {
    let start = Start { then: Some(Answer::Leave), ..Start::answering(Answer::Ignore) };
    let mut line = twenty(start);
    line.marked(1);
    assert!(line.lose(LossKind::Recovery));
    assert!(!line.lose(LossKind::Recovery), "in the recovery that the cut began");
}

#[test]
fn a_timeout_and_a_loss_after_start_up_can_neither_be_landed_nor_ignored() {
    for answer in [Answer::Ignore, Answer::Land(window(16))] {
        let mut line = twenty(Start::answering(answer));
        assert!(line.lose(LossKind::Timeout));
        assert_eq!((line.cwnd(), line.ssthresh(), line.phase()), (1, 14, Phase::Startup));
        assert_eq!((line.exit(), line.recovering()), (Some((Exit::Timeout, 20)), false));
        let mut start = Start::answering(answer);
        start.step = |_, view| view.window.hold().exit(Exit::Heuristic);
        let mut line = Line::begun(start);
        line.fill().ack(1);
        assert!(line.lose(LossKind::Recovery));
        assert_eq!((line.cwnd(), line.phase()), (6, Phase::Avoidance), "0.7 of 9 segments");
    }
}

#[test]
fn a_timeout_or_a_restart_ends_a_landing() {
    let mut line = twenty(landing());
    line.lose(LossKind::Recovery);
    line.lose(LossKind::Timeout);
    assert!(!line.recovering() && !line.sender.policy_sets_recovery_window());
    assert_eq!(line.exit(), Some((Exit::Loss, 20)));
    assert_eq!(line.ack(1).cwnd(), 2, "slow start");

    let mut line = twenty(landing());
    line.lose(LossKind::Recovery);
    line.sender.on_restart();
    assert_eq!((line.cwnd(), line.phase(), line.recovering()), (1, Phase::Startup, false));
    line.sender.on_recovered(Some(MSS * 3));
    assert_eq!((line.cwnd(), line.phase()), (3, Phase::Startup), "there is no landing to end");
}

/// What a transport's own rule leaves of the window holds, but in a recovery whose window a policy
/// sets.
#[test]
fn a_window_that_the_transport_sets_is_a_policys_to_keep_in_its_recovery() {
    let land = Answer::Land(Window { cwnd: MSS * 16, ssthresh: Bytes::MAX });
    for (answer, holds) in [(Answer::Leave, true), (Answer::Ignore, false), (land, false)] {
        let mut line = Line::begun(Start::answering(answer));
        line.fill().lose(LossKind::Recovery);
        line.sender.set_window(MSS * 7);
        assert_eq!(line.sender.cwnd() == MSS * 7, holds, "{answer:?}");
    }
}
