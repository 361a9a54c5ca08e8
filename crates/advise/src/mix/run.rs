//! The runs of a mix: every control on the first paths, the best of them on all.

use firstflight_runner::{Options, RunError, Simulator};

use super::groups::{self, Kind};
use super::{Mix, PACKET};
use crate::choose::Table;
use crate::measure::{LEAST_PACKETS, run};

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Paths on which all controls run.
    pub(super) first: usize,
    /// Paths in all.
    pub(super) paths: usize,
    /// Controls that run on all paths.
    pub(super) finalists: usize,
    /// The most of a transfer that is simulated, bytes.
    pub(super) most_bytes: u64,
}

impl Mix<'_> {
    /// The plan with the most paths that [`BUDGET`] allows; where it does not allow the fewest, of
    /// the beginnings of large transfers, and then of fewer groups.
    pub(super) fn plan(&mut self) -> Result<Plan, RunError> {
        let mut most = groups::MOST;
        loop {
            let (plan, cost) = self.plan_of_groups()?;
            if cost <= BUDGET || most <= FEWEST_GROUPS {
                return Ok(plan);
            }
            most /= 2;
            self.groups = groups::of(&self.transfers, most);
        }
    }

    /// How each simulated group of transfers will run, and how many packets all of these runs send.
    fn plan_of_groups(&self) -> Result<(Plan, u64), RunError> {
        let finalists = if self.named { self.candidates.len() } else { FINALISTS };
        let mut sizes = Vec::new();
        for group in self.groups.iter().filter(|group| group.kind.is_simulated()) {
            sizes.push((self.request(group, 0)?, group.transfer.bytes));
        }
        let largest = sizes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        let mut plan = Plan { first: 0, paths: 0, finalists, most_bytes: largest };
        let cost = |plan: &Plan| {
            let packets = sizes.iter().map(|(request, bytes)| request.packets_of(plan.of(*bytes)));
            packets.sum::<u64>().saturating_mul(plan.runs(self.candidates.len()))
        };
        for paths in PATHS {
            (plan.first, plan.paths) = (if self.named { paths } else { FIRST }, paths);
            if cost(&plan) <= BUDGET {
                return Ok((plan, cost(&plan)));
            }
        }
        while cost(&plan) > BUDGET && plan.most_bytes > LEAST_PACKETS * PACKET {
            plan.most_bytes = plan.most_bytes / 4 * 3;
        }
        Ok((plan, cost(&plan)))
    }

    /// Fills the table path by path, and says of each group of which nobody recorded it whether it
    /// leaves slow start, as it did on the first path.
    pub(super) fn run(
        &mut self,
        plan: &Plan,
        simulated: &[usize],
        table: &mut Table<'_>,
        options: &Options<'_>,
    ) -> Result<(), RunError> {
        let mut running: Vec<usize> = (0..self.candidates.len()).collect();
        for path in 0..plan.paths {
            if path == plan.first {
                running = table.finalists(plan.finalists);
            }
            let models: Vec<String> =
                running.iter().map(|at| self.candidates[*at].model.clone()).collect();
            for (place, at) in simulated.iter().enumerate() {
                let request = self.request(&self.groups[*at], path)?;
                let point = self.point(&request, path);
                table.points[path * simulated.len() + place] = point;
                let bytes = plan.of(self.groups[*at].transfer.bytes);
                let took = run(&request, &models, &point, bytes, &Simulator::TCP, options)?;
                if self.groups[*at].kind == Kind::Unsure {
                    self.groups[*at].kind = if took[0].1 { Kind::Left } else { Kind::Stayed };
                }
                running.iter().zip(took).for_each(|(at, (took, _))| table.runs[*at].push(took));
                if let Some(report) = options.on_done {
                    let done = path * simulated.len() + place + 1;
                    report(done, plan.paths * simulated.len());
                }
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Bytes of a transfer that are simulated.
    pub(super) fn of(&self, bytes: u64) -> u64 {
        bytes.min(self.most_bytes)
    }

    /// Runs of each group.
    fn runs(&self, controls: usize) -> u64 {
        let best = self.finalists.min(controls) * (self.paths - self.first);
        (controls * self.first + best) as u64
    }
}

/// Paths of each group: of so many the least and the most enclose one more in (n - 1) of (n + 1)
/// cases, of 16 in 88 of 100.
const PATHS: [usize; 3] = [16, 12, 8];
/// Paths on which all controls run.
const FIRST: usize = 2;
/// Controls that run on all.
const FINALISTS: usize = 4;
/// Groups of a kind when the rest does not help.
const FEWEST_GROUPS: usize = 3;
/// Packets of all runs: four seconds on two cores.
const BUDGET: u64 = 12_000_000;
