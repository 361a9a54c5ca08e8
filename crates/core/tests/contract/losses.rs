//! One answer per recovery, every loss reported once, and undo.

use firstflight_core::event::{Loss, LossKind};
use firstflight_core::pacing::Pacing;
use firstflight_core::policy::{Answer, Exit};
use firstflight_core::units::{Bytes, Instant, Rate};
use firstflight_core::view::Phase;

use crate::contract::support::{Call, Line, MSS, Start, window};

const ANSWERS: [Answer; 3] = [Answer::Leave, Answer::Ignore, Answer::Land(window_16())];

const fn window_16() -> firstflight_core::view::Window {
    firstflight_core::view::Window { cwnd: Bytes(16_000), ssthresh: Bytes::MAX }
}

#[test]
fn a_packet_makes_a_gap_and_a_mark_none() {
    let gaps = |kind, lost| Loss::of(Instant(0), kind, lost, MSS).gaps;
    assert_eq!((gaps(LossKind::Recovery, MSS), gaps(LossKind::Mark, Bytes(0))), (1, 0));
}

#[test]
fn further_losses_of_a_recovery_are_reported_once_each_with_bytes_and_gaps() {
    for answer in ANSWERS {
        let mut line = Line::begun(Start::answering(answer));
        line.fill().lose(LossKind::Recovery);
        let cwnd = line.cwnd();
        for (lost, gaps) in [(2, 2), (3, 1)] {
            line.now += 1;
            let loss = Loss { gaps, ..Loss { lost: MSS * lost, ..line.loss(LossKind::Recovery) } };
            assert!(!line.sender.on_loss(&loss));
        }
        // An event without a loss is none.
        let empty = Loss { lost: Bytes(0), ..line.loss(LossKind::Recovery) };
        assert!(!line.sender.on_loss(&empty));
        let further =
            [Call::Further { lost: 2_000, gaps: 2 }, Call::Further { lost: 3_000, gaps: 1 }];
        assert_eq!(line.start.borrow().last_chunk(), Some(&further), "{answer:?}");
        assert_eq!(line.later.borrow().last_chunk(), Some(&further));
        assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 1);
        assert_eq!(line.cwnd(), cwnd);
    }
}

#[test]
fn by_order_a_loss_after_the_recovery_is_answered_anew() {
    let mut line = Line::begun(Start::default());
    line.fill();
    assert!(line.lose(LossKind::Recovery));
    assert!(!line.lose(LossKind::Recovery));
    line.sender.on_recovered(None);
    assert!(line.lose(LossKind::Recovery));
    assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 2);
}

#[test]
fn by_time_a_loss_of_what_left_after_the_last_answer_is_answered_anew() {
    for answer in ANSWERS {
        let mut line = Line::begun(Start::answering(answer));
        line.fill().lose(LossKind::Recovery);
        let began = line.now;
        assert_eq!(line.sender.recovery_began(), Some(Instant(began)));
        // RFC 3168 section 6.1.2: CWR says that the window was reduced.
        let reduced = Some(Instant(began)).filter(|_| answer != Answer::Ignore);
        assert_eq!(line.sender.reduced_at(), reduced, "{answer:?}");
        let sent = |line: &Line, at| {
            let sent_at = Some(Instant(at));
            Loss { sent_at, ..line.loss(LossKind::Recovery) }
        };
        line.now += 5;
        let before = sent(&line, began);
        assert!(!line.sender.on_loss(&before), "sent when the recovery began: in it");
        assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 1);
        let after = sent(&line, began + 1);
        line.sender.on_loss(&after);
        assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 2, "{answer:?}");
        assert_eq!(line.sender.recovery_began(), Some(line.at()));
        // Also outside a recovery: time alone counts.
        line.sender.on_recovered(None);
        let old = sent(&line, began + 5);
        assert!(!line.sender.on_loss(&old));
        assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 2);
    }
}

#[test]
fn every_timeout_is_answered() {
    let mut line = Line::begun(Start::default());
    line.fill();
    assert!(line.lose(LossKind::Timeout) && line.lose(LossKind::Timeout));
    let sent_at = Some(Instant(0));
    let loss = Loss { sent_at, ..line.loss(LossKind::Timeout) };
    assert!(line.sender.on_loss(&loss));
}

#[test]
fn a_mark_is_answered_when_what_left_after_the_last_answer_is_acknowledged() {
    let mut line = Line::begun(Start::default());
    line.fill().marked(1);
    assert_eq!((line.phase(), line.cwnd()), (Phase::Avoidance, 7));
    line.send(1).marked(9);
    assert_eq!(line.cwnd(), 8, "all of it had left before; growth goes on");
    line.marked(1);
    assert!(line.cwnd() < 8);
}

