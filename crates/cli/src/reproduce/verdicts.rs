//! Rows of a reproduction as tables, one per figure or table of a paper.

use std::fmt::Write as _;

use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Column, Table, Verdict as Sign};
use firstflight_scenario::{Row, Value, Verdict};

use crate::digits;

/// All rows in groups, the notes of what is not simply as claimed, and how many have which verdict.
pub(super) fn text(rows: &[Row], screen: Screen) -> String {
    let mut text = String::new();
    for group in rows.chunk_by(|one, next| heading(one) == heading(next)) {
        let _ = writeln!(text, "{}", terminal::table(&table(group), screen));
        let notes = group.iter().filter_map(|row| Some((row, row.note.as_ref()?)));
        for (row, note) in notes.filter(|(row, _)| row.verdict != Verdict::Pass) {
            let _ = writeln!(text, "{}\n", wrapped(&format!("{}: {note}", row.id), screen.width));
        }
    }
    let _ = writeln!(text, "{}", summary(rows));
    text
}

/// Lines of at most `width` characters, broken between words.
fn wrapped(words: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            text.push('\n');
            used = 0;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text
}

/// `62 claims: 58 pass, 1 fail, 3 refuted-confirmed`.
fn summary(rows: &[Row]) -> String {
    let counts = [Verdict::Pass, Verdict::Fail, Verdict::RefutedConfirmed].map(|verdict| {
        let count = rows.iter().filter(|row| row.verdict == verdict).count();
        format!("{count} {}", verdict.name())
    });
    let noun = if rows.len() == 1 { "claim" } else { "claims" };
    format!("{} {noun}: {}", rows.len(), counts.join(", "))
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        Column::text("id"),
        Column::text("claim"),
        Column::number("expected", ""),
        Column::number("measured", ""),
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
            shown(&row.measured).into(),
            row.unit.clone().into(),
            row.class.name().into(),
            sign(row.verdict).into(),
        ]);
    }
    table
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

fn sign(verdict: Verdict) -> Sign {
    match verdict {
        Verdict::Pass => Sign::Pass,
        Verdict::Fail => Sign::Fail,
        Verdict::RefutedConfirmed => Sign::RefutedConfirmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_broken_between_words_and_long_words_stand_alone() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree");
        assert_eq!(wrapped("a refutation b", 5), "a\nrefutation\nb");
        assert_eq!(wrapped("", 5), "");
    }
}
