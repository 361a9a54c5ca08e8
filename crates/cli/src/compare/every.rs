//! Every start-up on one path: which the transport carries, and in which order they are shown.

use std::cmp::Ordering;

use firstflight_control::policy::{partners, startups};
use firstflight_core::card::Card;
use firstflight_results::Refused;
use firstflight_runner::{Report, Run, RunError, Transport};
use firstflight_scenario::{PathFlags, Scenario};

use crate::failure::Failure;
use crate::reading;

/// The start-ups, each with its usual avoidance, and slow start with each of those.
pub(crate) struct Every {
    /// Those that the transport carries, as a user would write them.
    pub(crate) controls: Vec<String>,
    /// The others.
    pub(crate) refused: Vec<Refused>,
}

impl Every {
    /// All that have a card, the program's own and those that were added to it.
    ///
    /// # Errors
    /// The transport carries none of them; why it does not carry the first.
    pub(crate) fn on(transport: &dyn Transport, path: &PathFlags) -> Result<Self, Failure> {
        let mut every = Self { controls: Vec::new(), refused: Vec::new() };
        let mut first = None;
        for control in startups().into_iter().map(pair) {
            let Err(error) = carries(transport, &control, path) else {
                every.controls.push(control);
                continue;
            };
            every.refused.push(Refused { control, reason: error.to_string() });
            first = first.or(Some(error));
        }
        for partner in partners().into_iter().filter(|partner| *partner != OF_SLOW_START) {
            let control = format!("slow-start+{partner}");
            if carries(transport, &control, path).is_ok() {
                every.controls.push(control);
            }
        }
        match first {
            Some(error) if every.controls.is_empty() => Err(error.into()),
            _ => Ok(every),
        }
    }
}

/// Whether a flow of such a path can have a control.
fn carries(transport: &dyn Transport, control: &str, path: &PathFlags) -> Result<(), RunError> {
    let scenario = Scenario::from_flags(path, &[control.to_owned()])?;
    scenario.controls.iter().try_for_each(|spec| transport.full_name(spec).map(drop))?;
    transport.resolve(&scenario).map(drop)
}

/// Slow start's usual avoidance, with which it is among the start-ups.
const OF_SLOW_START: &str = "newreno";

/// A start-up with its avoidance in full: its name alone may be an alias, which can name a recovery
/// too.
fn pair(card: &Card) -> String {
    match card.partner {
        Some(partner) => format!("{}+{partner}", card.name),
        None => card.name.to_owned(),
    }
}

/// Puts the runs of the best control first: those that are done soonest, or carry most, and of
/// equal ones those that lose least.
pub(crate) fn best_first(report: &mut Report) {
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
