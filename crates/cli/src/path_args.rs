//! The path flags as arguments: names, defaults and help come from the table of scenario keys, and
//! values go on as text, so that quantities are judged in one place.

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use firstflight_scenario::{Flag, PathFlags};

/// The path flags that were typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathArgs(pub(crate) PathFlags);

impl Args for PathArgs {
    fn augment_args(command: Command) -> Command {
        command.args(PathFlags::all().iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PathArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for flag in PathFlags::all() {
            if let Some(text) = matches.get_one::<String>(&flag.name) {
                self.0.set(&flag.name, text);
            }
        }
        Ok(())
    }
}

fn argument(flag: &'static Flag) -> Arg {
    let long = flag.name.trim_start_matches('-');
    Arg::new(flag.name.as_str())
        .long(long)
        .value_name(value_name(flag))
        .help(format!("{} [default: {}]", flag.help, flag.default))
        .help_heading(heading(flag))
        // A negative quantity is for the scenario to refuse, with what it accepts.
        .allow_hyphen_values(true)
}

/// What is asked of the path and its flows, or of the hosts at its ends.
fn heading(flag: &Flag) -> &'static str {
    let of_path = ["packet", "headers", "duration", "seed", "runs"].contains(&flag.key);
    let of_path = of_path || flag.key.starts_with("path.") || flag.key.starts_with("flow[");
    if of_path { "Path" } else { "Endpoints" }
}

/// What kind of value it takes, by its default: the unit says it.
fn value_name(flag: &'static Flag) -> String {
    let default = flag.default.split(' ').next().unwrap_or(&flag.default);
    let unit = default.trim_start_matches(|c: char| c.is_ascii_digit());
    let kind = match unit {
        "" => "N",
        "bps" | "kbps" | "Mbps" | "Gbps" => "RATE",
        "ms" | "s" => "TIME",
        "B" => "SIZE",
        "pkt" => "WINDOW",
        "bdp" => "BUFFER",
        "true" | "false" => "true|false",
        _ => flag.name.rsplit('-').next().unwrap_or(&flag.name),
    };
    if kind.contains('|') { kind.to_owned() } else { kind.to_uppercase() }
}
