//! `papers/lab.toml`: the values of the papers' lab, which `reproduce` shows where it is not run.

use std::fs;
use std::path::Path;
use std::process::Command;

use firstflight_results::{ClaimRow, Verdict};

use crate::Stop;
use crate::step::unable;

/// Writes it, with the day of today.
pub(super) fn write(path: &Path, kernel: &str, rows: &[ClaimRow]) -> Result<(), Stop> {
    let today = Command::new("date").args(["-u", "+%F"]).output();
    let today = today.map_err(|error| unable("date", &error))?;
    let date = String::from_utf8_lossy(&today.stdout).trim().to_owned();
    let file = file(kernel, &date, rows);
    fs::write(path, file).map_err(|error| unable(&path.display().to_string(), &error))
}

/// The rows of the lab by id, each value by the words of its check.
fn file(kernel: &str, date: &str, rows: &[ClaimRow]) -> String {
    let of_lab = rows.iter().filter(|row| row.id.contains("-L"));
    let ran = of_lab.filter(|row| row.verdict != Verdict::NotRun);
    let rows: Vec<toml::Value> = ran.map(|row| toml::Value::Table(values(row))).collect();
    let mut file = toml::Table::new();
    file.insert("kernel".to_owned(), kernel.into());
    file.insert("date".to_owned(), date.into());
    file.insert("row".to_owned(), rows.into());
    format!("{HEAD}{file}")
}

fn values(row: &ClaimRow) -> toml::Table {
    let measured = row
        .checks
        .iter()
        .filter_map(|check| Some((check.what.clone(), toml::Value::Float(check.measured?))));
    let values: toml::Table = measured.collect();
    let mut table = toml::Table::new();
    table.insert("id".to_owned(), row.id.clone().into());
    table.insert("values".to_owned(), values.into());
    table
}

const HEAD: &str = "\
# What the last lab measured: `firstflight reproduce` shows these values, and judges them by the
# claims as they are, where the lab is not run. `cargo xtask lab` writes it beside docs/lab.md.
";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_rows_of_the_lab_that_ran_are_kept_with_their_values() {
        let check = |what: &str, measured: Option<f64>| {
            json!({ "what": what, "paper": null, "measured": measured, "difference": null,
                "tolerance": "", "seeds": 1, "interval": null, "preset": "", "verdict": "pass" })
        };
        let row = |id: &str, verdict: &str| -> ClaimRow {
            let checks = [check("linux-reno, %", Some(95.55)), check("restart, s", None)];
            serde_json::from_value(json!({ "id": id, "paper": "", "what": "", "expected": 1,
                "measured": 1, "unit": "", "class": "tight", "tolerance": 1, "verdict": verdict,
                "preset": "", "scenario": "", "checks": checks }))
            .unwrap()
        };
        let rows = [row("S0-LT1a", "pass"), row("S0-LT1b", "not-run"), row("S0-X6", "pass")];
        let text = file("6.18", "2026-11-22", &rows);
        let read: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(read["kernel"].as_str(), Some("6.18"));
        let kept = read["row"].as_array().unwrap();
        assert_eq!((kept.len(), kept[0]["id"].as_str()), (1, Some("S0-LT1a")));
        let values = kept[0]["values"].as_table().unwrap();
        assert_eq!((values.len(), values["linux-reno, %"].as_float()), (1, Some(95.55)));
    }
}
