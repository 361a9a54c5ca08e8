//! The report of a run or comparison: a page, its figures and data, and the results as JSON.

use std::path::{Path, PathBuf};

use firstflight_answers::reading::sentences;
use firstflight_report::{Page, Section, Table, Width, write_dir};
use firstflight_runner::Report;

use crate::failure::Failure;
use crate::shared::{not_drawn, partial};
use crate::{command_line, figures, summary};

/// What a page says besides the results.
pub(crate) struct About<'a> {
    /// The heading.
    pub(crate) title: String,
    /// One line below it.
    pub(crate) subtitle: String,
    /// What the scenario expects, with verdicts.
    pub(crate) expectations: Option<&'a Table>,
}

/// Writes `report.html`, `figures/`, `data/` and `results.json` under `out`; the path of the page.
pub(crate) fn write(
    out: &Path,
    report: &Report,
    about: &About<'_>,
    width: Width,
) -> Result<PathBuf, Failure> {
    let json = report.results().to_json()?;
    let page = page(report, about).figure_width(width);
    write_dir(out, &page, vec![("results.json".into(), json)])?;
    Ok(out.join("report.html"))
}

fn page(report: &Report, about: &About<'_>) -> Page {
    let command = command_line::typed();
    // The path and the endpoints stand below the heading.
    let mut table = summary::table(report);
    table.title = summary::what_rows_are(report);
    let mut results = Section::new("results", "Results");
    if let Some(partial) = partial(report) {
        results = results.text(format!("Interrupted: {partial}."));
    }
    results = results.table(table);
    for sentence in sentences(report).into_iter().chain(summary::refusals(report)) {
        results = results.text(sentence);
    }
    let notes = report.runs.iter().filter_map(|run| run.result.named_note());
    results = notes.fold(results, Section::text);
    let mut page = Page::new(&about.title).subtitle(&about.subtitle).section(results);
    if let Some(table) = about.expectations {
        page = page.section(Section::new("expected", "Expected").table(table.clone()));
    }
    let curves = figures::of_page(report, &command);
    let section = Section::new("curves", "Over time");
    if !curves.is_empty() {
        page = page.section(curves.into_iter().fold(section, Section::figure));
    } else if let Some(why) = not_drawn(report) {
        page = page.section(section.text(why));
    }
    let complete = &report.scenario;
    let transport = report.runs.first().map_or("none", |run| run.result.transport.as_str());
    let mut page = page
        .command(command)
        .fact("version", env!("CARGO_PKG_VERSION"))
        .fact("transport", transport)
        .fact("seed", complete.seed);
    if let Some(lab) = report.runs.first().and_then(|run| run.result.lab.as_ref()) {
        page = page.fact("kernel", &lab.kernel).fact("link", &lab.link);
        page = page.fact("generator", &lab.generator);
    }
    page
}
