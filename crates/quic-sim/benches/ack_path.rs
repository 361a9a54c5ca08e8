//! What an ACK costs under each controller, in two readings of one run: in quinn's whole stack, and
//! in the calls to the controller alone. `cargo bench -p firstflight-quic-sim` in ns, and with
//! `-- --instructions` in instructions, which a busy machine does not disturb (it takes valgrind,
//! Debian package `valgrind`, and a few minutes).
//!
//! - *Stack*: packets, TLS, recovery and the simulator are the same for all, and firstflight's
//!   NewReno sends what quinn's does but for one packet in flight, so that the difference is the
//!   controller's.
//! - *Calls*: the calls that quinn made to its NewReno in one such run are replayed to each
//!   controller, and the cost of replaying is subtracted.
//!
//! Each of firstflight's stands there twice: by name, as most will use it, and by type, where the
//! compiler sees which policies they are.

#[path = "ack_path/calls.rs"]
mod calls;
#[path = "../tests/common/mod.rs"]
mod common;

use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant as Clock;

use calls::{Calls, Nothing, Recording};
use firstflight_core::avoidance::{Cubic, NewReno, Vegas, Westwood};
use firstflight_core::knob::{KnobValue, Knobs as _};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::startup::{Astart, Hoe, SlowStart, Vegas as VegasStart};
use firstflight_quic::quinn::Factory;
use firstflight_quic_sim::quinn::{ClientAndServer, QuicControl, Setup};
use quinn_proto::congestion::ControllerFactory;

const RUNS: u32 = 7;
const NAMES: [&str; 14] = [
    "quinn-newreno",
    "newreno",
    "newreno by type",
    "quinn-cubic",
    "cubic",
    "cubic by type",
    "hoe",
    "hoe by type",
    "vegas",
    "vegas by type",
    "astart",
    "astart by type",
    "tcpw-a",
    "tcpw-a by type",
];

/// A controller's cost per packet delivered.
#[derive(Clone, Copy)]
struct Cost {
    stack: f64,
    calls: f64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (unit, costs) = match arguments[..] {
        [] => ("ns", NAMES.map(timed).to_vec()),
        ["--instructions"] => match all_counted() {
            Ok(costs) => ("instructions", costs),
            Err(problem) => {
                eprintln!("{problem}");
                return ExitCode::from(3);
            }
        },
        ["--stack", name, seconds] => {
            println!("{}", packets(name, seconds.parse().unwrap_or(1)));
            return ExitCode::SUCCESS;
        }
        ["--calls", name, times] => {
            let (calls, packets) = recorded();
            (0..times.parse().unwrap_or(1)).for_each(|_| calls.make(factory(name)));
            println!("{packets}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("found {arguments:?}; accepted: nothing, or --instructions");
            return ExitCode::from(2);
        }
    };
    println!("{unit} per packet of 1200 bytes, each acknowledged alone, 100 Mbit/s, 20 ms");
    println!("{:16}{:>12}{:>24}{:>12}", "control", "stack", "against quinn-newreno", "calls");
    for (name, cost) in NAMES.iter().zip(&costs) {
        let percent = 100.0 * (cost.stack / costs[0].stack - 1.0);
        println!("{name:16}{:12.0}{percent:23.2}%{:12.0}", cost.stack, cost.calls);
    }
    ExitCode::SUCCESS
}

/// The best of some runs, in ns.
fn timed(name: &str) -> Cost {
    let best = |run: &dyn Fn() -> u64| {
        (0..RUNS).fold(f64::INFINITY, |best, _| {
            let began = Clock::now();
            let packets = run();
            best.min(began.elapsed().as_nanos() as f64 / packets as f64)
        })
    };
    let (calls, packets_each) = recorded();
    let making = |name: &str| {
        best(&|| {
            calls.make(factory(name));
            packets_each
        })
    };
    Cost { stack: best(&|| packets(name, 10)), calls: making(name) - making(NOTHING) }
}

/// Instructions: what the longer of two runs takes more, so that neither the handshake nor the
/// program's own beginning counts.
fn all_counted() -> Result<Vec<Cost>, String> {
    let stack = |name: &str| {
        let [few, many] = [count(&["--stack", name, "1"])?, count(&["--stack", name, "3"])?];
        Ok::<f64, String>((many.instructions - few.instructions) / (many.packets - few.packets))
    };
    let calls = |name: &str| {
        let [once, often] = [count(&["--calls", name, "1"])?, count(&["--calls", name, "11"])?];
        Ok::<f64, String>((often.instructions - once.instructions) / (10.0 * once.packets))
    };
    let nothing = calls(NOTHING)?;
    let cost = |name| Ok(Cost { stack: stack(name)?, calls: calls(name)? - nothing });
    NAMES.into_iter().map(cost).collect()
}

/// Packets delivered and instructions taken by this program with these arguments.
struct Count {
    packets: f64,
    instructions: f64,
}

fn count(arguments: &[&str]) -> Result<Count, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind: {error}; Debian: apt install valgrind"))?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let packets = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    let collected = log.split("Collected :").nth(1).and_then(|it| it.split_whitespace().next());
    let instructions = collected.and_then(|it| it.parse().ok());
    let both = packets.zip(instructions);
    both.map(|(packets, instructions)| Count { packets, instructions }).ok_or(log)
}

