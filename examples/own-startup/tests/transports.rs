//! The start-up of this crate where firstflight's own run: in the simulator, in quinn, by name and
//! by type, from the command line, in reports and in scenario files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock};

use firstflight_control::add_startup;
use firstflight_control::policy::AddError;
use firstflight_core::avoidance::NewReno;
use firstflight_quic::quinn::{ControlProblem, ControllerFactory, Factory};
use firstflight_quic_sim::quinn::{ClientAndServer, MIN_PACKET, QUIC, Quic, QuicControl, Setup};
use firstflight_results::{FlowResult, Startup};
use firstflight_runner::{Ends, Options, OtherFlow, OtherStack, Report, Simulator, Transport as _};
use firstflight_scenario::{ControlSpec, Scenario};
use own_startup::Quarter;

/// What adding it said; tests of one program share the names.
static ADDED: LazyLock<Result<(), AddError>> = LazyLock::new(add_startup::<Quarter>);

/// Each control on a path of 40 Mbps and 100 ms with a buffer of two BDP, alone, for 10 s.
fn on(controls: &str, transport: Simulator<'_>) -> Report {
    assert_eq!(*ADDED, Ok(()));
    let text = format!(
        "controls = [{controls}]\nduration = '10s'\n\
         [path]\nrate = '40Mbps'\nrtt = '100ms'\nbuffer = '2bdp'"
    );
    let scenario = Scenario::parse(&text, "transports.toml").unwrap();
    transport.run(&scenario, &Options::default()).unwrap()
}

/// How the start-up of a run's only flow ended, with which window in BDP, and how many packets were
/// dropped then.
fn exit_of(report: &Report, run: usize) -> (&str, f64, u64) {
    let startup = &report.runs[run].result.flows[0].startup;
    let reason = startup.exit_reason.as_deref().unwrap_or("none");
    let drops = startup.drops_in_exit_round.unwrap_or_default();
    (reason, startup.exit_window_over_bdp.unwrap_or_default(), drops)
}

#[test]
fn it_leaves_before_the_queue_overflows_which_slow_start_lets_overflow() {
    for transport in [Simulator::TCP, QUIC] {
        let report = on("'newreno', 'quarter', 'quarter(share=1)'", transport);
        assert_eq!(report.runs.len(), 3);
        let (reason, _, drops) = exit_of(&report, 0);
        assert!(reason == "loss" && drops > 0, "slow start: {reason}, {drops} dropped");
        let (reason, window, drops) = exit_of(&report, 1);
        assert_eq!((reason, drops), ("heuristic", 0));
        assert!((1.0..3.0).contains(&window), "{window} BDP");
        let (_, later, _) = exit_of(&report, 2);
        assert!(later > window, "with a larger share at {later} BDP, not {window}");
    }
}

#[test]
fn in_quinn_it_runs_by_name_and_by_type_alike() {
    let of = |other: &dyn OtherStack| {
        let report = on("'quarter'", Simulator { other_stack: Some(other), by_default: true });
        let result = &report.runs[0].result;
        assert_eq!((&*result.transport, result.flows.len()), ("quic", 1));
        // quinn's trait has no words for start-up: of a controller that is known by it alone,
        // results tell when it lost packets first.
        FlowResult { startup: Startup::default(), ..result.flows[0].clone() }
    };
    let named = of(&Quic);
    assert_eq!(named, of(&ByType));
    assert!(named.utilization > 0.8, "{}", named.utilization);
}

/// quinn in virtual time, with a controller that is built from its types.
#[derive(Debug)]
struct ByType;

impl OtherStack for ByType {
    fn name(&self) -> &'static str {
        "quic"
    }

    fn packets(&self) -> std::ops::RangeInclusive<u64> {
        MIN_PACKET..=16_383
    }

    fn own_control(&self, _spec: &ControlSpec) -> Result<Option<&'static str>, ControlProblem> {
        Ok(None)
    }

    fn ends(&self, flow: &OtherFlow<'_>) -> Result<Box<dyn Ends>, String> {
        let factory = Factory::new(Quarter::default(), NewReno::default());
        let factory: Arc<dyn ControllerFactory + Send + Sync> =
            Arc::new(factory.map_err(|problem| problem.to_string())?);
        let controller = QuicControl::named("newreno").map_err(|problem| problem.to_string())?;
        let setup = Setup { seed: flow.seed, ..Setup::new(controller, flow.path_bytes) };
        let pair = ClientAndServer::with_controller(&setup, factory)
            .map_err(|problem| problem.to_string())?;
        Ok(Box::new(pair))
    }
}

#[test]
fn compare_draws_it_beside_ours_on_both_transports() {
    for transport in ["sim", "quic"] {
        let report = folder(&format!("report-{transport}"));
        let output = command(
            &["compare", "quarter", "newreno", "hystart", "--duration", "5s", "--on", transport],
            &["--out".as_ref(), report.as_os_str()],
        );
        let text = succeeded(&output);
        assert!(text.contains("quarter"), "{text}");
        let page = std::fs::read_to_string(report.join("report.html")).unwrap();
        assert!(page.contains("quarter") && page.contains("hystart"), "{transport}: {page}");
        let table = std::fs::read_to_string(report.join("data/summary.csv")).unwrap();
        assert!(table.contains("quarter"), "{transport}: {table}");
        let kinds = |kind: &str| files(&report, kind);
        assert!(kinds("svg") > 0 && kinds("pdf") > 0 && kinds("csv") > 0, "{transport}");
    }
}

#[test]
fn list_tells_of_it_and_a_slip_is_answered_with_its_name() {
    let text = succeeded(&command(&["list", "quarter"], &[]));
    assert!(text.contains("share") && text.contains("0.25"), "{text}");
    let listed: String = succeeded(&command(&["list", "--json"], &[]));
    assert!(listed.contains("\"name\": \"quarter\""), "{listed}");
    let problem = refused(&command(&["compare", "quater"], &[]));
    assert!(problem.contains("did you mean `quarter`"), "{problem}");
    let problem = refused(&command(&["compare", "quarter(share=2)"], &[]));
    assert!(problem.contains("quarter(share=...) does not take `2`"), "{problem}");
}

#[test]
fn a_scenario_file_names_it_with_its_knob() {
    let file = folder("scenario").join("own.toml");
    let text = "controls = ['quarter(share=0.5)', 'astart']\nduration = '2s'\n";
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    let text = succeeded(&command(&["run"], &[file.as_os_str()]));
    assert!(text.contains("quarter(share=0.5)"), "{text}");
}

#[test]
fn the_kernel_refuses_it_with_one_sentence() {
    for words in [&["kernel", "load", "quarter"][..], &["compare", "quarter", "--on", "linux"]] {
        let problem = refused(&command(words, &[]));
        assert!(problem.contains("quarter"), "{words:?}: {problem}");
        assert_eq!(problem.trim_end().lines().count(), 1, "{words:?}: {problem}");
    }
}

fn command(words: &[&str], paths: &[&std::ffi::OsStr]) -> Output {
    let program = env!("CARGO_BIN_EXE_own-startup");
    Command::new(program).args(words).args(paths).output().unwrap()
}

/// What it printed.
fn succeeded(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What it said of wrong usage.
fn refused(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    complaint
}

/// A folder of this test's, without what an earlier run left.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-startup").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// How many files of that kind are below a folder.
fn files(below: &Path, kind: &str) -> usize {
    let entries = std::fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path());
    let count = |path: PathBuf| match path.is_dir() {
        true => files(&path, kind),
        false => usize::from(path.extension().is_some_and(|found| found == kind)),
    };
    entries.map(count).sum()
}
