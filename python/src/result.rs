//! What calls return.

use std::sync::OnceLock;

use firstflight_answers::Ran as Runs;
use firstflight_cli::calls;
use firstflight_reproduce::Outcome;
use firstflight_results::table::{flows, series};
use firstflight_results::{Reproduction, Table as Rows, TableError};
use firstflight_runner::Run;
use firstflight_scenario::Scenario;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::call::Call;
use crate::table::Table;

/// The runs of a scenario.
#[pyclass(frozen, module = "firstflight", name = "Result", subclass)]
pub(crate) struct Ran {
    scenario: Scenario,
    on: String,
    ran: Runs,
    has_series: bool,
    flows: OnceLock<Py<Table>>,
    series: OnceLock<Py<Table>>,
}

impl Ran {
    pub(crate) fn new(scenario: Scenario, on: &str, ran: Runs, has_series: bool) -> Self {
        let (flows, series) = (OnceLock::new(), OnceLock::new());
        Self { scenario, on: on.to_owned(), ran, has_series, flows, series }
    }
}

#[pymethods]
impl Ran {
    /// One row per flow of a run.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let report = &self.ran.report;
        kept(py, &self.flows, || {
            flows::table(&report.scenario.factors(), report.runs.iter().map(|run| &run.result))
        })
    }

    /// One row per flow or link, time and variable. What was not sampled is run again for it.
    #[getter]
    fn series(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        if let Some(table) = self.series.get() {
            return Ok(table.clone_ref(py));
        }
        let again;
        let report = match self.has_series {
            true => &self.ran.report,
            false => {
                again = Call::again(py, &self.scenario, &self.on)?;
                &again.report
            }
        };
        kept(py, &self.series, || {
            let runs = report.runs.iter();
            let curves = runs.map(|Run { result, flows, queues, .. }| series::Curves {
                run: result,
                flows,
                links: queues,
            });
            series::table(&report.scenario.factors(), curves)
        })
    }

    /// The document of `--json`, without what the runs cost the machine.
    fn json(&self) -> PyResult<String> {
        let json = self.ran.report.results().without_cost().to_json();
        json.map_err(|problem| PyRuntimeError::new_err(problem.to_string()))
    }

    /// The conditions of the scenario's `[expect]` that do not hold, in words.
    #[getter]
    fn unmet(&self) -> Vec<String> {
        self.ran.unmet.clone()
    }

    /// What the command prints: tables and sentences.
    #[pyo3(signature = (width=100))]
    fn summary(&self, width: usize) -> String {
        calls::summary(&self.ran.report, width)
    }

    fn __str__(&self) -> String {
        self.summary(100)
    }
}

/// The table that is kept here, made when it is first asked for.
fn kept(
    py: Python<'_>,
    place: &OnceLock<Py<Table>>,
    make: impl FnOnce() -> Result<Rows, TableError> + Send,
) -> PyResult<Py<Table>> {
    if let Some(table) = place.get() {
        return Ok(table.clone_ref(py));
    }
    let rows = py.detach(make);
    let table = Py::new(py, Table::new(rows)?)?;
    // Where two threads have made it, either is as good.
    let _ = place.set(table.clone_ref(py));
    Ok(table)
}

/// The claims of the papers, measured.
#[pyclass(frozen, module = "firstflight", name = "Reproduction", subclass)]
pub(crate) struct Reproduced(Outcome);

impl Reproduced {
    pub(crate) fn new(outcome: Outcome) -> Self {
        Self(outcome)
    }
}

#[pymethods]
impl Reproduced {
    /// The document of `reproduce --json`.
    fn json(&self) -> PyResult<String> {
        let document = Reproduction { rows: self.0.rows.clone() };
        let json = serde_json::to_string_pretty(&document);
        json.map(|text| text + "\n").map_err(|problem| PyRuntimeError::new_err(problem.to_string()))
    }

    /// The report's page, if one was asked for.
    #[getter]
    fn report(&self) -> Option<std::path::PathBuf> {
        self.0.report.clone()
    }

    fn __len__(&self) -> usize {
        self.0.rows.len()
    }
}
