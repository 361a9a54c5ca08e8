//! `kernel`: the controls as congestion controls of the running Linux kernel.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use firstflight_control::Control;
use firstflight_kernel::catalogue::{self, KernelControl};
#[cfg(not(feature = "kernel"))]
use firstflight_kernel::requirements::Lack;

use crate::failure::{Failure, Status};

#[cfg(feature = "kernel")]
mod load;
#[cfg(feature = "kernel")]
mod status;
#[cfg(feature = "kernel")]
mod steer;
mod trial;
#[cfg(feature = "kernel")]
mod unload;
#[cfg(feature = "kernel")]
mod watch;
mod what_if;

/// Load controls into the running Linux kernel as eBPF, unload them, tell who uses them; watch how
/// start-up goes on this host's connections, give some of them a control, and try whether it helps
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Load(Load),
    Unload(Unload),
    Status(Show),
    Watch(Watch),
    WhatIf(WhatIf),
    Steer(Steer),
    Trial(Trial),
}

/// Register controls; they stay until unloaded or until the machine restarts
#[derive(Debug, clap::Args)]
#[command(after_help = load_help())]
struct Load {
    /// A control such as astart(ere.N=3); under a name of your own as NAME=CONTROL
    #[arg(required = true, value_name = "CONTROL")]
    controls: Vec<String>,
    /// Register as kernels before 6.4 do, where there are no links
    #[arg(long, hide = true)]
    without_link: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Take controls out again; connections that use one keep it until they end
#[derive(Debug, clap::Args)]
struct Unload {
    /// A loaded control: ff_astart, or astart, or as it was written at load
    #[arg(required_unless_present = "all", value_name = "CONTROL")]
    controls: Vec<String>,
    /// Every loaded control
    #[arg(long, conflicts_with = "controls")]
    all: bool,
    /// Even a control that a network namespace has as its default, or without the programs that
    /// tell who uses it
    #[arg(long)]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Tell what is loaded and who uses it
#[derive(Debug, clap::Args)]
#[command(after_help = HOW_TO_USE)]
struct Show {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Tell how start-up went on every TCP connection of this host, whatever its control
#[derive(Debug, clap::Args)]
#[command(after_help = WATCH_HELP)]
struct Watch {
    /// Only connections of this cgroup and those below: a folder of a cgroup2 file system; all
    /// without
    #[arg(long, value_name = "FOLDER")]
    cgroup: Option<PathBuf>,
    /// Without a program of a cgroup, where one of others admits no second; needs Linux 5.19
    #[arg(long, conflicts_with = "cgroup")]
    tracepoints: bool,
    /// Only connections with these addresses at the other end: 192.0.2.0/24, 2001:db8::/32
    #[arg(long, value_name = "PREFIX")]
    to: Vec<String>,
    /// Only connections with this port at either end
    #[arg(long, value_name = "PORT")]
    port: Vec<u16>,
    /// Ends after so long; Ctrl-C ends it too
    #[arg(long = "for", value_name = "TIME")]
    period: Option<String>,
    /// Print one JSON document a line: each connection when it closes, and a summary at the end
    #[arg(long, conflicts_with = "live")]
    json: bool,
    /// Show the summary and the newest connections on the whole terminal, anew each second
    #[arg(long)]
    live: bool,
    /// Write these lines of JSON there too, as a recording for `kernel what-if`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the summary there every second, as Prometheus reads it (node_exporter's textfile
    /// collector)
    #[arg(long, value_name = "FILE")]
    prometheus: Option<PathBuf>,
    /// Answer Prometheus with it on a port of this host alone: 127.0.0.1:9435
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

/// Say what other controls would do for the transfers that this host has recorded, by simulating
/// them; needs no kernel and no root
#[derive(Debug, clap::Args)]
#[command(after_help = WHAT_IF_HELP)]
struct WhatIf {
    /// The lines of `kernel watch --json`, the output of `ss -tin`, a qlog, a capture, or an access
    /// log; packed as .gz or .zst too; - is standard input
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// A control to compare, once for each [default: those of Linux and ours, the best of them]
    #[arg(long, value_name = "CONTROL")]
    control: Vec<String>,
    /// The transfers under this control alone [default: the commonest of the recording]
    #[arg(long, value_name = "CONTROL")]
    of: Option<String>,
    /// RTT of transfers that do not tell theirs
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    rtt: Option<String>,
    /// Rate of the path of transfers that do not tell theirs
    #[arg(long, allow_hyphen_values = true)]
    rate: Option<String>,
    /// Buffer of every bottleneck, if it is known: 500pkt, 64KB or 0.25bdp
    #[arg(long, allow_hyphen_values = true)]
    buffer: Option<String>,
    /// Random loss of every path, if it is known
    #[arg(long, allow_hyphen_values = true)]
    loss: Option<String>,
    /// By how much packets are late at most, if it is known
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    jitter: Option<String>,
    /// Others are on the paths too
    #[arg(long)]
    shared: bool,
    /// Print the answer as one JSON document
    #[arg(long)]
    json: bool,
}

/// Give a share of the new connections a control, by rules; without a control, show the rules
#[derive(Debug, clap::Args)]
#[command(after_help = STEER_HELP)]
struct Steer {
    /// A control that the kernel has: scout or ff_scout, cubic, bbr
    #[arg(value_name = "CONTROL", conflicts_with_all = ["remove", "clear"])]
    control: Option<String>,
    /// Only connections to these addresses: 192.0.2.0/24, 2001:db8::/32
    #[arg(long, value_name = "PREFIX", default_value = "::/0", hide_default_value = true)]
    to: String,
    /// Only connections to this port, or that were accepted at this port
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// How many of them, such as 5%, in steps of 0.1 %; all without
    #[arg(long, value_name = "SHARE", requires = "control")]
    share: Option<String>,
    /// Only connections whose sockets were made in this cgroup or below: a folder of a cgroup2
    /// file system; all without
    #[arg(long, value_name = "FOLDER")]
    cgroup: Option<PathBuf>,
    /// Take away the rule with this --to, --port and --cgroup
    #[arg(long)]
    remove: bool,
    /// Take away all rules
    #[arg(long, conflicts_with_all = ["remove", "port", "cgroup"])]
    clear: bool,
    /// Show what the rules would be, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Try a control on a share of the new connections beside another; it stops by itself if it harms
#[derive(Debug, clap::Args)]
#[command(after_help = TRIAL_HELP)]
struct Trial {
    /// The control that is tried: scout or ff_scout, or any that the kernel has
    #[arg(long, value_name = "CONTROL", required_unless_present = "clear")]
    control: Option<String>,
    /// The control of the other connections; the same one shows what chance does
    #[arg(long, value_name = "CONTROL", required_unless_present = "clear")]
    against: Option<String>,
    /// How many are dealt the first, such as 5%, in steps of 0.1 %
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    share: String,
    /// Only connections to these addresses: 192.0.2.0/24, 2001:db8::/32
    #[arg(long, value_name = "PREFIX", default_value = "::/0", hide_default_value = true)]
    to: String,
    /// Only connections to this port, or that were accepted at this port
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Only connections of this cgroup and those below; all without
    #[arg(long, value_name = "FOLDER")]
    cgroup: Option<PathBuf>,
    /// Ends after so long; Ctrl-C ends it too, and tells what was found
    #[arg(long = "for", value_name = "TIME", default_value = "24h")]
    period: String,
    /// What is dealt at once: each connection; those to a prefix (/24, /48), or all, anew every
    /// minute
    #[arg(long, value_enum, default_value = "connection")]
    by: Deal,
    /// Until so many bytes are acknowledged the time is taken
    #[arg(long, value_name = "SIZE", default_value = "100kB")]
    bytes: String,
    /// The age at which bytes are counted
    #[arg(long, value_name = "TIME", default_value = "1s")]
    age: String,
    /// A difference up to this part of the other control's value is neither harm nor help
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    tolerate: String,
    /// Write a line for each connection there; a file that holds this trial goes on
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write report.html, figures, data and trial.json here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Take away what a trial left that was killed
    #[arg(long)]
    clear: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What is dealt at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Deal {
    /// Each connection
    Connection,
    /// The connections to a prefix
    Prefix,
    /// All connections
    Time,
}

const TRIAL_HELP: &str = "\
Chance deals new connections, or a hash with a new key prefixes and minutes; one arm gets the first
control, the other the second. Each is told when it closes, or at an age of 60 s, and counts for the
arm it was dealt: logarithms of the time to a number of bytes, of the bytes at an age, and of the
RTT; the share of bytes sent again; the shares with a timeout and broken off. Differences have
intervals that hold at every time together, with connections of a prefix and a minute as one
cluster, so that looking often does no harm: of two equal controls one trial in a hundred is
stopped. It stops, and exits with 1, when a measure is worse beyond --tolerate, or the share that
was dealt is wrong.

Connections whose application chose a control, or that a rule of `steer` gave one before, take no
part. A program that is killed deals nothing after 10 s; the same command with the same --record
goes on with what was told meanwhile. `firstflight show FILE` tells what a recording shows, at any
time and without root, and draws it with --out.

Examples:
  firstflight kernel load scout
  firstflight kernel trial --control cubic --against cubic --port 443 --for 1h   # chance alone
  firstflight kernel trial --control scout --against cubic --share 5% --port 443 --record t.jsonl
  firstflight kernel trial --control scout --against cubic --share 50% --by prefix

Needs root, Linux 5.15 or later with BTF and cgroup2, and a build with `--features kernel`.";

const STEER_HELP: &str = "\
A rule holds for connections that begin after it, until it is taken away or the machine restarts.
Of several that match, the narrowest prefix decides, then the one with a port, then the cgroup
farther below. One with the same --to, --port and --cgroup replaces the one before. Chance decides
which connections are in a share. An application that has chosen its control keeps it; a route's
`congctl` is overridden, but not with `lock`.

Examples:
  firstflight kernel load scout
  firstflight kernel steer scout --to 192.0.2.0/24 --port 443 --share 5%
  firstflight kernel steer                                # the rules, and what each has done
  firstflight kernel steer --remove --to 192.0.2.0/24 --port 443
  firstflight kernel steer --clear

Needs root, Linux 5.15 or later with BTF and cgroup2, and a build with `--features kernel`.";

const WATCH_HELP: &str = "\
A connection that begins after the command did is told when it closes: its control, why its first
slow start ended, with which window, and when. A slow start ends by
  loss, mark (ECN), timeout
  heuristic        the control decided, as HyStart does; of BBR, the end of its STARTUP
  local-queue      this host's own queue was full
or goes on until the connection closes, because of
  application      there was no more to send
  receiver-window, send-buffer   one of these held the sender back for most of the time
Nothing is called for an ACK: a program of the cgroup runs once per RTT until slow start has ended.
With --tracepoints it runs where a connection opens, loses and closes. Then it is not known when a
heuristic ended slow start but for an interval up to the next loss, neither rate nor RTT then, nor
timeouts: these are null in the record. The longest window is that at a loss or at the close.

Examples:
  firstflight kernel watch
  firstflight kernel watch --port 443 --to 192.0.2.0/24 --for 60s
  firstflight kernel watch --live --out connections.jsonl
  firstflight kernel watch --json | jq -r .slow_start_end
  firstflight kernel watch --listen 127.0.0.1:9435
  firstflight kernel watch --prometheus /var/lib/node_exporter/firstflight.prom

Needs root, Linux 5.15 or later with BTF and cgroup2, and a build with `--features kernel`.";

const WHAT_IF_HELP: &str = "\
What fits into the first window, and what buffers held back, no control changes. Of the other
transfers at most 48 stand for all; each runs under every control on 8 to 16 paths that it may have
had: what the recording does not tell of buffers, loss, jitter, ACKs and rates is drawn, as `advise`
draws it. An access log tells of each request, as a connection of its own, in one of three forms:
  JSON, an object a line, or CSV with a heading: bytes, and if known duration_s, rtt_s or rtt_us,
  rate_bps, control. Of nginx:
    log_format sizes escape=json
      '{\"bytes\":$bytes_sent,\"duration_s\":$request_time,\"rtt_us\":$tcpinfo_rtt}';
  the combined format, which has sizes alone: --rtt and --rate say the rest.

Examples:
  firstflight kernel watch --port 443 --out connections.jsonl
  firstflight kernel what-if connections.jsonl
  firstflight kernel what-if connections.jsonl --control scout --control bbr --buffer 1bdp
  firstflight kernel what-if access.log.gz --rtt 60ms --rate 20Mbps
  ss -tin state established | firstflight kernel what-if -";

const EXAMPLES: &str = "\
Examples:
  firstflight kernel load astart
  firstflight kernel load astart 'ff_astart10=astart(ere.N=10)'
  firstflight kernel status
  firstflight kernel unload astart
  firstflight kernel watch --port 443 --out connections.jsonl
  firstflight kernel what-if connections.jsonl

Needs root, Linux 5.15 or later with BTF, and a build with `--features kernel`; `what-if` needs none
of these. docs/operators.md tells how to try a control on one route first, and how to go back.";

fn load_help() -> String {
    let names = catalogue::loadable().join(", ");
    format!("Controls with a kernel version: {names}.\n\n{HOW_TO_USE}")
}

const HOW_TO_USE: &str = "\
A loaded control is known by its name, as ff_astart, in every network namespace. It serves
connections that begin after it is chosen for
  one socket:     setsockopt(IPPROTO_TCP, TCP_CONGESTION, \"ff_astart\"), or iperf3 -C ff_astart
  one route:      ip route replace 192.0.2.0/24 via GATEWAY congctl ff_astart
  one namespace:  ip netns exec NAME sysctl -w net.ipv4.tcp_congestion_control=ff_astart
  the host:       sysctl -w net.ipv4.tcp_congestion_control=ff_astart";

/// Runs the command.
pub(crate) fn kernel(args: &Args) -> Result<Status, Failure> {
    match &args.action {
        Action::Load(args) => {
            let wanted: Vec<Wanted> =
                args.controls.iter().map(|text| Wanted::read(text)).collect::<Result<_, _>>()?;
            distinct(&wanted)?;
            load(wanted, args)
        }
        Action::WhatIf(args) => what_if::what_if(args),
        #[cfg(feature = "kernel")]
        Action::Unload(args) => unload(args),
        #[cfg(feature = "kernel")]
        Action::Status(args) => status(args.json),
        #[cfg(feature = "kernel")]
        Action::Watch(args) => watch(args),
        #[cfg(feature = "kernel")]
        Action::Steer(args) => steer(args),
        #[cfg(feature = "kernel")]
        Action::Trial(args) => trial(args),
        #[cfg(not(feature = "kernel"))]
        _ => Err(Lack::Build.into()),
    }
}

/// What to load.
struct Wanted {
    name: Option<String>,
    control: KernelControl,
}

impl Wanted {
    /// `CONTROL` or `NAME=CONTROL`; a `=` within parentheses is a knob's.
    fn read(text: &str) -> Result<Self, Failure> {
        let (head, _) = text.split_once('(').unwrap_or((text, ""));
        let (name, control) = match head.split_once('=') {
            Some((name, _)) => (Some(name.trim().to_owned()), &text[name.len() + 1..]),
            None => (None, text),
        };
        let mut control = Control::named(control)?;
        // Receivers on the Internet do not acknowledge every packet.
        control.suggest_weights_per_packet();
        let control = KernelControl::new(&control)?;
        Ok(Self { name, control })
    }

    /// What the kernel is to call it.
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.control.name)
    }
}

/// Two controls of one name cannot be loaded.
fn distinct(wanted: &[Wanted]) -> Result<(), Failure> {
    for (place, one) in wanted.iter().enumerate() {
        if let Some(other) = wanted[..place].iter().find(|other| other.name() == one.name()) {
            return Err(Failure::Usage(format!(
                "two controls are to be loaded as {}: {} and {}; accepted: names of their own, \
                 as NAME=CONTROL",
                one.name(),
                other.control.full,
                one.control.full
            )));
        }
    }
    Ok(())
}

/// Whether a file is the recording of a trial, by its first bytes.
pub(crate) fn is_trial(path: &Path) -> bool {
    let mut first = [0; TRIAL.len()];
    let read = |mut file: File| file.read_exact(&mut first);
    path.is_file() && File::open(path).and_then(read).is_ok() && first == *TRIAL
}

/// How the recording of a trial begins, of whatever version.
const TRIAL: &[u8] = b"{\"schema\":\"firstflight/trial-recording@";

/// What the kernel means by its errors.
fn why(number: u64) -> String {
    match number {
        1 => "its route has `congctl lock` (ip route)".to_owned(),
        2 => "the control is not loaded any more".to_owned(),
        number => std::io::Error::from_raw_os_error(i32::try_from(number).unwrap_or(0)).to_string(),
    }
}

pub(crate) use self::trial::show as show_trial;
#[cfg(feature = "kernel")]
use self::{load::load, status::status, steer::steer, trial::trial, unload::unload, watch::watch};

/// A build that cannot load has read what was asked for, and says what is missing.
#[cfg(not(feature = "kernel"))]
fn load(_: Vec<Wanted>, _: &Load) -> Result<Status, Failure> {
    Err(Lack::Build.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_users_own_stands_before_the_control() {
        let read = |text: &str| Wanted::read(text).map(|wanted| (wanted.name, wanted.control.full));
        let plain = "astart(ere.N=3)+westwood".to_owned();
        assert_eq!(read("astart(ere.N=3)").unwrap(), (None, plain.clone()));
        assert_eq!(read("ff_x=astart(ere.N=3)").unwrap(), (Some("ff_x".into()), plain));
        assert!(read("ff_x=nothing").is_err());
        assert!(read("vegas+hybla").is_err(), "no C");
    }
}
