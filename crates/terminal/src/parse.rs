//! From the words of a command line to an exit code.

use std::ffi::OsString;

use clap::Parser;
use clap::error::{Error, ErrorKind};

use crate::{Failure, Fault, Status};
use crate::{command_line, output};

/// Reads the words, the program's name first, does what they ask, says what went wrong, and returns
/// the exit code.
pub fn main<C: Parser, F: Fault + From<Failure>>(
    words: &[OsString],
    dispatch: impl FnOnce(C) -> Result<Status, F>,
) -> u8 {
    command_line::learn_secrets(&C::command(), words);
    ended(match C::try_parse_from(words) {
        Ok(command) => dispatch(command),
        Err(error) => answer::<C>(&error, words).map_err(F::from),
    })
}

/// Says a failure on standard error. Returns the exit code.
pub fn ended(outcome: Result<Status, impl Fault>) -> u8 {
    match outcome {
        Ok(status) => status.code(),
        Err(failure) => {
            output::complain(&failure);
            failure.code()
        }
    }
}

/// Help and version are answers; everything else is wrong usage, with a message of one line.
fn answer<C: Parser>(error: &Error, words: &[OsString]) -> Result<Status, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render();
            let colored = output::screen().color;
            output::print(&if colored { text.ansi().to_string() } else { text.to_string() })?;
            Ok(Status::Done)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::Usage(format!("a command is missing\n\n{}", error.render())))
        }
        _ => Err(Failure::Usage(one_line::<C>(&error.render().to_string(), words))),
    }
}

/// The parser's message without its layout: what is wrong, then what may have been meant.
fn one_line<C: Parser>(message: &str, words: &[OsString]) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let mut text = String::new();
    for line in message.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("Usage: ") || line.starts_with("For more information") {
            continue;
        }
        if !text.is_empty() {
            text.push_str(if text.ends_with(':') { " " } else { "; " });
        }
        text.push_str(line);
    }
    let first = words.get(1).cloned().unwrap_or_default();
    let first = first.to_string_lossy();
    let known = C::command().get_subcommands().any(|command| *command.get_name() == *first);
    let command = if known { format!("firstflight {first}") } else { "firstflight".to_owned() };
    format!("{text}; see `{command} --help`")
}
