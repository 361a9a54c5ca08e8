//! `kernel watch`: how start-up went on this host's connections.

mod summary;

use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

use firstflight_kernel::watch::{Connection, Watch, WatchError, default_cgroup};
use firstflight_outside::AtomicFile;
use firstflight_scenario::Time;
use ipnet::IpNet;
use serde::Serialize;

use self::summary::Summary;
use super::Watch as Args;
use crate::failure::{Failure, Status};
use crate::{interrupt, output};

/// Runs `kernel watch`.
pub(super) fn watch(args: &Args) -> Result<Status, Failure> {
    let filter = Filter::read(args)?;
    let period = args.period.as_deref().map(read_period).transpose()?;
    let cgroup = args.cgroup.clone().or_else(default_cgroup);
    let cgroup = cgroup.ok_or_else(|| no_cgroup("kernel watch"))?;
    let stop = interrupt::listen();
    let watch = Watch::attach(&cgroup)?;
    let began = Instant::now();
    output::note(&format!("watching new connections of {}; Ctrl-C ends it", cgroup.display()));
    let mut summary = Summary::default();
    let is_over = || stop.load(Relaxed) || period.is_some_and(|period| began.elapsed() >= period);
    while !is_over() {
        let left = period.map_or(TICK, |period| period.saturating_sub(began.elapsed()).min(TICK));
        let closed = watch.take(left)?;
        let mut lines = String::new();
        for connection in closed.iter().filter(|it| filter.admits(it)) {
            summary.add(connection);
            let told = Told::new(connection);
            let line = if args.json { serde_json::to_string(&told)? } else { told.line() };
            lines.push_str(&(line + "\n"));
        }
        output::print(&lines)?;
        if let Some(file) = &args.prometheus {
            let write = || {
                let file = AtomicFile::create(file)?;
                file.write(summary.prometheus(watch.counts()).as_bytes())?;
                file.finish()
            };
            write().map_err(|error| Failure::Lacks(format!("{}: {error}", file.display())))?;
        }
    }
    let counts = watch.counts();
    output::print(&match args.json {
        true => serde_json::to_string(&summary.document(counts))? + "\n",
        false => summary.text(counts, output::screen()),
    })?;
    Ok(Status::Done)
}

/// How long is waited for connections before the files are written again.
const TICK: Duration = Duration::from_secs(1);

pub(super) fn no_cgroup(command: &str) -> Failure {
    let how = "mount -t cgroup2 none FOLDER, and give --cgroup FOLDER";
    Failure::Lacks(format!("{command}: no cgroup2 file system is mounted; {how}"))
}

/// An address or a prefix.
pub(super) fn read_prefix(command: &str, text: &str) -> Result<IpNet, Failure> {
    let one = text.parse::<IpAddr>().map(IpNet::from);
    one.or_else(|_| text.parse()).map_err(|_| {
        Failure::Usage(format!(
            "{command}: --to {text}: accepted: an address or a prefix, such as 192.0.2.0/24 or \
             2001:db8::/32"
        ))
    })
}

fn read_period(text: &str) -> Result<Duration, Failure> {
    let time: Time = text
        .parse()
        .map_err(|error| Failure::Usage(format!("kernel watch: --for {text}: {error}")))?;
    Ok(Duration::from_nanos(time.ns()))
}

/// Which connections are told.
struct Filter {
    prefixes: Vec<IpNet>,
    ports: Vec<u16>,
}

impl Filter {
    fn read(args: &Args) -> Result<Self, Failure> {
        let prefixes = args.to.iter().map(|text| read_prefix("kernel watch", text));
        Ok(Self { prefixes: prefixes.collect::<Result<_, _>>()?, ports: args.port.clone() })
    }

    fn admits(&self, connection: &Connection) -> bool {
        let (address, ends) = (connection.remote.ip(), [connection.local, connection.remote]);
        let is_near = self.prefixes.iter().any(|prefix| prefix.contains(&address));
        let has_port = self.ports.iter().any(|port| ends.iter().any(|end| end.port() == *port));
        (self.prefixes.is_empty() || is_near) && (self.ports.is_empty() || has_port)
    }
}

/// A connection as `--json` prints it.
#[derive(Serialize)]
struct Told<'a> {
    schema: &'static str,
    /// When the handshake ended, in seconds since 1970, to some milliseconds.
    began_s: f64,
    duration_s: f64,
    local: String,
    remote: String,
    /// A listener of this host accepted it.
    accepted: bool,
    control: &'a str,
    /// Why the first slow start ended, or what held the sender back until the close.
    slow_start_end: &'static str,
    slow_start_ended: bool,
    /// The window before the reduction, or a heuristic's threshold; the longest where slow start
    /// did not end.
    end_cwnd_packets: u32,
    /// After the handshake: slow start was seen to go on then, and to be over then.
    end_after_s: Option<[f64; 2]>,
    end_rate_bps: Option<u64>,
    end_srtt_s: Option<f64>,
    timeouts: u32,
    acked_bytes: u64,
    sent_again_bytes: u64,
    sent_again_packets: u32,
    lost_packets: u32,
    marked_packets: u32,
    mss_bytes: u32,
    longest_cwnd_packets: u32,
    cwnd_packets: u32,
    min_rtt_s: f64,
    srtt_s: f64,
}

