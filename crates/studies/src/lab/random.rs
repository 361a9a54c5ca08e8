//! `lab --random`: a kernel in virtual time as an oracle for the simulator's profile `linux`, on
//! points drawn at random.

mod draw;
mod table;

use std::path::Path;

use clap::{Parser, value_parser};
use firstflight_guest::DEFAULT_KERNEL;
use rayon::prelude::*;

use crate::Stop;
use crate::compared::Sides;
use crate::runs::{Guests, simulated};
use crate::step::announce;
use crate::tables::write_parts;

use draw::Point;
use table::Row;

/// What was asked for.
#[derive(Debug, Parser)]
#[command(name = "lab --random", no_binary_name = true)]
struct Options {
    /// How many points.
    #[arg(long = "random", value_parser = value_parser!(u64).range(1..=9_999))]
    count: u64,
    /// Where the points begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Points by their number.
    #[arg(long, value_parser = value_parser!(u64).range(0..=9_998))]
    only: Vec<u64>,
    /// The kernel's image, or `running`.
    #[arg(long, default_value = DEFAULT_KERNEL)]
    kernel: String,
    /// Controls of today.
    #[arg(long)]
    today: bool,
    /// Write the page.
    #[arg(long, conflicts_with = "today")]
    page: bool,
}

/// Draws the points, measures what is not kept, and prints both side by side.
pub(super) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let options: Options = crate::options(args)?;
    let words = format!("linux --virtual-time --link tun --kernel {}", options.kernel);
    let guests = Guests::new(root, (TASK, CACHE), &GUESTS, &words, None)?;
    let numbers = 0..options.count;
    let wanted: Vec<u64> =
        numbers.filter(|n| options.only.is_empty() || options.only.contains(n)).collect();
    announce(&format!("{} points", wanted.len()));
    println!("{}", table::HEAD);
    let rows = wanted.par_iter().with_max_len(1).map(|number| {
        let row = row(&guests, Point::draw(options.seed, *number, options.today));
        row.inspect(|row| println!("{}", row.line()))
    });
    let rows: Vec<Row> = rows.collect::<Result<_, Stop>>()?;
    println!("{}", table::summary(&rows));
    if options.page {
        write_parts(root, PAGE, TASK, &[("", table::part(&rows, options.seed))])?;
    }
    match rows.iter().filter(|row| row.differs() && !row.is_own_range()).count() {
        0 => Ok(()),
        differ => Err(Stop::failed(&format!(
            "{differ} of {} points differ by more than the simulator itself",
            rows.len()
        ))),
    }
}

fn row(guests: &Guests, point: Point) -> Result<Row, Stop> {
    let here = |point: &Point| simulated(&point.scenario(point.pair.0)?, None);
    let other = vec![guests.run(&point.scenario(point.pair.1)?)?];
    let sides = Sides { ours: here(&point)?, other, nearby: Vec::new() };
    let mut row = Row { point, sides };
    if row.differs() {
        for nearby in row.point.nearby() {
            row.sides.nearby.extend(here(&nearby)?);
        }
    }
    Ok(row)
}

const TASK: &str = "lab --random";
const PAGE: &str = "docs/lab-random.md";
const CACHE: &str = "firstflight-out/lab/random";
/// What decides what happens in the guest; of the simulator what the lab's link runs.
const GUESTS: [&str; 5] = [
    "crates/core/src",
    "crates/kernel/src",
    "crates/kernel/c",
    "crates/lab/src",
    "crates/link/src",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let read = crate::testing::options::<Options>;
        let some = read("--random 60 --seed 7 --only 3 --only 5 --page --kernel x.deb").unwrap();
        assert_eq!((some.count, some.seed, some.only, some.page), (60, 7, vec![3, 5], true));
        assert_eq!((some.kernel.as_str(), some.today), ("x.deb", false));
        assert!(read("--random 3 --today").unwrap().today);
        let more = ["--random 3 --only x", "--random 3 --today --page"];
        for wrong in ["--random 0", "--random", "--random 3 --sed 1"].iter().chain(&more) {
            assert_eq!(read(wrong).unwrap_err().code, 2, "{wrong}");
        }
    }
}
