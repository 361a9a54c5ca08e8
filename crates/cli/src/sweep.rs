//! `sweep`: a scenario at many points.

use std::path::{Path, PathBuf};

use firstflight_outside::{MAKE_ROOM, text};
use firstflight_report::{Cell, Column, Mean, Table, digits, terminal, write_file};
use firstflight_sweep::{
    Estimate, Experiment, Format, Interval, Merged, Shard, Side, Store, Summary, Sweep, SweepError,
    grid_files, into_page, run,
};
use firstflight_transports::On;

use crate::document::document;
use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::words::count;
use crate::{interrupt, output};

/// Run a scenario at many points: a grid or a sample of any of its keys
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The grid file, in TOML
    #[arg(value_name = "GRID.toml", required_unless_present = "summary")]
    grid: Option<PathBuf>,
    #[command(flatten)]
    on: On,
    /// Keep finished chunks here, and write the table flows.csv or flows.parquet [default:
    /// firstflight-out/sweep/ and the file's name]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run only the I-th of N parts, for job arrays; --merge makes one table of all
    #[arg(long, value_name = "I/N", conflicts_with = "merge")]
    shard: Option<Shard>,
    /// Run nothing: write the table if every chunk is there, and say what is missing otherwise
    #[arg(long)]
    merge: bool,
    /// Run nothing: say how long the sweep will take, and how large its files will be
    #[arg(long, conflicts_with_all = ["out", "shard", "merge", "format", "json", "summary"])]
    estimate: bool,
    /// Form of the files: csv or parquet [default: parquet if this program is built with it]
    #[arg(long, value_name = "FORMAT", value_parser = Format::named)]
    format: Option<Format>,
    /// Write the grid file's tables into this page too, between the lines `<!-- measured: GRID.toml
    /// -->` and `<!-- end of what is measured -->`
    #[arg(long, value_name = "PAGE.md", conflicts_with_all = ["shard", "estimate", "summary"])]
    page: Option<PathBuf>,
    /// Print the summary as one JSON document
    #[arg(long, conflicts_with = "shard")]
    json: bool,
    /// Print the summary of a finished sweep
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["grid", "out", "shard", "merge", "format"])]
    summary: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Every chunk of about a second of work becomes a file when it is finished: however the sweep ends,
the same command goes on where it stopped. docs/sweep.md describes grid file and results.

