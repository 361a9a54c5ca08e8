//! `send`: a file, or so many bytes, over QUIC to a `recv`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use firstflight_core::needs::Facilities;
use firstflight_results::statistics::seconds;
use firstflight_scenario::{Size, Time};
use firstflight_transfer::{Progress, Sending, Sent, Source, Tuning};
use tokio::sync::watch;

use crate::failure::{Failure, Status};
use crate::secret::SecretArgs;
use crate::transfer::{self, Common, PeerArgs, megabytes};
use crate::{output, transfer::interrupted};

/// Send a file over QUIC with a chosen control
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where `firstflight recv` listens: HOST:PORT, or a port of this host
    #[arg(value_name = "TO")]
    to: String,
    /// The file to send, unless --size or --duration is given
    #[arg(value_name = "FILE", required_unless_present_any = ["size", "duration"])]
    file: Option<PathBuf>,
    /// Send this many bytes instead of a file, to measure
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["file", "duration"])]
    size: Option<Size>,
    /// Send for this long instead of a file, to measure
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    duration: Option<Time>,
    #[command(flatten)]
    peer: PeerArgs,
    #[command(flatten)]
    secret: SecretArgs,
    /// Congestion control: one of `firstflight list`, or quinn-newreno, quinn-cubic, quinn-bbr
    #[arg(long, value_name = "CONTROL", default_value = "cubic")]
    control: String,
    /// Name of the file at the receiver [default: its name here]
    #[arg(long, value_name = "NAME", requires = "file")]
    name: Option<String>,
    /// The file that keeps what was learned of paths, by the receiver's address [default, for
    /// controls that use it: firstflight/paths.json in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE.json")]
    paths: Option<PathBuf>,
    /// Tell the control nothing of earlier transfers, and keep nothing of this one
    #[arg(long, conflicts_with = "paths")]
    no_paths: bool,
    /// Write a qlog that qvis and `firstflight show` open
    #[arg(long, value_name = "FILE.sqlog")]
    qlog: Option<PathBuf>,
    /// Print the results as one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

const EXAMPLES: &str = "\
A transfer that broke off goes on where it stopped when the same file is sent again. The receiver
gives the file its name once the SHA-256 of all of it is right. The secret is what recv printed; it
never leaves this host. A receiver that takes from anybody, or knows this side's --cert, wants none.
A control that begins with what an earlier transfer learned (careful-resume, jump-start, fast-start,
stateful-tcp) finds it in --paths; what is older than a day is forgotten there.

Examples:
  FIRSTFLIGHT_SECRET=7c2a... firstflight send 192.0.2.7:4433 big.iso --pin sha256:5f1c...
  firstflight send 192.0.2.7:4433 big.iso --trust recv.pem --secret-file secret --control hoe
  firstflight send 4433 --size 30MB --trust recv.pem --qlog a.sqlog --json   (to recv --discard)
  firstflight show a.sqlog";

/// Runs the command.
pub(crate) fn send(args: Args) -> Result<Status, Failure> {
    let sending = Sending {
        accepted: args.peer.accepted()?,
        source: source(&args),
        paths: paths(&args),
        identity: args.common.identity()?,
        secret: args.secret.read()?.map(|given| given.secret),
        timeout: args.common.timeout()?,
        to: args.to,
        name: args.name,
        control: args.control.clone(),
        qlog: args.qlog.clone(),
        tuning: Tuning::default(),
    };
    let runtime = transfer::runtime()?;
    let (reporter, progress) = watch::channel(Progress::default());
    let (reached, began) = (progress.clone(), Instant::now());
    let sent = runtime.block_on(async {
        let shown = tokio::spawn(transfer::show(progress));
        let sent = firstflight_transfer::send(sending, reporter, interrupted()).await;
        // The bar must be gone before anything is printed; it ends with what it shows.
        let _ = shown.await;
        sent
    });
    let sent = sent.map_err(Failure::from).or_else(|failure| {
        let (progress, took) = (*reached.borrow(), began.elapsed());
        transfer::print_failure(args.json, "send", &args.control, (progress, took), failure)
    })?;
    if let Some(problem) = &sent.not_kept {
        let problem = output::plain(&problem.to_string());
        output::note(&format!("note: what was learned of the path is not kept: {problem}"));
    }
    if args.json {
        let results = sent.results(&args.control, env!("CARGO_PKG_VERSION"));
        output::print(&results.to_json()?)?;
    } else {
        output::print(&text(&sent, &args.control))?;
    }
    Ok(Status::Done)
}

/// Where what is learned of the path is kept: as asked, or where a control asks for it.
fn paths(args: &Args) -> Option<PathBuf> {
    if args.no_paths || args.paths.is_some() {
        return args.paths.clone();
    }
    let factory = firstflight_quic::quinn::control(&args.control).ok()?;
    factory.missing().has(Facilities::MEMORY).then_some(())?;
    let folder = |name, below: &str| Some(PathBuf::from(std::env::var_os(name)?).join(below));
    let state = folder("XDG_STATE_HOME", "").filter(|state| state.is_absolute());
    Some(state.or_else(|| folder("HOME", ".local/state"))?.join("firstflight/paths.json"))
}

fn source(args: &Args) -> Source {
    match (&args.file, args.size, args.duration) {
        (Some(file), ..) => Source::File(file.clone()),
        (None, Some(size), _) => Source::Memory(size.bytes()),
        (None, None, duration) => {
            Source::Duration(Duration::from_nanos(duration.map_or(0, Time::ns)))
        }
    }
}

fn text(sent: &Sent, control: &str) -> String {
    let new = sent.bytes - sent.resumed;
    let mut text = match &sent.name {
        Some(name) => format!("{name}: {} to {}", megabytes(new), sent.to),
        None => format!("{} to {}", megabytes(new), sent.to),
    };
    text.push_str(&format!(" {}, {control}\n", transfer::pace(new, sent.took)));
    text.push_str(&transfer::resumed(sent.resumed));
    let path = sent.stats.path;
    text.push_str(&format!(
        "RTT {:.1} ms, {} of {} packets lost\n",
        path.rtt.as_secs_f64() * 1e3,
        path.lost_packets,
        path.sent_packets
    ));
    text.push_str(&match &sent.record.exit {
        Some(exit) => format!(
            "start-up ended after {:.3} s by {} at a window of {:.1} kB\n",
            seconds(exit.at.0),
            exit.why.name(),
            exit.cwnd.0 as f64 / 1e3
        ),
        None => format!(
            "no end of start-up; largest window {:.1} kB\n",
            sent.record.peak_window as f64 / 1e3
        ),
    });
    if let Some(learned) = &sent.hint {
        text.push_str(&format!(
            "of this path was known: {:.1} kB in a round, {:.1} ms, {:.0} s ago\n",
            learned.per_round.0 as f64 / 1e3,
            learned.min_rtt.0 as f64 / 1e6,
            learned.age.0 as f64 / 1e9
        ));
    }
    if let Some(hash) = &sent.sha256 {
        text.push_str(&format!("sha256 {hash}\n"));
    }
    text
}
