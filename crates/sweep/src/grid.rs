//! A grid file: a scenario, and what varies.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;

use firstflight_outside::content_name;
use firstflight_runner::Transport;
use firstflight_scenario::{Complete, Document, Place, Scenario, ScenarioError, hint};
use toml::{Table, Value};

use crate::chunk::{Chunk, named, scenario_at};
use crate::cut::{Cut, cut, weight_on};
use crate::keys::{OF_POINTS, differing, flat, written};
use crate::points::{Outer, Points};
use crate::points_file::PointsFile;
use crate::range::Range;
use crate::sample::{Sample, Values};
use crate::transport::{self, check_controls};
use crate::{SweepError, VERSION};

/// A sweep as its grid file describes it.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What runs it.
    pub(crate) transport: Arc<dyn Transport>,
    /// The transport in the names of chunks.
    pub(crate) on: String,
    pub(crate) file: String,
    /// The scenario as TOML, without comments, its keys in order.
    pub(crate) base: String,
    /// The points.
    pub(crate) points: Points,
    /// The keys that vary.
    keys: Vec<String>,
    /// Where the grid file says their values.
    stands: Vec<Place>,
    /// How many points there are.
    count: u64,
    /// Where the chunks begin.
    cuts: Vec<Cut>,
    /// Hash of scenario and points.
    hash: String,
}

impl Sweep {
    /// Reads a grid file, for a transport; files that it names are looked for beside it.
    ///
    /// # Errors
    /// A file that cannot be read, a key or a value that is wrong, a control that does not exist.
    pub fn load(path: &Path, on: Arc<dyn Transport>) -> Result<Self, SweepError> {
        let file = path.display().to_string();
        let text = Document::text(path)
            .map_err(|problem| SweepError::Unreadable { file: file.clone(), problem })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&text, &file, folder, on)
    }

    /// Reads the text of a grid file; `file` names it in messages, and files that it names are
    /// looked for in `beside`.
    ///
    /// # Errors
    /// As [`Sweep::load`].
    pub fn parse(
        text: &str,
        file: &str,
        folder: &Path,
        on: Arc<dyn Transport>,
    ) -> Result<Self, SweepError> {
        Self::of_side(text, file, folder, on, None)
    }

    /// [`Sweep::parse`] for one of the sides of the file, with the keys of the scenario that
    /// differ there.
    pub(crate) fn of_side(
        text: &str,
        file: &str,
        folder: &Path,
        on: Arc<dyn Transport>,
        side: Option<&Table>,
    ) -> Result<Self, SweepError> {
        // The scenario's reader names lines; so it comes first.
        let document = Document::parse(text, file).map_err(|error| match error {
            ScenarioError::Unreadable { file, problem } => SweepError::Unreadable { file, problem },
            error => error.into(),
        })?;
        let mut reader = Reader { whole: &document, folder, on: &*on, side, unrepeatable: false };
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            reader.fault("", format!("{}; accepted: TOML", error.message()))
        })?;
        reader.known("", &table, &KEYS)?;
        if side.is_none() && table.contains_key("side") {
            let problem = "several sides; accepted: `firstflight sweep`, or a file for each side";
            return Err(reader.fault("side", problem.to_owned()));
        }
        reader.unrepeatable = table.get("unrepeatable") == Some(&Value::Boolean(true));
        let (base, document) = reader.scenario(&table)?;
        let has_own = |side: &&Table| OF_POINTS.iter().any(|key| side.contains_key(*key));
        let points = reader.points(side.filter(has_own).unwrap_or(&table))?;
        reader.check(&document, &points)?;
        let count = points.count().ok_or_else(|| {
            let problem = "more than 2^64 points; accepted: several sweeps";
            reader.fault("grid", problem.to_owned())
        })?;
        if count == 0 {
            let problem = "a file without a line of values; accepted: one line or more";
            return Err(reader.fault("points", problem.to_owned()));
        }
        let keys = points.keys();
        let named = transport::named(&*on)?;
        let mut sweep = Self {
            transport: Arc::clone(&on),
            hash: described(&named, &base, &points),
            on: named,
            file: file.to_owned(),
            base,
            points,
            stands: keys.iter().map(|key| reader.stands(key)).collect(),
            keys,
            count,
            cuts: Vec::new(),
        };
        let cuts = cut(count, |point| {
            Ok(weight_on(&*sweep.transport, &sweep.complete(&document, point)?))
        })?;
        sweep.cuts = cuts.ok_or_else(|| {
            let problem = "more than two months of work for a core; accepted: several sweeps";
            reader.fault("grid", format!("{count} points are {problem}"))
        })?;
        Ok(sweep)
    }

    /// The scenario, before any key varies.
    ///
    /// # Errors
    /// None, since it was read once.
    pub fn scenario(&self) -> Result<Scenario, SweepError> {
        Ok(self.document()?.scenario()?)
    }

    /// How many points it has.
    pub fn points(&self) -> u64 {
        self.count
    }

    /// The keys that vary, dotted.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The values of a point, in the order of the keys.
    pub fn values(&self, point: u64) -> Vec<String> {
        self.points.values(point)
    }

    /// How many chunks it is cut into.
    pub fn chunks(&self) -> u64 {
        self.cuts.len() as u64
    }

    /// A chunk by its number.
    pub fn chunk(&self, number: u64) -> Option<Chunk> {
        let Cut { first, points, .. } = *self.cuts.get(usize::try_from(number).ok()?)?;
        let numbers = first..first + points;
        let origin = self.points.origin(numbers.clone());
        let values = numbers.map(|point| self.points.values(point)).collect();
        Some(Chunk::new(&self.on, &self.file, &self.base, &self.keys, values, origin))
    }

    /// How long a chunk takes on one core, estimated from its packets, in nanoseconds.
    pub fn weight_ns(&self, chunk: u64) -> u64 {
        self.cuts.get(chunk as usize).map_or(0, |cut| cut.weight_ns)
    }

    /// The numbers of a chunk's points: the first, and how many.
    pub(crate) fn span(&self, chunk: u64) -> (u64, u64) {
        self.cuts.get(chunk as usize).map_or((0, 0), |cut| (cut.first, cut.points))
    }

    /// Names scenario and points, whatever the layout of the grid file.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The complete scenario of a point.
    pub(crate) fn complete(&self, base: &Document, point: u64) -> Result<Complete, SweepError> {
        let values = self.points.values(point);
        let origin = self.points.origin(std::iter::once(point));
        let stands = |key: &str| {
            let at = self.keys.iter().position(|known| known == key)?;
            let in_file = origin.as_ref().and_then(|origin| origin.place(0, at, key));
            in_file.or_else(|| self.stands.get(at).cloned())
        };
        let wrong = |error| SweepError::at(named(&self.keys, &values), error, stands);
        let scenario = scenario_at(base, &self.keys, &values);
        let scenario = scenario.map_err(|error| wrong(error.into()))?;
        scenario.plans().map_err(|error| wrong(error.into()))?;
        self.transport.complete(&scenario).map_err(wrong)
    }

    pub(crate) fn document(&self) -> Result<Document, SweepError> {
        Ok(Document::parse(&self.base, &self.file)?)
    }
}

