//! `kernel status`, and the document that all of `kernel` prints with `--json`.

use std::fmt::Write as _;
use std::path::PathBuf;

use firstflight_answers::{Allowed, json};
use firstflight_kernel::catalogue::available;
use firstflight_kernel::cgroup::other_programs;
use firstflight_kernel::pinned::{self, Pinned};
use firstflight_kernel::requirements;
use firstflight_kernel::steer;
use firstflight_kernel::unloaded;
use firstflight_kernel::uses::{self, Uses};
use firstflight_terminal::words::count;
use serde::Serialize;

use crate::failure::{Failure, Status};
use crate::output;

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Document {
    schema: &'static str,
    /// The controls of firstflight that are loaded.
    loaded: Vec<Loaded>,
    /// What was unloaded just now or, in a status, before, and who goes on using it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unloaded: Vec<Loaded>,
    /// What lies among the pins and was not made by `kernel load`: paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<String>,
    /// Every control the kernel knows, by whomever.
    registered: Vec<String>,
    /// Programs of others that are called for connections of cgroups.
    other_programs: Vec<String>,
    /// The paths up to which this host's socket buffers are enough; `load` alone tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    socket_buffers: Option<Allowed>,
}

/// A loaded control and who uses it.
#[derive(Serialize)]
pub(super) struct Loaded {
    pub(super) name: String,
    pub(super) control: String,
    /// Controls that were loaded under its name before, with the knobs that some of its users keep;
    /// the kernel does not say which users.
    earlier: Vec<String>,
    /// The kernel takes it for new connections.
    registered: bool,
    /// The connections that use it.
    pub(super) connections: Vec<Connection>,
    /// Namespaces whose default it is.
    pub(super) default_in: Vec<String>,
    /// Routes that ask for it.
    pub(super) routes: Vec<String>,
    /// Namespaces that could not be looked into.
    unseen: Vec<String>,
}

/// A socket.
#[derive(Serialize)]
pub(super) struct Connection {
    namespace: String,
    state: String,
    local: String,
    peer: String,
}

impl Document {
    pub(super) fn new(loaded: Vec<Loaded>, foreign: &[PathBuf]) -> Self {
        let (unloaded, registered) = (Vec::new(), available());
        let foreign = foreign.iter().map(|path| path.display().to_string()).collect();
        let schema = "firstflight/kernel@1";
        let other_programs = other_programs();
        let socket_buffers = None;
        Self { schema, loaded, unloaded, foreign, registered, other_programs, socket_buffers }
    }

    /// This document with what the host's buffers are enough for.
    pub(super) fn with_socket_buffers(self, socket_buffers: Option<Allowed>) -> Self {
        Self { socket_buffers, ..self }
    }

    /// This document after the controls `gone` were unloaded.
    pub(super) fn without(self, mut gone: Vec<Loaded>) -> Self {
        gone.iter_mut().for_each(|control| control.registered = false);
        Self { unloaded: gone, ..self }
    }

    pub(super) fn text(&self) -> Result<String, Failure> {
        Ok(json(self)?)
    }
}

impl Loaded {
    fn new(pinned: Pinned, uses: Uses, registered: &[String]) -> Self {
        let connections = uses.connections.into_iter().map(|socket| Connection {
            namespace: socket.namespace,
            state: socket.state,
            local: socket.local,
            peer: socket.peer,
        });
        Self {
            registered: registered.contains(&pinned.name),
            name: pinned.name,
            control: pinned.control,
            earlier: Vec::new(),
            connections: connections.collect(),
            default_in: uses.defaults,
            routes: uses.routes,
            unseen: uses.unseen,
        }
    }

    /// One that was loaded just now.
    pub(super) fn unused(pinned: Pinned) -> Self {
        let registered = [pinned.name.clone()];
        Self::new(pinned, Uses::default(), &registered)
    }

    /// A connection has it, or a namespace gives it to new ones; a route alone holds nothing.
    fn is_used(&self) -> bool {
        !self.connections.is_empty() || !self.default_in.is_empty()
    }

    /// Its users, one a line.
    pub(super) fn users(&self) -> String {
        let mut text = String::new();
        for control in &self.earlier {
            let _ = writeln!(text, "  loaded before, and kept by users from then: {control}");
        }
        for namespace in &self.default_in {
            let _ = writeln!(text, "  default in {}", called(namespace));
        }
        for route in &self.routes {
            let _ = writeln!(text, "  route in {}", called(route));
        }
        for socket in &self.connections {
            let Connection { namespace, state, local, peer } = socket;
            let namespace = called(namespace);
            let _ = writeln!(text, "  connection {local} to {peer}, {state}, in {namespace}");
        }
        for namespace in &self.unseen {
            let _ = writeln!(text, "  not looked into: {}", called(namespace));
        }
        text
    }
}

