//! The controls of other stacks beside ours on the same paths: Linux's cubic and BBR in a kernel in
//! virtual time beside the simulator's, quinn's Cubic and Bbr beside ours over quinn; and where
//! SEARCH and HyStart++ leave start-up on all three.
//!
//! What was measured is kept, one command in a file, and measured again with `--again`.

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Stop;
use crate::kept::Kept;
use crate::step::{self, announce};
use crate::tables::{head, measure, row, write_between};

/// Measures what is not kept, and writes the tables between the marks of the document.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let store = Kept::new(&step::target(root).join("stacks"));
    match args {
        [] => {}
        [again] if again == "--again" => {
            store.clear();
        }
        [other, ..] => {
            return Err(Stop::usage(&format!("stacks: found `{other}`; accepted: --again")));
        }
    }
    let kept = Compare { root, store, program: OnceCell::new() };
    let mut text = String::new();
    for compared in &COMPARED {
        compared.table(&kept, &mut text)?;
    }
    late(&kept, &mut text)?;
    write_between(root, DOCUMENT, (BEGIN, END), text.trim_end())?;
    println!("stacks: the tables of {DOCUMENT} are written");
    Ok(())
}

/// Results of `compare`, by its words.
struct Compare<'a> {
    root: &'a Path,
    store: Kept,
    program: OnceCell<PathBuf>,
}

impl Compare<'_> {
    /// The runs of `compare` with these words, measured if they are not kept.
    fn runs(&self, words: &[&str]) -> Result<Vec<Value>, Stop> {
        let key = words.join("\n");
        if let Some(runs) = self.store.get(&key) {
            return Ok(runs);
        }
        announce(&words.join(" "));
        let runs = measure(self.program()?, &[&["compare", "--json"], words].concat())?;
        self.store.put(&key, &runs)?;
        Ok(runs)
    }

    fn program(&self) -> Result<&Path, Stop> {
        if self.program.get().is_none() {
            announce("build");
            let _ = self.program.set(step::release(self.root, &["--features", "kernel"])?);
        }
        Ok(self.program.get().map_or(Path::new(""), PathBuf::as_path))
    }
}

/// A stack, the controls that are run on it, and how.
struct Stack {
    controls: &'static [&'static str],
    flags: &'static [&'static str],
}

impl Stack {
    /// The run of one control on a path.
    fn run(&self, kept: &Compare<'_>, course: &Course, control: &str) -> Result<Value, Stop> {
        let (rate, rtt, buffer) = *course;
        let path = ["--rate", rate, "--rtt", rtt, "--buffer", buffer];
        let runs = kept.runs(&[self.controls, &path[..], self.flags].concat())?;
        let place = self.controls.iter().position(|name| *name == control);
        let run = place.and_then(|place| runs.get(place));
        run.cloned().ok_or_else(|| Stop::failed(&format!("stacks: no run of {control}")))
    }
}

/// A control of another stack and ours, each where it is run.
struct Compared {
    title: &'static str,
    theirs: (&'static Stack, &'static str),
    ours: (&'static Stack, &'static str),
}

impl Compared {
    fn table(&self, kept: &Compare<'_>, text: &mut String) -> Result<(), Stop> {
        head(text, self.title, "path", &COLUMNS);
        for course in PATHS {
            let [theirs, ours] =
                [self.theirs, self.ours].map(|(stack, control)| stack.run(kept, course, control));
            let (theirs, ours) = (theirs?, ours?);
            let rates = [&theirs, &ours].map(mbps);
            let apart = 100.0 * (rates[1] / rates[0] - 1.0);
            let mark = if apart.abs() > APART { "**" } else { "" };
            let cells = [
                format!("{:.2}, {:.2}", rates[0], rates[1]),
                format!("{mark}{apart:+.1} %{mark}"),
                format!("{:.1}, {:.1}", carried(&theirs), carried(&ours)),
                format!("{}, {}", drops(&theirs), drops(&ours)),
                left(&theirs),
                left(&ours),
            ];
            let (rate, rtt, buffer) = course;
            row(text, &format!("{rate}, {rtt}, {buffer}"), cells.into_iter());
        }
        Ok(())
    }
}

