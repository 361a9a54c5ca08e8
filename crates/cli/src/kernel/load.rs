//! `kernel load`.

use firstflight_kernel::load::Options;
use firstflight_kernel::pinned;
use firstflight_kernel::{Registered, requirements};

use super::Wanted;
use super::status::{Document, Loaded};
use crate::failure::{Failure, Status};
use crate::output;

/// Loads all of these, or none.
pub(super) fn load(wanted: Vec<Wanted>, json: bool) -> Result<Status, Failure> {
    requirements::check_pinning()?;
    let mut registered = Vec::new();
    for wanted in wanted {
        let options = Options { name: wanted.name, recording: false };
        registered.push(Registered::load(&wanted.control, &options)?);
    }
    let loaded: Vec<Loaded> = pinned::pin(registered)?.into_iter().map(Loaded::unused).collect();
    if json {
        output::print(&Document::new(loaded).text()?)?;
        return Ok(Status::Done);
    }
    let mut text = String::new();
    for control in &loaded {
        text += &format!("{}: {}, loaded\n", control.name, control.control);
    }
    if let Some(first) = loaded.first() {
        text += &super::HOW_TO_USE.replace("ff_astart", &first.name);
        text.push('\n');
    }
    output::print(&text)?;
    Ok(Status::Done)
}
