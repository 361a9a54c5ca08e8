//! `list`: everything that has a name.

mod catalogue;
mod detail;
mod named;

use std::fmt::Write as _;

use firstflight_answers::json;
use firstflight_report::wrapped;

use crate::failure::{Failure, Status};
use crate::output;
use catalogue::{Catalogue, Policy, StacksOwn};

/// List controls, knobs, queues, profiles and path flags; with a name, all about it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A start-up, avoidance, alias, queue, profile or path flag, a control such as
    /// astart+newreno, or a system as one of the papers calls it
    name: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

const CONTROL: &str = "<start-up>[(knob=value,...)][+<avoidance>[(knob=value,...)]]";

const EXAMPLES: &str = "\
Examples:
  firstflight list
  firstflight list astart
  firstflight list 'HighSpeed TCP'
  firstflight list --json | jq -r '.startups[].name'";

/// Runs the command.
pub(crate) fn list(args: &Args) -> Result<Status, Failure> {
    let catalogue = catalogue(args.name.as_deref())?;
    let text = match (args.json, &args.name) {
        (true, _) => json(&catalogue)?,
        (false, Some(_)) => detail::text(&catalogue),
        (false, None) => overview(&catalogue),
    };
    output::print(&text)?;
    Ok(Status::Done)
}

/// Everything that has a name, or what has this one.
pub(crate) fn catalogue(name: Option<&str>) -> Result<Catalogue, Failure> {
    let mut catalogue = Catalogue::new();
    if let Some(name) = name {
        catalogue.narrow(name)?;
    }
    Ok(catalogue)
}

/// Names that a shell can suggest, each with what it is.
pub(crate) struct Names {
    pub(crate) all: Vec<Name>,
    pub(crate) controls: Vec<Name>,
}

/// A name and what it is.
pub(crate) type Name = (String, String);

/// All names that there are.
pub(crate) fn names() -> Names {
    let groups = groups(&Catalogue::new());
    let is_control = |title: &str| CONTROLS.iter().any(|of| title.starts_with(of));
    let controls = groups.iter().filter(|(title, _)| is_control(title));
    let controls = controls.flat_map(|(_, names)| names.clone()).collect();
    // Bash would expand what else there is.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
    let mut all: Vec<Name> = groups.into_iter().flat_map(|(_, names)| names).collect();
    all.retain(|(name, _)| name.chars().all(is_plain));
    Names { all, controls }
}

/// The groups whose names are controls.
const CONTROLS: [&str; 5] =
    ["Start-ups", "Aliases", "The kernel's own", "quinn's own", "noq's own"];

/// The JSON Schema of the document.
pub(crate) fn schema() -> serde_json::Value {
    schemars::schema_for!(Catalogue).to_value()
}

/// A line for each name; what a line has no room for is in `list NAME`.
fn overview(catalogue: &Catalogue) -> String {
    let width = output::screen().width;
    let mut text = wrapped(&format!("A control is {CONTROL}, or an alias."), width, "  ");
    text.push_str("`firstflight list NAME` tells all about a name: knobs, source, transports.\n");
    for (title, names) in groups(catalogue) {
        let _ = write!(text, "\n{title}\n");
        let widest = names.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, what) in names {
            text.push_str(&cut(&format!("  {name:widest$}  {what}"), width));
        }
    }
    text
}

/// The names by kind, each with what it is.
fn groups(catalogue: &Catalogue) -> Vec<(&'static str, Vec<(String, String)>)> {
    let policies = |policies: &[Policy]| -> Vec<(String, String)> {
        policies.iter().map(|it| (it.name.to_owned(), it.summary.to_owned())).collect()
    };
    let around = catalogue.around.iter();
    let aliases = catalogue.aliases.iter();
    let named = catalogue.named.iter().map(|it| {
        let here = it.here.map_or_else(|| "no control".to_owned(), str::to_owned);
        (it.name.to_owned(), it.note.map_or(here.clone(), |note| format!("{here}: {note}")))
    });
    let kernels = catalogue.kernels_own.iter().map(|own| {
        let here = if own.here { "" } else { "; this kernel has it not" };
        (own.name.to_owned(), format!("{}{here}", own.summary))
    });
    let own = |own: &[StacksOwn]| -> Vec<(String, String)> {
        own.iter().map(|it| (it.name.to_owned(), it.summary.to_owned())).collect()
    };
    let provided = catalogue.provided.iter();
    let queues = catalogue.queues.iter();
    let profiles = catalogue.profiles.iter().map(|profile| {
        let constants = profile.constants.iter().take(FIRST_CONSTANTS);
        let constants = constants.map(|it| format!("{} {}", it.name, it.value));
        (profile.name.clone(), constants.collect::<Vec<_>>().join(", "))
    });
    let flags = catalogue.path_flags.iter().map(|flag| {
        let default = flag.default.trim();
        let default = if default.is_empty() { "" } else { &format!(" [{default}]") };
        (flag.name.to_owned(), format!("{}{default}", flag.help))
    });
    vec![
        ("Start-ups", policies(&catalogue.startups)),
        (
            "Around a start-up",
            around.map(|it| (it.written.to_owned(), it.summary.to_owned())).collect(),
        ),
        ("Avoidances", policies(&catalogue.avoidances)),
        ("Aliases", aliases.map(|it| (it.name.to_owned(), it.control.to_owned())).collect()),
        ("Names in the papers, and what each is here", named.collect()),
        ("The kernel's own (--on linux)", kernels.collect()),
        ("quinn's own (--on quic)", own(&catalogue.quinn)),
        ("noq's own (--on noq)", own(&catalogue.noq)),
        (
            "Queues of a link (--queue)",
            queues.map(|it| (it.name.to_owned(), it.summary.to_owned())).collect(),
        ),
        ("Profiles of the endpoints (--profile)", profiles.collect()),
        ("Path flags of compare and run", flags.collect()),
        (
            "What controls can need, and the transports that provide it (--on)",
            provided.map(|it| (it.facility.to_owned(), it.transports.join(", "))).collect(),
        ),
    ]
}

/// A line without what goes beyond the width.
fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return format!("{line}\n");
    }
    let kept: String = line.chars().take(width.saturating_sub(4)).collect();
    let whole = kept.rsplit_once(' ').map_or(kept.as_str(), |(whole, _)| whole);
    format!("{} ...\n", whole.trim_end())
}

/// A line may have room for so many constants of a profile.
const FIRST_CONSTANTS: usize = 4;

/// `sim, quic (degraded)`: the last where it does without something that its source describes.
pub(super) fn transports(policy: &Policy) -> String {
    let name = |name: &&str| match policy.degraded_on.contains_key(name) {
        true => format!("{name} (degraded)"),
        false => (*name).to_owned(),
    };
    policy.transports.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_ends_between_words() {
        assert_eq!(cut("  name  one two three", 80), "  name  one two three\n");
        assert_eq!(cut("  name  one two three", 17), "  name  one ...\n");
    }
}