struct Reader<'a> {
    /// The grid file, which knows its lines.
    whole: &'a Document,
    folder: &'a Path,
    on: &'a dyn Transport,
    /// Keys of the scenario that differ on the side that is read.
    side: Option<&'a Table>,
    /// Controls are accepted whose runs differ each time.
    unrepeatable: bool,
}

impl Reader<'_> {
    /// The scenario as canonical TOML, and as a document that knows its lines.
    fn scenario(&self, table: &Table) -> Result<(String, Document), SweepError> {
        let text = |table: &Table| {
            toml::to_string(table).map_err(|e| self.fault("scenario", e.to_string()))
        };
        let own = self.side.and_then(|side| side.get("scenario"));
        let (base, document) = match (own.or(table.get("scenario")), self.whole.part("scenario")) {
            (Some(Value::Table(table)), Some(document)) => (text(table)?, document),
            (Some(Value::String(name)), _) => {
                let path = self.folder.join(name);
                let document = Document::load(&path)?;
                let read = Document::text(&path).map_err(|e| self.fault("scenario", e))?;
                let table: Table = read
                    .parse()
                    .map_err(|e: toml::de::Error| self.fault("scenario", e.message().to_owned()))?;
                (text(&table)?, document)
            }
            (Some(other), _) => {
                return Err(self.fault("scenario", format!("found {other}; {SCENARIO}")));
            }
            (None, _) => return Err(self.fault("scenario", format!("is missing; {SCENARIO}"))),
        };
        match self.side {
            Some(side) => Ok(differing(document, side)?),
            None => Ok((base, document)),
        }
    }

    fn points(&self, table: &Table) -> Result<Points, SweepError> {
        let outer = match (table.get("sample"), table.get("points")) {
            (Some(_), Some(_)) => {
                let problem = "stands beside `sample`; accepted: one of the two";
                return Err(self.fault("points", problem.to_owned()));
            }
            (Some(sample), None) => Outer::Sample(self.sample(sample)?),
            (None, Some(points)) => self.points_file(points)?,
            (None, None) => Outer::None,
        };
        let grid = match table.get("grid") {
            None => Vec::new(),
            Some(Value::Table(grid)) => self.grid(grid)?,
            Some(other) => return Err(self.fault("grid", format!("found {other}; {GRID}"))),
        };
        if matches!(outer, Outer::None) && grid.is_empty() && self.side.is_none() {
            // What follows a table's head belongs to the table.
            let inside = table.get("scenario").and_then(Value::as_table);
            let misplaced = inside
                .and_then(|inside| OF_POINTS.into_iter().find(|key| inside.contains_key(*key)));
            if let Some(key) = misplaced {
                let problem = format!("stands in [scenario]; accepted: `{key}` above that line");
                return Err(self.fault(key, problem));
            }
            let problem = format!("nothing varies; {GRID}, or [sample], or points");
            return Err(self.fault("grid", problem));
        }
        Ok(Points { outer, grid })
    }

    fn grid(&self, table: &Table) -> Result<Vec<(String, Vec<String>)>, SweepError> {
        let mut axes = BTreeMap::new();
        flat("", table, &mut axes);
        let axis = |(key, value): (String, &Value)| {
            let place = format!("grid.{key}");
            match value {
                Value::Array(values) => Ok((key, self.list(&place, values)?)),
                other => Err(self.fault(&place, format!("found {other}; {GRID}"))),
            }
        };
        axes.into_iter().map(axis).collect()
    }

    fn sample(&self, value: &Value) -> Result<Sample, SweepError> {
        let Value::Table(table) = value else {
            return Err(self.fault("sample", format!("found {value}; {SAMPLE}")));
        };
        self.known("sample.", table, &["method", "points", "seed", "over"])?;
        let whole = |key: &str, default: Option<u64>| match (table.get(key), default) {
            (Some(Value::Integer(n)), _) if *n >= 0 => Ok(*n as u64),
            (None, Some(default)) => Ok(default),
            (found, _) => {
                let found = found.map_or("is missing".to_owned(), |found| format!("found {found}"));
                Err(self.fault(
                    &format!("sample.{key}"),
                    format!("{found}; accepted: a whole number, such as 1000"),
                ))
            }
        };
        let (points, seed) = (whole("points", None)?, whole("seed", Some(1))?);
        if points == 0 {
            let problem = "found 0; accepted: one point or more".to_owned();
            return Err(self.fault("sample.points", problem));
        }
        let mut over = BTreeMap::new();
        match table.get("over") {
            Some(Value::Table(table)) if !table.is_empty() => flat("", table, &mut over),
            _ => return Err(self.fault("sample.over", format!("is missing or empty; {SAMPLE}"))),
        }
        let values = |(key, value): (String, &Value)| {
            let place = format!("sample.over.{key}");
            Ok((key, self.values(&place, value)?))
        };
        let over = over.into_iter().map(values).collect::<Result<Vec<_>, SweepError>>()?;
        match table.get("method").and_then(Value::as_str) {
            Some("random") => Ok(Sample::random(points, seed, over)),
            Some("latin-hypercube") => match u32::try_from(points) {
                Ok(points) if points <= MOST_STRATA => {
                    Ok(Sample::latin_hypercube(points, seed, over))
                }
                _ => {
                    let problem = format!("found {points}; accepted: up to {MOST_STRATA} points");
                    Err(self.fault("sample.points", problem))
                }
            },
            found => {
                let found = found.unwrap_or("nothing");
                let hint = hint(found, METHODS);
                let problem = format!(
                    "found {found}{hint}; accepted: {}; other samplers, such as Sobol's in \
                     scipy.stats.qmc, write the file of `points`",
                    METHODS.join(", ")
                );
                Err(self.fault("sample.method", problem))
            }
        }
    }

    fn values(&self, place: &str, value: &Value) -> Result<Values, SweepError> {
        if let Value::Array(values) = value {
            return Ok(Values::List(self.list(place, values)?));
        }
        let problem = || self.fault(place, format!("found {value}; {SAMPLE}"));
        let table = value.as_table().ok_or_else(problem)?;
        self.known(&format!("{place}."), table, &["from", "to", "scale"])?;
        let end = |key: &str| table.get(key).and_then(written).ok_or_else(problem);
        let log = match table.get("scale").map(|scale| scale.as_str().unwrap_or("")) {
            None | Some("linear") => false,
            Some("log") => true,
            Some(_) => return Err(problem()),
        };
        let range = Range::read(&end("from")?, &end("to")?, log);
        range.map(Values::Range).map_err(|problem| self.fault(place, problem))
    }

    fn list(&self, place: &str, values: &[Value]) -> Result<Vec<String>, SweepError> {
        let texts: Option<Vec<String>> = values.iter().map(written).collect();
        // Of two equal points the tables could not tell which row is whose.
        let twice = texts.iter().flat_map(|texts| {
            texts.iter().enumerate().find(|(at, text)| texts[..*at].contains(text))
        });
        if let Some((_, text)) = twice.last() {
            let problem = format!("{text} stands there twice; accepted: each value once");
            return Err(self.fault(place, problem));
        }
        texts.filter(|texts| !texts.is_empty()).ok_or_else(|| {
            let found = Value::Array(values.to_vec());
            self.fault(place, format!("found {found}; accepted: a list of texts or numbers"))
        })
    }

    fn points_file(&self, value: &Value) -> Result<Outer, SweepError> {
        let Some(name) = value.as_str() else {
            let problem = format!("found {value}; accepted: the name of a CSV file");
            return Err(self.fault("points", problem));
        };
        Ok(Outer::File(PointsFile::read(&self.folder.join(name))?))
    }

    /// Finds what is wrong with the scenario, the keys and each single value, before anything runs.
    fn check(&self, base: &Document, points: &Points) -> Result<(), SweepError> {
        let scenario = base.scenario()?;
        check_controls(self.on, &scenario, self.unrepeatable)?;
        scenario.plans()?;
        scenario.complete()?;
        let keys = points.keys();
        for (at, key) in keys.iter().enumerate() {
            if keys[..at].contains(key) {
                let problem = "varies twice; accepted: one list or range".to_owned();
                return Err(SweepError::Grid { place: self.stands(key), problem });
            }
            if ["controls", "runs"].contains(&key.as_str()) {
                let problem = "does not vary over points; accepted: its value in `scenario`";
                let problem = problem.to_owned();
                return Err(SweepError::Grid { place: self.stands(key), problem });
            }
        }
        for (key, values) in &points.grid {
            for (at, value) in values.iter().enumerate() {
                let item = self.whole.place(&format!("grid.{key}[{at}]"));
                let stands = |wrong: &str| (wrong == key).then(|| named_so(&item, key));
                let scenario = scenario_at(base, from_ref(key), from_ref(value));
                let scenario = scenario.map_err(|error| error.located(stands))?;
                check_controls(self.on, &scenario, self.unrepeatable)?;
            }
        }
        Ok(())
    }

    fn known(&self, above: &str, table: &Table, accepted: &[&str]) -> Result<(), SweepError> {
        match table.keys().find(|key| !accepted.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let hint = hint(key, accepted.iter().copied());
                let problem = format!("unknown key{hint}; accepted: {}", accepted.join(", "));
                Err(self.fault(&format!("{above}{key}"), problem))
            }
        }
    }

    fn fault(&self, key: &str, problem: String) -> SweepError {
        SweepError::Grid { place: self.whole.place(key), problem }
    }

    /// Where the values of a key are said that varies: in the grid, else in the sample, else by the
    /// name of a file.
    fn stands(&self, key: &str) -> Place {
        let grid = self.whole.place(&format!("grid.{key}"));
        let sample = self.whole.place(&format!("sample.over.{key}"));
        let has_line = |place: &Place| matches!(place, Place::Key { line: Some(_), .. });
        let found = [grid, sample, self.whole.place("points")].into_iter().find(has_line);
        named_so(&found.unwrap_or_else(|| self.whole.place(key)), key)
    }
}

