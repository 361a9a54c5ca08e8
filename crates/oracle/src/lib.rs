//! Runs scenarios in ns-2, ns-3 and firstflight, and prints the results side by side.
//!
//! The programs and the points are in the repository's `oracles/`; others can be drawn at random.
//! Where firstflight and ns-2 differ, ns-2 runs again with slightly later starts. A difference
//! larger than the range of ns-2's own values then needs a reason in `oracles/explained.toml`, and
//! so does one of more than a point from ns-3. What ns-2 and ns-3 say is kept below
//! `target/oracle-cache`.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

mod explained;
mod measured;
mod ours;
mod peers;
mod point;
mod random;
mod range;
mod table;

pub use peers::{compile_ns3, has_ns2};
pub use point::pairs;
pub use random::AGENTS;
pub use table::Comparison;

use explained::Explained;
use ours::Ours;
use peers::Peers;
use point::Point;
use range::Range;
use table::Row;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// Prefixes of the ids of the points wanted; empty for all points.
    pub only: Vec<String>,
    /// How many random points to run, instead of those of the file.
    pub random: Option<u64>,
    /// The agent of all random points; otherwise each has one of its own.
    pub agent: Option<String>,
    /// Where the random points begin.
    pub seed: u64,
    /// The release of ns-2 whose constants the random points have.
    pub release: String,
    /// Whether to run ns-3 too.
    pub with_ns3: bool,
    /// How many points run at a time.
    pub jobs: usize,
}

/// Why a comparison came to no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A run failed.
    #[error("{0}")]
    Failed(String),
    /// Wrong usage or a wrong file.
    #[error("{0}")]
    Wrong(String),
    /// The machine lacks something.
    #[error("{0}")]
    Lacks(String),
}

/// A comparison ready to run.
pub struct Study {
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
    pub fn new(root: &Path, options: &Options) -> Result<Self, Problem> {
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
        let peers = Peers::new(root, &cache, options.with_ns3)?;
        Ok(Self { points, explained, peers, cache, jobs: options.jobs })
    }

    /// Runs all three at every point; `program` is firstflight's.
    ///
    /// # Errors
    /// A run that broke.
    pub fn run(&self, program: &Path) -> Result<Comparison, Problem> {
        let ours = Ours::new(program, &self.cache)?;
        let row = |point: &Point| {
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
            .map_err(|error| Problem::Failed(error.to_string()))?;
        let rows = pool.install(|| self.points.par_iter().map(row).collect::<Result<_, _>>())?;
        Ok(Comparison { rows })
    }
}

/// The text of a file of the repository, and what to say if it is not what it should be.
fn read(path: &Path) -> Result<(String, impl Fn(String) -> Problem), Problem> {
    let wrong = |problem: String| Problem::Wrong(format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Ok((text, wrong))
}
