//! A program of a cgroup that stays attached when the command ends: a folder of the BPF file system
//! holds its link and its maps, guarded like that of the controls. The link is pinned last and
//! removed first, so that a folder without it is what an interrupted command left. What another
//! version of this command attached is replaced by this one's, without a moment between the two.

use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

use libbpf_rs::{Link, MapCore as _, MapHandle, ObjectBuilder, OpenObject};

use crate::load::Complaints;
use crate::steer::SteerError;
use crate::watch::{cgroup2, unattached};

/// The program.
pub(crate) struct Attached {
    pub(crate) name: &'static str,
    pub(crate) object: &'static [u8],
    /// The maps that are pinned.
    pub(crate) maps: &'static [&'static str],
}

impl Attached {
    /// Whether the folder holds it.
    pub(crate) fn is_in(folder: &Path) -> bool {
        folder.join(LINK).exists()
    }

    /// Loads the program, pins its maps, lets them be filled, attaches it, and pins its link; or
    /// leaves nothing.
    pub(crate) fn attach(
        &self,
        cgroup: &Path,
        folder: &Path,
        fill: impl FnOnce() -> Result<(), SteerError>,
    ) -> Result<(), SteerError> {
        let attached = self.try_to_attach(cgroup, folder, fill);
        if attached.is_err() {
            let _ = self.remove(folder);
        }
        attached
    }

    fn try_to_attach(
        &self,
        cgroup: &Path,
        folder: &Path,
        fill: impl FnOnce() -> Result<(), SteerError>,
    ) -> Result<(), SteerError> {
        let watched = cgroup2(cgroup)?;
        Complaints::listen();
        let builder = ObjectBuilder::default().name(self.name)?.open_memory(self.object);
        let mut object = builder.and_then(OpenObject::load)?;
        for mut map in object.maps_mut() {
            if let Some(name) = self.maps.iter().find(|name| map.name() == **name) {
                let path = folder.join(name);
                // An interrupted command left it.
                let _ = fs::remove_file(&path);
                map.pin(&path)?;
            }
        }
        fill()?;
        let program = object.progs_mut().next();
        let program = program.ok_or_else(|| SteerError::Refused("no program".to_owned()))?;
        let mut link = program
            .attach_cgroup(watched.as_raw_fd())
            .map_err(|error| unattached(cgroup, error))?;
        link.pin(folder.join(LINK))?;
        Ok(())
    }

    /// Puts this program in the place of the one that is attached, with the maps that are pinned:
    /// every connection meets the one or the other.
    pub(crate) fn replace(&self, folder: &Path) -> Result<(), SteerError> {
        Complaints::listen();
        let mut object = ObjectBuilder::default().name(self.name)?.open_memory(self.object)?;
        for mut map in object.maps_mut() {
            let Some(name) = self.maps.iter().find(|name| map.name() == **name) else { continue };
            let pinned = Self::map(folder, name).map(|pinned| pinned.value_size());
            if pinned.ok() != Some(map.value_size()) {
                return Err(SteerError::OtherVersion);
            }
            map.reuse_pinned_map(folder.join(name))?;
        }
        let object = object.load()?;
        let program = object.progs_mut().next();
        let program = program.ok_or_else(|| SteerError::Refused("no program".to_owned()))?;
        Ok(Link::open(folder.join(LINK))?.update_prog(&program)?)
    }

    /// One of its maps.
    pub(crate) fn map(folder: &Path, name: &str) -> Result<MapHandle, SteerError> {
        Ok(MapHandle::from_pinned_path(folder.join(name))?)
    }

    /// Takes it away, the link first: it is called no more then.
    pub(crate) fn remove(&self, folder: &Path) -> io::Result<()> {
        for name in [LINK].iter().chain(self.maps) {
            match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::remove_dir(folder)
    }
}

const LINK: &str = "link";
