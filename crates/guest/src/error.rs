//! Why there is no guest, or none any more; the kind is what a command's exit code is made of.

use std::path::Path;

use firstflight_outside::{MAKE_ROOM, is_full};

/// Displayed in one message that says what was found and what is accepted, or how to get it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GuestError {
    /// The machine lacks something: qemu, a tool, the archive of packages.
    #[error("{0}")]
    Lacks(String),
    /// A kernel or an image that is none.
    #[error("{0}")]
    Input(String),
    /// The guest, or a tool, broke.
    #[error("{0}")]
    Failed(String),
    /// The guest was ended, because it took longer than it may.
    #[error("the guest took longer than {} s of this machine's time", .0.as_secs())]
    Overdue(std::time::Duration),
    /// Told to stop.
    #[error("interrupted")]
    Interrupted,
}

impl GuestError {
    /// A file or folder that cannot be read or written.
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Self {
        let path = path.display();
        match is_full(error) {
            true => Self::Lacks(format!("{path}: {error}; {MAKE_ROOM}")),
            false => Self::Failed(format!("{path}: {error}")),
        }
    }
}
