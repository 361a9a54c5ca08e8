//! A judgement for a terminal: the sums, a row per scenario, the reasons of what does not hold.

use std::fmt::Write as _;

use firstflight_judge::{Judged, Judgement, Verdict};
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Table, wrapped};
use firstflight_scenario::Rule;

use crate::words::count;

/// What the command prints.
pub(super) fn judgement(judgement: &Judgement, screen: Screen) -> String {
    let scenarios = count(judgement.scenarios.len() as u64, "scenario");
    let sums =
        format!("{} on {}, {scenarios}: {}.", judgement.control, judgement.on, judgement.sums());
    let mut text = wrapped(&sums, screen.width, "  ");
    let _ = write!(text, "\n{}", terminal::table(&table(judgement, screen), screen));
    for judged in &judgement.scenarios {
        for line in complaints(judged, &judgement.on) {
            let _ = write!(text, "\n{}", wrapped(&line, screen.width, "  ").trim_end());
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Which rules do not hold, with the numbers, and whether these are in doubt; or why there is no
/// result.
fn complaints(judged: &Judged, on: &str) -> Vec<String> {
    if let Some(why) = &judged.not_carried {
        return vec![format!("{}: not covered on {on}: {why}", judged.name)];
    }
    if let Some(why) = &judged.broken {
        return vec![format!("{}: it came to nothing: {why}", judged.name)];
    }
    let failed = judged.reasons.iter();
    let failed = failed.filter(|(rule, _)| judged.verdicts.get(*rule) == Some(&Verdict::Fail));
    let title = |name: &str| Rule::ALL.iter().find(|rule| rule.name() == name).map(|it| it.title());
    let failed = failed.map(|(rule, why)| {
        format!("{} {rule} {}: {why}", judged.name, title(rule).unwrap_or_default())
    });
    let doubt = judged.in_doubt.iter().map(|why| format!("{} is in doubt: {why}", judged.name));
    failed.chain(doubt).collect()
}

/// The rules that were asked have a column each, and the numbers are those of the control and of
/// the references that R1 and R4 compare it with; the report and --csv have all.
fn table(judgement: &Judgement, screen: Screen) -> Table {
    let asked: Vec<Rule> = Rule::ALL
        .into_iter()
        .filter(|rule| {
            let verdicts = judgement.scenarios.iter().filter_map(|it| it.verdicts.get(rule.name()));
            verdicts.into_iter().any(|verdict| *verdict != Verdict::NotAsked)
        })
        .collect();
    let heads = asked.iter().map(|rule| Column::text(rule.name()));
    let numbers = [
        Column::number("done after", "s"),
        Column::number("better HyStart", "s"),
        Column::number("slow start", "s"),
        Column::number("lost", ""),
    ];
    let columns = std::iter::once(Column::text("scenario")).chain(heads).chain(numbers);
    let mut table = Table::new("judgement", rules(&asked), columns);
    for judged in &judgement.scenarios {
        let mut row: Vec<Cell> = vec![judged.name.into()];
        row.extend(asked.iter().map(|rule| cell(judged.verdicts.get(rule.name()), screen)));
        let of = |name: &str| judged.references.get(name).and_then(|it| it.completion_s);
        let number =
            |value: Option<f64>, decimals| Cell::number(value.unwrap_or(f64::NAN), decimals);
        let [slow_start, hystart, hystart_pp] = firstflight_judge::REFERENCES.map(of);
        row.extend([
            number(judged.measured.completion_s, 3),
            number([hystart, hystart_pp].into_iter().flatten().reduce(f64::min), 3),
            number(slow_start, 3),
            number(judged.measured.lost_packets, 0),
        ]);
        table.push(row);
    }
    table
}

/// `R1 fast, R2 gentle`.
fn rules(asked: &[Rule]) -> String {
    let each = asked.iter().map(|rule| format!("{rule} {}", rule.title()));
    each.collect::<Vec<_>>().join(", ")
}

/// A sign as wide as the rule's name; what is not asked leaves its cell blank.
fn cell(verdict: Option<&Verdict>, screen: Screen) -> Cell {
    let [pass, fail] = if screen.unicode { ["✓", "✗"] } else { ["y", "NO"] };
    match verdict {
        Some(Verdict::Pass) => pass.into(),
        Some(Verdict::Fail) => fail.into(),
        Some(Verdict::NotAsked) | None => "".into(),
    }
}
