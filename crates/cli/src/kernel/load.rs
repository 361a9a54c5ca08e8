//! `kernel load`.

use firstflight_kernel::load::Options;
use firstflight_kernel::pinned;
use firstflight_kernel::{Prepared, requirements};
use firstflight_report::wrapped;

use super::status::{Document, Loaded};
use super::{Load, Wanted};
use crate::failure::{Failure, Status};
use crate::output;
use crate::socket_buffers::allowed;

/// Loads all of these, or none.
pub(super) fn load(wanted: Vec<Wanted>, args: &Load) -> Result<Status, Failure> {
    requirements::check()?;
    requirements::check_pinning()?;
    let mut prepared = Vec::new();
    for Wanted { name, control } in wanted {
        if !control.missing.is_empty() {
            let (full, missing) = (&control.full, control.missing);
            output::note(&format!("{full} runs without {missing}, which the kernel lacks"));
        }
        let options = Options { name, without_link: args.without_link, ..Options::default() };
        prepared.push(Prepared::load(&control, &options)?);
    }
    let loaded: Vec<Loaded> = pinned::pin(prepared)?.into_iter().map(Loaded::unused).collect();
    let buffers = allowed();
    if args.json {
        output::print(&Document::new(loaded, &[]).with_socket_buffers(buffers).text()?)?;
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
    if let Some(buffers) = buffers {
        text += &wrapped(&buffers.sentence(), output::screen().width, "  ");
    }
    output::print(&text)?;
    Ok(Status::Done)
}
