//! Tables for people out of the results of a sweep, as `[[table]]` of the grid file lays them out.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cell::{Place, filled, value};
use crate::results::Results;

/// Tables of one layout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// What a page calls it that has a place for it.
    #[serde(default)]
    pub(crate) name: String,
    /// Stands over the first column.
    head: String,
    /// Begins a row: text with keys that vary in braces, `{side}` for a row per side, `{control}`
    /// for a row per control. Points for which it is the same text share a row.
    row: String,
    /// The sides that it shows, all of them unless named.
    #[serde(default)]
    sides: Vec<String>,
    /// And the controls.
    #[serde(default)]
    controls: Vec<String>,
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
    /// Only rows of which this formula is true.
    keep: Option<String>,
    /// The rows with the largest value of this formula come first.
    sort: Option<String>,
    /// Functions are of groups of points that have the same value of this key, and functions
    /// within functions of the points of a group.
    pub(crate) by: Option<String>,
    /// Names for the run of a control on a side, or of a control on the side of the cell.
    #[serde(default)]
    runs: BTreeMap<String, Named>,
    /// A table each; one without a title if there are none.
    #[serde(default)]
    each: Vec<Each>,
}

/// A run as a layout names it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Named {
    /// A control, on the side of the cell.
    Control(String),
    /// A side and a control.
    Run(String, String),
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
pub(crate) struct Each {
    title: Option<String>,
    /// Only points with these values at these keys.
    #[serde(default)]
    when: BTreeMap<String, String>,
    /// Names for runs, as those of the layout.
    #[serde(default)]
    runs: BTreeMap<String, Named>,
}

impl Layout {
    /// Its tables as Markdown.
    pub(crate) fn tables(&self, results: &Results) -> String {
        let one = [Each::default()];
        let each = if self.each.is_empty() { &one[..] } else { &self.each };
        each.iter().map(|each| OneTable { layout: self, each, results }.text()).collect()
    }

    /// Whether a list of names, which may stand for all, has this one.
    fn shows(listed: &[String], name: &str) -> bool {
        listed.is_empty() || listed.iter().any(|it| it == name)
    }
}

/// One of the tables of a layout.
#[derive(Clone, Copy)]
pub(crate) struct OneTable<'a> {
    pub(crate) layout: &'a Layout,
    each: &'a Each,
    pub(crate) results: &'a Results,
}

