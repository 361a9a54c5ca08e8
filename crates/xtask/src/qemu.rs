//! The controls in a second kernel: Debian's stock one, in qemu without acceleration.
//!
//! The guest is made and booted as those of `--on linux --virtual-time` are (`firstflight-guest`);
//! its first program is `firstflight`, and what it does is `guest.sh`, which says after every step
//! how it ended. With `--systemd` the first program is this machine's systemd instead, which loads
//! the controls by the unit of `docs/`.

mod systemd;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use firstflight_guest::{Cache, DEFAULT_KERNEL, Image, Kernel, Machine, Time, concatenated};
use serde_json::json;

use crate::Stop;
use crate::step::{self, announce, built, kernel_features, unable};

/// What is booted, and what is done there.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The Debian package, or one that depends on it, or the file of one, or a bzImage
    #[arg(long, value_name = "PACKAGE", default_value = DEFAULT_KERNEL)]
    kernel: String,
    #[command(flatten)]
    mode: Modes,
}

/// Flags of which one at most is given.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Modes {
    /// Only load, a flow, unload and a few connections under rules and a trial, which take the same
    /// course on however slow a machine
    #[arg(long)]
    short: bool,
    /// Ten thousand connections over ten paths there, while rules and a trial deal them
    #[arg(long)]
    load: bool,
    /// That a kernel before 5.15 is told in one line what it lacks
    #[arg(long)]
    old: bool,
    /// What each control costs per ACK there, in instructions
    #[arg(long)]
    cost: bool,
    /// A small soak there, of a size that an emulated processor bears
    #[arg(long)]
    soak: bool,
    /// The unit of docs/firstflight-kernel.service, under this machine's systemd
    #[arg(long)]
    systemd: bool,
}

/// What the guest does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Load, a flow, unload, parity, netem, TUN, and those of `Load`.
    Steps,
    Short,
    Load,
    Old,
    Cost,
    Soak,
    Systemd,
}

impl Modes {
    fn mode(&self) -> Mode {
        match self {
            Self { short: true, .. } => Mode::Short,
            Self { load: true, .. } => Mode::Load,
            Self { old: true, .. } => Mode::Old,
            Self { cost: true, .. } => Mode::Cost,
            Self { soak: true, .. } => Mode::Soak,
            Self { systemd: true, .. } => Mode::Systemd,
            _ => Mode::Steps,
        }
    }
}

impl Mode {
    /// As the script knows it, and what its clock counts: the soak is of so many seconds.
    fn word_and_time(self) -> (&'static str, Time) {
        match self {
            Self::Steps => ("steps", Time::Virtual),
            Self::Short => ("short", Time::Virtual),
            Self::Load => ("load", Time::Virtual),
            Self::Old => ("old", Time::Virtual),
            Self::Cost => ("cost", Time::Virtual),
            Self::Soak => ("soak", Time::Host),
            // Its timeouts are meant for a machine that waits for nothing.
            Self::Systemd => ("systemd", Time::Virtual),
        }
    }
}

/// Boots the kernel and judges what it says.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Stop> {
    let mode = options.mode.mode();
    // Asked for now, not after the build.
    firstflight_guest::qemu_version()?;
    if kernel_features()?.is_empty() {
        return Err(Stop::lacks(&step::no_kernel("qemu")));
    }
    let cache = Cache::of_user();
    announce(&format!("kernel: {}", options.kernel));
    let kernel = Kernel::find(&options.kernel, &cache)?;
    let mut image = Image::new(&kernel);
    for (place, program) in build(root, mode)? {
        image.program(place, &program)?;
    }
    // The first program is a command of the script too.
    image.link("bin/firstflight", "/init");
    image.tools(&TOOLS, "iproute2 util-linux mount iperf3 procps grep coreutils dash")?;
    image.file("scenario.toml", include_bytes!("qemu/scenario.toml"), false);
    if mode == Mode::Systemd {
        systemd::add(root, &mut image)?;
    }
    announce("initramfs");
    let (initramfs, _) = image.pack(&cache)?;
    announce("guest");
    let steps = boot(&kernel, &initramfs, mode)?;
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

/// What the guest runs, as built: by its place.
fn build(root: &Path, mode: Mode) -> Result<Vec<(&'static str, PathBuf)>, Stop> {
    let firstflight = built(root, &["build", "--bin", "firstflight"])?;
    let other = match mode {
        Mode::Cost => vec![("bin/cost", built(root, &["build", "--bench", "cost"])?)],
        Mode::Soak => {
            let itself = std::env::current_exe().map_err(|error| unable("xtask", &error))?;
            let objects = built(root, &["build", "--example", "bpf_objects"])?;
            vec![("bin/xtask", itself), ("bin/bpf_objects", objects)]
        }
        Mode::Steps | Mode::Short | Mode::Load => {
            vec![("bin/running", built(root, &["test", "--no-run", "--test", "running"])?)]
        }
        Mode::Old | Mode::Systemd => Vec::new(),
    };
    Ok([vec![("init", firstflight)], other].concat())
}

/// Steps of the guest and their exit codes, in order.
fn boot(kernel: &Kernel, initramfs: &Path, mode: Mode) -> Result<Vec<(String, String)>, Stop> {
    let (word, time) = mode.word_and_time();
    let script = concat!(include_str!("qemu/steps.sh"), include_str!("qemu/guest.sh"));
    let script = format!("mode={word}\n{script}");
    let mut job = Image::default();
    job.job(&json!({ "Script": script }).to_string());
    let programs = std::fs::read(initramfs);
    let programs = programs.map_err(|error| unable(&initramfs.display().to_string(), &error))?;
    let initramfs = concatenated(&[&programs, &job.archive()?])?;
    let (kernel, initramfs) = (kernel.vmlinuz.as_path(), initramfs.path());
    let words = if mode == Mode::Systemd { systemd::WORDS } else { "" };
    let machine = Machine { kernel, initramfs, words, time, longest: None };
    let mut steps = Vec::new();
    let console = machine.run(&AtomicBool::new(false), |line| {
        println!("    {line}");
        let ended = line.strip_prefix("==> ").and_then(|line| line.split_once(": "));
        // What a step itself announces has no code.
        let ended = ended.filter(|(_, code)| code.parse::<u8>().is_ok());
        steps.extend(ended.map(|(name, code)| (name.to_owned(), code.to_owned())));
    })?;
    if steps.is_empty() {
        println!("{console}");
    }
    Ok(steps)
}

/// Programs of the host that the script uses.
const TOOLS: [&str; 14] = [
    "sh", "grep", "sleep", "dmesg", "cat", "uname", "ip", "tc", "ss", "nsenter", "iperf3",
    "sysctl", "mkdir", "mount",
];

const LAST_STEP: &str = "log";
