//! The tables as a page of documentation, `docs/results.md`.

use std::fmt::Write as _;

use firstflight_results::table::{SCHEMA, flows, series};
use firstflight_results::{Column, Kind, Role};

/// It, written from the columns.
pub(crate) fn page() -> String {
    let mut text = HEAD.replace("{SCHEMA}", SCHEMA);
    text.push_str("\n## The table of flows\n\nOne row per flow of a run.\n");
    roles(&mut text, &flows::columns());
    text.push_str(SERIES);
    roles(&mut text, &series::columns());
    text.push_str(TAIL);
    text
}

fn roles(text: &mut String, columns: &[Column]) {
    let roles = [
        (Role::Key, "Key"),
        (Role::Factor, "Factors"),
        (Role::Measure, "Measures"),
        (Role::Provenance, "Provenance"),
    ];
    for (role, title) in roles {
        let of_role: Vec<&Column> = columns.iter().filter(|c| c.role == role).collect();
        if of_role.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{title}:\n\n| column | type | unit | meaning |");
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
ends. Data in flight when it stops does not count; a file that was begun does.

| quantity | refers to |
| --- | --- |
| what a path lets pass | The least of its links' rates, schedules, traces, policers, shapers \
(`tbf`) and access links. |
| `utilization` | The most that could pass in the flow's own time, a full bucket included: never \
above 1. Of a run in the JSON: all flows, at the link of which they use the largest share. |
| a BDP | The rate alone, without buckets. A path that holds less than a packet has none. |
| `exit_window_over_bdp`, times to shares of the BDP | The BDP of the mean rate from the flow's \
start until its start-up ended, over a round trip at least: what start-up could find where rates \
change. |
| `rate_bps`, `bdp_packets`, the sentences of `run` and `compare` | The mean rate of the run. |
| `buffer = \"1bdp\"`, windows in BDP | The link's own `rate`. |
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
