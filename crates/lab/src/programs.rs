//! Two programs of any make as the ends of a scenario's path. What is measured comes from the link:
//! the flow that carried the most in the direction of the data is the transfer.

mod cross_traffic;
mod outcome;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{self, Duration};

use firstflight_results::{FlowResult, LabFigures, RunResult};
use firstflight_runner::{Report, Run};
use firstflight_scenario::{Complete, ControlSpec, FlowGroup, Scenario, Size, complete};
use serde::{Deserialize, Serialize};

use crate::control::LinuxControl;
use crate::job::{self, link_spec};
use crate::link::{DirectionSpec, LinkReport, LinkSpec};
use crate::tool::{self, LinkEnds, Prints};
use crate::trace;
use cross_traffic::{Connection, CrossTraffic};
use firstflight_runner::RunError;
use outcome::Outcome;

/// What runs at the ends, by `sh -c`. [`PLACEHOLDERS`] in either are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Programs {
    /// Runs first, and ends with the run.
    pub server: String,
    /// Runs when the server listens; its end is the run's.
    pub client: String,
    /// The client sends the data, not the server.
    pub upload: bool,
    /// The folder in which both run; it is made if it does not exist.
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
/// The scenario has a key that programs cannot follow, the machine lacks something, or `stop`
/// became true. The failure of a program is in the result's note instead.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    samples: Option<u32>,
    programs: &Programs,
    stop: &AtomicBool,
) -> Result<Report, RunError> {
    let begun = time::Instant::now();
    let complete = complete(scenario)?;
    let mut traffic = CrossTraffic::of(&complete, seed, programs.upload)?;
    let other_ports = traffic.as_ref().map(CrossTraffic::ports).unwrap_or_default();
    let link = spec(&complete, (seed, samples), programs.upload, other_ports);
    let bytes = wanted_bytes(&complete);
    let [server, client] = [&programs.server, &programs.client]
        .map(|line| vec!["sh".to_owned(), "-c".to_owned(), replaced(line, bytes)]);
    make_folders(programs, bytes)?;
    let ends = LinkEnds {
        near: client,
        far: server,
        duration: Some(Duration::from_nanos(complete.duration.ns())),
        prints: Prints::Files(PRINTED.into()),
        listen_timeout: Some(LISTEN_TIMEOUT),
        server_grace: if programs.server.contains("{qlog}") {
            SERVER_GRACE
        } else {
            Duration::ZERO
        },
        ..LinkEnds::default()
    };
    let ran = match &mut traffic {
        Some(traffic) => traffic.carry(&link, &ends, stop)?,
        None => alone(&link, &ends, stop)?,
    };
    let way = if programs.upload { &ran.link.forward } else { &ran.link.backward };
    let outcome = Outcome { complete: &complete, ran: &ran, way, seed, wall: begun.elapsed() };
    let (result, series) = outcome.result();
    let queues = samples.map(|_| trace::queue_series(&way.depth)).into_iter().collect();
    let run = Run::new(result, series, queues);
    Ok(Report::new(complete, vec![run], false))
}

/// How a run went.
struct Ran {
    link: LinkReport,
    /// The clients' exit codes, `None` of one that had not ended.
    exits: Vec<Option<i32>>,
    /// The server's, if it ended.
    far_exit: Option<i32>,
    /// When the run began in the link's measured period, ns.
    zero_ns: u64,
    /// How much later than in the scenario the run ended, ns.
    extension_ns: u64,
    others: Vec<Connection>,
}

/// Runs the programs alone on the path.
fn alone(link: &LinkSpec, ends: &LinkEnds, stop: &AtomicBool) -> Result<Ran, RunError> {
    let carried = tool::carry(link, ends, stop, || {})?;
    if carried.interrupted {
        return Err(RunError::Interrupted);
    }
    Ok(Ran {
        link: carried.link,
        exits: vec![carried.near_exit],
        far_exit: carried.far_exit,
        zero_ns: 0,
        extension_ns: 0,
        others: Vec::new(),
    })
}