impl<'a> Told<'a> {
    fn new(connection: &'a Connection) -> Self {
        let Connection { slow_start, .. } = connection;
        let seconds = |time: Duration| time.as_secs_f64();
        #[expect(clippy::disallowed_methods, reason = "the record of a real connection")]
        let closed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            schema: "firstflight/connection@1",
            began_s: seconds(closed.saturating_sub(connection.duration)),
            duration_s: seconds(connection.duration),
            local: connection.local.to_string(),
            remote: connection.remote.to_string(),
            accepted: connection.accepted,
            control: &connection.control,
            slow_start_end: slow_start.end.name(),
            slow_start_ended: slow_start.end.is_left(),
            end_cwnd_packets: slow_start.cwnd,
            end_after_s: slow_start.between.map(|(from, to)| [seconds(from), seconds(to)]),
            end_rate_bps: slow_start.rate.map(|bytes| bytes.saturating_mul(8)),
            end_srtt_s: slow_start.srtt.map(seconds),
            timeouts: slow_start.timeouts,
            acked_bytes: connection.acked,
            sent_again_bytes: connection.sent_again,
            sent_again_packets: connection.sent_again_segments,
            lost_packets: connection.lost,
            marked_packets: connection.marked,
            mss_bytes: connection.mss,
            longest_cwnd_packets: connection.longest_cwnd,
            cwnd_packets: connection.cwnd,
            min_rtt_s: seconds(connection.min_rtt),
            srtt_s: seconds(connection.srtt),
        }
    }

    /// A line for people: `cubic 192.0.2.1:443 loss at 294 packets after 0.25 to 0.30 s, ...`.
    fn line(&self) -> String {
        let Self { control, remote, slow_start_end: end, end_cwnd_packets: cwnd, .. } = self;
        let arrow = if self.accepted { "<-" } else { "->" };
        let end = match (self.slow_start_ended, self.end_after_s) {
            (false, _) => format!("still in slow start at {cwnd} packets ({end})"),
            (true, None) => format!("{end} at {cwnd} packets"),
            (true, Some([from, to])) => {
                format!("{end} at {cwnd} packets, {from:.3} to {to:.3} s after the handshake")
            }
        };
        let (bytes, again) = (self.acked_bytes, self.sent_again_packets);
        let (seconds, rtt) = (self.duration_s, self.min_rtt_s * 1e3);
        format!(
            "{arrow} {remote} {control}: {end}; {bytes} bytes in {seconds:.3} s, {again} sent \
             again, RTT {rtt:.3} ms"
        )
    }
}

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::Lack(lack) => lack.into(),
            WatchError::Cgroup(..) => Self::Usage(format!("kernel: --cgroup {error}")),
            WatchError::Refused(_) | WatchError::Alone(..) => {
                Self::Lacks(format!("kernel: {error}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(to: &[&str], port: &[u16]) -> Args {
        Args {
            cgroup: None,
            to: to.iter().map(|text| (*text).to_owned()).collect(),
            port: port.to_vec(),
            period: None,
            json: false,
            prometheus: None,
        }
    }

    #[test]
    fn connections_are_told_by_prefix_and_port() {
        let connection = summary::tests::connection("cubic", 4, 1000);
        let admits =
            |to: &[&str], port: &[u16]| Filter::read(&args(to, port)).unwrap().admits(&connection);
        assert!(admits(&[], &[]));
        assert!(admits(&["192.0.2.0/24"], &[443]));
        assert!(admits(&["2001:db8::/32", "192.0.2.1"], &[80, 443]));
        assert!(!admits(&["198.51.100.0/24"], &[]));
        assert!(!admits(&[], &[80]));
        let Err(wrong) = Filter::read(&args(&["192.0.2.0/40"], &[])) else { panic!() };
        assert!(wrong.to_string().contains("accepted: an address or a prefix"), "{wrong}");
    }

    #[test]
    fn a_line_says_why_slow_start_ended() {
        let connection = summary::tests::connection("cubic", 294, 6_000_000);
        let line = Told::new(&connection).line();
        let expected = "-> 192.0.2.1:443 cubic: loss at 294 packets, 0.250 to 0.296 s after the \
                        handshake; 6000000 bytes in 2.000 s, 7 sent again, RTT 40.000 ms";
        assert_eq!(line, expected);
    }
}
