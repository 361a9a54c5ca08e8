//! `measure`: the same transfer with several controls in turn, an operator's before and after.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use firstflight_results::{Results, RunResult};
use firstflight_scenario::Size;

use crate::failure::{Failure, Fault as _, Status};
use crate::progress::Progress;
use crate::secret::SecretArgs;
use crate::transfer::{Common, PeerArgs};
use crate::{interrupt, output};

mod findings;
mod iperf3;
mod median;
mod quic;

/// Measure a transfer with several controls in turn, before and after a change
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where `firstflight recv --discard --serve` listens, or `iperf3 -s` for --iperf3; an address
    /// is HOST:PORT
    #[arg(long, value_name = "HOST")]
    to: String,
    /// Controls as `send --control` takes them; for --iperf3 the kernel's, or ours that are loaded.
    /// The first is what the others are compared with
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    controls: String,
    /// Transfers per control; six are the fewest whose median has a 95 % interval
    #[arg(long, value_name = "N", default_value = "6",
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: u32,
    /// Bytes of each transfer
    #[arg(long, value_name = "SIZE", default_value = "5MB")]
    size: Size,
    /// Measure the kernel's TCP with iperf3, to an `iperf3 -s`, instead of QUIC
    #[arg(long, conflicts_with_all = ["pin", "trust", "secret", "secret_file", "cert", "key"])]
    iperf3: bool,
    #[command(flatten)]
    peer: PeerArgs,
    #[command(flatten)]
    secret: SecretArgs,
    /// Print the results as one JSON document
    #[arg(long)]
    json: bool,
    /// Write report.html, figures, data and results.json here
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

const EXAMPLES: &str = "\
The transfers go A B A B, so that both see the same conditions, half a second apart. Medians come
with a distribution-free 95 % interval. Broken transfers are told and counted; Ctrl-C keeps what was
finished. A control may be given twice, to see how much of a difference is chance.

Examples:
  firstflight measure --to 192.0.2.7:4433 --controls cubic,astart --trust recv.pem --secret-file s
  firstflight measure --to 192.0.2.7 --iperf3 --controls cubic,ff_astart --size 30MB --out report
  firstflight measure --to 4433 --controls quinn-cubic,hoe+cubic --runs 20 --trust recv.pem --json";

/// Runs the command.
pub(crate) fn measure(args: &Args) -> Result<Status, Failure> {
    let names = split(&args.controls)?;
    if args.size.bytes() == 0 {
        let problem = "--size 0: nothing to measure; accepted: a size above 0, such as 5MB";
        return Err(Failure::Usage(problem.to_owned()));
    }
    let _lock = output::lock_out(args.out.as_deref())?;
    let sender: Box<dyn Sender> = match args.iperf3 {
        true => Box::new(iperf3::Iperf3::new(args, &names)?),
        false => Box::new(quic::Quic::new(args, &names)?),
    };
    let (measured, interrupted) = take_turns(args, &names, &*sender)?;
    let broken = measured.iter().flat_map(|one| &one.runs).any(|run| !is_whole(run));
    findings::print(args, &*sender, measured)?;
    Ok(match (interrupted, broken) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Unmet,
        (false, false) => Status::Done,
    })
}

/// Who sends.
trait Sender {
    /// One transfer with the control at that place of the list.
    fn send(&self, control: usize) -> Result<RunResult, Broken>;
    /// What is measured, in a few words.
    fn what(&self) -> &'static str;
}

/// A transfer that came to nothing, with what is known of it.
struct Broken {
    failure: Box<Failure>,
    run: Box<RunResult>,
}

/// The transfers of one control, in the order of the rounds.
struct ControlRuns {
    control: String,
    runs: Vec<RunResult>,
}

/// Whether a transfer came to its end.
fn is_whole(run: &RunResult) -> bool {
    !run.note.as_ref().is_some_and(|note| note.starts_with("failed: "))
}

/// The results in the order in which they were measured.
fn in_order(measured: &[ControlRuns]) -> Vec<RunResult> {
    let rounds = measured.iter().map(|one| one.runs.len()).max().unwrap_or(0);
    let round = |at| measured.iter().filter_map(move |one| one.runs.get(at).cloned());
    (0..rounds).flat_map(round).collect()
}

