//! The pictures of the README: one comparison under the papers' conditions and under today's.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::step::{self, target};
use crate::{Stop, no_arguments};

/// Draws them anew with the release build of the command.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    no_arguments("pictures", args)?;
    let program = step::release(root, &[])?;
    for (name, conditions) in PICTURES {
        let out = target(root).join("pictures").join(name);
        let mut compare = Command::new(&program);
        compare.args(CONTROLS).args(conditions).arg("--out").arg(&out);
        step::output("pictures", &mut compare)?;
        let drawn = out.join("figures/over-time.svg");
        let place = root.join("docs/img").join(name).with_extension("svg");
        fs::copy(&drawn, &place).map_err(|error| step::unable(name, &error))?;
        println!("docs/img/{name}.svg");
    }
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
