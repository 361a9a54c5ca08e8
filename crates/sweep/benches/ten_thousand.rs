//! Ten thousand points of a 5 MB transfer with four controls: what a sweep costs beside the bare
//! runs, what a second core brings, and how much memory it takes. `-- POINTS` runs fewer.
//!
//! Bare runs and sweeps take turns; the best of the rounds counts. What a sweep costs is CPU time.
//! What a second core brings is wall time, which says little on a machine with other work: so the
//! load is printed too.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use firstflight_runner::{Options, Simulator, run as run_scenario};
use firstflight_scenario::Document;
use firstflight_sweep::{Format, Shard, Store, Sweep, run};
use nix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 3;

fn main() {
    let points = std::env::args().skip(1).find_map(|word| word.parse::<u64>().ok());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("scenarios/sweeps/short-transfers.toml");
    let text = fs::read_to_string(&file).unwrap();
    let text = match points {
        Some(points) => text.replace("points = 10000", &format!("points = {points}")),
        None => text,
    };
    let sweep =
        Sweep::parse(&text, "short-transfers.toml", &root, Arc::new(Simulator::TCP)).unwrap();
    let points = sweep.points() as f64;
    let estimated: u64 = (0..sweep.chunks()).map(|chunk| sweep.weight_ns(chunk)).sum();
    println!(
        "{points} points in {} chunks, estimated {:.2} ms a point; load {}",
        sweep.chunks(),
        estimated as f64 / points / 1e6,
        load()
    );
    let base = Document::parse(&text, "short-transfers.toml").unwrap().part("scenario").unwrap();
    let ms = |time: Duration| time.as_secs_f64() * 1e3 / points;
    let mut best = [f64::INFINITY; 4];
    for round in 1..=ROUNDS {
        let bare = bare_runs(&sweep, &base);
        let (one, two) = (swept(&sweep, 1), swept(&sweep, 2));
        println!(
            "{round}: ms of CPU a point: bare {:.3}, one core {:.3}, two cores {:.3}; wall s: \
             one core {:.2}, two {:.2}, tables {:.2}; load {}",
            ms(bare),
            ms(one.cpu),
            ms(two.cpu),
            one.wall.as_secs_f64(),
            two.wall.as_secs_f64(),
            two.merge.as_secs_f64(),
            load()
        );
        let now = [ms(bare), ms(one.cpu), one.wall.as_secs_f64(), two.wall.as_secs_f64()];
        best.iter_mut().zip(now).for_each(|(best, now)| *best = best.min(now));
    }
    let [bare, cpu, one, two] = best;
    println!("bare over sweep, CPU time  {:.1} %", bare / cpu * 100.0);
    println!("two cores over one, wall   {:.2}", one / two);
    println!("peak memory                {:.1} MB", peak_mb());
}

/// The runs alone, from a scenario that is read already to its results: CPU time.
fn bare_runs(sweep: &Sweep, base: &Document) -> Duration {
    let options = Options { serial: true, ..Options::default() };
    let mut time = Duration::ZERO;
    for point in 0..sweep.points() {
        let mut document = base.clone();
        for (key, value) in sweep.keys().iter().zip(sweep.values(point)) {
            document.set(key, &value).unwrap();
        }
        let scenario = document.scenario().unwrap();
        let before = cpu();
        std::hint::black_box(run_scenario(&scenario, &options).unwrap());
        time += cpu() - before;
    }
    time
}

/// What a sweep took.
#[derive(Clone, Copy)]
struct Swept {
    wall: Duration,
    cpu: Duration,
    /// Wall time of the tables at the end.
    merge: Duration,
}

/// The whole sweep in a folder of its own.
fn swept(sweep: &Sweep, cores: usize) -> Swept {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ten-thousand-{cores}"));
    let _ = fs::remove_dir_all(&dir);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().unwrap();
    let swept = pool.install(|| {
        let (before, used) = (Instant::now(), cpu());
        let store = Store::open(&dir, sweep, Format::Csv, Shard::WHOLE).unwrap();
        run(sweep, &store, Shard::WHOLE, &AtomicBool::new(false), &|_, _| {}).unwrap();
        let (wall, cpu) = (before.elapsed(), cpu() - used);
        let before = Instant::now();
        store.merge(sweep).unwrap();
        Swept { wall, cpu, merge: before.elapsed() }
    });
    fs::remove_dir_all(&dir).unwrap();
    swept
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap().into()
}

/// The most memory that this process has had.
fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(f64::NAN);
    kib / 1024.0
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
