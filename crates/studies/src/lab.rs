//! `docs/lab.md`: the running kernel beside the simulator and the papers, and the emulated link
//! beside its bars, as measured on this machine.
//!
//! It takes long, so what was measured is kept by kernel, and the same command goes on. The kernel
//! is one in virtual time, or with `--real-time` the running one. There a run that other work
//! disturbed says so; it is repeated, and never kept.

mod link;
mod linux_controls;
mod page;
mod points;
mod random;
mod rows;
mod values;

use crate::runs::of_guests;
pub(crate) use linux_controls::{LINUX_BBR, LINUX_CUBIC, LINUX_RENO};

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Parser, value_parser};
use firstflight_guest::{Cache, DEFAULT_KERNEL, Kernel};
use firstflight_transports::VirtualTime;

use crate::Stop;
use crate::cache::ResultCache;
use crate::explained::Explained;
use crate::runs::guests;
use crate::step::{self, announce, kernel_features, unable};
use crate::tables::write_parts;

/// `validation/kernel.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// In the simulator and on the kernel.
    pair: Vec<Pair>,
    /// The paths to run.
    path: Vec<Route>,
    /// What `reproduce` is asked for, a few minutes each.
    rows: Vec<String>,
}

/// Controls that are held to each other.
#[derive(Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    sim: String,
    linux: String,
    /// On which of the paths.
    #[serde(default)]
    paths: Kind,
}

/// What a path shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// One flow, whose ACKs wait nowhere.
    #[default]
    Plain,
    /// A way back so slow that most ACKs find no room.
    Thinned,
    /// An upload, and a download that begins a second later.
    BothWays,
    /// Frames of a link layer, and ACKs of their real size.
    Framed,
}

#[derive(Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    rate: String,
    rtt: String,
    buffer: String,
    duration: String,
    /// The way back, where it is more than a delay.
    back: Option<Back>,
    /// Data goes both ways.
    #[serde(default)]
    upload: bool,
    /// The link layer in both directions, as a scenario has it.
    framing: Option<String>,
}

impl Route {
    fn kind(&self) -> Kind {
        match (self.upload, &self.framing, &self.back) {
            (true, ..) => Kind::BothWays,
            (false, Some(_), _) => Kind::Framed,
            (false, None, Some(_)) => Kind::Thinned,
            (false, None, None) => Kind::Plain,
        }
    }
}

/// Rate and buffer of a way back.
#[derive(Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Back {
    rate: String,
    buffer: String,
}

impl File {
    /// The paths of a pair.
    fn paths(&self, pair: &Pair) -> Vec<&Route> {
        self.path.iter().filter(|route| route.kind() == pair.paths).collect()
    }
}

/// What was asked for.
#[derive(Debug, Parser)]
#[command(name = "lab", no_binary_name = true, after_help = "--random N has options of its own")]
struct Options {
    /// Runs of one point until one is not disturbed.
    #[arg(long, default_value_t = 3, value_parser = value_parser!(u32).range(1..=100))]
    tries: u32,
    /// Begin nothing new after so many minutes.
    #[arg(long, value_parser = value_parser!(u64).range(1..=100))]
    minutes: Option<u64>,
    /// Forget what is kept.
    #[arg(long)]
    again: bool,
    /// On the running kernel instead of one in virtual time, with the link's own benchmark.
    #[arg(long)]
    real_time: bool,
    /// The papers' rows alone.
    #[arg(long)]
    rows: bool,
}

/// What every part needs.
struct Lab<'a> {
    root: &'a Path,
    program: PathBuf,
    /// The running one's release, or what is booted.
    kernel: String,
    /// What is booted; nothing in real time, over the kernel of this machine.
    guests: Option<VirtualTime>,
    /// How often a run is tried that was disturbed.
    tries: u32,
    /// Begin nothing new after this.
    until: Option<Instant>,
    cache: ResultCache,
    explained: Explained,
}