fn factory(name: &str) -> Arc<dyn ControllerFactory + Send + Sync> {
    match name {
        NOTHING => Arc::new(Nothing),
        "newreno by type" => by_type(SlowStart::default(), NewReno::default()),
        "cubic by type" => by_type(SlowStart::default(), Cubic::default()),
        "hoe by type" => by_type(Hoe::default(), NewReno::default()),
        "vegas by type" => by_type(VegasStart::default(), Vegas::default()),
        "astart by type" => by_type(Astart::default(), Westwood::default()),
        "tcpw-a by type" => {
            let mut westwood = Westwood::default();
            assert!(westwood.set("lg", KnobValue::Word("on")));
            by_type(Astart::default(), westwood)
        }
        _ => firstflight_quic::quinn::any(name).expect("a listed name"),
    }
}

fn by_type<S, A>(startup: S, avoidance: A) -> Arc<dyn ControllerFactory + Send + Sync>
where
    S: Startup + Clone + Send + Sync + 'static,
    A: Avoidance + Clone + Send + Sync + 'static,
{
    Arc::new(Factory::new(startup, avoidance).expect("none of these needs routers"))
}

fn setup() -> Setup {
    let control = QuicControl::Stacks(firstflight_quic::quinn::OfStack::NewReno);
    Setup { delayed_ack: Some(1), ..Setup::new(control, 1_000_000) }
}

/// Packets delivered in so many seconds of one transfer.
fn packets(name: &str, seconds: u64) -> u64 {
    delivered(ClientAndServer::with_controller(&setup(), factory(name)), seconds)
}

/// What quinn says to its NewReno in two seconds, and the packets delivered in them.
fn recorded() -> (Calls, u64) {
    let (inner, calls) = (factory(NAMES[0]), Calls::default());
    let recording = Recording { inner, calls: calls.clone() };
    let pair = ClientAndServer::with_controller(&setup(), Arc::new(recording));
    let packets = delivered(pair, 2);
    (calls, packets)
}

fn delivered(
    pair: Result<ClientAndServer, firstflight_quic_sim::quinn::SetupError>,
    seconds: u64,
) -> u64 {
    let pair = pair.expect("1200 bytes");
    // A buffer of a BDP.
    let outcome = common::run(&common::network(100, 20, 208, 1, seconds), vec![Box::new(pair)]);
    outcome.flows[0].delivered_packets
}

/// Stands for the controller that does nothing.
const NOTHING: &str = "nothing";
