//! Registering a control with the running kernel.

use std::path::Path;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use firstflight_control::{Control, ControlProblem};
use libbpf_rs::{
    Link, MapCore as _, MapMut, Object, ObjectBuilder, OpenMapMut, OpenObject, PrintLevel,
};

use crate::catalogue::{KernelControl, LONGEST_NAME, available};
use crate::knobs::NotInKernel;
use crate::registration::Hold;
use crate::requirements::{self, Lack};

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// A control whose programs the kernel has checked and holds, but which it does not know by name.
#[derive(Debug)]
pub struct Prepared {
    name: String,
    full: String,
    hold: Hold,
    object: Object,
}

/// A control that the kernel knows by name, until this is dropped. Connections that use it then
/// keep it until they end.
#[derive(Debug)]
pub struct Registered {
    // Dropped first: what it stands for is in the object.
    link: Option<Link>,
    prepared: Prepared,
    /// It stays registered when this is dropped.
    stays: bool,
}

impl Drop for Registered {
    fn drop(&mut self) {
        drop(self.link.take());
        if !self.stays {
            // Nothing more can be done about one that the kernel keeps.
            let _ = until_free(&self.prepared.name);
        }
    }
}

/// What can be chosen at load besides the control.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The kernel's name for it; the control's own if `None`.
    pub name: Option<String>,
    /// Every event of every connection goes to the ring buffer ([`crate::record`]).
    pub recording: bool,
    /// Leave out every call but those of ACKs, as some kernels do with one now and then: for tests.
    pub leaving_out: bool,
    /// Use no links of struct_ops even where there are some: kernels before 6.4 have none.
    pub without_link: bool,
    /// Refuse where the kernel's verifier finds that its own bounds contradict each other (Linux
    /// 6.8 and later). Otherwise it only notes so in its log, forgets the bounds and goes on.
    pub strict: bool,
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
        /// In libbpf's words, or the feature that the kernel lacks.
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
        Prepared::load(control, options)?.register()
    }

    /// The kernel's name for it: what `setsockopt(TCP_CONGESTION)`, `ip route ... congctl` and the
    /// sysctl `net.ipv4.tcp_congestion_control` take.
    pub fn name(&self) -> &str {
        &self.prepared.name
    }

    /// The control in full.
    pub fn full(&self) -> &str {
        &self.prepared.full
    }

    /// Leaves it registered: by its link, pinned there, or by the entry of its map.
    pub(crate) fn stay(mut self, pin: &Path) -> Result<(), libbpf_rs::Error> {
        if let Some(link) = &mut self.link {
            match self.prepared.hold {
                Hold::Link => link.pin(pin)?,
                Hold::Entry => link.disconnect(),
            }
        }
        self.stays = true;
        Ok(())
    }

    pub(crate) fn object(&self) -> &Object {
        &self.prepared.object
    }
}

impl Prepared {
    /// Hands a control's programs to the kernel.
    ///
    /// # Errors
    /// As [`Registered::load`].
    pub fn load(control: &KernelControl, options: &Options) -> Result<Self, LoadError> {
        let hold = requirements::check()?;
        let hold = if options.without_link { Hold::Entry } else { hold };
        let name = options.name.clone().unwrap_or_else(|| control.name.clone());
        check_name(&name)?;
        check_free(&name)?;
        Complaints::listen();
        let object = open(control, &name, options, hold)
            .and_then(OpenObject::load)
            .map_err(|error| refused(&name, &error))?;
        Ok(Self { name, full: control.full.clone(), hold, object })
    }

    /// Registers it.
    ///
    /// # Errors
    /// The name is taken by now, or why the kernel refused.
    pub fn register(mut self) -> Result<Registered, LoadError> {
        check_free(&self.name)?;
        Complaints::listen();
        let link = match self.map(STRUCT_OPS) {
            Some(mut map) => map.attach_struct_ops(),
            None => Err(std::io::Error::other("the object has no congestion control").into()),
        };
        let link = link.map_err(|error| refused(&self.name, &error))?;
        Ok(Registered { link: Some(link), prepared: self, stays: false })
    }

    /// The kernel's name for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The control in full.
    pub fn full(&self) -> &str {
        &self.full
    }

    pub(crate) fn hold(&self) -> Hold {
        self.hold
    }

    pub(crate) fn map(&mut self, name: &str) -> Option<MapMut<'_>> {
        self.object.maps_mut().find(|map| map.name() == name)
    }
}

