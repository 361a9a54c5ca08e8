//! What the two policies and the transport tell each other: what start-up found out, what a loss
//! costs, what is needed and what was refuted.

use std::collections::BTreeSet;

use firstflight_core::event::{Ack, LossKind};
use firstflight_core::needs::{Facilities, Fit, Needs};
use firstflight_core::policy::{Answer, Avoidance as _, Exit, Found, Observer as _, Startup as _};
use firstflight_core::registry::{
    AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS, avoidance_needs, startup_needs,
};
use firstflight_core::units::{Bytes, Rate};

use firstflight_core::view::{View, Window};

use crate::contract::support::{Call, Line, MSS, RTT, Start, window};

fn found() -> Found {
    let mut found = Found::default();
    (found.pipe, found.rate) = (Some(Bytes(50_000)), Some(Rate(500_000)));
    found
}

#[test]
fn what_start_up_found_out_is_handed_on_however_it_ends() {
    let handed = |line: &Line| {
        let log = line.later.borrow();
        let over = log.iter().filter(|call| matches!(call, Call::Over(_))).count();
        assert_eq!(over, 1);
        log.contains(&Call::Over(found()))
    };
    for kind in [LossKind::Recovery, LossKind::Timeout, LossKind::Mark] {
        let mut line = Line::begun(Start { found: found(), ..Start::default() });
        line.fill().lose(kind);
        assert!(handed(&line), "{kind:?}");
    }
    let step = |_: &firstflight_core::event::Ack, view: &firstflight_core::view::View| {
        view.window.hold().exit(Exit::Heuristic)
    };
    let mut line = Line::begun(Start { found: found(), step, ..Start::default() });
    line.fill().ack(1);
    assert!(handed(&line));
    let mut line =
        Line::begun(Start { found: found(), ..Start::answering(Answer::Land(window(5))) });
    line.fill().lose(LossKind::Recovery);
    assert!(!line.later.borrow().contains(&Call::Over(found())), "not before the landing ends");
    line.sender.on_recovered(None);
    assert!(handed(&line));
}

#[test]
fn start_up_can_read_what_a_loss_leaves() {
    let mut line = Line::begun(Start::default());
    assert_eq!(line.sender.view().beta, 700_000);
    line.fill().lose(LossKind::Recovery);
    assert_eq!(line.start().beta, 700_000);
    line.lose(LossKind::Timeout);
    assert_eq!(line.start().beta, 710_000, "up to date when a loss is answered");
}

/// beta is what [`firstflight_core::policy::Avoidance::cut`] leaves, where that is a constant.
#[test]
fn the_listed_avoidances_say_what_their_cuts_leave() {
    for (name, beta) in [
        ("newreno", 500_000),
        ("cubic", 700_000),
        ("scalable", 875_000),
        ("vegas", 750_000),
        ("stabilized-vegas", 750_000),
        ("fast", 500_000),
        ("hybla", 500_000),
    ] {
        let mut avoidance = AnyAvoidance::by_name(name).expect("it is listed");
        assert_eq!(avoidance.beta(), beta, "{name}");
        let line = Line::begun(Start::default());
        let loss =
            firstflight_core::event::Loss { flight: MSS * 1_000, ..line.loss(LossKind::Recovery) };
        let left = avoidance.cut(&loss, line.sender.view()).cwnd;
        assert_eq!(left, (MSS * 1_000).scaled(beta, 1_000_000), "{name}");
    }
}

/// The words of results, qlog and traces.
#[test]
fn the_reasons_why_start_up_ends_have_names() {
    let reasons = [Exit::Threshold, Exit::Heuristic, Exit::Loss, Exit::Timeout, Exit::Mark];
    assert_eq!(reasons.map(Exit::name), ["ssthresh", "heuristic", "loss", "timeout", "ecn"]);
}

