//! Two programs of any make as the ends of a scenario's path. What is measured comes from the link:
//! the flow that carried the most in the direction of the data is the transfer.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{self, Duration};

use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_results::{Counts, FlowContext, FlowOutcome, FlowResult, LabFigures, RunResult};
use firstflight_runner::{Report, Run};
use firstflight_scenario::{Complete, Scenario, Size, complete};
use serde::{Deserialize, Serialize};

use crate::bed::LinkKind;
use crate::job::{self, link_spec};
use crate::link::{DirectionSpec, FlowSeen, LinkReport, LinkSpec};
use crate::outcome::{bottleneck, lab_figures};
use crate::tool::{self, Carried, LinkEnds, Prints};
use crate::trace;
use firstflight_runner::RunError;

/// What runs at the ends, by `sh -c`. [`PLACEHOLDERS`] in either are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Programs {
    /// Runs first, and ends with the run.
    pub server: String,
    /// Runs when the server listens; its end is the run's.
    pub client: String,
    /// The client sends the data, not the server.
    pub upload: bool,
    /// The folder in which both run; it is made if it is not there.
    pub folder: PathBuf,
}

/// What is replaced in the commands, and by what.
pub const PLACEHOLDERS: [(&str, &str); 6] = [
    ("{address}", "the server's address"),
    ("{port}", "a port for it, 4433"),
    ("{bytes}", "how much the scenario transfers"),
    ("{folder}", "a folder with a file of so many bytes"),
    ("{file}", "that file's name"),
    ("{qlog}", "a folder for qlogs"),
];

/// Runs the programs over the scenario's path, once.
///
/// # Errors
/// The scenario asks for what two programs are not told, the machine lacks something, or told to
/// stop. A program that fails is in the result's note.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    samples: Option<u32>,
    programs: &Programs,
    stop: &AtomicBool,
) -> Result<Report, RunError> {
    let begun = time::Instant::now();
    let complete = complete(scenario)?;
    let link = spec(&complete, seed, samples, programs.upload);
    let [server, client] = [&programs.server, &programs.client].map(|line| {
        let line = replaced(line, complete.flows[0].size.map_or(0, Size::bytes));
        vec!["sh".to_owned(), "-c".to_owned(), line]
    });
    make_folders(programs, &complete.flows[0])?;
    let ends = LinkEnds {
        near: client,
        far: server,
        duration: Some(Duration::from_nanos(complete.duration.ns())),
        prints: Prints::Files(PRINTED.into()),
        patience: Some(PATIENCE),
        linger: if programs.server.contains("{qlog}") { LINGER } else { Duration::ZERO },
        ..LinkEnds::default()
    };
    let carried = tool::carry(&link, &ends, stop, || {})?;
    if carried.interrupted {
        return Err(RunError::Interrupted);
    }
    let way = if programs.upload { &carried.link.forward } else { &carried.link.backward };
    let measured =
        TransferOnLink { complete: &complete, carried: &carried, flow: way.largest_flow, seed };
    let result = measured.result(way, begun.elapsed());
    let queues = samples.map(|_| trace::queue_series(&way.depth)).into_iter().collect();
    let run = Run::new(result, Vec::new(), queues);
    Ok(Report::new(complete, vec![run], false))
}

/// A run that came to nothing, and why: the guest in which the programs ran is gone.
pub fn broken(why: String) -> Run {
    let lab = LabFigures { generator: GENERATOR.to_owned(), ..LabFigures::default() };
    let flow = FlowResult { control: NAME.to_owned(), ..FlowResult::default() };
    let result = RunResult {
        control: NAME.to_owned(),
        transport: "linux".to_owned(),
        note: Some(why),
        lab: Some(lab),
        ..RunResult::of_flows(vec![flow], 0, (Duration::ZERO, 0))
    };
    Run::new(result, Vec::new(), Vec::new())
}

/// The complete scenario, if two programs can be given it.
///
/// # Errors
/// What they cannot be told.
pub fn complete(scenario: &Scenario) -> Result<Complete, RunError> {
    let complete = job::complete(scenario)?;
    let no = |problem: &str| {
        Err(RunError::Input(format!(
            "two programs make one transfer on a path of their own{problem}"
        )))
    };
    let [flow] = &complete.flows[..] else { return no("; the scenario has several flows") };
    let alone = flow.count == 1 && complete.udp.is_empty() && flow.control.is_none();
    match () {
        () if !alone => no("; the scenario has others on it"),
        () if flow.size.map(Size::bytes).is_none() => {
            no(" of a given size; the scenario's has none")
        }
        () if flow.start_until.ns() > 0 || flow.stop.is_some() => no("; the scenario has times"),
        () if flow.receiver_window.map(Size::bytes).is_some() => {
            no("; nobody limits its receiver's window")
        }
        () => Ok(complete),
    }
}

