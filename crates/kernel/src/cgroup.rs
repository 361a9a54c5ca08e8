//! Cgroups by number, as BPF programs name them, and the BPF programs of others that are attached
//! to cgroups of this host.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use libbpf_rs::ProgramType;
use libbpf_rs::query::ProgInfoIter;

use crate::watch::{WatchError, cgroup2, default_cgroup};

/// A cgroup by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cgroup {
    /// How far it is below the root.
    pub(crate) level: u32,
    pub(crate) id: u64,
}

impl Cgroup {
    /// The cgroup of a folder.
    ///
    /// # Errors
    /// It is no folder of a cgroup2 file system, or lies outside of the one that is mounted.
    pub fn of(folder: &Path) -> Result<Self, WatchError> {
        cgroup2(folder)?;
        let wrong = |error| WatchError::Cgroup(folder.to_owned(), error, String::new());
        let whole = folder.canonicalize().map_err(wrong)?;
        let id = fs::metadata(&whole).map_err(wrong)?.ino();
        let root = default_cgroup().unwrap_or_default();
        let below = whole.strip_prefix(&root).map_err(|_| {
            wrong(std::io::Error::other("not below the cgroup2 file system that is mounted first"))
        })?;
        Ok(Self { level: u32::try_from(below.components().count()).unwrap_or(u32::MAX), id })
    }

    /// Its folder, if it is still there.
    pub fn folder(self) -> Option<PathBuf> {
        find(&default_cgroup()?, self)
    }
}

/// The folder of a cgroup that is so far below this one.
fn find(folder: &Path, Cgroup { level, id }: Cgroup) -> Option<PathBuf> {
    let Some(level) = level.checked_sub(1) else {
        return fs::metadata(folder).is_ok_and(|it| it.ino() == id).then(|| folder.to_owned());
    };
    let below = fs::read_dir(folder).ok()?.flatten();
    let mut below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    below.find_map(|entry| find(&entry.path(), Cgroup { level, id }))
}

/// The programs of cgroups for connections (`BPF_PROG_TYPE_SOCK_OPS`) on this host that are not of
/// this project, each as `NAME (program NUMBER)`; none where the kernel does not tell.
pub fn other_programs() -> Vec<String> {
    let all = ProgInfoIter::default().filter(|it| it.ty == ProgramType::SockOps);
    let named = all.map(|it| (it.name.to_string_lossy().into_owned(), it.id));
    let others = named.filter(|(name, _)| !OURS.contains(&name.as_str()));
    others.map(|(name, id)| format!("{name} (program {id})")).collect()
}

const OURS: [&str; 3] = ["ff_steer", "ff_trial", "ff_watch"];
