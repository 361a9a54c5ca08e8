//! Parquet files of sweeps by pyarrow: the Rust crate for them takes eight minutes to compile.

use std::io;
use std::path::Path;

use firstflight_results::table::flows;
use firstflight_results::{Column, Kind, Table as Rows, Values};
use firstflight_sweep::{Parquet, ParquetRows, SweepError};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use crate::error;
use crate::table::Table;

pub(crate) struct Pyarrow;

/// A `Writer` of `_parquet.py`.
struct Writer(Py<PyAny>);

impl Parquet for Pyarrow {
    fn check(&self) -> Result<(), String> {
        let found = Python::attach(|py| module(py).map(drop));
        found.map_err(|problem| {
            format!("parquet takes pyarrow ({problem}); accepted: csv, or pip install pyarrow")
        })
    }

    fn create(&self, file: &Path, _columns: &[Column]) -> io::Result<Box<dyn ParquetRows>> {
        Python::attach(|py| {
            let writer = module(py)?.call_method1("Writer", (file,))?;
            Ok(Box::new(Writer(writer.unbind())) as Box<dyn ParquetRows>)
        })
        .map_err(fault)
    }

    fn read(
        &self,
        file: &Path,
        each: &mut dyn FnMut(Rows) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let batches = Batches::open(file).map_err(unread(file))?;
        while let Some(rows) = batches.next().map_err(unread(file))? {
            each(rows)?;
        }
        Ok(())
    }
}

/// All rows of a file.
pub(crate) fn whole(file: &Path) -> PyResult<Rows> {
    let mut all = Rows::empty(flows::columns());
    let batches = Batches::open(file)?;
    while let Some(rows) = batches.next()? {
        all.append(rows).map_err(|problem| error::input(&problem.to_string()))?;
    }
    Ok(all)
}

/// The rows of a file, some thousands at a time. Nothing holds the interpreter between two of them.
struct Batches(Py<PyIterator>);

impl Batches {
    fn open(file: &Path) -> PyResult<Self> {
        Python::attach(|py| {
            Ok(Self(module(py)?.call_method1("read", (file,))?.try_iter()?.unbind()))
        })
    }

    fn next(&self) -> PyResult<Option<Rows>> {
        Python::attach(|py| {
            let next = self.0.bind(py).clone().next().transpose()?;
            next.map(|batch| rows(batch.cast::<PyDict>()?)).transpose()
        })
    }
}

/// What the operating system said of a file, or what is wrong with it.
fn unread(file: &Path) -> impl Fn(PyErr) -> SweepError {
    let path = file.to_owned();
    move |problem| match is_of_system(&problem) {
        true => SweepError::read(&path)(fault(problem)),
        false => SweepError::Folder { path: path.clone(), problem: problem.to_string() },
    }
}

impl ParquetRows for Writer {
    fn write(&mut self, rows: Rows) -> io::Result<()> {
        let written = Python::attach(|py| {
            self.0.call_method1(py, "write", (Table::new(Ok(rows))?,)).map(drop)
        });
        written.map_err(fault)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Python::attach(|py| self.0.call_method0(py, "close").map(drop)).map_err(fault)
    }
}

fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("firstflight._parquet")
}

/// A batch of rows, a list for each column.
fn rows(batch: &Bound<'_, PyDict>) -> PyResult<Rows> {
    let columns = flows::columns();
    let values = |column: &Column| {
        let list = batch.as_any().get_item(column.name)?;
        Ok(match column.kind {
            Kind::Text => Values::Text(list.extract()?),
            Kind::Count => Values::Count(list.extract()?),
            Kind::Number => Values::Number(list.extract()?),
            Kind::Flag => Values::Flag(list.extract()?),
        })
    };
    let values = columns.iter().map(values).collect::<PyResult<Vec<Values>>>()?;
    Rows::of(columns, values).map_err(|problem| error::input(&problem.to_string()))
}

fn is_of_system(problem: &PyErr) -> bool {
    Python::attach(|py| {
        let number = problem.value(py).getattr("errno").ok();
        problem.is_instance_of::<PyOSError>(py) && number.is_some_and(|number| !number.is_none())
    })
}

/// What the operating system said, by its number.
fn fault(problem: PyErr) -> io::Error {
    let number = Python::attach(|py| problem.value(py).getattr("errno")?.extract::<i32>());
    number.map_or_else(|_| io::Error::other(problem), io::Error::from_raw_os_error)
}
