//! The bill of materials: what is inside a program, as CycloneDX 1.6 writes it.
//!
//! Not cargo-cyclonedx (0.5.9): its list names folders of the machine that builds, lists macros and
//! our own crates, differs with every run, and it leaves a file beside the manifest of every crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Stop;
use crate::deb::licences;
use crate::notes::VERSION;
use crate::step::unable;

/// The libraries of others in what is built, as of [`licences::libraries`], with the checksums of
/// their packages. Equal sources have equal bills: it has neither a time nor a number of its own.
pub(super) fn bill(root: &Path, built: &[&str]) -> Result<Value, Stop> {
    let sums = checksums(root)?;
    let libraries = licences::libraries(root, built)?;
    let mut components: Vec<Value> = libraries.iter().map(|one| component(one, &sums)).collect();
    components.push(plotly(root)?);
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": "firstflight",
            "name": "firstflight",
            "version": VERSION,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        }},
        "components": components,
    }))
}

fn component(package: &Value, sums: &BTreeMap<String, String>) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let purl = format!("pkg:cargo/{name}@{version}");
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "description": text("description").trim(),
        // Older manifests write `MIT/Apache-2.0`, which is no expression of SPDX's.
        "licenses": [{ "expression": text("license").replace('/', " OR ") }],
        "purl": purl,
    });
    if let Some(sum) = sums.get(&purl) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    if let Some(url) = package["repository"].as_str() {
        component["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
    }
    component
}

/// The text that reports hold, whole or its basic bundle, which is in no crate that is linked.
fn plotly(root: &Path) -> Result<Value, Stop> {
    let lock = fs::read_to_string(root.join("web/package-lock.json"));
    let lock = lock.map_err(|error| unable("web/package-lock.json", &error))?;
    let lock: Value = serde_json::from_str(&lock)
        .map_err(|error| Stop::failed(&format!("web/package-lock.json: {error}")))?;
    let package = &lock["packages"]["node_modules/plotly.js-basic-dist-min"];
    let (Some(version), Some(licence)) = (package["version"].as_str(), package["license"].as_str())
    else {
        return Err(Stop::failed("web/package-lock.json: plotly.js-basic-dist-min is missing"));
    };
    let purl = format!("pkg:npm/plotly.js@{version}");
    Ok(json!({
        "type": "library",
        "bom-ref": purl,
        "name": "plotly.js",
        "version": version,
        "licenses": [{ "expression": licence }],
        "purl": purl,
    }))
}

/// What the lock file has of every package from a registry.
fn checksums(root: &Path) -> Result<BTreeMap<String, String>, Stop> {
    let lock = fs::read_to_string(root.join("Cargo.lock"));
    let lock = lock.map_err(|error| unable("Cargo.lock", &error))?;
    let lock: toml::Table = lock
        .parse()
        .map_err(|error: toml::de::Error| Stop::failed(&format!("Cargo.lock: {error}")))?;
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let sum = |package: &toml::Value| {
        let text = |key: &str| package.get(key)?.as_str();
        let purl = format!("pkg:cargo/{}@{}", text("name")?, text("version")?);
        Some((purl, text("checksum")?.to_owned()))
    };
    Ok(packages.filter_map(sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_in_the_program_are_listed_with_licence_and_checksum() {
        let bill = bill(&crate::root(), &super::super::INSIDE).unwrap();
        let components = bill["components"].as_array().unwrap();
        let named = |name: &str| components.iter().any(|one| one["name"] == name);
        assert!(named("clap") && named("quinn-proto"), "{bill}");
        assert!(!named("libbpf-sys") && !named("serde_derive") && !named("firstflight-core"));
        assert!(named("plotly.js") && !named("plotly"), "{bill}");
        for one in components.iter().filter(|one| one["hashes"].is_array()) {
            let licence = one["licenses"][0]["expression"].as_str().unwrap();
            assert!(!licence.is_empty() && !licence.contains('/'), "{one}");
            assert_eq!(one["hashes"][0]["content"].as_str().unwrap().len(), 64, "{one}");
        }
        let without = components.iter().filter(|one| one["hashes"].is_null()).count();
        assert_eq!(without, 1, "plotly.js alone is no crate: {bill}");
    }
}