/// The scenario's link between client and server, with the bottleneck in the direction of the data.
fn spec(complete: &Complete, seed: u64, samples: Option<u32>, upload: bool) -> LinkSpec {
    let link = link_spec(complete, seed);
    let every =
        |samples: u32| (complete.duration.ns() / u64::from(samples.max(1))).max(MILLISECOND);
    let data = DirectionSpec {
        header_bytes: None,
        by_flow: true,
        begins_with_traffic: true,
        ..link.forward
    };
    let back = DirectionSpec { begins_with_traffic: true, ..link.backward };
    let (forward, backward) = match upload {
        true => (data, back),
        false => (back, data),
    };
    // Nobody else wants the processor of a guest.
    LinkSpec { forward, backward, spin_ns: 0, depth_every_ns: samples.map(every), ..link }
}

fn replaced(line: &str, bytes: u64) -> String {
    let (_, address) = tool::addresses();
    let values =
        [address.to_string(), PORT.to_string(), bytes.to_string(), FOLDER.into(), FILE.into()];
    let values = values.into_iter().chain([QLOGS.into()]);
    let pairs = PLACEHOLDERS.iter().zip(values);
    pairs.fold(line.to_owned(), |line, ((name, _), value)| line.replace(name, &value))
}

fn make_folders(programs: &Programs, flow: &complete::Flow) -> Result<(), RunError> {
    let make = || {
        for folder in [FOLDER, QLOGS, PRINTED] {
            fs::create_dir_all(folder)?;
        }
        fs::create_dir_all(&programs.folder)?;
        std::env::set_current_dir(&programs.folder)?;
        // It has a size and takes no room.
        File::create(Path::new(FOLDER).join(FILE))?.set_len(flow.size.map_or(0, Size::bytes))
    };
    make().map_err(|error: std::io::Error| {
        RunError::Failed(format!("the programs' folders: {error}"))
    })
}

/// What the link saw of the transfer.
struct TransferOnLink<'a> {
    complete: &'a Complete,
    carried: &'a Carried,
    flow: Option<FlowSeen>,
    seed: u64,
}

impl TransferOnLink<'_> {
    fn result(&self, way: &crate::link::DirectionReport, wall: Duration) -> RunResult {
        let (complete, link) = (self.complete, &self.carried.link);
        let spec = &complete.links[0];
        let rtt_ns = spec.delay.ns() + spec.return_delay.ns();
        let seen = self.flow.unwrap_or_default();
        let context = FlowContext {
            start: Instant(seen.first_ns),
            period: Span(seen.last_ns.saturating_sub(seen.first_ns)),
            packet_bytes: complete.packet.bytes(),
            rate_bps: Some(complete.capacity().most_bps(&[0], seen.first_ns, seen.last_ns)),
            bdp_bytes: Some(complete.bdp_bytes(&[0], complete.path_bps(&[0]))),
        };
        let flow = FlowOutcome {
            delivered_packets: seen.delivered_packets,
            delivered_bytes: Bytes(seen.delivered_bytes),
            counts: Counts { sent_packets: seen.packets, ..Counts::default() },
            finished_at: self.is_done().then_some(Instant(seen.last_ns)),
            ..FlowOutcome::default()
        };
        let flow = FlowResult { control: NAME.to_owned(), ..FlowResult::of(&flow, context) };
        RunResult {
            control: NAME.to_owned(),
            alias: NAME.to_owned(),
            transport: "linux".to_owned(),
            profile: complete.endpoint.profile.to_string(),
            seed: self.seed,
            bottleneck: bottleneck(way),
            note: self.note(link, rtt_ns),
            lab: Some(lab_figures(link, LinkKind::Tun, GENERATOR, rtt_ns)),
            ..RunResult::of_flows(
                vec![flow],
                complete.duration.ns(),
                (wall, link.forward.offered_packets + link.backward.offered_packets),
            )
        }
    }

    /// All was handed on, and the client says that all is well.
    fn is_done(&self) -> bool {
        let wanted = self.complete.flows[0].size.map_or(0, Size::bytes);
        let came = self.flow.is_some_and(|seen| seen.delivered_bytes >= wanted);
        came && self.carried.near_exit == Some(0)
    }

    /// How the programs ended, unless all is well, with the last that they printed.
    fn note(&self, link: &LinkReport, rtt_ns: u64) -> Option<String> {
        if self.is_done() {
            return link.disturbance(rtt_ns);
        }
        let seconds = self.complete.duration.ns() as f64 / 1e9;
        let client = match self.carried.near_exit {
            None => format!("the client had not ended after {seconds} s of its time"),
            Some(NOT_FOUND) => format!(
                "the client ended with code {NOT_FOUND}: a program is missing, or an endpoint for \
                 the interop runner has no such test case"
            ),
            Some(code) => format!("the client ended with code {code}"),
        };
        let server = self.carried.far_exit.map(|code| format!("the server ended with code {code}"));
        let wanted = self.complete.flows[0].size.map_or(0, Size::bytes);
        let came = self.flow.map_or(0, |seen| seen.delivered_bytes);
        let came = format!("{came} of {wanted} bytes came");
        let said = [("client", "near"), ("server", "far")].into_iter().filter_map(|(who, file)| {
            let said = last_words(&fs::read(Path::new(PRINTED).join(file)).unwrap_or_default());
            (!said.is_empty()).then(|| format!("the {who} said: {said}"))
        });
        let parts = std::iter::once(client).chain(server).chain([came]).chain(said);
        Some(parts.collect::<Vec<_>>().join("; "))
    }
}

