//! `recv` with many clients, half of them hostile.

use std::fs;
use std::path::Path;
use std::process::Command;

use clap::value_parser;

use crate::Stop;
use crate::step::{self, announce, unable};

#[derive(clap::Args)]
pub(super) struct Options {
    #[arg(long, default_value = "200", value_parser = value_parser!(u32).range(2..=MOST_CLIENTS))]
    clients: u32,
    #[arg(long, default_value = "300", value_parser = value_parser!(u32).range(1..))]
    seconds: u32,
    /// Takes the programs as the tests build them
    #[arg(long)]
    dev: bool,
}

/// Runs it and tells how it went.
pub(super) fn run(root: &Path, options: &Options) -> Result<(), Stop> {
    let Options { clients, seconds, dev } = *options;
    let profile = if dev { "dev" } else { "release" };
    let build =
        |words: &[&str]| step::built(root, &[&["build", "--profile", profile][..], words].concat());
    let recv = build(&["--bin", "firstflight"])?;
    let soak = build(&["--example", "hostile-soak"])?;
    let place = root.join("target/soak-recv");
    // Of an earlier run; there may be none.
    let _ = fs::remove_dir_all(&place);
    announce(&format!("soak recv: {clients} clients, half of them hostile, {seconds} s"));
    let status = Command::new(soak)
        .args([recv, place.clone()])
        .args([clients, seconds].map(|number| number.to_string()))
        .status()
        .map_err(|error| unable("the soak", &error))?;
    if !status.success() {
        return Err(Stop::failed("soak recv: failed"));
    }
    let _ = fs::remove_dir_all(&place);
    println!("soak recv: memory was bounded, every honest transfer whole");
    Ok(())
}

/// What one machine has descriptors for.
const MOST_CLIENTS: i64 = 400;