#[test]
fn a_loss_after_a_cut_for_a_mark_is_new_once_what_it_covers_is_acknowledged() {
    let mut line = Line::begun(Start::default());
    line.fill().marked(1).send(4);
    let mut early = line.sender.clone();
    assert!(!early.on_loss(&line.loss(LossKind::Recovery)));
    assert!(early.view().recovering, "but it is repaired");
    line.ack(8);
    assert!(!line.sender.clone().on_loss(&line.loss(LossKind::Recovery)));
    line.ack(1);
    assert!(line.lose(LossKind::Recovery), "everything covered is acknowledged");
}

#[test]
fn undo_restores_the_window_and_both_policies_as_they_were_before_the_loss() {
    for answer in ANSWERS {
        let mut start = Start::answering(answer);
        start.step =
            |ack, view| view.window.grow(ack.acked).paced(Rate(7_000)).wake_at(Instant(77));
        let mut line = Line::begun(start);
        line.fill().ack(2).fill().lose(LossKind::Recovery);
        line.ack(1).duplicate();
        assert_eq!(line.start().steps, 1_001, "it saw the loss: {answer:?}");
        line.sender.on_recovered(None);
        line.ack(1).sender.on_spurious_loss();
        assert_eq!((line.phase(), line.exit()), (Phase::Startup, None));
        assert_eq!(line.start().steps, 1, "{answer:?}");
        assert!(!line.recovering() && !line.sender.policy_sets_recovery_window());
        assert_eq!(line.sender.ssthresh(), Bytes::MAX);
        assert!(line.cwnd() >= 12);
        assert_eq!(line.sender.pacing(), Some(Pacing::at(Rate(7_000))));
        assert_eq!(line.sender.wake_at(), Some(Instant(77)));
        assert_eq!(line.sender.recovery_began(), None);
        let cwnd = line.cwnd();
        assert_eq!(line.ack(2).cwnd(), cwnd + 2);
    }
}

#[test]
fn a_second_timeout_of_other_data_is_undone_by_itself() {
    let mut line = Line::begun(Start::default());
    line.fill().lose(LossKind::Timeout);
    line.ack(4);
    assert_eq!(line.cwnd(), 5);
    line.lose(LossKind::Timeout);
    line.sender.on_spurious_loss();
    assert_eq!(line.cwnd(), 5);
}

#[test]
fn undo_during_a_landing_ends_it() {
    let mut line = Line::begun(Start::answering(Answer::Land(window(5))));
    line.fill().lose(LossKind::Recovery);
    assert_eq!(line.cwnd(), 5);
    line.sender.on_spurious_loss();
    assert_eq!((line.cwnd(), line.phase(), line.recovering()), (10, Phase::Startup, false));
    line.sender.on_recovered(None);
    assert_eq!(line.phase(), Phase::Startup, "there is no landing that could end");
    assert_eq!(line.ack(1).cwnd(), 11, "it decides as ever");
    line.lose(LossKind::Timeout);
    assert_eq!(line.exit(), Some((Exit::Timeout, 11)));
}

#[test]
fn a_mark_in_a_recovery_is_answered_with_its_loss() {
    let mut line = Line::begun(Start::default());
    line.fill().lose(LossKind::Recovery);
    // Sent and acknowledged since; the transport still repairs.
    line.send(5).marked(12);
    assert_eq!((line.cwnd(), line.calls(Call::Loss(LossKind::Mark))), (7, 0));
}

/// After a retreat the window grows on, and losses of what left before it are covered. That ends
/// with the next answer.
#[test]
fn after_a_retreat_the_next_answer_covers_its_own_recovery_only() {
    for then in [Answer::Ignore, Answer::Land(window(5))] {
        let back = Answer::Retreat(window(4));
        let mut line = Line::begun(Start { then: Some(then), ..Start::answering(back) });
        line.fill().lose(LossKind::Recovery);
        line.ack(10).send(8).lose(LossKind::Recovery);
        assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 2);
        line.sender.on_recovered(None);
        line.lose(LossKind::Recovery);
        assert_eq!(line.calls(Call::Loss(LossKind::Recovery)), 3, "{then:?}");
    }
}

#[test]
fn by_time_a_late_loss_of_an_ignored_recovery_is_ignored_too() {
    let mut line = Line::begun(Start::answering(Answer::Ignore));
    line.fill().lose(LossKind::Recovery);
    line.sender.on_recovered(None);
    let late = Loss { sent_at: Some(Instant(0)), ..line.loss(LossKind::Recovery) };
    assert!(!line.sender.on_loss(&late));
    assert!(!line.recovering(), "its recovery is over");
    // After start-up the transport repairs alone.
    let step = |_: &firstflight_core::event::Ack, view: &firstflight_core::view::View| {
        view.window.hold().exit(Exit::Heuristic)
    };
    let mut line = Line::begun(Start { step, ..Start::answering(Answer::Ignore) });
    line.fill().lose(LossKind::Recovery);
    line.sender.on_recovered(None);
    line.ack(1).sender.on_loss(&late);
    assert!(!line.recovering() && !line.sender.policy_sets_recovery_window());
}
