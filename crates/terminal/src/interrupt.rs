//! Ctrl-C: the first stops the work and keeps what is finished, the second ends the program.

use std::io::{self, IsTerminal as _, Write as _};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

/// Becomes true at the first Ctrl-C; listens from the first call on.
pub fn listen() -> &'static AtomicBool {
    listen_saying("stopping")
}

/// [`listen`], for work that says at the first Ctrl-C `what` it does now.
pub fn listen_saying(what: &'static str) -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    // Without a handler Ctrl-C ends the program at once, which is the second best.
    let _ = ctrlc::set_handler(move || {
        if STOP.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
        if io::stderr().is_terminal() {
            let _ = writeln!(io::stderr(), "\n{what}; Ctrl-C again ends at once");
        }
    });
    &STOP
}
