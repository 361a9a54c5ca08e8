//! The report: every claim with its verdict, then every figure and table in the paper's order.

use std::collections::BTreeSet;

use firstflight_report::{Cell, Column, Page, Section, Table, Verdict as Sign};
use firstflight_scenario::{Class, Value, Verdict};

use crate::check::{Done, Outcome};
use crate::file::On;
use crate::number::number;
use crate::paper::{Laid, Paper};
use crate::row::{Judged, in_short};

/// What of one experiment is finished.
pub(crate) struct Finished<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// The experiment.
    pub laid: &'a Laid,
    /// Its rows.
    pub judged: Vec<Judged>,
}

/// How the page came to be.
pub(crate) struct About<'a> {
    /// The command line.
    pub command: &'a str,
    /// What is missing and why; empty when nothing is.
    pub missing: String,
    /// One seed only.
    pub quick: bool,
    /// Runs finished.
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
    section.table(claims(finished))
}

fn claims(finished: &[Finished<'_>]) -> Table {
    let columns = [
        Column::text("id"),
        Column::text("claim"),
        Column::text("paper"),
        Column::text("firstflight"),
        Column::text("unit"),
        Column::text("class"),
        Column::text("must be"),
        Column::text("verdict"),
        Column::text("see"),
    ];
    let mut table = Table::new("claims-table", "Every claim with its verdict", columns);
    for each in finished {
        let see = each.laid.data.plots.first().map_or_else(
            || Cell::figure(anchor(each.paper, each.laid), "section"),
            |plot| Cell::figure(plot.anchor(each.paper), "figure"),
        );
        for Judged { row, checks, .. } in &each.judged {
            table.push([
                row.id.as_str().into(),
                row.what.as_str().into(),
                shown(&row.expected).into(),
                measured(&row.measured, checks).into(),
                row.unit.as_str().into(),
                row.class.name().into(),
                rules(checks).into(),
                sign(row.verdict),
                see.clone(),
            ]);
        }
    }
    table
}

/// The number; of several, those that are few, and how many hold. Each has a line of its own below.
fn measured(value: &Value, checks: &[Outcome]) -> String {
    if checks.len() < 2 {
        return shown(value);
    }
    let held = checks.iter().filter(|check| check.holds).count();
    let count = format!("{held} of {} hold", checks.len());
    if checks.len() > 6 {
        return count;
    }
    let values = checks.iter().map(|check| check.measured.map_or("none".to_owned(), number));
    format!("{} ({count})", values.collect::<Vec<_>>().join(", "))
}

fn rules(checks: &[Outcome]) -> String {
    match checks {
        [check] => check.rule.clone(),
        _ => String::new(),
    }
}

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
    if !each.judged.is_empty() {
        section = section.table(checks(each));
    }
    for Judged { row, .. } in &each.judged {
        if let Some(note) = &row.note {
            section = section.text(format!("{}: {note}", row.id));
        }
    }
    for paragraph in &laid.data.findings {
        section = section.text(plain(paragraph));
    }
    section.text(again(paper, laid))
}

/// How to have this experiment again, and on what path it ran.
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

fn checks(each: &Finished<'_>) -> Table {
    // Claims of several checks leave the paper's number and the unit to the words of each.
    let single = each.judged.iter().any(|judged| judged.checks.len() == 1);
    let mut columns = vec![Column::text("id"), Column::text("checked")];
    columns.extend(single.then(|| Column::text("paper")));
    columns.push(Column::text("firstflight"));
    columns.extend(single.then(|| Column::text("unit")));
    columns.extend([Column::text("must be"), Column::text("holds")]);
    let id = format!("{}-numbers", anchor(each.paper, each.laid));
    let mut table = Table::new(id, "Paper against firstflight", columns);
    for Judged { row, checks, refutations } in &each.judged {
        let refuted = row.class == Class::Refuted;
        let alone = checks.len() == 1;
        for check in checks {
            let before = if refuted { "paper's claim: " } else { "" };
            let expected = if alone { shown(&row.expected) } else { String::new() };
            let unit = if alone { row.unit.as_str() } else { "" };
            let own = single.then_some([expected.as_str(), unit]);
            table.push(line(&row.id, &format!("{before}{}", check.what), own, check));
        }
        for check in refutations {
            let own = single.then_some(["", ""]);
            table.push(line(&row.id, &format!("refuted by: {}", check.what), own, check));
        }
    }
    table
}

/// A line of the table; `own` holds the paper's number and the unit where there are such columns.
fn line(id: &str, what: &str, own: Option<[&str; 2]>, check: &Outcome) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![id.into(), what.into()];
    cells.extend(own.map(|[paper, _]| Cell::from(paper)));
    cells.push(check.measured.map_or("none".to_owned(), number).into());
    cells.extend(own.map(|[_, unit]| Cell::from(unit)));
    cells.push(check.rule.as_str().into());
    let holds = if check.holds { "✓ yes" } else { "✗ no" };
    cells.push(match check.verdict() {
        verdict @ (Verdict::Fitted | Verdict::Information) => verdict.name().into(),
        _ => holds.into(),
    });
    cells
}

fn anchor(paper: &Paper, laid: &Laid) -> String {
    format!("{}.{}", paper.head.name, laid.stem)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Number(value) => number(*value),
        Value::Text(text) => text.clone(),
    }
}

/// A verdict as a table shows it: one that was not run is a plain word, neither of what a page
/// counts.
pub fn sign(verdict: Verdict) -> Cell {
    match verdict {
        Verdict::Pass => Sign::Pass.into(),
        Verdict::Fail => Sign::Fail.into(),
        Verdict::RefutedConfirmed => Sign::RefutedConfirmed.into(),
        Verdict::Fitted | Verdict::NotRun | Verdict::Information => verdict.name().into(),
    }
}
