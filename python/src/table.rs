//! Tables for Python: anything that knows `__arrow_c_stream__` reads them without copying.

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use firstflight_results::table::arrow;
use firstflight_results::{Table as Rows, TableError, Value, Values};
use pyo3::exceptions::{PyKeyError, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

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
        match self.rows.column(column) {
            Some(Values::Text(all)) => PyList::new(py, all),
            Some(Values::Count(all)) => PyList::new(py, all),
            Some(Values::Number(all)) => PyList::new(py, all),
            Some(Values::Flag(all)) => PyList::new(py, all),
            None => {
                let hint = firstflight_scenario::hint(column, self.columns());
                Err(PyKeyError::new_err(format!("no column `{column}`{hint}")))
            }
        }
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
}