impl<'a> Lab<'a> {
    fn new(root: &'a Path, options: &Options) -> Result<Self, Stop> {
        // Asked for now, not after half an hour.
        if options.real_time {
            step::has_tools("lab", &["ip", "iperf3", "ping"], "iproute2 iperf3 iputils-ping")?;
        } else {
            firstflight_guest::qemu_version()?;
        }
        announce("build");
        let features = kernel_features()?;
        if features.is_empty() {
            println!("skipped: {}", step::no_kernel("controls of ours in this kernel"));
        }
        let program = match options.real_time {
            // The emulated link must keep up with the clock.
            true => step::release(root, features)?,
            false => of_guests(root, PROGRAMS)?,
        };
        let guests =
            (!options.real_time).then(|| guests("linux --virtual-time --link tun", &program));
        let minutes = options.minutes.map(|minutes| Duration::from_secs(60 * minutes));
        Ok(Self {
            root,
            guests: guests.transpose().map_err(|error| Stop::usage(&error.to_string()))?,
            program,
            kernel: kernel(options.real_time)?,
            tries: options.tries,
            until: minutes.map(|minutes| Instant::now() + minutes),
            cache: ResultCache::new(&root.join(CACHE)),
            explained: step::read_toml(&root.join(crate::EXPLAINED))?,
        })
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Measures what is not kept yet, and writes the page with all that is.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    if args.iter().any(|arg| arg == "--random") {
        return random::run(root, args);
    }
    let options: Options = crate::options(args)?;
    let file: File = step::read_toml(&root.join("validation/kernel.toml"))?;
    let lab = Lab::new(root, &options)?;
    if options.again {
        lab.cache.clear();
    }

    let mut tables = Vec::new();
    let pairs = if options.rows { &[][..] } else { &file.pair };
    for pair in pairs {
        announce(&format!("{} in the simulator, {} in the kernel", pair.sim, pair.linux));
        tables.push(points::measure(&lab, &file, pair)?);
    }
    let write = |name: &str, part: String| write_parts(root, DOCUMENT, "lab", &[(name, part)]);
    // What follows takes longer.
    if !tables.is_empty() {
        write("points", page::of_points(&lab.kernel, &file, &tables))?;
    }
    let mut rows = Some(Vec::new());
    for name in &file.rows {
        announce(&format!("reproduce {name}"));
        let found = rows::measure(&lab, name)?;
        rows = rows.zip(found).map(|(rows, found)| [rows, found].concat());
    }
    if let Some(rows) = &rows {
        write("rows", page::of_rows(&lab.kernel, rows))?;
    }
    if lab.guests.is_none() {
        announce("the emulated link");
        if let Some(lines) = link::measure(&lab)? {
            write("link", page::of_link(&lab.kernel, &lines))?;
        }
    }
    let Some(rows) = &rows else { return goes_on() };
    values::write(&root.join(VALUES), &lab.kernel, rows)?;
    println!("lab: {VALUES} is written");
    if tables.iter().any(|table| table.points.len() < file.paths(&table.pair).len()) {
        return goes_on();
    }
    match tables.iter().flat_map(|table| &table.points).filter(|it| it.is_unexplained()).count() {
        0 => Ok(()),
        count => Err(Stop::failed(&format!(
            "{count} points differ by more than {} % and are not explained",
            points::ACCEPTED.percent
        ))),
    }
}

/// The release of what is measured, and in which time.
fn kernel(real_time: bool) -> Result<String, Stop> {
    if real_time {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease");
        let release = release.map_err(|error| unable("lab", &error))?;
        return Ok(format!("{}, in real time", release.trim()));
    }
    let kernel = Kernel::find(DEFAULT_KERNEL, &Cache::of_user())?;
    Ok(format!("{}, in virtual time", kernel.release()?))
}

fn goes_on() -> Result<(), Stop> {
    println!("lab: something is missing; the same command goes on from here");
    Ok(())
}

const DOCUMENT: &str = "docs/lab.md";
const VALUES: &str = "papers/lab.toml";
const CACHE: &str = "firstflight-out/lab/kept";
const PROGRAMS: &str = "firstflight-out/lab";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let read = crate::testing::options::<Options>;
        let some = read("--minutes 4 --again").unwrap();
        assert_eq!((some.minutes, some.tries, some.again), (Some(4), 3, true));
        assert!(!some.rows && read("--rows").unwrap().rows);
        for wrong in ["--tries 0", "--tris 1", "--minutes"] {
            assert_eq!(read(wrong).unwrap_err().code, 2, "{wrong}");
        }
    }

    #[test]
    fn the_file_of_paths_is_read() {
        let file: File = toml::from_str(include_str!("../../../validation/kernel.toml")).unwrap();
        let paths: Vec<usize> = file.pair.iter().map(|pair| file.paths(pair).len()).collect();
        assert_eq!(paths, [12, 12, 12, 10, 5, 5]);
    }
}
