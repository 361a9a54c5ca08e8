//! A page as one HTML file that needs nothing else: no network, no server, no other file.
//!
//! The page forbids itself the network (its content security policy allows inline content only),
//! carries plotly.js compressed, and draws a figure when it scrolls into view.

use askama::Template;
use serde::Serialize;

use crate::{
    Align, Block, Cell, Figure, Page, ReportError, Scale, Series, Table, Verdict,
    downsampling::{SCREEN_POINTS, thin},
    palette::{Slots, legend},
};

const STYLE: &str = include_str!("../assets/report.css");
const PROGRAM: &str = include_str!("../assets/report.js");
/// plotly.js (MIT licence), compressed and in base64 by the build script.
const PLOTLY: &str = include_str!(concat!(env!("OUT_DIR"), "/plotly.js.gz.b64"));

/// The file's text. Its links to `figures/<id>.svg` and `data/<id>.csv` lead to what
/// [`crate::write_dir`] puts beside it; everything else is inside.
///
/// # Errors
/// What [`Page::check`] finds, or [`ReportError::Render`].
pub fn render(page: &Page) -> Result<String, ReportError> {
    page.check()?;
    let counts = Verdict::ALL.map(|verdict| (verdict, page.count(verdict)));
    let worth_a_chip = |(verdict, count): &(Verdict, usize)| *count > 0 || verdict.is_usual();
    let summary: Vec<_> = counts.into_iter().filter(worth_a_chip).collect();
    let template = PageTemplate {
        page,
        judged: summary.iter().any(|(_, count)| *count > 0),
        summary,
        style: STYLE,
        program: PROGRAM,
        plotly: PLOTLY,
    };
    template.render().map_err(|error| ReportError::render(&page.title, &error))
}

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    page: &'a Page,
    summary: Vec<(Verdict, usize)>,
    judged: bool,
    style: &'a str,
    program: &'a str,
    plotly: &'a str,
}

#[derive(Template)]
#[template(path = "figure.html")]
struct FigureTemplate<'a> {
    figure: &'a Figure,
    /// The page has said the figure's conditions below its heading.
    conditions_stand_above: bool,
    /// The figure's height in pixels, reserved so that the page does not jump when it is drawn.
    height: usize,
    /// The figure's data as JSON, for the script that draws it.
    data: String,
    /// How many points are drawn.
    drawn: usize,
    /// How many points there are.
    points: usize,
}

#[derive(Template)]
#[template(path = "table.html")]
struct TableTemplate<'a> {
    table: &'a Table,
    counts: Vec<(Verdict, usize)>,
    searchable: bool,
    /// Rows are cards on a phone: they have verdicts, or are words that would be cut off.
    cards: bool,
}

/// The template of a page calls this with its `subtitle`; askama passes on what it returns.
fn figure(figure: &Figure, subtitle: &str) -> askama::Result<String> {
    let picture = Picture::of(figure);
    let series = || picture.panels.iter().flat_map(|panel| &panel.series);
    let points = figure.panels.iter().flat_map(|panel| &panel.series).map(|s| s.points.len());
    FigureTemplate {
        figure,
        conditions_stand_above: figure.subtitle == subtitle,
        height: if figure.panels.len() < 2 { 400 } else { 90 + 190 * figure.panels.len() },
        data: script_safe(&serde_json::to_string(&picture).map_err(askama::Error::custom)?),
        drawn: series().map(|series| series.x.len()).sum(),
        points: points.sum(),
    }
    .render()
}

/// The template of a table calls this, as that of a figure calls [`figure`].
fn table(table: &Table) -> askama::Result<String> {
    let count = |verdict| table.verdicts().filter(|found| *found == verdict).count();
    let counts = Verdict::ALL.map(|verdict| (verdict, count(verdict)));
    let wordy = table.columns.len() > 3 && table.columns.iter().all(|it| it.align == Align::Left);
    TableTemplate {
        table,
        cards: wordy || table.verdicts().next().is_some(),
        counts: counts.into_iter().filter(|(_, count)| *count > 0).collect(),
        searchable: table.rows.len() > 12,
    }
    .render()
}

