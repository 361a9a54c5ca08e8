//! Rows: a claim, what was measured for it, and the verdict.

use firstflight_results::{CheckRow, ClaimRow, ClaimValue, Class, Verdict};
use firstflight_scenario::{Complete, Time, complete};

use crate::check::{Done, Outcome, Unfinished};
use crate::file::{Check, Claim, On};
use crate::lab::HOW_TO_ASK;
use crate::lab_record;
use crate::measure::Measure;
use crate::number::number;
use crate::paper::{Expanded, Paper};

/// Judges a claim; `None` if the reproduction was stopped before all of its runs were finished.
pub(crate) fn judge(
    paper: &Paper,
    expanded: &Expanded,
    claim: &Claim,
    done: Done<'_>,
) -> Option<ClaimRow> {
    if let Some(why) = &claim.unjudged {
        return Some(unjudged(paper, expanded, claim, why));
    }
    match measure(paper, expanded, claim, done) {
        Ok(row) => Some(row),
        Err(Unfinished::Interrupted) => None,
        Err(Unfinished::NotAsked) => Some(of_last_lab(paper, expanded, claim)),
        Err(Unfinished::NotRun(why)) => Some(not_run(paper, expanded, claim, &why)),
    }
}

/// A row of the lab that was not asked for, judged by what the lab measured last, if it did.
fn of_last_lab(paper: &Paper, expanded: &Expanded, claim: &Claim) -> ClaimRow {
    match lab_record::checks(expanded, claim) {
        Some((checks, origin)) => {
            ClaimRow { lab: Some(origin), ..judged(paper, expanded, claim, &checks, &[]) }
        }
        None => not_run(paper, expanded, claim, HOW_TO_ASK),
    }
}

/// A row of a claim that nothing here can judge.
fn unjudged(paper: &Paper, expanded: &Expanded, claim: &Claim, why: &str) -> ClaimRow {
    let row = not_run(paper, expanded, claim, why);
    let tolerance = ClaimValue::Text(String::new());
    ClaimRow { measured: ClaimValue::Text(format!("not judged: {}", why.trim())), tolerance, ..row }
}

/// A row without a value.
fn not_run(paper: &Paper, expanded: &Expanded, claim: &Claim, why: &str) -> ClaimRow {
    ClaimRow {
        measured: ClaimValue::Text(format!("not run: {why}")),
        tolerance: tolerance(claim, claim.checks.iter().map(|it| it.rule(it.target(claim)))),
        verdict: Verdict::NotRun,
        scenario: place(expanded, claim),
        checks: claim.all_checks().map(|it| unmeasured(it.asked(expanded, claim))).collect(),
        note: claim.note.as_ref().map(|note| note.trim().to_owned()),
        ..stated(paper, claim)
    }
}

/// The row with all that is known without a run.
fn stated(paper: &Paper, claim: &Claim) -> ClaimRow {
    ClaimRow {
        id: claim.id.clone(),
        paper: paper.head.name.clone(),
        what: claim.what.clone(),
        expected: claim.expected.clone(),
        measured: ClaimValue::Flag(false),
        unit: claim.unit.clone(),
        class: claim.class,
        tolerance: ClaimValue::Flag(false),
        verdict: Verdict::NotRun,
        preset: String::new(),
        scenario: String::new(),
        checks: Vec::new(),
        lab: None,
        note: None,
        reason: None,
        arithmetic: claim.arithmetic,
    }
}

/// A check without a measured value.
fn unmeasured(asked: Outcome) -> CheckRow {
    CheckRow { verdict: Verdict::NotRun, ..listed(&asked) }
}

/// A check as the JSON and the pages have it.
fn listed(check: &Outcome) -> CheckRow {
    let measured = check.measured.map(rounded);
    let around = |value: f64, by: f64| [rounded(value - by), rounded(value + by)];
    CheckRow {
        what: check.what.clone(),
        paper: check.paper,
        measured,
        difference: check.measured.zip(check.paper).map(|(ours, paper)| rounded(ours - paper)),
        tolerance: check.rule.clone(),
        seeds: check.seeds,
        interval: check.measured.zip(check.margin).map(|(value, by)| around(value, by)),
        preset: check.preset.clone(),
        verdict: check.verdict(),
    }
}

/// The checks of what a refuted claim says, which must not hold.
fn listed_as_refuted(check: &Outcome) -> CheckRow {
    let verdict = match check.verdict() {
        Verdict::Fail => Verdict::RefutedConfirmed,
        Verdict::Pass => Verdict::Fail,
        other => other,
    };
    CheckRow { what: format!("the paper's: {}", check.what), verdict, ..listed(check) }
}

/// The checks that show that a refuted claim cannot be true.
fn listed_as_refuting(check: &Outcome) -> CheckRow {
    CheckRow { what: format!("refuted by: {}", check.what), ..listed(check) }
}

