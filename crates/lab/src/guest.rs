//! The first process of a guest that has nothing but an initramfs: it mounts the file systems that
//! every program expects, loads the kernel's modules, and ends the machine.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::termios::tcdrain;

use crate::sys;
use firstflight_runner::RunError;

/// Prepares this process's machine, a guest, for runs. The kernel's random numbers, for hashes,
/// ports and losses, follow `seed`.
///
/// # Errors
/// This is no guest, or its kernel refuses something.
pub fn set_up(seed: u64) -> Result<(), RunError> {
    for (kind, place) in MOUNTS {
        // A mount would hide the files that the image has here.
        if kind == "tmpfs" && fs::read_dir(place).is_ok_and(|mut files| files.next().is_some()) {
            continue;
        }
        // `kernel load` refuses a BPF file system into which others than root may write.
        let mode = (kind == "bpf").then_some("mode=0700");
        let mounted = mount(Some(kind), place, Some(kind), MsFlags::empty(), mode);
        // Without BPF the error comes when a control is loaded.
        if kind != "bpf" {
            mounted.map_err(|error| failed(&format!("mount {place}"), &error.into()))?;
        }
    }
    sys::seed_randomness(seed).map_err(|error| failed("/dev/random", &error))?;
    fs::write(TCP_MEMORY.0, TCP_MEMORY.1).map_err(|error| failed(TCP_MEMORY.0, &error))?;
    load_modules(Path::new("/modules")).map_err(|error| failed("/modules", &error))
}

/// Loads every module of a folder, in the order of their names, and tries those again that failed,
/// since they may need another first. A module that does not load is no error here: a run that
/// needs it fails.
fn load_modules(folder: &Path) -> std::io::Result<()> {
    let mut left: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|e| e.path()).collect();
    left.sort();
    loop {
        let before = left.len();
        left.retain(|path| {
            let loaded = File::open(path)
                .map(|file| finit_module(&file, c"", ModuleInitFlags::empty()).is_ok());
            !loaded.unwrap_or(false)
        });
        if left.len() == before || left.is_empty() {
            return Ok(());
        }
    }
}

/// The port on which the guest writes to the program that booted it.
#[derive(Debug)]
pub struct Port(File);

impl Port {
    /// The second serial port.
    ///
    /// # Errors
    /// The kernel has none.
    pub fn open() -> Result<Self, RunError> {
        let port = File::options().write(true).open(PORT).map_err(|error| failed(PORT, &error))?;
        Ok(Self(port))
    }

    /// Writes a line. A failure cannot be reported: this port is the only way out.
    pub fn write_line(&mut self, line: &str) {
        let _ = self.0.write_all(format!("{line}\n").as_bytes());
    }

    /// Runs a command to its end with all that it prints going to the port.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(&mut self, command: &mut Command) -> Result<(), RunError> {
        let name = format!("{:?}", command.get_program());
        let mut run = || {
            command.stdin(Stdio::null()).stdout(self.0.try_clone()?).stderr(self.0.try_clone()?);
            command.status()
        };
        run().map(drop).map_err(|error| failed(&name, &error))
    }

    /// Powers the guest off when the serial port has sent everything.
    pub fn power_off(self) {
        let _ = tcdrain(&self.0);
        power_off();
    }
}

/// Ends the machine.
pub fn power_off() {
    let _ = reboot(RebootMode::RB_POWER_OFF);
}

fn failed(what: &str, error: &std::io::Error) -> RunError {
    RunError::Failed(format!("the guest: {what}: {error}"))
}

/// Pages that all of TCP may hold: as many as the largest windows take at both ends. From a
/// sixteenth of the memory on a kernel is under pressure, and its receivers offer four packets
/// (`tcp_mem` in ip-sysctl, `__tcp_select_window`).
const TCP_MEMORY: (&str, &str) = ("/proc/sys/net/ipv4/tcp_mem", "131072 131072 196608");
const PORT: &str = "/dev/ttyS1";
const MOUNTS: [(&str, &str); 6] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
    ("bpf", "/sys/fs/bpf"),
];
