//! The link as a tool of its own: between two namespaces that exist, or around commands.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::link::{Clock, LinkReport, LinkSpec, Timing};
use crate::namespace::Namespace;
use crate::path::{Path, far_address, near_address};
use crate::process_tree::ProcessTree;
use crate::routes::forget_orphans;
use firstflight_runner::RunError;

/// What the link is put between, and what runs at its ends.
#[derive(Clone, Debug, Default)]
pub struct LinkEnds {
    /// Names of two namespaces, near and far; new ones without names when `None`.
    pub namespaces: Option<(String, String)>,
    /// Runs at the near end; the link ends when it does.
    pub near: Vec<String>,
    /// Runs at the far end, started first.
    pub far: Vec<String>,
    /// Ends the link after so long, however the commands are.
    pub duration: Option<Duration>,
    /// Where the commands' output goes.
    pub prints: Prints,
    /// The longest wait for a server to listen before the client is started all the same; by
    /// default 0.3 s, whether it listens or not.
    pub listen_timeout: Option<Duration>,
    /// How long the far command may go on when the near one has ended, to write its logs.
    pub server_grace: Duration,
}

/// Where the commands' output goes.
#[derive(Clone, Debug, Default)]
pub enum Prints {
    /// Where this program does.
    #[default]
    Here,
    /// Standard error, as standard output is for something else.
    StandardError,
    /// The files `near` and `far` of a folder.
    Files(PathBuf),
}

/// What a link carried while it was up.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Carried {
    /// The link's own figures.
    pub link: LinkReport,
    /// Whether its lateness leaves them worth reading.
    pub timing: Timing,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Exit code of the near command, 128 and its number if a signal ended it; `None` without one.
    pub near_exit: Option<i32>,
    /// Whether the near command was there and failed.
    pub near_failed: bool,
    /// Exit code of the far command, if it ended before the link did.
    #[serde(skip)]
    pub far_exit: Option<i32>,
    /// Whether `stop` came before the command ended well or the time was over.
    pub interrupted: bool,
}

/// Address of the near end and of the far end.
pub fn addresses() -> (Ipv4Addr, Ipv4Addr) {
    (near_address(0), far_address(0))
}

/// Keeps a link up until its command ends, its time is over, or `stop` becomes true. `ready` is
/// called when it is up. The commands find the addresses in `FF_NEAR` and `FF_FAR`. Whatever they
/// started ends with them, and with the link.
///
/// # Errors
/// The machine lacks something, a namespace does not exist, or a command cannot be started.
pub fn carry(
    spec: &LinkSpec,
    ends: &LinkEnds,
    stop: &AtomicBool,
    ready: impl FnOnce(),
) -> Result<Carried, RunError> {
    let mut path = match &ends.namespaces {
        None => Path::new(spec)?,
        Some((near, far)) if near == far => {
            return Err(RunError::Input(format!(
                "namespace `{near}` is near and far; accepted: two of `ip netns list`"
            )));
        }
        Some((near, far)) => Path::between(Namespace::named(near)?, Namespace::named(far)?, spec)?,
    };
    let clock: Clock = path.clock;
    path.measure(clock.now(), u64::MAX);
    let mut far = start(&path.far, &ends.far, &ends.prints, "far")?;
    if far.is_some() {
        wait_until_listening(&path.far, ends.listen_timeout);
    }
    let mut near = start(&path.near, &ends.near, &ends.prints, "near")?;
    ready();
    let mut until = ends.duration.and_then(|duration| Instant::now().checked_add(duration));
    let mut status: Option<ExitStatus> = None;
    let mut stopped = false;
    while until.is_none_or(|until| Instant::now() < until) {
        if let Some(near) = &mut near {
            status = near.try_wait().map_err(|error| RunError::Failed(error.to_string()))?;
            if status.is_some() {
                break;
            }
        }
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut stopped, true) {
            // A command that got the same signal may still write.
            let grace = if near.is_some() { STOP_GRACE } else { Duration::ZERO };
            until = Some(Instant::now() + grace);
        }
        thread::sleep(POLL);
    }
    let ended_at = Instant::now();
    while status.is_some()
        && ended_at.elapsed() < ends.server_grace
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(POLL);
    }
    let ended = |tree: &mut ProcessTree| tree.try_wait().ok().flatten().and_then(|it| it.code());
    let far_exit = far.as_mut().and_then(ended);
    drop((near, far));
    let has_an_end = !ends.near.is_empty() || ends.duration.is_some();
    let ended_well = status.is_some_and(|status| status.success());
    if ends.namespaces.is_none() {
        for end in [&path.near, &path.far] {
            // Without it the kernel only takes longer.
            let _ = forget_orphans(end);
        }
    }
    let link = path.stop();
    let rtt_ns = spec.forward.delay_ns + spec.backward.delay_ns;
    Ok(Carried {
        timing: link.timing(rtt_ns),
        note: link.disturbance(rtt_ns),
        link,
        near_exit: status.and_then(|status| status.code()),
        far_exit,
        near_failed: status.is_some_and(|status| !status.success()),
        interrupted: stop.load(Ordering::Relaxed) && has_an_end && !ended_well,
    })
}

