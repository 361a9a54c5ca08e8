//! The command line of firstflight with one start-up more.

use std::process::ExitCode;

use own_startup::Quarter;

fn main() -> ExitCode {
    if let Err(problem) = firstflight_control::add_startup::<Quarter>() {
        eprintln!("error: {problem}");
        return ExitCode::from(2);
    }
    firstflight_cli::main()
}
