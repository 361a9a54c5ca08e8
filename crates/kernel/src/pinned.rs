//! Controls that stay loaded when the program that loaded them ends: pinned in the BPF file system.
//!
//! A loaded control is a folder there with two files: `control`, a map with its knobs and its name
//! in full, and `link`, which keeps it registered. The link is pinned last and removed first, so a
//! folder without it is what an interrupted command left, and the next one clears it away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore as _, MapFlags, MapHandle};

use crate::load::{LOADED, LoadError, Registered, TEXT_OFFSET};
use crate::requirements::BPFFS;

/// A control that is loaded until it is unloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The kernel's name for it.
    pub name: String,
    /// The control in full, as results name it.
    pub control: String,
}

/// Pins every one of these, or none.
///
/// # Errors
/// The file system takes no pins; all are unregistered again then.
pub fn pin(controls: Vec<Registered>) -> Result<Vec<Pinned>, LoadError> {
    let mut done: Vec<Pinned> = Vec::new();
    for mut control in controls {
        let name = control.name().to_owned();
        if let Err(error) = pin_one(&mut control) {
            let names = done.iter().map(|pinned| pinned.name.as_str()).chain([name.as_str()]);
            // What cannot be removed was not made; what is told is why it could not be.
            names.for_each(|name| drop(remove(&folder(name))));
            return Err(LoadError::Refused { name, reason: format!("{BPFFS}: {error}") });
        }
        done.push(Pinned { name, control: control.full().to_owned() });
    }
    Ok(done)
}

/// Every pinned control, by name.
///
/// # Errors
/// The folder cannot be read.
pub fn list() -> io::Result<Vec<Pinned>> {
    let entries = match fs::read_dir(root()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if path.join(LINK).exists() {
            let control = control_of(&path).unwrap_or_default();
            found.push(Pinned { name: name.to_owned(), control });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Unloads a control: no new connection can choose it, and the name is free. Connections that use
/// it keep it until they end. Whether there was one.
///
/// # Errors
/// The folder cannot be removed.
pub fn unpin(name: &str) -> io::Result<bool> {
    let folder = folder(name);
    let there = folder.join(LINK).exists();
    if folder.exists() {
        remove(&folder)?;
    }
    Ok(there)
}

fn pin_one(control: &mut Registered) -> Result<(), libbpf_rs::Error> {
    let folder = folder(control.name());
    if folder.exists() {
        // Of an interrupted command: the name could not have been registered otherwise.
        remove(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    if let Some(mut map) = control.map(LOADED) {
        map.pin(folder.join(CONTROL))?;
    }
    control.link().pin(folder.join(LINK))
}

fn remove(folder: &Path) -> io::Result<()> {
    for file in [LINK, CONTROL] {
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

/// The name in full, out of the pinned map.
fn control_of(folder: &Path) -> Option<String> {
    let map = MapHandle::from_pinned_path(folder.join(CONTROL)).ok()?;
    let value = map.lookup(&[0; 4], MapFlags::ANY).ok()??;
    let text = value.get(TEXT_OFFSET..)?.split(|byte| *byte == 0).next()?;
    String::from_utf8(text.to_vec()).ok()
}

fn root() -> PathBuf {
    Path::new(BPFFS).join("firstflight")
}

fn folder(name: &str) -> PathBuf {
    root().join(name)
}

/// Names in the folder.
const LINK: &str = "link";
const CONTROL: &str = "control";
