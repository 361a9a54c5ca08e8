//! What an ACK costs the running kernel under each control, compared with its own reno: `cargo
//! bench -p firstflight-kernel --features bpf` (as root, two minutes). Arguments after `--`:
//! rounds, then controls.
//!
//! Measured is the time within the kernel's functions that handle an ACK (`ack.rs`), on one
//! connection that changes its control from slice to slice, so that all meet the same machine,
//! windows and neighbours. A kernel that lets nobody trace it (lockdown) cannot be measured; `cargo
//! xtask qemu --cost` measures Debian's in a guest whose clock counts instructions.

mod ack;
#[path = "../../tests/running/network.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod network;
mod probe;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::ExitCode;

use firstflight_control::Control;
use firstflight_control::stack::OF_LINUX;
use firstflight_kernel::catalogue::distinct;
use firstflight_kernel::load::Options;
use firstflight_kernel::{KernelControl, Registered};

type Problem = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match cost(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cost: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn cost(words: &[String]) -> Result<(), Problem> {
    let (rounds, texts) = match words.split_first() {
        Some((first, rest)) if first.parse::<u32>().is_ok() => (first.parse()?, rest),
        _ => (ROUNDS, words),
    };
    let given: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ours = if given.is_empty() { &distinct() } else { &given };
    let subjects: Vec<Subject> =
        KERNELS.iter().chain(ours).map(|text| Subject::new(text)).collect::<Result<_, _>>()?;
    let probe = probe::Probe::attach()
        .map_err(|problem| format!("the kernel lets nobody trace its functions: {problem}"))?;
    ack::report(&subjects, &probe, rounds)
}

/// A control under measurement.
struct Subject {
    /// What was asked for.
    text: String,
    /// The kernel's name for it.
    name: String,
    /// Registered for as long as we measure; `None` if it is the kernel's own.
    _registered: Option<Registered>,
}

impl Subject {
    /// `linux-reno` and its like are the kernel's, anything else is ours.
    fn new(text: &str) -> Result<Self, Problem> {
        if let Some(own) = text.strip_prefix(OF_LINUX) {
            return Ok(Self { text: text.to_owned(), name: own.to_owned(), _registered: None });
        }
        let control = KernelControl::new(&Control::named(text)?)?;
        let name = format!("{}_c", &control.name[..control.name.len().min(13)]);
        let options = Options { name: Some(name.clone()), ..Options::default() };
        let registered = Registered::load(&control, &options)?;
        Ok(Self { text: text.to_owned(), name, _registered: Some(registered) })
    }
}

/// Writes until the connection ends.
fn fill(mut sender: TcpStream) {
    let data = vec![0; 1 << 16];
    while sender.write_all(&data).is_ok() {}
}

/// Reads until the connection ends.
fn drain(mut receiver: TcpStream) {
    let mut data = vec![0; 1 << 18];
    while receiver.read(&mut data).is_ok_and(|count| count > 0) {}
}

/// The kernel's own controls. The first is measured twice: the difference is the error of the
/// measurement.
const KERNELS: &[&str] = &["linux-reno", "linux-reno", "linux-cubic"];
const ROUNDS: u32 = 40;
