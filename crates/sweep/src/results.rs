//! The results of a sweep's sides, by side, control and point.

use std::collections::{BTreeMap, HashMap};

use firstflight_results::measures::{Over, named};
use firstflight_results::statistics::mean_and_error;
use firstflight_results::table::flows;
use firstflight_results::{Table, Values};

use crate::{Store, Sweep, SweepError};

/// What was measured on all sides.
pub(crate) struct Results {
    sides: Vec<SideResults>,
}

/// What was measured on one of them.
pub(crate) struct SideResults {
    name: String,
    title: String,
    controls: Vec<String>,
    /// The replicas of every point.
    runs: u64,
    keys: Vec<String>,
    /// The values of every point, in the order of the keys.
    points: Vec<Vec<String>>,
    /// The hash of every point.
    hashes: Vec<String>,
    rows: Table,
    /// The rows of a point and a control.
    at: HashMap<(String, String), Vec<usize>>,
}

/// A value of the results.
pub(crate) enum Found {
    Number(f64),
    Text(String),
}

impl SideResults {
    /// Reads the merged table of a sweep.
    pub(crate) fn read(
        (name, title): (&str, &str),
        sweep: &Sweep,
        store: &Store,
    ) -> Result<Self, SweepError> {
        let base = sweep.document()?;
        let hash = |number| Ok(sweep.complete(&base, number)?.point());
        let mut rows = Table::empty(flows::columns());
        let path = store.dir().join(format!("flows.{}", store.format().name()));
        store.format().read(&path, |more| Ok(rows.append(more)?))?;
        let scenario = sweep.scenario()?;
        let controls = scenario.controls.into_iter().map(|spec| spec.text);
        let mut side = Self {
            name: name.to_owned(),
            title: title.to_owned(),
            controls: controls.collect(),
            runs: scenario.runs.unwrap_or(1),
            keys: sweep.keys().to_vec(),
            points: (0..sweep.points()).map(|number| sweep.values(number)).collect(),
            hashes: (0..sweep.points()).map(hash).collect::<Result<_, SweepError>>()?,
            rows,
            at: HashMap::new(),
        };
        // A run's alias names all controls of its flows; runs stand in the order of the controls.
        let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
        for row in 0..side.rows.len() {
            let key = (side.text("point", row), side.text("alias", row));
            let (Some(point), Some(alias)) = key else { continue };
            let known = aliases.entry(point.clone()).or_default();
            let at = known.iter().position(|own| *own == alias).unwrap_or_else(|| {
                known.push(alias);
                known.len() - 1
            });
            let Some(control) = side.controls.get(at) else { continue };
            side.at.entry((point, control.clone())).or_default().push(row);
        }
        Ok(side)
    }

    fn key(&self, point: u64, key: &str) -> Option<&str> {
        let at = self.keys.iter().position(|known| known == key)?;
        Some(&self.points.get(usize::try_from(point).ok()?)?[at])
    }

    fn text(&self, column: &str, row: usize) -> Option<String> {
        match self.rows.column(column)? {
            Values::Text(values) => values[row].clone(),
            _ => None,
        }
    }

    fn number(&self, column: &str, row: usize) -> Option<f64> {
        match self.rows.column(column)? {
            Values::Number(values) => values[row],
            Values::Count(values) => values[row].map(|count| count as f64),
            Values::Flag(values) => values[row].map(f64::from),
            Values::Text(_) => None,
        }
    }

    /// A measure of the flows of a run as its declaration says, and of several seeds the mean.
    fn over(&self, rows: &[usize], column: &str) -> Option<f64> {
        let mut runs: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in rows {
            let seed = self.number("seed", *row)? as u64;
            runs.entry(seed).or_default().push(self.number(column, *row)?);
        }
        let over = named(column).map_or(Over::Mean, |measure| measure.over);
        let of_runs: Option<Vec<f64>> = runs.values().map(|values| over.one(values)).collect();
        mean_and_error(&of_runs?).0
    }
}

impl Results {
    pub(crate) fn new(sides: Vec<SideResults>) -> Self {
        Self { sides }
    }

    pub(crate) fn sides(&self) -> impl Iterator<Item = &str> {
        self.sides.iter().map(|side| side.name.as_str())
    }

    fn side(&self, name: &str) -> Option<&SideResults> {
        self.sides.iter().find(|side| side.name == name)
    }

    /// What people call a side.
    pub(crate) fn title(&self, side: &str) -> &str {
        self.side(side).map_or("", |side| &side.title)
    }

    /// The controls of a side, as they were named.
    pub(crate) fn controls(&self, side: &str) -> &[String] {
        self.side(side).map_or(&[], |side| &side.controls)
    }

    /// How many points a side has.
    pub(crate) fn points(&self, side: &str) -> u64 {
        self.side(side).map_or(0, |side| side.points.len() as u64)
    }

    /// The value of a key that varies on a side, at a point.
    pub(crate) fn key(&self, side: &str, point: u64, key: &str) -> Option<&str> {
        self.side(side)?.key(point, key)
    }

    /// What was measured of a control on a side at a point: a column of the table of flows, of all
    /// flows or, as in `flow[1].size_bytes`, of one.
    pub(crate) fn measured(
        &self,
        (side, control): (&str, &str),
        point: u64,
        column: &str,
    ) -> Option<Found> {
        let side = self.side(side)?;
        let hash = side.hashes.get(usize::try_from(point).ok()?)?;
        let all = side.at.get(&(hash.clone(), control.to_owned()))?;
        let flow = column.strip_prefix("flow[").and_then(|rest| rest.split_once("]."));
        let (flow, column) = flow.map_or((None, column), |(flow, column)| (Some(flow), column));
        let flow: Option<f64> = flow.map(str::parse).transpose().ok()?;
        // Points that differ in the seed alone have one hash.
        let first: Option<u64> = side.key(point, "seed").and_then(|seed| seed.parse().ok());
        let seeds = first.map(|first| first as f64..(first + side.runs) as f64);
        let is_of = |row: &usize| {
            let (of, seed) = (side.number("flow", *row), side.number("seed", *row));
            let is_own = seeds.as_ref().is_none_or(|own| seed.is_some_and(|it| own.contains(&it)));
            is_own && (flow.is_none() || of == flow)
        };
        let rows: Vec<usize> = all.iter().copied().filter(is_of).collect();
        let number = side.over(&rows, column).map(Found::Number);
        number.or_else(|| side.text(column, *rows.first()?).map(Found::Text))
    }
}