/// The result of a run whose guest ended before it: no figures, and the reason as a note.
pub fn failed(why: String) -> Run {
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

/// The complete scenario, if programs can be given it. The first flows are the programs', those
/// with a control are the kernel's.
///
/// # Errors
/// A key that programs cannot follow.
pub fn complete(scenario: &Scenario) -> Result<Complete, RunError> {
    let groups = scenario.groups();
    if let Some(why) = groups.iter().filter(|it| it.control.is_none()).find_map(not_for_programs) {
        return Err(RunError::Input(format!("programs transfer what they are asked for; {why}")));
    }
    let complete = job::complete(scenario)?;
    let no = |problem: String| Err(RunError::Input(format!("programs {problem}")));
    let (own, others): (Vec<&complete::Flow>, Vec<&complete::Flow>) =
        complete.flows.iter().partition(|flow| flow.control.is_none());
    let count: u64 = own.iter().map(|flow| flow.count).sum();
    let differs = |flow: &&complete::Flow| {
        (flow.size, flow.access_delay) != (own[0].size, own[0].access_delay)
    };
    match () {
        () if complete.flows[0].control.is_some() => {
            no("are a scenario's first flow; it has a control".to_owned())
        }
        () if count > MOST_CLIENTS => no(format!(
            "share the guest's one processor: accepted are at most {MOST_CLIENTS} at once, found \
             {count}"
        )),
        () if own.iter().any(|flow| flow.receiver_window.is_some()) => {
            no("offer what window they like; the scenario limits it (`receiver_window`)".to_owned())
        }
        () if own.iter().any(differs) => {
            no("have one address and are asked for one size; the scenario's flows differ"
                .to_owned())
        }
        () => {
            others
                .iter()
                .filter_map(|flow| flow.control.as_ref())
                .try_for_each(can_be_cross_traffic)?;
            Ok(complete)
        }
    }
}

/// Checks that a guest's kernel has a control for cross traffic, or that this build can load it.
fn can_be_cross_traffic(control: &ControlSpec) -> Result<(), RunError> {
    let resolved = LinuxControl::resolve_for_guest(control)?;
    if resolved.kernel_name.starts_with("ff_") && !cfg!(feature = "bpf") {
        return Err(RunError::Input(format!(
            "control `{}`: beside programs it takes a build with `--features kernel`, which loads \
             it into the guest's kernel",
            control.text
        )));
    }
    Ok(())
}

/// Why programs cannot follow this flow's keys, if they cannot.
fn not_for_programs(flow: &FlowGroup) -> Option<&'static str> {
    let found = [
        (!flow.writes.is_empty(), "`writes`: when more data is there is the server's own affair"),
        (
            flow.files.is_some(),
            "`files`: when it asks for the next file is the client's own affair",
        ),
        (flow.reverse.is_some(), "`reverse`: --upload says for all which end sends"),
        (flow.stop.is_some() || flow.lifetime.is_some(), "`stop`: a transfer ends with its data"),
    ];
    found.into_iter().find(|(set, _)| *set).map(|(_, why)| why)
}

/// How much a client is asked to transfer: what the flow has, or without an end more than the path
/// can carry until the run's.
fn wanted_bytes(complete: &Complete) -> u64 {
    let flow = &complete.flows[0];
    let time = complete.duration.ns().saturating_sub(flow.start_from.ns());
    let most = u128::from(complete.links[0].rate.bps()) * u128::from(time) / 8_000_000_000;
    flow.size.map_or(u64::try_from(most).unwrap_or(u64::MAX), Size::bytes)
}

/// The scenario's link between client and server, with the bottleneck in the direction of the data.
fn spec(
    complete: &Complete,
    (seed, samples): (u64, Option<u32>),
    upload: bool,
    other_ports: Vec<u16>,
) -> LinkSpec {
    let link = link_spec(complete, seed).measured(samples, complete.duration.ns());
    let data = DirectionSpec {
        header_bytes: None,
        by_flow: true,
        other_ports,
        begins_with_traffic: true,
        ..link.forward
    };
    let back = DirectionSpec { begins_with_traffic: true, ..link.backward };
    let (forward, backward) = match upload {
        true => (data, back),
        false => (back, data),
    };
    // Nobody else wants the processor of a guest.
    LinkSpec { forward, backward, spin_ns: 0, checksums: true, ..link }
}

