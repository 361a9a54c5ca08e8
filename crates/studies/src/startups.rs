//! `docs/startups.md`: every start-up explained, drawn, and measured over a grid of paths, and all
//! numbers as CSV; and Scout's tables. The start-ups, and what is said of them, are those of the
//! cards.

mod grid;
mod page;
mod picture;
mod scout;
mod summary;

use std::error::Error;
use std::fs;
use std::path::Path;

use firstflight_report::write_file;
use firstflight_runner::{Options, Run, Simulator, Transport as _};
use firstflight_scenario::Scenario;

use crate::Stop;
use crate::step;

/// Write docs/startups.md, its pictures, target/startups.csv and papers/scout/tables.md (minutes)
#[derive(Debug, clap::Parser)]
#[command(name = "startups", no_binary_name = true)]
struct Args {
    /// What is of Scout alone
    #[arg(long)]
    scout: bool,
    /// Run paths that papers/scout/linux.csv has not got over a kernel in virtual time (qemu; an
    /// hour)
    #[arg(long, requires = "scout")]
    linux: bool,
}

/// Writes the page, pictures and numbers, or with `--scout` those of Scout alone. The
/// simulator is optimised in every profile, so that what the tests have built serves.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let asked: Args = crate::options(args)?;
    if asked.linux {
        scout::measure_on_linux(root)?;
    }
    if !asked.scout {
        survey(root).map_err(|problem| failed(&*problem))?;
    }
    write_scout(root).map_err(|problem| failed(&*problem))?;
    println!("startups: written");
    Ok(())
}

fn survey(root: &Path) -> Result<(), Box<dyn Error>> {
    let pictures = root.join(PICTURES);
    if pictures.is_dir() {
        // Nothing is to stay of a start-up that was renamed.
        fs::remove_dir_all(&pictures)?;
    }
    fs::create_dir_all(&pictures)?;
    let runs = grid::measure()?;
    write_file(&step::target(root).join(CSV), grid::csv(&runs))?;
    let summaries = summary::of(&runs);
    draw(root, picture::maps(&summaries).into_iter().chain(picture::windows()?))?;
    write_file(&root.join(PAGE), page::markdown(&summaries))?;
    Ok(())
}

fn write_scout(root: &Path) -> Result<(), Box<dyn Error>> {
    draw(root, scout::pictures()?.into_iter())?;
    scout::write(root)
}

fn draw(root: &Path, svgs: impl Iterator<Item = (String, String)>) -> Result<(), Box<dyn Error>> {
    for (name, svg) in svgs {
        write_file(&root.join(PICTURES).join(format!("{name}.svg")), &svg)?;
    }
    Ok(())
}

/// The runs of a scenario file.
fn runs(text: &str, on: Simulator, samples: Option<u32>) -> Result<Vec<Run>, String> {
    let scenario = Scenario::parse(text, "startups.toml").map_err(|problem| problem.to_string())?;
    let report = on.run(&scenario, &Options { samples, ..Options::default() });
    Ok(report.map_err(|problem| problem.to_string())?.runs)
}

fn failed(problem: &dyn Error) -> Stop {
    Stop::failed(&format!("startups: {problem}"))
}

const PAGE: &str = "docs/startups.md";
const PICTURES: &str = "docs/img/startups";
/// In the folder of what is built.
const CSV: &str = "startups.csv";
