//! The machine: qemu with one emulated processor.

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::GuestError;
use crate::temporary::Scratch;
use crate::tool::{output, which};

/// What the guest's clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The host's time.
    Host,
    /// The guest's instructions, one to the nanosecond; where it has nothing to do, its next timer
    /// is at once. Nothing outside is in it: what the guest does depends on what it was given.
    Virtual,
}

/// What is booted.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// The bzImage.
    pub kernel: &'a Path,
    /// The initramfs.
    pub initramfs: &'a Path,
    /// More for the kernel's command line; behind `--` it is for the first program.
    pub words: &'a str,
    /// The guest's clock.
    pub time: Time,
    /// How long it may take by this machine's clock.
    pub longest: Option<Duration>,
}

impl Machine<'_> {
    /// Boots the machine and hands on every line that the guest writes to its second serial port
    /// (`/dev/ttyS1`) until it powers off or `stop` becomes true. What was on its console, the
    /// first port, is returned.
    ///
    /// # Errors
    /// No qemu, a qemu that failed, a guest that took too long, or `stop`.
    pub fn run(
        &self,
        stop: &AtomicBool,
        mut on_line: impl FnMut(&str),
    ) -> Result<String, GuestError> {
        let scratch = [Scratch::new()?, Scratch::new()?];
        let ports @ [console, results] = [scratch[0].path(), scratch[1].path()];
        let mut guest = Guest::start(self, console, results)?;
        let mut lines = Lines::new(results);
        let begun = Instant::now();
        let mut last = (0, begun);
        loop {
            // Before the reading of the lines, so that what it wrote last is read.
            let ended = guest.ended()?;
            lines.read(&mut on_line);
            let written =
                ports.iter().filter_map(|port| Some(fs::metadata(port).ok()?.len())).sum();
            if written != last.0 {
                last = (written, Instant::now());
            }
            if last.1.elapsed() > SILENCE_LIMIT {
                let minutes = SILENCE_LIMIT.as_secs() / 60;
                let problem = format!("{QEMU}: the guest said nothing for {minutes} minutes");
                return Err(GuestError::Failed(problem));
            }
            if let Some(complaint) = ended {
                let log = fs::read(console).unwrap_or_default();
                let log = String::from_utf8_lossy(&log).into_owned();
                return complaint.map_or(Ok(log), |why| Err(GuestError::Failed(why)));
            }
            if let Some(longest) = self.longest.filter(|longest| begun.elapsed() > *longest) {
                return Err(GuestError::Overdue(longest));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(GuestError::Interrupted);
            }
            thread::sleep(POLL);
        }
    }

    /// The arguments of qemu.
    fn arguments(&self, console: &Path, results: &Path) -> Vec<OsString> {
        let port = |id: &str, path: &Path| {
            // A comma ends a value, and two are one in it.
            let path = path.to_string_lossy().replace(',', ",,");
            ["-chardev".into(), format!("file,id={id},path={path}").into()]
                .into_iter()
                .chain(["-serial".into(), format!("chardev:{id}").into()])
        };
        let words = MACHINE.iter().map(OsString::from);
        let mut all: Vec<OsString> = words.chain(port("c", console)).collect();
        all.extend(port("r", results));
        let mut line = KERNEL.to_owned();
        match self.time {
            Time::Host => all.extend(["-cpu", "max"].map(OsString::from)),
            Time::Virtual => {
                all.extend(VIRTUAL.iter().map(OsString::from));
                line = format!("{line} {KERNEL_VIRTUAL}");
            }
        }
        all.extend(["-kernel".into(), self.kernel.into(), "-initrd".into()]);
        all.extend([self.initramfs.into(), "-append".into()]);
        all.push(format!("{line} {}", self.words).into());
        all
    }
}

/// A running qemu, which ends when this is dropped.
struct Guest(Child);

impl Guest {
    fn start(machine: &Machine<'_>, console: &Path, results: &Path) -> Result<Self, GuestError> {
        let qemu = which(QEMU).ok_or_else(no_qemu)?;
        // Where util-linux is installed, qemu ends even when this program is killed.
        let mut command = match which("setpriv") {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "KILL"]).arg(&qemu);
                command
            }
            None => Command::new(&qemu),
        };
        command.args(machine.arguments(console, results));
        // A Ctrl-C reaches this program alone, which decides what becomes of the results.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        tracing::debug!(?command, "starts a guest");
        let child = command.spawn();
        child.map(Self).map_err(|error| GuestError::Failed(format!("{}: {error}", qemu.display())))
    }

    /// `None` while it runs; then why it failed, if it did.
    fn ended(&mut self) -> Result<Option<Option<String>>, GuestError> {
        let status = self.0.try_wait().map_err(|error| GuestError::Failed(error.to_string()))?;
        let Some(status) = status else { return Ok(None) };
        if status.success() {
            return Ok(Some(None));
        }
        let mut complaint = String::new();
        if let Some(stderr) = &mut self.0.stderr {
            // What cannot be read is missing in the message.
            let _ = stderr.read_to_string(&mut complaint);
        }
        let last = complaint.trim().lines().last().unwrap_or_default();
        Ok(Some(Some(format!("{QEMU}: {status}: {last}"))))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // One that has ended already is no problem.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lines of a file that grows.
struct Lines<'a> {
    path: &'a Path,
    read: u64,
    rest: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, read: 0, rest: Vec::new() }
    }

    /// Hands on the lines that are complete.
    fn read(&mut self, on_line: &mut impl FnMut(&str)) {
        let Ok(mut file) = fs::File::open(self.path) else { return };
        let came = file
            .seek(SeekFrom::Start(self.read))
            .and_then(|_| file.read_to_end(&mut self.rest))
            .unwrap_or(0);
        self.read += came as u64;
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            on_line(String::from_utf8_lossy(&line).trim_end());
        }
    }
}

