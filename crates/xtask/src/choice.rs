//! The tables of `docs/which-control.md`: one small and one large transfer over typical paths, in
//! virtual time, by the simulator's TCP, quinn's stack and a Linux kernel, with each one's own
//! controls beside ours.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Stop;
use crate::step::{self, announce};
use crate::tables::{between_marks, head, measure, row};

/// Measures, and writes the tables between the marks of the document.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let linux = match args {
        [] => false,
        [flag] if flag == "--linux" => true,
        [other, ..] => {
            return Err(Stop::usage(&format!("choice: found `{other}`; accepted: --linux")));
        }
    };
    announce("build");
    let program = step::release(root, if linux { &["--features", "kernel"] } else { &[] })?;
    let file = root.join(DOCUMENT);
    let mut page = fs::read_to_string(&file).map_err(|error| step::unable(DOCUMENT, &error))?;
    for transport in TRANSPORTS.iter().filter(|transport| linux || transport.on != "linux") {
        announce(transport.title);
        let text = transport.tables(&program)?;
        let marks = (transport.mark(), END);
        page = between_marks(&page, (&marks.0, marks.1), &text).ok_or_else(|| {
            Stop::failed(&format!("{DOCUMENT}: no lines `{}` and `{END}`", marks.0))
        })?;
        fs::write(&file, &page).map_err(|error| step::unable(DOCUMENT, &error))?;
    }
    println!("choice: the tables of {DOCUMENT} are written");
    Ok(())
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

    fn tables(&self, program: &Path) -> Result<String, Stop> {
        let mut text = String::new();
        head(&mut text, self.title, "path and size", self.controls);
        for (name, path) in PATHS {
            for size in SIZES {
                let mut words = vec!["compare"];
                words.extend(self.controls);
                words.extend(["--json", "--on", self.on, "--size", size, "--duration", "120s"]);
                words.extend(self.flags.iter().chain(path.iter()));
                let runs = measure(program, &words)?;
                row(&mut text, &format!("{name}, {size}"), runs.iter().map(cell));
            }
        }
        Ok(text)
    }
}

/// Seconds until all was acknowledged, packets dropped, the longest queue in packets.
fn cell(run: &Value) -> String {
    let mut text = String::new();
    let seconds = run["flows"][0]["completion_time_s"].as_f64();
    let _ = match seconds {
        Some(seconds) => write!(text, "{seconds:.2} s"),
        None => write!(text, "over 120 s"),
    };
    let count = |key: &str| run["bottleneck"][key].as_u64().unwrap_or(0);
    let _ = write!(text, ", {}, {}", count("drops"), count("peak_queue_packets"));
    text
}

const DOCUMENT: &str = "docs/which-control.md";
const END: &str = "<!-- end of what is measured -->";

const SIZES: [&str; 2] = ["1MB", "20MB"];

const PATHS: &[(&str, &[&str])] = &[
    ("100 Mbit/s, 20 ms", &["--rate", "100Mbps", "--rtt", "20ms"]),
    ("40 Mbit/s, 150 ms", &["--rate", "40Mbps", "--rtt", "150ms"]),
    (
        "100 Mbit/s, 100 ms, 0.25 BDP",
        &["--rate", "100Mbps", "--rtt", "100ms", "--buffer", "0.25bdp"],
    ),
    ("50 Mbit/s, 600 ms", &["--rate", "50Mbps", "--rtt", "600ms"]),
    ("12 Mbit/s, 600 ms, 0.5 % loss", &["--rate", "12Mbps", "--rtt", "600ms", "--loss", "0.5%"]),
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
        flags: &["--virtual-time", "--packet", "1448B", "--delayed-ack", "2"],
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
