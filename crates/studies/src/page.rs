//! Pages whose tables are those of grid files, which any user could have written and `firstflight
//! sweep` runs too. What was measured is kept, and measured again with `--again`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firstflight_report::write_file;
use firstflight_runner::{RunError, Transport};
use firstflight_sweep::{Experiment, Format, Shard, Store, grid_files, into_page, run as sweep};
use firstflight_transports::{On, SIM};

use crate::Stop;
use crate::runs::of_guests;
use crate::step::{self, announce, unable};

/// Measure what the grid files ask for whose tables a page shows, and write the tables into it
#[derive(Debug, clap::Parser)]
#[command(name = "page", no_binary_name = true)]
struct Args {
    /// The pages, from the repository's root
    #[arg(required = true)]
    pages: Vec<PathBuf>,
    /// Grid files whose names have this word alone
    #[arg(long, default_value = "")]
    only: String,
    /// Measure again what is kept in the folder `target`
    #[arg(long)]
    again: bool,
}

/// `cargo xtask page docs/stacks.md`.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let asked: Args = crate::options(args)?;
    for page in &asked.pages {
        let (name, place) = (page.display().to_string(), root.join(page));
        let mut text = fs::read_to_string(&place).map_err(|error| unable(&name, &error))?;
        let files: Vec<String> = grid_files(&text).into_iter().map(str::to_owned).collect();
        for file in files.iter().filter(|file| file.contains(&asked.only)) {
            announce(file);
            let folder = step::target(root).join("page").join(file).with_extension("");
            if asked.again {
                // There may be nothing.
                let _ = fs::remove_dir_all(&folder);
            }
            let tables = tables(root, file, &folder)?;
            let with_tables = into_page(&text, file.as_ref(), &tables);
            text = with_tables
                .ok_or_else(|| Stop::failed(&format!("{name}: a place of {file} has no end")))?;
        }
        write_file(&place, &text).map_err(|error| Stop::failed(&error.to_string()))?;
        println!("page: the tables of {name} are written");
    }
    Ok(())
}

/// Runs the points of a grid file whose results are not kept yet, and returns its tables.
fn tables(root: &Path, file: &str, folder: &Path) -> Result<Vec<(String, String)>, Stop> {
    let failed = |error: &dyn std::fmt::Display| Stop::failed(&format!("{file}: {error}"));
    let usual: Arc<dyn Transport> = Arc::new(SIM);
    let on = |words: &str| transport(root, words);
    let experiment = Experiment::load(&root.join(file), &usual, &on).map_err(|it| failed(&it))?;
    for side in experiment.sides() {
        let never = AtomicBool::new(false);
        let store = Store::open(&side.folder(folder), &side.sweep, Format::Csv, Shard::WHOLE);
        let store = store.map_err(|error| failed(&error))?;
        let done = sweep(&side.sweep, &store, Shard::WHOLE, &never, &|_, _| {});
        done.map_err(|error| failed(&error))?;
        store.merge(&side.sweep).map_err(|error| failed(&error))?;
    }
    experiment.tables(folder, Format::Csv).map_err(|error| failed(&error))
}

/// The transport that `--on` calls so. A guest runs the command as it is built for tests.
fn transport(root: &Path, words: &str) -> Result<Arc<dyn Transport>, Box<RunError>> {
    let on = On::read(words)?;
    let Some(guests) = on.guests() else { return Ok(on.transport()?) };
    let program = of_guests(root, "firstflight-out/page");
    let program = program.map_err(|stop| Box::new(RunError::Lacks(stop.message)))?;
    Ok(Arc::new(guests.inside(&program)))
}

#[cfg(test)]
mod tests;
