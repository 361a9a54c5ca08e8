//! Tables for Python: anything that knows `__arrow_c_stream__` reads them without copying.

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use firstflight_results::{Table as Rows, TableError, Value, Values};
use firstflight_sweep::arrow;
use pyo3::exceptions::{PyKeyError, PyModuleNotFoundError, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};

use crate::error;
use crate::sweep;

/// A table: one column per variable, the unit in its name.
#[pyclass(frozen, module = "firstflight")]
pub(crate) struct Table {
    rows: Rows,
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn new(rows: Result<Rows, TableError>) -> PyResult<Self> {
        let broken = |problem: String| PyRuntimeError::new_err(problem);
        let rows = rows.map_err(|problem| broken(problem.to_string()))?;
        let batch = arrow::batch(&rows).map_err(|problem| broken(problem.to_string()))?;
        Ok(Self { rows, batch })
    }
}

#[pymethods]
impl Table {
    /// The table as a stream of Arrow record batches (the PyCapsule interface).
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore it.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The Arrow schema (the PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        let schema = schema.map_err(|problem| PyRuntimeError::new_err(problem.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.rows.columns().iter().map(|column| column.name).collect()
    }

    /// The columns: name to unit and meaning.
    #[getter]
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let about = PyDict::new(py);
        for column in self.rows.columns() {
            about.set_item(column.name, (column.unit, column.meaning))?;
        }
        Ok(about)
    }

    /// One column as a list; None where nothing was measured.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        list(py, self.values(column)?)
    }

    /// One column as an array of numpy, or a dict of all. Where a value is missing numbers are NaN,
    /// and texts and flags are objects beside None.
    #[pyo3(signature = (column=None))]
    fn to_numpy<'py>(&self, py: Python<'py>, column: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = needed(py, "numpy", "to_numpy")?;
        let array = |values| numpy.call_method1("array", (list(py, values)?, dtype(values)));
        if let Some(column) = column {
            return array(self.values(column)?);
        }
        let all = PyDict::new(py);
        for (column, values) in self.rows.columns().iter().zip(self.rows.values()) {
            all.set_item(column.name, array(values)?)?;
        }
        Ok(all.into_any())
    }

    /// A pyarrow.Table of the same memory.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        needed(slf.py(), "pyarrow", "to_arrow")?.call_method1("table", (slf,))
    }

    /// A pandas.DataFrame, by pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let pyarrow = needed(slf.py(), "pyarrow", "to_pandas")?;
        needed(slf.py(), "pandas", "to_pandas")?;
        pyarrow.call_method1("table", (slf,))?.call_method0("to_pandas")
    }

    /// A polars.DataFrame of the same memory.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        needed(slf.py(), "polars", "to_polars")?.call_method1("DataFrame", (slf,))
    }

    /// The rows as a list of dicts.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for row in 0..self.rows.len() {
            let dict = PyDict::new(py);
            for (column, values) in self.rows.columns().iter().zip(self.rows.values()) {
                match values.at(row) {
                    Value::Text(text) => dict.set_item(column.name, text)?,
                    Value::Count(count) => dict.set_item(column.name, count)?,
                    Value::Number(number) => dict.set_item(column.name, number)?,
                    Value::Flag(flag) => dict.set_item(column.name, flag)?,
                    Value::Null => dict.set_item(column.name, py.None())?,
                }
            }
            all.append(dict)?;
        }
        Ok(all)
    }

    /// Writes the table as CSV: null is an empty cell.
    fn to_csv(&self, path: std::path::PathBuf) -> PyResult<()> {
        let shown = path.display();
        let file = std::fs::File::create(&path)
            .map_err(|problem| PyOSError::new_err(format!("{shown}: {problem}")))?;
        let written = self.rows.write_csv(std::io::BufWriter::new(file));
        written.map_err(|problem| PyOSError::new_err(format!("{shown}: {problem}")))
    }

    fn __repr__(&self) -> String {
        format!("<Table of {} rows, {} columns>", self.rows.len(), self.rows.columns().len())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.rows == other.rows
    }

    /// A pickle holds the table as CSV, as a sweep's workers send theirs.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (Bound<'py, PyBytes>,)>> {
        let mut text = Vec::new();
        let written = self.rows.write_csv(&mut text);
        written.map_err(|problem| PyRuntimeError::new_err(problem.to_string()))?;
        Ok((native(py, "unpickled_table")?, (PyBytes::new(py, &text),)))
    }
}

impl Table {
    fn values(&self, column: &str) -> PyResult<&Values> {
        self.rows.column(column).ok_or_else(|| {
            let hint = firstflight_scenario::hint(column, self.columns());
            PyKeyError::new_err(format!("no column `{column}`{hint}"))
        })
    }
}

fn list<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyList>> {
    match values {
        Values::Text(all) => PyList::new(py, all),
        Values::Count(all) => PyList::new(py, all),
        Values::Number(all) => PyList::new(py, all),
        Values::Flag(all) => PyList::new(py, all),
    }
}

/// numpy's type for the values; nothing where it finds the type itself.
fn dtype(values: &Values) -> Option<&'static str> {
    match values {
        Values::Number(_) => Some("float64"),
        Values::Count(all) => all.iter().any(Option::is_none).then_some("float64"),
        Values::Text(all) => all.iter().any(Option::is_none).then_some("object"),
        Values::Flag(all) => all.iter().any(Option::is_none).then_some("object"),
    }
}

/// A module of others, which a call takes.
fn needed<'py>(py: Python<'py>, name: &str, call: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|problem| {
        if !problem.is_instance_of::<PyModuleNotFoundError>(py) {
            return problem;
        }
        let why = problem.value(py);
        let why = format!("{call} takes {name} ({why}); accepted: pip install {name}");
        PyModuleNotFoundError::new_err(why)
    })
}

/// How an object is pickled: the function that makes it again, and its arguments.
pub(crate) type Pickled<'py, Arguments> = (Bound<'py, PyAny>, Arguments);

/// A function of this module.
pub(crate) fn native<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("firstflight._native")?.getattr(name)
}

/// The table of a pickle.
#[pyfunction]
pub(crate) fn unpickled_table(py: Python<'_>, text: &[u8]) -> PyResult<Table> {
    let rows = py.detach(|| sweep::rows(text));
    Table::new(Ok(rows.map_err(|problem| error::input(&format!("a pickled table: {problem}")))?))
}
