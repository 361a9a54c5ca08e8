//! The same scenarios in ns-2, ns-3 and firstflight, side by side.
//!
//! The programs and the points are in `oracles/`; `--random` draws other points ([`random`]). Where
//! firstflight and ns-2 differ, ns-2 runs again with other beginnings ([`range`]); a difference
//! beyond what ns-2 then differs from itself needs a reason in `oracles/explained.toml`, and so
//! does one of more than a point from ns-3. What ns-2 and ns-3 say is kept below
//! `target/oracle-cache`.

use std::ops::RangeInclusive;
use std::path::Path;

use rayon::prelude::*;

use crate::Stop;

mod explained;
mod measured;
mod ours;
pub(crate) mod peers;
pub(crate) mod point;
mod random;
mod range;
mod table;

use explained::Explained;
use ours::Ours;
use peers::Peers;
use range::Range;
use table::Row;

/// What was asked for.
#[derive(Debug)]
struct Options {
    /// Beginnings of the ids wanted; none is all.
    only: Vec<String>,
    /// So many random points instead of those of the file, and where they begin.
    random: Option<u64>,
    seed: u64,
    json: bool,
    with_ns3: bool,
    jobs: usize,
}

/// Runs the comparison; fails if a large difference is not explained.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let options = options(args)?;
    let random = options.random.map(|count| random::points(options.seed, count));
    let points = point::load(&root.join("oracles/points.toml"), random, &options.only)?;
    let explained =
        Explained::read(&root.join("oracles/explained.toml"), options.random.is_none())?;
    let cache = root.join("target/oracle-cache");
    let peers = Peers::new(root, &cache, options.with_ns3)?;
    let ours = Ours::build(root, &cache)?;

    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .map_err(|error| Stop::failed(&error.to_string()))?;
    let rows: Vec<Row> = pool.install(|| {
        let row = |point: &point::Point| {
            let (ns2, ns3) = (peers.ns2(point)?, peers.ns3(point)?);
            let row = Row::new(point, ns2, ns3, ours.measure(point)?, &explained);
            if !row.must_be_explained() {
                return Ok(row);
            }
            Ok(row.with_range(Range::of(point, &peers, &ns2)?))
        };
        points.par_iter().map(row).collect::<Result<_, Stop>>()
    })?;

    for row in &rows {
        let of_ns2 = explained.points.contains_key(&row.id) && !row.must_be_explained();
        let of_ns3 = row.has_needless_cause();
        if of_ns2 || of_ns3 {
            eprintln!("oracles/explained.toml: `{}` needs no explanation any more", row.id);
        }
    }
    if options.json {
        println!("{}", table::json(&rows).map_err(|error| Stop::failed(&error.to_string()))?);
    } else {
        println!("{}", table::text(&rows));
        if options.random.is_some() {
            print!("{}", table::lines(&rows));
        }
    }
    match rows.iter().filter(|row| row.fails()).count() {
        0 => Ok(()),
        failed => Err(Stop::failed(&format!("{failed} points differ and are not explained"))),
    }
}

fn options(args: &[String]) -> Result<Options, Stop> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options =
        Options { only: Vec::new(), random: None, seed: 1, json: false, with_ns3: true, jobs };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(Stop::usage(&format!("{arg} needs a value")));
        match arg.as_str() {
            "--only" => options.only.push(value()?.clone()),
            "--json" => options.json = true,
            "--no-ns3" => options.with_ns3 = false,
            "--random" => options.random = Some(number(arg, value()?, 1..=9999)?),
            "--seed" => options.seed = number(arg, value()?, 0..=u64::MAX)?,
            "--jobs" => options.jobs = number(arg, value()?, 1..=1024)? as usize,
            _ => {
                let accepted =
                    "accepted: --only ID, --random N, --seed N, --json, --no-ns3, --jobs N";
                return Err(Stop::usage(&format!("unknown argument `{arg}`; {accepted}")));
            }
        }
    }
    Ok(options)
}

fn number(name: &str, found: &str, accepted: RangeInclusive<u64>) -> Result<u64, Stop> {
    let (least, most) = (accepted.start(), accepted.end());
    let problem = format!("{name}: found `{found}`, accepted: a number from {least} to {most}");
    found.parse().ok().filter(|value| accepted.contains(value)).ok_or(Stop::usage(&problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Options, Stop> {
        options(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let options = read(&["--only", "over-", "--json", "--jobs", "3", "--no-ns3"]).unwrap();
        assert_eq!((options.only.len(), options.json, options.jobs), (1, true, 3));
        assert!(!options.with_ns3);
        let options = read(&["--random", "20", "--seed", "7"]).unwrap();
        assert_eq!((options.random, options.seed), (Some(20), 7));
        for wrong in [&["--only"][..], &["--jobs", "0"], &["--jsn"], &["--random", "0"]] {
            assert_eq!(read(wrong).unwrap_err().code, 2, "{wrong:?}");
        }
    }
}
