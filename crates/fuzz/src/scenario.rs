//! Bytes that are read as a scenario file.

use firstflight_control::Control;
use firstflight_scenario::Document;

/// Reads it as `run` does, up to the simulation.
///
/// # Panics
/// Where a reader is wrong, or a message names no file.
pub fn scenario(data: &[u8]) {
    // The reader of files refuses what is no UTF-8 before anything else sees it.
    let Ok(text) = std::str::from_utf8(data) else { return };
    let scenario = match Document::parse(text, FILE).and_then(|document| document.scenario()) {
        Ok(scenario) => scenario,
        Err(error) => return assert!(error.to_string().starts_with(FILE), "{error}"),
    };
    if let Err(error) = scenario.complete() {
        assert!(error.to_string().starts_with(FILE), "{error}");
    }
    let Ok(plans) = scenario.plans() else { return };
    for control in plans.iter().flat_map(|plan| &plan.controls) {
        // Its message begins with the control, which the file may call what it likes.
        let _ = Control::resolve(control);
    }
}

const FILE: &str = "fuzz.toml";
