//! `recv` with many clients, half of them hostile.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Stop;
use crate::step::{self, announce, unable};

/// Runs it and tells how it went.
pub(super) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let (mut clients, mut seconds, mut profile) = (200, 300, "release");
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if arg == "--dev" {
            profile = "dev";
            continue;
        }
        let value = args.next().unwrap_or_default();
        let number = value.parse().ok().filter(|number| *number > 0);
        match (arg, number) {
            ("--clients", Some(number)) if (2..=MOST_CLIENTS).contains(&number) => clients = number,
            ("--seconds", Some(number)) => seconds = number,
            _ => {
                return Err(Stop::usage(&format!(
                    "soak recv: found `{}`; accepted: --clients 2 to {MOST_CLIENTS}, --seconds N, \
                     --dev",
                    format!("{arg} {value}").trim()
                )));
            }
        }
    }
    let build =
        |words: &[&str]| step::built(root, &[&["build", "--profile", profile][..], words].concat());
    let recv = build(&["--bin", "firstflight"])?;
    let soak = build(&["-p", "firstflight-transfer", "--example", "hostile-soak"])?;
    let place = root.join("target/soak-recv");
    // Of an earlier run; there may be none.
    let _ = fs::remove_dir_all(&place);
    announce(&format!("soak recv: {clients} clients, half of them hostile, {seconds} s"));
    let status = Command::new(soak)
        .args([recv, place.clone()])
        .args([clients, seconds].map(|number: u32| number.to_string()))
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
const MOST_CLIENTS: u32 = 400;
