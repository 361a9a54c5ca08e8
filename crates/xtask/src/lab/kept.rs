//! What was measured, kept as JSON between two runs of the task.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Stop;
use crate::step::unable;

/// Measured values by what was measured where.
pub(super) struct Kept {
    file: PathBuf,
    values: BTreeMap<String, Measured>,
}

/// One run on the kernel, as far as it is compared, or the lines of a benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Throughput.
    pub mbps: f64,
    /// At the bottleneck.
    pub drops: u64,
    /// 99 % of the packets were at most this late, us.
    pub late_p99_us: f64,
    /// Lines of a benchmark.
    pub lines: Vec<String>,
}

impl Kept {
    /// What is in the file; nothing if there is none or `again` is said.
    pub(super) fn open(file: &Path, again: bool) -> Result<Self, Stop> {
        let values = match fs::read_to_string(file) {
            Ok(text) if !again => serde_json::from_str(&text).map_err(|error| {
                let file = file.display();
                Stop::usage(&format!("{file}: {error}; accepted: what `lab` wrote, or no file"))
            })?,
            _ => BTreeMap::new(),
        };
        Ok(Self { file: file.to_owned(), values })
    }

    pub(super) fn get(&self, key: &str) -> Option<&Measured> {
        self.values.get(key)
    }

    /// Keeps a value, on disk too.
    pub(super) fn put(&mut self, key: &str, value: Measured) -> Result<(), Stop> {
        self.values.insert(key.to_owned(), value);
        let text = serde_json::to_string_pretty(&self.values).unwrap_or_default();
        let write = || {
            fs::create_dir_all(self.file.parent().unwrap_or(Path::new(".")))?;
            let fresh = self.file.with_extension("fresh");
            fs::write(&fresh, text)?;
            fs::rename(fresh, &self.file)
        };
        write().map_err(|error| unable(&self.file.display().to_string(), &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_until_they_are_measured_again() {
        let dir = std::env::temp_dir().join(format!("firstflight-kept-{}", std::process::id()));
        let file = dir.join("kept.json");
        let value = Measured { mbps: 2.5, drops: 3, ..Measured::default() };
        Kept::open(&file, false).unwrap().put("a", value.clone()).unwrap();
        assert_eq!(Kept::open(&file, false).unwrap().get("a"), Some(&value));
        assert_eq!(Kept::open(&file, true).unwrap().get("a"), None);
        fs::write(&file, "{").unwrap();
        assert!(Kept::open(&file, false).is_err());
        fs::remove_dir_all(&dir).unwrap();
    }
}
