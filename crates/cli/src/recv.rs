//! `recv`: takes what a `send` sends.

use std::path::PathBuf;
use std::sync::Arc;

use clap::value_parser;
use firstflight_scenario::Size;
use firstflight_transfer::{
    Ended, Event, Fingerprint, Inbox, Limits, Listening, Progress, Received, Reception, Secret,
    Store, TransferError,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::{Failure, Status};
use crate::log_limit::LogLimit;
use crate::output;
use crate::secret::{Given, How, SecretArgs};
use crate::transfer::{self, Common, interrupted, megabytes};

/// Receive a file over QUIC
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where to listen: HOST:PORT, or a port of this host alone; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4433")]
    listen: String,
    /// Where files go
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "discard")]
    dir: PathBuf,
    /// Replace a file that has the same name
    #[arg(long, conflicts_with = "discard")]
    force: bool,
    /// Store nothing, to measure: what comes is counted and checked
    #[arg(long)]
    discard: bool,
    /// Take transfer after transfer until Ctrl-C
    #[arg(long)]
    serve: bool,
    #[command(flatten)]
    secret: SecretArgs,
    /// Take from a sender whose certificate has this fingerprint, and no secret is needed
    #[arg(long, value_name = "FINGERPRINT")]
    pin: Vec<Fingerprint>,
    /// The sender's certificate itself, in PEM
    #[arg(long, value_name = "FILE.pem")]
    trust: Vec<PathBuf>,
    /// Take from anybody who reaches the address; what breaks off is then not kept
    #[arg(long, conflicts_with_all = ["force", "secret", "secret_file", "pin", "trust"])]
    allow_anyone: bool,
    /// The largest file [default: what the disk has room for; with --allow-anyone 1GB]
    #[arg(long, value_name = "SIZE")]
    max_size: Option<Size>,
    /// End after so many transfers, those that broke off included [default: never; with
    /// --allow-anyone 100]
    #[arg(long, value_name = "N", requires = "serve", value_parser = value_parser!(u64).range(1..))]
    max_files: Option<u64>,
    /// Take from so many senders at a time, each with its share of the window; others are told
    /// that it is busy [default: 4; with --discard 1, so that measurements are by themselves]
    #[arg(long, value_name = "N", requires = "serve")]
    #[arg(value_parser = value_parser!(u8).range(1..=MOST_AT_ONCE))]
    concurrent: Option<u8>,
    /// Flow-control window: how much may be on its way, of all senders together
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    window: Size,
    /// Print the results as one JSON document; with --serve one after the other
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

const EXAMPLES: &str = "\
The line that the sender has to type is printed on standard error. A file has the name NAME.part
until all of it has come and its SHA-256 is right.

Without --listen only this host is listened to. A sender has to know the secret, which is printed
unless it was given here, or to have the certificate that --pin or --trust names.

Examples:
  firstflight recv --listen 0.0.0.0:4433 --dir incoming
  firstflight recv --listen 0.0.0.0:4433 --dir incoming --serve --secret-file secret
  firstflight recv --discard --serve --allow-anyone         the other end of measurements
  firstflight recv --cert recv.pem --key recv.key --trust sender.pem";

/// Runs the command.
pub(crate) fn recv(args: Args) -> Result<Status, Failure> {
    if !args.discard {
        output::check_directory("--dir", &args.dir)?;
    }
    let identity = args.common.identity()?;
    let fingerprint = identity.fingerprint();
    let store = match args.discard {
        true => Store::Discard,
        false => Store::Directory { path: args.dir.clone(), replace: args.force },
    };
    let accepted = transfer::accepted(&args.pin, &args.trust)?;
    let (secret, typed) = welcome(&args, accepted.is_empty())?;
    let listening = Listening {
        at: args.listen.clone(),
        accepted,
        secret,
        identity,
        timeout: args.common.timeout()?,
        limits: Limits {
            window: args.window.bytes() / at_once(&args) as u64,
            size: largest(&args),
        },
        store,
        packet: None,
    };
    let runtime = transfer::runtime()?;
    // Only now: a flag that is refused leaves no folder behind.
    let made = (!args.discard).then(|| output::make("--dir", &args.dir)).transpose()?;
    runtime.block_on(async {
        let inbox = Inbox::open(listening).inspect_err(|_| {
            // Nothing is left behind where nothing came of it.
            made.iter().for_each(output::Made::remove);
        });
        let inbox = Arc::new(inbox?);
        if let Some(made) = made.as_ref().and_then(|made| made.topmost.as_ref()) {
            output::note(&format!("made the folder {}, which was not there", made.display()));
        }
        announce(&inbox, fingerprint, args.discard, &typed);
        let outcome = take(&args, &inbox).await;
        inbox.close(if outcome.is_ok() { "done" } else { "over" }).await;
        outcome
    })
}

