//! The report: every claim with its verdict, then every figure and table in the paper's order.

use std::collections::BTreeSet;

use firstflight_report::{Cell, Column, Page, Section, Table};
use firstflight_results::{CheckRow, ClaimRow, ClaimValue, Verdict};

use crate::check::Done;
use crate::file::On;
use crate::line::{Line, is_own, missed, of_report, ours, totals};
use crate::number::number;
use crate::paper::{Expanded, Paper};
use crate::row::in_short;

/// An experiment with the rows that are finished.
pub(crate) struct Finished<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// The experiment.
    pub expanded: &'a Expanded,
    /// The finished rows.
    pub rows: Vec<ClaimRow>,
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
        [first, ..] if papers.len() == 1 => format!("{}, rebuilt", first.paper.head.heading()),
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
            let mut section = Section::new(&head.name, head.heading()).short(&head.label);
            section = section.text(plain(&head.citation));
            for paragraph in &head.setup {
                section = section.text(plain(paragraph));
            }
            page = page.section(section);
        }
        page = page.section(experiment(each, done).unlisted());
    }
    page
}

fn summary(finished: &[Finished<'_>], missing: &str) -> Section {
    let mut section = Section::new("claims", "Claims");
    if !missing.is_empty() {
        section = section.text(missing);
    }
    let rows: Vec<&ClaimRow> = finished.iter().flat_map(|each| &each.rows).collect();
    section = section.text(totals(&rows)).text(format!(
        "A claim's id begins with its paper: {}. Ids with an L are claims again on Linux, those \
         with an I rows of our own making. firstflight reproduce ID runs one alone.",
        papers(finished)
    ));
    section = match rows.iter().any(|row| row.verdict == Verdict::Fail) {
        true => section.table(failed(finished)),
        false => section,
    };
    section = section.table(claims(finished, false)).text(
        "Classes: an exact claim must be equal, a tight one lies within a small stated tolerance, \
         a shape is an ordering or a threshold, an anecdote a single number of unknown period. A \
         refuted claim is one that the paper's own numbers contradict; refuted-confirmed says that \
         the contradiction is shown.",
    );
    match rows.iter().any(|row| is_own(row)) {
        true => section.table(claims(finished, true)),
        false => section,
    }
}

/// `S0 Astart, 2004; S1 Short transfers, 2000`.
fn papers(finished: &[Finished<'_>]) -> String {
    let mut all: Vec<String> = Vec::new();
    for Finished { paper, .. } in finished {
        let one = format!("{} {}", paper.head.id, paper.head.label);
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all.join("; ")
}

/// What failed, with the first value that is not as it must be and the reason. Its verdicts are in
/// its title, so that the page's counts are of each row once.
fn failed(finished: &[Finished<'_>]) -> Table {
    let columns = ["id", "paper", "claim", "not as it must be", "why", "see"].map(Column::text);
    let mut table = Table::new("failed-table", "What failed, and why", columns);
    for each in finished {
        for row in each.rows.iter().filter(|row| row.verdict == Verdict::Fail) {
            let why = row.reason.as_deref().unwrap_or("no reason is recorded");
            table.push([
                row.id.as_str().into(),
                each.paper.head.label.as_str().into(),
                row.what.as_str().into(),
                missed(row).into(),
                plain(why).into(),
                each.see(),
            ]);
        }
    }
    table
}

/// A table of the papers' claims, or of the rows of our own making.
fn claims(finished: &[Finished<'_>], own: bool) -> Table {
    let columns = ["id", "paper", "claim", "stated", "measured (stated)", "unit", "class"];
    let columns = columns.into_iter().chain(["verdict", "see"]).map(Column::text);
    let (id, title) = match own {
        false => ("claims-table", "Every claim with its values and its verdict"),
        true => ("own-table", "Rows of our own making, which no paper claims"),
    };
    let mut table = Table::new(id, title, columns);
    for each in finished {
        for row in each.rows.iter().filter(|row| is_own(row) == own) {
            table.push([
                row.id.as_str().into(),
                each.paper.head.label.as_str().into(),
                row.what.as_str().into(),
                shown_value(&row.expected).into(),
                values(row).into(),
                row.unit.as_str().into(),
                row.class.name().into(),
                sign(row.verdict),
                each.see(),
            ]);
        }
    }
    table
}

impl Finished<'_> {
    /// Where the page shows the experiment.
    fn see(&self) -> Cell {
        match self.expanded.data.plots.first() {
            None => Cell::figure(anchor(self.paper, self.expanded), "section"),
            Some(plot) => Cell::figure(plot.anchor(self.paper), "figure"),
        }
    }
}

/// The measured values that decide, each with its name and the paper's number, those that are not
/// as they must be first; of many the first are here. Each has a line of its own below.
fn values(row: &ClaimRow) -> String {
    let decides = |check: &&CheckRow| check.verdict != Verdict::Information;
    let mut checks: Vec<&CheckRow> = row.checks.iter().filter(decides).collect();
    let text = match checks[..] {
        [check] => ours(check),
        _ => {
            checks.sort_by_key(|check| check.verdict != Verdict::Fail);
            let (shown, rest) = checks.split_at(checks.len().min(MOST_VALUES));
            let mut parts: Vec<String> = shown.iter().copied().map(named).collect();
            if !rest.is_empty() {
                let hold = rest.iter().all(|check| check.verdict != Verdict::Fail);
                parts.push(format!("{} more{}", rest.len(), if hold { " that hold" } else { "" }));
            }
            parts.join("; ")
        }
    };
    match &row.lab {
        Some(lab) => format!("{text}; by {}", lab.words()),
        None if row.verdict == Verdict::NotRun => shown_value(&row.measured),
        None => text,
    }
}

/// `at 20 ms: 95.4 (95.6)`.
fn named(check: &CheckRow) -> String {
    let paper = check.paper.map_or(String::new(), |paper| format!(" ({})", number(paper)));
    format!("{}: {}{paper}", check.what, ours(check))
}

/// Values of a row that its line in the overview has.
const MOST_VALUES: usize = 3;

fn experiment(each: &Finished<'_>, done: Done<'_>) -> Section {
    let (paper, expanded) = (each.paper, each.expanded);
    let mut section = Section::new(anchor(paper, expanded), &expanded.data.title);
    for paragraph in &expanded.data.text {
        section = section.text(plain(paragraph));
    }
    for plot in &expanded.data.plots {
        // A figure whose runs were interrupted is left out; the page says at its top why.
        if let Ok(figure) = plot.figure(paper, expanded, done) {
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
    for paragraph in &expanded.data.findings {
        section = section.text(plain(paragraph));
    }
    section.text(again(paper, expanded))
}

/// The command that repeats this experiment, and the path on which it ran.
fn again(paper: &Paper, expanded: &Expanded) -> String {
    let first = &expanded.cases[0];
    let cases = match expanded.cases.len() {
        1 => "The case".to_owned(),
        count => format!("The first of {count} cases"),
    };
    let on = if first.variants.iter().any(|it| it.on == On::Linux) { " --on linux" } else { "" };
    format!(
        "{cases}: {}. To run it alone: firstflight run scenarios/{}.toml{on}, from the directory \
         of this page; all of them again: firstflight reproduce {}/{}.",
        in_short(&first.complete),
        first.scenario.name,
        paper.head.name,
        expanded.stem,
    )
}

/// Paragraphs of a page are plain text, without the marks of the files.
fn plain(text: &str) -> String {
    text.trim().replace('`', "")
}

/// A line for every value, of passing claims too.
fn checks(each: &Finished<'_>) -> Table {
    let columns = std::iter::once("id").chain(Line::HEADS).map(Column::text);
    let id = format!("{}-numbers", anchor(each.paper, each.expanded));
    let title = match each.expanded.cases.first() {
        Some(case) => {
            format!("Paper against firstflight, value by value; {}", case.complete.endpoints())
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

fn anchor(paper: &Paper, expanded: &Expanded) -> String {
    format!("{}.{}", paper.head.name, expanded.stem)
}

fn shown_value(value: &ClaimValue) -> String {
    match value {
        ClaimValue::Flag(flag) => flag.to_string(),
        ClaimValue::Number(value) => number(*value),
        ClaimValue::Text(text) => text.clone(),
    }
}

/// A verdict as a table shows it.
pub fn sign(verdict: Verdict) -> Cell {
    of_report(verdict).map_or_else(|| verdict.name().into(), Cell::from)
}

#[cfg(test)]
mod tests {
    use firstflight_report::Verdict as Sign;
    use firstflight_results::{Class, LabOrigin};

    use super::*;
    use crate::paper::{FILES, load};

    fn row(id: &str, verdict: Verdict) -> ClaimRow {
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
        ClaimRow {
            id: id.to_owned(),
            paper: "astart".to_owned(),
            what: "w".to_owned(),
            expected: ClaimValue::Text("e".to_owned()),
            measured: ClaimValue::Text("m".to_owned()),
            unit: String::new(),
            class: Class::Shape,
            tolerance: ClaimValue::Flag(false),
            verdict,
            preset: String::new(),
            scenario: String::new(),
            checks: vec![check(Some(9.5), 9.25), check(None, 3.0), informs],
            lab: None,
            note: None,
            reason: None,
            arithmetic: false,
        }
    }

    #[test]
    fn the_overview_has_the_values_and_counts_rows_of_our_own_apart() {
        let papers = load(FILES, true).unwrap();
        let (paper, expanded) = (&papers[0], &papers[0].experiments[0]);
        let lab = Some(LabOrigin { kernel: "6.18".to_owned(), date: "2026-11-22".to_owned() });
        let of_lab = ClaimRow { lab, ..row("S0-LX6", Verdict::Pass) };
        let mut missing = row("S0-X1", Verdict::Fail);
        missing.reason = Some("The paper does not state it.".to_owned());
        missing.checks[0].verdict = Verdict::Pass;
        let rows = vec![missing, row("S0-I1", Verdict::Pass), of_lab];
        let finished = [Finished { paper, expanded, rows }];
        let of_papers = claims(&finished, false);
        let cells: Vec<String> = of_papers.rows[0].iter().map(ToString::to_string).collect();
        assert_eq!(cells[1], "Astart, 2004");
        assert_eq!(cells[4], "w: 3; w: 9.25 (9.5)", "named, what misses first, no information");
        let by = "; by the lab of 2026-11-22 on Linux 6.18";
        assert_eq!(of_papers.rows[1][4].to_string(), format!("w: 9.25 (9.5); w: 3{by}"));
        let verdicts = |table: &Table| table.verdicts().collect::<Vec<Sign>>();
        assert_eq!(verdicts(&of_papers), [Sign::Fail, Sign::Pass]);
        assert_eq!(verdicts(&claims(&finished, true)), [Sign::Pass]);
        let failed = failed(&finished);
        let cells: Vec<String> = failed.rows[0].iter().map(ToString::to_string).collect();
        let missed = "3, must be ≥ 1; 1 of 2 values are not as they must be";
        assert_eq!(cells[3..5], [missed, "The paper does not state it."]);
        assert!(verdicts(&failed).is_empty(), "each row is counted once");
        let jobs = crate::job::Jobs::default();
        let about = About { command: "", missing: String::new(), quick: true, runs: 0 };
        let page = page(&finished, Done { jobs: &jobs, runs: &[] }, &about);
        let total = Sign::ALL.map(|sign| page.count(sign)).iter().sum::<usize>();
        assert_eq!(total, 3, "the page's badges count what its sentence counts");
        let listed: Vec<&str> =
            page.sections.iter().filter_map(firstflight_report::Section::nav).collect();
        assert_eq!(listed, ["Claims", "Astart, 2004"]);
        let lines = checks(&finished[0]);
        assert_eq!(lines.rows.len(), 9, "a line for every value");
    }
}