/// The last lines of what a program printed, as one.
fn last_words(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(&printed[printed.len().saturating_sub(MOST_SAID)..]);
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(MOST_LINES)..].join(" | ");
    last.chars().map(plain).collect()
}

/// Where a program is told to leave its qlogs.
pub const QLOGS: &str = "/firstflight/qlog";
const FOLDER: &str = "/firstflight/files";
const PRINTED: &str = "/firstflight/printed";
const FILE: &str = "transfer";
const PORT: u16 = 4433;
/// What results call the two programs; who asked has a better name.
const NAME: &str = "programs";
/// What sends, as results name it.
pub const GENERATOR: &str = "programs";
/// For a server to listen.
const PATIENCE: Duration = Duration::from_secs(20);
/// For a server to write its qlog when the connection is closed.
const LINGER: Duration = Duration::from_secs(10);
const MILLISECOND: u64 = 1_000_000;
/// The exit code of a shell that finds no program, and of the interop runner's endpoints that do
/// not know a test case.
const NOT_FOUND: i32 = 127;
/// What is read of the end of what a program printed.
const MOST_SAID: usize = 1_000;
const MOST_LINES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(more: &str) -> Result<Complete, String> {
        let text = format!("controls = ['linux-reno']\n{more}");
        let scenario = Scenario::parse(&text, "x.toml").map_err(|error| error.to_string())?;
        complete(&scenario).map_err(|error| error.to_string())
    }

    #[test]
    fn one_transfer_of_a_given_size_alone_on_its_path_is_accepted() {
        assert!(completed("[[flow]]\nsize = '1MB'").is_ok());
        for (more, word) in [
            ("", "a given size"),
            ("[[flow]]\nsize = '1MB'\ncount = 2", "others"),
            ("[[flow]]\nsize = '1MB'\n[[flow]]\nsize = '1MB'", "several flows"),
            ("[[flow]]\nsize = '1MB'\n[[udp]]\nrate = '1Mbps'", "others"),
            ("[[flow]]\nsize = '1MB'\nreceiver_window = '64KB'", "window"),
        ] {
            let problem = completed(more).unwrap_err();
            assert!(problem.contains(word), "{problem}");
        }
    }

    #[test]
    fn the_bottleneck_is_in_the_direction_of_the_data() {
        let complete = completed("[path]\nrate = '8Mbps'\n[[flow]]\nsize = '1MB'").unwrap();
        let [up, down] = [true, false].map(|upload| spec(&complete, 1, Some(10), upload));
        assert!(up.forward.rate.is_some() && up.forward.by_flow && up.backward.rate.is_none());
        assert!(down.backward.rate.is_some() && down.forward.rate.is_none());
        assert_eq!(up.forward.delay_ns, down.backward.delay_ns);
    }

    #[test]
    fn words_in_braces_are_replaced_and_others_stay() {
        let line = replaced("get {address}:{port}/{file} -n {bytes} > {qlog}/{x}", 9);
        let (_, address) = tool::addresses();
        assert_eq!(line, format!("get {address}:4433/transfer -n 9 > /firstflight/qlog/{{x}}"));
    }

    #[test]
    fn last_words_are_few_and_plain() {
        assert_eq!(last_words(b"a\n\nb\x1b[0m\nc\nd\ne\n"), "b [0m | c | d | e");
        assert_eq!(last_words(b""), "");
        assert!(last_words(&[b'x'; 5_000]).len() <= MOST_SAID);
    }
}