impl<'a> OneTable<'a> {
    /// The run that has this name.
    pub(crate) fn run(self, name: &str) -> Option<&'a Named> {
        self.each.runs.get(name).or_else(|| self.layout.runs.get(name))
    }

    fn text(self) -> String {
        let Self { layout, results, .. } = self;
        let sides = results.sides().filter(|side| Layout::shows(&layout.sides, side));
        let sides: Vec<&str> = sides.collect();
        let mut controls: Vec<&str> = Vec::new();
        for control in sides.iter().flat_map(|side| results.controls(side)) {
            let is_new = !controls.contains(&control.as_str());
            if is_new && Layout::shows(&layout.controls, control) {
                controls.push(control);
            }
        }
        let by_side = layout.row.contains("{side}");
        let by_control = layout.row.contains("{control}");
        // A cell that names a side itself asks for no column of that side.
        let is_named =
            |side: &&str| layout.cell.iter().any(|cell| cell.contains(&format!("{side}.")));
        let across = !by_side && sides.len() > 1 && !sides.iter().any(is_named);
        let columns = match layout.column.is_empty() {
            true => self.of_runs(pairs((across, &sides), (!by_control, &controls), results)),
            false => layout.column.iter().map(Column::shown).collect(),
        };
        let runs = pairs((by_side, &sides), (by_control, &controls), results);
        // Where sides are no rows, all that are shown have the points of the first.
        let rows = |(side, control): Run<'a>| {
            let side = side.or(sides.first().copied());
            side.map_or(Vec::new(), |side| self.rows(side, control, &columns))
        };
        let mut rows: Vec<Row> = runs.into_iter().flat_map(rows).collect();
        rows.sort_by(|one, other| other.rank.total_cmp(&one.rank));
        let mut lines: String = rows.iter().map(Row::line).collect();
        if let Some(label) = &layout.agree {
            let plain = |at: usize| rows.iter().filter(|row| !row.cells[at].1).count();
            let count = |at: usize| format!("{} of {}", plain(at), rows.len());
            lines += &line(label, (0..columns.len()).map(count));
        }
        let title = self.each.title.as_ref().map_or(String::new(), |it| format!("### {it}\n"));
        let rule = "---|".repeat(columns.len() + 1);
        let heads = columns.into_iter().map(|column| column.head);
        format!("\n{title}{}|{rule}\n{lines}", line(&layout.head, heads))
    }

    /// The rows of a side and a control: one for each text that begins some.
    fn rows(self, side: &'a str, control: Option<&'a str>, columns: &[Shown<'a>]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (text, points) in self.labelled(side, control) {
            let place = Place { table: self, side, control, points: &points };
            let of = |formula: &Option<String>| Some(value(formula.as_ref()?, place).ok());
            if of(&self.layout.keep).is_some_and(|kept| kept.is_none_or(|value| value == 0.0)) {
                continue;
            }
            let cells = columns.iter().map(|column| {
                // Another side has its own points.
                let there = column.run.0.map(|side| self.labelled(side, control));
                let there = there.iter().flatten().find(|(own, _)| *own == text);
                column.cell(Place { points: there.map_or(&points, |(_, points)| points), ..place })
            });
            rows.push(Row {
                cells: cells.collect(),
                rank: of(&self.layout.sort).flatten().unwrap_or(0.0),
                label: filled(&self.layout.row, place).unwrap_or_default(),
            });
        }
        rows
    }

    /// The points of a run by the text that begins their row.
    fn labelled(self, side: &'a str, control: Option<&'a str>) -> Vec<(String, Vec<u64>)> {
        let Self { layout, each, results } = self;
        let mut labelled: Vec<(String, Vec<u64>)> = Vec::new();
        for point in 0..results.points(side) {
            let place = Place { table: self, side, control, points: &[point] };
            if !each.when.iter().all(|(key, value)| place.key(key) == Some(value)) {
                continue;
            }
            let text = filled(&layout.row, place).unwrap_or_default();
            match labelled.iter_mut().find(|(own, _)| *own == text) {
                Some((_, points)) => points.push(point),
                None => labelled.push((text, vec![point])),
            }
        }
        labelled
    }

    /// A column for each of these sides and controls.
    fn of_runs(self, runs: Vec<Run<'a>>) -> Vec<Shown<'a>> {
        let shown = |run: Run<'a>| {
            let side = run.0.map(|side| self.results.title(side));
            let head = side.into_iter().chain(run.1).collect::<Vec<_>>().join(", ");
            Shown { head, forms: &self.layout.cell, mark: self.layout.mark.as_ref(), run }
        };
        runs.into_iter().map(shown).collect()
    }
}

/// A side and a control, or what stands for all.
type Run<'a> = (Option<&'a str>, Option<&'a str>);

/// A row: its cells, each with whether it is bold.
struct Row {
    label: String,
    cells: Vec<(String, bool)>,
    /// Larger is further up.
    rank: f64,
}

impl Row {
    fn line(&self) -> String {
        line(&self.label, self.cells.iter().map(|(cell, _)| cell.clone()))
    }
}

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
    fn cell(&self, place: Place<'_>) -> (String, bool) {
        let (side, control) = (self.run.0.unwrap_or(place.side), place.control.or(self.run.1));
        let place = Place { side, control, ..place };
        let is_beyond =
            |mark: &Mark| value(&mark.of, place).is_ok_and(|value| value.abs() > mark.beyond);
        let bold = self.mark.is_some_and(is_beyond);
        let text = self.forms.iter().find_map(|form| filled(form, place));
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
