//! Each rule with numbers that it accepts and numbers that it does not.

use firstflight_scenario::{Catalogue, Rule, Scenario};

use super::{Numbers, Verdict, judge};
use crate::measured::Measured;

fn head(more: &str) -> Catalogue {
    let rules = "rules = ['R1', 'R2', 'R3', 'R4', 'R5']";
    let text = format!(
        "controls = ['cubic']\n[catalogue]\nabout = 'a'\nwhy = 'w'\nexpected = 'e'\n\
         shows_not = 's'\n{}\n{more}",
        if more.contains("rules") { "" } else { rules }
    );
    Scenario::parse(&text, "A1.toml").unwrap().catalogue.unwrap()
}

fn took(time: f64, lost: f64, queue: f64) -> Measured {
    Measured {
        completion_s: Some(time),
        done_share: Some(1.0),
        lost_packets: Some(lost),
        lost_share: Some(lost / 1000.0),
        peak_queue_packets: Some(queue),
        ..Measured::default()
    }
}

/// Slow start takes 10 s, loses 100 and fills 50; HyStart takes 12 s, HyStart++ 11 s.
fn references() -> Vec<(String, Measured)> {
    let slow_start = Measured {
        queue_p95_packets: Some(40.0),
        others_completion_s: Some(20.0),
        ..took(10.0, 100.0, 50.0)
    };
    let all = [
        ("slow-start+cubic", slow_start),
        ("hystart", took(12.0, 0.0, 20.0)),
        ("hystart-pp", took(11.0, 50.0, 50.0)),
    ];
    all.map(|(name, measured)| (name.to_owned(), measured)).to_vec()
}

fn verdict(rule: Rule, more: &str, control: Measured) -> Verdict {
    let references = references();
    let head = head(more);
    judge(rule, &Numbers { head: &head, control: &control, references: &references }).verdict
}

#[test]
fn r1_is_two_percent_above_the_better_of_both_hystarts() {
    assert_eq!(verdict(Rule::R1, "", took(11.21, 0.0, 0.0)), Verdict::Pass);
    assert_eq!(verdict(Rule::R1, "", took(11.23, 0.0, 0.0)), Verdict::Fail);
}

#[test]
fn a_published_bound_beats_r1_in_both_directions() {
    assert_eq!(verdict(Rule::R1, "bound = '15s'", took(14.9, 0.0, 0.0)), Verdict::Pass);
    assert_eq!(verdict(Rule::R1, "bound = '9s'", took(9.1, 0.0, 0.0)), Verdict::Fail);
    assert_eq!(verdict(Rule::R1, "bound = '9s'", took(9.0, 0.0, 0.0)), Verdict::Pass);
}

#[test]
fn what_is_not_done_is_not_fast_and_is_stuck() {
    let never = Measured { completion_s: None, done_share: Some(0.9), ..took(0.0, 0.0, 0.0) };
    assert_eq!(verdict(Rule::R1, "", never), Verdict::Fail);
    assert_eq!(verdict(Rule::R4, "", never), Verdict::Fail);
}

#[test]
fn r2_holds_loss_and_queue_to_those_of_slow_start() {
    assert_eq!(verdict(Rule::R2, "", took(9.0, 100.0, 50.0)), Verdict::Pass);
    assert_eq!(verdict(Rule::R2, "", took(9.0, 101.0, 50.0)), Verdict::Fail);
    assert_eq!(verdict(Rule::R2, "", took(9.0, 0.0, 51.0)), Verdict::Fail);
    assert_eq!(verdict(Rule::R2, "", took(9.0, 101.0, 51.0)), Verdict::Fail);
}

#[test]
fn r2_asks_for_a_share_too_where_the_scenario_has_one() {
    assert_eq!(verdict(Rule::R2, "most_lost = '10%'", took(9.0, 100.0, 50.0)), Verdict::Pass);
    assert_eq!(verdict(Rule::R2, "most_lost = '9%'", took(9.0, 100.0, 50.0)), Verdict::Fail);
}