fn measure(
    paper: &Paper,
    expanded: &Expanded,
    claim: &Claim,
    done: Done<'_>,
) -> Result<ClaimRow, Unfinished> {
    let all = |checks: &[Check]| -> Result<Vec<Outcome>, Unfinished> {
        checks.iter().map(|check| check.outcome(expanded, claim, done)).collect()
    };
    let (checks, refutations) = (all(&claim.checks)?, all(&claim.refutations)?);
    let preset = done.presets(&claim.places(expanded).unwrap_or_default())?;
    Ok(ClaimRow { preset, ..judged(paper, expanded, claim, &checks, &refutations) })
}

/// The row of checks that have their numbers.
fn judged(
    paper: &Paper,
    expanded: &Expanded,
    claim: &Claim,
    checks: &[Outcome],
    refutations: &[Outcome],
) -> ClaimRow {
    let of_paper = match claim.class {
        Class::Refuted => listed_as_refuted,
        _ => listed,
    };
    let refuting = refutations.iter().map(listed_as_refuting);
    let verdict = verdict(claim.class, checks, refutations);
    ClaimRow {
        measured: measured(claim, checks),
        tolerance: tolerance(claim, checks.iter().map(|check| check.rule.clone())),
        verdict,
        reason: claim.reason.clone().filter(|_| verdict == Verdict::Fail),
        scenario: place(expanded, claim),
        checks: checks.iter().map(of_paper).chain(refuting).collect(),
        note: note(claim, checks, refutations),
        ..stated(paper, claim)
    }
}

/// A refuted claim is confirmed as such when it does not hold and what refutes it does. A claim
/// that holds has passed unless knobs were fitted to a value of it.
fn verdict(class: Class, checks: &[Outcome], refutations: &[Outcome]) -> Verdict {
    let hold = |checks: &[Outcome]| !checks.iter().any(Outcome::stands_against);
    match (class, hold(checks)) {
        (Class::Refuted, false) if hold(refutations) => Verdict::RefutedConfirmed,
        (Class::Refuted, _) | (_, false) => Verdict::Fail,
        _ if checks.iter().any(|check| check.verdict() == Verdict::Fitted) => Verdict::Fitted,
        _ => Verdict::Pass,
    }
}

/// The number, the property, or all numbers in words.
fn measured(claim: &Claim, checks: &[Outcome]) -> ClaimValue {
    match (&claim.expected, checks) {
        (ClaimValue::Flag(_), checks) => {
            ClaimValue::Flag(!checks.iter().any(Outcome::stands_against))
        }
        (_, [Outcome { measured: Some(value), .. }]) => ClaimValue::Number(rounded(*value)),
        (_, [_]) => ClaimValue::Text("none".to_owned()),
        (_, checks) => ClaimValue::Text(in_words(checks)),
    }
}

