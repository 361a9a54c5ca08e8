//! `show` of a recording of `kernel watch`: its connections as a table, or one of them.

use firstflight_answers as answers;
use firstflight_outside::digits;
use firstflight_record::Watched;
use firstflight_report::{Cell, Column, Table, terminal};
use firstflight_results::{Table as Rows, Value};
use serde_json::{Map, Value as Json, json};

use super::Args;
use crate::failure::{Failure, Status};
use crate::output;
use crate::tables::Tables;
use crate::words::count;

/// Shows what the arguments ask for.
pub(super) fn show(args: &Args, watched: &Watched) -> Result<Status, Failure> {
    let file = args.file.display().to_string();
    let curves = args.until.is_some() || args.all || args.rate.is_some();
    if curves {
        return Err(Failure::Usage(format!(
            "{file}: connections of kernel watch have no curve to draw or judge; accepted: \
             --connection, --list, --json and --out"
        )));
    }
    if let Some(first) = &watched.skipped.first {
        let lines = count(watched.skipped.count, "line");
        let were = if watched.skipped.count == 1 { "was" } else { "were" };
        output::complain(&format!("{lines} {were} left out; the first: {first}"));
    }
    let all = watched.table.len();
    let row = args.connection.map(|number| {
        let row = number.checked_sub(1).filter(|row| *row < all);
        row.ok_or_else(|| {
            let accepted = format!("the file has {all}; accepted: 1 to {all}");
            Failure::Usage(format!("{file}: --connection {number}: {accepted}"))
        })
    });
    let row = row.transpose()?;
    let table = &watched.table;
    let text = match (row, args.json) {
        (None, false) => terminal::table(&connections_table(&file, table), output::screen()),
        (Some(row), false) => terminal::table(&connection_table(row, table), output::screen()),
        (row, true) => {
            let rows = row.map_or(0..all, |row| row..row + 1);
            document(&file, &rows.map(|row| table.row(row)).collect::<Vec<_>>())?
        }
    };
    output::print(&text)?;
    if let Some(out) = &args.out {
        let mut tables = Tables::begin(out, table.columns().to_vec())?;
        tables.write(table.clone())?;
        tables.finish()?;
    }
    Ok(Status::Done)
}

/// A row for each connection, with what tells most of its start-up.
fn connections_table(file: &str, rows: &Rows) -> Table {
    let columns = [
        Column::number("--connection", ""),
        Column::text("control"),
        Column::text("remote"),
        Column::text("slow start ended by"),
        Column::number("cwnd then", "packets"),
        Column::number("acknowledged", "kB"),
        Column::number("sent again", "packets"),
        Column::number("duration", "s"),
        Column::number("least RTT", "ms"),
    ];
    let mut table = Table::new("connections", format!("Connections of {file}"), columns);
    for row in 0..rows.len() {
        let value = |name| rows.column(name).map_or(Value::Null, |all| all.at(row));
        let text = |name| shown(value(name));
        let scaled = |name, by: f64, decimals| match value(name) {
            Value::Number(number) => digits(number * by, decimals),
            #[expect(clippy::cast_precision_loss, reason = "bytes that people read")]
            Value::Count(count) => digits(count as f64 * by, decimals),
            _ => "-".to_owned(),
        };
        let goes_on = value("slow_start_ended") == Value::Flag(false);
        let end = text("slow_start_end");
        let cells = [
            (row + 1).to_string(),
            text("control"),
            text("remote"),
            if goes_on { format!("not at all: {end}") } else { end },
            text("end_cwnd_packets"),
            scaled("acked_bytes", 1e-3, 1),
            text("sent_again_packets"),
            scaled("duration_s", 1.0, 3),
            scaled("min_rtt_s", 1e3, 3),
        ];
        table.push(cells.map(Cell::from));
    }
    table
}

/// All that is known of one connection.
fn connection_table(row: usize, rows: &Rows) -> Table {
    let columns = ["key", "value", "unit", "meaning"].map(Column::text);
    let mut table = Table::new("connection", format!("Connection {}", row + 1), columns);
    for (column, values) in rows.columns().iter().zip(rows.values()) {
        let cells = [column.name.to_owned(), shown(values.at(row))];
        let about = [column.unit, column.meaning].map(str::to_owned);
        table.push(cells.into_iter().chain(about).map(Cell::from));
    }
    table
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => text.to_owned(),
        Value::Count(count) => count.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => if flag { "yes" } else { "no" }.to_owned(),
        Value::Null => "-".to_owned(),
    }
}

/// Rows as a document.
fn document(file: &str, rows: &[Map<String, Json>]) -> Result<String, Failure> {
    Ok(answers::json(&json!({ "schema": SCHEMA, "file": file, "connections": rows }))?)
}

const SCHEMA: &str = "firstflight/connections@1";
