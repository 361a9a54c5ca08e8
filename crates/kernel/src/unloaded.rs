//! Controls that were unloaded while connections used them. Those keep the control with the knobs
//! of its load until they end, and so does a network namespace whose default it was; a later load
//! under the same name changes nothing for them.
//!
//! The kernel keeps the maps of such a control as long as something uses it. The map with its knobs
//! begins with its text and its name.

use std::fs;

use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore as _, MapFlags, MapHandle};

use crate::catalogue::available;
use crate::folder::root;
use crate::load::{LOADED, TEXT_MAX};
use crate::pinned::{CONTROL, Pinned};

/// What the kernel still holds of earlier loads under firstflight's pins, or under names that are
/// free again. A control that was unloaded a moment ago may be among them though nothing uses it.
/// It takes CAP_SYS_ADMIN, and nothing is found without.
pub fn list() -> Vec<Pinned> {
    let pinned: Vec<(String, Option<u32>)> = fs::read_dir(root())
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .map(|(name, folder)| (name, id(&folder.join(CONTROL))))
        .collect();
    let registered = available();
    let is_earlier = |id: u32, name: &str| {
        let known = pinned.iter().any(|(pinned, _)| pinned == name);
        // What is registered without a pin is a running program's.
        !pinned.iter().any(|(_, pinned)| *pinned == Some(id))
            && (known || !registered.iter().any(|registered| registered == name))
    };
    let maps =
        MapInfoIter::default().filter(|map| map.name.as_encoded_bytes() == LOADED.as_bytes());
    let mut found: Vec<Pinned> = maps
        .filter_map(|map| Some((map.id, read(&MapHandle::from_map_id(map.id).ok()?)?)))
        .filter(|(id, load)| is_earlier(*id, &load.name))
        .map(|(_, load)| load)
        .collect();
    found.sort_by(|one, other| (&one.name, &one.control).cmp(&(&other.name, &other.control)));
    found
}

fn id(pin: &std::path::Path) -> Option<u32> {
    Some(MapHandle::from_pinned_path(pin).ok()?.info().ok()?.info.id)
}

/// The control in full and its name, where the load wrote both.
fn read(map: &MapHandle) -> Option<Pinned> {
    let value = map.lookup(&[0; 4], MapFlags::ANY).ok()??;
    let mut texts = value.get(..TEXT_MAX)?.split(|byte| *byte == 0);
    let mut text = || String::from_utf8(texts.next()?.to_vec()).ok().filter(|it| !it.is_empty());
    let control = text()?;
    Some(Pinned { name: text()?, control })
}