/// What the page's program needs to draw a figure; the names are those in `report.js`.
#[derive(Serialize)]
struct Picture<'a> {
    x: Scaled,
    panels: Vec<Drawing<'a>>,
    legend: Vec<&'a str>,
}

#[derive(Serialize)]
struct Scaled {
    label: String,
    log: bool,
}

#[derive(Serialize)]
struct Drawing<'a> {
    y: Scaled,
    quantity: &'a str,
    unit: &'a str,
    series: Vec<Curve<'a>>,
    /// Where the axis ends until one asks for all of it.
    top: Option<f64>,
}

#[derive(Serialize)]
struct Curve<'a> {
    name: &'a str,
    style: &'static str,
    slot: Option<usize>,
    marks: bool,
    x: Vec<Short>,
    y: Vec<Short>,
}

impl<'a> Picture<'a> {
    fn of(figure: &'a Figure) -> Self {
        let slots = Slots::of(figure);
        let scaled =
            |axis: &crate::Axis| Scaled { label: axis.label(), log: axis.scale == Scale::Log };
        let panels = figure.panels.iter().map(|panel| Drawing {
            y: scaled(&panel.y),
            quantity: &panel.y.name,
            unit: &panel.y.unit,
            series: panel.series.iter().map(|series| Curve::of(series, &slots)).collect(),
            top: panel.top,
        });
        Self {
            x: scaled(&figure.x),
            panels: panels.collect(),
            legend: legend(figure).iter().map(|series| series.name.as_str()).collect(),
        }
    }
}

impl<'a> Curve<'a> {
    fn of(series: &'a Series, slots: &Slots<'_>) -> Self {
        let (x, y) = thin(&series.points, SCREEN_POINTS).into_iter().unzip();
        Self {
            name: &series.name,
            style: series.style.name(),
            slot: slots.slot(series),
            marks: series.has_markers(),
            x: short(x),
            y: short(y),
        }
    }
}

/// A number in JSON with at most seven significant digits; `null` if not finite.
#[derive(Serialize)]
#[serde(untagged)]
enum Short {
    Whole(i64),
    Real(f64),
}

fn short(values: Vec<f64>) -> Vec<Short> {
    let one = |value: f64| {
        let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
        #[expect(clippy::cast_possible_truncation, reason = "whole and small, so exact")]
        if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
            return Short::Whole(rounded as i64);
        }
        Short::Real(rounded)
    };
    values.into_iter().map(one).collect()
}

/// JSON that cannot end the `<script>` element it stands in.
fn script_safe(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Section};

    fn page(verdicts: &[Verdict]) -> String {
        let mut table = Table::new("t", "T", [Column::text("verdict")]);
        verdicts.iter().for_each(|verdict| table.push([Cell::from(*verdict)]));
        render(&Page::new("p").section(Section::new("s", "S").table(table))).unwrap()
    }

    #[test]
    fn conditions_stand_once_on_a_page() {
        let figure = |id: &str, subtitle: &str| {
            Figure::new(id, "F", crate::Axis::new("time", "s")).subtitle(subtitle)
        };
        let section = Section::new("s", "S");
        let section = section.figure(figure("one", "40Mbps")).figure(figure("two", "10Mbps"));
        let text = render(&Page::new("p").subtitle("40Mbps").section(section)).unwrap();
        assert_eq!(text.matches("40Mbps").count(), 1);
        assert_eq!(text.matches("10Mbps").count(), 1);
    }

    #[test]
    fn what_was_fitted_or_not_run_has_a_chip_where_there_is_some() {
        let usual = page(&[Verdict::Pass]);
        assert!(usual.contains(r#"class="chip fail" data-show="fail" disabled"#));
        assert!(!usual.contains(r#"data-show="not-run""#));
        assert!(!usual.contains(r#"data-show="fitted""#));
        let all = page(&[Verdict::Pass, Verdict::NotRun, Verdict::NotRun, Verdict::Fitted]);
        assert!(all.contains(r#"data-show="not-run"><b>2</b> not-run"#));
        assert!(all.contains(r#"data-show="fitted"><b>1</b> fitted"#));
        assert!(all.contains(r#"<span class="badge not-run">– not-run</span>"#));
    }
}