#[test]
fn r3_looks_at_the_share_of_others_and_at_the_harm_to_them() {
    let shared = |share, time| Measured {
        others_share: Some(share),
        others_completion_s: Some(time),
        ..took(9.0, 0.0, 0.0)
    };
    assert_eq!(verdict(Rule::R3, "", shared(0.2, 22.0)), Verdict::Pass);
    assert_eq!(verdict(Rule::R3, "", shared(0.8, 22.0)), Verdict::Pass);
    assert_eq!(verdict(Rule::R3, "", shared(0.21, 21.9)), Verdict::Pass);
    assert_eq!(verdict(Rule::R3, "", shared(0.19, 21.9)), Verdict::Fail);
    assert_eq!(verdict(Rule::R3, "", shared(0.81, 21.9)), Verdict::Fail);
    assert_eq!(verdict(Rule::R3, "", shared(0.5, 22.1)), Verdict::Fail);
    assert_eq!(verdict(Rule::R3, "safe_by = ['harm']", shared(0.1, 21.9)), Verdict::Pass);
}

#[test]
fn r3_compares_what_endless_others_carry_and_how_long_packets_wait() {
    let mut references = references();
    references[0].1.others_completion_s = None;
    references[0].1.others_packets = Some(1100.0);
    let judged = |more: &str, control: Measured| {
        let head = head(more);
        judge(Rule::R3, &Numbers { head: &head, control: &control, references: &references })
    };
    let carry = |packets| Measured { others_packets: Some(packets), ..took(9.0, 0.0, 0.0) };
    assert_eq!(judged("safe_by = ['harm']", carry(1001.0)).verdict, Verdict::Pass);
    assert_eq!(judged("safe_by = ['harm']", carry(999.0)).verdict, Verdict::Fail);
    assert_eq!(judged("safe_by = ['harm']", carry(0.0)).verdict, Verdict::Fail);
    let alone = took(9.0, 0.0, 0.0);
    assert_eq!(judged("safe_by = ['harm']", alone).verdict, Verdict::NotAsked, "no others");
    assert_eq!(judged("safe_by = ['harm', 'delay']", alone).verdict, Verdict::NotAsked);
    let good = Measured { others_share: Some(0.5), ..took(9.0, 0.0, 0.0) };
    assert_eq!(judged("", good).verdict, Verdict::Pass, "by what can be asked");
    let wait = |packets| Measured { queue_p95_packets: Some(packets), ..took(9.0, 0.0, 0.0) };
    assert_eq!(judged("safe_by = ['delay']", wait(40.0)).verdict, Verdict::Pass);
    assert_eq!(judged("safe_by = ['delay']", wait(41.0)).verdict, Verdict::Fail);
}

#[test]
fn r4_is_half_more_than_slow_start() {
    assert_eq!(verdict(Rule::R4, "", took(15.0, 0.0, 0.0)), Verdict::Pass);
    assert_eq!(verdict(Rule::R4, "", took(15.1, 0.0, 0.0)), Verdict::Fail);
}

#[test]
fn r5_fails_a_control_that_a_reference_dominates() {
    // HyStart takes 12 s, loses nothing and queues 20.
    assert_eq!(verdict(Rule::R5, "", took(12.0, 0.0, 20.0)), Verdict::Pass, "equal");
    assert_eq!(verdict(Rule::R5, "", took(12.1, 0.0, 20.0)), Verdict::Fail, "slower");
    assert_eq!(verdict(Rule::R5, "", took(12.1, 0.0, 19.0)), Verdict::Pass, "a shorter queue");
    let never = Measured { completion_s: None, ..took(0.0, 200.0, 60.0) };
    assert_eq!(verdict(Rule::R5, "", never), Verdict::Fail, "never done");
}

#[test]
fn what_is_not_asked_or_cannot_be_compared_is_no_failure() {
    assert_eq!(verdict(Rule::R1, "rules = ['R2']", took(99.0, 0.0, 0.0)), Verdict::NotAsked);
    let head = head("");
    let control = took(99.0, 0.0, 0.0);
    let alone = Numbers { head: &head, control: &control, references: &[] };
    for rule in [Rule::R1, Rule::R2, Rule::R4] {
        assert_eq!(judge(rule, &alone).verdict, Verdict::NotAsked, "{rule}");
    }
}

