//! Tasks of the repository that are not part of the product: `cargo xtask TASK`.
//!
//! `tidy` holds the sources to the style rules that rustfmt and clippy do not know. `oracle` runs
//! the same scenarios in ns-2, ns-3 and firstflight and prints them side by side.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod oracle;
mod tidy;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let outcome = match task.as_str() {
        "tidy" => tidy::run(&root(), &rest),
        "oracle" => oracle::run(&root(), &rest),
        "" | "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(Stop::usage(&format!("unknown task `{task}`\n{USAGE}"))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            if !stop.message.is_empty() {
                eprintln!("{}", stop.message);
            }
            ExitCode::from(stop.code)
        }
    }
}

/// Why a task ended early: what to tell the user, and the exit code of the product's contract.
#[derive(Debug)]
struct Stop {
    message: String,
    code: u8,
}

impl Stop {
    /// A check failed.
    fn failed(message: &str) -> Self {
        Self { message: message.to_owned(), code: 1 }
    }

    /// Wrong usage or wrong input.
    fn usage(message: &str) -> Self {
        Self { message: message.to_owned(), code: 2 }
    }

    /// The machine lacks something.
    fn lacks(message: &str) -> Self {
        Self { message: message.to_owned(), code: 3 }
    }
}

/// The workspace's directory: two above this crate's.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

const USAGE: &str = "\
usage: cargo xtask TASK
  tidy                             check the style rules of CONTRIBUTING.md
  oracle [--only ID]... [--json]   ns-2, ns-3 and firstflight on the points of oracles/points.toml
         [--no-ns3] [--jobs N]     (needs the Debian packages ns2, ns3, libns3-dev and g++)";
