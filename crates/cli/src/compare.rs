//! `compare`: one path, several controls, side by side.

use firstflight_report::terminal;
use firstflight_runner::{Report, Transport};
use firstflight_scenario::{PathFlags, Scenario};

use crate::failure::{Failure, Status};
use crate::page::About;
use crate::shared::{Common, carry_out};
use crate::{figures, output, reading, summary};
use every::Every;

mod every;

/// Compare controls on one path, side by side, with a plot
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Controls such as astart, hoe+newreno or 'slow-start(iw=10pkt)'; see `firstflight list`
    #[arg(value_name = "CONTROL", default_values = DEFAULTS)]
    controls: Vec<String>,
    /// Every start-up that the transport carries instead, each with its usual avoidance, and slow
    /// start with each of these, the best first; those it does not carry are listed with the reason
    #[arg(long, conflicts_with = "controls")]
    all: bool,
    #[command(flatten)]
    common: Common,
}

/// The controls that the Astart paper compares, and what Linux runs today.
const DEFAULTS: [&str; 5] = ["newreno", "hoe", "vegas", "astart", "hystart"];

const EXAMPLES: &str = "\
Examples:
  firstflight compare
  firstflight compare newreno astart --rate 100Mbps --rtt 70ms --buffer 0.5bdp
  firstflight compare 'slow-start(iw=4pkt)' astart --size 5MB --recovery sack
  firstflight compare --profile rfc            under the conditions of the papers
  firstflight compare --all --size 5MB --rtt 300ms
  firstflight compare --out report --duration 60s && xdg-open report/report.html
  firstflight compare astart --json | jq '.runs[0].flows[0].throughput_bps'";

/// The scenario of the flags, which the transport can run.
pub(crate) fn scenario(
    controls: &[String],
    path: &PathFlags,
    transport: &dyn Transport,
) -> Result<Scenario, Failure> {
    let usual = || DEFAULTS.map(str::to_owned).to_vec();
    let controls = if controls.is_empty() { usual() } else { controls.to_vec() };
    let scenario = Scenario::from_flags(path, &controls)?;
    for control in &scenario.controls {
        transport.full_name(control)?;
    }
    transport.can(&scenario)?;
    Ok(scenario)
}

/// Runs the command.
pub(crate) fn compare(args: &Args) -> Result<Status, Failure> {
    let transport = args.common.on.transport()?;
    let every = args.all.then(|| Every::on(&*transport, &args.common.path.0)).transpose()?;
    let controls = every.as_ref().map_or(&args.controls, |every| &every.controls);
    let scenario = scenario(controls, &args.common.path.0, &*transport)?;
    args.common.check_directories()?;
    let _held = args.common.hold()?;
    let mut report = carry_out(&scenario, &*transport, args.common.purpose(every.is_none()), None)?;
    report.refused = every.as_ref().map_or_else(Vec::new, |every| every.refused.clone());
    if args.common.json {
        output::print(&report.results().to_json()?)?;
    }
    if every.is_some() {
        every::best_first(&mut report);
    }
    if !args.common.json && !args.common.csv_to_stdout() {
        output::print(&text(&report, every.is_some()))?;
    }
    let mut names: Vec<&str> = report.runs.iter().map(|run| &*run.result.alias).collect();
    names.dedup();
    let about = About {
        title: if every.is_some() { "Every start-up".to_owned() } else { names.join(", ") },
        subtitle: summary::conditions(&report),
        expectations: None,
    };
    args.common.write(&report, &about)?;
    Ok(if report.interrupted { Status::Interrupted } else { Status::Done })
}

/// What a terminal shows: a table, and above it the windows of a few controls.
fn text(report: &Report, every: bool) -> String {
    let screen = output::screen();
    if every {
        return summary::rows(report, screen);
    }
    let table = summary::text_below_figure(report, screen);
    if reading::no_round_trip(report).is_some() {
        return summary::text(report, screen);
    }
    let plot = figures::windows(report).map(|figure| terminal::figure(&figure, screen));
    plot.map_or_else(|| summary::text(report, screen), |plot| format!("{plot}\n{table}"))
}
