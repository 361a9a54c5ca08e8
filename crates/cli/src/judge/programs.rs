//! Two programs that are judged in place of a control, as the flags describe them, or an endpoint
//! that is both.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use firstflight_scenario::Time;
use firstflight_transports::{GuestPrograms, On, Programs, VirtualTime};

use super::interop::Endpoint;
use crate::failure::Failure;

/// The flags.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("programs").args(["server", "interop"]))]
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
    /// Judge an endpoint as the QUIC interop runner takes it: a folder with its run_endpoint.sh,
    /// which the guest runs as server and as client
    #[arg(long, value_name = "FOLDER")]
    interop: Option<PathBuf>,
    /// The runner's test case that the endpoint is told, such as http3 [default: transfer]
    #[arg(long, value_name = "NAME", requires = "interop")]
    testcase: Option<String>,
    /// A file or folder that the programs read beside themselves and their libraries; may be
    /// repeated
    #[arg(long, value_name = "PATH", requires = "programs")]
    with: Vec<PathBuf>,
    /// How long a run may take by this machine's clock [default: 10min]
    #[arg(long, value_name = "TIME", requires = "programs")]
    limit: Option<String>,
}

impl ProgramFlags {
    /// The transport on which the programs run, if there are any.
    ///
    /// # Errors
    /// Another transport, or a flag that does not read.
    pub(super) fn carried_by(&self, on: &On) -> Result<Option<VirtualTime>, Failure> {
        if self.server.is_none() && self.interop.is_none() {
            return Ok(None);
        }
        let flag = if self.interop.is_some() { "--interop" } else { "--server" };
        let Some(guests) = on.guests() else {
            return Err(Failure::Usage(format!(
                "{flag}: programs run in a guest; accepted with it: --on linux --virtual-time"
            )));
        };
        let longest = self.limit.as_deref().map(str::parse::<Time>).transpose().map_err(|why| {
            Failure::Usage(format!("--limit {}: {why}", self.limit.as_deref().unwrap_or_default()))
        })?;
        let longest = longest.map_or(LONGEST, |time| Duration::from_nanos(time.ns()));
        let programs = self.programs()?;
        Ok(Some(guests.running(GuestPrograms { longest, ..programs })))
    }

    fn programs(&self) -> Result<GuestPrograms, Failure> {
        let folder = std::env::current_dir()
            .map_err(|error| Failure::Usage(format!("this folder: {error}")))?;
        let mut with = self.with.clone();
        let (server, client, script) = match &self.interop {
            Some(place) => {
                let place = folder.join(place);
                let case = self.testcase.as_deref().unwrap_or("transfer");
                let endpoint = Endpoint::of(&place, case)?;
                with.push(place);
                (endpoint.server, endpoint.client, endpoint.script)
            }
            None => {
                let line = |line: &Option<String>| line.clone().unwrap_or_default();
                let (server, client) = (line(&self.server), line(&self.client));
                known("--server", &server)?;
                known("--client", &client)?;
                (server, client, String::new())
            }
        };
        let programs = Programs { server, client, upload: self.upload, folder };
        Ok(GuestPrograms { programs, script, with, longest: LONGEST })
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
