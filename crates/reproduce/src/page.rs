//! The report: every claim with its verdict, then every figure and table in the paper's order.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use firstflight_report::{Cell, Column, Page, Section, Table, Verdict as Sign};
use firstflight_scenario::{CheckRow, Row, Value, Verdict};

use crate::check::Done;
use crate::file::On;
use crate::line::{Line, Part, is_own, ours};
use crate::number::number;
use crate::paper::{Laid, Paper};
use crate::row::in_short;

/// An experiment with the rows that are finished.
pub(crate) struct Finished<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// The experiment.
    pub laid: &'a Laid,
    /// The finished rows.
    pub rows: Vec<Row>,
}

/// How the page came to be.
pub(crate) struct About<'a> {
    /// The command line.
    pub command: &'a str,
    /// What is missing and why; empty when nothing is.
    pub missing: String,
    /// Whether only one seed was run.
    pub quick: bool,
    /// How many runs are finished.
    pub runs: usize,
}

/// The whole page.
pub(crate) fn page(finished: &[Finished<'_>], done: Done<'_>, about: &About<'_>) -> Page {
    let papers: BTreeSet<&str> = finished.iter().map(|each| each.paper.head.id.as_str()).collect();
    let title = match finished {
        [first, ..] if papers.len() == 1 => format!("{}, rebuilt", first.paper.head.title),
        _ => "The papers, rebuilt".to_owned(),
    };
    let mut page = Page::new(title)
        .subtitle(
            "Every claim beside what firstflight measures; figures and tables in the order of \
             the papers.",
        )
        .command(about.command)
        .fact("version", env!("CARGO_PKG_VERSION"))
        .fact("sources", env!("FIRSTFLIGHT_SOURCES"))
        .fact("runs", about.runs);
    if about.quick {
        page = page.fact("quick", "one seed instead of several");
    }
    page = page.section(summary(finished, &about.missing));
    let mut last = "";
    for each in finished {
        let head = &each.paper.head;
        if head.id != last {
            last = &head.id;
            let mut section = Section::new(&head.name, format!("{}: {}", head.id, head.title));
            section = section.text(plain(&head.citation));
            for paragraph in &head.setup {
                section = section.text(plain(paragraph));
            }
            page = page.section(section);
        }
        page = page.section(experiment(each, done));
    }
    page
}

fn summary(finished: &[Finished<'_>], missing: &str) -> Section {
    let mut section = Section::new("claims", "Claims");
    if !missing.is_empty() {
        section = section.text(missing);
    }
    section = section.text(
        "Classes: an exact claim must be equal, a tight one lies within a small stated tolerance, \
         a shape is an ordering or a threshold, an anecdote a single number of unknown period. A \
         refuted claim is one that the paper's own numbers contradict; refuted-confirmed says that \
         the contradiction is shown.",
    );
    let rows: Vec<&Row> = finished.iter().flat_map(|each| &each.rows).collect();
    for part in Part::ALL {
        let counts = part.counts(&rows);
        section = if counts.is_empty() { section } else { section.text(counts) };
    }
    section = section.table(claims(finished, false));
    match rows.iter().any(|row| is_own(row)) {
        true => section.table(claims(finished, true)),
        false => section,
    }
}

/// A table of the papers' claims, or of the rows of our own making. Verdicts of our own rows are
/// plain words, so that the page's counts are of the papers' claims alone.
fn claims(finished: &[Finished<'_>], own: bool) -> Table {
    let columns = [
        Column::text("id"),
        Column::text("claim"),
        Column::text("paper"),
        Column::text("firstflight (paper)"),
        Column::text("unit"),
        Column::text("class"),
        Column::text("verdict"),
        Column::text("see"),
    ];
    let (id, title) = match own {
        false => ("claims-table", "Every claim with its values and its verdict"),
        true => ("own-table", "Rows of our own making, which no paper claims"),
    };
    let mut table = Table::new(id, title, columns);
    for each in finished {
        let see = each.laid.data.plots.first().map_or_else(
            || Cell::figure(anchor(each.paper, each.laid), "section"),
            |plot| Cell::figure(plot.anchor(each.paper), "figure"),
        );
        for row in each.rows.iter().filter(|row| is_own(row) == own) {
            let verdict = if own { row.verdict.name().into() } else { sign(row.verdict) };
            table.push([
                row.id.as_str().into(),
                row.what.as_str().into(),
                shown_value(&row.expected).into(),
                values(row).into(),
                row.unit.as_str().into(),
                row.class.name().into(),
                verdict,
                see.clone(),
            ]);
        }
    }
    table
}

/// The measured values that decide, each with the paper's where that is a number. Each has a line
/// of its own below; of very many the first are here.
fn values(row: &Row) -> String {
    let decides = |check: &&CheckRow| check.verdict != Verdict::Information;
    let checks: Vec<&CheckRow> = row.checks.iter().filter(decides).collect();
    let alone = checks.len() == 1;
    let one = |check: &&CheckRow| match check.paper {
        Some(paper) if !alone => format!("{} ({})", ours(check), number(paper)),
        _ => ours(check),
    };
    let shown: Vec<String> = checks.iter().take(MOST_VALUES).map(one).collect();
    let mut text = shown.join(", ");
    if checks.len() > MOST_VALUES {
        let _ = write!(text, " and {} more", checks.len() - MOST_VALUES);
    }
    match &row.lab {
        Some(lab) => format!("{text}; by {}", lab.words()),
        None if row.verdict == Verdict::NotRun => shown_value(&row.measured),
        None => text,
    }
}

/// Values of a row that its line in the overview has.
const MOST_VALUES: usize = 16;

fn experiment(each: &Finished<'_>, done: Done<'_>) -> Section {
    let (paper, laid) = (each.paper, each.laid);
    let mut section = Section::new(anchor(paper, laid), &laid.data.title);
    for paragraph in &laid.data.text {
        section = section.text(plain(paragraph));
    }
    for plot in &laid.data.plots {
        // A figure whose runs were interrupted is left out; the page says at its top why.
        if let Ok(figure) = plot.figure(paper, laid, done) {
            section = section.figure(figure);
        }
    }
    if !each.rows.is_empty() {
        section = section.table(checks(each));
    }
    for row in &each.rows {
        if let Some(note) = &row.note {
            section = section.text(format!("{}: {note}", row.id));
        }
    }
    for paragraph in &laid.data.findings {
        section = section.text(plain(paragraph));
    }
    section.text(again(paper, laid))
}

/// The command that repeats this experiment, and the path on which it ran.
fn again(paper: &Paper, laid: &Laid) -> String {
    let first = &laid.cases[0];
    let cases = match laid.cases.len() {
        1 => "The case".to_owned(),
        count => format!("The first of {count} cases"),
    };
    let on = if first.variants.iter().any(|it| it.on == On::Linux) { " --on linux" } else { "" };
    format!(
        "{cases}: {}. To run it alone: firstflight run scenarios/{}.toml{on}, from the directory \
         of this page; all of them again: firstflight reproduce {}/{}.",
        in_short(&first.resolved),
        first.scenario.name,
        paper.head.name,
        laid.stem,
    )
}

/// Paragraphs of a page are plain text, without the marks of the files.
fn plain(text: &str) -> String {
    text.trim().replace('`', "")
}

/// A line for every value, of passing claims too.
fn checks(each: &Finished<'_>) -> Table {
    let columns = std::iter::once("id").chain(Line::HEADS).map(Column::text);
    let id = format!("{}-numbers", anchor(each.paper, each.laid));
    let title = match each.laid.cases.first() {
        Some(case) => {
            format!("Paper against firstflight, value by value; {}", case.resolved.endpoints())
        }
        None => "Paper against firstflight, value by value".to_owned(),
    };
    let mut table = Table::new(id, title, columns);
    for row in &each.rows {
        for check in &row.checks {
            let mut line = Line::of(check);
            if let Some(lab) = &row.lab {
                line.preset = lab.words();
            }
            let cells = std::iter::once(row.id.clone()).chain(line.cells());
            table.push(cells.map(Cell::from));
        }
    }
    table
}

fn anchor(paper: &Paper, laid: &Laid) -> String {
    format!("{}.{}", paper.head.name, laid.stem)
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Number(value) => number(*value),
        Value::Text(text) => text.clone(),
    }
}

/// A verdict as a table shows it.
pub fn sign(verdict: Verdict) -> Cell {
    match verdict {
        Verdict::Pass => Sign::Pass.into(),
        Verdict::Fitted => Sign::Fitted.into(),
        Verdict::Fail => Sign::Fail.into(),
        Verdict::RefutedConfirmed => Sign::RefutedConfirmed.into(),
        Verdict::NotRun => Sign::NotRun.into(),
        Verdict::Information => verdict.name().into(),
    }
}

#[cfg(test)]
mod tests {
    use firstflight_scenario::{Class, LabOrigin};

    use super::*;
    use crate::paper::{FILES, load};

    fn row(id: &str, verdict: Verdict) -> Row {
        let check = |paper, measured| CheckRow {
            what: "w".to_owned(),
            paper,
            measured: Some(measured),
            difference: None,
            tolerance: "≥ 1".to_owned(),
            seeds: 1,
            interval: None,
            preset: String::new(),
            verdict,
        };
        let informs = CheckRow { verdict: Verdict::Information, ..check(None, 4.0) };
        Row {
            id: id.to_owned(),
            paper: "astart".to_owned(),
            what: "w".to_owned(),
            expected: Value::Text("e".to_owned()),
            measured: Value::Text("m".to_owned()),
            unit: String::new(),
            class: Class::Shape,
            tolerance: Value::Flag(false),
            verdict,
            preset: String::new(),
            scenario: String::new(),
            checks: vec![check(Some(9.5), 9.25), check(None, 3.0), informs],
            lab: None,
            note: None,
            arithmetic: false,
        }
    }

    #[test]
    fn the_overview_has_the_values_and_counts_rows_of_our_own_apart() {
        let papers = load(FILES, true).unwrap();
        let (paper, laid) = (&papers[0], &papers[0].experiments[0]);
        let lab = Some(LabOrigin { kernel: "6.18".to_owned(), date: "2026-11-22".to_owned() });
        let of_lab = Row { lab, ..row("S0-LX6", Verdict::Pass) };
        let rows = vec![row("S0-X1", Verdict::Fail), row("S0-I1", Verdict::Pass), of_lab];
        let finished = [Finished { paper, laid, rows }];
        let of_papers = claims(&finished, false);
        let cells: Vec<String> = of_papers.rows[0].iter().map(ToString::to_string).collect();
        assert_eq!(cells[3], "9.25 (9.5), 3", "without what only informs");
        assert_eq!(
            of_papers.rows[1][3].to_string(),
            "9.25 (9.5), 3; by the lab of 2026-11-22 on Linux 6.18"
        );
        let verdicts: Vec<Sign> = of_papers.verdicts().collect();
        assert_eq!(verdicts, [Sign::Fail, Sign::Pass], "not the row of our own");
        let own = claims(&finished, true);
        assert_eq!((own.rows.len(), own.verdicts().count()), (1, 0));
        let lines = checks(&finished[0]);
        assert_eq!(lines.rows.len(), 9, "a line for every value");
    }
}
