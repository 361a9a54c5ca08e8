//! `schema`: the keys of files as JSON Schemas, for editors and for readers of results.

use firstflight_answers::json;
use firstflight_results::table;

use crate::failure::{Failure, Status};
use crate::{list, output};

/// Print the JSON Schema of files that firstflight reads, or of documents that it prints
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What the files or documents are
    of: Of,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Of {
    /// A scenario file, as `run` reads it
    Scenario,
    /// A grid file, as `sweep` reads it
    Sweep,
    /// The files of a paper in papers/: its `paper.toml`, and each experiment with its claims
    Papers,
    /// The tables of results, as docs/results.md describes them
    Results,
    /// What `judge --json` prints
    Judgement,
    /// What `list --json` prints
    List,
}

const EXAMPLES: &str = "\
Editors complete and check the keys of a file that begins with a line such as
  #:schema ./scenario.schema.json
where they know TOML (taplo; VS Code with Even Better TOML). What keys mean together, only `run` and
`sweep` check.

Examples:
  firstflight schema scenario > scenario.schema.json
  firstflight schema sweep > sweep.schema.json
  firstflight schema judgement | jq '.properties | keys'
  firstflight schema results | jq '.[\"$defs\"].flows.items.required'";

/// Runs the command.
pub(crate) fn schema(args: &Args) -> Result<Status, Failure> {
    output::print(&match args.of {
        Of::Scenario => json(&firstflight_scenario::schema())?,
        Of::Sweep => json(&firstflight_sweep::schema())?,
        Of::Papers => json(&firstflight_reproduce::schema())?,
        Of::Results => table::json_schema(),
        Of::Judgement => json(&firstflight_judge::Judgement::schema())?,
        Of::List => json(&list::schema())?,
    })?;
    Ok(Status::Done)
}
