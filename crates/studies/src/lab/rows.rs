//! The papers' rows of the lab, by `firstflight reproduce`, which keeps its own runs.

use std::process::Stdio;

use firstflight_results::{ClaimRow, Reproduction};
use serde::Serialize;

use super::Lab;
use crate::{Stop, step};

/// The rows that `name` selects, `not-run` where other work disturbed every try; `None` if there
/// was no time for them.
pub(super) fn measure(lab: &Lab<'_>, name: &str) -> Result<Option<Vec<ClaimRow>>, Stop> {
    if lab.is_over() {
        return Ok(None);
    }
    let output = step::bound(&lab.program)
        .current_dir(lab.root)
        .args([
            "reproduce",
            if lab.guests.is_none() { "--lab" } else { "--virtual-time" },
            "--json",
            name,
        ])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| step::unable("firstflight", &error))?;
    let Ok(Reproduction { rows }) = serde_json::from_slice(&output.stdout) else {
        let stop = if output.status.code() == Some(3) { Stop::lacks } else { Stop::failed };
        return Err(stop(&format!("reproduce {name}: no rows")));
    };
    for row in &rows {
        println!("{} {}", row.id, text(&row.verdict));
    }
    Ok(Some(rows))
}

/// A value of a row as its document has it.
pub(super) fn text(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
