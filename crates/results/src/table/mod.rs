//! A table column by column, and its form as CSV.

pub mod connections;
mod factors;
pub mod flows;
mod lines;
mod read;
mod schema;
pub mod series;
pub mod trial;

use std::io;

use serde_json::{Map, Value as Json};

use crate::column::{Column, Kind, Value};

pub use factors::{Factors, FlowFactors};
pub use read::CsvRows;
pub use schema::json_schema;

/// The name of this schema, a column of every row.
pub const SCHEMA: &str = "firstflight/table@1";

/// Rows of one of the tables, stored column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    values: Vec<Values>,
    rows: usize,
}

/// The values of one column, `None` for null.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Values of [`Kind::Text`].
    Text(Vec<Option<String>>),
    /// Values of [`Kind::Count`].
    Count(Vec<Option<u64>>),
    /// Values of [`Kind::Number`].
    Number(Vec<Option<f64>>),
    /// Values of [`Kind::Flag`].
    Flag(Vec<Option<bool>>),
}

/// Why a table cannot be made or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A measured number that is not finite, which no form can distinguish from "not measured".
    #[error("{column} of flow {flow}, {control}, is {found}; accepted: a finite number")]
    NotFinite {
        /// The column.
        column: &'static str,
        /// The flow's number.
        flow: u64,
        /// The run's control.
        control: String,
        /// The value.
        found: f64,
    },
    /// Two tables of different columns.
    #[error("tables of different columns cannot become one: {0}")]
    Columns(String),
    /// Text that is no such table.
    #[error("{0}")]
    Unreadable(String),
    /// The file takes nothing more.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// The file system's error, which the error's own conversion hides: whether a disk is full is
/// read from its kind.
pub fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

impl Table {
    /// A table without rows.
    pub fn empty(columns: Vec<Column>) -> Self {
        let values = columns.iter().map(|column| Values::of(column.kind)).collect();
        Self { columns, values, rows: 0 }
    }

    /// A table of columns and their values.
    ///
    /// # Errors
    /// [`TableError::Unreadable`] if there are not as many values of each column.
    pub fn of(columns: Vec<Column>, values: Vec<Values>) -> Result<Self, TableError> {
        let rows = values.first().map_or(0, Values::len);
        if columns.len() != values.len() || values.iter().any(|values| values.len() != rows) {
            let problem =
                format!("found columns of other lengths than the first, which has {rows}");
            return Err(TableError::Unreadable(problem));
        }
        Ok(Self { columns, values, rows })
    }

    /// Appends a row; the error is the column whose value is not finite.
    pub(crate) fn push<'a>(
        &mut self,
        row: impl Iterator<Item = Value<'a>>,
    ) -> Result<(), (&'static str, f64)> {
        for (value, (column, values)) in row.zip(self.columns.iter().zip(&mut self.values)) {
            match value {
                Value::Number(number) if !number.is_finite() => return Err((column.name, number)),
                value => values.push(value),
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Its columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The values of its columns, in the order of the columns.
    pub fn values(&self) -> &[Values] {
        &self.values
    }

    /// The values of one column by name.
    pub fn column(&self, name: &str) -> Option<&Values> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        self.values.get(at)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends the rows of another table.
    ///
    /// # Errors
    /// [`TableError::Columns`].
    pub fn append(&mut self, more: Self) -> Result<(), TableError> {
        if self.columns != more.columns {
            let names = |t: &Self| t.columns.iter().map(|c| c.name).collect::<Vec<_>>().join(",");
            return Err(TableError::Columns(format!("{} and {}", names(self), names(&more))));
        }
        for (values, more) in self.values.iter_mut().zip(more.values) {
            values.append(more);
        }
        self.rows += more.rows;
        Ok(())
    }

    /// Writes the table as CSV (RFC 4180, lines end with LF): a line of names, then a line per row.
    /// Null is an empty cell, numbers have as many digits as give the same double again.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, to: impl io::Write) -> Result<(), TableError> {
        let mut to = csv::Writer::from_writer(to);
        to.write_record(self.columns.iter().map(|column| column.name)).map_err(io_error)?;
        self.write_rows(&mut to)
    }

    /// [`Table::write_csv`] without the line of names, for a file that has it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn append_csv(&self, to: impl io::Write) -> Result<(), TableError> {
        self.write_rows(&mut csv::Writer::from_writer(to))
    }

    fn write_rows<W: io::Write>(&self, to: &mut csv::Writer<W>) -> Result<(), TableError> {
        let mut cell = String::new();
        for row in 0..self.rows {
            for values in &self.values {
                cell.clear();
                values.print(row, &mut cell);
                to.write_field(&cell).map_err(io_error)?;
            }
            to.write_record(None::<&[u8]>).map_err(io_error)?;
        }
        Ok(to.flush()?)
    }

    /// One row as an object.
    pub fn row(&self, row: usize) -> Map<String, Json> {
        let cells = self.columns.iter().zip(&self.values);
        cells.map(|(column, values)| (column.name.to_owned(), values.json(row))).collect()
    }
}

impl Values {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(Vec::new()),
            Kind::Count => Self::Count(Vec::new()),
            Kind::Number => Self::Number(Vec::new()),
            Kind::Flag => Self::Flag(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(all) => all.len(),
            Self::Count(all) => all.len(),
            Self::Number(all) => all.len(),
            Self::Flag(all) => all.len(),
        }
    }

    /// Appends a value; one of another type, which a test excludes, becomes null.
    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Text(all), Value::Text(text)) => all.push(Some(text.to_owned())),
            (Self::Count(all), Value::Count(count)) => all.push(Some(count)),
            (Self::Number(all), Value::Number(number)) => all.push(Some(number)),
            (Self::Flag(all), Value::Flag(flag)) => all.push(Some(flag)),
            (Self::Text(all), _) => all.push(None),
            (Self::Count(all), _) => all.push(None),
            (Self::Number(all), _) => all.push(None),
            (Self::Flag(all), _) => all.push(None),
        }
    }

    fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Text(all), Self::Text(more)) => all.extend(more),
            (Self::Count(all), Self::Count(more)) => all.extend(more),
            (Self::Number(all), Self::Number(more)) => all.extend(more),
            (Self::Flag(all), Self::Flag(more)) => all.extend(more),
            // Equal columns have equal types.
            _ => {}
        }
    }

    /// The value of a row; null beyond the last.
    pub fn at(&self, row: usize) -> Value<'_> {
        match self {
            Self::Text(all) => all.get(row).and_then(|text| text.as_deref()).into(),
            Self::Count(all) => all.get(row).copied().flatten().into(),
            Self::Number(all) => all.get(row).copied().flatten().into(),
            Self::Flag(all) => all.get(row).copied().flatten().into(),
        }
    }

    fn print(&self, row: usize, to: &mut String) {
        use std::fmt::Write as _;
        // Writing to a string does not fail.
        let _ = match self.at(row) {
            Value::Null => Ok(()),
            Value::Text(text) => to.write_str(text),
            Value::Count(count) => write!(to, "{count}"),
            Value::Number(number) => write!(to, "{number}"),
            Value::Flag(flag) => write!(to, "{flag}"),
        };
    }

    fn json(&self, row: usize) -> Json {
        match self.at(row) {
            Value::Null => Json::Null,
            Value::Text(text) => text.into(),
            Value::Count(count) => count.into(),
            Value::Number(number) => number.into(),
            Value::Flag(flag) => flag.into(),
        }
    }
}
