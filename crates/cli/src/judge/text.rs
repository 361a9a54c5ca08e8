//! A judgement for a terminal: the sums, a row per scenario, the reasons of what does not hold.

use std::fmt::Write as _;

use firstflight_judge::{Baseline, Change, Changes, Judged, Judgement, Verdict};
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Table, markdown, wrapped};
use firstflight_scenario::Rule;

use crate::words::count;

/// What the command prints.
pub(super) fn judgement(judgement: &Judgement, screen: Screen) -> String {
    let mut text = wrapped(&sums(judgement), screen.width, "  ");
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

/// How often each rule holds, in a sentence.
fn sums(judgement: &Judgement) -> String {
    let scenarios = count(judgement.scenarios.len() as u64, "scenario");
    format!("{} on {}, {scenarios}: {}.", judgement.control, judgement.on, judgement.sums())
}

/// The judgement as a summary in Markdown, with what changed since the stored one.
pub(super) fn markdown(judgement: &Judgement, since: Option<&(Baseline, Changes)>) -> String {
    let screen = Screen { unicode: true, ..Screen::plain(80) };
    let table = table(judgement, screen);
    let list = |lines: Vec<String>| -> String {
        let lines = lines.iter().map(|line| format!("- {}\n", markdown::cell(line)));
        lines.collect()
    };
    let mut text = format!("### {}\n\n", markdown::cell(&sums(judgement)));
    if let Some((baseline, changes)) = since {
        let all = changes.worse.iter().chain(&changes.better).map(ToString::to_string);
        let head = format!("Since {baseline}: {}", counted(changes));
        let _ = writeln!(text, "{}\n\n{}", markdown::cell(&head), list(all.collect()));
    }
    let _ = write!(text, "{}.\n\n", table.title);
    text.push_str(&markdown::table(&table));
    let scenarios = judgement.scenarios.iter();
    let why: Vec<String> = scenarios.flat_map(|it| complaints(it, &judgement.on)).collect();
    if !why.is_empty() {
        let head = "<details><summary>What does not hold, and by which numbers</summary>";
        let _ = write!(text, "\n{head}\n\n{}\n</details>\n", list(why));
    }
    text
}

/// `2 rules are worse, 1 is better`, and what was left out.
pub(super) fn counted(changes: &Changes) -> String {
    let are = |many: &[Change]| match many.len() {
        1 => "1 rule is".to_owned(),
        many => format!("{many} rules are"),
    };
    let mut counts = format!("{} worse, {} better", are(&changes.worse), are(&changes.better));
    if changes.left_out > 0 {
        let left_out = count(changes.left_out as u64, "scenario");
        let _ = write!(counts, "; {left_out} of it not judged now");
    }
    counts
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
    let failed = judged.failed();
    let failed =
        failed.map(|(rule, why)| format!("{} {rule} {}: {why}", judged.name, rule.title()));
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
