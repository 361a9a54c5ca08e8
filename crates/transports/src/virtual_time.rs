//! `--on linux --virtual-time`: every run on a Linux of its own, booted in qemu, whose clock counts
//! instructions. Nothing outside can disturb it, so that equal runs give equal bytes; it takes no
//! privilege, and no Linux either.
//!
//! A guest does one run and is a fresh machine, so that a run does not depend on which others were
//! asked for, nor on how many guests there are side by side.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use firstflight_control::stack::OF_LINUX;
use firstflight_guest::{
    Cache, DEFAULT_KERNEL, GuestError, Image, Kernel, Machine, Time, concatenated, qemu_version,
};
use firstflight_results::{Cost, GuestFigures, RunResult, Series};
use firstflight_runner::{Options, Report, Run, RunError, Transport};
use firstflight_scenario::{Complete, ControlSpec, Plan, Scenario};
use serde::{Deserialize, Serialize};

use crate::in_guest;
use crate::lab::{self, LinuxControl, programs::Programs};

/// How to boot guests, and what they run over.
#[derive(Clone, Debug)]
pub struct VirtualTime {
    kernel: String,
    link: Option<String>,
    generator: Option<String>,
    /// The program that runs in the guest, where that is not this one.
    inside: Option<PathBuf>,
    /// What runs in place of flows.
    programs: Option<GuestPrograms>,
    /// Made when it is first needed.
    booted: Arc<OnceLock<Booted>>,
}

/// Two programs of this machine that run in the guest in place of flows.
#[derive(Clone, Debug)]
pub struct GuestPrograms {
    /// The programs.
    pub programs: Programs,
    /// A script that they run, whose own programs the guest needs too; empty without one.
    pub script: String,
    /// Files and folders that they need besides themselves.
    pub with: Vec<PathBuf>,
    /// How long a run may take by this machine's clock.
    pub longest: Duration,
}

/// What every guest is booted from.
#[derive(Debug)]
struct Booted {
    kernel: Kernel,
    initramfs: Vec<u8>,
    figures: GuestFigures,
}

/// What a guest is to do, as a file in it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    Measure(Job),
    /// Words for a shell, whose output is what the guest says (`cargo xtask qemu`).
    Script(String),
}

/// One run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// One control and one seed, in TOML.
    pub(crate) scenario: String,
    /// The seed.
    pub(crate) seed: u64,
    /// The kind of link.
    pub(crate) link: Option<String>,
    /// The program that sends.
    pub(crate) generator: Option<String>,
    /// How many samples of the series to take.
    pub(crate) samples: Option<u32>,
    /// What runs in place of flows.
    pub(crate) programs: Option<Programs>,
}

/// A line of a guest, as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// How many seconds of the guest's time have passed.
    Time(u64),
    Measured(Box<GuestRun>),
    /// As the exit codes are: the guest's kernel lacks something, the run broke, the scenario is
    /// wrong.
    Lacks(String),
    Failed(String),
    Input(String),
}

/// A [`Run`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GuestRun {
    pub(crate) result: RunResult,
    pub(crate) flows: Vec<Series>,
    pub(crate) queues: Vec<Series>,
}

/// A run that a guest is to do.
struct Wanted<'a> {
    plan: &'a Plan,
    seed: u64,
    task: Task,
}

impl VirtualTime {
    /// Runs on this kernel (a package, the file of one, or a bzImage), over this link and by this
    /// generator, as `--link` and `--generator` name them.
    pub fn new(kernel: Option<&str>, link: Option<&str>, generator: Option<&str>) -> Self {
        Self {
            kernel: kernel.unwrap_or(DEFAULT_KERNEL).to_owned(),
            link: link.map(str::to_owned),
            generator: generator.map(str::to_owned),
            inside: None,
            programs: None,
            booted: Arc::default(),
        }
    }

    /// As this, with another program in the guest, which calls [`crate::serve`] too.
    #[must_use]
    pub fn inside(&self, program: &Path) -> Self {
        Self { inside: Some(program.to_owned()), booted: Arc::default(), ..self.clone() }
    }