fn take_turns(
    args: &Args,
    names: &[String],
    sender: &dyn Sender,
) -> Result<(Vec<ControlRuns>, bool), Failure> {
    let stop = interrupt::listen();
    let total = args.runs as usize * names.len();
    let new = |control: &String| ControlRuns { control: control.clone(), runs: Vec::new() };
    let mut measured: Vec<ControlRuns> = names.iter().map(new).collect();
    let (mut whole, began) = (0, Instant::now());
    let progress = Progress::new("transfers", Some(total));
    for done in 0..total {
        let at = done % names.len();
        progress.set(done, total);
        progress.say(&format!("{}{}", names[at], left(began.elapsed(), done, total)));
        if done > 0 {
            // The queue drains, and the receiver is free for the next.
            thread::sleep(PAUSE);
        }
        let sent = match stop.load(Ordering::Relaxed) {
            true => Err(Failure::Interrupted),
            false => match sender.send(at) {
                Err(Broken { failure, .. }) if failure.code() == 130 => Err(Failure::Interrupted),
                // Before anything went well it may be the command line's fault.
                Err(Broken { failure, .. }) if whole == 0 && failure.code() != 1 => {
                    return Err(*failure);
                }
                sent => Ok(sent),
            },
        };
        let run = match sent {
            Err(_) if whole == 0 => return Err(Failure::Interrupted),
            Err(_) => {
                drop(progress);
                output::complain(&format!("interrupted: {done} of {total} transfers were made"));
                return Ok((measured, true));
            }
            Ok(Err(Broken { failure, run })) => {
                let (i, control) = (done + 1, &names[at]);
                progress.aside(|| {
                    output::complain(&format!("transfer {i} of {total}, {control}: {failure}"));
                });
                *run
            }
            Ok(Ok(run)) => {
                whole += 1;
                run
            }
        };
        measured[at].runs.push(run);
        if whole == 0 && done + 1 == names.len() && done + 1 < total {
            drop(progress);
            output::complain(&"no transfer of the first round came to its end: given up");
            break;
        }
    }
    Ok((measured, false))
}

/// How long the rest takes if it goes on so; nothing before the first is over.
fn left(elapsed: Duration, done: usize, total: usize) -> String {
    if done == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() / done as f64 * (total - done) as f64;
    format!(", about {seconds:.0} s left")
}

/// The controls of a list; commas within parentheses are between knobs.
pub(crate) fn parts(list: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let parts = list.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|name| name.trim().to_owned()).collect()
}

fn split(list: &str) -> Result<Vec<String>, Failure> {
    let names = parts(list);
    if names.len() < 2 || names.iter().any(String::is_empty) {
        let accepted = "accepted: two or more with commas between them, such as cubic,astart";
        return Err(Failure::Usage(format!("--controls {list}: {accepted}")));
    }
    Ok(names)
}

/// The shared schema of results.
fn results(args: &Args, transport: &str, runs: Vec<RunResult>) -> Results {
    let scenario = serde_json::json!({
        "transfer": "measure",
        "transport": transport,
        "to": args.to,
        "size_bytes": args.size.bytes(),
        "runs_per_control": args.runs,
    });
    Results::new(env!("CARGO_PKG_VERSION"), scenario, runs)
}

const PAUSE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_part_controls_but_not_knobs() {
        let names = split("cubic, astart(ere.N=3,ere.M=2)+westwood").unwrap();
        assert_eq!(names, ["cubic", "astart(ere.N=3,ere.M=2)+westwood"]);
        for wrong in ["cubic", "", "cubic,", "a,,b", "a(b,c)"] {
            let error = split(wrong).unwrap_err().to_string();
            assert!(error.contains("accepted: two or more"), "{error}");
        }
    }

    #[test]
    fn what_is_left_goes_on_as_what_was_done() {
        assert_eq!(left(Duration::from_secs(9), 3, 12), ", about 27 s left");
        assert_eq!(left(Duration::ZERO, 0, 12), "");
    }
}