/// Where start-ups leave that look for a queue, by buffer and stack.
fn late(kept: &Compare<'_>, text: &mut String) -> Result<(), Stop> {
    let names = LATE.map(|(name, _)| name);
    head(text, "SEARCH and HyStart++: where they leave, 10 Mbit/s, 100 ms", "control", &names);
    for control in LATE_CONTROLS {
        for buffer in ["50bdp", "5bdp", "4bdp"] {
            let cell = |(_, stack): &(&str, Stack)| {
                let run = stack.run(kept, &("10Mbps", "100ms", buffer), control)?;
                let flow = &run["flows"][0]["startup"];
                let mut cell = left(&run);
                if let Some(share) = flow["exit_window_over_bdp"].as_f64() {
                    let _ = write!(cell, ", {share:.2} BDP");
                }
                let _ = write!(cell, "; {} lost", drops(&run));
                Ok(cell)
            };
            let cells: Vec<String> = LATE.iter().map(cell).collect::<Result<_, Stop>>()?;
            row(text, &format!("`{control}`, {buffer}"), cells.into_iter());
        }
    }
    Ok(())
}

/// Why, when and with which window start-up was left.
fn left(run: &Value) -> String {
    let startup = &run["flows"][0]["startup"];
    let Some(time) = startup["exit_time_s"].as_f64() else { return "not told".to_owned() };
    let reason = startup["exit_reason"].as_str().unwrap_or_default();
    format!("{reason}, {time:.2} s, {}", startup["exit_cwnd_packets"])
}

fn mbps(run: &Value) -> f64 {
    run["total_throughput_bps"].as_f64().unwrap_or(f64::NAN) / 1e6
}

/// What the link was busy, in percent of the run.
fn carried(run: &Value) -> f64 {
    100.0 * run["bottleneck"]["utilization"].as_f64().unwrap_or(f64::NAN)
}

fn drops(run: &Value) -> &Value {
    &run["bottleneck"]["drops"]
}

