//! Names of files, each handed out once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The names that are taken.
#[derive(Debug, Default)]
pub struct Names(Mutex<BTreeSet<String>>);

impl Names {
    /// The name and its ending, with as many `_` between them as it takes to be new.
    pub fn take(&self, name: &str, ending: &str) -> String {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut whole = format!("{name}{ending}");
        for more in 1.. {
            if taken.insert(whole.clone()) {
                break;
            }
            whole = format!("{name}{}{ending}", "_".repeat(more));
        }
        whole
    }

    /// How many were handed out.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
