//! Which control for which path: one small and one large transfer over typical paths, in virtual
//! time, by the simulator's TCP, quinn's stack and a Linux kernel, with each one's own controls
//! beside ours.
//!
//! The measurements are kept in one file, a run in a line, which `firstflight predict` reads too.
//! The tables of `docs/which-control.md` are written from it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use firstflight_runner::{Options, RunError, Transport as Carrier};
use firstflight_scenario::{PathFlags, Scenario};
use firstflight_transports::On;
use serde_json::{Value, json};

use crate::Stop;
use crate::runs::{Run, guests, of_guests, on};
use crate::step::{self, announce};
use crate::tables::{head, row, write_parts};

/// What was asked for.
#[derive(Debug, clap::Parser)]
#[command(name = "choice", no_binary_name = true)]
struct Asked {
    /// In the kernel too.
    #[arg(long)]
    linux: bool,
    /// Only rows of which a control is missing.
    #[arg(long)]
    missing: bool,
    /// Measures nothing, and writes the page from what is kept.
    #[arg(long)]
    page: bool,
}

/// Measures, keeps what was measured, and writes the tables between the marks of the document.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let asked: Asked = crate::options(args)?;
    let data = root.join(DATA);
    let mut kept = Kept::load(&data)?;
    if !asked.page {
        for transport in ASKED.transport.iter().filter(|it| asked.linux || it.on != "linux") {
            announce(&transport.title);
            let lacks = |error: RunError| Stop::lacks(&error.to_string());
            let carrier: Arc<dyn Carrier> = match transport.on.as_str() {
                "linux" => {
                    let words = "linux --virtual-time --link tun";
                    Arc::new(guests(words, &of_guests(root, PROGRAMS)?).map_err(lacks)?)
                }
                name => On::named(name).transport().map_err(lacks)?,
            };
            transport.measure(&*carrier, &mut kept, asked.missing)?;
        }
    }
    write_parts(root, DOCUMENT, "choice", &parts(&kept))?;
    println!("choice: the tables of {DOCUMENT} are written from {DATA}");
    Ok(())
}

/// The tables of the document as the measurements give them.
fn parts<'a>(kept: &Kept) -> Vec<(&'a str, String)> {
    ASKED.transport.iter().map(|it| (it.on.as_str(), it.table(kept))).collect()
}

/// All runs that were measured, in the file that holds them.
struct Kept<'a> {
    file: &'a Path,
    runs: Vec<Value>,
}

impl<'a> Kept<'a> {
    fn load(file: &'a Path) -> Result<Self, Stop> {
        let text = fs::read_to_string(file).map_err(|error| step::unable(DATA, &error))?;
        let runs = serde_json::from_str(&text)
            .map_err(|error| Stop::failed(&format!("{DATA}: {error}")))?;
        Ok(Self { file, runs })
    }

    /// The run of a control, by what was asked for.
    fn find(&self, asked: &Value, control: &str) -> Option<&Value> {
        self.runs.iter().find(|run| &run["asked"] == asked && run["control"] == control)
    }

    /// Keeps a run in place of the one before it, and all of them in the file, so that an
    /// interruption loses one row.
    fn keep(&mut self, asked: &Value, runs: &[Run], controls: &[String]) -> Result<(), Stop> {
        self.runs.retain(|run| &run["asked"] != asked);
        self.runs.extend(runs.iter().zip(controls).map(|(Run { result, .. }, control)| {
            json!({
                "asked": asked,
                "control": control,
                "seconds": result.flows[0].completion_time_s,
                "drops": result.bottleneck.drops,
                "peak_queue": result.bottleneck.peak_queue_packets,
            })
        }));
        self.runs.sort_by_key(place);
        let lines: Vec<String> = self.runs.iter().map(Value::to_string).collect();
        let text = format!("[\n{}\n]\n", lines.join(",\n"));
        fs::write(self.file, text).map_err(|error| step::unable(DATA, &error))
    }
}

/// Where a run stands among all: as the tables have it.
fn place(run: &Value) -> [Option<usize>; 4] {
    let asked = &run["asked"];
    let transport = ASKED.transport.iter().position(|it| asked["on"] == it.on.as_str());
    let control = transport.and_then(|it| {
        ASKED.transport[it].controls.iter().position(|name| run["control"] == name.as_str())
    });
    let is_on = |path: &Course| path.key().iter().all(|(key, value)| asked[*key] == value.as_str());
    let size = ASKED.sizes.iter().position(|size| asked["size"] == size.as_str());
    [transport, ASKED.path.iter().position(is_on), size, control]
}

