//! Rows of a reproduction as tables, one per figure or table of a paper.

use std::fmt::Write as _;

use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Column, Table, wrapped};
use firstflight_reproduce::sign;
use firstflight_scenario::{Row, Value, Verdict};

use crate::digits;

/// All rows in groups, below each what its table has no room for, and how many have which verdict.
pub(super) fn text(rows: &[Row], screen: Screen) -> String {
    let mut text = String::new();
    for group in rows.chunk_by(|one, next| heading(one) == heading(next)) {
        let _ = writeln!(text, "{}", terminal::table(&table(group), screen));
        let remarks = group.iter().flat_map(remarks);
        let remarks: String = remarks.map(|each| wrapped(&each, screen.width, "")).collect();
        if !remarks.is_empty() {
            let _ = writeln!(text, "{remarks}");
        }
    }
    let _ = writeln!(text, "{}", summary(rows));
    text
}

/// What was measured where that is a long text, or why nothing was, and the note of what is not
/// simply as claimed.
fn remarks(row: &Row) -> impl Iterator<Item = String> {
    let ran = row.verdict != Verdict::NotRun;
    let measured = long(&row.measured).map(|text| match ran {
        true => format!("{} measured: {text}", row.id),
        false => format!("{}: {text}", row.id),
    });
    let note = row.note.as_ref().filter(|_| ran && row.verdict != Verdict::Pass);
    measured.into_iter().chain(note.map(|note| format!("{}: {note}", row.id)))
}

/// A text that would fill a column of a table.
fn long(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) if text.chars().count() > MOST_IN_CELL => Some(text),
        _ => None,
    }
}

/// Characters of a measured text that a cell has room for.
const MOST_IN_CELL: usize = 40;

/// `62 claims: 58 pass, 1 fail, 3 refuted-confirmed; failed: S0-F9`.
fn summary(rows: &[Row]) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let always = [Verdict::Pass, Verdict::Fail, Verdict::RefutedConfirmed];
    let fitted = Some(Verdict::Fitted).filter(|fitted| count(*fitted) > 0);
    let verdicts = always.into_iter().chain(fitted);
    let counts: Vec<String> =
        verdicts.map(|verdict| format!("{} {}", count(verdict), verdict.name())).collect();
    let noun = if rows.len() == 1 { "claim" } else { "claims" };
    let failed = rows.iter().filter(|row| row.verdict == Verdict::Fail);
    let failed: Vec<&str> = failed.map(|row| row.id.as_str()).collect();
    let failed =
        if failed.is_empty() { String::new() } else { format!("; failed: {}", failed.join(", ")) };
    let left = match count(Verdict::NotRun) {
        0 => String::new(),
        left => format!(", {left} not run"),
    };
    format!("{} {noun}: {}{left}{failed}", rows.len(), counts.join(", "))
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        Column::text("id"),
        Column::text("claim"),
        leaning("expected", rows.iter().map(|row| &row.expected)),
        leaning("measured", rows.iter().map(|row| &row.measured)),
        Column::text("unit"),
        Column::text("class"),
        Column::text("verdict"),
    ];
    let title = rows.first().map_or(String::new(), heading);
    let mut table = Table::new("verdicts", title, columns);
    for row in rows {
        table.push([
            row.id.clone().into(),
            row.what.clone().into(),
            shown(&row.expected).into(),
            long(&row.measured).map_or_else(|| shown(&row.measured), |_| "see below".into()).into(),
            row.unit.clone().into(),
            row.class.name().into(),
            sign(row.verdict),
        ]);
    }
    table
}

/// To the right as long as there are only numbers.
fn leaning<'a>(name: &str, mut values: impl Iterator<Item = &'a Value>) -> Column {
    match values.any(|value| matches!(value, Value::Text(_))) {
        true => Column::text(name),
        false => Column::number(name, ""),
    }
}

/// The paper, and its figure or table by the name of the scenario file: `astart table1`.
fn heading(row: &Row) -> String {
    let file = row.scenario.split(".toml").next().unwrap_or_default();
    let file = file.rsplit('/').next().unwrap_or_default();
    format!("{} {file}", row.paper)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Flag(true) => "yes".to_owned(),
        Value::Flag(false) => "no".to_owned(),
        Value::Number(number) => digits::short(*number),
        Value::Text(text) => text.clone(),
    }
}
