//! The papers' rows of the lab, by `firstflight reproduce`, which keeps its own runs.

use std::process::Stdio;

use serde_json::Value;

use super::Lab;
use crate::{Stop, step};

/// The rows that `name` selects, `not-run` where other work disturbed every try; `None` if there
/// was no time for them.
pub(super) fn measure(lab: &Lab<'_>, name: &str) -> Result<Option<Vec<Value>>, Stop> {
    if lab.is_over() {
        return Ok(None);
    }
    let output = step::bound(&lab.program)
        .current_dir(lab.root)
        .args(["reproduce", if lab.real_time { "--lab" } else { "--virtual-time" }, "--json", name])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| step::unable("firstflight", &error))?;
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let Some(rows) = document["rows"].as_array() else {
        let stop = if output.status.code() == Some(3) { Stop::lacks } else { Stop::failed };
        return Err(stop(&format!("reproduce {name}: no rows")));
    };
    for row in rows {
        println!("{} {}", text(&row["id"]), text(&row["verdict"]));
    }
    Ok(Some(rows.clone()))
}

/// A value of a row in words.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
