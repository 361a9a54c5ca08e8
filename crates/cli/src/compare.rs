//! `compare`: one path, several controls, side by side.

use std::cmp::Ordering;

use firstflight_answers::measure::conditions;
use firstflight_answers::{COMPARED, Carried, comparison, reading};
use firstflight_report::terminal;
use firstflight_runner::{Report, Run};

use crate::failure::{Failure, Status};
use crate::page::About;
use crate::shared::{Common, Recorders, carry_out};
use crate::{figures, output, summary};

/// Compare controls on one path, side by side, with a plot
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Controls such as astart, hoe+newreno or 'slow-start(iw=10pkt)'; see `firstflight list`
    #[arg(value_name = "CONTROL", default_values = COMPARED)]
    controls: Vec<String>,
    /// Every start-up that the transport carries instead, each with its usual avoidance, and slow
    /// start with each of these, the best first; those it does not carry are listed with the reason
    #[arg(long, conflicts_with = "controls")]
    all: bool,
    #[command(flatten)]
    common: Common,
}

const EXAMPLES: &str = "\
Examples:
  firstflight compare
  firstflight compare newreno astart --rate 100Mbps --rtt 70ms --buffer 0.5bdp
  firstflight compare 'slow-start(iw=4pkt)' astart --size 5MB --recovery sack
  firstflight compare --profile rfc            under the conditions of the papers
  firstflight compare --all --size 5MB --rtt 300ms
  firstflight compare --out report --duration 60s && xdg-open report/report.html
  firstflight compare astart --json | jq '.runs[0].flows[0].throughput_bps'";

/// Runs the command.
pub(crate) fn compare(args: &Args) -> Result<Status, Failure> {
    let transport = args.common.on.transport()?;
    let all = args.all.then(|| Carried::on(&*transport, &args.common.path.0)).transpose()?;
    let controls = all.as_ref().map_or(&args.controls, |all| &all.controls);
    let scenario = comparison(controls, &args.common.path.0, &*transport)?;
    args.common.check_directories()?;
    let _lock = args.common.lock_out()?;
    let mut report = carry_out(
        &scenario,
        &*transport,
        args.common.purpose(all.is_none()),
        Recorders::default(),
    )?;
    report.refused = all.as_ref().map_or_else(Vec::new, |all| all.refused.clone());
    if args.common.json {
        output::print(&report.results().to_json()?)?;
    }
    if all.is_some() {
        best_first(&mut report);
    }
    if !args.common.json && !args.common.csv_to_stdout() {
        output::print(&text(&report, all.is_some()))?;
    }
    let mut names: Vec<&str> = report.runs.iter().map(|run| &*run.result.alias).collect();
    names.dedup();
    let about = About {
        title: if all.is_some() { "Every start-up".to_owned() } else { names.join(", ") },
        subtitle: conditions(&report),
        expectations: None,
    };
    args.common.write(&report, &about)?;
    Ok(if report.interrupted { Status::Interrupted } else { Status::Done })
}

/// What a terminal shows: a table, and above it the windows of a few controls.
fn text(report: &Report, all: bool) -> String {
    let screen = output::screen();
    if all {
        return summary::rows(report, screen);
    }
    let table = summary::text_below_figure(report, screen);
    if reading::no_round_trip(report).is_some() {
        return summary::text(report, screen);
    }
    let plot = figures::windows(report).map(|figure| terminal::figure(&figure, screen));
    plot.map_or_else(|| summary::text(report, screen), |plot| format!("{plot}\n{table}"))
}

/// Puts the runs of the best control first: those that are done soonest, or carry most, and of
/// equal ones those that lose least.
fn best_first(report: &mut Report) {
    let runs = std::mem::take(&mut report.runs);
    let groups = runs.chunk_by(|one, next| one.result.alias == next.result.alias);
    let mut groups: Vec<([f64; 3], &[Run])> = groups
        .map(|runs| {
            let sum = |of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>();
            let carried = sum(|run| run.result.total_throughput_bps);
            let dropped = sum(|run| run.result.bottleneck.drops as f64);
            ([reading::cost(report, runs), -carried, dropped], runs)
        })
        .collect();
    groups.sort_by(|(one, _), (other, _)| {
        let in_turn = one.iter().zip(other).map(|(one, other)| one.total_cmp(other));
        in_turn.fold(Ordering::Equal, Ordering::then)
    });
    report.runs = groups.into_iter().flat_map(|(_, runs)| runs.to_vec()).collect();
}
