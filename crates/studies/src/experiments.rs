//! Pages whose tables are experiments of `validation/`: grid files that any user could have written
//! and `firstflight sweep` runs too. What was measured is kept, and measured again with `--again`.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firstflight_runner::{RunError, Transport};
use firstflight_sweep::{Experiment, Format, Shard, Store, run as sweep};
use firstflight_transports::{On, SIM};

use crate::Stop;
use crate::runs::of_guests;
use crate::step::{self, announce};
use crate::tables::write_between;

/// A document, and the experiments whose tables stand between its marks.
struct Page {
    task: &'static str,
    document: &'static str,
    experiments: &'static [&'static str],
}

/// `cargo xtask stacks`: the controls of other stacks beside ours on the same paths.
pub(crate) fn stacks(root: &Path, args: &[String]) -> Result<(), Stop> {
    STACKS.write(root, args)
}

/// `cargo xtask quic`: quinn's own controls and ours over quinn.
pub(crate) fn quic(root: &Path, args: &[String]) -> Result<(), Stop> {
    QUIC.write(root, args)
}

impl Page {
    /// Measures what is not kept, and writes the tables between the marks of the document.
    fn write(&self, root: &Path, args: &[String]) -> Result<(), Stop> {
        let folder = step::target(root).join(self.task);
        match args {
            [] => {}
            // There may be nothing.
            [again] if again == "--again" => drop(fs::remove_dir_all(&folder)),
            [other, ..] => {
                let task = self.task;
                return Err(Stop::usage(&format!("{task}: found `{other}`; accepted: --again")));
            }
        }
        let mut text = String::new();
        for file in self.experiments {
            announce(file);
            let name = Path::new(file).file_stem().unwrap_or_default();
            text += &tables(root, file, &folder.join(name))?;
        }
        let begin = format!("<!-- measured: cargo xtask {} -->", self.task);
        write_between(root, self.document, (&begin, END), text.trim_end())?;
        println!("{}: the tables of {} are written", self.task, self.document);
        Ok(())
    }
}

/// Runs what is not kept of an experiment; its tables.
fn tables(root: &Path, file: &str, folder: &Path) -> Result<String, Stop> {
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

/// What these words say; in a guest runs the command as it is built for tests.
fn transport(root: &Path, words: &str) -> Result<Arc<dyn Transport>, Box<RunError>> {
    let on = On::read(words)?;
    let Some(guests) = on.guests() else { return Ok(on.transport()?) };
    let program = of_guests(root, "firstflight-out/stacks");
    let program = program.map_err(|stop| Box::new(RunError::Lacks(stop.message)))?;
    Ok(Arc::new(guests.inside(&program)))
}

const STACKS: Page = Page {
    task: "stacks",
    document: "docs/stacks.md",
    experiments: &["validation/stacks/own-controls.toml", "validation/stacks/late.toml"],
};

const QUIC: Page = Page {
    task: "quic",
    document: "scenarios/quic/README.md",
    experiments: &[
        "validation/quinn/completion.toml",
        "validation/quinn/paths.toml",
        "validation/quinn/complaints.toml",
        "validation/quinn/agreement.toml",
    ],
};

const END: &str = "<!-- end of what is measured -->";

#[cfg(test)]
mod tests {
    use firstflight_quic_sim::QUIC as QUINN;

    use super::*;

    /// One that boots a kernel is read up to its controls, which the simulator does not know.
    #[test]
    fn every_experiment_is_understood() {
        let usual: Arc<dyn Transport> = Arc::new(SIM);
        let on = |words: &str| match words {
            "quic" => Ok(Arc::new(QUINN) as Arc<dyn Transport>),
            _ => Ok(Arc::clone(&usual)),
        };
        for file in [&QUIC, &STACKS].iter().flat_map(|page| page.experiments) {
            let read = Experiment::load(&xtask::root().join(file), &usual, &on);
            let problem = read.err().map_or(String::new(), |error| error.to_string());
            assert!(problem.is_empty() || problem.contains("linux-cubic"), "{file}: {problem}");
        }
    }
}
