//! The program of `cargo reproduce`: `firstflight` with that command alone.

use std::process::ExitCode;

fn main() -> ExitCode {
    firstflight_cli::main()
}
