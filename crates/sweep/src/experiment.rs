//! A grid file whose points run on several sides: transports, and what differs between them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use firstflight_runner::{RunError, Transport};
use firstflight_scenario::Document;
use serde::Deserialize;

use crate::layout::Layout;
use crate::results::{Results, SideResults};
use crate::{Format, Shard, Store, Sweep, SweepError};

/// A grid file with its sides, each a sweep over the same points, and the tables that it lays out.
#[derive(Clone, Debug)]
pub struct Experiment {
    sides: Vec<Side>,
    tables: Vec<Layout>,
}

/// A sweep of its own in the folder of its name; the only one has no name.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// What tables call it.
    title: String,
    /// What runs there.
    pub sweep: Sweep,
}

impl Side {
    /// Its folder within the experiment's.
    pub fn folder(&self, of: &Path) -> PathBuf {
        if self.name.is_empty() { of.to_owned() } else { of.join(&self.name) }
    }
}

/// Makes a transport of the words of `--on` and its flags.
pub type Choose<'a> = dyn Fn(&str) -> Result<Arc<dyn Transport>, Box<RunError>> + 'a;

/// What a grid file says of sides and tables.
#[derive(Deserialize)]
struct Parts {
    #[serde(default)]
    side: Vec<SidePart>,
    #[serde(default)]
    table: Vec<Layout>,
}

#[derive(Deserialize)]
struct SidePart {
    name: String,
    title: Option<String>,
    /// The words of `--on` and its flags.
    on: Option<String>,
    /// Keys of the scenario that differ here.
    #[serde(flatten)]
    keys: toml::Table,
}

impl Experiment {
    /// Reads a grid file; `on` makes a transport of the words of a side, `usual` runs those without
    /// one.
    ///
    /// # Errors
    /// As [`Sweep::load`]; a side or a table that is not understood.
    pub fn load(
        path: &Path,
        usual: &Arc<dyn Transport>,
        on: &Choose<'_>,
    ) -> Result<Self, SweepError> {
        let file = path.display().to_string();
        let text = Document::text(path)
            .map_err(|problem| SweepError::Unreadable { file: file.clone(), problem })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let alone = || Sweep::parse(&text, &file, folder, Arc::clone(usual));
        if text.parse::<toml::Table>().is_err() {
            // The sweep's reader says where it is no TOML.
            alone()?;
        }
        let Parts { side, table } = toml::from_str(&text).map_err(|error| {
            SweepError::Unreadable { file: file.clone(), problem: error.to_string() }
        })?;
        if side.is_empty() {
            let sweep = alone()?;
            let side = Side { name: String::new(), title: String::new(), sweep };
            return Ok(Self { sides: vec![side], tables: table });
        }
        let sides = side.into_iter().map(|side| {
            let transport = match &side.on {
                Some(words) => on(words).map_err(|error| *error)?,
                None => Arc::clone(usual),
            };
            let sweep = Sweep::of_side(&text, &file, folder, transport, Some(&side.keys))?;
            Ok(Side {
                title: side.title.unwrap_or_else(|| side.name.clone()),
                name: side.name,
                sweep,
            })
        });
        Ok(Self { sides: sides.collect::<Result<_, SweepError>>()?, tables: table })
    }

    /// Its sides, in the order of the file.
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// Its tables as Markdown, those of a layout together with its name, out of what the sides have
    /// measured and merged below `folder`; nothing where it lays out none.
    ///
    /// # Errors
    /// A side that is not merged.
    pub fn tables(
        &self,
        folder: &Path,
        format: Format,
    ) -> Result<Vec<(String, String)>, SweepError> {
        if self.tables.is_empty() {
            return Ok(Vec::new());
        }
        let read = |side: &Side| {
            let store = Store::open(&side.folder(folder), &side.sweep, format, Shard::WHOLE)?;
            SideResults::read((&side.name, &side.title), &side.sweep, &store)
        };
        let results = Results::new(self.sides.iter().map(read).collect::<Result<_, _>>()?);
        let tables = self.tables.iter();
        Ok(tables.map(|layout| (layout.name.clone(), layout.tables(&results))).collect())
    }
}
