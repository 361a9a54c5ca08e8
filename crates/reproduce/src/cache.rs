//! Finished runs on disk, so that a reproduction goes on where it stopped and a second one is
//! instant.
//!
//! An entry is one file named by the hash of its key. It holds the key, the run, and a hash of
//! both. A file that is damaged or has another key counts as absent.

use std::path::{Path, PathBuf};

use firstflight_report::{ReportError, write_file};
use firstflight_results::{RunResult, Series};
use firstflight_runner::Run;
use serde::{Deserialize, Serialize};

/// A directory of finished runs.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    result: RunResult,
    flows: Vec<Columns>,
    queues: Vec<Columns>,
}

/// A [`Series`] as stored.
#[derive(Serialize, Deserialize)]
struct Columns {
    names: Vec<String>,
    rows: Vec<Vec<Option<f64>>>,
}

impl Cache {
    /// A cache in `dir`, which is made if it is missing.
    ///
    /// # Errors
    /// A directory that cannot be written.
    pub(crate) fn open(dir: &Path) -> Result<Self, ReportError> {
        // Written before anything runs: what cannot be kept is found out at once.
        let about = "Finished runs of `firstflight reproduce`; may be deleted at any time.\n";
        write_file(&dir.join("README.txt"), about)?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// The run kept under this key, if there is one that is whole.
    pub(crate) fn load(&self, key: &str) -> Option<Run> {
        let text = firstflight_outside::text(&self.path(key), MOST).ok()?;
        let (head, body) = text.split_once('\n')?;
        if head != format!("{MAGIC} {:032x}", fnv128(body.as_bytes())) {
            return None;
        }
        let entry: Entry = serde_json::from_str(body).ok()?;
        if entry.key != key {
            return None;
        }
        let tables = |columns: Vec<Columns>| columns.into_iter().map(Columns::series).collect();
        Some(Run::new(entry.result, tables(entry.flows), tables(entry.queues)))
    }

    /// Keeps a run.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn store(&self, key: &str, run: &Run) -> Result<(), ReportError> {
        let path = self.path(key);
        let failed = |reason: String| ReportError::Render { id: "cache entry".into(), reason };
        let entry = Entry {
            key: key.to_owned(),
            result: run.result.clone(),
            flows: run.flows.iter().map(Columns::of).collect(),
            queues: run.queues.iter().map(Columns::of).collect(),
        };
        let body = serde_json::to_string(&entry).map_err(|error| failed(error.to_string()))?;
        write_file(&path, format!("{MAGIC} {:032x}\n{body}", fnv128(body.as_bytes())))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{:032x}.json", fnv128(key.as_bytes())))
    }
}

impl Columns {
    fn of(series: &Series) -> Self {
        let rows = series.rows().map(<[_]>::to_vec).collect();
        Self { names: series.columns().to_vec(), rows }
    }

    fn series(self) -> Series {
        let width = self.names.len().max(1);
        let mut series =
            Series::new(if self.names.is_empty() { vec!["time_s".to_owned()] } else { self.names });
        for row in self.rows.iter().filter(|row| row.len() == width) {
            series.push(row);
        }
        series
    }
}

/// FNV-1a of 128 bits. It need not resist attacks, because users own the directory.
fn fnv128(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

const MAGIC: &str = "firstflight/run@1";
/// Bytes of a kept run, far more than any has.
const MOST: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn run() -> Run {
        let mut series = Series::new(["time_s", "cwnd_packets"]);
        series.push(&[Some(0.1), None]);
        let result = RunResult { seed: 7, jain_index: 1.0 / 3.0, ..RunResult::default() };
        Run::new(result, vec![series.clone()], vec![series])
    }

    fn cache(name: &str) -> Cache {
        let dir = std::env::temp_dir().join(format!("firstflight-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        Cache::open(&dir).unwrap()
    }

    #[test]
    fn a_run_comes_back_as_it_was_kept() {
        let cache = cache("kept");
        cache.store("a", &run()).unwrap();
        let back = cache.load("a").unwrap();
        assert_eq!((back.result, back.flows), (run().result, run().flows));
        assert!(cache.load("b").is_none());
        fs::remove_dir_all(&cache.dir).unwrap();
    }

    #[test]
    fn a_damaged_entry_is_no_entry() {
        let cache = cache("damaged");
        cache.store("a", &run()).unwrap();
        let path = cache.path("a");
        let whole = fs::read_to_string(&path).unwrap();
        for damaged in
            ["", "x", &whole[..whole.len() - 2], &whole.replace("\"seed\":7", "\"seed\":8")]
        {
            fs::write(&path, damaged).unwrap();
            assert!(cache.load("a").is_none(), "{damaged}");
        }
        // Another key under this name: a collision is noticed.
        fs::rename(&path, cache.path("b")).unwrap();
        assert!(cache.load("b").is_none());
        fs::remove_dir_all(&cache.dir).unwrap();
    }
}
