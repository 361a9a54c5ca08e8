//! Finished runs on disk, so that a reproduction goes on where it stopped and a second one is
//! instant. A file that is damaged, or is that of another key, counts as absent.

use std::path::Path;

use firstflight_outside::{FileStore, content_name};
use firstflight_report::{ReportError, write_file};
use firstflight_results::{RunResult, Series};
use firstflight_runner::Run;
use serde::{Deserialize, Serialize};

/// A directory of finished runs.
#[derive(Clone, Debug)]
pub(crate) struct Cache(FileStore);

#[derive(Serialize, Deserialize)]
struct Entry {
    result: RunResult,
    flows: Vec<Series>,
    queues: Vec<Series>,
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
        Ok(Self(FileStore::new(dir, "json")))
    }

    /// The run kept under this key, if there is one that is whole.
    pub(crate) fn load(&self, key: &str) -> Option<Run> {
        let text = self.0.get(&content_name(key.as_bytes()))?;
        let Entry { result, flows, queues } = serde_json::from_str(&text).ok()?;
        Some(Run::new(result, flows, queues))
    }

    /// Keeps a run.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn store(&self, key: &str, run: &Run) -> Result<(), ReportError> {
        let Run { result, flows, queues, .. } = run.clone();
        let text = serde_json::to_string(&Entry { result, flows, queues });
        let text = text.map_err(|error| ReportError::Render {
            id: "cache entry".into(),
            reason: error.to_string(),
        })?;
        Ok(self.0.put(&content_name(key.as_bytes()), &text)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn run() -> Run {
        seeded(7)
    }

    fn seeded(seed: u64) -> Run {
        let mut series = Series::new(["time_s", "cwnd_packets"]);
        series.push(&[Some(0.1), None]);
        let result = RunResult { seed, jain_index: 1.0 / 3.0, ..RunResult::default() };
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
        fs::remove_dir_all(cache.0.dir()).unwrap();
    }

    #[test]
    fn a_damaged_entry_is_no_entry() {
        let cache = cache("damaged");
        let path = |key: &str, seed| -> PathBuf {
            cache.store(key, &seeded(seed)).unwrap();
            let folder = cache.0.dir().join(&content_name(key.as_bytes())[..2]);
            fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
        };
        let (kept, other) = (path("a", 7), path("b", 8));
        let whole = fs::read_to_string(&kept).unwrap();
        for damaged in
            ["", "x", &whole[..whole.len() - 2], &whole.replace("\"seed\":7", "\"seed\":8")]
        {
            fs::write(&kept, damaged).unwrap();
            assert!(cache.load("a").is_none(), "{damaged}");
        }
        // The file of another key under this name is noticed.
        fs::rename(&other, &kept).unwrap();
        assert!(cache.load("a").is_none() && cache.load("b").is_none());
        fs::remove_dir_all(cache.0.dir()).unwrap();
    }
}
