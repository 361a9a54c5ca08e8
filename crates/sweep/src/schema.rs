//! The keys of a grid file as a JSON Schema, for editors.

use serde_json::{Value, json};

use crate::grid::METHODS;

/// The keys of a grid file and the forms of their values (JSON Schema, draft 2020-12). Sides and
/// tables are checked by `sweep` alone.
pub fn schema() -> Value {
    let mut scenario = firstflight_scenario::schema();
    let defined = scenario.as_object_mut().and_then(|scenario| {
        scenario.remove("$schema");
        scenario.remove("$id");
        scenario.remove("$defs")
    });
    let mut defined = defined.unwrap_or_else(|| json!({}));
    defined["Scenario"] = scenario;
    let varied = "Dotted keys of the scenario, such as path.rate";
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "firstflight/sweep",
        "title": "A grid file of firstflight",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "scenario": {
                "description": "What does not vary: keys of a scenario, or the name of its file",
                "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/Scenario" }],
            },
            "grid": {
                "description": format!("{varied}, each with its values: every combination runs"),
                "type": "object",
            },
            "sample": {
                "description": "Points drawn at random",
                "type": "object",
                "additionalProperties": false,
                "required": ["method", "points", "over"],
                "properties": {
                    "method": { "enum": METHODS },
                    "points": { "type": "integer", "minimum": 1 },
                    "seed": { "type": "integer", "minimum": 0 },
                    "over": {
                        "description": format!("{varied}, each with a range"),
                        "type": "object",
                    },
                },
            },
            "points": {
                "description": "A CSV file with a column per dotted key, a line per point",
                "type": "string",
            },
            "side": { "type": "array", "items": { "type": "object", "required": ["name"] } },
            "table": {
                "type": "array",
                "items": { "type": "object", "required": ["head", "row"] },
            },
            "unrepeatable": {
                "description": "Runs differ from time to time, as in real time",
                "type": "boolean",
            },
        },
        "$defs": defined,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::KEYS;

    #[test]
    fn every_key_of_a_grid_file_is_there() {
        let schema = schema();
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let mut known = KEYS;
        known.sort_unstable();
        let mut found = keys;
        found.sort_unstable();
        assert_eq!(found, known);
        assert_eq!(schema["$defs"]["Link"]["type"], "object");
        assert_eq!(schema["$defs"]["Scenario"]["type"], "object");
    }
}
