//! The tables as JSON Schema (draft 2020-12).

use std::fmt::Write as _;

use serde_json::json;

use super::{SCHEMA, flows, series};
use crate::Column;

/// The schema of the JSON form of both tables, as a document with a final newline.
pub fn json_schema() -> String {
    let mut text = String::from("{\n");
    let _ = writeln!(text, "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",");
    let _ = writeln!(text, "  \"$id\": {},", json!(SCHEMA));
    let _ = writeln!(text, "  \"title\": \"Results of firstflight as tidy tables\",");
    text.push_str("  \"oneOf\": [");
    text.push_str("{ \"$ref\": \"#/$defs/flows\" }, { \"$ref\": \"#/$defs/series\" }],\n");
    text.push_str("  \"$defs\": {\n");
    text.push_str(&table("flows", "One object per flow of a run", &flows::columns()));
    text.push_str(",\n");
    let about = "One object per flow or link, time and variable";
    text.push_str(&table("series", about, &series::columns()));
    text.push_str("\n  }\n}\n");
    text
}

/// Written by hand, because the order of the columns is part of the schema for readers.
fn table(name: &str, about: &str, columns: &[Column]) -> String {
    let property = |column: &Column| {
        let kind = column.kind.json();
        let kind = if column.nullable { json!([kind, "null"]) } else { json!(kind) };
        let unit = match column.unit {
            "" => String::new(),
            unit => format!(", \"x-unit\": {}", json!(unit)),
        };
        format!(
            "          {}: {{ \"type\": {kind}{unit}, \"x-role\": {},\n            \
             \"description\": {} }}",
            json!(column.name),
            json!(format!("{:?}", column.role).to_lowercase()),
            json!(column.meaning)
        )
    };
    let properties: Vec<String> = columns.iter().map(property).collect();
    let names: Vec<String> =
        columns.iter().map(|column| format!("          {}", json!(column.name))).collect();
    [
        format!("    \"{name}\": {{"),
        "      \"type\": \"array\",".to_owned(),
        format!("      \"description\": {},", json!(about)),
        "      \"items\": {".to_owned(),
        "        \"type\": \"object\",".to_owned(),
        "        \"additionalProperties\": false,".to_owned(),
        format!("        \"properties\": {{\n{}\n        }},", properties.join(",\n")),
        format!("        \"required\": [\n{}\n        ]", names.join(",\n")),
        "      }\n    }".to_owned(),
    ]
    .join("\n")
}
