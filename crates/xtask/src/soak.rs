//! Runs many flows over a lossy link, and meanwhile unloads and loads the controls they use, again
//! and again. At the end nothing of it may be left in the kernel. `soak recv` is another soak, of
//! transfers: `recv.rs`.

use std::io::read_to_string;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use clap::value_parser;
use serde::Deserialize;

use crate::Stop;
use crate::step::{self, announce, unable};

mod kernel;
mod network;
mod recv;

use kernel::State;
use network::{FAR, LinkKind, NAMESPACES, Network};

/// Which soak.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    kernel: Options,
}

#[derive(clap::Subcommand)]
enum Other {
    /// `recv` under many clients, half of them hostile: memory, and whether every honest transfer
    /// is whole
    Recv(recv::Options),
}

/// How long and with how many flows.
#[derive(clap::Args)]
struct Options {
    #[arg(long, default_value = "200", value_parser = value_parser!(u32).range(2..=MOST_FLOWS))]
    flows: u32,
    #[arg(long, default_value = "300", value_parser = value_parser!(u32).range(1..))]
    seconds: u32,
    /// How often the controls are unloaded and loaded
    #[arg(long, default_value = "1000", value_parser = value_parser!(u32).range(1..))]
    cycles: u32,
    /// firstflight's link or netem
    #[arg(long, default_value = "tun")]
    link: LinkKind,
    /// Takes the programs as the tests build them: slower at it, but built already
    #[arg(long)]
    dev: bool,
    /// Takes the programs in that folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "dev")]
    built: Option<PathBuf>,
}

/// Runs it and judges what is left.
pub(crate) fn run(root: &Path, args: &Args) -> Result<(), Stop> {
    if let Some(Other::Recv(options)) = &args.other {
        return recv::run(root, options);
    }
    let options = &args.kernel;
    let programs = Programs::build(root, options)?;
    network::remove();
    let before = State::read(&programs)?;
    announce(&format!(
        "soak: {} flows, {} s, {} cycles",
        options.flows, options.seconds, options.cycles
    ));
    let ran = soak(&programs, options);
    // What is left is reported after a failure too.
    let _ = programs.firstflight(&["kernel", "unload", "--all", "--force"]);
    network::remove();
    let left = before.compare(&programs)?;
    ran?;
    match left.as_slice() {
        [] => {
            println!("soak: nothing is left");
            Ok(())
        }
        left => Err(Stop::failed(&format!("soak: left in the kernel: {}", left.join("; ")))),
    }
}

/// What was built for it.
pub(crate) struct Programs {
    firstflight: PathBuf,
    objects: PathBuf,
}

impl Programs {
    fn build(root: &Path, options: &Options) -> Result<Self, Stop> {
        if let Some(folder) = &options.built {
            let [firstflight, objects] = [FIRSTFLIGHT, OBJECTS].map(|name| folder.join(name));
            return Ok(Self { firstflight, objects });
        }
        let profile = if options.dev { "dev" } else { "release" };
        if step::kernel_features()?.is_empty() {
            return Err(Stop::lacks(&step::no_kernel("soak")));
        }
        let build = |kind: &str, name: &str| {
            step::built(root, &["build", "--profile", profile, kind, name])
        };
        Ok(Self {
            firstflight: build("--bin", FIRSTFLIGHT)?,
            objects: build("--example", OBJECTS)?,
        })
    }

    /// Runs the command to its end; what it complains about is the failure.
    fn firstflight(&self, arguments: &[&str]) -> Result<(), Stop> {
        output(Command::new(&self.firstflight).args(arguments)).map(drop)
    }
}

/// What a command prints, if it succeeds.
fn output(command: &mut Command) -> Result<String, Stop> {
    step::output("soak", command)
}

/// The flows, and the cycles under them.
fn soak(programs: &Programs, options: &Options) -> Result<(), Stop> {
    let _bed = Network::new(programs, options.link)?;
    let flows = NAMES.iter().zip(0..).map(|(name, number)| {
        load(programs, name, number as usize)?;
        Flows::start(name, options.flows.div_ceil(2), 5201 + number, options.seconds)
    });
    let flows: Vec<Flows> = flows.collect::<Result<_, _>>()?;
    connected(options.flows)?;
    let began = Instant::now();
    for cycle in 0..options.cycles {
        let name = NAMES[cycle as usize % NAMES.len()];
        programs.firstflight(&["kernel", "unload", name])?;
        load(programs, name, cycle as usize)?;
        if cycle % CYCLES_PER_FLOW == 0 {
            Flows::start(name, 1, 5300, 1)?.finish()?;
        }
    }
    let took = began.elapsed().as_secs_f64();
    println!("{} cycles of unload and load in {took:.0} s", options.cycles);
    flows.into_iter().try_for_each(Flows::finish)?;
    closed()
}

/// Waits until so many connections are there: each chose its control while that was loaded.
fn connected(flows: u32) -> Result<(), Stop> {
    until(&["state", "established"], "do not come about", |count| count >= flows as usize)
}