    /// As this, with programs in place of flows.
    pub fn running(&self, programs: GuestPrograms) -> Self {
        Self { programs: Some(programs), booted: Arc::default(), ..self.clone() }
    }

    /// One run of the scenario by itself.
    fn job(&self, scenario: &Scenario, plan: usize, seed: u64, samples: Option<u32>) -> Job {
        let mut one = scenario.clone();
        one.controls = scenario.controls.get(plan).cloned().into_iter().collect();
        (one.seed, one.runs) = (Some(seed), Some(1));
        // Expectations are checked where the results are read.
        one.expect.clear();
        Job {
            scenario: one.to_toml(),
            seed,
            link: self.link.clone(),
            generator: self.generator.clone(),
            samples,
            programs: self.programs.as_ref().map(|placed| placed.programs.clone()),
        }
    }

    fn booted(&self, say: &dyn Fn(&str)) -> Result<&Booted, RunError> {
        if let Some(booted) = self.booted.get() {
            return Ok(booted);
        }
        say(&format!("preparing {}", self.kernel));
        let booted = self.prepare().map_err(of_machine)?;
        Ok(self.booted.get_or_init(|| booted))
    }

    fn prepare(&self) -> Result<Booted, GuestError> {
        let machine = qemu_version()?;
        let cache = Cache::of_user();
        let kernel = Kernel::find(&self.kernel, &cache)?;
        let mut image = Image::new(&kernel);
        self.fill(&mut image)?;
        let (initramfs, initramfs_sha256) = image.pack(&cache)?;
        let initramfs = std::fs::read(&initramfs)
            .map_err(|error| GuestError::Failed(format!("{}: {error}", initramfs.display())))?;
        let kernel_sha256 = kernel.sha256.clone();
        let figures = GuestFigures { machine, kernel_sha256, initramfs_sha256 };
        Ok(Booted { kernel, initramfs, figures })
    }

    /// Puts this program and its tools into the image, or what [`FOLDER`] names.
    fn fill(&self, image: &mut Image) -> Result<(), GuestError> {
        if let Some(folder) = std::env::var_os(FOLDER) {
            return image.folder(Path::new(&folder));
        }
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(GuestError::Lacks(format!(
                "--virtual-time: the guest runs programs for Linux on x86-64, which this one is \
                 not; {FOLDER} names a folder that has `init` (this program as built for it), \
                 `bin/ip` and `bin/tc`, with their libraries"
            )));
        }
        if self.inside.is_none() && !in_guest::can_serve() {
            let why = "--virtual-time: the guest runs this program itself, which is a library \
                       here; `cargo build --release` makes one, target/release/firstflight";
            return Err(GuestError::Lacks(why.to_owned()));
        }
        let program = self.inside.clone().map_or_else(std::env::current_exe, Ok);
        let program =
            program.map_err(|error| GuestError::Failed(format!("this program's file: {error}")))?;
        image.program("init", &program)?;
        image.tools(&["ip", "tc"], "iproute2")?;
        if self.generator.as_deref() == Some("iperf3") {
            image.tools(&["iperf3"], "iperf3")?;
        }
        self.programs.as_ref().map_or(Ok(()), |programs| programs.fill(image))
    }
}

