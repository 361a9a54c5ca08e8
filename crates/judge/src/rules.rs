//! The rules R1 to R5: numbers in, verdict and reason out. Nothing here runs anything.
//!
//! The thresholds are the constants at the end of this file. Those of R3 are the C4 tests'; the
//! others are the project's proposal, which `docs/judge.md` argues.

use firstflight_outside::digits;
use firstflight_scenario::{Catalogue, Rule, SafeBy};
use serde::{Deserialize, Serialize};

use crate::measured::Measured;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// It holds.
    #[serde(rename = "pass")]
    Pass,
    /// It does not hold.
    #[serde(rename = "fail")]
    Fail,
    /// It is not asked here, or there is nothing to compare with.
    #[serde(rename = "n/a")]
    NotAsked,
}

/// A verdict and the numbers behind it, in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruled {
    /// What the rule says.
    pub verdict: Verdict,
    /// By which numbers.
    pub why: String,
}

/// The numbers of one scenario.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    /// What the scenario asks.
    pub head: &'a Catalogue,
    /// The control under judgement.
    pub control: &'a Measured,
    /// The references by name, as many as could be run.
    pub references: &'a [(String, Measured)],
}

impl Verdict {
    /// `pass`, `fail` or `n/a`.
    pub fn name(self) -> &'static str {
        ["pass", "fail", "n/a"][self as usize]
    }
}

/// The verdict of one rule.
pub fn judge(rule: Rule, numbers: &Numbers<'_>) -> Ruled {
    if !numbers.head.rules.contains(&rule) {
        return not_asked("the scenario does not ask it");
    }
    match rule {
        Rule::R1 => fast(numbers),
        Rule::R2 => gentle(numbers),
        Rule::R3 => safe(numbers),
        Rule::R4 => never_stuck(numbers),
        Rule::R5 => pareto(numbers),
    }
}

/// R1: within the published bound; without one at most 2 % longer than the better of HyStart++ and
/// HyStart.
fn fast(numbers: &Numbers<'_>) -> Ruled {
    let both = BETTER.map(|name| numbers.reference(name)?.completion_s);
    let best = both.into_iter().flatten().reduce(f64::min);
    let (most, of) = match (numbers.head.bound, best) {
        (Some(bound), _) => (bound.seconds(), "the published bound".to_owned()),
        (None, Some(best)) => {
            (best * SLOWER, format!("the better of HyStart and HyStart++ takes {}", s(best)))
        }
        (None, None) => return not_asked("neither HyStart nor HyStart++ was done"),
    };
    let Some(took) = numbers.control.completion_s else { return not_done(numbers.control) };
    ruled(took <= most, format!("{}, accepted {} ({of})", s(took), s(most)))
}

/// R2: no more packets lost and no longer a queue than slow start, and no larger a share lost than
/// the scenario accepts.
fn gentle(numbers: &Numbers<'_>) -> Ruled {
    let Some(slow_start) = numbers.reference(SLOW_START) else { return no_slow_start() };
    let (control, mut holds, mut reasons) = (numbers.control, true, Vec::new());
    let pairs = [
        ("lost", control.lost_packets, slow_start.lost_packets),
        ("peak queue", control.peak_queue_packets, slow_start.peak_queue_packets),
    ];
    for (what, ours, theirs) in pairs {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        holds &= ours <= theirs;
        reasons.push(format!(
            "{what} {}, slow start {} packets",
            digits(ours, 1),
            digits(theirs, 1)
        ));
    }
    if let (Some(most), Some(share)) = (numbers.head.most_lost, control.lost_share) {
        let most = most.ppb() as f64 / 1e9;
        holds &= share <= most;
        reasons.push(format!("{} of all, accepted {}", percent(share), percent(most)));
    }
    ruled(holds, reasons.join("; "))
}

/// R3: the others keep 20 to 80 % (30 to 70 % is good), take at most 1.1 times as long as beside
/// slow start, and wait no longer in the queue, as far as the scenario asks.
fn safe(numbers: &Numbers<'_>) -> Ruled {
    const USUAL: [SafeBy; 2] = [SafeBy::Share, SafeBy::Harm];
    let written = &numbers.head.safe_by;
    let by = if written.is_empty() { &USUAL[..] } else { written };
    let parts: Vec<Ruled> = by
        .iter()
        .map(|by| match by {
            SafeBy::Share => share(numbers.control),
            SafeBy::Harm => harm(numbers),
            SafeBy::Delay => delay(numbers),
        })
        .collect();
    let all = |verdict| parts.iter().all(|part| part.verdict == verdict);
    let verdict = match () {
        () if parts.iter().any(|part| part.verdict == Verdict::Fail) => Verdict::Fail,
        () if all(Verdict::NotAsked) => Verdict::NotAsked,
        () => Verdict::Pass,
    };
    let why = parts.into_iter().map(|part| part.why).collect::<Vec<_>>().join("; ");
    Ruled { verdict, why }
}

fn share(control: &Measured) -> Ruled {
    let Some(share) = control.others_share else {
        return not_asked("the flows never sent at the same time");
    };
    let word = match share {
        share if GOOD.contains(&share) => "good",
        share if ACCEPTABLE.contains(&share) => "acceptable",
        _ => "outside 20 to 80 %",
    };
    ruled(ACCEPTABLE.contains(&share), format!("the others have {}, {word}", percent(share)))
}

