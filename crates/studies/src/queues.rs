//! `queues`: the kernel's own queue disciplines in virtual time as an oracle for those of
//! `crates/link`, on points drawn at random.
//!
//! A point is one scenario, which runs in the simulator and with `--on linux --link netem`. What
//! the kernel did is kept by what decides it, so that the simulator may change and the same command
//! only simulates again.

mod draw;
mod models;
mod packets;
mod table;

use std::path::Path;

use clap::{Parser, value_parser};
use rayon::prelude::*;

use crate::Stop;
use crate::compared::Sides;
use crate::runs::{Guests, Run, simulated};
use crate::step::announce;
use crate::tables::write_parts;

use draw::{DISCIPLINES, Discipline, Offset, Point};
use models::{Compared, Model};
use packets::Captures;
use table::Row;

/// What was asked for.
#[derive(Debug, Parser)]
#[command(name = "queues", no_binary_name = true)]
struct Options {
    /// Points of each discipline.
    #[arg(long = "random", default_value_t = 10, value_parser = value_parser!(u64).range(1..=999))]
    count: u64,
    /// Where the points begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs of a discipline that draws random numbers, each with a seed of its own.
    #[arg(long, default_value_t = 3, value_parser = value_parser!(u64).range(1..=99))]
    runs: u64,
    /// Disciplines by their names; none are all.
    #[arg(long, value_parser = DISCIPLINES.map(|it| it.name))]
    only: Vec<String>,
    /// Give each queue of ours the very packets that came to the kernel's, too.
    #[arg(long)]
    packets: bool,
    /// Write the table, which is of all disciplines.
    #[arg(long, conflicts_with = "only")]
    page: bool,
}

/// Draws the points, measures what is not kept, and prints both side by side.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let options: Options = crate::options(args)?;
    let guests = Guests::new(root, ("queues", CACHE), &GUESTS, GUEST, Some(SAMPLES))?;
    let captures = options.packets.then(|| Captures::new(&guests)).transpose()?;
    let study = Study { guests: &guests, captures, runs: options.runs };
    let is_wanted = |it: &&Discipline| {
        options.only.is_empty() || options.only.iter().any(|name| name == it.name)
    };
    // Every discipline's first point before any second.
    let points: Vec<Point> = (0..options.count)
        .flat_map(|number| {
            let drawn = DISCIPLINES.iter().filter(is_wanted);
            drawn.map(move |discipline| Point::draw(options.seed, discipline, number))
        })
        .collect();
    announce(&format!("{} points", points.len()));
    let rows = points.into_par_iter().with_max_len(1);
    let rows = rows.map(|point| study.row(point).inspect(|row| println!("{}", row.line())));
    let rows: Vec<Row> = rows.collect::<Result<_, Stop>>()?;
    println!("{}", table::summary(&rows));
    let models = study.models(&options)?;
    models.iter().for_each(|model| println!("{}", model.row()));
    if options.page {
        let text = table::page(&rows, &options.words()) + &models::page(&models);
        write_parts(root, PAGE, "queues", &[("", text)])?;
    }
    let unexplained = rows.iter().filter(|row| row.is_unexplained()).count();
    match unexplained + models.iter().filter(|model| model.differs()).count() {
        0 => Ok(()),
        count => Err(Stop::failed(&format!(
            "{count} points differ by more than {} %, more than the simulator itself, and with the \
             kernel's packets too (or without `--packets`)",
            table::ACCEPTED
        ))),
    }
}

/// What every point needs.
struct Study<'a> {
    guests: &'a Guests,
    captures: Option<Captures<'a>>,
    runs: u64,
}

impl Study<'_> {
    /// netem's jitter and reordering beside ours, as many points of each; none without packets.
    fn models(&self, options: &Options) -> Result<Vec<Compared>, Stop> {
        let Some(captures) = &self.captures else { return Ok(Vec::new()) };
        let (seed, count) = (options.seed, options.count);
        let models = (0..2 * count).into_par_iter();
        models.map(|number| Model::draw(seed, number, count).compared(captures, number)).collect()
    }

    fn row(&self, point: Point) -> Result<Row, Stop> {
        let other = (0..if point.is_random() { self.runs } else { 1 })
            .map(|run| {
                self.guests.run(&point.scenario(Point::KERNEL, Offset::default(), run, 1)?)
            })
            .collect::<Result<Vec<Run>, Stop>>()?;
        let simulate = |offset: Offset, runs: u64| {
            simulated(&point.scenario(Point::HERE, offset, 0, runs)?, Some(SAMPLES))
        };
        let ours = simulate(Offset::default(), if point.is_random() { table::SEEDS } else { 1 })?;
        let mut nearby = Vec::new();
        for offset in table::nearby() {
            nearby.extend(simulate(offset, 1)?);
        }
        let captured = self.captures.as_ref();
        let replayed = captured.map(|captures| captures.replayed(&point)).transpose()?.flatten();
        Ok(Row { point, sides: Sides { ours, other, nearby }, replayed })
    }
}

impl Options {
    /// The command that measures the same again.
    fn words(&self) -> String {
        let Self { count, seed, runs, .. } = self;
        let packets = if self.packets { " --packets" } else { "" };
        format!("cargo xtask queues --random {count} --seed {seed} --runs {runs}{packets} --page")
    }
}

const PAGE: &str = "docs/queues.md";
const CACHE: &str = "firstflight-out/queues";
const GUEST: &str = "linux --virtual-time --link netem";
/// The command keeps as many of a trace.
const SAMPLES: u32 = 2_000;
/// What decides what happens in a guest: the lab. Controls and disciplines are the kernel's.
const GUESTS: [&str; 1] = ["crates/lab/src"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let read = crate::testing::options::<Options>;
        let some = read("--random 4 --seed 7 --runs 2 --only red --only pie").unwrap();
        assert_eq!((some.count, some.seed, some.runs, some.only.len()), (4, 7, 2, 2));
        let both = read("--packets --page").unwrap();
        assert!(both.page && both.packets && !some.packets);
        for wrong in ["--random 0", "--runs", "--only reds", "--page --only red", "--sed 1"] {
            assert_eq!(read(wrong).unwrap_err().code, 2, "{wrong}");
        }
    }
}
