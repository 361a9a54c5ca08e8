//! `docs/startups.md`: every start-up explained, drawn, and measured over a grid of paths; and
//! `docs/scout.md`.

use std::fs;
use std::path::Path;

use crate::step::{self, cargo};
use crate::{Stop, no_arguments};

/// Writes the page, its pictures and its numbers. The simulator is optimised in every profile, so
/// that what the tests have built serves.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    no_arguments("startups", args)?;
    let pictures = root.join(PICTURES);
    if pictures.is_dir() {
        // Nothing is to stay of a start-up that was renamed.
        fs::remove_dir_all(&pictures).map_err(|error| step::unable(PICTURES, &error))?;
    }
    fs::create_dir_all(&pictures).map_err(|error| step::unable(PICTURES, &error))?;
    let words = ["run", "--quiet", "--package", "firstflight-survey", "--", "docs"];
    step::run("startups", &mut cargo(root, &words))?;
    println!(
        "startups: docs/startups.md, docs/startups.csv, docs/scout.md and {PICTURES} are written"
    );
    Ok(())
}

const PICTURES: &str = "docs/img/startups";
