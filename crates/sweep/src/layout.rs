//! Tables for people out of the results of a sweep, as `[[table]]` of the grid file lays them out.

use std::collections::BTreeMap;

use firstflight_results::formula::evaluate;
use serde::Deserialize;

use crate::results::{Found, Results};

/// Tables of one layout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// Stands over the first column.
    head: String,
    /// Begins a row: text with keys that vary in braces, `{side}` for a row per side, `{control}`
    /// for a row per control.
    row: String,
    /// The sides that it shows, all of them unless named.
    #[serde(default)]
    sides: Vec<String>,
    /// What stands under every control, or under every side where rows are of controls: the first
    /// of these whose values are there.
    #[serde(default)]
    cell: Vec<String>,
    /// What makes such a cell bold.
    mark: Option<Mark>,
    /// Columns by name instead.
    #[serde(default)]
    column: Vec<Column>,
    /// Begins a last row, which says how many cells of each column are not bold.
    agree: Option<String>,
    /// A table each; one without a title if there are none.
    #[serde(default)]
    each: Vec<Each>,
}

/// A column with a name of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    head: String,
    cell: Vec<String>,
    mark: Option<Mark>,
}

/// Bold are what stands between `<` and `>` of a cell whose formula is further from 0 than this.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    of: String,
    beyond: f64,
}

/// What is one table's own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    title: Option<String>,
    /// Only points with these values at these keys.
    #[serde(default)]
    when: BTreeMap<String, String>,
    /// Names for the run of a control on a side.
    #[serde(default)]
    runs: BTreeMap<String, (String, String)>,
}

/// Where a cell stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    each: &'a Each,
    point: u64,
    side: Option<&'a str>,
    control: Option<&'a str>,
}

impl Layout {
    /// Its tables as Markdown.
    pub(crate) fn tables(&self, results: &Results) -> String {
        let one = [Each::default()];
        let each = if self.each.is_empty() { &one[..] } else { &self.each };
        each.iter().map(|each| self.table(each, results)).collect()
    }

    fn table(&self, each: &Each, results: &Results) -> String {
        let is_shown =
            |side: &&str| self.sides.is_empty() || self.sides.iter().any(|it| it == side);
        let sides: Vec<&str> = results.sides().filter(is_shown).collect();
        let mut controls: Vec<&str> = Vec::new();
        for control in sides.iter().flat_map(|side| results.controls(side)) {
            if !controls.contains(&control.as_str()) {
                controls.push(control);
            }
        }
        let (by_side, by_control) = (self.row.contains("{side}"), self.row.contains("{control}"));
        // A cell that names a side itself asks for no column of that side.
        let is_named =
            |side: &&str| self.cell.iter().any(|cell| cell.contains(&format!("{side}.")));
        let across = !by_side && sides.len() > 1 && !sides.iter().any(is_named);
        let columns = match self.column.is_empty() {
            true => {
                self.of_runs(pairs((across, &sides), (!by_control, &controls), results), results)
            }
            false => self.column.iter().map(Column::shown).collect(),
        };
        let holds = |point: &u64| {
            each.when.iter().all(|(key, value)| results.key(*point, key) == Some(value))
        };
        let points: Vec<u64> = (0..results.points()).filter(holds).collect();
        let (mut lines, mut plain) = (String::new(), vec![0; columns.len()]);
        let rows = pairs((by_side, &sides), (by_control, &controls), results);
        for (side, control) in &rows {
            for point in &points {
                let place = Place { each, point: *point, side: *side, control: *control };
                let cells: Vec<(String, bool)> =
                    columns.iter().map(|column| column.cell(place, results)).collect();
                cells.iter().zip(&mut plain).for_each(|((_, bold), of)| *of += u32::from(!bold));
                let label = filled(&self.row, place, results).unwrap_or_default();
                lines += &line(&label, cells.into_iter().map(|(cell, _)| cell));
            }
        }
        if let Some(label) = &self.agree {
            let count = rows.len() * points.len();
            lines += &line(label, plain.iter().map(|of| format!("{of} of {count}")));
        }
        let title = each.title.as_ref().map_or(String::new(), |title| format!("### {title}\n"));
        let rule = "---|".repeat(columns.len() + 1);
        let heads = columns.into_iter().map(|column| column.head);
        format!("\n{title}{}|{rule}\n{lines}", line(&self.head, heads))
    }

