//! What is written down about the tables is what the columns say.

mod page;

use std::fs;
use std::path::Path;

use firstflight_results::table::{flows, json_schema, series};

use page::page;

/// Compares a document with the file, or writes the file with `UPDATE_GOLDEN=1`.
fn is_up_to_date(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let command = "UPDATE_GOLDEN=1 cargo test -p firstflight-results writes it anew";
    assert_eq!(found, text, "docs/{file} is out of date; {command}");
}

#[test]
fn the_json_schema_is_up_to_date_and_is_json() {
    let text = json_schema();
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    let properties = &schema["$defs"]["flows"]["items"]["properties"];
    assert_eq!(properties["completion_time_s"]["type"], serde_json::json!(["number", "null"]));
    assert_eq!(properties["rate_bps"]["x-unit"], "bit/s");
    is_up_to_date("results.schema.json", &text);
}

#[test]
fn the_page_is_up_to_date() {
    is_up_to_date("results.md", &page());
}

#[test]
fn a_columns_name_ends_in_its_unit() {
    for column in flows::columns().into_iter().chain(series::columns()) {
        let suffix = match column.unit {
            "" | "share" => continue,
            "bit/s" => "bps",
            unit => unit,
        };
        let name = column.name;
        // Counts of packets that are events of their own (drops, losses) are named for these.
        let event = name.contains("drops") || name.contains("losses") || name == "delayed_ack";
        assert!(event || name.ends_with(&format!("_{suffix}")), "{name} is in {}", column.unit);
    }
}

#[test]
fn no_name_is_given_twice() {
    for columns in [flows::columns(), series::columns()] {
        let mut names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
