//! Runs scenarios in ns-2, ns-3 and firstflight, and prints the results side by side.
//!
//! The programs and the points are in the repository's `validation/`; others can be drawn at
//! random. Where firstflight and ns-2 differ, ns-2 runs again with slightly later starts. A
//! difference larger than the range of ns-2's own values then needs a reason in
//! `validation/explained.toml`, and so does one of more than a point from ns-3. What ns-2 and ns-3
//! say is kept below `target/oracle-cache`.

mod measured;
mod peers;
mod point;
mod random;
mod range;
mod scenario;
mod table;

use std::path::Path;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, value_parser};
use rayon::prelude::*;

use crate::explained::Explained;
use crate::{Stop, step};
use measured::OracleRun;
pub(crate) use measured::json_line;
use peers::Peers;
pub(crate) use peers::{compile_ns3, has_ns2};
use point::Point;
pub(crate) use point::pairs;
use range::Range;
use table::{Comparison, Row};

/// What to compare.
#[derive(Debug, Parser)]
#[command(name = "oracle", no_binary_name = true)]
struct Options {
    /// Prefixes of the ids of the points wanted; none for all points.
    #[arg(long)]
    only: Vec<String>,
    /// How many random points to run, instead of those of the file.
    #[arg(long, value_parser = value_parser!(u64).range(1..=9_999))]
    random: Option<u64>,
    /// The agent of all random points; otherwise each has one of its own.
    #[arg(long, value_parser = random::AGENTS)]
    agent: Option<String>,
    /// Where the random points begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The release of ns-2 whose constants the random points have.
    #[arg(long, default_value = "2.35", value_parser = ["2.1b6", "2.26", "2.35"])]
    release: String,
    /// Runs ns-2 alone.
    #[arg(long)]
    no_ns3: bool,
    /// How many points run at a time.
    #[arg(long, default_value_t = rayon::current_num_threads(), value_parser = jobs())]
    jobs: usize,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

fn jobs() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_024)
}

/// Runs the comparison; fails if a large difference is not explained.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let options: Options = crate::options(args)?;
    let random = options.random.map(|count| {
        random::points(options.seed, count, options.agent.as_deref(), &options.release)
    });
    let is_random = random.is_some();
    let points = point::load(&root.join("validation/points.toml"), random, &options.only)?;
    let explained: Explained = step::read_toml(&root.join(crate::EXPLAINED))?;
    let peers = Peers::new(root, &root.join("target/oracle-cache"), !options.no_ns3)?;
    let row = |point: &Point| -> Result<Row, Stop> {
        let (ns2, ns3) = (peers.ns2(point)?, peers.ns3(point)?);
        let run = crate::runs::simulated(&scenario::of(point)?, None)?;
        let ours = OracleRun::of(&run[0].result, point.number("rate"));
        let row = Row::new(point, ns2, ns3, ours, (!is_random, &explained));
        if !row.must_be_explained() {
            return Ok(row);
        }
        Ok(row.with_range(Range::of(point, &peers, &ns2)?))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build();
    let pool = pool.map_err(|error| Stop::failed(&error.to_string()))?;
    let rows = pool.install(|| points.par_iter().map(row).collect::<Result<_, Stop>>())?;
    let found = Comparison { rows };
    for id in found.needlessly_explained() {
        eprintln!("{}: `{id}` needs no explanation any more", crate::EXPLAINED);
    }
    if options.json {
        let json = serde_json::to_string_pretty(&found);
        println!("{}", json.map_err(|error| Stop::failed(&error.to_string()))?);
    } else {
        println!("{}", found.text());
        if is_random {
            print!("{}", found.failed_lines());
        }
    }
    match found.failed().count() {
        0 => Ok(()),
        failed => Err(Stop::failed(&format!("{failed} points differ and are not explained"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let read = crate::testing::options::<Options>;
        let options = read("--only over- --json --jobs 3 --no-ns3").unwrap();
        assert_eq!((options.only.len(), options.json, options.jobs), (1, true, 3));
        assert!(options.no_ns3);
        let options = read("--random 20 --seed 7").unwrap();
        assert_eq!((options.random, options.seed), (Some(20), 7));
        assert_eq!((options.release.as_str(), options.no_ns3), ("2.35", false));
        let options = read("--random 20 --agent linux").unwrap();
        assert_eq!(options.agent.as_deref(), Some("linux"));
        let wrong = ["--agent linus", "--only", "--jobs 0", "--jsn", "--random 0", "--release 3"];
        for wrong in wrong {
            assert_eq!(read(wrong).unwrap_err().code, 2, "{wrong}");
        }
    }

    #[test]
    fn reasons_are_of_points_that_there_are() {
        let root = xtask::root();
        let explained: Explained = step::read_toml(&root.join(crate::EXPLAINED)).ok().unwrap();
        let points = point::load(&root.join("validation/points.toml"), None, &[]).ok().unwrap();
        let places = |from: &str| {
            let of = explained.differs.iter().filter(|reason| reason.from == from);
            of.flat_map(|reason| &reason.at).collect::<Vec<_>>()
        };
        let mut named = places("ns-3");
        named.sort_unstable();
        assert!(named.windows(2).all(|pair| pair[0] != pair[1]), "{named:?}");
        named.extend(places("ns-2"));
        for id in named.into_iter().filter(|at| !at.contains(" release=")) {
            assert!(points.iter().any(|point| point.id == *id), "{id} is no point");
        }
    }
}
