//! `kernel unload`.

use firstflight_kernel::catalogue::{available, kernel_name};
use firstflight_kernel::pinned;

use super::Unload;
use super::status::{Document, Loaded, called, foreign_in_words, loaded, unreadable};
use crate::failure::{Failure, Status};
use crate::output;

/// Unloads what was named, or nothing if one of the names is none or is a namespace's default.
pub(super) fn unload(args: &Unload) -> Result<Status, Failure> {
    let (loaded, foreign) = loaded(args.force)?;
    let names = names(args, &loaded)?;
    let (going, staying): (Vec<Loaded>, Vec<Loaded>) =
        loaded.into_iter().partition(|control| names.contains(&control.name));
    if !args.force {
        going.iter().try_for_each(refuse_default)?;
    }
    for control in &going {
        pinned::unpin(&control.name).map_err(unreadable)?;
    }
    if args.json {
        output::print(&Document::new(staying, &foreign).without(going).text()?)?;
        return Ok(Status::Done);
    }
    let mut text = String::new();
    if going.is_empty() {
        text.push_str("no control of firstflight is loaded\n");
    }
    for control in &going {
        text += &format!("{}: unloaded\n", control.name);
        let users = control.users();
        if !users.is_empty() {
            text += "  still used by, until it ends or is changed:\n";
            users.lines().for_each(|line| text += &format!("  {line}\n"));
        }
    }
    if args.all {
        text += &foreign_in_words(&foreign);
    }
    output::print(&text)?;
    Ok(Status::Done)
}

/// The kernel's names of what is to go.
fn names(args: &Unload, loaded: &[Loaded]) -> Result<Vec<String>, Failure> {
    let all: Vec<String> = loaded.iter().map(|control| control.name.clone()).collect();
    if args.all {
        return Ok(all);
    }
    let find = |text: &String| {
        // As it was written at load, knobs and all, perhaps under a name of the user's own.
        let control = text.split(['(', '+']).next().unwrap_or_default();
        let own = control.split_once('=').map_or(text.as_str(), |(name, _)| name).trim();
        let wanted = [own.to_owned(), kernel_name(control)];
        all.iter().find(|name| wanted.contains(name)).cloned().ok_or_else(|| {
            let accepted = if all.is_empty() { "none is".to_owned() } else { all.join(", ") };
            let others = available().into_iter().any(|name| wanted.contains(&name));
            Failure::Usage(match others {
                true => {
                    format!("`{text}` was not loaded by `kernel load` here; accepted: {accepted}")
                }
                false => format!("no control `{text}` is loaded; accepted: {accepted}"),
            })
        })
    };
    args.controls.iter().map(find).collect()
}

/// A namespace's default goes on to new connections, loaded or not. What it says to set instead is
/// taken in every namespace, where the kernel takes only tcp_allowed_congestion_control.
fn refuse_default(control: &Loaded) -> Result<(), Failure> {
    let Some(namespace) = control.default_in.first() else { return Ok(()) };
    let namespace = called(namespace);
    Err(Failure::Broke(format!(
        "kernel unload: {} is the default of {namespace}, whose new connections would \
         go on getting it; set another there (sysctl -w net.ipv4.tcp_congestion_control=reno), \
         or --force",
        control.name
    )))
}
