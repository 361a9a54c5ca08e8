//! `compare`: one path, several controls, side by side.

use firstflight_report::terminal;
use firstflight_scenario::{PathFlags, Scenario};

use crate::failure::{Failure, Status};
use crate::measure::{Common, measure};
use crate::page::About;
use crate::transport::Transport;
use crate::{figures, output, summary};

/// Compare controls on one path, side by side, with a plot
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Controls such as astart, hoe+newreno or 'slow-start(iw=10pkt)'; see `firstflight list`
    #[arg(value_name = "CONTROL", default_values = DEFAULTS)]
    controls: Vec<String>,
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
  firstflight compare --out report --duration 60s && xdg-open report/report.html
  firstflight compare astart --json | jq '.runs[0].flows[0].throughput_bps'";

/// The scenario of the flags, whose controls all exist on the transport.
pub(crate) fn scenario(
    controls: &[String],
    path: &PathFlags,
    transport: &Transport,
) -> Result<Scenario, Failure> {
    let usual = || DEFAULTS.map(str::to_owned).to_vec();
    let controls = if controls.is_empty() { usual() } else { controls.to_vec() };
    let scenario = Scenario::from_flags(path, &controls)?;
    for control in &scenario.controls {
        transport.check_control(control)?;
    }
    scenario.check_distinct()?;
    Ok(scenario)
}

/// Runs the command.
pub(crate) fn compare(args: &Args) -> Result<Status, Failure> {
    let transport = args.common.on.transport()?;
    let scenario = scenario(&args.controls, &args.common.path.0, &transport)?;
    args.common.check_directories()?;
    let report = measure(&scenario, &transport, args.common.purpose(true), None)?;
    if args.common.json {
        output::print(&report.results().to_json()?)?;
    } else {
        let screen = output::screen();
        let table = summary::text(&report, screen);
        let plot = figures::windows(&report).map(|figure| terminal::figure(&figure, screen));
        output::print(&plot.map_or(table.clone(), |plot| format!("{plot}\n{table}")))?;
    }
    let mut names: Vec<&str> = report.runs.iter().map(|run| &*run.result.alias).collect();
    names.dedup();
    let about = About {
        title: names.join(", "),
        subtitle: summary::conditions(&report),
        expectations: None,
    };
    args.common.write(&report, &about)?;
    Ok(if report.interrupted { Status::Interrupted } else { Status::Done })
}
