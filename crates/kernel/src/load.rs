//! Registering a control with the running kernel.

use std::sync::Mutex;

use firstflight_control::{Control, ControlProblem};
use libbpf_rs::{
    Link, MapCore as _, MapMut, Object, ObjectBuilder, OpenMapMut, OpenObject, PrintLevel,
};

use crate::catalogue::{KernelControl, LONGEST_NAME};
use crate::knobs::{KnobValues, NotInKernel};
use crate::requirements::{self, Lack};

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// A control that the kernel knows by name, until this is dropped. Connections that use it then
/// keep it until they end.
#[derive(Debug)]
pub struct Registered {
    name: String,
    full: String,
    link: Link,
    object: Object,
}

/// What can be chosen at load beside the control.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The kernel's name for it; the control's own if `None`.
    pub name: Option<String>,
    /// Every event of every connection goes to the ring buffer ([`crate::record`]).
    pub recording: bool,
}

/// Why a control could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The machine lacks something.
    #[error(transparent)]
    Lack(#[from] Lack),
    /// The control does not read.
    #[error(transparent)]
    Control(#[from] ControlProblem),
    /// The control has no kernel version.
    #[error(transparent)]
    NotInKernel(#[from] NotInKernel),
    /// The kernel takes no such name.
    #[error(
        "name `{0}`: the kernel takes 1 to {LONGEST_NAME} letters, digits and `_`; \
         accepted: such a name, as in ff_mine=astart"
    )]
    Name(String),
    /// The name is taken.
    #[error(
        "the kernel has a congestion control `{0}` already; unload it, or load as NAME=CONTROL"
    )]
    Taken(String),
    /// libbpf or the kernel refused.
    #[error("{name}: the kernel refused: {reason}")]
    Refused {
        /// The name.
        name: String,
        /// In libbpf's words.
        reason: String,
    },
}

impl Registered {
    /// Registers a control by what users write, under its own name, as in `astart(ere.N=3)`.
    ///
    /// # Errors
    /// As [`Registered::load`], or a control that does not read.
    pub fn named(text: &str) -> Result<Self, LoadError> {
        let control = KernelControl::new(&Control::named(text)?)?;
        Self::load(&control, &Options::default())
    }

    /// Registers a control. Afterwards any socket can choose it by [`Registered::name`], in every
    /// network namespace.
    ///
    /// # Errors
    /// What the machine lacks, or why the kernel refused; nothing stays behind.
    pub fn load(control: &KernelControl, options: &Options) -> Result<Self, LoadError> {
        requirements::check()?;
        let name = options.name.clone().unwrap_or_else(|| control.name.clone());
        check_name(&name)?;
        if available().contains(&name) {
            return Err(LoadError::Taken(name));
        }
        let refused = |error: libbpf_rs::Error| LoadError::Refused {
            name: name.clone(),
            reason: Complaints::with(&error),
        };
        Complaints::listen();
        let mut object =
            open(control, &name, options).and_then(OpenObject::load).map_err(refused)?;
        let link = register(&mut object).map_err(refused)?;
        Ok(Self { name, full: control.full.clone(), link, object })
    }

    /// The kernel's name for it: what `setsockopt(TCP_CONGESTION)`, `ip route ... congctl` and the
    /// sysctl `net.ipv4.tcp_congestion_control` take.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The control in full.
    pub fn full(&self) -> &str {
        &self.full
    }

    pub(crate) fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    pub(crate) fn map(&mut self, name: &str) -> Option<MapMut<'_>> {
        self.object.maps_mut().find(|map| map.name() == name)
    }

    pub(crate) fn object(&self) -> &Object {
        &self.object
    }
}

/// Opens the control's object and writes name, knobs and text into it.
fn open(
    control: &KernelControl,
    name: &str,
    options: &Options,
) -> Result<OpenObject, libbpf_rs::Error> {
    let (_, bytes) = OBJECTS
        .iter()
        .find(|(header, _)| *header == control.pair.header)
        .ok_or_else(|| libbpf_rs::Error::from(std::io::Error::other("no such object")))?;
    let mut object = ObjectBuilder::default().name(name)?.open_memory(bytes)?;
    for mut map in object.maps_mut() {
        match map.name().to_str() {
            Some(LOADED) => {
                let recording = u64::from(options.recording).to_ne_bytes();
                let head = [&control.knobs.bytes()[..], &recording].concat();
                put(&mut map, &[&head[..], control.full.as_bytes()].concat());
            }
            Some(STRUCT_OPS) => put(&mut map, &[name.as_bytes(), &[0]].concat()),
            Some(RECORDS) => map.set_autocreate(options.recording)?,
            _ => {}
        }
    }
    Ok(object)
}

/// Overwrites the beginning of a map's first value, but never its last byte, a string's zero.
fn put(map: &mut OpenMapMut<'_>, bytes: &[u8]) {
    if let Some(value) = map.initial_value_mut() {
        let length = bytes.len().min(value.len().saturating_sub(1));
        value[..length].copy_from_slice(&bytes[..length]);
    }
}

fn register(object: &mut Object) -> Result<Link, libbpf_rs::Error> {
    let mut maps = object.maps_mut();
    match maps.find(|map| map.name() == STRUCT_OPS) {
        Some(mut map) => map.attach_struct_ops(),
        None => Err(std::io::Error::other("the object has no congestion control").into()),
    }
}

fn check_name(name: &str) -> Result<(), LoadError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let fits = (1..=LONGEST_NAME).contains(&name.len());
    if fits && name.bytes().all(plain) { Ok(()) } else { Err(LoadError::Name(name.to_owned())) }
}

/// Every congestion control the kernel knows, by name.
pub fn available() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// What libbpf says on its way to an error: its error codes alone explain little.
struct Complaints;

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Complaints {
    fn listen() {
        if let Ok(mut lines) = COMPLAINTS.lock() {
            lines.clear();
        }
        libbpf_rs::set_print(Some((PrintLevel::Warn, Self::note)));
    }

    #[expect(clippy::needless_pass_by_value, reason = "libbpf's callback takes a String")]
    fn note(_level: PrintLevel, line: String) {
        if let Ok(mut lines) = COMPLAINTS.lock() {
            lines.push(line.trim().to_owned());
        }
    }

    /// The error with the last of what was said before it.
    fn with(error: &libbpf_rs::Error) -> String {
        let lines = COMPLAINTS.lock().map(|lines| lines.clone()).unwrap_or_default();
        let last: Vec<&str> = lines.iter().rev().take(3).rev().map(String::as_str).collect();
        format!("{error:#}; {}", last.join("; ")).replace('\n', "; ")
    }
}

/// Names in `c/bpf/shell.bpf.c`.
pub(crate) const TEXT_OFFSET: usize = size_of::<KnobValues>() + 8;
pub(crate) const LOADED: &str = ".rodata.loaded";
pub(crate) const RECORDS: &str = "records";
const STRUCT_OPS: &str = "ff_control";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_kernel_takes() {
        assert!(check_name("ff_astart").is_ok());
        for wrong in ["", "ff astart", "ff_a_name_too_long", "ff-astart", "../x"] {
            assert!(matches!(check_name(wrong), Err(LoadError::Name(_))), "{wrong}");
        }
    }
}
