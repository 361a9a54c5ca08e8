//! The native half of the Python package `firstflight`: conversions only. What a call does is done
//! by `firstflight_answers`, so that defaults, checks and messages are the command's.

mod call;
mod error;
mod flags;
mod parquet;
mod result;
mod sender;
mod startup;
mod sweep;
mod table;
mod tree;
mod view;

use std::path::PathBuf;

use firstflight_answers::Request;
use firstflight_cli::calls::{self, Refused};
use firstflight_scenario::{Document, PathFlags};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use call::Call;
use result::{Ran, Reproduced};

/// `compare`: one run per control, on the path of the flags.
#[pyfunction]
fn compare(
    py: Python<'_>,
    controls: Vec<String>,
    path: &Bound<'_, PyDict>,
    on: &str,
    samples: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Ran> {
    let path = flags::path(path)?;
    let scenario = py.detach(|| -> Result<_, Refused> {
        Ok(firstflight_answers::comparison(&controls, &path, &*calls::transport(on)?)?)
    });
    let scenario = scenario.map_err(error::refused)?;
    Call { samples, progress }.run(py, scenario, on)
}

/// `run`: a scenario file, or the same as a `dict`.
#[pyfunction]
fn run(
    py: Python<'_>,
    scenario: Bound<'_, PyAny>,
    path: &Bound<'_, PyDict>,
    on: &str,
    samples: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Ran> {
    let path = flags::path(path)?;
    let document = match scenario.cast::<PyDict>() {
        Ok(tree) => tree::document(tree)?,
        Err(_) => {
            let file: PathBuf = scenario.extract().map_err(|_| {
                error::input(&format!(
                    "scenario: found {}; accepted: the path of a TOML file, or a dict of its keys",
                    error::shown(&scenario)
                ))
            })?;
            Document::load(file).map_err(|problem| error::input(&problem.to_string()))?
        }
    };
    let scenario = py.detach(|| -> Result<_, Refused> {
        Ok(firstflight_answers::scenario(document, &path, &*calls::transport(on)?)?)
    });
    let scenario = scenario.map_err(error::refused)?;
    Call { samples, progress }.run(py, scenario, on)
}

/// The document of `judge --json`.
#[pyfunction]
fn judge(
    py: Python<'_>,
    control: &str,
    lists: (Vec<String>, Vec<String>),
    seeds: Option<u64>,
    quick: bool,
    on: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (against, only) = lists;
    let request = Request { control, against: &against, only: &only, seeds, quick };
    Call { samples: None, progress }.judge(py, &request, on)
}

/// The document of `advise --json`.
#[pyfunction]
fn advise(
    py: Python<'_>,
    path: &Bound<'_, PyDict>,
    on: &str,
    shared: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    Call { samples: None, progress }.advise(py, &flags::path(path)?, on, shared)
}

/// The document of `predict --json`.
#[pyfunction]
fn predict(path: &Bound<'_, PyDict>) -> PyResult<String> {
    let found = firstflight_answers::predict(&flags::path(path)?);
    found.and_then(|found| found.to_json()).map_err(error::refused)
}

/// The document of `list --json`.
#[pyfunction]
#[pyo3(signature = (name=None))]
fn list(name: Option<&str>) -> PyResult<String> {
    calls::list(name).map_err(error::refused)
}

/// `reproduce`: the rows, as the document of `--json`.
#[pyfunction]
fn reproduce(
    py: Python<'_>,
    select: Vec<String>,
    out: Option<PathBuf>,
    cache: Option<PathBuf>,
    quick: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Reproduced> {
    Call { samples: None, progress }.reproduce(py, &select, out, cache, quick)
}

/// The command line: its exit code.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| calls::command(words))
}

/// The path flags: keyword, default, help.
#[pyfunction]
fn path_flags(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let flag = |flag: &'static firstflight_scenario::Flag| {
        (flags::keyword(&flag.name), flag.default.as_str(), flag.help.as_str())
    };
    PyList::new(py, PathFlags::all().iter().map(flag))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    firstflight_sweep::set_parquet(&parquet::Pyarrow);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add_class::<Ran>()?;
    module.add_class::<Reproduced>()?;
    module.add_class::<sender::Left>()?;
    module.add_class::<sender::Sender>()?;
    module.add_class::<sweep::Work>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<view::View>()?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(judge, module)?)?;
    module.add_function(wrap_pyfunction!(advise, module)?)?;
    module.add_function(wrap_pyfunction!(predict, module)?)?;
    module.add_function(wrap_pyfunction!(list, module)?)?;
    module.add_function(wrap_pyfunction!(reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::run_chunk, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::table_of, module)?)?;
    module.add_function(wrap_pyfunction!(result::unpickled_result, module)?)?;
    module.add_function(wrap_pyfunction!(table::unpickled_table, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(path_flags, module)?)?;
    module.add_function(wrap_pyfunction!(startup::put, module)?)
}
