//! Careful Resume inside Startup: RFC 9959's rules for BBR.

use super::*;
use crate::hint::{Learned, PathHint};

/// Startup after a connection that had 200 segments in a round of this long, and left start-up.
fn resumed(min_rtt_ms: u64, resume: &'static str) -> Path {
    let mut path = Path::new(&[("resume", KnobValue::Word(resume))]);
    let hint = learned(200, min_rtt_ms, 1);
    assert_eq!(path.policy.inform(&hint, &path.view), path.view.window.hold());
    path
}

fn learned(per_round: u64, min_rtt_ms: u64, age_s: u64) -> PathHint {
    let (rtt, age) = (Span::from_millis(min_rtt_ms), Span::from_secs(age_s));
    let window = Window { cwnd: MSS * per_round, ssthresh: MSS * per_round / 2 };
    let (per_round, delivered) = (MSS * per_round, MSS * 10_000);
    PathHint::Own(Learned { window, rtt, min_rtt: rtt, delivered, per_round, rate: None, age })
}

/// Half of 200 segments per 100 ms, where Startup would have 2.77 times 10; and twice its pipe, and
/// the ten segments that have run ahead of no rate.
#[test]
fn half_the_saved_rate_is_tried_for_two_rounds_once_the_first_window_is_acknowledged() {
    let mut path = resumed(100, "on");
    let jump = path.round(10, 10);
    assert_eq!((pace(jump), jump.window.cwnd), (1_000_000, MSS * 210));
    // What left before the jump is acknowledged, then what left at its rate.
    let first = path.round(27, 27);
    assert_eq!((pace(first), path.policy.resume.rate()), (1_000_000, Rate(1_000_000)));
    let second = path.round(100, 100);
    assert_eq!(pace(second), 1_000_000 * 277 / 100 * 99 / 100, "the measured rate has taken over");
    assert_eq!(path.policy.resume.rate(), Rate(0));
    assert!(!path.drains() && !path.policy.refutes_hint());
    // A loss is now an ordinary one.
    path.lose(1, 1);
    let _ = path.round(100, 100);
    assert!(!path.drains());
}

/// Packets of these rounds are paced by the RTT at hand, also where Startup began without one and
/// would keep the pace that it took for a millisecond.
#[test]
fn a_first_pace_without_an_rtt_does_not_outlast_the_jump() {
    let mut path = resumed(100, "on");
    path.view.rtt.smoothed = Span(0);
    assert_eq!(pace(path.policy.begin(&path.view)), 27_700_000);
    path.view.rtt.smoothed = Span::from_millis(100);
    assert_eq!(pace(path.round(10, 10)), 1_000_000);
}

#[test]
fn nothing_is_tried_without_the_knob_or_before_the_first_window_or_on_another_path() {
    let rate = |path: &mut Path, delivered| {
        let _ = path.round(delivered, delivered);
        path.policy.resume.rate()
    };
    assert_eq!(rate(&mut resumed(100, "off"), 10), Rate(0));
    let mut early = resumed(100, "on");
    assert_eq!([9, 1].map(|delivered| rate(&mut early, delivered)), [Rate(0), Rate(1_000_000)]);
    // 100 ms are half of 200: not more; and more than ten times nine.
    for other in [200, 9] {
        assert_eq!(rate(&mut resumed(other, "on"), 10), Rate(0), "{other}");
    }
    assert!(rate(&mut resumed(199, "on"), 10) > Rate(0));
    let mut limited = resumed(100, "on");
    limited.limited = true;
    assert_eq!(rate(&mut limited, 10), Rate(0));
    limited.limited = false;
    assert!(rate(&mut limited, 10) > Rate(0), "it may be put off");
    let mut old = Path::new(&[("resume", KnobValue::Word("on"))]);
    let _ = old.policy.inform(&learned(200, 100, 601), &old.view);
    assert_eq!(rate(&mut old, 10), Rate(0));
    let mut slower = Path::new(&[("resume", KnobValue::Word("on"))]);
    let _ = slower.policy.inform(&learned(50, 100, 1), &slower.view);
    assert_eq!(rate(&mut slower, 10), Rate(0), "25 per RTT: Startup paces 27");
    assert_eq!(rate(&mut slower, 10), Rate(0), "and it is over");
    // 27.7 per RTT: as fast as Startup is already.
    let PathHint::Own(last) = learned(200, 100, 1) else { unreachable!() };
    let as_fast = PathHint::Own(Learned { per_round: Bytes(55_400), ..last });
    let mut equal = Path::new(&[("resume", KnobValue::Word("on"))]);
    let _ = equal.policy.inform(&as_fast, &equal.view);
    assert_eq!(rate(&mut equal, 10), Rate(0));
    let mut lossy = resumed(100, "on");
    lossy.lose(1, 1);
    assert_eq!(rate(&mut lossy, 10), Rate(0), "reconnaissance met a loss");
    assert!(!lossy.drains() && !lossy.policy.refutes_hint());
}

/// Rates of the retreat count for nothing, here and in the avoidance.
#[test]
fn congestion_while_it_is_tried_is_a_safe_retreat() {
    for kind in [LossKind::Recovery, LossKind::Mark] {
        let mut path = resumed(100, "on");
        let _ = path.round(10, 10);
        let loss = Loss::of(path.view.now, kind, MSS, MSS);
        path.policy.on_loss(&loss, &path.view);
        assert_eq!(path.policy.answer(&loss, &path.view), Answer::Ignore, "{kind:?}");
        assert!(path.drains() && path.policy.refutes_hint(), "{kind:?}");
        path.view.in_flight = MSS * 150;
        let drain = path.round(100, 100);
        assert_eq!(pace(drain), 100_000 / 2 * 99 / 100, "half of what was known before");
        assert!(drain.exit.is_none());
        for _ in 0..2 {
            let _ = path.round(100, 100);
        }
        let why = if kind == LossKind::Mark { Exit::Mark } else { Exit::Loss };
        assert_eq!((path.policy.state, path.policy.resume.retreat()), (State::Over, Some(why)));
        let found = path.policy.found(&path.view);
        assert_eq!((found.rate, found.tainted), (Some(Rate(100_000)), true));
        assert_eq!(path.policy.answer(&loss, &path.view), Answer::Leave);
    }
    let mut path = resumed(100, "on");
    let _ = path.round(10, 10);
    path.view.rtt.latest = Span::from_millis(1_001);
    let _ = path.round(27, 27);
    assert!(path.drains() && path.policy.refutes_hint(), "another path");
    assert!(!Path::new(&[]).policy.found(&path.view).tainted);
}

#[test]
fn a_startup_that_begins_again_does_not_try_it_again() {
    let mut path = resumed(100, "on");
    path.policy.enter(Entry::Reprobe, &path.view);
    let _ = path.round(10, 10);
    assert_eq!(path.policy.resume.rate(), Rate(0));
    assert!(path.policy.needs().wanted.has(Facilities::MEMORY));
    assert!(!Bbr::default().needs().all().has(Facilities::MEMORY));
}
