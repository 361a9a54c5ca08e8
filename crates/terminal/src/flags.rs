//! The flags that every program of firstflight flattens into its own: what stands on standard
//! error, and colours.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ArgAction, Args};
use colorchoice_clap::Color;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::command_line::without_secrets;
use crate::output::note;

/// `--color`, `--quiet` and `--verbose`, behind any command.
#[derive(Debug, Args)]
pub struct Flags {
    #[command(flatten)]
    color: Color,
    /// Leave out progress and notes: standard error has what went wrong, and no more
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Tell on standard error what runs, with -vv which programs are started and what QUIC does,
    /// with -vvv every packet of it; without -q and -v RUST_LOG=quinn_proto=debug chooses
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

impl Flags {
    /// Sets what this process prints from now on. `--quiet` and `--verbose` win over `RUST_LOG`.
    pub fn apply(&self) {
        self.color.write_global();
        QUIET.store(self.quiet, Ordering::Relaxed);
        let level = match self.verbose {
            0 => None,
            1 => Some(LevelFilter::INFO),
            2 => Some(LevelFilter::DEBUG),
            _ => Some(LevelFilter::TRACE),
        };
        let targets = match level {
            _ if self.quiet => None,
            Some(level) => Some(Targets::new().with_default(level)),
            None => chosen_by_environment(),
        };
        let Some(targets) = targets else { return };
        BY_LINE.store(true, Ordering::Relaxed);
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| Stderr);
        // It fails where this process has a subscriber already, as one that embeds this may.
        let _ = tracing_subscriber::registry().with(lines.with_filter(targets)).try_init();
    }
}

/// What `RUST_LOG` chooses. It is set for all programs of a shell, and some read more than this:
/// what cannot be read here is reported, and stops nothing.
fn chosen_by_environment() -> Option<Targets> {
    let asked = std::env::var_os("RUST_LOG").filter(|asked| !asked.is_empty())?;
    let targets = asked.to_str().and_then(|asked| asked.parse().ok());
    if targets.is_none() {
        note(&format!(
            "RUST_LOG: found {asked:?}; accepted: off, error, warn, info, debug or trace, alone or \
             behind modules, as quinn_proto=debug,firstflight_cli=info"
        ));
    }
    targets
}

/// Whether notes are left out.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether a progress bar may be drawn: no log lines are written to standard error between.
pub(crate) fn may_draw() -> bool {
    !is_quiet() && !BY_LINE.load(Ordering::Relaxed)
}

/// Standard error, without what is secret on the command line.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        io::stderr().write_all(without_secrets(&text).as_bytes()).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

static QUIET: AtomicBool = AtomicBool::new(false);
/// Log lines are written to standard error.
static BY_LINE: AtomicBool = AtomicBool::new(false);
