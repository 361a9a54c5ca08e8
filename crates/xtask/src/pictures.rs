//! The pictures of the README, one comparison under the papers' conditions and under today's, and
//! those of `docs/paths.md`, of scenarios.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Stop;
use crate::step::{self, target};

/// Draws them anew with the release build of the command.
pub(crate) fn run(root: &Path) -> Result<(), Stop> {
    let program = step::release(root, &[])?;
    let compared = PICTURES.iter().map(|(name, conditions)| {
        ((*name).to_owned(), CONTROLS.iter().chain(*conditions).map(ToString::to_string).collect())
    });
    let paths = PATHS.iter().map(|name| {
        let scenario = format!("scenarios/{name}.toml");
        (format!("paths/{name}"), vec!["run".to_owned(), scenario, WIDTH.to_owned()])
    });
    for (name, words) in compared.chain(paths) {
        draw(root, &program, &name, &words)?;
    }
    Ok(())
}

/// Has the command draw what happens over time, and copies it to `docs/img`.
fn draw(root: &Path, program: &Path, name: &str, words: &[String]) -> Result<(), Stop> {
    let out = target(root).join("pictures").join(name);
    step::output(
        "pictures",
        Command::new(program).current_dir(root).args(words).arg("--out").arg(&out),
    )?;
    let drawn = out.join("figures/over-time.svg");
    let place = root.join("docs/img").join(name).with_extension("svg");
    fs::copy(&drawn, &place).map_err(|error| step::unable(name, &error))?;
    println!("docs/img/{name}.svg");
    Ok(())
}

/// The arguments of both. At this width the two pictures fill a page side by side.
const CONTROLS: [&str; 10] = [
    "compare",
    "newreno",
    "hystart",
    "hoe",
    "vegas",
    "astart",
    "--buffer",
    "125pkt",
    "--figure-width",
    "440px",
];

const PICTURES: [(&str, &[&str]); 2] =
    [("compare-papers", &["--profile", "rfc"]), ("compare", &[])];

/// The scenarios in `docs/paths.md`.
const PATHS: [&str; 5] = ["cell-trace", "longer-path", "slow-way-back", "writes", "late-window"];

const WIDTH: &str = "--figure-width=120mm";