#[test]
fn a_start_up_that_has_just_begun_repeats_nothing_and_refutes_no_hint() {
    let line = Line::begun(Start::default());
    for card in STARTUPS {
        let startup = AnyStartup::by_name(card.name).expect("it is listed");
        let repeats = startup.repeats(line.sender.view());
        assert!(!repeats && !startup.refutes_hint(), "{}", card.name);
    }
}

#[test]
fn a_refuted_hint_is_reported() {
    let mut line = Line::begun(Start::default());
    assert!(!line.sender.refutes_hint());
    line.fill().lose(LossKind::Recovery);
    assert!(line.sender.refutes_hint());
}

#[test]
fn packets_are_repeated_while_a_start_up_wants_it() {
    for repeats in [false, true] {
        let mut line = Line::begun(Start { repeats, ..Start::default() });
        assert_eq!(line.fill().ack(1).sender.repeats(), repeats);
        line.lose(LossKind::Recovery);
        assert!(!line.sender.repeats(), "start-up is over");
    }
}

#[test]
fn a_control_needs_what_either_policy_needs() {
    let needs = Needs::required(Facilities::SENT).wanting(Facilities::MEMORY);
    let line = Line::begun(Start { needs, ..Start::default() });
    // The avoidance reads times.
    let both = Facilities::SENT | Facilities::TIMES;
    assert_eq!(line.sender.needs(), Needs::required(both).wanting(Facilities::MEMORY));
    assert_eq!(line.sender.needs().on(both), Fit::Degraded(Facilities::MEMORY));
    assert_eq!(line.sender.needs().on(Facilities::TIMES), Fit::Lacks(Facilities::SENT));
}

/// After a timeout, after a rest and whenever the avoidance asks for start-up again.
#[test]
fn slow_start_stands_in_the_place_of_a_start_up_that_was_for_the_first_one_only() {
    let begins_again: [fn(&mut Line); 3] = [
        |line| assert!(line.lose(LossKind::Timeout)),
        |line| line.sender.on_restart(),
        |line| {
            line.lose(LossKind::Recovery);
            line.sender.on_recovered(None);
            let rest = Window { cwnd: MSS, ssthresh: MSS * 100 };
            line.sender.on_rest(line.at(), RTT, Some(rest));
        },
    ];
    for again in begins_again {
        let mut line = Line::begun(Start {
            once: true,
            repeats: true,
            found: found(),
            growth: 9,
            step: |ack, view| view.window.grow(ack.acked * 4),
            answer: Answer::Leave,
            then: Some(Answer::Ignore),
            ..Start::default()
        });
        line.fill().ack(1);
        assert_eq!((line.cwnd(), line.sender.repeats()), (14, true), "its own");
        again(&mut line);
        let (steps, cwnd) = (line.calls(Call::Step), line.cwnd());
        line.fill().ack(1);
        assert_eq!((line.cwnd(), line.calls(Call::Step)), (cwnd + 1, steps), "slow start's");
        line.sender.on_wake(line.at());
        assert_eq!((line.calls(Call::Wake), line.sender.repeats()), (0, false));
        line.fill().lose(LossKind::Recovery);
        assert!(!line.sender.policy_sets_recovery_window(), "the loss is the avoidance's");
        assert_eq!(line.later.borrow().last(), Some(&Call::Over(found())));
    }
}

#[test]
fn a_first_slow_start_that_a_spurious_timeout_ended_goes_on() {
    let step = |ack: &Ack, view: &View| view.window.grow(ack.acked * 4);
    let mut line = Line::begun(Start { once: true, step, ..Start::default() });
    line.fill().lose(LossKind::Timeout);
    assert!(line.sender.view().plain_slow_start);
    line.sender.on_spurious_loss();
    assert!(!line.sender.view().plain_slow_start);
    let cwnd = line.cwnd();
    assert_eq!(line.ack(1).cwnd(), cwnd + 4);
}

