//! A judgement for a terminal: a row per scenario, the reasons of what does not hold, the sums.

use std::fmt::Write as _;

use firstflight_judge::{Judged, Judgement, Verdict};
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Table, Verdict as Shown, wrapped};
use firstflight_scenario::Rule;

use crate::words::count;

/// What the command prints.
pub(super) fn text(judgement: &Judgement, screen: Screen) -> String {
    let mut text = terminal::table(&table(judgement), screen);
    for judged in &judgement.scenarios {
        for line in complaints(judged, &judgement.on) {
            let _ = write!(text, "\n{}", wrapped(&line, screen.width, "  ").trim_end());
        }
    }
    let _ = write!(text, "\n\n{}", wrapped(&sums(judgement), screen.width, "  "));
    text
}

/// Which rules do not hold, with the numbers, and whether these are in doubt; or why there is no
/// result.
fn complaints(judged: &Judged, on: &str) -> Vec<String> {
    if let Some(why) = &judged.not_carried {
        return vec![format!("{}: not covered on {on}: {why}", judged.id)];
    }
    if let Some(why) = &judged.broken {
        return vec![format!("{}: it came to nothing: {why}", judged.id)];
    }
    let failed = judged.reasons.iter();
    let failed = failed.filter(|(rule, _)| judged.verdicts.get(*rule) == Some(&Verdict::Fail));
    let failed = failed.map(|(rule, why)| format!("{} {rule}: {why}", judged.id));
    let doubt = judged.in_doubt.iter().map(|why| format!("{} is in doubt: {why}", judged.id));
    failed.chain(doubt).collect()
}

/// `R1 holds in 30 of 40 scenarios, R2 in 31 of 38.`
fn sums(judgement: &Judgement) -> String {
    let sums = judgement
        .summary
        .iter()
        .map(|(rule, tally)| format!("{rule} in {} of {}", tally.pass, tally.pass + tally.fail));
    let scenarios = count(judgement.scenarios.len() as u64, "scenario");
    let sums = sums.collect::<Vec<_>>().join(", ");
    format!("{} on {}, {scenarios}: {sums} hold.", judgement.control, judgement.on)
}

fn table(judgement: &Judgement) -> Table {
    let title = format!("{} on {}", judgement.control, judgement.on);
    let rules = Rule::ALL.iter().map(|rule| Column::text(rule.name()));
    let numbers = [
        Column::number("completion", "s"),
        Column::number("slow start", "s"),
        Column::number("HyStart", "s"),
        Column::number("HyStart++", "s"),
        Column::number("lost", ""),
        Column::number("slow start", ""),
        Column::number("peak queue", ""),
        Column::number("slow start", ""),
    ];
    let columns = std::iter::once(Column::text("")).chain(rules).chain(numbers);
    let mut table = Table::new("judgement", title, columns);
    for judged in &judgement.scenarios {
        let mut row: Vec<Cell> = vec![judged.id.as_str().into()];
        row.extend(Rule::ALL.iter().map(|rule| cell(judged.verdicts.get(rule.name()))));
        let of = |name: &str| judged.references.get(name);
        let number =
            |value: Option<f64>, decimals| Cell::number(value.unwrap_or(f64::NAN), decimals);
        let [slow_start, hystart, hystart_pp] =
            firstflight_judge::REFERENCES.map(|name| of(name).copied().unwrap_or_default());
        row.extend([
            number(judged.measured.completion_s, 3),
            number(slow_start.completion_s, 3),
            number(hystart.completion_s, 3),
            number(hystart_pp.completion_s, 3),
            number(judged.measured.lost_packets, 0),
            number(slow_start.lost_packets, 0),
            number(judged.measured.peak_queue_packets, 0),
            number(slow_start.peak_queue_packets, 0),
        ]);
        table.push(row);
    }
    table
}

/// What is not asked leaves its cell blank.
fn cell(verdict: Option<&Verdict>) -> Cell {
    match verdict {
        Some(Verdict::Pass) => Shown::Pass.into(),
        Some(Verdict::Fail) => Shown::Fail.into(),
        Some(Verdict::NotAsked) | None => "".into(),
    }
}
