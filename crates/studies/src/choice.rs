//! Which control for which path: one small and one large transfer over typical paths, in virtual
//! time, by the simulator's TCP, quinn's stack and a Linux kernel, with each one's own controls
//! beside ours.
//!
//! The measurements are kept in one file, a run in a line, which `firstflight predict` reads too.
//! The tables of `docs/which-control.md` are written from it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Stop;
use crate::step::{self, announce};
use crate::tables::{between_marks, head, measure, row};

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
        announce("build");
        let features: &[&str] = if asked.linux { &["--features", "kernel"] } else { &[] };
        let program = step::release(root, features)?;
        for transport in TRANSPORTS.iter().filter(|it| asked.linux || it.on != "linux") {
            announce(transport.title);
            transport.measure(&program, &mut kept, asked.missing)?;
        }
    }
    let file = root.join(DOCUMENT);
    let old = fs::read_to_string(&file).map_err(|error| step::unable(DOCUMENT, &error))?;
    fs::write(&file, page(&old, &kept)?).map_err(|error| step::unable(DOCUMENT, &error))?;
    println!("choice: the tables of {DOCUMENT} are written from {DATA}");
    Ok(())
}

/// The document with its tables as the measurements give them.
fn page(old: &str, kept: &Kept) -> Result<String, Stop> {
    TRANSPORTS.iter().try_fold(old.to_owned(), |page, transport| {
        let mark = transport.mark();
        between_marks(&page, (&mark, END), &transport.table(kept))
            .ok_or_else(|| Stop::failed(&format!("{DOCUMENT}: no lines `{mark}` and `{END}`")))
    })
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
    fn keep(&mut self, asked: &Value, runs: &[Value], controls: &[&str]) -> Result<(), Stop> {
        self.runs.retain(|run| &run["asked"] != asked);
        self.runs.extend(runs.iter().zip(controls).map(|(run, control)| {
            json!({
                "asked": asked,
                "control": control,
                "seconds": run["flows"][0]["completion_time_s"],
                "drops": run["bottleneck"]["drops"],
                "peak_queue": run["bottleneck"]["peak_queue_packets"],
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
    let transport = TRANSPORTS.iter().position(|transport| asked["on"] == transport.on);
    let control = transport
        .and_then(|it| TRANSPORTS[it].controls.iter().position(|name| run["control"] == *name));
    let path =
        PATHS.iter().position(|path| path.key().iter().all(|(key, value)| asked[*key] == *value));
    [transport, path, SIZES.iter().position(|size| asked["size"] == *size), control]
}

/// Who carries the transfers, and the controls that are compared on it.
struct Transport {
    on: &'static str,
    title: &'static str,
    flags: &'static [&'static str],
    controls: &'static [&'static str],
}

impl Transport {
    fn mark(&self) -> String {
        format!("<!-- measured on {}: cargo xtask choice -->", self.on)
    }

    /// What is asked for in a row: the transport, the path and the size.
    fn asked(&self, path: &Course, size: &str) -> Value {
        let mut asked = json!({ "on": self.on, "size": size });
        for (key, value) in path.key() {
            asked[key] = value.into();
        }
        asked
    }

    /// Measures every row, or those of which a control is `missing`.
    fn measure(&self, program: &Path, kept: &mut Kept<'_>, missing: bool) -> Result<(), Stop> {
        for path in PATHS {
            for size in SIZES {
                let asked = self.asked(path, size);
                let has = |control: &&str| kept.find(&asked, control).is_some();
                if missing && self.controls.iter().all(has) {
                    continue;
                }
                let mut words = vec!["compare"];
                words.extend(self.controls);
                words.extend(["--json", "--on", self.on, "--size", size, "--duration", "120s"]);
                words.extend(self.flags);
                words.extend(["--rate", path.rate, "--rtt", path.rtt]);
                words.extend(["--buffer", path.buffer, "--loss", path.loss]);
                kept.keep(&asked, &measure(program, &words)?, self.controls)?;
            }
        }
        Ok(())
    }

    /// The table of what there is; nothing where there is nothing.
    fn table(&self, kept: &Kept<'_>) -> String {
        let mut text = String::new();
        let rows = PATHS.iter().flat_map(|path| SIZES.map(|size| (path, size)));
        for (path, size) in rows {
            let asked = self.asked(path, size);
            let runs = self.controls.iter().map(|control| kept.find(&asked, control));
            let Some(runs) = runs.collect::<Option<Vec<&Value>>>() else { continue };
            if text.is_empty() {
                head(&mut text, self.title, "time (packets dropped)", self.controls);
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

/// A typical path, in the words of the path flags.
struct Course {
    name: &'static str,
    rate: &'static str,
    rtt: &'static str,
    buffer: &'static str,
    loss: &'static str,
}

impl Course {
    const fn new(name: &'static str, rate: &'static str, rtt: &'static str) -> Self {
        Self { name, rate, rtt, buffer: "1bdp", loss: "0%" }
    }

    fn key(&self) -> [(&'static str, &'static str); 4] {
        [("rate", self.rate), ("rtt", self.rtt), ("buffer", self.buffer), ("loss", self.loss)]
    }
}

const DOCUMENT: &str = "docs/which-control.md";
/// In the command's crate, so that its package has it.
const DATA: &str = "crates/cli/src/predict/measured.json";
const END: &str = "<!-- end of what is measured -->";

const SIZES: [&str; 2] = ["1MB", "20MB"];

const PATHS: &[Course] = &[
    Course::new("100 Mbit/s, 20 ms", "100Mbps", "20ms"),
    Course::new("40 Mbit/s, 150 ms", "40Mbps", "150ms"),
    Course { buffer: "0.25bdp", ..Course::new("100 Mbit/s, 100 ms, 0.25 BDP", "100Mbps", "100ms") },
    Course::new("50 Mbit/s, 600 ms", "50Mbps", "600ms"),
    Course { loss: "0.5%", ..Course::new("12 Mbit/s, 600 ms, 0.5 % loss", "12Mbps", "600ms") },
];

const TRANSPORTS: [Transport; 3] = [
    Transport {
        on: "sim",
        title: "The simulator's TCP, profile `linux`, two packets an ACK",
        flags: &["--packet", "1448B", "--delayed-ack", "2"],
        controls: &[
            "newreno",
            "hystart",
            "hystart-pp",
            "search",
            "suss",
            "rapid-start",
            "hoe+cubic",
            "astart",
            "mstart",
        ],
    },
    Transport {
        on: "quic",
        title: "quinn 0.11",
        flags: &["--packet", "1200B"],
        controls: &[
            "quinn-newreno",
            "quinn-cubic",
            "cubic",
            "hystart-pp",
            "search",
            "hoe+cubic",
            "astart",
            "mstart",
        ],
    },
    Transport {
        on: "linux",
        title: "Debian's Linux in virtual time",
        flags: &["--virtual-time", "--link", "tun", "--packet", "1448B", "--delayed-ack", "2"],
        controls: &[
            "linux-reno",
            "linux-cubic",
            "linux-bbr",
            "hystart-pp",
            "hoe+cubic",
            "astart",
            "mstart",
        ],
    },
];

#[cfg(test)]
mod sentences;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_page_are_those_of_the_measurements() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join(DATA);
        let kept = Kept::load(&file).unwrap_or_else(|_| panic!("{DATA}"));
        let old = fs::read_to_string(root.join(DOCUMENT)).unwrap();
        assert!(page(&old, &kept).is_ok_and(|new| new == old), "cargo xtask choice --page");
        let places: Vec<_> = kept.runs.iter().map(place).collect();
        assert!(places.iter().flatten().all(Option::is_some), "a run that no table has");
        assert!(places.is_sorted(), "sorted as the tables are");
    }

    #[test]
    fn a_row_that_lacks_a_control_is_left_out() {
        let (transport, path) = (&TRANSPORTS[0], &PATHS[0]);
        let asked = transport.asked(path, SIZES[0]);
        let numbers = json!({ "seconds": 1.0, "drops": 2, "peak_queue": 3 });
        let run = |control: &&str| {
            let mut run = numbers.clone();
            (run["asked"], run["control"]) = (asked.clone(), (*control).into());
            run
        };
        let mut kept = Kept { file: Path::new(""), runs: vec![] };
        kept.runs.extend(transport.controls.iter().skip(1).map(run));
        assert_eq!(transport.table(&kept), "");
        kept.runs.push(run(&transport.controls[0]));
        assert!(transport.table(&kept).contains("1MB | 1.00 s (2) |"));
    }
}
