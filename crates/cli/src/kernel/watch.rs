//! `kernel watch`: how start-up went on this host's connections.

mod line;
mod metrics_server;
mod summary;

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use firstflight_kernel::watch::{Connection, Counts, Watch, WatchError, default_cgroup};
use firstflight_outside::AtomicFile;
use firstflight_report::terminal::Screen;
use firstflight_scenario::Time;
use ipnet::IpNet;

use self::line::ConnectionLine;
use self::metrics_server::MetricsServer;
use self::summary::Summary;
use super::Watch as Args;
use crate::failure::{Failure, Status};
use crate::{interrupt, output};

/// Runs `kernel watch`.
pub(super) fn watch(args: &Args) -> Result<Status, Failure> {
    let filter = Filter::read(args)?;
    let period = args.period.as_deref().map(read_period).transpose()?;
    let mut outlets = Outlets::open(args)?;
    let stop = interrupt::listen();
    let (watch, what) = attach(args)?;
    let began = Instant::now();
    output::note(&format!("watching new connections of {what}; Ctrl-C ends it"));
    let mut summary = Summary::default();
    let is_over = || stop.load(Relaxed) || period.is_some_and(|period| began.elapsed() >= period);
    while !is_over() {
        let left = period.map_or(TICK, |period| period.saturating_sub(began.elapsed()).min(TICK));
        let closed: Vec<Connection> =
            watch.take(left)?.into_iter().filter(|it| filter.admits(it)).collect();
        closed.iter().for_each(|connection| summary.add(connection));
        outlets.write(&closed)?;
        outlets.count(&summary, watch.counts())?;
    }
    outlets.end(&summary, watch.counts())?;
    Ok(Status::Done)
}

/// Attaches the programs that observe connections, and says which these are.
fn attach(args: &Args) -> Result<(Watch, String), Failure> {
    if args.tracepoints {
        return Ok((Watch::trace()?, "this host, by tracepoints".to_owned()));
    }
    let cgroup = args.cgroup.clone().or_else(default_cgroup);
    let cgroup = cgroup.ok_or_else(|| no_cgroup("kernel watch"))?;
    let watch = Watch::attach(&cgroup).map_err(|error| match error {
        WatchError::Alone(..) => {
            Failure::Lacks(format!("kernel watch: {error}; --tracepoints does without"))
        }
        error => error.into(),
    })?;
    Ok((watch, cgroup.display().to_string()))
}

/// Where connections and their summary go.
struct Outlets<'a> {
    args: &'a Args,
    recording: Option<(&'a Path, File)>,
    metrics: Option<MetricsServer>,
    /// The newest lines of the live table.
    newest: Vec<String>,
    drawn: Option<Instant>,
}

impl<'a> Outlets<'a> {
    /// Opens what must be there before anything is attached.
    fn open(args: &'a Args) -> Result<Self, Failure> {
        if args.live && !io::stdout().is_terminal() {
            let accepted = "accepted: without --live, or in a terminal";
            let problem =
                format!("kernel watch: --live: standard output is no terminal; {accepted}");
            return Err(Failure::Usage(problem));
        }
        let open = |path: &'a Path| {
            output::check_file("--out", path)?;
            let file = File::create(path).map_err(|error| unwritten(path, &error))?;
            Ok::<_, Failure>((path, file))
        };
        let recording = args.out.as_deref().map(open).transpose()?;
        let metrics = args.listen.as_deref().map(MetricsServer::at).transpose()?;
        if let Some(server) = &metrics {
            output::note(&format!("Prometheus: http://{}/metrics", server.address));
        }
        Ok(Self { args, recording, metrics, newest: Vec::new(), drawn: None })
    }

    /// Writes a line for each connection that has closed.
    fn write(&mut self, closed: &[Connection]) -> Result<(), Failure> {
        let (mut json, mut lines) = (String::new(), String::new());
        for connection in closed.iter().map(ConnectionLine::new) {
            json.push_str(&(serde_json::to_string(&connection)? + "\n"));
            lines.push_str(&(connection.line() + "\n"));
        }
        self.record(&json)?;
        if self.args.live {
            self.newest.extend(lines.lines().map(str::to_owned));
            self.newest.drain(..self.newest.len().saturating_sub(NEWEST));
            return Ok(());
        }
        Ok(output::print(if self.args.json { &json } else { &lines })?)
    }

    fn record(&mut self, lines: &str) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.recording else { return Ok(()) };
        file.write_all(lines.as_bytes()).map_err(|error| unwritten(path, &error))
    }

    /// Shows what was counted, where somebody looks at it.
    fn count(&mut self, summary: &Summary, counts: Counts) -> Result<(), Failure> {
        if let Some(file) = &self.args.prometheus {
            let write = || {
                let written = AtomicFile::create(file)?;
                written.write(summary.prometheus(counts).as_bytes())?;
                written.finish()
            };
            write().map_err(|error| unwritten(file, &error))?;
        }
        if let Some(server) = &self.metrics {
            server.set(summary.prometheus(counts));
        }
        if self.args.live && self.drawn.is_none_or(|drawn| drawn.elapsed() >= TICK) {
            self.drawn = Some(Instant::now());
            output::print(&self.live(summary, counts, output::screen()))?;
        }
        Ok(())
    }

    /// The screen of `--live`: the summary, and the newest connections.
    fn live(&self, summary: &Summary, counts: Counts, screen: Screen) -> String {
        let cut = |line: &String| line.chars().take(screen.width).collect::<String>() + "\n";
        let newest: String = self.newest.iter().map(cut).collect();
        format!("{CLEAR}{}\n{newest}", summary.text(counts, screen))
    }

    fn end(&mut self, summary: &Summary, counts: Counts) -> Result<(), Failure> {
        let json = serde_json::to_string(&summary.document(counts))? + "\n";
        self.record(&json)?;
        if let Some((path, _)) = &self.recording {
            output::note(&format!("recording: {}", path.display()));
        }
        let clear = if self.args.live { CLEAR } else { "" };
        let text = || clear.to_owned() + &summary.text(counts, output::screen());
        output::print(&if self.args.json { json } else { text() })?;
        Ok(())
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::Lacks(format!("{}: {error}", path.display()))
}

/// Lines of connections below the live table.
const NEWEST: usize = 8;
/// To the upper left, and what was there is gone (ECMA-48, CUP and ED).
const CLEAR: &str = "\x1b[H\x1b[J";
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

/// Which connections are reported.
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
            tracepoints: false,
            to: to.iter().map(|text| (*text).to_owned()).collect(),
            port: port.to_vec(),
            period: None,
            json: false,
            out: None,
            live: false,
            prometheus: None,
            listen: None,
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
}
