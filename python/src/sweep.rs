//! Sweeps for Python: the folder, its chunks as text for any worker, and its tables.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use firstflight_cli::calls::{self, Refused};
use firstflight_results::table::{flows, series};
use firstflight_results::{Column, CsvRows, Kind, Role, TableError};
use firstflight_runner::Options;
use firstflight_sweep::{Chunk, Format, Shard, Store, Sweep, run};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

use crate::call::{Call, has_python, is_forked};
use crate::error;
use crate::parquet;
use crate::startup::is_written_in_python;
use crate::table::Table;

/// A sweep and its folder, which is locked until it is closed.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Work {
    sweep: Sweep,
    store: Mutex<Option<Arc<Store>>>,
    path: PathBuf,
    format: Format,
}

#[pymethods]
impl Work {
    /// From a grid file, or from its text if `grid` is none.
    #[new]
    fn new(
        py: Python<'_>,
        grid: Option<PathBuf>,
        text: &str,
        out: Option<PathBuf>,
        format: &str,
        on: &str,
    ) -> PyResult<Self> {
        if is_forked() {
            let why = "sweep: a forked process lacks the threads that it needs; accepted: the \
                       start method \"spawn\" or \"forkserver\" of multiprocessing";
            return Err(PyRuntimeError::new_err(why));
        }
        let format = Format::named(format)
            .map_err(|problem| error::input(&format!("sweep: format: {problem}")))?;
        let work = py.detach(|| -> Result<_, Refused> {
            let sweep = match &grid {
                Some(file) => Sweep::load(file, calls::transport(on)?)?,
                None => Sweep::parse(text, "grid", Path::new("."), calls::transport(on)?)?,
            };
            if let Some(name) = python_in(&sweep)? {
                return Ok(Err(name));
            }
            let place = || default_folder(grid.as_deref(), &sweep);
            let out = out.unwrap_or_else(place);
            let store = Store::open(&out, &sweep, format, Shard::WHOLE)?;
            Ok(Ok(Self { sweep, store: Mutex::new(Some(Arc::new(store))), path: out, format }))
        });
        work.map_err(error::refused)?.map_err(|name| {
            error::input(&format!(
                "sweep: {name} is written in Python, which other processes do not have; accepted: \
                 ff.run at each point, or the same start-up in Rust"
            ))
        })
    }

    /// Runs what is missing on all cores; `progress` hears milliseconds of estimated work.
    fn run(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let store = self.store()?;
        let done = call(progress).in_thread(py, &Default::default(), |stop, reached| {
            let progress = |done, total| {
                reached.note((done / MS) as usize, (total / MS) as usize);
            };
            run(&self.sweep, &store, Shard::WHOLE, stop, &progress).map_err(Refused::from)
        })?;
        done.map(drop).map_err(error::refused)
    }

    /// Reads the finished chunks, and no longer counts those that are not as they were written:
    /// their files.
    fn recheck(&self, py: Python<'_>) -> PyResult<Vec<PathBuf>> {
        let store = self.store()?;
        Ok(py.detach(|| store.recheck(&self.sweep, Shard::WHOLE)))
    }

    /// The chunks that are not finished, and milliseconds of estimated work for each.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        let store = self.store()?;
        Ok(py.detach(|| {
            let numbers = 0..self.sweep.chunks();
            let missing = numbers.filter(|number| {
                let chunk = self.sweep.chunk(*number);
                chunk.is_some_and(|chunk| !store.has(&chunk.name()))
            });
            missing.map(|number| (number, self.sweep.weight_ns(number) / MS)).collect()
        }))
    }

    /// A chunk for a worker, as JSON.
    fn chunk(&self, number: u64) -> PyResult<String> {
        self.at(number).map(|chunk| chunk.to_json())
    }

    /// A chunk for people: its name and its first point.
    fn named(&self, number: u64) -> PyResult<String> {
        let chunk = self.at(number)?;
        let before = |number| self.sweep.chunk(number).map_or(0, |chunk| chunk.points() as u64);
        let first = self.sweep.values((0..number).map(before).sum());
        let pairs = self.sweep.keys().iter().zip(first);
        let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key} = {value}")).collect();
        let (name, points) = (chunk.name(), chunk.points());
        Ok(format!("chunk {name} ({points} points from {} on)", pairs.join(", ")))
    }

    /// Keeps what a worker made of a chunk.
    fn put(&self, py: Python<'_>, number: u64, rows: &[u8]) -> PyResult<()> {
        let (chunk, store) = (self.at(number)?, self.store()?);
        let rows = py.detach(|| {
            let rows = read(rows, flows::columns())?;
            if rows.len() < chunk.points() {
                let (found, points) = (rows.len(), chunk.points());
                let problem = format!("found {found} rows for {points} points");
                return Err(TableError::Unreadable(problem));
            }
            Ok(rows)
        });
        let rows = rows.map_err(|problem| error::input(&format!("chunk {number}: {problem}")))?;
        py.detach(|| store.put(&chunk.name(), rows).map_err(Refused::from)).map_err(error::refused)
    }

    /// Writes the tables; the number of points.
    fn merge(&self, py: Python<'_>) -> PyResult<u64> {
        let store = self.store()?;
        py.detach(|| store.merge(&self.sweep).map_err(Refused::from)).map_err(error::refused)?;
        Ok(self.sweep.points())
    }

    /// The folder.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The table of flows in it, once it is merged.
    #[getter]
    fn table(&self) -> PathBuf {
        self.path.join(format!("flows.{}", self.format.name()))
    }

    /// Gives the folder free: what an exception's traceback keeps alive would hold it for long.
    fn close(&self) {
        self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Work {
    fn store(&self) -> PyResult<Arc<Store>> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).clone();
        store.ok_or_else(|| error::input("sweep: its folder is closed; accepted: a new call"))
    }

    fn at(&self, number: u64) -> PyResult<Chunk> {
        let chunk = self.sweep.chunk(number);
        chunk.ok_or_else(|| error::input(&format!("found no chunk {number}")))
    }
}

