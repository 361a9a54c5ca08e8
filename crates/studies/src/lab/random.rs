//! `lab --random`: a kernel in virtual time as an oracle for the simulator's profile `linux`, on
//! points drawn at random.
//!
//! What the kernel did is kept by what decides it: the kernel, the point, and the sources of what
//! runs in the guest. So the simulator may change, and the same command only simulates again.

mod draw;
mod measured;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Parser, value_parser};
use firstflight_guest::DEFAULT_KERNEL;
use rayon::prelude::*;

use crate::Stop;
use crate::kept::{Kept, content_name};
use crate::step::{self, announce, kernel_features, unable};

use draw::Point;
use measured::Measured;
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
    if kernel_features()?.is_empty() {
        return Err(Stop::lacks(&step::no_kernel("lab --random")));
    }
    announce("build");
    let program = super::of_guests(root, super::PROGRAMS)?;
    let lab = Lab { root, program, kernel: &options.kernel, guests: sources(root)? };
    let numbers = 0..options.count;
    let wanted: Vec<u64> =
        numbers.filter(|n| options.only.is_empty() || options.only.contains(n)).collect();
    announce(&format!("{} points", wanted.len()));
    println!("{}", table::HEAD);
    let rows = wanted.par_iter().with_max_len(1).map(|number| {
        let row = lab.row(Point::draw(options.seed, *number, options.today));
        row.inspect(|row| println!("{}", row.line()))
    });
    let rows: Vec<Row> = rows.collect::<Result<_, Stop>>()?;
    let differ = rows.iter().filter(|row| row.differs() && !row.is_own_range()).count();
    println!("{}", table::summary(&rows));
    if options.page {
        let text = table::page(&rows, options.seed);
        fs::write(root.join(PAGE), text).map_err(|error| unable(PAGE, &error))?;
        println!("lab: {PAGE} is written");
    }
    match differ {
        0 => Ok(()),
        _ => Err(Stop::failed(&format!(
            "{differ} of {} points differ by more than the simulator itself",
            rows.len()
        ))),
    }
}

/// What every point needs.
struct Lab<'a> {
    root: &'a Path,
    program: PathBuf,
    kernel: &'a str,
    /// Hash of what runs in a guest.
    guests: String,
}

impl Lab<'_> {
    fn row(&self, point: Point) -> Result<Row, Stop> {
        let sim = self.measure(&point.words(point.pair.0, &["--profile", "linux"]))?;
        let kernel = self.on_linux(&point)?;
        let mut row = Row { point, sim, kernel, beside: Vec::new() };
        if row.differs() {
            for point in row.point.beside() {
                let words = point.words(point.pair.0, &["--profile", "linux"]);
                row.beside.push(self.measure(&words)?);
            }
        }
        Ok(row)
    }

    fn on_linux(&self, point: &Point) -> Result<Measured, Stop> {
        let linux = ["--on", "linux", "--virtual-time", "--link", "tun", "--kernel", self.kernel];
        let words = point.words(point.pair.1, &linux);
        let key = format!("{} {}", self.guests, words.join(" "));
        let store = Kept::new(&self.root.join(KEPT));
        if let Some(kept) = store.get(&key) {
            return Ok(kept);
        }
        let measured = self.measure(&words)?;
        store.put(&key, &measured)?;
        Ok(measured)
    }

    fn measure(&self, words: &[String]) -> Result<Measured, Stop> {
        let output = step::output("lab", step::bound(&self.program).args(words))?;
        Measured::read(output.as_bytes()).ok_or_else(|| {
            Stop::failed(&format!("firstflight {}: no results in its document", words.join(" ")))
        })
    }
}

/// A hash of the sources that decide what happens in a guest.
fn sources(root: &Path) -> Result<String, Stop> {
    sources_of(root, &GUESTS)
}

/// A hash of all files in these folders, and of qemu's version.
pub(crate) fn sources_of(root: &Path, folders: &[&str]) -> Result<String, Stop> {
    let mut files = Vec::new();
    for folder in folders {
        collect(&root.join(folder), &mut files).map_err(|error| unable(folder, &error))?;
    }
    files.sort();
    let mut all = String::new();
    for file in files {
        let bytes = fs::read(&file).map_err(|error| unable(&file.display().to_string(), &error))?;
        all += &content_name(&bytes);
    }
    let qemu = Command::new("qemu-system-x86_64").arg("--version").output();
    let qemu = qemu.map(|said| said.stdout).unwrap_or_default();
    Ok(content_name(&[all.as_bytes(), &qemu].concat()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        match entry?.path() {
            path if path.is_dir() => collect(&path, files)?,
            path => files.push(path),
        }
    }
    Ok(())
}

const PAGE: &str = "docs/lab-random.md";
const KEPT: &str = "firstflight-out/lab/random";
/// The simulator is there only as far as the lab's link runs it.
const GUESTS: [&str; 6] = [
    "crates/core/src",
    "crates/kernel/src",
    "crates/kernel/c",
    "crates/lab/src",
    "crates/queue/src",
    "crates/sim/src/element",
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