fn harm(numbers: &Numbers<'_>) -> Ruled {
    let Some(slow_start) = numbers.reference(SLOW_START) else { return no_slow_start() };
    let (ours, theirs) = (numbers.control, slow_start);
    let ratio = match (ours.others_completion_s, theirs.others_completion_s) {
        (Some(ours), Some(theirs)) => ours / theirs,
        (None, Some(_)) => return ruled(false, "the others were not done in time".to_owned()),
        _ => match (ours.others_packets, theirs.others_packets) {
            (Some(ours), Some(theirs)) if ours > 0.0 => theirs / ours,
            (Some(_), Some(theirs)) if theirs > 0.0 => f64::INFINITY,
            _ => return not_asked("there are no others"),
        },
    };
    let reason = format!("harm {} (the others beside slow start: 1)", digits(ratio, 2));
    ruled(ratio <= HARM, reason)
}

fn delay(numbers: &Numbers<'_>) -> Ruled {
    let theirs = numbers.reference(SLOW_START).and_then(|slow_start| slow_start.queue_p95_packets);
    let (Some(ours), Some(theirs)) = (numbers.control.queue_p95_packets, theirs) else {
        return not_asked("the queue is not known over time");
    };
    let reason = format!(
        "95 % of the time no more than {} packets wait, with slow start {}",
        digits(ours, 1),
        digits(theirs, 1)
    );
    ruled(ours <= theirs, reason)
}

/// R4: at most half longer than slow start.
fn never_stuck(numbers: &Numbers<'_>) -> Ruled {
    let Some(slow_start) = numbers.reference(SLOW_START) else { return no_slow_start() };
    let Some(theirs) = slow_start.completion_s else {
        return not_asked("slow start is not done in time either");
    };
    let Some(took) = numbers.control.completion_s else { return not_done(numbers.control) };
    let most = theirs * STUCK;
    ruled(took <= most, format!("{}, accepted {} (slow start {})", s(took), s(most), s(theirs)))
}

/// R5: no reference is as good in time, loss and queue, and better in one.
fn pareto(numbers: &Numbers<'_>) -> Ruled {
    let costs = |of: &Measured| {
        // What is not done is worse than anything.
        let time = of.completion_s.or(of.done_share.map(|_| f64::INFINITY))?;
        Some((time, of.lost_packets?, of.peak_queue_packets))
    };
    let Some(ours) = costs(numbers.control) else { return not_asked("nothing has an end") };
    let dominates = |(time, lost, queue): (f64, f64, Option<f64>)| {
        let mut pairs = vec![(time, ours.0), (lost, ours.1)];
        // The queue counts where both sides measured it.
        pairs.extend(queue.zip(ours.2));
        pairs.iter().all(|(theirs, ours)| theirs <= ours)
            && pairs.iter().any(|(theirs, ours)| theirs < ours)
    };
    let better = numbers.references.iter().find_map(|(name, measured)| {
        let costs = costs(measured).filter(|costs| dominates(*costs))?;
        Some((name, costs))
    });
    let in_words = |(time, lost, queue): (f64, f64, Option<f64>)| {
        let queue = queue.map_or("not measured".to_owned(), |queue| digits(queue, 1));
        format!("{}, {} lost, queue {queue}", s(time), digits(lost, 1))
    };
    match better {
        Some((name, theirs)) => {
            ruled(false, format!("{} is dominated by {name}: {}", in_words(ours), in_words(theirs)))
        }
        None => ruled(true, format!("no reference dominates {}", in_words(ours))),
    }
}

impl Numbers<'_> {
    fn reference(&self, name: &str) -> Option<&Measured> {
        self.references.iter().find(|(found, _)| found == name).map(|(_, measured)| measured)
    }
}

fn ruled(holds: bool, why: String) -> Ruled {
    Ruled { verdict: if holds { Verdict::Pass } else { Verdict::Fail }, why }
}

fn not_asked(why: &str) -> Ruled {
    Ruled { verdict: Verdict::NotAsked, why: why.to_owned() }
}

fn no_slow_start() -> Ruled {
    not_asked("slow start could not be run here")
}

fn not_done(control: &Measured) -> Ruled {
    let share = control.done_share.unwrap_or_default();
    ruled(false, format!("only {} of the transfers were done in time", percent(share)))
}

fn s(seconds: f64) -> String {
    if seconds.is_finite() { format!("{} s", digits(seconds, 3)) } else { "not done".to_owned() }
}

fn percent(share: f64) -> String {
    format!("{} %", digits(share * 100.0, 1))
}

/// The references, in the order of scenario files.
pub const REFERENCES: [&str; 3] = [SLOW_START, HYSTART, HYSTART_PP];
/// Those of which the better one is the measure of R1.
pub(crate) const BETTER: [&str; 2] = [HYSTART, HYSTART_PP];
const SLOW_START: &str = "slow-start+cubic";
const HYSTART: &str = "hystart";
const HYSTART_PP: &str = "hystart-pp";

/// How much longer than the better HyStart still counts as fast.
pub(crate) const SLOWER: f64 = 1.02;
/// How much longer than slow start still counts as not stuck.
const STUCK: f64 = 1.5;
/// How much longer the others may take.
const HARM: f64 = 1.1;
/// The others' share in the C4 tests.
const GOOD: std::ops::RangeInclusive<f64> = 0.3..=0.7;
const ACCEPTABLE: std::ops::RangeInclusive<f64> = 0.2..=0.8;

#[cfg(test)]
mod tests;