    /// A column for each of these sides and controls.
    fn of_runs<'a>(&'a self, runs: Vec<Run<'a>>, results: &Results) -> Vec<Shown<'a>> {
        let shown = |run: Run<'a>| {
            let words = run.0.map(|side| results.title(side)).into_iter().chain(run.1);
            let head = words.collect::<Vec<_>>().join(", ");
            Shown { head, forms: &self.cell, mark: self.mark.as_ref(), run }
        };
        runs.into_iter().map(shown).collect()
    }
}

/// A side and a control, or what stands for all.
type Run<'a> = (Option<&'a str>, Option<&'a str>);

/// A column of a table.
struct Shown<'a> {
    head: String,
    forms: &'a [String],
    mark: Option<&'a Mark>,
    /// What it is of, where the row does not say.
    run: Run<'a>,
}

impl Column {
    fn shown(&self) -> Shown<'_> {
        let (forms, mark) = (&self.cell[..], self.mark.as_ref());
        Shown { head: self.head.clone(), forms, mark, run: (None, None) }
    }
}

impl Shown<'_> {
    /// The cell in a row, and whether it is bold.
    fn cell(&self, place: Place<'_>, results: &Results) -> (String, bool) {
        let (side, control) = (place.side.or(self.run.0), place.control.or(self.run.1));
        let place = Place { side, control, ..place };
        let is_beyond = |mark: &Mark| {
            let value = evaluate(&mark.of, &|name, _| number(name, place, results));
            value.is_ok_and(|value| value.abs() > mark.beyond)
        };
        let bold = self.mark.is_some_and(is_beyond);
        let text = self.forms.iter().find_map(|form| filled(form, place, results));
        let stars = if bold { "**" } else { "" };
        (text.unwrap_or_else(|| "-".to_owned()).replace(['<', '>'], stars), bold)
    }
}

/// Every side with its controls, or one place for all of an axis that is not wanted.
fn pairs<'a>(
    (by_side, sides): (bool, &[&'a str]),
    (by_control, controls): (bool, &[&'a str]),
    results: &Results,
) -> Vec<Run<'a>> {
    let sides: Vec<Option<&str>> =
        if by_side { sides.iter().map(|side| Some(*side)).collect() } else { vec![None] };
    let with = |side: Option<&'a str>| {
        let has = |control: &&str| {
            side.is_none_or(|side| results.controls(side).iter().any(|own| own == control))
        };
        let own = controls.iter().copied().filter(has);
        let own: Vec<Run<'a>> = own.map(|control| (side, Some(control))).collect();
        if by_control { own } else { vec![(side, None)] }
    };
    sides.into_iter().flat_map(with).collect()
}

fn line(first: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
    format!("| {first} |{cells}\n")
}

/// A text with the values of what it has in braces: a name, or a formula and behind a colon the
/// digits that are shown; `None` where one is not there.
fn filled(form: &str, place: Place<'_>, results: &Results) -> Option<String> {
    let mut parts = form.split('{');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (said, rest) = part.split_once('}')?;
        text += &match said.split_once(':') {
            Some((formula, digits)) => {
                let value = evaluate(formula, &|name, _| number(name, place, results)).ok()?;
                let (sign, digits) =
                    digits.strip_prefix('+').map_or((false, digits), |it| (true, it));
                let digits = digits.strip_prefix('.')?.parse::<usize>().ok()?;
                if sign { format!("{value:+.digits$}") } else { format!("{value:.digits$}") }
            }
            None => match found(said, place, results)? {
                Found::Number(number) => number.to_string(),
                Found::Text(text) => text,
            },
        };
        text += rest;
    }
    Some(text)
}

fn number(name: &str, place: Place<'_>, results: &Results) -> Result<f64, String> {
    match found(name, place, results) {
        Some(Found::Number(number)) => Ok(number),
        _ => Err(format!("no number {name}")),
    }
}

/// A key of the point, the row's side or control, or a measure of the run that stands here: of
/// another one by its name or its side, as in `quinn.throughput_bps`.
fn found(name: &str, place: Place<'_>, results: &Results) -> Option<Found> {
    let Place { each, point, side, control } = place;
    match name {
        "side" => return Some(Found::Text(results.title(side?).to_owned())),
        "control" => return Some(Found::Text(control?.to_owned())),
        _ => {}
    }
    if let Some(value) = results.key(point, name) {
        return Some(Found::Text(value.to_owned()));
    }
    let only = || results.sides().next();
    match name.split_once('.') {
        None => results.measured((side.or_else(only)?, control?), point, name),
        Some((run, name)) => match each.runs.get(run) {
            Some((side, control)) => results.measured((side, control), point, name),
            None => results.measured((run, control?), point, name),
        },
    }
}