/// Runs a chunk in one thread, in any process: its rows as CSV.
#[pyfunction]
pub(crate) fn run_chunk(py: Python<'_>, chunk: &str) -> PyResult<Vec<u8>> {
    let rows = call(None).in_thread(py, &Default::default(), |stop, _| -> Result<_, Refused> {
        let options = Options { stop: Some(stop), ..Options::default() };
        let chunk = Chunk::from_json(chunk)?;
        Ok(chunk.run(&*calls::transport(chunk.on())?, &options)?)
    })?;
    let mut text = Vec::new();
    let written = rows.map_err(error::refused)?.write_csv(&mut text);
    written.map_err(|problem| PyRuntimeError::new_err(problem.to_string()))?;
    Ok(text)
}

/// One of the tables of a finished sweep.
#[pyfunction]
pub(crate) fn table_of(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    if path.extension().is_some_and(|end| end == Format::Parquet.name()) {
        return Table::new(Ok(py.detach(|| parquet::whole(&path))?));
    }
    let table = py.detach(|| {
        let read_at = |path: &Path| {
            let file = BufReader::new(File::open(path)?);
            match path.file_stem().is_some_and(|stem| stem == "flows") {
                true => read(file, flows::columns()),
                false => rows(file),
            }
        };
        read_at(&path)
    });
    match table {
        Err(TableError::Write(problem)) => {
            Err(PyOSError::new_err(format!("cannot read {}: {problem}", path.display())))
        }
        Err(problem) => Err(error::input(&format!("{}: {problem}", path.display()))),
        table => Table::new(table),
    }
}

/// The rows of any of our tables, whose first line tells which it is.
pub(crate) fn rows(mut from: impl BufRead) -> Result<firstflight_results::Table, TableError> {
    let mut names = String::new();
    from.read_line(&mut names)?;
    let is = |columns: &[Column]| {
        columns.iter().map(|column| column.name).eq(names.trim_end().split(','))
    };
    let known = [flows::columns(), series::columns()].into_iter().find(|columns| is(columns));
    let columns = known.unwrap_or_else(|| names.trim_end().split(',').map(column).collect());
    read(names.as_bytes().chain(from), columns)
}

fn read(from: impl Read, columns: Vec<Column>) -> Result<firstflight_results::Table, TableError> {
    CsvRows::new(from, columns)?.next(usize::MAX)
}

/// A column of `points.csv` or `summary.csv`: the keys that vary are texts with their units.
fn column(name: &str) -> Column {
    let of = name.strip_suffix("_half_95").unwrap_or(name);
    let measure = flows::columns()
        .into_iter()
        .find(|measure| measure.name == of && matches!(measure.kind, Kind::Number | Kind::Count));
    match (name, measure) {
        ("number", _) => Column::new(Role::Key, Kind::Count, "number", "", "The point's number"),
        ("seeds", _) => Column::new(Role::Key, Kind::Count, "seeds", "", "Replicas"),
        (_, Some(measure)) if !name.contains('.') => {
            let meaning = match of == name {
                true => "Mean over the seeds",
                false => "Half the width of the mean's 95 % interval",
            };
            let name = kept(name);
            Column::new(Role::Measure, Kind::Number, name, measure.unit, meaning).or_null()
        }
        _ => Column::new(Role::Key, Kind::Text, kept(name), "", "As in the grid file").or_null(),
    }
}

/// Names of columns live as long as the program; each is kept once.
fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = names.get(name).copied();
    known.unwrap_or_else(|| {
        let name: &'static str = name.to_owned().leak();
        names.insert(name);
        name
    })
}

/// A start-up in Python among the controls of the scenario, or of a key that varies.
fn python_in(sweep: &Sweep) -> Result<Option<String>, Refused> {
    if has_python(&sweep.scenario()?) {
        return Ok(Some("a start-up of the scenario".to_owned()));
    }
    let keys = sweep.keys().iter().enumerate();
    let places: Vec<usize> =
        keys.filter(|(_, key)| key.ends_with("control")).map(|(place, _)| place).collect();
    if places.is_empty() {
        return Ok(None);
    }
    let values = (0..sweep.points()).flat_map(|point| {
        let values = sweep.values(point);
        places.iter().filter_map(move |place| values.get(*place).cloned()).collect::<Vec<_>>()
    });
    Ok(values.into_iter().find(|value| {
        is_written_in_python(value.split(['(', '+']).next().unwrap_or_default().trim())
    }))
}

/// Where the command puts it; what has no file is called by its hash.
fn default_folder(grid: Option<&Path>, sweep: &Sweep) -> PathBuf {
    let name = grid.and_then(Path::file_stem).unwrap_or(sweep.hash().as_ref());
    Path::new("firstflight-out/sweep").join(name)
}

fn call(progress: Option<Py<PyAny>>) -> Call {
    Call { samples: None, progress }
}

const MS: u64 = 1_000_000;
