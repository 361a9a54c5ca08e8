//! The runs: every control at the first points, the best of them at all.

use firstflight_runner::{Options, RunError, Simulator, Transport};

use crate::answer::Answer;
use crate::choose::Table;
use crate::request::{LONGEST_S, OTHERS, Point, Request};
use crate::stack::Candidate;

/// What a transfer took at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Until all was delivered; `LONGEST_S` if it was not.
    pub seconds: f64,
    /// Packets sent again, over those of the transfer.
    pub again: f64,
    /// How long the other flow took from our start on, if there is one.
    pub others_s: Option<f64>,
}

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    /// Points at which all controls run.
    first: usize,
    /// Points at which the best run.
    all: usize,
    /// Bytes of the transfer.
    bytes: u64,
}

/// The answer for a path, of these controls, in the simulator. `options` may have what stops it,
/// what hears how many points are done, and whether it keeps to this thread.
///
/// # Errors
/// A control that the simulator does not know, or an interruption.
pub fn advise(
    request: &Request,
    candidates: &[Candidate],
    options: &Options<'_>,
) -> Result<Answer, RunError> {
    let plan = Plan::of(request, candidates.len());
    let points: Vec<Point> = (0..plan.all as u64).map(|number| request.point(number)).collect();
    let mut table = Table::new(request, candidates, points);
    let mut running: Vec<usize> = (0..candidates.len()).collect();
    for done in 0..plan.all {
        if done == plan.first {
            running = table.finalists(FINALISTS);
        }
        let models: Vec<String> = running.iter().map(|at| candidates[*at].model.clone()).collect();
        let point = table.points[done];
        let took = run(request, &models, &point, plan.bytes, &Simulator::TCP, options)?;
        running.iter().zip(took).for_each(|(at, (took, _))| table.runs[*at].push(took));
        if let Some(report) = options.on_done {
            report(done + 1, plan.all);
        }
    }
    Ok(Answer::new(request, &table, plan.bytes))
}

/// What transfers take at one point on a transport, by controls of its own names.
///
/// # Errors
/// As [`Transport::run`].
pub fn at(
    request: &Request,
    controls: &[String],
    point: &Point,
    transport: &dyn Transport,
    options: &Options<'_>,
) -> Result<Vec<Cost>, RunError> {
    let ran = run(request, controls, point, request.size_bytes, transport, options)?;
    Ok(ran.into_iter().map(|(took, _)| took).collect())
}

/// What transfers of so many bytes take, and whether each left slow start.
pub(crate) fn run(
    request: &Request,
    controls: &[String],
    point: &Point,
    bytes: u64,
    transport: &dyn Transport,
    options: &Options<'_>,
) -> Result<Vec<(Cost, bool)>, RunError> {
    let scenario = request.scenario(point, controls, bytes)?;
    let options = Options { on_done: None, samples: None, ..*options };
    let report = transport.run(&scenario, &options)?;
    if report.interrupted {
        return Err(RunError::Interrupted);
    }
    let before = if request.shared { request.before(&OTHERS[point.others]) } else { 0.0 };
    let packets = bytes.div_ceil(request.packet_bytes.0).max(1);
    let took = report.runs.iter().map(|run| {
        let (ours, others) = (run.result.flows.first(), run.result.flows.get(1));
        let done = |time: Option<f64>| time.unwrap_or(LONGEST_S);
        let again = ours.map_or(0, |flow| flow.counts.retransmitted_packets);
        let seconds = done(ours.and_then(|flow| flow.completion_time_s));
        let took = Cost {
            seconds,
            again: again as f64 / packets as f64,
            others_s: others.map(|flow| done(flow.completion_time_s) - before),
        };
        let exit = ours.and_then(|flow| flow.startup.exit_time_s);
        (took, exit.is_some_and(|exit| exit <= seconds))
    });
    Ok(took.collect())
}

impl Plan {
    /// The plan with the most points that [`BUDGET`] allows; where it does not allow the fewest, of
    /// the beginning of the transfer.
    fn of(request: &Request, controls: usize) -> Self {
        let mut plan = Self { first: 0, all: 0, bytes: request.size_bytes };
        for all in POINTS {
            (plan.first, plan.all) = (all / 4, all);
            let runs = plan.runs(controls);
            if request.packets_of(request.size_bytes) * runs <= BUDGET {
                return plan;
            }
        }
        let others = request.packets_of(0);
        let of_one = request.packets_of(request.packet_bytes.0) - others;
        let packets = (BUDGET / plan.runs(controls)).saturating_sub(others) / of_one;
        let bytes = packets.max(LEAST_PACKETS) * request.packet_bytes.0;
        Self { bytes: bytes.min(request.size_bytes), ..plan }
    }

    fn runs(&self, controls: usize) -> u64 {
        (controls * self.first + FINALISTS.min(controls) * (self.all - self.first)) as u64
    }
}

/// Points: of so many the quickest and the slowest enclose one more in (n - 1) of (n + 1) cases
/// (Wilks 1941), of 32 in 94 of 100.
const POINTS: [usize; 4] = [32, 24, 16, 12];
/// Controls that run at all points.
const FINALISTS: usize = 8;
/// Packets of all runs: two seconds on two cores.
const BUDGET: u64 = 6_000_000;
/// Packets of a transfer that are simulated at least.
pub(crate) const LEAST_PACKETS: u64 = 2_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    fn plan(shared: bool, size: &str) -> Plan {
        let path = [("--rate", "100Mbps"), ("--rtt", "50ms"), ("--size", size)];
        let request = Request::new(Stack::Linux, shared, &path.into_iter().collect()).unwrap();
        Plan::of(&request, 16)
    }

    #[test]
    fn a_large_transfer_has_fewer_points_and_a_very_large_one_is_cut() {
        assert_eq!(plan(false, "1MB"), Plan { first: 8, all: 32, bytes: 1_000_000 });
        let large = plan(false, "50MB");
        assert!(large.all < 32 && large.bytes == 50_000_000, "{large:?}");
        let huge = plan(false, "10GB");
        assert!(huge.all == 12 && huge.bytes < 100_000_000, "{huge:?}");
        assert!(plan(true, "50MB").bytes < 50_000_000);
    }
}
