//! The fuzz targets of `crates/fuzz` under libFuzzer, by cargo-fuzz. No sanitizer of addresses,
//! which would take a nightly compiler; there is no unsafe code here.

use std::fs;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::value_parser;

use crate::Stop;
use crate::step::{cargo, has_tools, run, target, unable};

/// What may be asked for.
#[derive(clap::Args)]
pub(crate) struct Asked {
    /// How long each target runs
    #[arg(long, default_value = "20", value_parser = value_parser!(u32).range(1..))]
    seconds: u32,
    /// Equal seeds try equal bytes, as long as time lasts
    #[arg(long, default_value = "1", value_parser = value_parser!(u32).range(1..))]
    seed: u32,
    /// One target alone
    #[arg(long, value_name = "TARGET", value_parser = PossibleValuesParser::new(TARGETS))]
    only: Option<String>,
}

/// Builds the targets and runs each for the time asked for.
pub(crate) fn fuzz(root: &Path, asked: &Asked) -> Result<(), Stop> {
    has_tools("fuzz", &["cargo-fuzz", "c++"], "g++, and cargo install --locked cargo-fuzz")?;
    let folder = target(root).join("fuzz");
    let seeds = root.join("crates/fuzz/seeds");
    for name in TARGETS {
        if asked.only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let found = folder.join("found").join(name);
        fs::create_dir_all(&found).map_err(|error| unable("fuzz", &error))?;
        let mut fuzz = cargo(root, &["fuzz", "run", "--fuzz-dir", "crates/fuzz"]);
        fuzz.args(["--sanitizer", "none", "--features", "engine", "--target-dir"]).arg(&folder);
        fuzz.arg(format!("fuzz-{name}")).arg(found).arg(seeds.join(name)).arg("--");
        let words = seeds.join(format!("{name}.dict"));
        fuzz.args(words.exists().then(|| format!("-dict={}", words.display())));
        fuzz.arg(format!("-max_total_time={}", asked.seconds));
        fuzz.arg(format!("-seed={}", asked.seed)).args(BUDGET);
        run(&format!("{name} for {} s", asked.seconds), &mut fuzz)?;
    }
    Ok(())
}

/// What an input may take before it counts as a failure: seconds, MB of memory, with what the
/// engine itself takes and all it has found, and its bytes.
const BUDGET: [&str; 4] = ["-timeout=10", "-rss_limit_mb=512", "-max_len=8192", "-verbosity=0"];

/// The names of the targets in `crates/fuzz`.
const TARGETS: [&str; 5] = ["adapter", "c", "scenario", "qlog", "record"];
