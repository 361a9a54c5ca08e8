//! Runs scenarios in ns-2, ns-3 and firstflight, and prints the results side by side.
//!
//! The programs and the points are in the repository's `oracles/`; others can be drawn at random.
//! Where firstflight and ns-2 differ, ns-2 runs again with slightly later starts. A difference
//! larger than the range of ns-2's own values then needs a reason in `oracles/explained.toml`, and
//! so does one of more than a point from ns-3. What ns-2 and ns-3 say is kept below
//! `target/oracle-cache`.

use std::path::{Path, PathBuf};

use clap::builder::RangedU64ValueParser;
use clap::{Parser, value_parser};
use rayon::prelude::*;

use super::explained::Explained;
use super::ours::Ours;
use super::peers::Peers;
use super::point::{self, Point};
use super::random;
use super::range::Range;
use super::table::{Comparison, Row};
use crate::Stop;

/// What to compare.
#[derive(Debug, Parser)]
#[command(name = "oracle", no_binary_name = true)]
pub(super) struct Options {
    /// Prefixes of the ids of the points wanted; none for all points.
    #[arg(long)]
    pub(super) only: Vec<String>,
    /// How many random points to run, instead of those of the file.
    #[arg(long, value_parser = value_parser!(u64).range(1..=9_999))]
    pub(super) random: Option<u64>,
    /// The agent of all random points; otherwise each has one of its own.
    #[arg(long, value_parser = random::AGENTS)]
    pub(super) agent: Option<String>,
    /// Where the random points begin.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// The release of ns-2 whose constants the random points have.
    #[arg(long, default_value = "2.35", value_parser = ["2.1b6", "2.26", "2.35"])]
    pub(super) release: String,
    /// Runs ns-2 alone.
    #[arg(long)]
    pub(super) no_ns3: bool,
    /// How many points run at a time.
    #[arg(long, default_value_t = rayon::current_num_threads(), value_parser = jobs())]
    pub(super) jobs: usize,
    /// Prints JSON.
    #[arg(long)]
    pub(super) json: bool,
}

fn jobs() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_024)
}

/// A comparison ready to run.
pub(super) struct Study {
    points: Vec<Point>,
    explained: Explained,
    peers: Peers,
    cache: PathBuf,
    jobs: usize,
}

impl Study {
    /// Reads the points and the reasons below `root`, the repository, and looks for ns-2 and ns-3.
    ///
    /// # Errors
    /// A file or an id that is wrong, or a program that is missing.
    pub(super) fn new(root: &Path, options: &Options) -> Result<Self, Stop> {
        let of_release = match options.release.as_str() {
            "2.35" => String::new(),
            release => format!(" release={release}"),
        };
        let random = options.random.map(|count| {
            let points = random::points(options.seed, count, options.agent.as_deref());
            points.into_iter().map(|(id, said)| (id, format!("{said}{of_release}"))).collect()
        });
        let points = point::load(&root.join("oracles/points.toml"), random, &options.only)?;
        let explained =
            Explained::read(&root.join("oracles/explained.toml"), options.random.is_none())?;
        let cache = root.join("target/oracle-cache");
        let peers = Peers::new(root, &cache, !options.no_ns3)?;
        Ok(Self { points, explained, peers, cache, jobs: options.jobs })
    }

    /// Runs all three at every point; `program` is firstflight's.
    ///
    /// # Errors
    /// A run that broke.
    pub(super) fn run(&self, program: &Path) -> Result<Comparison, Stop> {
        let ours = Ours::new(program, &self.cache)?;
        let row = |point: &Point| -> Result<Row, Stop> {
            let (ns2, ns3) = (self.peers.ns2(point)?, self.peers.ns3(point)?);
            let row = Row::new(point, ns2, ns3, ours.measure(point)?, &self.explained);
            if !row.must_be_explained() {
                return Ok(row);
            }
            Ok(row.with_range(Range::of(point, &self.peers, &ns2)?))
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build()
            .map_err(|error| Stop::failed(&error.to_string()))?;
        let rows = pool.install(|| self.points.par_iter().map(row).collect::<Result<_, _>>())?;
        Ok(Comparison { rows })
    }
}

/// The text of a file of the repository, and what to say if it is not what it should be.
pub(super) fn read(path: &Path) -> Result<(String, impl Fn(String) -> Stop), Stop> {
    let wrong = |problem: String| Stop::usage(&format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Ok((text, wrong))
}