/// All others are themselves again, or something of their own.
#[test]
fn the_listed_start_ups_that_are_for_the_first_slow_start_only_are_these() {
    let once =
        STARTUPS.iter().filter(|card| AnyStartup::by_name(card.name).expect("it is listed").once());
    let once: Vec<&str> = once.map(|card| card.name).collect();
    let expected = [
        "dbc",
        "e-speed",
        "halfback",
        "hystart-pp",
        "jump-start",
        "packet-pair",
        "rapid-start",
        "scout",
        "search",
    ];
    assert_eq!(BTreeSet::from_iter(once), BTreeSet::from(expected));
}

/// A change here changes where a policy runs, and as what.
#[test]
fn the_listed_policies_need_what_is_written_here() {
    let times = Needs::TIMES;
    let paced = times.wanting(Facilities::PACING);
    let remembers = paced.wanting(Facilities::MEMORY);
    let grants = paced | Needs::required(Facilities::GRANTS);
    let changes = times | Needs::required(Facilities::ROUTER_CHANGES);
    let shares = paced | Needs::required(Facilities::ROUTER_SHARES);
    for card in STARTUPS {
        let expected = match card.name {
            "slow-start" | "liw" | "limited" | "bc" | "smooth-start" | "two-phase" => Needs::NONE,
            "afstart" | "paced" | "copa" | "initial-spreading" => paced,
            "fast-start" | "spand" | "stateful-tcp" => remembers,
            "quick-start" => grants,
            "xcp" => changes,
            "tcp-ebn" => shares,
            "picoquic" => times | Needs::required(Facilities::RECOVERY_WINDOW),
            "c4" => {
                let samples = Facilities::RATES | Facilities::PACKETS;
                paced | Needs::required(samples | Facilities::RECOVERY_WINDOW)
            }
            "bbr" => {
                let samples = Facilities::RATES | Facilities::PACKETS;
                paced.wanting(Facilities::GAPS)
                    | Needs::required(samples | Facilities::RECOVERY_WINDOW)
            }
            "rapid-start" => paced | Needs::required(Facilities::RECOVERY_WINDOW),
            "careful-resume" => remembers.wanting(Facilities::WAKE_UPS),
            "jump-start" | "scout" => {
                times | Needs::required(Facilities::PACING | Facilities::RECOVERY_WINDOW)
            }
            "suss" => {
                times.wanting(Facilities::RECOVERY_WINDOW)
                    | Needs::required(Facilities::PACING | Facilities::PACED_WAKE_UPS)
            }
            "halfback" => {
                let jumps = Facilities::PACING | Facilities::RECOVERY_WINDOW;
                times | Needs::required(jumps | Facilities::REPEATS | Facilities::SENT)
            }
            "chirps" => paced | Needs::required(Facilities::WAKE_UPS),
            "prague" => times.wanting(Facilities::MARKS | Facilities::L4S),
            "search" => times | Needs::required(Facilities::SENT),
            _ => times,
        };
        let startup = AnyStartup::by_name(card.name).expect("it is listed");
        assert_eq!(startup.needs(), expected, "{}", card.name);
        assert_eq!(startup_needs(card.name), Some(expected));
    }
    for card in AVOIDANCES {
        let expected = match card.name {
            "newreno" | "scalable" | "highspeed" => Needs::NONE,
            "bbr" => {
                let samples = Facilities::RATES | Facilities::PACKETS;
                paced | Needs::required(samples | Facilities::RECOVERY_WINDOW)
            }
            "dctcp" => Needs::required(Facilities::MARKS),
            "prague" => Needs::required(Facilities::MARKS).wanting(Facilities::L4S),
            "xcp" => changes,
            "tcp-ebn" => shares,
            _ => times,
        };
        let avoidance = AnyAvoidance::by_name(card.name).expect("it is listed");
        assert_eq!(avoidance.needs(), expected, "{}", card.name);
        assert_eq!(avoidance_needs(card.name), Some(expected));
    }
    assert_eq!((startup_needs("nonsense"), avoidance_needs("nonsense")), (None, None));
}