fn replaced(line: &str, bytes: u64) -> String {
    let (_, address) = tool::addresses();
    let values =
        [address.to_string(), PORT.to_string(), bytes.to_string(), FOLDER.into(), FILE.into()];
    let values = values.into_iter().chain([QLOGS.into()]);
    let pairs = PLACEHOLDERS.iter().zip(values);
    pairs.fold(line.to_owned(), |line, ((name, _), value)| line.replace(name, &value))
}

fn make_folders(programs: &Programs, bytes: u64) -> Result<(), RunError> {
    let make = || {
        for folder in [FOLDER, QLOGS, PRINTED] {
            fs::create_dir_all(folder)?;
        }
        fs::create_dir_all(&programs.folder)?;
        std::env::set_current_dir(&programs.folder)?;
        // It has a size and takes no room.
        File::create(Path::new(FOLDER).join(FILE))?.set_len(bytes)
    };
    make().map_err(|error: std::io::Error| {
        RunError::Failed(format!("the programs' folders: {error}"))
    })
}

/// The folder that replaces `{qlog}`.
pub const QLOGS: &str = "/firstflight/qlog";
const FOLDER: &str = "/firstflight/files";
const PRINTED: &str = "/firstflight/printed";
const FILE: &str = "transfer";
const PORT: u16 = 4433;
/// The control's name in results, unless the caller has a better one.
const NAME: &str = "programs";
/// What sends, as results name it.
pub const GENERATOR: &str = "programs";
/// For a server to listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(20);
/// For a server to write its qlog when the connection is closed.
const SERVER_GRACE: Duration = Duration::from_secs(10);
/// Clients that may run at once: they share one processor.
const MOST_CLIENTS: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(more: &str) -> Result<Complete, String> {
        let text = format!("controls = ['linux-reno']\n{more}");
        let scenario = Scenario::parse(&text, "x.toml").map_err(|error| error.to_string())?;
        complete(&scenario).map_err(|error| error.to_string())
    }

    #[test]
    fn what_programs_can_follow_is_accepted_and_all_else_refused_with_its_reason() {
        let sized = "[[flow]]\nsize = '1MB'";
        for more in ["", "count = 8", "start = '2s'", "[[flow]]\ncontrol = 'linux-bbr'\nrtt = '1s'"]
        {
            assert!(completed(&format!("{sized}\n{more}")).is_ok(), "{more}");
        }
        assert!(completed(&format!("{sized}\n[[udp]]\nrate = '1Mbps'")).is_ok());
        assert_eq!(
            wanted_bytes(&completed("duration = '2s'\n[path]\nrate = '8Mbps'").unwrap()),
            2_000_000
        );
        for (more, word) in [
            ("count = 9", "at most 8 at once, found 9"),
            ("receiver_window = '64KB'", "(`receiver_window`)"),
            ("files = { size = '1MB', keep_alive = true }", "`files`: when"),
            ("writes = [{ size = '1MB' }]", "`writes`: when"),
            ("stop = '1s'", "`stop`: a transfer"),
            ("control = 'cubic'\n[[flow]]", "first flow; it has a control"),
            ("size = '1MB'\n[[flow]]\nsize = '2MB'", "flows differ"),
            ("[[flow]]\nrtt = '1s'", "flows differ"),
            ("[[flow]]\ncontrol = 'copa'", "copa"),
        ] {
            let problem = completed(&format!("[[flow]]\n{more}")).unwrap_err();
            assert!(problem.contains(word), "{more}: {problem}");
        }
        let of_core = completed("[[flow]]\n[[flow]]\ncontrol = 'cubic'").map(drop);
        let why = "beside programs it takes a build with `--features kernel`";
        assert!(of_core.map_or_else(|it| it.contains(why), |()| cfg!(feature = "bpf")));
    }

    #[test]
    fn the_bottleneck_is_in_the_direction_of_the_data() {
        let complete = completed("[path]\nrate = '8Mbps'\n[[flow]]\nsize = '1MB'").unwrap();
        let [up, down] =
            [true, false].map(|upload| spec(&complete, (1, Some(10)), upload, vec![9]));
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
}