A grid file:
  [scenario]
  controls = [\"newreno\", \"astart\"]
  flow = [{ size = \"5MB\" }]
  [grid]
  \"path.rate\" = [\"10Mbps\", \"40Mbps\"]
  \"path.rtt\" = [\"50ms\", \"200ms\", \"600ms\"]

Examples:
  firstflight sweep grid.toml
  firstflight sweep grid.toml --out DIR --shard 3/8    one job of an array of eight
  firstflight sweep grid.toml --out DIR --merge        after the last of them
  firstflight sweep grid.toml --on linux --virtual-time    every run in a kernel of its own
  firstflight sweep --summary DIR --json";

/// Runs the command.
pub(crate) fn sweep(args: &Args) -> Result<Status, Failure> {
    if let Some(dir) = &args.summary {
        print(args, dir, &Summary::of(dir)?)?;
        return Ok(Status::Done);
    }
    let Some(grid) = &args.grid else { return Ok(Status::Done) };
    let usual = args.on.transport()?;
    let on = |words: &str| Ok(On::read(words)?.transport()?);
    let experiment = Experiment::load(grid, &usual, &on)?;
    let out = args.out.clone().unwrap_or_else(|| default_folder(grid));
    if !args.estimate {
        output::check_any_directory("--out", &out)?;
    }
    if let Some(page) = &args.page {
        page_for(page, grid)?;
    }
    for part in experiment.sides() {
        let Side { name, sweep, .. } = part;
        if args.estimate {
            let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
            output::print(&(name + &estimated(&sweep.estimate()?, cores())))?;
        } else if !side(args, sweep, &part.folder(&out))? {
            return Ok(Status::Interrupted);
        }
    }
    if args.estimate || args.shard.is_some() {
        return Ok(Status::Done);
    }
    let tables = experiment.tables(&out, args.format.unwrap_or_default())?;
    if !tables.is_empty() {
        let text: String = tables.iter().map(|(_, table)| table.as_str()).collect();
        written(&out.join("tables.md"), text.trim_start())?;
    }
    if let Some(page) = &args.page {
        let old = page_for(page, grid)?;
        written(page, &into_page(&old, grid, &tables).unwrap_or(old))?;
    }
    Ok(Status::Done)
}

fn written(file: &Path, text: &str) -> Result<(), Failure> {
    write_file(file, text)?;
    output::note(&file.display().to_string());
    Ok(())
}

/// A page that has places for the tables of this grid file.
fn page_for(page: &Path, grid: &Path) -> Result<String, Failure> {
    let wrong = |problem: &dyn std::fmt::Display| {
        Failure::Usage(format!("--page {}: {problem}", page.display()))
    };
    let old = text(page, MOST_OF_A_PAGE).map_err(|unread| wrong(&unread))?;
    if grid_files(&old).iter().any(|file| grid.ends_with(file)) {
        return Ok(old);
    }
    Err(wrong(&format!(
        "no place for tables; accepted: lines `<!-- measured: {} -->` and `<!-- end of what is \
         measured -->`",
        grid.display()
    )))
}

/// Bytes.
const MOST_OF_A_PAGE: u64 = 16 << 20;

/// Runs a side into its folder, and merges it unless others run parts of it; `false` if it was
/// interrupted.
fn side(args: &Args, sweep: &Sweep, out: &Path) -> Result<bool, Failure> {
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let store = Store::open(out, sweep, args.format.unwrap_or_default(), shard)?;
    if !args.merge && !ran(sweep, &store, shard)? {
        return Ok(false);
    }
    if args.shard.is_none() {
        let Merged { table, rows, summary, .. } = store.merge(sweep)?;
        output::note(&format!("{}: {}", table.display(), count(rows, "row")));
        print(args, out, &summary)?;
    }
    Ok(true)
}

/// Runs what is left of a shard; `false` if it was interrupted.
fn ran(sweep: &Sweep, store: &Store, shard: Shard) -> Result<bool, Failure> {
    for file in store.recheck(sweep, shard) {
        output::complain(&format!("{}: {ANEW}", file.display()));
    }
    let progress = Progress::of_work();
    progress.say(&count(sweep.points(), "point"));
    let stop = interrupt::listen();
    let done = run(sweep, store, shard, stop, &|done, total| {
        progress.set(done as usize, total as usize);
    });
    drop(progress);
    let done = done?;
    let mut text = format!("{} run", count(done.ran, "chunk"));
    if done.found > 0 {
        text.push_str(&format!(", {} found finished", done.found));
    }
    if done.left > 0 {
        text.push_str(&format!(", {} left: the same command goes on", done.left));
    }
    output::note(&format!("{}: {text}", store.dir().display()));
    Ok(done.left == 0)
}

/// What `--estimate` says.
fn estimated(of: &Estimate, cores: u64) -> String {
    let Estimate { points, chunks, rows, csv_bytes, parquet_bytes, .. } = of;
    let one = of.cpu_ns as f64 / 1e9;
    let (alone, all) = (long(one), long(one / cores.max(1) as f64));
    let (csv, parquet) = (large(*csv_bytes), large(*parquet_bytes));
    let (points, chunks) = (count(*points, "point"), count(*chunks, "chunk"));
    format!(
        "{points} in {chunks}\n\
         time    {alone} of CPU time, {all} on {}\n\
         rows    {rows}, as CSV {csv}, as Parquet {parquet}; twice that with the chunks\n\
         By the costs in docs/sweep.md, which other machines and controls exceed or fall below.\n",
        count(cores, "core")
    )
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// Seconds as people say them.
fn long(seconds: f64) -> String {
    let (by, unit) = match seconds {
        s if s < 120.0 => (1.0, "s"),
        s if s < 7200.0 => (60.0, "min"),
        s if s < 172_800.0 => (3600.0, "h"),
        _ => (86_400.0, "days"),
    };
    format!("{} {unit}", digits(seconds / by, 1))
}

/// Bytes as people say them.
fn large(bytes: u64) -> String {
    let (by, unit) = match bytes {
        0..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    format!("{} {unit}", digits(bytes as f64 / by, 1))
}

const ANEW: &str = "its bytes are not those that were written; the chunk is run again";

fn default_folder(grid: &Path) -> PathBuf {
    let name = grid.file_stem().unwrap_or_default();
    Path::new("firstflight-out/sweep").join(name)
}

fn print(args: &Args, dir: &Path, summary: &Summary) -> Result<(), Failure> {
    if args.json {
        return Ok(output::print(&document("firstflight/sweep-summary@1", summary)?)?);
    }
    Ok(output::print(&terminal::table(&table(dir, summary), output::screen()))?)
}

fn table(dir: &Path, summary: &Summary) -> Table {
    let points = summary.points;
    let title = format!("{}: {}, means over all of them", dir.display(), count(points, "point"));
    let columns = [
        Column::text("control"),
        Column::number("best", "% of points"),
        Column::number("completion", "s"),
        Column::number("unfinished", ""),
        Column::number("throughput", "Mbps"),
        Column::number("drops", ""),
        Column::number("exit window", "BDP"),
    ];
    let mut table = Table::new("sweep", &title, columns);
    for control in &summary.controls {
        let share = control.best_at as f64 * 100.0 / points.max(1) as f64;
        table.push([
            control.alias.as_str().into(),
            Cell::number(share, 1),
            cell(control.completion_time_s, 1.0, control.seeds),
            Cell::number(control.unfinished as f64, 0),
            cell(control.throughput_bps, 1e-6, control.seeds),
            cell(control.bottleneck_drops, 1.0, control.seeds),
            cell(control.exit_window_over_bdp, 1.0, control.seeds),
        ]);
    }
    table
}

/// A mean, with its interval over the seeds where there are several.
fn cell(interval: Interval, factor: f64, seeds: u64) -> Cell {
    match interval.mean {
        Some(mean) if seeds > 1 => Cell::Mean(Mean {
            value: mean * factor,
            half: interval.half_95.map(|half| half * factor),
            decimals: decimals(mean * factor),
            runs: (seeds as usize, seeds as usize),
        }),
        mean => {
            let mean = mean.map_or(f64::NAN, |mean| mean * factor);
            Cell::number(mean, decimals(mean))
        }
    }
}

/// Digits after the point for four significant ones.
fn decimals(value: f64) -> u8 {
    match value.abs() {
        large if large >= 1000.0 => 0,
        large if large >= 100.0 => 1,
        large if large >= 10.0 => 2,
        _ => 3,
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        let full = error.is_full();
        match error {
            SweepError::Scenario(error) => error.into(),
            SweepError::Control(problem) => problem.into(),
            SweepError::Run(error) => error.into(),
            SweepError::Interrupted => Self::Interrupted,
            error if full => Self::Lacks(format!("{error}; {MAKE_ROOM}")),
            error @ (SweepError::Incomplete { .. }
            | SweepError::Damaged(_)
            | SweepError::Table(_)) => Self::Broke(error.to_string()),
            error => Self::Usage(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_in_the_units_that_people_use() {
        let times = [14.2, 119.0, 1400.0, 7200.0, 1.4e6].map(long);
        assert_eq!(times, ["14.2 s", "119 s", "23.3 min", "2 h", "16.2 days"]);
        let sizes = [999, 17_000_000, 1_700_000_000, 1_700_000_000_000].map(large);
        assert_eq!(sizes, ["1 kB", "17 MB", "1.7 GB", "1.7 TB"]);
    }
}
