//! Measures of a script, whose trace has one row for the start and one for each ACK.

use super::{Measure, Query, RunOnPath};
use crate::samples;

/// The measure's value after an ACK or over a round; `None` outside the script.
pub(super) fn scripted(
    measure: Measure,
    measured: RunOnPath<'_>,
    query: &Query<'_>,
) -> Option<f64> {
    let trace = measured.run.flows.first()?;
    let column = |name: &str| Some(samples::column(trace, name)?.flatten().collect::<Vec<f64>>());
    let (rounds, queue) = (column("round")?, column("queue_packets")?);
    let rows = match (query.ack, query.round) {
        (Some(ack), None) => ack as usize..ack as usize + 1,
        (None, Some(round)) => {
            let first = rounds.iter().position(|it| *it == f64::from(round))?;
            // A round whose end is not in the script has no value.
            let end = rounds.iter().position(|it| *it > f64::from(round))?;
            first..end
        }
        _ => return None,
    };
    let queue = queue.get(rows.clone())?;
    let last = rows.end.checked_sub(1)?;
    match measure {
        Measure::ScriptedCwnd => column("cwnd_packets")?.get(last).copied(),
        Measure::ScriptedQueue => queue.iter().copied().reduce(f64::max),
        Measure::ScriptedQueueKbit => {
            Some(queue.iter().sum::<f64>() * measured.packet_bytes as f64 * 8.0 / 1e3)
        }
        Measure::ScriptedAck => Some(last as f64),
        Measure::ScriptedTime => column("time_s")?.get(last).copied(),
        Measure::ScriptedPlace => column("place")?.get(last).copied(),
        _ => None,
    }
}
