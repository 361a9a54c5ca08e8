//! The folder of the pins. Who may rename or replace a pin decides what is unloaded, and who makes
//! the folder first owns what is put there.
//!
//! The folder has mode 0700, belongs to this program's user, and lies in a directory of root in
//! which nobody else can rename it. Both are checked each time before anything is read or written;
//! after that only its owner can change it.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::requirements::BPFFS;

/// Where the controls are pinned.
pub(crate) fn root() -> PathBuf {
    Path::new(BPFFS).join("firstflight")
}

/// Opens and locks the folder; other commands wait until the lock is dropped. `None` if there is no
/// folder and `make` is not set.
///
/// # Errors
/// Others could change what is there.
pub(crate) fn lock_root(make: bool) -> io::Result<Option<File>> {
    lock_folder(&root(), make)
}

/// [`lock_root`], for another folder in the same place.
pub(crate) fn lock_folder(root: &Path, make: bool) -> io::Result<Option<File>> {
    loop {
        check_directory(Path::new(BPFFS), &fs::symlink_metadata(BPFFS)?, own_user()?)?;
        let found = fs::symlink_metadata(root);
        match found {
            Ok(about) => check_folder(root, &about, own_user()?)?,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) if !make => return Ok(None),
            Err(_) => match DirBuilder::new().mode(0o700).create(root) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                // Another command made it meanwhile: it is checked like any.
                _ => continue,
            },
        }
        let folder = match File::open(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            folder => folder?,
        };
        // Only who can open the folder can hold this lock.
        folder.lock()?;
        // The command that had it may have removed the folder with its last control.
        let now = fs::symlink_metadata(root);
        if now.is_ok_and(|now| folder.metadata().is_ok_and(|about| about.ino() == now.ino())) {
            folder.set_permissions(Permissions::from_mode(0o700))?;
            return Ok(Some(folder));
        }
    }
}

/// Checks that nobody but root and this user can rename what lies there.
fn check_directory(path: &Path, about: &Metadata, user: u32) -> io::Result<()> {
    let (mode, owner) = (about.mode(), about.uid());
    let problem = if !about.is_dir() {
        "no directory".to_owned()
    } else if owner != 0 && owner != user {
        format!("user {owner} owns it")
    } else if mode & OTHERS_WRITE != 0 && mode & STICKY == 0 {
        format!("others can rename what is in it (mode {:04o})", mode & 0o7777)
    } else {
        return Ok(());
    };
    Err(unsafe_pins(path, &problem, "mount it so: mount -t bpf -o mode=0700 bpf /sys/fs/bpf"))
}

/// Checks that it is ours, and that nobody else can write there.
fn check_folder(path: &Path, about: &Metadata, user: u32) -> io::Result<()> {
    let (mode, owner) = (about.mode(), about.uid());
    let problem = if !about.is_dir() {
        "no directory".to_owned()
    } else if owner != user {
        format!("user {owner} made it")
    } else if mode & OTHERS_WRITE != 0 {
        format!("others can write there (mode {:04o})", mode & 0o7777)
    } else {
        return Ok(());
    };
    Err(unsafe_pins(path, &problem, "look at what is there, and remove it"))
}

fn unsafe_pins(path: &Path, problem: &str, remedy: &str) -> io::Error {
    let path = path.display();
    io::Error::other(format!("pins would not be safe in {path}: {problem}; {remedy}"))
}

/// Whose files this program makes.
fn own_user() -> io::Result<u32> {
    Ok(fs::metadata("/proc/self")?.uid())
}

const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;
