//! The controls in a second kernel: Debian's stock one, in qemu without acceleration.
//!
//! The kernel's package is downloaded and unpacked, not installed. The guest has no disk and no
//! network; all it runs is in its initramfs: the programs built here with the libraries they ask
//! for, and `guest.sh`, which says after every step how it ended.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Stop;
use crate::step::{self, announce, built, kernel_features, target, unable};

mod image;

/// What was asked for.
struct Options {
    /// The Debian package, or one that depends on it, or the file of one.
    kernel: String,
    mode: Mode,
}

/// What the guest does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Load, a flow, unload, parity, netem, TUN.
    Steps,
    /// Load, a flow and unload alone, which take the same course on however slow a machine.
    Short,
    /// Instructions per ACK.
    Cost,
    /// `cargo xtask soak`, of a size that an emulated processor bears.
    Soak,
}

impl Mode {
    /// The word on the guest's command line, and the seconds after which it hangs.
    fn word_and_limit(self) -> (&'static str, &'static str) {
        match self {
            Self::Steps => ("firstflight.steps", "400"),
            Self::Short => ("firstflight.short", "400"),
            Self::Cost => ("firstflight.cost", "400"),
            Self::Soak => ("firstflight.soak", "900"),
        }
    }
}

/// Boots the kernel and judges what it says.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let options = options(args)?;
    step::has_tools("qemu", &TOOLS, "qemu-system-x86 cpio iproute2 iperf3 procps")?;
    if kernel_features()?.is_empty() {
        return Err(Stop::lacks(&step::no_kernel("qemu")));
    }
    let folder = target(root).join("qemu");
    let kernel = image::unpack(&folder, &options.kernel)?;
    let programs = build(root, options.mode)?;
    let initramfs = image::pack(&folder, &kernel, &programs)?;
    announce("guest");
    let steps = boot(&kernel.vmlinuz, &initramfs, options.mode)?;
    let failed: Vec<&str> =
        steps.iter().filter(|(_, code)| code != "0").map(|(name, _)| name.as_str()).collect();
    if !steps.iter().any(|(name, _)| name == LAST_STEP) {
        return Err(Stop::failed("qemu: the guest did not get to its last step"));
    }
    println!("qemu: {} steps, {} failed", steps.len(), failed.len());
    if failed.is_empty() {
        return Ok(());
    }
    Err(Stop::failed(&format!("qemu: failed in the guest: {}", failed.join(", "))))
}

fn options(args: &[String]) -> Result<Options, Stop> {
    let kernel = "linux-image-cloud-amd64".to_owned();
    let mut options = Options { kernel, mode: Mode::Steps };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.as_slice().first()) {
            ("--cost", _) => options.mode = Mode::Cost,
            ("--soak", _) => options.mode = Mode::Soak,
            ("--short", _) => options.mode = Mode::Short,
            ("--kernel", Some(package)) => {
                options.kernel.clone_from(package);
                args.next();
            }
            _ => {
                let accepted = "accepted: --kernel PACKAGE or FILE.deb, --short, --cost or --soak";
                return Err(Stop::usage(&format!("qemu: found `{arg}`; {accepted}")));
            }
        }
    }
    Ok(options)
}

/// What the guest runs, as built: by name.
fn build(root: &Path, mode: Mode) -> Result<Vec<(&'static str, PathBuf)>, Stop> {
    if mode == Mode::Cost {
        return Ok(vec![("cost", built(root, &["build", "--bench", "cost"])?)]);
    }
    let firstflight = built(root, &["build", "--bin", "firstflight"])?;
    let other = match mode {
        Mode::Soak => {
            let itself = std::env::current_exe().map_err(|error| unable("xtask", &error))?;
            let objects = built(root, &["build", "--example", "bpf_objects"])?;
            vec![("xtask", itself), ("bpf_objects", objects)]
        }
        Mode::Steps => vec![("running", built(root, &["test", "--no-run", "--test", "running"])?)],
        _ => Vec::new(),
    };
    Ok([vec![("firstflight", firstflight)], other].concat())
}

/// Steps of the guest and their exit codes, in order.
fn boot(vmlinuz: &Path, initramfs: &Path, mode: Mode) -> Result<Vec<(String, String)>, Stop> {
    let (word, limit) = mode.word_and_limit();
    let mut command = Command::new("timeout");
    command.args([limit, "qemu-system-x86_64"]).args(MACHINE);
    let kernel = format!("console=ttyS0 quiet panic=-1 {word}");
    if mode == Mode::Cost {
        // The guest's clock counts its instructions, one to the nanosecond.
        command.args(["-icount", "shift=0,sleep=off"]);
    }
    command.arg("-kernel").arg(vmlinuz).arg("-initrd").arg(initramfs).args(["-append", &kernel]);
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut guest = spawned.map_err(|error| unable("qemu-system-x86_64", &error))?;
    let mut steps = Vec::new();
    let console = guest.stdout.take().into_iter().flat_map(|out| BufReader::new(out).split(b'\n'));
    for line in console.map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        println!("    {line}");
        let ended = line.strip_prefix("==> ").and_then(|line| line.split_once(": "));
        // What a step itself announces has no code.
        let ended = ended.filter(|(_, code)| code.parse::<u8>().is_ok());
        steps.extend(ended.map(|(name, code)| (name.to_owned(), code.to_owned())));
    }
    let status = guest.wait().map_err(|error| unable("qemu-system-x86_64", &error))?;
    if status.success() { Ok(steps) } else { Err(Stop::failed(&format!("qemu: {status}"))) }
}

const TOOLS: [&str; 12] = [
    "qemu-system-x86_64",
    "apt-get",
    "dpkg-deb",
    "cpio",
    "gzip",
    "timeout",
    "ip",
    "tc",
    "ss",
    "nsenter",
    "iperf3",
    "sysctl",
];

/// No disk, no network, no screen; what the guest prints is on standard output.
const MACHINE: [&str; 12] = [
    "-accel",
    "tcg,thread=single",
    "-cpu",
    "max",
    "-m",
    "1024",
    "-no-reboot",
    "-nodefaults",
    "-display",
    "none",
    "-serial",
    "stdio",
];

const LAST_STEP: &str = "log";
