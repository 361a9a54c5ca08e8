//! A cache of what was measured, between two runs of a study: in the store that sweeps have, under
//! the hash of what decides the result.

use std::fs;
use std::path::{Path, PathBuf};

use firstflight_outside::FileStore;
pub(crate) use firstflight_outside::content_name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Stop;

/// Measured values, each in a file of its own.
pub(crate) struct ResultCache {
    dir: PathBuf,
    store: FileStore,
}

impl ResultCache {
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), store: FileStore::new(dir, "json") }
    }

    /// What is kept under a key; a file that does not read counts as none.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(&self.store.get(&content_name(key.as_bytes()))?).ok()
    }

    /// Keeps a value.
    pub(crate) fn put<T: Serialize>(&self, key: &str, value: &T) -> Result<(), Stop> {
        let failed = |problem: String| Stop::failed(&format!("{}: {problem}", self.dir.display()));
        let text = serde_json::to_string(value).map_err(|error| failed(error.to_string()))?;
        let kept = self.store.put(&content_name(key.as_bytes()), &text);
        kept.map_err(|error| failed(error.to_string()))
    }

    /// Forgets all of it.
    pub(crate) fn clear(&self) {
        // There may be nothing.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_until_they_are_forgotten() {
        let dir = std::env::temp_dir().join(format!("firstflight-kept-{}", std::process::id()));
        let cache = ResultCache::new(&dir);
        assert_eq!(cache.get::<f64>("a"), None);
        cache.put("a", &0.1).unwrap();
        cache.put("b", &0.2).unwrap();
        assert_eq!(ResultCache::new(&dir).get::<f64>("a"), Some(0.1));
        assert_eq!(cache.get::<String>("a"), None, "another form");
        cache.clear();
        assert_eq!(cache.get::<f64>("b"), None);
    }
}
