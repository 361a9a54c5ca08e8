//! What an ACK costs in quinn's whole stack under each controller: `cargo bench -p
//! firstflight-quic-sim` in ns, and with `-- --instructions` in instructions, which a busy machine
//! does not disturb (it takes valgrind, Debian package `valgrind`, and a minute or two).
//!
//! Packets, TLS, recovery and the simulator are the same for all, and firstflight's NewReno sends
//! what quinn's does but for one packet in flight, so that the difference is the controller's.

use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::time::Instant as Clock;

use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_quic_sim::{Control, Pair, Setup};
use firstflight_sim::{Buffer, Endpoint, Ends, FlowSpec, LinkSpec, Network, Pace, run_with};

const PACKET: u64 = 1_200;
const RUNS: u32 = 7;
const NAMES: [&str; 8] =
    ["quinn-newreno", "newreno", "quinn-cubic", "cubic", "hoe", "vegas", "astart", "tcpw-a"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let counted = match arguments[..] {
        [] => (0..RUNS).fold([f64::INFINITY; NAMES.len()], |best, _| {
            std::array::from_fn(|it| best[it].min(run(&network(10), NAMES[it]).0))
        }),
        ["--instructions"] => match NAMES.iter().map(|name| instructions(name)).collect() {
            Ok::<Vec<f64>, String>(counts) => std::array::from_fn(|it| counts[it]),
            Err(problem) => {
                eprintln!("{problem}");
                return ExitCode::from(3);
            }
        },
        ["--once", name, seconds] => {
            println!("{}", run(&network(seconds.parse().unwrap_or(1)), name).1);
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("found {arguments:?}; accepted: nothing, or --instructions");
            return ExitCode::from(2);
        }
    };
    let unit = if arguments.is_empty() { "ns" } else { "instructions" };
    println!("{:16}{:>24}{:>24}", "control", format!("{unit} per packet"), "against quinn-newreno");
    for (name, count) in NAMES.iter().zip(counted) {
        let percent = 100.0 * (count / counted[0] - 1.0);
        println!("{name:16}{count:24.0}{percent:23.2}%");
    }
    ExitCode::SUCCESS
}

/// Instructions per packet delivered: what three seconds take more than one.
fn instructions(name: &str) -> Result<f64, String> {
    let [(few, less), (many, more)] = [count(name, "1")?, count(name, "3")?];
    Ok((more - less) / (many - few))
}

/// Packets delivered and instructions taken in so many seconds.
fn count(name: &str, seconds: &str) -> Result<(f64, f64), String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args(["--once", name, seconds])
        .output()
        .map_err(|error| format!("valgrind: {error}; Debian: apt install valgrind"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let packets = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    let collected = said.split("Collected :").nth(1).and_then(|it| it.split_whitespace().next());
    let collected = collected.and_then(|it| it.parse().ok());
    packets.zip(collected).ok_or(said)
}

/// One transfer; ns per packet delivered, each of which is acknowledged alone, and how many.
fn run(network: &Network, name: &str) -> (f64, u64) {
    let setup = Setup {
        control: Control::named(name).expect("a listed name"),
        packet_bytes: PACKET,
        initial_window: None,
        initial_ssthresh: None,
        packet_threshold: None,
        delayed_ack: Some(1),
        size: None,
        receive_window: None,
        path_bytes: 1_000_000,
        seed: 1,
    };
    let ends: Box<dyn Ends> = Box::new(Pair::new(&setup).expect("1200 bytes"));
    let began = Clock::now();
    let outcome = run_with(network, vec![(0, ends)], Pace::Ahead, &AtomicBool::new(false));
    let ns = began.elapsed().as_nanos() as f64;
    let packets = outcome.expect("nobody stops it").flows[0].delivered_packets;
    (ns / packets as f64, packets)
}

/// 100 Mbit/s, 20 ms, a buffer of a BDP.
fn network(seconds: u64) -> Network {
    let flow = FlowSpec {
        startup: AnyStartup::by_name("slow-start").expect("listed"),
        avoidance: AnyAvoidance::by_name("newreno").expect("listed"),
        endpoint: Endpoint::rfc(Bytes(PACKET)),
        path: vec![0],
        access_rate_bps: 1_000_000_000,
        access_delay: Span(0),
        return_delay: Span::from_millis(10),
        return_rate_bps: 100_000_000,
        payload_bytes: PACKET,
        header_bytes: 0,
        syn_bytes: 40,
        start: Instant(0),
        stop: None,
        packets: None,
        files: None,
        bdp_bytes: 250_000,
    };
    let link = LinkSpec {
        rate_bps: 100_000_000,
        delay: Span::from_millis(10),
        buffer: Buffer::Packets(208),
        in_service_counts: false,
        loss_ppb: 0,
        drop_nth: Vec::new(),
    };
    Network {
        links: vec![link],
        flows: vec![flow],
        udp: Vec::new(),
        duration: Span::from_secs(seconds),
        seed: 1,
        ns2_ties: false,
        sample_every: None,
    }
}
