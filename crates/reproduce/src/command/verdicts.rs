//! Rows of a reproduction on a terminal: what failed and the total, or tables, one per figure or
//! table of a paper, with a line for every value.

use std::fmt::Write as _;

use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Cell, Column, Table, short, wrapped};
use firstflight_results::{ClaimRow, ClaimValue, Verdict};

use crate::line::{missed, totals};
use crate::paper::label;
use crate::{Line, sign};

/// What failed, each with its value and its reason, and how many rows have which verdict.
pub(super) fn in_short(rows: &[ClaimRow], screen: Screen) -> String {
    let mut text = String::new();
    for group in rows.chunk_by(|one, next| one.paper == next.paper) {
        let failed: Vec<&ClaimRow> =
            group.iter().filter(|row| row.verdict == Verdict::Fail).collect();
        if failed.is_empty() {
            continue;
        }
        let _ =
            writeln!(text, "{}: {} of {} fail", label(&group[0].paper), failed.len(), group.len());
        for row in failed {
            let reason = row.reason.as_deref().unwrap_or("no reason is recorded.");
            let words = format!("{}  {}: {}. Why: {reason}", row.id, row.what, missed(row));
            text.push_str(&wrapped(&words, screen.width, "    "));
        }
        text.push('\n');
    }
    text + &summary(rows, screen)
}

/// All rows in groups, below each what its table has no room for, and how many have which verdict.
pub(super) fn text(rows: &[ClaimRow], screen: Screen) -> String {
    let mut text = String::new();
    for group in rows.chunk_by(|one, next| heading(one) == heading(next)) {
        let _ = writeln!(text, "{}", terminal::table(&table(group), screen));
        let remarks = group.iter().flat_map(remarks);
        let remarks: String = remarks.map(|each| wrapped(&each, screen.width, "")).collect();
        if !remarks.is_empty() {
            let _ = writeln!(text, "{remarks}");
        }
    }
    text + &summary(rows, screen)
}

/// Why nothing was measured or by whom, and the note of what is not simply as claimed.
fn remarks(row: &ClaimRow) -> impl Iterator<Item = String> {
    let not_run = match (&row.measured, row.verdict) {
        (ClaimValue::Text(why), Verdict::NotRun) => Some(why.clone()),
        _ => row.lab.as_ref().map(|lab| format!("not run now; measured by {}", lab.words())),
    };
    let simple = matches!(row.verdict, Verdict::Pass | Verdict::NotRun);
    let note = row.note.clone().filter(|_| !simple);
    not_run.into_iter().chain(note).map(|remark| format!("{}: {remark}", row.id))
}

fn summary(rows: &[ClaimRow], screen: Screen) -> String {
    wrapped(&totals(&rows.iter().collect::<Vec<_>>()), screen.width, "")
}

/// A claim of one value has one line, one of several a line for itself and one for each.
fn table(rows: &[ClaimRow]) -> Table {
    let columns = ["id", "claim", "paper", "firstflight", "must be", "verdict"];
    let title = rows.first().map_or(String::new(), heading);
    let mut table = Table::new("verdicts", title, columns.map(Column::text));
    for row in rows {
        let (id, what) = (row.id.clone(), claim(row));
        let lines: Vec<Line> = row.checks.iter().map(Line::of).collect();
        if let [line] = &lines[..] {
            let stated = Some(line.paper.clone()).filter(|paper| !paper.is_empty());
            let stated = stated.unwrap_or_else(|| shown(&row.expected));
            let cells = [id, what, stated, measured(line), must_be(line)].map(Cell::from);
            table.push(cells.into_iter().chain([sign(row.verdict)]));
            continue;
        }
        let cells = [id, what, shown(&row.expected), String::new(), String::new()].map(Cell::from);
        table.push(cells.into_iter().chain([sign(row.verdict)]));
        for line in lines {
            let (ours, rule) = (measured(&line), must_be(&line));
            let Line { what, paper, verdict, .. } = line;
            table.push([String::new(), what, paper, ours, rule, verdict].map(Cell::from));
        }
    }
    table
}

/// `9.25 (9.1 to 9.4), -0.25 (-2.6 %)`; a difference of nothing is left out.
fn measured(line: &Line) -> String {
    let difference = if line.difference == "0" { "" } else { &line.difference };
    joined(&[&line.ours, difference], ", ")
}

/// `9.5 ± 15 %; 10 seeds, figures`.
fn must_be(line: &Line) -> String {
    joined(&[&line.tolerance, &runs(line)], "; ")
}

fn joined(parts: &[&str], by: &str) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(by)
}

/// The claim, its unit where its values do not name it, and its class.
fn claim(row: &ClaimRow) -> String {
    match row.unit.as_str() {
        "" => format!("{} ({})", row.what, row.class.name()),
        unit => format!("{}, {unit} ({})", row.what, row.class.name()),
    }
}

/// `10 seeds, figures`.
fn runs(line: &Line) -> String {
    let seeds = match line.seeds.as_str() {
        "1" => "1 seed".to_owned(),
        "–" => "arithmetic".to_owned(),
        seeds => format!("{seeds} seeds"),
    };
    match line.preset.as_str() {
        "" => seeds,
        preset => format!("{seeds}, {preset}"),
    }
}

/// The paper, and its figure or table by the name that `reproduce` takes: `Astart, 2004:
/// astart/table1`.
fn heading(row: &ClaimRow) -> String {
    let file = row.scenario.split(".toml").next().unwrap_or_default();
    let file = file.rsplit('/').next().unwrap_or_default();
    format!("{}: {}/{file}", label(&row.paper), row.paper)
}

fn shown(value: &ClaimValue) -> String {
    match value {
        ClaimValue::Flag(true) => "yes".to_owned(),
        ClaimValue::Flag(false) => "no".to_owned(),
        ClaimValue::Number(number) => short(*number),
        ClaimValue::Text(text) => text.clone(),
    }
}