impl Transport for VirtualTime {
    fn name(&self) -> &'static str {
        "linux"
    }

    /// Programs are called as the user calls them.
    fn full_name(&self, control: &ControlSpec) -> Result<String, RunError> {
        match &self.programs {
            Some(_) => Ok(control.text.clone()),
            None => Ok(LinuxControl::resolve_for_guest(control)?.full),
        }
    }

    fn complete(&self, scenario: &Scenario) -> Result<Complete, RunError> {
        match &self.programs {
            Some(_) => lab::programs::complete(scenario),
            None => lab::complete(scenario),
        }
    }

    /// A guest for each run, as many at a time as there are processors, or one if they are to run
    /// one after the other.
    fn run(&self, scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
        let plans = scenario.plans()?;
        if self.programs.is_none() && self.inside.is_none() {
            check(&plans)?;
        }
        let complete = self.complete(scenario)?;
        let say = options.say.unwrap_or(&|_| {});
        let booted = self.booted(say)?;
        let wanted: Vec<Wanted<'_>> = complete
            .seeds()
            .flat_map(|seed| plans.iter().enumerate().map(move |(i, plan)| (i, plan, seed)))
            .map(|(index, plan, seed)| {
                let job = self.job(scenario, index, seed, options.samples);
                Wanted { plan, seed, task: Task::Measure(job) }
            })
            .collect();
        let guests = match options.serial {
            true => 1,
            false => thread::available_parallelism().map_or(1, usize::from),
        };
        let never = AtomicBool::new(false);
        let work = Work {
            booted,
            longest: self.programs.as_ref().map(|programs| programs.longest),
            wanted: &wanted,
            stop: options.stop.unwrap_or(&never),
            next: AtomicUsize::new(0),
            done: Mutex::new(wanted.iter().map(|_| None).collect()),
            say,
            on_done: options.on_done,
        };
        thread::scope(|scope| {
            for _ in 0..guests.min(wanted.len()) {
                scope.spawn(|| work.guests());
            }
        });
        let done = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut runs = Vec::new();
        for outcome in done {
            match outcome {
                Some(Ok(run)) => runs.push(run),
                None | Some(Err(RunError::Interrupted)) => {}
                Some(Err(error)) => return Err(error),
            }
        }
        let interrupted = runs.len() < wanted.len();
        if interrupted && runs.is_empty() {
            return Err(RunError::Interrupted);
        }
        Ok(Report::new(complete, runs, interrupted))
    }

    /// The kernel that is booted, what differs from the usual link and sender, and the programs.
    fn version(&self) -> Result<String, RunError> {
        let figures = &self.booted(&|_| {})?.figures;
        let mut version = format!("in virtual time {}", figures.kernel_sha256);
        match self.link.as_deref() {
            Some("tun") => {}
            link => version += &format!(" on {}", link.unwrap_or("the usual link")),
        }
        if let Some(generator) = self.generator.as_ref().filter(|generator| *generator != "own") {
            version += &format!(" by {generator}");
        }
        if let Some(programs) = &self.programs {
            version += &format!(" {:?} {}", programs.programs, figures.initramfs_sha256);
        }
        Ok(version)
    }
}

impl GuestPrograms {
    /// Puts the programs into the image, at their own places, with all that they need.
    fn fill(&self, image: &mut Image) -> Result<(), GuestError> {
        let Programs { server, client, folder, .. } = &self.programs;
        for line in ["sh", server, client, &self.script] {
            image.named_in(line, folder)?;
        }
        for path in &self.with {
            image.host(&folder.join(path))?;
        }
        image.file("etc/passwd", PASSWD, false);
        image.file("etc/group", GROUP, false);
        let bytes = image.bytes_of_host()?;
        if bytes > MOST_BYTES {
            return Err(GuestError::Input(format!(
                "--with: programs and files of {} MB, which are in the guest's memory; accepted: \
                 at most {} MB",
                bytes / 1_000_000,
                MOST_BYTES / 1_000_000
            )));
        }
        Ok(())
    }
}

/// Whether this build, which runs in the guest, can load the controls there.
fn check(plans: &[Plan]) -> Result<(), RunError> {
    let mut controls = plans.iter().flat_map(|plan| &plan.controls);
    match controls.find(|control| !control.startup.name.starts_with(OF_LINUX)) {
        Some(control) if !cfg!(feature = "bpf") && std::env::var_os(FOLDER).is_none() => {
            Err(RunError::Lacks(format!(
                "control `{}`: it takes a build with `--features kernel` to load it into a kernel",
                control.text
            )))
        }
        _ => Ok(()),
    }
}

/// What the threads share; each runs one guest at a time.
struct Work<'a> {
    booted: &'a Booted,
    /// How long a guest may take, in which programs run that are not ours.
    longest: Option<Duration>,
    wanted: &'a [Wanted<'a>],
    stop: &'a AtomicBool,
    next: AtomicUsize,
    done: Mutex<Vec<Option<Result<Run, RunError>>>>,
    say: &'a (dyn Fn(&str) + Sync),
    on_done: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