/// Waits until no connection is left that has anything to send or to wait for.
fn closed() -> Result<(), Stop> {
    until(&["-a", "exclude", "time-wait", "exclude", "listening"], "do not end", |count| count == 0)
}

fn until(which: &[&str], else_they: &str, enough: impl Fn(usize) -> bool) -> Result<(), Stop> {
    let until = Instant::now() + PATIENCE;
    let words = [&["netns", "exec", NAMESPACES[0], "ss", "-Htn"], which].concat();
    loop {
        let sockets = output(Command::new("ip").args(&words))?;
        if enough(sockets.lines().count()) {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(Stop::failed(&format!("soak: connections {else_they}: {sockets}")));
        }
        sleep(Duration::from_millis(200));
    }
}

/// Loads one of the controls under that name, unless it is loaded.
fn load(programs: &Programs, name: &str, number: usize) -> Result<(), Stop> {
    let control = format!("{name}={}", CONTROLS[number % CONTROLS.len()]);
    programs.firstflight(&["kernel", "load", &control])
}

/// Streams of one pair of iperf3.
struct Flows {
    control: &'static str,
    streams: u32,
    client: Ended,
    document: JoinHandle<String>,
    until: Instant,
    _server: Ended,
}

impl Flows {
    fn start(control: &'static str, streams: u32, port: u32, seconds: u32) -> Result<Self, Stop> {
        let [port, many, time] = [port, streams, seconds].map(|number| number.to_string());
        let inside = |namespace: &str| {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", namespace, "iperf3", "--port", &port]);
            command
        };
        let server = start(inside(NAMESPACES[1]).args(["--server", "--one-off"]), Stdio::null())?;
        sleep(Duration::from_millis(300));
        let mut client = start(
            inside(NAMESPACES[0])
                .args(["--client", FAR, "--congestion", control, "--json"])
                .args(["--time", &time, "--parallel", &many]),
            Stdio::piped(),
        )?;
        let out = client.0.stdout.take();
        let document = thread::spawn(|| {
            let lines = out.map(|out| read_to_string(out).unwrap_or_default());
            lines.unwrap_or_default()
        });
        let until = Instant::now() + Duration::from_secs(seconds.into()) + PATIENCE;
        Ok(Self { control, streams, client, document, until, _server: server })
    }

    /// Waits for the end, and sees to it that every stream carried something.
    fn finish(mut self) -> Result<(), Stop> {
        while self.client.0.try_wait().map_err(|error| unable("iperf3", &error))?.is_none() {
            if Instant::now() > self.until {
                let stuck = format!("soak: a connection of {} is stuck", self.control);
                return Err(Stop::failed(&stuck));
            }
            sleep(Duration::from_millis(100));
        }
        let Self { control, streams, .. } = self;
        let text = self.document.join().unwrap_or_default();
        let failed =
            |problem: &str| Stop::failed(&format!("soak: iperf3 with {control}: {problem}"));
        let Document { error, end } =
            serde_json::from_str(&text).map_err(|error| failed(&error.to_string()))?;
        if let Some(error) = error {
            return Err(failed(&error));
        }
        let least = end.streams.iter().map(|stream| stream.receiver.bytes).min().unwrap_or(0);
        if streams > 1 {
            println!(
                "{control}: {} streams, {:.1} Mbps, {} segments again, at least {least} bytes a \
                 stream",
                end.streams.len(),
                end.sum_received.bits_per_second / 1e6,
                end.sum_sent.retransmits,
            );
        }
        if end.streams.len() == streams as usize && least > 0 {
            return Ok(());
        }
        Err(Stop::failed(&format!("soak: a stream of {control} carried nothing: {text}")))
    }
}

/// What is read of iperf3's JSON. `firstflight-record` reads it too; it would bring the core into
/// every build of these tasks.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    error: Option<String>,
    end: End,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct End {
    streams: Vec<StreamEnd>,
    sum_sent: Sum,
    sum_received: Sum,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamEnd {
    receiver: Sum,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sum {
    bytes: u64,
    bits_per_second: f64,
    retransmits: u64,
}

fn start(command: &mut Command, out: Stdio) -> Result<Ended, Stop> {
    let name = format!("{command:?}");
    let quiet = command.stdin(Stdio::null()).stdout(out).stderr(Stdio::null());
    quiet.spawn().map(Ended).map_err(|error| unable(&name, &error))
}

/// A program that does not outlive this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const FIRSTFLIGHT: &str = "firstflight";
const OBJECTS: &str = "bpf_objects";
const NAMES: [&str; 2] = ["ff_soak_a", "ff_soak_b"];
const CONTROLS: [&str; 5] = ["astart", "newreno", "mstart", "tcpw-a", "vegas"];
/// Two iperf3, which have at most 128 streams each.
const MOST_FLOWS: i64 = 256;
/// The number of cycles after which one short flow begins and ends.
const CYCLES_PER_FLOW: u32 = 25;
const PATIENCE: Duration = Duration::from_secs(60);
