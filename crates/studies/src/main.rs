//! The studies of this repository: each measures a set of cases, keeps what takes long, and writes
//! a page or a table of `docs/`. `cargo xtask NAME` starts them.

use std::process::ExitCode;

use xtask::{Stop, no_arguments, root, step};

mod bench;
mod compared;
mod draw;
mod explained;
mod judge;
mod cache;
mod lab;
mod oracle;
mod page;
mod queues;
mod runs;
mod startups;
mod tables;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let study = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let found = STUDIES.iter().find(|(name, _)| *name == study);
    xtask::ended(match found {
        Some((_, run)) => run(&root(), &rest),
        None => {
            let names = STUDIES.map(|(name, _)| name).join(", ");
            Err(Stop::usage(&format!("unknown study `{study}`; accepted: {names}")))
        }
    })
}

/// What a study's arguments ask for.
fn options<T: clap::Parser>(args: &[String]) -> Result<T, Stop> {
    T::try_parse_from(args).map_err(|error| Stop::usage(error.to_string().trim_end()))
}

/// Every known difference from another program, with its reason.
const EXPLAINED: &str = "validation/explained.toml";

type Study = fn(&std::path::Path, &[String]) -> Result<(), Stop>;

const STUDIES: [(&str, Study); 7] = [
    ("bench", bench::run),
    ("judge", judge::run),
    ("lab", lab::run),
    ("oracle", oracle::run),
    ("page", page::run),
    ("queues", queues::run),
    ("startups", startups::run),
];

#[cfg(test)]
mod testing {
    /// What a command line asks for.
    pub(crate) fn options<T: clap::Parser>(line: &str) -> Result<T, crate::Stop> {
        crate::options(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }
}