/// The first line of `qemu-system-x86_64 --version`.
///
/// # Errors
/// No qemu.
pub fn qemu_version() -> Result<String, GuestError> {
    let qemu = which(QEMU).ok_or_else(no_qemu)?;
    let printed = output(Command::new(qemu).arg("--version"), "qemu-system-x86")?;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Ok(printed.lines().next().unwrap_or_default().trim().to_owned())
}

fn no_qemu() -> GuestError {
    GuestError::Lacks(format!(
        "`{QEMU}` is missing: `apt install qemu-system-x86` on Debian, `brew install qemu` on macOS"
    ))
}

const QEMU: &str = "qemu-system-x86_64";
/// A guest that works writes its time from time to time; one that writes nothing this long is
/// stuck.
const SILENCE_LIMIT: Duration = Duration::from_secs(15 * 60);
/// Between two reads of what the guest writes.
const POLL: Duration = Duration::from_millis(50);

/// No disk, no network, no screen, and one processor without acceleration.
const MACHINE: [&str; 8] =
    ["-accel", "tcg,thread=single", "-m", "1024", "-no-reboot", "-nodefaults", "-display", "none"];

/// A clock that counts instructions, a fixed date, and no source of random numbers: neither the
/// host's nor the processor's.
///
/// The record (`rr`) is thrown away. While it is made, qemu's main thread waits for the processor's
/// to have counted its instructions. Otherwise it may find the processor halted before those are
/// counted, and sets the clock to the next timer from a time that is a few instructions old: on a
/// busy host two runs were apart by 5 to 15 ns from there on (qemu 7.2,
/// `icount_start_warp_timer` and `all_cpu_threads_idle`).
const VIRTUAL: [&str; 8] = [
    "-icount",
    "shift=0,sleep=off,rr=record,rrfile=/dev/null",
    "-rtc",
    "base=2026-01-01T00:00:00,clock=vm",
    "-seed",
    "1",
    "-cpu",
    "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,-rdrand,-rdseed",
];

/// What the kernel does not know, here `PATH`, it puts into the environment of its first program.
const KERNEL: &str = "console=ttyS0 quiet panic=-1 PATH=/bin";
/// Addresses are the same at every boot. The rest saves more than half of a boot: without the APIC
/// timer the kernel uses the HPET and does not spin for a tenth of a second to measure the APIC
/// timer's rate, and it does not run the self-tests of its ciphers.
const KERNEL_VIRTUAL: &str =
    "nokaslr norandmaps random.trust_cpu=off noapictimer cryptomgr.notests";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_clock_is_asked_for_with_all_that_chance_could_come_from() {
        let (kernel, initramfs) = (Path::new("/k"), Path::new("/i"));
        let machine =
            Machine { kernel, initramfs, words: "-- x", time: Time::Virtual, longest: None };
        let words = |machine: Machine<'_>| {
            let words = machine.arguments(Path::new("/a,b"), Path::new("/r"));
            words.iter().map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let arguments = words(machine);
        for word in [
            "-icount shift=0,sleep=off,rr=record",
            "clock=vm",
            "-rdrand",
            "norandmaps",
            "path=/a,,b",
        ] {
            assert!(arguments.contains(word), "{arguments}");
        }
        assert!(arguments.ends_with("cryptomgr.notests -- x"), "{arguments}");
        assert!(!words(Machine { time: Time::Host, ..machine }).contains("icount"));
    }

    #[test]
    fn lines_are_handed_on_when_they_are_whole() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut lines = Lines::new(file.path());
        let mut seen = Vec::new();
        let mut read = |text: &str| {
            let mut file = fs::OpenOptions::new().append(true).open(file.path()).unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            lines.read(&mut |line| seen.push(line.to_owned()));
            seen.clone()
        };
        assert_eq!(read("one\r\ntw"), ["one"]);
        assert_eq!(read("o\n"), ["one", "two"]);
    }
}