/// Opens the control's object and writes name, knobs and text into it.
fn open(
    control: &KernelControl,
    name: &str,
    options: &Options,
    hold: Hold,
) -> Result<OpenObject, libbpf_rs::Error> {
    let (_, bytes) = OBJECTS
        .iter()
        .find(|(name, _)| *name == control.object)
        .ok_or_else(|| libbpf_rs::Error::from(std::io::Error::other("no such object")))?;
    let mut object = ObjectBuilder::default().name(name)?.open_memory(bytes)?;
    for mut map in object.maps_mut() {
        match map.name().to_str() {
            Some(LOADED) => {
                let room = TEXT_MAX - LONGEST_NAME - 2;
                let mut text: Vec<u8> = control.full.bytes().take(room).collect();
                text.push(0);
                text.extend(name.bytes());
                text.resize(TEXT_MAX, 0);
                let flags = [options.recording, options.leaving_out].map(u64::from);
                let flags = flags.map(u64::to_ne_bytes).concat();
                put(&mut map, &[text, flags, control.knobs.bytes()].concat());
            }
            Some(STRUCT_OPS) => {
                put(&mut map, &[name.as_bytes(), &[0]].concat());
                if !requirements::calls_tx_start() {
                    leave_out_last(&mut map);
                }
                map.set_map_flags(hold.map_flags())?;
            }
            Some(RECORDS) => map.set_autocreate(options.recording)?,
            _ => {}
        }
    }
    if options.strict {
        object.progs_mut().for_each(|mut program| program.set_flags(TEST_REG_INVARIANTS));
    }
    Ok(object)
}

/// Overwrites the beginning of a map's first value.
fn put(map: &mut OpenMapMut<'_>, bytes: &[u8]) {
    if let Some(value) = map.initial_value_mut() {
        let length = bytes.len().min(value.len());
        value[..length].copy_from_slice(&bytes[..length]);
    }
}

/// Makes the last function of a table none, which a kernel need not know then.
fn leave_out_last(map: &mut OpenMapMut<'_>) {
    if let Some((_, last)) = map.initial_value_mut().and_then(|value| value.split_last_chunk_mut())
    {
        *last = [0; size_of::<usize>()];
    }
}

fn refused(name: &str, error: &libbpf_rs::Error) -> LoadError {
    let reason = match Complaints::lack() {
        Some(lack) => lack.to_string(),
        None => Complaints::with(error),
    };
    LoadError::Refused { name: name.to_owned(), reason }
}

fn check_name(name: &str) -> Result<(), LoadError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let fits = (1..=LONGEST_NAME).contains(&name.len());
    if fits && name.bytes().all(plain) { Ok(()) } else { Err(LoadError::Name(name.to_owned())) }
}

pub(crate) fn check_free(name: &str) -> Result<(), LoadError> {
    let taken = available().iter().any(|known| known == name);
    if taken { Err(LoadError::Taken(name.to_owned())) } else { Ok(()) }
}

/// Waits until a name is free: the kernel takes a link down a moment after the last hold on it
/// ends.
pub(crate) fn until_free(name: &str) -> Result<(), LoadError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match check_free(name) {
            Err(_) if Instant::now() < until => sleep(Duration::from_millis(5)),
            outcome => return outcome,
        }
    }
}

/// What libbpf prints before an error: its error codes alone explain little.
pub(crate) struct Complaints;

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Complaints {
    pub(crate) fn listen() {
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

    fn log() -> String {
        COMPLAINTS.lock().map(|lines| lines.join("\n")).unwrap_or_default()
    }

    /// What the kernel lacks, if the log names it.
    pub(crate) fn lack() -> Option<Lack> {
        Lack::named_in(&Self::log())
    }

    /// The error, with the last line of the log before it.
    pub(crate) fn with(error: &libbpf_rs::Error) -> String {
        verdict(&Self::log())
            .map_or_else(|| format!("{error:#}"), |last| format!("{error:#}: {last}"))
    }
}

/// The line a verifier's log ends with before it counts what it did, or the last of any text.
fn verdict(log: &str) -> Option<&str> {
    let lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.take_while(|line| !line.starts_with("processed ")).last()
}

/// `TEXT_MAX` of `c/bpf/kernel.h`: the control in full and after it its name, each with a zero,
/// with which `struct loaded` begins.
pub(crate) const TEXT_MAX: usize = 256;
// Names in `c/bpf`.
pub(crate) const LOADED: &str = ".rodata.loaded";
pub(crate) const RECORDS: &str = "records";
pub(crate) const STRUCT_OPS: &str = "ff_control";

/// `BPF_F_TEST_REG_INVARIANTS` of the kernel's linux/bpf.h.
const TEST_REG_INVARIANTS: u32 = 1 << 7;

const PATIENCE: Duration = Duration::from_secs(5);

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

    #[test]
    fn the_verdict_of_a_verifiers_log_is_the_line_before_its_counts() {
        let log = "prog 'ff_init': -- BEGIN PROG LOAD LOG --\n0: (79) r1 = *(u64 *)(r1 +0)\n\
                   unknown func bpf_setsockopt#49\nprocessed 1550 insns (limit 1000000)\n\
                   -- END PROG LOAD LOG --\n\nprog 'ff_init': failed to load: -EINVAL";
        assert_eq!(verdict(log), Some("unknown func bpf_setsockopt#49"));
        assert_eq!(verdict("map 'a': failed\n\n"), Some("map 'a': failed"));
        assert_eq!(verdict(""), None);
    }
}
