//! Controls that stay loaded when the program that loaded them ends: pinned in the BPF file system.
//!
//! A loaded control is a folder there with two files: `control`, a map with its knobs and its name
//! in full, and `link`, which keeps it registered. The link is pinned last and removed first, so a
//! folder without it is what an interrupted command left, and the next one clears it away.
//!
//! A kernel without links ([`Hold::Entry`]) goes on without any file. There the second file is
//! `entry`, the map whose entry is the registration; it is pinned before the control is registered,
//! so that whatever is registered can be found and taken out again.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore as _, MapFlags, MapHandle};

use crate::folder::{lock_root, root};
use crate::load::{LOADED, LoadError, Prepared, STRUCT_OPS, TEXT_MAX, check_free, until_free};
use crate::registration::Hold;
use crate::requirements::{BPFFS, Lack};

/// A control that is loaded until it is unloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The kernel's name for it.
    pub name: String,
    /// The control in full, as results name it.
    pub control: String,
}

/// Registers and pins every one of these, or none.
///
/// # Errors
/// A name is taken, or the file system takes no pins; all are unregistered again then.
pub fn pin(controls: Vec<Prepared>) -> Result<Vec<Pinned>, LoadError> {
    let _lock = lock_root(true).map_err(|error| Lack::Pins(error.to_string()))?;
    let mut done: Vec<Pinned> = Vec::new();
    for control in controls {
        let pinned = Pinned { name: control.name().to_owned(), control: control.full().to_owned() };
        if let Err(error) = register(control) {
            // The error that is returned is the first one.
            done.iter().for_each(|pinned| drop(take_back(&pinned.name)));
            return Err(error);
        }
        done.push(pinned);
    }
    Ok(done)
}

/// Every pinned control, by name, and what else lies there.
///
/// # Errors
/// The folder cannot be read.
pub fn list() -> io::Result<(Vec<Pinned>, Vec<PathBuf>)> {
    let Some(_lock) = lock_root(false)? else { return Ok((Vec::new(), Vec::new())) };
    let (mut found, mut foreign) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(root())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|_| is_loaded(&path)) {
            let control = control_of(&path).unwrap_or_default();
            found.push(Pinned { name: name.to_owned(), control });
        } else if is_interrupted(&path) {
            // A user who may only read leaves it there.
            let _ = remove(&path);
        } else {
            foreign.push(path);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    foreign.sort();
    Ok((found, foreign))
}

/// Unloads a control: no new connection can choose it, and the name is free. Connections that use
/// it keep it until they end. Whether there was one.
///
/// # Errors
/// The folder cannot be removed.
pub fn unpin(name: &str) -> io::Result<bool> {
    let Some(_lock) = lock_root(false)? else { return Ok(false) };
    let folder = folder(name);
    if is_loaded(&folder) {
        return take_back(name).map(|()| true);
    }
    if is_interrupted(&folder) {
        remove(&folder)?;
    }
    Ok(false)
}

/// Unregisters one and removes its pins; the name is free then.
fn take_back(name: &str) -> io::Result<()> {
    remove(&folder(name))?;
    until_free(name).map_err(io::Error::other)
}

fn is_loaded(folder: &Path) -> bool {
    [LINK, ENTRY].iter().any(|file| folder.join(file).exists())
}

/// Whether an interrupted command left it.
fn is_interrupted(folder: &Path) -> bool {
    let about = fs::symlink_metadata(folder);
    about.is_ok_and(|about| about.is_dir() && about.mode() & 0o7777 == UNFINISHED)
}

/// Registers and pins one, or leaves nothing.
fn register(mut control: Prepared) -> Result<(), LoadError> {
    let name = control.name().to_owned();
    check_free(&name)?;
    let folder = folder(&name);
    let outcome = pin_maps(&mut control, &folder)
        .map_err(|error| unpinnable(&name, &error))
        .and_then(|()| control.register())
        .and_then(|registered| {
            registered.stay(&folder.join(LINK)).map_err(|error| unpinnable(&name, &error))
        });
    match outcome.is_err() {
        true => drop(remove(&folder)),
        // Where this fails, the link shows that it is loaded.
        false => drop(fs::set_permissions(&folder, Permissions::from_mode(FINISHED))),
    }
    outcome
}

fn unpinnable(name: &str, error: &libbpf_rs::Error) -> LoadError {
    LoadError::Refused { name: name.to_owned(), reason: format!("{BPFFS}: {error}") }
}

/// What is pinned before the control is registered.
fn pin_maps(control: &mut Prepared, folder: &Path) -> Result<(), libbpf_rs::Error> {
    if folder.exists() {
        // Of an interrupted command: the name would not be free otherwise.
        remove(folder)?;
    }
    DirBuilder::new().mode(UNFINISHED).create(folder)?;
    if let Some(mut map) = control.map(LOADED) {
        map.pin(folder.join(CONTROL))?;
    }
    let pins_entry = control.hold() == Hold::Entry;
    match control.map(STRUCT_OPS) {
        Some(mut map) if pins_entry => map.pin(folder.join(ENTRY)),
        _ => Ok(()),
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    unregister(&folder.join(ENTRY))?;
    fs::set_permissions(folder, Permissions::from_mode(UNFINISHED))?;
    for file in [LINK, ENTRY, CONTROL] {
        match fs::remove_file(folder.join(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_dir(folder)?;
    // The common folder goes with the last control.
    let _ = fs::remove_dir(root());
    Ok(())
}

/// Deletes the entry of a pinned map, if there are both.
fn unregister(entry: &Path) -> io::Result<()> {
    if !entry.exists() {
        return Ok(());
    }
    let map = MapHandle::from_pinned_path(entry).map_err(io::Error::other)?;
    match map.delete(&[0; 4]) {
        // Never registered.
        Err(error) if error.kind() == libbpf_rs::ErrorKind::NotFound => Ok(()),
        outcome => outcome.map_err(io::Error::other),
    }
}

/// The name in full, out of the pinned map.
fn control_of(folder: &Path) -> Option<String> {
    let map = MapHandle::from_pinned_path(folder.join(CONTROL)).ok()?;
    let value = map.lookup(&[0; 4], MapFlags::ANY).ok()??;
    let text = value.get(..TEXT_MAX)?.split(|byte| *byte == 0).next()?;
    String::from_utf8(text.to_vec()).ok()
}

fn folder(name: &str) -> PathBuf {
    root().join(name)
}

/// The folder of a control that is loaded, and of one that is being made or removed: the sticky bit
/// says nothing where nobody else may write.
const FINISHED: u32 = 0o700;
const UNFINISHED: u32 = 0o1700;
/// Names in the folder.
const LINK: &str = "link";
const ENTRY: &str = "entry";
pub(crate) const CONTROL: &str = "control";
