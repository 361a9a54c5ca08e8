//! Tables read back from CSV.

use std::io;

use super::{SCHEMA, Table, TableError, io_error};
use crate::{Column, Kind, Value};

/// Reads a table from CSV, some rows at a time.
pub struct CsvRows<R> {
    reader: csv::Reader<R>,
    columns: Vec<Column>,
    record: csv::StringRecord,
}

impl<R: io::Read> CsvRows<R> {
    /// Reads the line of names, which must be those of the columns.
    ///
    /// # Errors
    /// [`TableError::Unreadable`] with what was found.
    pub fn new(from: R, columns: Vec<Column>) -> Result<Self, TableError> {
        let mut reader = csv::Reader::from_reader(from);
        let names = reader.headers().map_err(fault)?;
        if !names.iter().eq(columns.iter().map(|column| column.name)) {
            let found: String =
                names.iter().collect::<Vec<_>>().join(",").chars().take(60).collect();
            let problem =
                format!("its columns begin with \"{found}\"; accepted: those of {}", { SCHEMA });
            return Err(TableError::Unreadable(problem));
        }
        Ok(Self { reader, columns, record: csv::StringRecord::new() })
    }

    /// The next rows, `most` of them or as many as are left.
    ///
    /// # Errors
    /// [`TableError::Unreadable`] with the line, the column and what was found.
    pub fn next(&mut self, most: usize) -> Result<Table, TableError> {
        let mut table = Table::empty(self.columns.clone());
        while table.len() < most && self.reader.read_record(&mut self.record).map_err(fault)? {
            let line = self.record.position().map_or(0, csv::Position::line);
            let cells = self.columns.iter().zip(&self.record);
            let row = cells.map(|(column, text)| cell(column, text, line));
            let row = row.collect::<Result<Vec<Value<'_>>, _>>()?;
            let fault = |(column, found)| {
                TableError::Unreadable(format!("line {line}: {column} is {found}"))
            };
            table.push(row.into_iter()).map_err(fault)?;
        }
        Ok(table)
    }
}

fn cell<'a>(column: &Column, text: &'a str, line: u64) -> Result<Value<'a>, TableError> {
    if text.is_empty() && column.nullable {
        return Ok(Value::Null);
    }
    let value = match column.kind {
        Kind::Text => Some(text.into()),
        Kind::Count => text.parse().ok().map(Value::Count),
        Kind::Number => text.parse().ok().map(Value::Number),
        Kind::Flag => text.parse().ok().map(Value::Flag),
    };
    value.ok_or_else(|| {
        let kind = column.kind.json();
        let name = column.name;
        TableError::Unreadable(format!("line {line}: {name} is \"{text}\"; accepted: {kind}"))
    })
}

/// What is wrong with the text, apart from what is wrong with the file.
fn fault(error: csv::Error) -> TableError {
    match error.is_io_error() {
        true => TableError::Write(io_error(error)),
        false => TableError::Unreadable(error.to_string()),
    }
}
