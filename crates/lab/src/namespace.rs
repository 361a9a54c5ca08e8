//! Network namespaces without names.
//!
//! A namespace lives as long as somebody is in it or holds it open. These are held by open files
//! and by nothing else: no entry below `/run/netns`, no process of their own. So when the program
//! ends, by whatever signal, its namespaces end with their devices, routes and connections, and
//! there is nothing left for a later run to clean up.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::sys;
use firstflight_runner::RunError;

/// A network namespace, held open.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    label: String,
}

impl Namespace {
    /// A new one, empty but for a loopback device that is up; `label` names it in messages.
    ///
    /// # Errors
    /// No privilege: the machine lacks something.
    pub fn new(label: &str) -> Result<Self, RunError> {
        let open = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open(OWN)
        };
        let made = thread::scope(|scope| scope.spawn(open).join());
        let file = made.unwrap_or_else(|panic| resume_unwind(panic)).map_err(|error| {
            RunError::Lacks(format!(
                "no network namespace can be made: {error}; it takes root (CAP_SYS_ADMIN and \
                 CAP_NET_ADMIN): run it with sudo"
            ))
        })?;
        let namespace = Self { file, label: label.to_owned() };
        namespace.ip("link set lo up")?;
        Ok(namespace)
    }

    /// One that `ip netns add` has named.
    ///
    /// # Errors
    /// No such namespace.
    pub fn named(name: &str) -> Result<Self, RunError> {
        let path = Path::new("/run/netns").join(name);
        // An empty name would open the folder itself, and one with a slash a file elsewhere.
        let file = match name.is_empty() || name.contains('/') {
            true => Err(io::ErrorKind::NotFound.into()),
            false => File::open(&path),
        };
        let file = file.map_err(|error: io::Error| {
            let known = fs::read_dir("/run/netns").into_iter().flatten().flatten();
            let mut known: Vec<String> =
                known.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            known.sort();
            let accepted = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
            RunError::Input(format!(
                "namespace `{name}`: {error}; accepted: a name of `ip netns list` ({accepted})"
            ))
        })?;
        Ok(Self { file, label: name.to_owned() })
    }

    /// Does something inside: on a thread of its own, since a namespace is a thread's.
    pub fn run<T: Send>(&self, job: impl FnOnce() -> T + Send) -> io::Result<T> {
        let inside = || {
            setns(&self.file, CloneFlags::CLONE_NEWNET)?;
            Ok(job())
        };
        thread::scope(|scope| scope.spawn(inside).join())
            .unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Makes a command run inside, and end when the thread that starts it does.
    pub fn confine(&self, command: &mut Command) {
        sys::confine(command, &self.file);
    }

    /// Runs `ip` with these words.
    ///
    /// # Errors
    /// No `ip` on the machine, or what it complains about.
    pub fn ip(&self, words: &str) -> Result<(), RunError> {
        self.tool("ip", words).map(drop)
    }

    /// Runs a tool of iproute2 with these words and gives what it prints.
    ///
    /// # Errors
    /// No such tool on the machine, or what it complains about.
    pub fn tool(&self, tool: &str, words: &str) -> Result<String, RunError> {
        let mut command = Command::new(tool);
        command.args(words.split_whitespace());
        self.confine(&mut command);
        let output = command.output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                RunError::Lacks(format!("`{tool}` is missing: install iproute2"))
            }
            _ => RunError::Failed(format!("{tool} {words}: {error}")),
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        Err(RunError::Failed(format!("{}: {tool} {words}: {}", self.label, message.trim())))
    }

    /// Makes a veth pair: one half here, the other in another namespace under a name of its own.
    ///
    /// # Errors
    /// The names are taken.
    pub(crate) fn pair(&self, other: &Self, here: &str, there: &str) -> Result<(), RunError> {
        // `ip` takes the other namespace by a path, and our open file of it has one.
        let path = format!("/proc/{}/fd/{}", std::process::id(), other.file.as_raw_fd());
        self.ip(&format!("link add {here} type veth peer name {there} netns {path}"))
    }

    /// Sets a value below `/proc/sys/net/`.
    ///
    /// # Errors
    /// The kernel has no such value, or refuses this one.
    pub fn set(&self, key: &str, value: &str) -> Result<(), RunError> {
        let path = Path::new("/proc/sys/net").join(key);
        self.run(|| fs::write(&path, value))
            .and_then(|outcome| outcome)
            .map_err(|error| RunError::Failed(format!("{}: {key} = {value}: {error}", self.label)))
    }

    /// Reads a file of `/proc/net/`, which shows the namespace of the reader.
    ///
    /// # Errors
    /// No such file.
    pub(crate) fn proc_net(&self, name: &str) -> io::Result<String> {
        // `/proc/net` is that of the process's first thread; this is the thread's own.
        self.run(|| fs::read_to_string(Path::new("/proc/thread-self/net").join(name)))?
    }

    /// Its number, which `lsns` and `ip netns identify` show.
    ///
    /// # Errors
    /// Those of `fstat`.
    pub fn number(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.ino())
    }
}

const OWN: &str = "/proc/thread-self/ns/net";