fn in_words(checks: &[Outcome]) -> String {
    let each = checks.iter().map(|check| {
        let value = check.measured.map_or("none".to_owned(), number);
        let margin = check.margin.map_or(String::new(), |by| format!(" ± {}", number(by)));
        format!("{}: {value}{margin}", check.what)
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Six digits are more than any claim has; the rest only makes the JSON hard to read.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn tolerance(claim: &Claim, rules: impl Iterator<Item = String>) -> ClaimValue {
    match &claim.checks[..] {
        [Check { within: Some(by), .. }] => ClaimValue::Number(*by),
        _ => {
            let mut distinct: Vec<String> = Vec::new();
            for rule in rules {
                if !rule.is_empty() && !distinct.contains(&rule) {
                    distinct.push(rule);
                }
            }
            ClaimValue::Text(distinct.join("; "))
        }
    }
}

fn note(claim: &Claim, checks: &[Outcome], refutations: &[Outcome]) -> Option<String> {
    let mut parts: Vec<String> = claim.note.iter().map(|note| note.trim().to_owned()).collect();
    let failed: Vec<String> = checks
        .iter()
        .chain(refutations)
        .filter(|check| check.stands_against() && claim.class != Class::Refuted)
        .map(|check| {
            let value = check.measured.map_or("none".to_owned(), number);
            format!("{} is {value}, expected {}", check.what, check.rule)
        })
        .collect();
    if !failed.is_empty() {
        parts.push(format!("Not met: {}.", failed.join("; ")));
    }
    if !refutations.is_empty() {
        parts.push(format!("Refuted by: {}.", in_words(refutations)));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The file, and its first case in words.
fn place(expanded: &Expanded, claim: &Claim) -> String {
    let mut cases: Vec<&str> = Vec::new();
    let mut first: Option<&Complete> = None;
    let mut in_lab = false;
    for check in claim.all_checks().filter(|check| check.measure != Measure::Formula) {
        for point in check.points(expanded).unwrap_or_default() {
            let (case, variant) = point.top;
            in_lab |= variant.on == On::Linux;
            if !cases.contains(&case.name.as_str()) {
                cases.push(&case.name);
            }
            first.get_or_insert(&case.complete);
        }
    }
    let Some(complete) = first else { return expanded.path.clone() };
    let cases = match cases.len() {
        1..=3 => cases.join(", "),
        more => format!("{} to {}, {more} cases", cases[0], cases[more - 1]),
    };
    let lab = if in_lab { ", on linux" } else { "" };
    format!("{} [{cases}]: {}{lab}", expanded.path, in_short(complete))
}

/// The path and the endpoints in a line.
pub(crate) fn in_short(complete: &Complete) -> String {
    let link = &complete.links[0];
    let buffer = match link.buffer {
        complete::Buffer::Packets(packets) => format!("{packets}pkt"),
        complete::Buffer::Bytes(bytes) => format!("{bytes}B"),
        complete::Buffer::Unlimited => "none".to_owned(),
    };
    let access = complete.flows.first().map_or(Time::ZERO, |flow| flow.access_delay);
    let rtt = Time::from_ns(link.delay.ns() + link.return_delay.ns());
    format!(
        "{}, RTT {rtt} + 4 x {access} access, buffer {buffer}, {}B, {}, profile {}",
        link.rate,
        complete.packet.bytes(),
        complete.duration,
        complete.endpoint.profile
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Counts;

    fn outcome(holds: bool) -> Outcome {
        let (what, rule) = ("w".to_owned(), "= 1".to_owned());
        Outcome { what, rule, measured: Some(1.0), holds, ..Outcome::default() }
    }

    #[test]
    fn a_claim_passes_only_when_every_check_holds() {
        let (yes, no) = (outcome(true), outcome(false));
        assert_eq!(verdict(Class::Shape, &[yes.clone(), yes.clone()], &[]), Verdict::Pass);
        assert_eq!(verdict(Class::Shape, &[yes, no], &[]), Verdict::Fail);
    }

    #[test]
    fn a_fitted_value_makes_a_row_fitted_and_information_decides_nothing() {
        let (yes, no) = (outcome(true), outcome(false));
        let fitted = |holds| Outcome { counts: Counts::Fitted, ..outcome(holds) };
        let judge = |checks: &[Outcome]| verdict(Class::Shape, checks, &[]);
        assert_eq!(judge(&[yes.clone(), fitted(true)]), Verdict::Fitted);
        assert_eq!(judge(&[yes.clone(), fitted(false)]), Verdict::Fail);
        assert_eq!(judge(&[no, fitted(true)]), Verdict::Fail);
        let informs = Outcome { counts: Counts::Informs, ..outcome(false) };
        assert_eq!(judge(&[yes, informs.clone()]), Verdict::Pass);
        let claim =
            toml::from_str("id = 'P-1'\nwhat = ''\nclass = 'shape'\nexpected = 1\ncheck = []");
        assert_eq!(note(&claim.unwrap(), &[informs], &[]), None, "nothing is not met");
    }

    #[test]
    fn a_check_is_listed_with_its_difference_and_interval() {
        let check = Outcome {
            paper: Some(95.6),
            measured: Some(95.4),
            margin: Some(0.5),
            seeds: 5,
            ..outcome(true)
        };
        let row = listed(&check);
        assert_eq!((row.difference, row.interval), (Some(-0.2), Some([94.9, 95.9])));
        assert_eq!((row.seeds, row.verdict), (5, Verdict::Pass));
        assert_eq!(listed_as_refuted(&check).verdict, Verdict::Fail);
        let differs = Outcome { holds: false, ..check };
        assert_eq!(listed_as_refuted(&differs).verdict, Verdict::RefutedConfirmed);
        let never = listed(&Outcome { measured: None, ..differs });
        assert_eq!((never.measured, never.difference, never.interval), (None, None, None));
    }

    #[test]
    fn a_refuted_claim_must_fail_and_its_refutation_hold() {
        let (yes, no) = (outcome(true), outcome(false));
        let judge = |check: &Outcome, refutation: &Outcome| {
            verdict(Class::Refuted, std::slice::from_ref(check), std::slice::from_ref(refutation))
        };
        assert_eq!(judge(&no, &yes), Verdict::RefutedConfirmed);
        assert_eq!(judge(&no, &no), Verdict::Fail);
        assert_eq!(judge(&yes, &yes), Verdict::Fail);
    }

    #[test]
    fn numbers_in_rows_keep_six_digits() {
        assert_eq!(rounded(95.512_345_678), 95.5123);
        assert_eq!(rounded(0.0), 0.0);
    }
}