/// What a sender types: `firstflight`, perhaps with a variable in front, and what comes last.
type Typed = (String, &'static str);

/// What a sender has to know, and how it says so; nothing if anybody may send, or if certificates
/// tell who may.
fn welcome(args: &Args, any_certificate: bool) -> Result<(Option<Secret>, Typed), Failure> {
    let plain = |last| ("firstflight".to_owned(), last);
    if args.allow_anyone {
        return Ok((None, plain("")));
    }
    Ok(match args.secret.read()? {
        Some(Given { secret, how }) => (Some(secret), how.typed(None)),
        None if any_certificate => {
            let secret = Secret::make()?;
            let typed = How::Variable.typed(Some(&secret));
            (Some(secret), typed)
        }
        None => (None, plain(" --cert FILE.pem --key FILE.pem")),
    })
}

/// Strangers get bounds of their own; what is not stored needs none.
fn largest(args: &Args) -> Option<u64> {
    let default = (args.allow_anyone && !args.discard).then_some(STRANGERS_SIZE);
    args.max_size.map(Size::bytes).or(default)
}

fn most(args: &Args) -> u64 {
    let default = if args.allow_anyone && !args.discard { STRANGERS_FILES } else { u64::MAX };
    args.max_files.unwrap_or(default)
}

fn at_once(args: &Args) -> usize {
    match args.concurrent {
        Some(number) => usize::from(number),
        None if args.serve && !args.discard => AT_ONCE,
        None => 1,
    }
}

/// Where it listens, and what the other side has to type.
fn announce(inbox: &Inbox, fingerprint: Option<Fingerprint>, discard: bool, typed: &Typed) {
    let (firstflight, proof) = typed;
    let address = inbox.address();
    let pin = fingerprint.map_or(String::new(), |fingerprint| fingerprint.to_string());
    let what = if discard { "--size 30MB" } else { "FILE" };
    output::note(&format!("listening on {address}; the sender types"));
    if address.ip().is_unspecified() {
        let port = address.port();
        output::note(&format!("  {firstflight} send HOST:{port} {what} --pin {pin}{proof}"));
        output::note("where HOST is a name or an address of this host");
    } else {
        output::note(&format!("  {firstflight} send {address} {what} --pin {pin}{proof}"));
    }
}

/// Takes transfers until there have been enough.
async fn take(args: &Args, inbox: &Arc<Inbox>) -> Result<Status, Failure> {
    let limit = LogLimit::default();
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        interrupted().await;
        // That nobody listens any more is an end too.
        let _ = stop.send(true);
    });
    let mut reception = Reception::new(Arc::clone(inbox), at_once(args), stopped);
    let (mut bar, mut begun, mut cut_off) = (Bar::default(), 0, None);
    loop {
        let has_room = begun + (reception.running() as u64) < most(args);
        let ended = match reception.next(has_room, |text| limit.complain(&text)).await {
            Ok(Event::Began(progress)) => {
                bar.add(progress).await;
                continue;
            }
            Ok(Event::Ended(ended)) => *ended,
            Err(error) => return Err(cut_off.unwrap_or(error.into())),
        };
        // The bar must be gone before anything is printed.
        bar.hide().await;
        begun += u64::from(ended.reached != Progress::default());
        let interrupted = matches!(ended.outcome, Err(TransferError::Interrupted { .. }));
        match print_end(args, ended) {
            Ok(()) => {}
            Err(failure) if !args.serve => return Err(failure),
            // Those who were cut off by Ctrl-C; the last is told as the end of all.
            Err(failure) if interrupted => {
                let earlier: Option<Failure> = cut_off.replace(failure);
                earlier.iter().for_each(|failure| limit.complain(&failure.to_string()));
            }
            // The next transfer may go well.
            Err(failure) => limit.complain(&failure.to_string()),
        }
        if !args.serve || begun >= most(args) {
            return Ok(Status::Done);
        }
        bar.show();
    }
}

/// Prints what became of a transfer.
fn print_end(args: &Args, ended: Ended) -> Result<(), Failure> {
    let Ended { outcome, reached, took } = ended;
    let interrupted = matches!(outcome, Err(TransferError::Interrupted { .. }));
    // A sender that had not begun has no transfer to report.
    let json = args.json && !(interrupted && reached == Progress::default());
    let received = outcome
        .map_err(Failure::from)
        .or_else(|failure| transfer::print_failure(json, "recv", "", (reached, took), failure));
    let received = received?;
    let document = || received.results(env!("CARGO_PKG_VERSION")).to_json();
    output::print(&if args.json { document()? } else { text(&received) })?;
    Ok(())
}

/// The bar of the transfers that go on.
#[derive(Default)]
struct Bar {
    of: Vec<watch::Receiver<Progress>>,
    shown: Option<JoinHandle<()>>,
}

impl Bar {
    /// One more transfer.
    async fn add(&mut self, progress: watch::Receiver<Progress>) {
        self.hide().await;
        self.of.push(progress);
        self.show();
    }

    async fn hide(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.abort();
            let _ = shown.await;
        }
    }

    /// Shows those that are not over.
    fn show(&mut self) {
        self.of.retain(|progress| progress.has_changed().is_ok());
        let of = self.of.clone();
        if !of.is_empty() {
            self.shown = Some(tokio::spawn(async move { transfer::show_all(&of).await }));
        }
    }
}

fn text(received: &Received) -> String {
    let new = received.bytes - received.resumed;
    let (from, pace) = (received.from, transfer::pace(new, received.took));
    let what = match &received.path {
        Some(path) => format!("{}: {}", output::plain(&path.to_string_lossy()), megabytes(new)),
        None => format!("{}, not stored,", megabytes(new)),
    };
    let mut text = format!("{what} from {from} {pace}\n");
    text.push_str(&transfer::resumed(received.resumed));
    if let Some(hash) = &received.sha256 {
        text.push_str(&format!("sha256 {hash}\n"));
    }
    text
}

/// Bounds for senders who need not say who they are.
const STRANGERS_SIZE: u64 = 1_000_000_000;
const STRANGERS_FILES: u64 = 100;
/// So that a small file need not wait for some large ones.
const AT_ONCE: usize = 4;
/// Each has a thread that writes and its share of the window.
const MOST_AT_ONCE: i64 = 64;