/// The place of a value under the name that the scenario has for it.
fn named_so(place: &Place, key: &str) -> Place {
    match place {
        Place::Key { file, line, .. } => {
            Place::Key { file: file.clone(), line: *line, key: key.to_owned() }
        }
        flag @ Place::Flag(_) => flag.clone(),
    }
}

/// The hash of everything that decides the results.
fn described(on: &str, base: &str, points: &Points) -> String {
    let mut text = format!("{VERSION}\n{base}\n{on}");
    match &points.outer {
        Outer::None => {}
        Outer::Sample(sample) => {
            let (method, points, seed) = (sample.method(), sample.points, sample.seed);
            text.push_str(&format!("{method} {points} {seed} {:?}", sample.over));
        }
        Outer::File(PointsFile { keys, rows, .. }) => text.push_str(&format!("{keys:?} {rows:?}")),
    }
    text.push_str(&format!("\n{:?}", points.grid));
    content_name(text.as_bytes())
}

pub(crate) const KEYS: [&str; 7] =
    ["scenario", "grid", "sample", "points", "side", "table", "unrepeatable"];
pub(crate) const METHODS: [&str; 2] = ["random", "latin-hypercube"];
const SCENARIO: &str =
    "accepted: [scenario] with the keys of a scenario file, or scenario = \"FILE\"";
const GRID: &str = "accepted: [grid] with lists, such as \"path.rate\" = [\"10Mbps\", \"40Mbps\"]";
const SAMPLE: &str = "accepted: [sample] with method, points and [sample.over], such as \
    \"path.rtt\" = { from = \"10ms\", to = \"600ms\", scale = \"log\" } or a list";

/// A permutation of so many takes 40 MB per key.
const MOST_STRATA: u32 = 10_000_000;