/// Others that are done beside slow start and not beside the control are harmed; others that carry
/// nothing beside either say nothing.
#[test]
fn r3_tells_harm_from_others_that_do_nothing() {
    let mut references = references();
    let judged = |control: &Measured, references: &[(String, Measured)]| {
        let head = head("safe_by = ['harm']");
        judge(Rule::R3, &Numbers { head: &head, control, references }).verdict
    };
    let idle = Measured { others_packets: Some(0.0), ..took(9.0, 0.0, 0.0) };
    assert_eq!(judged(&idle, &references), Verdict::Fail);
    references[0].1.others_completion_s = None;
    references[0].1.others_packets = Some(0.0);
    assert_eq!(judged(&idle, &references), Verdict::NotAsked);
}

#[test]
fn r4_and_r5_ask_nothing_where_there_is_no_end() {
    let mut references = references();
    references[0].1.completion_s = None;
    let head = head("");
    let judged = |rule, control: &Measured| {
        judge(rule, &Numbers { head: &head, control, references: &references }).verdict
    };
    assert_eq!(judged(Rule::R4, &took(9.0, 0.0, 0.0)), Verdict::NotAsked);
    let endless = Measured { completion_s: None, done_share: None, ..took(0.0, 0.0, 0.0) };
    assert_eq!(judged(Rule::R5, &endless), Verdict::NotAsked);
}

/// The reasons hold the numbers that decided.
#[test]
fn a_verdict_says_by_which_numbers() {
    let references = references();
    let shared = |share| Measured {
        others_share: Some(share),
        others_completion_s: Some(21.0),
        queue_p95_packets: Some(4.0),
        ..took(11.0, 40.0, 20.0)
    };
    let never = Measured { completion_s: None, done_share: Some(0.9), ..took(0.0, 200.0, 60.0) };
    for (rule, more, control, expected) in [
        (Rule::R1, "", shared(0.5), REASON_1),
        (Rule::R1, "bound = '9s'", shared(0.5), "11 s, accepted 9 s (the published bound)"),
        (Rule::R1, "", never, "only 90 % of the transfers were done in time"),
        (Rule::R2, "most_lost = '9%'", shared(0.5), REASON_2),
        (Rule::R3, "", shared(0.5), "the others have 50 %, good; harm 1.05 (the others"),
        (Rule::R3, "", shared(0.25), "the others have 25 %, acceptable"),
        (Rule::R3, "", shared(0.9), "the others have 90 %, outside 20 to 80 %"),
        (
            Rule::R3,
            "safe_by = ['delay']",
            shared(0.5),
            "no more than 4 packets wait, with slow start 40",
        ),
        (Rule::R4, "", shared(0.5), "11 s, accepted 15 s (slow start 10 s)"),
        (Rule::R5, "", shared(0.5), "no reference dominates 11 s, 40 lost, queue 20"),
        (
            Rule::R5,
            "",
            never,
            "not done, 200 lost, queue 60 is dominated by slow-start+cubic: 10 s, 100 lost",
        ),
    ] {
        let head = head(more);
        let numbers = Numbers { head: &head, control: &control, references: &references };
        let why = judge(rule, &numbers).why;
        assert!(why.contains(expected), "{rule}: {why}");
    }
    let names = [Verdict::Pass, Verdict::Fail, Verdict::NotAsked].map(Verdict::name);
    assert_eq!(names, ["pass", "fail", "n/a"]);
}

const REASON_1: &str = "11 s, accepted 11.22 s (the better of HyStart and HyStart++ takes 11 s)";
const REASON_2: &str = "lost 40, slow start 100 packets; peak queue 20, slow start 50 \
                        packets; 4 % of all, accepted 9 %";

#[test]
fn r5_leaves_out_a_queue_that_was_not_measured() {
    let control = |time, lost| Measured { peak_queue_packets: None, ..took(time, lost, 0.0) };
    assert_eq!(verdict(Rule::R5, "", control(11.0, 51.0)), Verdict::Fail);
    assert_eq!(verdict(Rule::R5, "", control(11.0, 49.0)), Verdict::Pass);
}
