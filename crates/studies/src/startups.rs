//! `docs/startups.md`: every start-up explained, drawn, and measured over a grid of paths; and the
//! pictures of `docs/scout.md`. What is said of a start-up is its card's.

mod grid;
mod page;
mod picture;
mod scout;
mod summary;

use std::error::Error;
use std::fs;
use std::path::Path;

use firstflight_report::write_file;
use firstflight_results::Series;
use firstflight_runner::{Options, Run, Simulator, Transport as _};
use firstflight_scenario::Scenario;

use crate::Stop;
use crate::tables::write_parts;

/// Writes the page, its pictures, and Scout's. The simulator is optimised in every
/// profile, so that what the tests have built serves.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    xtask::no_arguments("startups", args)?;
    survey(root).map_err(|problem| Stop::failed(&format!("startups: {problem}")))
}

fn survey(root: &Path) -> Result<(), Box<dyn Error>> {
    let pictures = root.join(PICTURES);
    if pictures.is_dir() {
        // Nothing is to stay of a start-up that was renamed.
        fs::remove_dir_all(&pictures)?;
    }
    fs::create_dir_all(&pictures)?;
    let runs = grid::measure()?;
    let summaries = summary::of(&runs);
    draw(root, picture::maps(&summaries)?.into_iter().chain(picture::windows()?))?;
    draw(root, scout::pictures()?.into_iter())?;
    write_parts(root, PAGE, "startups", &page::parts(&summaries)).map_err(|stop| stop.message)?;
    Ok(())
}

fn draw(root: &Path, svgs: impl Iterator<Item = (String, String)>) -> Result<(), Box<dyn Error>> {
    for (name, svg) in svgs {
        write_file(&root.join(PICTURES).join(format!("{name}.svg")), &svg)?;
    }
    Ok(())
}

/// The runs of a scenario file, with so many samples.
fn runs(text: &str, samples: u32) -> Result<Vec<Run>, String> {
    let scenario = Scenario::parse(text, "startups.toml").map_err(|problem| problem.to_string())?;
    let options = Options { samples: Some(samples), ..Options::default() };
    let report = Simulator::TCP.run(&scenario, &options);
    Ok(report.map_err(|problem| problem.to_string())?.runs)
}

/// A column over time.
fn column(series: Option<&Series>, name: &str) -> Vec<(f64, f64)> {
    let Some((time, values)) = series.and_then(|it| it.column("time_s").zip(it.column(name)))
    else {
        return Vec::new();
    };
    let value = |value: Option<f64>| value.unwrap_or(f64::NAN);
    time.map(value).zip(values.map(value)).collect()
}

const PAGE: &str = "docs/startups.md";
const PICTURES: &str = "docs/img/startups";