impl Work<'_> {
    /// Boots guests as long as there are runs to do.
    fn guests(&self) {
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(wanted) = self.wanted.get(place) else { return };
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let outcome = self.guest(wanted);
            if outcome.is_err() {
                // One failure is that of the whole: no other guest is booted.
                self.next.store(self.wanted.len(), Ordering::Relaxed);
            }
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done[place] = Some(outcome);
            let count = done.iter().flatten().filter(|outcome| outcome.is_ok()).count();
            if let Some(report) = self.on_done {
                report(count, self.wanted.len());
            }
        }
    }

    fn guest(&self, wanted: &Wanted<'_>) -> Result<Run, RunError> {
        let begun = Instant::now();
        let mut more = Image::default();
        more.job(&serde_json::to_string(&wanted.task).map_err(not_json)?);
        let archive = more.archive().map_err(of_machine)?;
        let initramfs = concatenated(&[&self.booted.initramfs, &archive]).map_err(of_machine)?;
        let machine = Machine {
            kernel: &self.booted.kernel.vmlinuz,
            initramfs: initramfs.path(),
            words: "",
            time: Time::Virtual,
            longest: self.longest,
        };
        let name = &wanted.plan.name;
        (self.say)(&format!("{name}: booting"));
        let mut message = None;
        let console = machine.run(self.stop, |line| match serde_json::from_str(line) {
            Ok(Message::Time(second)) => (self.say)(&format!("{name}: {second} s of its time")),
            Ok(last) => message = Some(last),
            Err(_) => {}
        });
        let console = match console {
            // It is the fault of what runs there, and the others may be better.
            Err(why @ GuestError::Overdue(_)) => return Ok(lab::programs::failed(why.to_string())),
            console => console.map_err(of_machine)?,
        };
        let measured = match message {
            Some(Message::Measured(measured)) => measured,
            Some(Message::Lacks(why)) => return Err(RunError::Lacks(of_guest(&why))),
            Some(Message::Input(why)) => return Err(RunError::Input(why)),
            Some(Message::Failed(why)) => return Err(RunError::Failed(of_guest(&why))),
            _ if self.longest.is_some() => return Ok(lab::programs::failed(ended(&console))),
            Some(Message::Time(_)) | None => return Err(RunError::Failed(ended(&console))),
        };
        let GuestRun { mut result, flows, queues } = *measured;
        result.alias = name.clone();
        result.seed = wanted.seed;
        let packets: u64 = result.flows.iter().map(|flow| flow.delivered_packets).sum();
        let wall_s = begun.elapsed().as_secs_f64();
        let delivered_packets_per_s = packets as f64 / wall_s.max(1e-9);
        result.cost = Cost { wall_s, delivered_packets_per_s, ..result.cost };
        if let Some(lab) = &mut result.lab {
            lab.guest = Some(self.booted.figures.clone());
        }
        Ok(Run::new(result, flows, queues))
    }
}

/// Why there was no guest, in the kinds of a run.
fn of_machine(error: GuestError) -> RunError {
    match error {
        GuestError::Interrupted => RunError::Interrupted,
        GuestError::Input(problem) => RunError::Input(problem),
        GuestError::Lacks(problem) => RunError::Lacks(problem),
        GuestError::Failed(problem) => RunError::Failed(problem),
        error @ GuestError::Overdue(_) => RunError::Failed(error.to_string()),
    }
}

/// A task or a result that is no JSON.
pub(crate) fn not_json(error: serde_json::Error) -> RunError {
    RunError::Failed(format!("the results cannot be printed: {error}"))
}

fn of_guest(why: &str) -> String {
    format!("in the guest: {why}")
}

/// Why a run failed whose guest ended without a result: the last lines of its console.
fn ended(console: &str) -> String {
    let lines: Vec<&str> = console.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ");
    format!("the guest ended without a result; it last said: {last}")
}

const LAST_LINES: usize = 5;
/// What programs ask for that look up their user.
const PASSWD: &[u8] = b"root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n";
const GROUP: &[u8] = b"root:x:0:\nnogroup:x:65534:\n";
/// The guest has a gigabyte, and holds them twice while it boots.
const MOST_BYTES: u64 = 300_000_000;
/// The environment's name for a folder to boot instead of this program and its tools.
const FOLDER: &str = "FIRSTFLIGHT_GUEST";
