//! The table of series: one row per flow or link, time and variable.

use super::{Factors, SCHEMA, Table, TableError};
use crate::column::Role::{Key, Measure, Provenance};
use crate::column::{Column, Kind::*, Value};
use crate::{RunResult, Series};

/// The columns, in order.
pub fn columns() -> Vec<Column> {
    COLUMNS.iter().map(|(column, _)| *column).collect()
}

/// A run and its series: those of its flows, in their order, and those of the links.
#[derive(Clone, Copy, Debug)]
pub struct Curves<'a> {
    /// The run.
    pub run: &'a RunResult,
    /// One per flow.
    pub flows: &'a [Series],
    /// One per link, in the order of the scenario.
    pub links: &'a [Series],
}

/// The rows of the series of runs of one scenario: run by run, first the flows, then the links,
/// each variable from its first value to its last.
///
/// # Errors
/// [`TableError::NotFinite`].
pub fn table<'a>(
    factors: &Factors,
    runs: impl IntoIterator<Item = Curves<'a>>,
) -> Result<Table, TableError> {
    let mut table = Table::empty(columns());
    for Curves { run, flows, links } in runs {
        for (series, flow) in flows.iter().zip(&run.flows) {
            let of = SeriesOf {
                point: &factors.point,
                run,
                control: &flow.control,
                flow: Some(flow.id),
            };
            push(&mut table, &of, None, series)?;
        }
        for (series, link) in links.iter().zip(&factors.links) {
            let of = SeriesOf { point: &factors.point, run, control: &run.control, flow: None };
            push(&mut table, &of, Some(link), series)?;
        }
    }
    Ok(table)
}

/// What all rows of a series share.
struct SeriesOf<'a> {
    point: &'a str,
    run: &'a RunResult,
    control: &'a str,
    flow: Option<u64>,
}

struct SeriesRow<'a> {
    of: &'a SeriesOf<'a>,
    link: Option<&'a str>,
    time_s: f64,
    variable: &'a str,
    value: Option<f64>,
}

fn push(
    table: &mut Table,
    of: &SeriesOf<'_>,
    link: Option<&str>,
    series: &Series,
) -> Result<(), TableError> {
    let Some(times) = series.column("time_s") else { return Ok(()) };
    let times: Vec<f64> = times.map(Option::unwrap_or_default).collect();
    for (at, variable) in series.columns().iter().enumerate() {
        if variable == "time_s" || variable == "flow" {
            continue;
        }
        for (time_s, values) in times.iter().zip(series.rows()) {
            let row = SeriesRow { of, link, time_s: *time_s, variable, value: values[at] };
            let fault = |(column, found)| TableError::NotFinite {
                column,
                flow: of.flow.unwrap_or_default(),
                control: of.run.alias.clone(),
                found,
            };
            table.push(COLUMNS.iter().map(|(_, value)| value(&row))).map_err(fault)?;
        }
    }
    Ok(())
}

type Get = for<'a> fn(&'a SeriesRow<'_>) -> Value<'a>;

const COLUMNS: &[(Column, Get)] = &[
    (Column::new(Key, Text, "point", "", "As in the table of flows"), |r| r.of.point.into()),
    (Column::new(Key, Text, "control", "", "The flow's control in full; of a link, the run's"), {
        |r| r.of.control.into()
    }),
    (Column::new(Key, Text, "alias", "", "The run's control as it was named"), |r| {
        r.of.run.alias.as_str().into()
    }),
    (Column::new(Key, Text, "transport", "", "What carried it: `sim`, `quic`, `noq`, `linux`"), {
        |r| r.of.run.transport.as_str().into()
    }),
    (Column::new(Key, Count, "seed", "", "Seed of every random stream of the run"), |r| {
        r.of.run.seed.into()
    }),
    (Column::new(Key, Count, "flow", "", "The flow's number; null for a link").or_null(), |r| {
        r.of.flow.into()
    }),
    (Column::new(Key, Text, "link", "", "The link's name; null for a flow").or_null(), |r| {
        r.link.into()
    }),
    (Column::new(Key, Number, "time_s", "s", "Since the start of the run"), |r| r.time_s.into()),
    (Column::new(Key, Text, "variable", "", VARIABLE), |r| r.variable.into()),
    (Column::new(Measure, Number, "value", "", "In the variable's unit").or_null(), |r| {
        r.value.into()
    }),
    (Column::new(Provenance, Text, "version", "", "Version of the program that measured"), {
        |_| env!("CARGO_PKG_VERSION").into()
    }),
    (Column::new(Provenance, Text, "schema", "", "This schema"), |_| SCHEMA.into()),
];

const VARIABLE: &str = "`cwnd_packets`, `ssthresh_packets`, `in_flight_packets`, `srtt_ms`, \
    `delivered_packets`, and what a policy shows, in its base unit; of a link `queue_packets`, \
    `carried_packets`, \
    `carried_bytes`";
