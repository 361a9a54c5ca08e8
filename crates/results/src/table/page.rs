//! The tables as a page of documentation.

use std::fmt::Write as _;

use super::{SCHEMA, flows, series};
use crate::{Column, Kind, Role};

/// `docs/results.md`, written from the columns.
pub fn page() -> String {
    let mut text = HEAD.replace("{SCHEMA}", SCHEMA);
    text.push_str("\n## The table of flows\n\nOne row per flow of a run.\n");
    roles(&mut text, &flows::columns());
    text.push_str(SERIES);
    roles(&mut text, &series::columns());
    text.push_str(TAIL);
    text
}

fn roles(text: &mut String, columns: &[Column]) {
    for role in [Role::Key, Role::Factor, Role::Measure, Role::Provenance] {
        let of_role: Vec<&Column> = columns.iter().filter(|c| c.role == role).collect();
        if of_role.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}:\n\n| column | type | unit | meaning |", role.title());
        let _ = writeln!(text, "| --- | --- | --- | --- |");
        for Column { name, kind, unit, nullable, meaning, .. } in of_role {
            let kind = match kind {
                Kind::Text => "text",
                Kind::Count => "whole number",
                Kind::Number => "number",
                Kind::Flag => "true or false",
            };
            let null = if *nullable { ", or null" } else { "" };
            let _ = writeln!(text, "| `{name}` | {kind}{null} | {unit} | {meaning} |");
        }
    }
}

const HEAD: &str = "\
# Results as tables

<!-- Written by `UPDATE_GOLDEN=1 cargo test -p firstflight-results`. -->

Results have two forms. `--json` prints one document per command (`firstflight/results@1`), nested
as runs and flows. The tables on this page (`{SCHEMA}`) hold the same numbers flat: one row per
flow of a run, one column per variable, with its unit in its name. Both forms call a variable by
one name where it means one thing.

| from | form |
| --- | --- |
| `firstflight run SCENARIO.toml --csv FILE`, `compare ... --csv FILE` | CSV |
| `firstflight sweep GRID.toml --out DIR` | CSV, or Parquet |
| Python | Arrow |

[`results.schema.json`](results.schema.json) has both tables as JSON Schema, for their rows as
objects. What was not measured, or cannot be for this run, is null, an empty cell in CSV; it is
never zero, and no number is NaN or infinite. What a run cost (`cost`) is no part of the tables, so
that equal runs have equal rows.

A *point* is a place in the space of scenarios: rows with one `point` have one path and
equal flows, and differ in control and seed. So a gain over a baseline is a join on `point` and
`seed`. A row is named by `point`, `alias`, `transport`, `seed` and `flow`.

**What a flow has delivered** counts until it stops (`stop`, `lifetime`), is done, or the run
ends, and its throughput is over that time. What was under way when it stopped TCP still repairs
and QUIC does not; neither counts. A file that was begun before the stop counts among the files
all the same.

**What a path lets pass** is the least of what its links do, whatever limits them: the rate, or
the schedule or trace in its place, a policer, a shaper (`tbf`), the access links. `utilization`
is a share of what passes at most in the flow's own time, a full bucket of a policer or a shaper
included, so that it is never above 1, nor is that of flows together over a run (`utilization` of
a run in the JSON, at the link of which they use the largest share). The BDP is of the rate alone,
because a bucket is not filled again. Where rates change there is no one BDP. That of
`exit_window_over_bdp` and of the times to shares of the BDP is of the mean rate from the flow's
start until its start-up ended, over a round trip at least: that is what start-up could find. The
rate of one instant may be an outage or a gap of a trace, and the mean of the run has changes in
it that came later. A path that holds less than a packet has none. `rate_bps` and `bdp_packets`
are of the mean over the run, and so is what the sentences of `run` and `compare` say of the path.
`buffer = \"1bdp\"` and windows in BDP mean the link's own `rate`, since they describe the link.
";

const SERIES: &str = "
## The table of series

One row per flow or link, time and variable: the long form, in which a new variable is no new
column.
";

const TAIL: &str = "
## Versions

A new column is added without a new name of the schema; readers take columns by name. A column that
is renamed, removed, or changes its meaning or unit makes the schema `@2`.
";
