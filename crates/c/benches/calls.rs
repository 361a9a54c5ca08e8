//! What a call through C costs: `cargo bench -p firstflight-c`. The instructions of an ACK and of a
//! packet that leaves, counted by valgrind: through the C interface, and in Rust behind the trait
//! object by which stacks in Rust call a controller.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

use firstflight_control::{Control, Named};
use firstflight_core::event::{Ack, Sent};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};

const MSS: u64 = 1_000;
const WINDOW: u64 = 500;
const RTT: u64 = 100_000_000;
const GAP: u64 = 200_000;
const ACKS: u64 = 20_000;
const CONTROLS: [&str; 6] = ["newreno", "astart", "hystart-pp", "scout", "rapid-start", "cubic"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [rust, control, acks] = &arguments[..]
        && rust == "rust"
    {
        return println!("{}", in_rust(control, acks.parse().expect("a number of ACKs")));
    }
    let Some(program) = program_in_c() else { return };
    let myself = std::env::current_exe().expect("this program has a path");
    println!("{:14}{:>10}{:>10}{:>8}", "instructions", "Rust", "C", "more");
    for control in CONTROLS {
        let rust = of_each(&|acks| counted(Command::new(&myself).arg("rust"), control, acks));
        let c = of_each(&|acks| counted(&mut Command::new(&program), control, acks));
        let (Some(rust), Some(c)) = (rust, c) else { return println!("skipped: no valgrind") };
        println!("{control:14}{rust:10.1}{c:10.1}{:7.1}%", 100.0 * (c / rust - 1.0));
    }
}

/// A controller as quinn and others hold it.
trait Controller {
    fn on_sent(&mut self, sent: &Sent);
    fn on_ack(&mut self, ack: &Ack);
    fn cwnd(&self) -> u64;
}

impl Controller for Sender<Named> {
    fn on_sent(&mut self, sent: &Sent) {
        Sender::on_sent(self, sent);
        if !self.acts_on_acks_only() {
            self.on_paced(sent.bytes);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        Sender::on_ack(self, ack);
    }

    fn cwnd(&self) -> u64 {
        Sender::cwnd(self).0
    }
}

/// The sum of the windows, so that both ways are seen to do the same.
fn in_rust(control: &str, acks: u64) -> u64 {
    let config = Config {
        mss: Bytes(MSS),
        initial_window: Bytes(WINDOW * MSS),
        initial_ssthresh: Bytes::MAX,
        max_cwnd: Bytes(WINDOW * MSS),
        limit_growth_to_flight: true,
        segment_per_ack: false,
        paces: false,
    };
    let mut control = Control::named(control).expect("a control");
    control.suggest_weights_per_packet();
    let mut sender: Sender<Named> = Sender::of(control.policies(), config);
    sender.begin(Instant(1));
    let mut sender: Box<dyn Controller> = black_box(Box::new(sender));
    let (mut sent, mut sum) = (0, 0);
    for i in 0..acks + WINDOW {
        let now = Instant(RTT + i / WINDOW * RTT + i % WINDOW * GAP);
        if i >= WINDOW {
            sender.on_ack(&Ack {
                now,
                acked: Bytes(MSS),
                credited: Bytes(MSS),
                rtt: Some(Span(RTT)),
                in_flight: Bytes((WINDOW - 1) * MSS),
                snd_nxt: Bytes(sent),
                ..Ack::default()
            });
        }
        let in_flight = Bytes(if i < WINDOW { (i + 1) * MSS } else { WINDOW * MSS });
        sent += MSS;
        let bytes = Bytes(MSS);
        sender.on_sent(&Sent { now, bytes, in_flight, again: false });
        sum += sender.cwnd();
    }
    sum
}

/// The program in C with the library that is handed out, which is optimised as a whole.
fn program_in_c() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut build = Command::new(env!("CARGO"));
    build.args(["rustc", "--quiet", "--package", "firstflight-c", "--lib", "--profile", "dist"]);
    build.args(["--crate-type", "staticlib", "--target-dir"]).arg(target).current_dir(here);
    assert!(build.status().is_ok_and(|status| status.success()), "the library");
    let program = target.join("calls");
    let mut compile = Command::new("cc");
    compile.arg("-O2").arg("-I").arg(here.join("include")).arg(here.join("benches/calls.c"));
    compile.arg(target.join("dist/libfirstflight_c.a")).args(["-lpthread", "-ldl", "-lm"]);
    let made = compile.arg("-o").arg(&program).status().is_ok_and(|status| status.success());
    if !made {
        println!("skipped: no C compiler");
    }
    made.then_some(program)
}

/// Instructions per ACK, without those of the beginning.
fn of_each(count: &dyn Fn(u64) -> Option<(u64, String)>) -> Option<f64> {
    let (few, many) = (count(ACKS)?, count(2 * ACKS)?);
    Some((many.0 - few.0) as f64 / ACKS as f64)
}

/// The instructions of a run under valgrind, and what it printed.
fn counted(program: &mut Command, control: &str, acks: u64) -> Option<(u64, String)> {
    let mut run = Command::new("valgrind");
    run.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program.get_program());
    run.args(program.get_args()).arg(control).arg(acks.to_string());
    let output = run.output().ok()?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = report.lines().find(|line| line.contains("Collected :"))?;
    Some((line.split_whitespace().last()?.parse().ok()?, printed))
}
