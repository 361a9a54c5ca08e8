//! The fuzz targets of `crates/fuzz` under libFuzzer, by cargo-fuzz. No sanitizer of addresses,
//! which would take a nightly compiler; there is no unsafe code here.

use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::value_parser;

use crate::Stop;
use crate::step::{cargo, has_tools, run, target, unable};

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long each target runs
    #[arg(long, default_value = "20", value_parser = value_parser!(u32).range(1..))]
    seconds: u32,
    /// Begins the engine's random numbers. What it tries depends on time and on the order of hash
    /// maps too: only the tests of crates/fuzz try equal bytes everywhere
    #[arg(long, default_value = "1", value_parser = value_parser!(u32).range(1..))]
    seed: u32,
    /// One target alone
    #[arg(long, value_name = "TARGET", value_parser = PossibleValuesParser::new(TARGETS))]
    only: Option<String>,
    /// Builds the targets and runs none
    #[arg(long)]
    build: bool,
}

/// Builds the targets and runs each for the time asked for.
pub(crate) fn fuzz(root: &Path, options: &Options) -> Result<(), Stop> {
    has_tools("fuzz", &["cargo-fuzz", "c++"], "g++, and cargo install --locked cargo-fuzz")?;
    let only = options.only.as_deref();
    let of_cargo = |word: &str, target: Option<&str>| {
        let mut fuzz = cargo(root, &["fuzz", word, "--fuzz-dir", "crates/fuzz"]);
        fuzz.args(["--sanitizer", "none", "--features", "engine", "--target-dir"]);
        fuzz.arg(folder(root)).args(target.map(|name| format!("fuzz-{name}")));
        fuzz
    };
    // All in one go, which takes both processors.
    run("build the targets", &mut of_cargo("build", only))?;
    let seeds = root.join("crates/fuzz/seeds");
    let asked_for = |name: &&str| !options.build && only.is_none_or(|only| only == *name);
    for name in TARGETS.into_iter().filter(asked_for) {
        let found = folder(root).join("found").join(name);
        fs::create_dir_all(&found).map_err(|error| unable("fuzz", &error))?;
        let mut fuzz = of_cargo("run", Some(name));
        fuzz.arg(found).arg(seeds.join(name)).arg("--");
        let words = seeds.join(format!("{name}.dict"));
        fuzz.args(words.exists().then(|| format!("-dict={}", words.display())));
        fuzz.arg(format!("-max_total_time={}", options.seconds));
        fuzz.arg(format!("-seed={}", options.seed)).args(BUDGET);
        run(&format!("{name} for {} s", options.seconds), &mut fuzz)?;
    }
    Ok(())
}

/// Where cargo-fuzz builds, and where it keeps what it finds.
fn folder(root: &Path) -> PathBuf {
    target(root).join("fuzz")
}

/// What an input may take before it counts as a failure: seconds, MB of memory, with what the
/// engine itself takes and all it has found, and its bytes.
const BUDGET: [&str; 4] = ["-timeout=10", "-rss_limit_mb=512", "-max_len=8192", "-verbosity=0"];

/// The names of the targets in `crates/fuzz`.
const TARGETS: [&str; 5] = ["adapter", "c", "scenario", "qlog", "record"];
