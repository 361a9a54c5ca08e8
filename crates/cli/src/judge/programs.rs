//! Two programs that are judged in place of a control, as the flags describe them.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use firstflight_scenario::Time;
use firstflight_transports::{GuestPrograms, On, Programs, VirtualTime};

use crate::failure::Failure;

/// The flags.
#[derive(Debug, clap::Args)]
pub(super) struct ProgramFlags {
    /// Judge two programs that are not ours: the server, which `sh -c` runs in the guest (with --on
    /// linux --virtual-time); {address}, {port}, {bytes}, {folder}, {file} and {qlog} are replaced
    #[arg(long, value_name = "CMD", requires = "client")]
    server: Option<String>,
    /// The client, which `sh -c` runs in the guest when the server listens, with the words in
    /// braces replaced; its end is the end
    #[arg(long, value_name = "CMD", requires = "server")]
    client: Option<String>,
    /// The client sends the data; otherwise the server does
    #[arg(long, requires = "server")]
    upload: bool,
    /// A file or folder that the programs read beside themselves and their libraries; may be
    /// repeated
    #[arg(long, value_name = "PATH", requires = "server")]
    with: Vec<PathBuf>,
    /// How long a run may take by this machine's clock [default: 10min]
    #[arg(long, value_name = "TIME", requires = "server")]
    limit: Option<String>,
}

impl ProgramFlags {
    /// The transport on which the programs run, if there are any.
    ///
    /// # Errors
    /// Another transport, or a flag that does not read.
    pub(super) fn carried_by(&self, on: &On) -> Result<Option<VirtualTime>, Failure> {
        let (Some(server), Some(client)) = (&self.server, &self.client) else { return Ok(None) };
        let Some(guests) = on.guests() else {
            return Err(Failure::Usage(
                "--server: programs run in a guest; accepted with it: --on linux --virtual-time"
                    .to_owned(),
            ));
        };
        known("--server", server)?;
        known("--client", client)?;
        let longest = self.limit.as_deref().map(str::parse::<Time>).transpose().map_err(|why| {
            Failure::Usage(format!("--limit {}: {why}", self.limit.as_deref().unwrap_or_default()))
        })?;
        let folder = std::env::current_dir()
            .map_err(|error| Failure::Usage(format!("this folder: {error}")))?;
        let programs = Programs {
            server: server.clone(),
            client: client.clone(),
            upload: self.upload,
            folder,
        };
        let longest = longest.map_or(LONGEST, |time| Duration::from_nanos(time.ns()));
        Ok(Some(guests.running(GuestPrograms { programs, with: self.with.clone(), longest })))
    }
}

/// Checks that the first word of a line is one that a shell knows here, as the guest's will.
fn known(flag: &str, line: &str) -> Result<(), Failure> {
    let first = line.split_whitespace().next().unwrap_or_default();
    let mut ask = Command::new("sh");
    ask.args(["-c", "command -v -- \"$1\"", "sh", first]);
    let knows = ask.stdout(Stdio::null()).stderr(Stdio::null()).status();
    // An assignment before the command, or a `(`, is the shell's own.
    let is_plain = first.chars().all(|c| c.is_alphanumeric() || "/._+-".contains(c));
    if is_plain && !knows.is_ok_and(|status| status.success()) {
        return Err(Failure::Usage(format!(
            "{flag}: found `{first}`; accepted: a line for a shell that begins with a program of \
             this machine"
        )));
    }
    Ok(())
}

/// Ten minutes: a hundred times what most runs take.
const LONGEST: Duration = Duration::from_secs(600);