/// A network namespace in a sentence: one without a name is that of a process.
pub(super) fn called(namespace: &str) -> String {
    match namespace.starts_with("of ") {
        true => format!("the namespace {namespace}"),
        false => format!("namespace {namespace}"),
    }
}

/// A line for each file among the pins that is none of firstflight's.
pub(super) fn foreign_in_words(foreign: &[PathBuf]) -> String {
    let line = |path: &PathBuf| {
        let path = output::plain(&path.to_string_lossy());
        format!("{path}: not made by `firstflight kernel load`, and left as it is\n")
    };
    foreign.iter().map(line).collect()
}

/// The BPF file system, or a program that tells who uses what, failed.
pub(super) fn unreadable(error: std::io::Error) -> Failure {
    Failure::Lacks(format!("kernel: {error}"))
}

/// What is pinned, and who uses it; and what else lies there. If the users are not known this
/// fails, or says so if it is to go on `anyhow`.
pub(super) fn loaded(anyhow: bool) -> Result<(Vec<Loaded>, Vec<PathBuf>), Failure> {
    requirements::check()?;
    requirements::check_pinning()?;
    let (pinned, foreign) = pinned::list().map_err(unreadable)?;
    let names: Vec<String> = pinned.iter().map(|pinned| pinned.name.clone()).collect();
    let uses = match uses::of(&names) {
        Err(error) if anyhow => {
            output::note(&format!("who uses it is not known: {error}"));
            vec![Uses::default(); names.len()]
        }
        uses => uses.map_err(unreadable)?,
    };
    let registered = available();
    let earlier = unloaded::list();
    let both = pinned.into_iter().zip(uses);
    let both = both.map(|(pinned, uses)| {
        let mut control = Loaded::new(pinned, uses, &registered);
        if control.is_used() {
            let same = earlier.iter().filter(|load| load.name == control.name);
            control.earlier = same.map(|load| load.control.clone()).collect();
        }
        control
    });
    Ok((both.collect(), foreign))
}

/// What was unloaded, or loaded by nobody any more, and is used nevertheless.
fn left_over(loaded: &[Loaded]) -> Result<Vec<Loaded>, Failure> {
    let mut earlier = unloaded::list();
    earlier.retain(|load| loaded.iter().all(|control| control.name != load.name));
    let names: Vec<String> = earlier.iter().map(|load| load.name.clone()).collect();
    let uses = uses::of(&names).map_err(unreadable)?;
    let both = earlier.into_iter().zip(uses).map(|(load, uses)| Loaded::new(load, uses, &[]));
    Ok(both.filter(Loaded::is_used).collect())
}

/// Tells what is loaded and who uses it.
pub(super) fn status(json: bool) -> Result<Status, Failure> {
    let (loaded, foreign) = loaded(false)?;
    let left_over = left_over(&loaded)?;
    if json {
        output::print(&Document::new(loaded, &foreign).without(left_over).text()?)?;
        return Ok(Status::Done);
    }
    let mut text = String::new();
    if loaded.is_empty() {
        text.push_str("no control of firstflight is loaded\n");
    }
    for control in &loaded {
        let gone = if control.registered { "" } else { ", pinned but not registered" };
        let _ = writeln!(text, "{}: {}{gone}", control.name, control.control);
        let users = control.users();
        text.push_str(if users.is_empty() { "  not used\n" } else { &users });
    }
    for control in &left_over {
        let _ = writeln!(text, "{}: {}, unloaded and still used", control.name, control.control);
        text.push_str(&control.users());
    }
    text.push_str(&foreign_in_words(&foreign));
    let _ = writeln!(text, "the kernel knows: {}", available().join(", "));
    if let Some(rules) = steer::list().ok().filter(|rules| !rules.is_empty()) {
        let rules = count(rules.len() as u64, "rule");
        let _ = writeln!(text, "{rules} of `kernel steer` (that command shows what each did)");
    }
    let others = other_programs();
    if !others.is_empty() {
        let _ = writeln!(text, "programs of others for connections: {}", others.join(", "));
    }
    output::print(&text)?;
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_told_with_its_namespace_in_a_sentence() {
        let pinned = Pinned { name: "ff_astart".to_owned(), control: "astart".to_owned() };
        let mut control = Loaded::unused(pinned);
        for namespace in ["of this program", "left"] {
            control.connections.push(Connection {
                namespace: namespace.to_owned(),
                state: "ESTAB".to_owned(),
                local: "10.0.0.1:1".to_owned(),
                peer: "10.0.0.2:2".to_owned(),
            });
        }
        let ends = "  connection 10.0.0.1:1 to 10.0.0.2:2, ESTAB, in";
        let users = format!("{ends} the namespace of this program\n{ends} namespace left\n");
        assert_eq!(control.users(), users);
    }
}