/// `validation/choice.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Transfers {
    sizes: Vec<String>,
    path: Vec<Course>,
    transport: Vec<Transport>,
}

static ASKED: LazyLock<Transfers> = LazyLock::new(|| {
    let read = toml::from_str(include_str!("../../../validation/choice.toml"));
    read.unwrap_or_else(|error| panic!("validation/choice.toml: {error}"))
});

/// Who carries the transfers, and the controls that are compared on it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Transport {
    on: String,
    title: String,
    /// Flags of `compare`.
    flags: BTreeMap<String, String>,
    controls: Vec<String>,
}

/// A typical path, in the words of the path flags.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Course {
    name: String,
    rate: String,
    rtt: String,
    buffer: Option<String>,
    loss: Option<String>,
}

impl Course {
    fn key(&self) -> [(&'static str, String); 4] {
        let or = |value: &Option<String>, usual: &str| value.clone().unwrap_or(usual.to_owned());
        let (buffer, loss) = (or(&self.buffer, "1bdp"), or(&self.loss, "0%"));
        [("rate", self.rate.clone()), ("rtt", self.rtt.clone()), ("buffer", buffer), ("loss", loss)]
    }
}

impl Transport {
    /// What is asked for in a row: the transport, the path and the size.
    fn asked(&self, path: &Course, size: &str) -> Value {
        let mut asked = json!({ "on": self.on, "size": size });
        for (key, value) in path.key() {
            asked[key] = value.into();
        }
        asked
    }

    /// Measures every row, or those of which a control is `missing`.
    fn measure(
        &self,
        carrier: &dyn Carrier,
        kept: &mut Kept<'_>,
        missing: bool,
    ) -> Result<(), Stop> {
        for path in &ASKED.path {
            for size in &ASKED.sizes {
                let asked = self.asked(path, size);
                let has = |control: &String| kept.find(&asked, control).is_some();
                if missing && self.controls.iter().all(has) {
                    continue;
                }
                let mut flags = PathFlags::default();
                let own = [("size", size.clone()), ("duration", "120s".to_owned())];
                let more = self.flags.iter().map(|(name, value)| (name.as_str(), value.clone()));
                for (name, value) in own.into_iter().chain(path.key()).chain(more) {
                    flags.set(&format!("--{name}"), value);
                }
                let scenario = Scenario::from_flags(&flags, &self.controls);
                let scenario = scenario.map_err(|error| Stop::failed(&error.to_string()))?;
                let runs = on(carrier, &scenario, Options::default())?;
                kept.keep(&asked, &runs, &self.controls)?;
            }
        }
        Ok(())
    }

    /// The table of what there is; nothing where there is nothing.
    fn table(&self, kept: &Kept<'_>) -> String {
        let mut text = String::new();
        let rows = ASKED.path.iter().flat_map(|path| ASKED.sizes.iter().map(move |it| (path, it)));
        for (path, size) in rows {
            let asked = self.asked(path, size);
            let runs = self.controls.iter().map(|control| kept.find(&asked, control));
            let Some(runs) = runs.collect::<Option<Vec<&Value>>>() else { continue };
            if text.is_empty() {
                let names: Vec<&str> = self.controls.iter().map(String::as_str).collect();
                head(&mut text, &self.title, "time (packets dropped)", &names);
            }
            row(&mut text, &format!("{}, {size}", path.name), runs.into_iter().map(cell));
        }
        text
    }
}

/// Seconds until all was acknowledged, and the packets that the bottleneck dropped.
fn cell(run: &Value) -> String {
    let mut text = String::new();
    let _ = match run["seconds"].as_f64() {
        Some(seconds) => write!(text, "{seconds:.2} s"),
        None => write!(text, "over 120 s"),
    };
    let _ = write!(text, " ({})", run["drops"]);
    text
}

const DOCUMENT: &str = "docs/which-control.md";
/// In the crate that answers `predict`, so that its package has it.
const DATA: &str = "crates/answers/src/predict/measured.json";
const PROGRAMS: &str = "firstflight-out/choice";

#[cfg(test)]
mod tests;