/// Rate, RTT and buffer, in the words of the path flags.
type Course = (&'static str, &'static str, &'static str);

const DOCUMENT: &str = "docs/stacks.md";
const BEGIN: &str = "<!-- measured: cargo xtask stacks -->";
const END: &str = "<!-- end of what is measured -->";

const COLUMNS: [&str; 6] =
    ["Mbit/s: theirs, ours", "apart", "link busy, %", "drops", "theirs leaves start-up", "ours"];

/// Percent from which a difference is marked.
const APART: f64 = 5.0;

const PATHS: &[Course] = &[
    ("10Mbps", "20ms", "4bdp"),
    ("10Mbps", "100ms", "1bdp"),
    ("10Mbps", "300ms", "0.5bdp"),
    ("20Mbps", "50ms", "0.5bdp"),
    ("20Mbps", "100ms", "2bdp"),
    ("20Mbps", "200ms", "1bdp"),
    ("50Mbps", "20ms", "1bdp"),
    ("50Mbps", "50ms", "4bdp"),
    ("50Mbps", "100ms", "0.5bdp"),
];

const LINUX: Stack = Stack {
    controls: &["linux-cubic", "linux-bbr"],
    flags: &[
        "--on",
        "linux",
        "--virtual-time",
        "--link",
        "tun",
        "--packet",
        "1448B",
        "--delayed-ack",
        "2",
        "--duration",
        "12s",
    ],
};

const SIMULATED: Stack = Stack {
    controls: &["hystart", "bbr(preset=v1)"],
    flags: &["--packet", "1448B", "--delayed-ack", "2", "--duration", "12s"],
};

const QUINN: Stack = Stack {
    controls: &["quinn-cubic", "cubic", "quinn-bbr", QUINN_BBR],
    flags: &["--on", "quic", "--packet", "1200B", "--duration", "12s"],
};

/// With the initial window of quinn's Bbr.
const QUINN_BBR: &str = "bbr(preset=v1,iw=200pkt)";

const COMPARED: [Compared; 4] = [
    Compared {
        title: "Linux 6.1's cubic, and `hystart+cubic` simulated",
        theirs: (&LINUX, "linux-cubic"),
        ours: (&SIMULATED, "hystart"),
    },
    Compared {
        title: "Linux 6.1's BBR (version 1), and `bbr(preset=v1)+bbr` simulated",
        theirs: (&LINUX, "linux-bbr"),
        ours: (&SIMULATED, "bbr(preset=v1)"),
    },
    Compared {
        title: "quinn's Cubic, and `cubic` over quinn",
        theirs: (&QUINN, "quinn-cubic"),
        ours: (&QUINN, "cubic"),
    },
    Compared {
        title: "quinn's Bbr (version 1), and `bbr(preset=v1,iw=200pkt)+bbr` over quinn",
        theirs: (&QUINN, "quinn-bbr"),
        ours: (&QUINN, QUINN_BBR),
    },
];

const LATE_CONTROLS: &[&str] =
    &["search", "search(version=9)", "search(version=8)", "hystart-pp", "hystart-pp(css_rounds=1)"];

/// The stacks on which those are looked at.
const LATE: [(&str, Stack); 3] = [
    ("simulated TCP", Stack { controls: LATE_CONTROLS, flags: &["--duration", "5s"] }),
    ("quinn 0.11", Stack { controls: LATE_CONTROLS, flags: &["--on", "quic", "--duration", "5s"] }),
    (
        "Linux 6.1",
        Stack {
            controls: LATE_CONTROLS,
            flags: &["--on", "linux", "--virtual-time", "--link", "tun", "--duration", "5s"],
        },
    ),
];

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    /// A run that leaves start-up, at that many Mbit/s.
    fn run_at(mbps: f64) -> Value {
        let startup = json!({ "exit_time_s": 0.5, "exit_reason": "loss", "exit_cwnd_packets": 40 });
        json!({
            "total_throughput_bps": mbps * 1e6,
            "flows": [{ "startup": startup }],
            "bottleneck": { "drops": 7, "utilization": 0.875 },
        })
    }

    #[test]
    fn a_row_has_both_sides_and_marks_those_that_are_apart() {
        let folder =
            std::env::temp_dir().join(format!("firstflight-stacks-{}", std::process::id()));
        let store = Kept::new(&folder);
        for (rate, rtt, buffer) in PATHS {
            let path = ["--rate", rate, "--rtt", rtt, "--buffer", buffer];
            let words = [QUINN.controls, &path[..], QUINN.flags].concat();
            let runs = [10.0, 10.4, 10.0, 9.4].map(run_at);
            store.put(&words.join("\n"), &runs).unwrap();
        }
        let kept = Compare { root: &folder, store, program: OnceCell::new() };
        let table = |compared: &Compared| {
            let mut text = String::new();
            compared.table(&kept, &mut text).map(|()| text)
        };
        let exits = "loss, 0.50 s, 40 | loss, 0.50 s, 40 |";
        let near = table(&COMPARED[2]).unwrap();
        assert!(
            near.contains(&format!("| 10.00, 10.40 | +4.0 % | 87.5, 87.5 | 7, 7 | {exits}")),
            "{near}"
        );
        let far = table(&COMPARED[3]).unwrap();
        assert!(
            far.contains(&format!("| 10.00, 9.40 | **-6.0 %** | 87.5, 87.5 | 7, 7 | {exits}")),
            "{far}"
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn every_control_that_is_compared_is_run_on_its_stack() {
        for Compared { theirs, ours, .. } in &COMPARED {
            for (stack, control) in [theirs, ours] {
                assert!(stack.controls.contains(control), "{control}");
            }
        }
    }
}
