//! Figures and tables as CSV, in full precision, with units in the column names.

use csv::Writer;

use crate::{Cell, Figure, ReportError, Table};

/// The points of a figure, all of them, one row per point.
///
/// Columns: `series`, `kind` (`line`, `steps`, `points` or `reference`), the x axis, then one
/// column per panel, of which a row fills the one it belongs to. A column's name is the axis' name
/// in lower case and its unit, for example `time_s`. Values that are not finite are empty.
///
/// # Errors
/// [`ReportError::Render`] if the writer fails.
pub fn figure(figure: &Figure) -> Result<String, ReportError> {
    let mut sheet = Sheet::new(&figure.id);
    let x = column(&figure.x.name, &figure.x.unit);
    let fixed = ["series".to_owned(), "kind".to_owned(), x];
    let panels = figure.panels.iter().map(|panel| column(&panel.y.name, &panel.y.unit));
    sheet.row(distinct(fixed.into_iter().chain(panels)))?;
    for (index, panel) in figure.panels.iter().enumerate() {
        for series in &panel.series {
            for (x, y) in &series.points {
                let mut row = vec![String::new(); 3 + figure.panels.len()];
                row[0].clone_from(&series.name);
                series.style.name().clone_into(&mut row[1]);
                row[2] = number(*x);
                row[3 + index] = number(*y);
                sheet.row(row)?;
            }
        }
    }
    sheet.finish()
}

/// The rows of a table; numbers in full, verdicts as words, links as the figure's id. A column with
/// means of several runs has two more after it: half the width of the confidence interval, and how
/// many runs have a value.
///
/// # Errors
/// [`ReportError::Render`] if a row does not fit the columns.
pub fn table(table: &Table) -> Result<String, ReportError> {
    let mut sheet = Sheet::new(&table.id);
    let has_means: Vec<bool> = (0..table.columns.len())
        .map(|place| table.rows.iter().any(|row| matches!(row.get(place), Some(Cell::Mean(_)))))
        .collect();
    let heads = table.columns.iter().zip(&has_means).flat_map(|(head, has_means)| {
        let name = column(&head.name, &head.unit);
        let more = has_means.then(|| [format!("{name}_half_interval"), format!("{name}_runs")]);
        std::iter::once(name).chain(more.into_iter().flatten())
    });
    sheet.row(distinct(heads))?;
    for row in &table.rows {
        let places = has_means.iter().copied().chain(std::iter::repeat(false));
        let fields = row.iter().zip(places).flat_map(|(cell, has_means)| {
            let more = has_means.then(|| match cell {
                Cell::Mean(mean) => [optional(mean.half), mean.runs.0.to_string()],
                _ => [String::new(), String::new()],
            });
            std::iter::once(field(cell)).chain(more.into_iter().flatten())
        });
        sheet.row(fields)?;
    }
    sheet.finish()
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number { value, .. } => number(*value),
        Cell::Mean(mean) => number(mean.value),
        Cell::Verdict(verdict) => verdict.word().to_owned(),
        Cell::Figure { id, .. } => id.clone(),
    }
}

/// A CSV text being written, and the id of the figure or table, for errors.
struct Sheet<'a> {
    id: &'a str,
    writer: Writer<Vec<u8>>,
}

impl<'a> Sheet<'a> {
    fn new(id: &'a str) -> Self {
        Self { id, writer: Writer::from_writer(Vec::new()) }
    }

    fn row(&mut self, fields: impl IntoIterator<Item = String>) -> Result<(), ReportError> {
        let id = self.id;
        self.writer.write_record(fields).map_err(|error| ReportError::render(id, &error))
    }

    fn finish(self) -> Result<String, ReportError> {
        let id = self.id;
        let bytes = self.writer.into_inner().map_err(|error| ReportError::render(id, &error))?;
        String::from_utf8(bytes).map_err(|error| ReportError::render(id, &error))
    }
}

/// A column name that needs no quoting in any language: `queue length`, `packets` give
/// `queue_length_packets`. The unit keeps its case, because `mb` is not `Mb`.
fn column(name: &str, unit: &str) -> String {
    let mut words = clean(&name.to_lowercase());
    let unit = clean(&unit.replace('%', "percent").replace('/', "_per_"));
    if !unit.is_empty() {
        words.push('_');
        words.push_str(&unit);
    }
    words
}

fn clean(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// Appends `_2`, `_3` and so on to names that were there before.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        let mut candidate = name.clone();
        let mut count = 1;
        while seen.contains(&candidate) {
            count += 1;
            candidate = format!("{name}_{count}");
        }
        seen.push(candidate);
    }
    seen
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

/// The shortest text from which the number is read back exactly; empty if it is not finite.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Column, Mean, Panel, Series, Verdict};

    #[test]
    fn a_figure_has_a_column_per_panel_with_the_unit_in_its_name() {
        let picture = Figure::new("f", "F", Axis::new("time", "s"))
            .panel(
                Panel::new(Axis::new("cwnd", "packets"))
                    .with(Series::line("a, b", vec![(0.5, 1.0)])),
            )
            .panel(
                Panel::new(Axis::new("Link rate", "Mbit/s"))
                    .with(Series::reference("say \"hi\"", vec![(1.0, f64::NAN), (2.0, 4.0)])),
            );
        assert_eq!(
            figure(&picture).unwrap(),
            "series,kind,time_s,cwnd_packets,link_rate_Mbit_per_s\n\
             \"a, b\",line,0.5,1,\n\
             \"say \"\"hi\"\"\",reference,1,,\n\
             \"say \"\"hi\"\"\",reference,2,,4\n"
        );
    }

    #[test]
    fn a_table_keeps_full_precision_and_words() {
        let heads = [Column::text("id"), Column::number("loss", "%"), Column::text("verdict")];
        let mut data = Table::new("t", "T", heads);
        data.push(["x".into(), Cell::number(1.0 / 3.0, 1), Verdict::RefutedConfirmed.into()]);
        assert_eq!(
            table(&data).unwrap(),
            "id,loss_percent,verdict\nx,0.3333333333333333,refuted-confirmed\n"
        );
    }

    #[test]
    fn a_mean_is_three_numbers_in_columns_of_their_own() {
        let heads = [Column::number("rate", "Mbps"), Column::number("drops", "")];
        let mut data = Table::new("t", "T", heads);
        let mean = Mean { value: 9.25, half: Some(1.5), decimals: 1, runs: (3, 4) };
        data.push([Cell::Mean(mean), Cell::number(7.0, 0)]);
        data.push([Cell::Mean(Mean { half: None, runs: (1, 4), ..mean }), Cell::number(8.0, 0)]);
        data.push([Cell::number(f64::NAN, 1), Cell::number(9.0, 0)]);
        assert_eq!(
            table(&data).unwrap(),
            "rate_Mbps,rate_Mbps_half_interval,rate_Mbps_runs,drops\n\
             9.25,1.5,3,7\n9.25,,1,8\n,,,9\n"
        );
    }

    #[test]
    fn panels_of_one_quantity_get_distinct_columns() {
        let panel = || Panel::new(Axis::new("cwnd", "packets"));
        let picture = Figure::new("f", "F", Axis::new("t", "s")).panel(panel()).panel(panel());
        let text = figure(&picture).unwrap();
        assert_eq!(text.trim(), "series,kind,t_s,cwnd_packets,cwnd_packets_2");
    }
}
