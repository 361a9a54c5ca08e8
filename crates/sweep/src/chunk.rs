//! A chunk of work: some points with all that it takes to run them anywhere.

use firstflight_outside::content_name;
use firstflight_results::Table;
use firstflight_results::table::flows;
use firstflight_runner::{Options, Transport};
use firstflight_scenario::{Document, Scenario, ScenarioError};
use serde::{Deserialize, Serialize};

use crate::points_file::Origin;
use crate::{SweepError, VERSION, transport};

/// Consecutive points of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    schema: String,
    version: String,
    /// The transport, and what runs in its guests; empty for the simulator.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    on: String,
    /// The grid file, for messages.
    file: String,
    /// The scenario as TOML.
    scenario: String,
    /// The keys that vary.
    keys: Vec<String>,
    /// A value for each key.
    points: Vec<Vec<String>>,
    /// Where they stand, if a file of points has them, for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
}

/// What the name of a chunk is the hash of.
#[derive(Serialize)]
struct Content<'a> {
    version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    on: &'a str,
    scenario: &'a str,
    keys: &'a [String],
    points: &'a [Vec<String>],
}

const SCHEMA: &str = "firstflight/chunk@1";

impl Chunk {
    pub(crate) fn new(
        on: &str,
        file: &str,
        base: &str,
        keys: &[String],
        points: Vec<Vec<String>>,
        origin: Option<Origin>,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION.to_owned(),
            on: on.to_owned(),
            file: file.to_owned(),
            scenario: base.to_owned(),
            keys: keys.to_vec(),
            points,
            origin,
        }
    }

    /// The hash of its points, its scenario, its transport and the program's version: 32
    /// hexadecimal digits.
    pub fn name(&self) -> String {
        let Self { version, on, scenario, keys, points, .. } = self;
        let content = Content { version, on, scenario, keys, points };
        // Texts in lists always have a JSON form.
        content_name(&serde_json::to_vec(&content).unwrap_or_default())
    }

    /// The transport, and what runs in its guests.
    pub fn on(&self) -> &str {
        transport::shown(&self.on)
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// As text that [`Chunk::from_json`] reads on another machine.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A chunk from its text.
    ///
    /// # Errors
    /// Text that is no chunk, or a chunk of another version of the program.
    pub fn from_json(text: &str) -> Result<Self, SweepError> {
        let chunk: Self = serde_json::from_str(text)
            .map_err(|error| SweepError::Chunk(format!("{error}; accepted: what a sweep cut")))?;
        if chunk.schema != SCHEMA || chunk.version != VERSION {
            return Err(SweepError::Chunk(format!(
                "found {} of version {}; accepted: {SCHEMA} of version {VERSION}, the same program \
                 everywhere",
                chunk.schema, chunk.version
            )));
        }
        Ok(chunk)
    }

    /// Runs its points one after the other, the simulator's in this thread: the rows in the order
    /// of points, controls, seeds and flows. Of the options `stop` counts.
    ///
    /// # Errors
    /// Another transport than the sweep's; a point that cannot be run, named by its keys and
    /// values; [`SweepError::Interrupted`].
    pub fn run(&self, on: &dyn Transport, options: &Options<'_>) -> Result<Table, SweepError> {
        if transport::named(on)? != self.on {
            let (found, accepted) = (on.name(), self.on());
            let problem = format!("found the transport {found}; accepted: its sweep's, {accepted}");
            return Err(SweepError::Chunk(problem));
        }
        let base = Document::parse(&self.scenario, &self.file)?;
        let options = Options { serial: true, stop: options.stop, ..Options::default() };
        let mut rows: Option<Table> = None;
        for (at, values) in self.points.iter().enumerate() {
            let table = self.row(&base, (at, values), on, &options)?;
            match &mut rows {
                None => rows = Some(table),
                Some(rows) => rows.append(table)?,
            }
        }
        rows.ok_or_else(|| SweepError::Chunk("it has no points".to_owned()))
    }

    fn row(
        &self,
        base: &Document,
        (at, values): (usize, &[String]),
        on: &dyn Transport,
        options: &Options<'_>,
    ) -> Result<Table, SweepError> {
        let stands = |key: &str| {
            let number = self.keys.iter().position(|known| known == key)?;
            self.origin.as_ref()?.place(at, number, key)
        };
        let wrong = |error| SweepError::at(named(&self.keys, values), error, stands);
        let scenario = scenario_at(base, &self.keys, values);
        let scenario = scenario.map_err(|error| wrong(error.into()))?;
        let report = on.run(&scenario, options).map_err(wrong)?;
        if report.interrupted {
            return Err(SweepError::Interrupted);
        }
        Ok(flows::table(&report.scenario.factors(), report.runs.iter().map(|run| &run.result))?)
    }
}

/// The scenario with values at keys.
pub(crate) fn scenario_at(
    base: &Document,
    keys: &[String],
    values: &[String],
) -> Result<Scenario, ScenarioError> {
    let mut document = base.clone();
    for (key, value) in keys.iter().zip(values) {
        document.set(key, value)?;
    }
    document.scenario()
}

/// A point in words: `path.rate = 10Mbps, path.rtt = 100ms`.
pub(crate) fn named(keys: &[String], values: &[String]) -> String {
    let pairs = keys.iter().zip(values).map(|(key, value)| format!("{key} = {value}"));
    pairs.collect::<Vec<_>>().join(", ")
}
