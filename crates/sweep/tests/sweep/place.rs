//! A directory of its own for each test, and what the tests do in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use firstflight_quic_sim::quinn::SIM;
use firstflight_sweep::{Done, Format, Shard, Store, Sweep, run};

/// Gone after the test.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("sweep-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn sweep(&self, text: &str) -> Sweep {
        Sweep::parse(text, "grid.toml", &self.0, Arc::new(SIM)).unwrap()
    }

    pub(crate) fn store(&self, folder: &str, sweep: &Sweep) -> Store {
        Store::open(&self.path(folder), sweep, Format::Csv, Shard::WHOLE).unwrap()
    }

    /// The bytes of the files that a finished sweep leaves.
    pub(crate) fn results(&self, folder: &str) -> Vec<Vec<u8>> {
        let file = |name| fs::read(self.path(folder).join(name)).unwrap();
        ["flows.csv", "points.csv", "summary.csv"].map(file).to_vec()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is left behind lies in the target directory and hurts nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs one shard with nobody to stop it.
pub(crate) fn run_shard(sweep: &Sweep, store: &Store, shard: &str) -> Done {
    run(sweep, store, shard.parse().unwrap(), &AtomicBool::new(false), &|_, _| {}).unwrap()
}

/// Every file below the chunks, with the time it was written.
pub(crate) fn chunks(store: &Store) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut files = Vec::new();
    for folder in fs::read_dir(store.dir().join("chunks")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = file.unwrap();
            files.push((file.path(), file.metadata().unwrap().modified().unwrap()));
        }
    }
    files.sort();
    files
}

/// 30 points, two controls, two seeds; an estimated 140 ms of work in several chunks.
pub(crate) const GRID: &str = "
    [scenario]
    controls = ['newreno', 'astart']
    duration = '60s'
    runs = 2
    flow = [{ size = '20MB' }]
    [grid]
    path.rate = ['5Mbps', '20Mbps', '80Mbps']
    'path.rtt' = ['20ms', '50ms', '100ms', '200ms', '400ms']
    path.loss = ['0%', '0.1%']
";
