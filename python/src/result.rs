//! What calls return.

use std::path::PathBuf;
use std::sync::OnceLock;

use firstflight_answers::Outcome as Runs;
use firstflight_cli::calls::{self, Refused};
use firstflight_reproduce::Outcome;
use firstflight_results::table::{flows, series};
use firstflight_results::{Reproduction, Results, Table as Rows, TableError};
use firstflight_runner::{Report, Run};
use firstflight_scenario::Scenario;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::call::{self, Call};
use crate::error;
use crate::startup;
use crate::table::{Pickled, Table, native};

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

    /// Equal documents; what runs cost the machine and the series do not count.
    fn __eq__(&self, other: &Self) -> PyResult<bool> {
        Ok(self.ran.unmet == other.ran.unmet && self.json()? == other.json()?)
    }

    /// A pickle holds scenario and document, the start-ups in Python that took part, and the series
    /// that would not be sampled again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, State>> {
        let series = match self.has_series {
            true => Some(self.series(py)?),
            false => self.series.get().map(|table| table.clone_ref(py)),
        };
        let document = serde_json::to_string(&self.ran.report.results());
        let document = document.map_err(|problem| PyRuntimeError::new_err(problem.to_string()))?;
        let known = call::python_in(&self.scenario).into_iter();
        let startups = known.map(|(name, startup)| (name, startup.clone_ref(py))).collect();
        // The files that a scenario names are found by the folder of its own file.
        let file = std::path::absolute(self.scenario.file()).unwrap_or_default();
        let scenario = (file, self.scenario.to_toml());
        let unmet = self.ran.unmet.clone();
        let state = (self.on.clone(), scenario, document, unmet, startups, series);
        Ok((native(py, "unpickled_result")?, state))
    }
}

/// The arguments of [`unpickled_result`].
type State =
    (String, (PathBuf, String), String, Vec<String>, Vec<(String, Py<PyAny>)>, Option<Py<Table>>);

/// The result of a pickle.
#[pyfunction]
pub(crate) fn unpickled_result(
    py: Python<'_>,
    on: &str,
    scenario: (PathBuf, String),
    document: &str,
    unmet: Vec<String>,
    startups: Vec<(String, Py<PyAny>)>,
    series: Option<Py<Table>>,
) -> PyResult<Ran> {
    let wrong = |problem: String| error::input(&format!("a pickled result: {problem}"));
    startup::make_known(py, startups)?;
    let results: Results =
        serde_json::from_str(document).map_err(|problem| wrong(problem.to_string()))?;
    let version = env!("CARGO_PKG_VERSION");
    if results.version != version {
        let found = results.version;
        return Err(wrong(format!(
            "found version {found}; accepted: {version}, that of this package"
        )));
    }
    let (file, text) = scenario;
    let scenario = Scenario::parse(&text, &file.to_string_lossy())
        .map_err(|problem| wrong(problem.to_string()))?;
    let complete = || -> Result<_, Refused> { Ok(calls::transport(on)?.complete(&scenario)?) };
    let runs = results.runs.into_iter().map(|run| Run::new(run, Vec::new(), Vec::new()));
    let mut report = Report::new(complete().map_err(error::refused)?, runs.collect(), false);
    report.refused = results.refused;
    let made = Ran::new(scenario, on, Runs::of(report, unmet), false);
    if let Some(table) = series {
        let _ = made.series.set(table);
    }
    Ok(made)
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
    fn report(&self) -> Option<PathBuf> {
        self.0.report.clone()
    }

    fn __len__(&self) -> usize {
        self.0.rows.len()
    }
}
