//! The link as a tool of its own: between two namespaces that exist, or around commands.

use std::net::Ipv4Addr;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::LabError;
use crate::link::{Clock, LinkReport, LinkSpec, Timing};
use crate::namespace::Namespace;
use crate::path::{Path, far_address, near_address};
use crate::process_tree::ProcessTree;
use crate::routes::forget_orphans;

/// What the link is put between, and what runs at its ends.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// Names of two namespaces, near and far; new ones without names when `None`.
    pub namespaces: Option<(String, String)>,
    /// Runs at the near end; the link ends when it does.
    pub near: Vec<String>,
    /// Runs at the far end, started first.
    pub far: Vec<String>,
    /// Ends the link after so long, however the commands are.
    pub duration: Option<Duration>,
    /// What the commands print goes to standard error, as standard output is for something else.
    pub print_to_stderr: bool,
}

/// What a link carried while it stood.
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
    /// Whether the link was told to stop before its command ended well or its time was over.
    pub interrupted: bool,
}

/// Address of the near end and of the far end.
pub fn addresses() -> (Ipv4Addr, Ipv4Addr) {
    (near_address(0), far_address(0))
}

/// Keeps a link up until its command ends, its time is over, or `stop` becomes true. `ready` is
/// told when it stands. The commands find the addresses in `FF_NEAR` and `FF_FAR`. Whatever they
/// started ends with them, and with the link.
///
/// # Errors
/// The machine lacks something, a namespace does not exist, or a command cannot be started.
pub fn carry(
    spec: &LinkSpec,
    ends: &Ends,
    stop: &AtomicBool,
    ready: impl FnOnce(),
) -> Result<Carried, LabError> {
    let mut path = match &ends.namespaces {
        None => Path::new(spec)?,
        Some((near, far)) if near == far => {
            return Err(LabError::Input(format!(
                "namespace `{near}` is near and far; accepted: two of `ip netns list`"
            )));
        }
        Some((near, far)) => Path::between(Namespace::named(near)?, Namespace::named(far)?, spec)?,
    };
    let clock: Clock = path.clock;
    path.measure(clock.now(), u64::MAX);
    let far = start(&path.far, &ends.far, ends.print_to_stderr)?;
    if far.is_some() {
        // A server needs a moment to listen; a client that comes too early fails.
        thread::sleep(SETTLE);
    }
    let mut near = start(&path.near, &ends.near, ends.print_to_stderr)?;
    ready();
    let mut until = ends.duration.and_then(|duration| Instant::now().checked_add(duration));
    let mut status: Option<ExitStatus> = None;
    let mut stopped = false;
    while until.is_none_or(|until| Instant::now() < until) {
        if let Some(near) = &mut near {
            status = near.try_wait().map_err(|error| LabError::Failed(error.to_string()))?;
            if status.is_some() {
                break;
            }
        }
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut stopped, true) {
            // A command that has heard of it too has its last words.
            let grace = if near.is_some() { GRACE } else { Duration::ZERO };
            until = Some(Instant::now() + grace);
        }
        thread::sleep(LOOK);
    }
    drop((near, far));
    let has_an_end = !ends.near.is_empty() || ends.duration.is_some();
    let ended_well = status.is_some_and(|status| status.success());
    if ends.namespaces.is_none() {
        for end in [&path.near, &path.far] {
            // As it was is no worse than before.
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
        near_failed: status.is_some_and(|status| !status.success()),
        interrupted: stop.load(Ordering::Relaxed) && has_an_end && !ended_well,
    })
}

fn start(
    end: &Namespace,
    words: &[String],
    print_to_stderr: bool,
) -> Result<Option<ProcessTree>, LabError> {
    let Some((program, arguments)) = words.split_first() else { return Ok(None) };
    let (near, far) = addresses();
    let mut command = Command::new(program);
    command.args(arguments).env("FF_NEAR", near.to_string()).env("FF_FAR", far.to_string());
    if print_to_stderr {
        command.stdout(std::io::stderr());
    }
    end.confine(&mut command);
    let tree = ProcessTree::start(&mut command).map_err(|error| {
        LabError::Input(format!("{program}: {error}; accepted: a program on this machine"))
    })?;
    Ok(Some(tree))
}

const SETTLE: Duration = Duration::from_millis(300);
const LOOK: Duration = Duration::from_millis(10);
const GRACE: Duration = Duration::from_millis(500);
