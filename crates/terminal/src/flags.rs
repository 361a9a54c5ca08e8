//! The flags that every program of firstflight flattens into its own: what is told on standard
//! error, and colours.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ArgAction, Args};
use colorchoice_clap::Color;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use crate::command_line::without_secrets;

/// `--color`, `--quiet` and `--verbose`, behind any command.
#[derive(Debug, Args)]
pub struct Flags {
    #[command(flatten)]
    color: Color,
    /// Leave out progress and notes: standard error has what went wrong, and no more
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Tell on standard error what runs, with -vv which programs are started and what QUIC does,
    /// with -vvv every packet of it; RUST_LOG=quinn_proto=debug chooses
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

impl Flags {
    /// Sets what this process prints from now on. `RUST_LOG`, where set, overrides `--verbose`.
    pub fn apply(&self) {
        self.color.write_global();
        QUIET.store(self.quiet, Ordering::Relaxed);
        if self.quiet {
            return;
        }
        let asked = std::env::var("RUST_LOG").ok().filter(|asked| !asked.is_empty());
        let words = match (&asked, self.verbose) {
            (Some(asked), _) => asked,
            (None, 0) => return,
            (None, 1) => "info",
            (None, 2) => "debug",
            (None, _) => "trace",
        };
        // RUST_LOG is set for all programs of a shell. One that cannot be read here is no error.
        let Ok(targets) = words.parse::<Targets>() else { return };
        BY_LINE.store(true, Ordering::Relaxed);
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| Stderr);
        // It fails where this process has a subscriber already, as one that embeds this may.
        let _ = tracing_subscriber::registry().with(lines.with_filter(targets)).try_init();
    }
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
