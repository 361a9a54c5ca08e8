//! Why a guest did not start or has ended. A command's exit code follows from the kind.

use std::path::Path;

use firstflight_outside::{MAKE_ROOM, is_full};

/// Displayed, each is one message with what was found and what is accepted, or how to get it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GuestError {
    /// The machine lacks something: qemu, a tool, the archive of packages.
    #[error("{0}")]
    Lacks(String),
    /// What was given is no kernel or no image.
    #[error("{0}")]
    Input(String),
    /// The guest, or a tool, broke.
    #[error("{0}")]
    Failed(String),
    /// The guest was ended, because it took longer than it may.
    #[error("the guest took longer than {} s of this machine's time", .0.as_secs())]
    Overdue(std::time::Duration),
    /// The user stopped it.
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