/// Waits for a server to listen, since a client that comes too early fails.
pub(crate) fn wait_until_listening(far: &Namespace, listen_timeout: Option<Duration>) {
    let begun = Instant::now();
    let Some(listen_timeout) = listen_timeout else { return thread::sleep(DEFAULT_WAIT) };
    while begun.elapsed() < listen_timeout && !listens(far) {
        thread::sleep(POLL);
    }
}

/// Whether a TCP socket listens in a namespace, or a UDP socket is bound.
fn listens(end: &Namespace) -> bool {
    LISTENING.iter().any(|(table, state)| {
        let text = end.proc_net(table).unwrap_or_default();
        // After the slot and both addresses comes the state.
        text.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
    })
}

/// Starts a command in an end's namespace, if there is one.
///
/// # Errors
/// There is no such program, or no file for what it prints.
pub(crate) fn start(
    end: &Namespace,
    words: &[String],
    prints: &Prints,
    name: &str,
) -> Result<Option<ProcessTree>, RunError> {
    let Some((program, arguments)) = words.split_first() else { return Ok(None) };
    let (near, far) = addresses();
    let mut command = Command::new(program);
    command.args(arguments).env("FF_NEAR", near.to_string()).env("FF_FAR", far.to_string());
    match prints {
        Prints::Here => {}
        Prints::StandardError => drop(command.stdout(std::io::stderr())),
        Prints::Files(folder) => {
            let file = folder.join(name);
            let both = File::create(&file).and_then(|file| Ok((file.try_clone()?, file)));
            let (out, error) =
                both.map_err(|error| RunError::Failed(format!("{}: {error}", file.display())))?;
            command.stdin(Stdio::null()).stdout(out).stderr(error);
        }
    }
    end.confine(&mut command);
    let tree = ProcessTree::start(&mut command).map_err(|error| {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such program".to_owned(),
            _ => error.to_string(),
        };
        RunError::Input(format!(
            "{program}: {problem}; accepted: a program that is installed here, by its name or path"
        ))
    })?;
    Ok(Some(tree))
}

/// The tables of `/proc/net` and the state in which somebody listens: `TCP_LISTEN` of the kernel's
/// tcp_states.h, and `TCP_CLOSE`, which a UDP socket without a peer has.
const LISTENING: [(&str, &str); 4] = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];
const DEFAULT_WAIT: Duration = Duration::from_millis(300);
/// Between two checks whether something has ended.
pub(crate) const POLL: Duration = Duration::from_millis(10);
const STOP_GRACE: Duration = Duration::from_millis(500);
