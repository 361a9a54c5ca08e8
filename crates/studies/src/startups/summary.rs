//! What the grid says of each start-up, beside slow start on equal paths.

use firstflight_control::policy::{ChosenStartup, startups};
use firstflight_core::needs::Facilities;
use firstflight_core::policy::Observer as _;

use super::grid::{Case, GridRun, REFERENCE, Transfer, USUAL, partner};

/// A start-up over the whole grid.
pub(super) struct Summary {
    pub(super) startup: &'static str,
    /// Its avoidance.
    pub(super) avoidance: &'static str,
    pub(super) help: Help,
    /// Its runs, each with slow start's in that case.
    pairs: Vec<(GridRun, GridRun)>,
    /// In every case without pacing it does what slow start does with that avoidance.
    pub(super) is_slow_start: bool,
}

/// What a start-up has beside the ACKs of its own connection. Those of a kind are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Help {
    /// Nothing.
    None,
    /// What routers tell: here they do.
    Routers,
    /// What earlier connections learned: here there were none.
    Memory,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// The time a transfer takes, over slow start's; one that was not done counts as done at the
    /// end of the run.
    Completion,
    /// What the bottleneck dropped, in percent of the transfer.
    Lost,
    /// The longest queue, in BDP.
    Queue,
    /// When the bottleneck sends at 90 % of its rate, over slow start's; of cases in which both do.
    At90,
}

/// Means over some of the cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub(super) mean: f64,
    pub(super) worst: f64,
    pub(super) cases: usize,
}

/// One for each start-up and avoidance: by what helps them, and of a kind those first that are done
/// soonest, 4 BDP and no pacing.
pub(super) fn of(runs: &[GridRun]) -> Vec<Summary> {
    let slow: Vec<&GridRun> = runs.iter().filter(|run| run.startup == REFERENCE).collect();
    let mut summaries: Vec<Summary> = Vec::new();
    for run in runs {
        let mut here = slow.iter().filter(|slow| slow.case == run.case);
        let twin = here.clone().find(|slow| slow.avoidance == run.avoidance);
        let is_same = run.case.paced || twin.is_some_and(|twin| run.does_as(twin));
        let Some(slow) = here.find(|slow| slow.avoidance == USUAL) else { continue };
        let pair = (run.clone(), (*slow).clone());
        let names = (run.startup, run.avoidance);
        match summaries.iter_mut().find(|one| (one.startup, one.avoidance) == names) {
            Some(one) => {
                one.pairs.push(pair);
                one.is_slow_start &= is_same;
            }
            None => summaries.push(Summary {
                startup: run.startup,
                avoidance: run.avoidance,
                help: Help::of(run.startup),
                pairs: vec![pair],
                is_slow_start: is_same,
            }),
        }
    }
    let avoidances: Vec<&str> = summaries.iter().map(|one| one.avoidance).collect();
    summaries.retain(|one| {
        // Slow start with an avoidance that a single start-up has is nobody's measure.
        let with_it = avoidances.iter().filter(|other| **other == one.avoidance).count();
        one.startup != REFERENCE || one.avoidance == USUAL || with_it > 2
    });
    let time = |one: &Summary| one.mean(Measure::Completion, four_bdp).map_or(0.0, |of| of.mean);
    summaries
        .sort_by(|one, other| one.help.cmp(&other.help).then(time(one).total_cmp(&time(other))));
    summaries
}

impl Help {
    fn of(startup: &str) -> Self {
        let needs = ChosenStartup::by_name(startup).map(|startup| startup.needs().all());
        let needs = needs.unwrap_or(Facilities::NONE);
        let routers = Facilities::GRANTS | Facilities::ROUTER_CHANGES | Facilities::ROUTER_SHARES;
        match needs {
            _ if !needs.common(routers).is_empty() => Self::Routers,
            _ if needs.has(Facilities::MEMORY) => Self::Memory,
            _ => Self::None,
        }
    }
}

/// Transfers of 4 BDP by endpoints that do not pace.
pub(super) fn four_bdp(case: &Case) -> bool {
    case.transfer == Transfer::FourBdp && !case.paced
}

impl Summary {
    /// The start-up, with its avoidance where that is not its usual one.
    pub(super) fn name(&self) -> String {
        let usual = startups()
            .iter()
            .any(|card| card.name == self.startup && partner(card) == self.avoidance);
        match usual {
            true => self.startup.to_owned(),
            false => format!("{}+{}", self.startup, self.avoidance),
        }
    }

    /// The mean over the cases: of ratios the geometric one, and the largest value.
    pub(super) fn mean(&self, measure: Measure, among: impl Fn(&Case) -> bool) -> Option<Mean> {
        let values: Vec<f64> = self.values(measure, among).collect();
        let cases = values.len();
        let worst = values.iter().copied().reduce(f64::max)?;
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / cases as f64;
        let mean = match measure {
            Measure::Lost | Measure::Queue => mean(&mut values.iter().copied()),
            Measure::Completion | Measure::At90 => {
                mean(&mut values.iter().map(|value| value.ln())).exp()
            }
        };
        Some(Mean { mean, worst, cases })
    }

    /// How many of the cases were not done in time.
    pub(super) fn not_done(&self, among: impl Fn(&Case) -> bool) -> usize {
        let cases = self.pairs.iter().map(|(run, _)| run).filter(|run| among(&run.case));
        cases.filter(|run| run.completion_s.is_none()).count()
    }

    /// In how many of the cases the bottleneck came to 90 % of its rate.
    pub(super) fn reached(&self, among: impl Fn(&Case) -> bool) -> usize {
        let cases = self.pairs.iter().map(|(run, _)| run).filter(|run| among(&run.case));
        cases.filter(|run| run.at_90_s.is_some()).count()
    }

    fn values(&self, measure: Measure, among: impl Fn(&Case) -> bool) -> impl Iterator<Item = f64> {
        let pairs = self.pairs.iter().filter(move |(run, _)| among(&run.case));
        pairs.filter_map(move |(run, slow)| match measure {
            Measure::Completion => Some(run.time() / slow.time()),
            Measure::Lost => Some(run.lost_bytes as f64 / run.case.size() as f64 * 100.0),
            Measure::Queue => Some(run.peak_queue_bytes as f64 / run.case.bdp() as f64),
            Measure::At90 => Some(run.at_90_s? / slow.at_90_s?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(startup: &'static str, rtt_ms: u64, completion_s: Option<f64>) -> GridRun {
        let transfer = Transfer::FourBdp;
        let case = Case { rate_mbps: 8, rtt_ms, buffer: 1.0, transfer, paced: false };
        let (lost_bytes, peak_queue_bytes) = (case.bdp(), case.bdp() / 2);
        let avoidance = "newreno";
        GridRun {
            startup,
            avoidance,
            case,
            completion_s,
            lost_bytes,
            peak_queue_bytes,
            at_90_s: None,
        }
    }

    #[test]
    fn ratios_are_meant_geometrically_and_what_was_not_done_counts_as_the_limit() {
        let runs = [
            run("slow-start", 100, Some(1.0)),
            run("slow-start", 200, Some(1.0)),
            run("other", 100, Some(0.5)),
            run("other", 200, Some(2.0)),
            run("late", 100, None),
            run("late", 200, Some(1.0)),
        ];
        let summaries = of(&runs);
        let names: Vec<&str> = summaries.iter().map(|one| one.startup).collect();
        assert_eq!(names, ["slow-start", "other", "late"], "soonest first");
        let other = summaries[1].mean(Measure::Completion, four_bdp).unwrap();
        assert!((other.mean - 1.0).abs() < 1e-12 && other.worst == 2.0 && other.cases == 2);
        // A hundred RTTs of 100 ms, and eight times the 0.4 s that 4 BDP take.
        let late = summaries[2].mean(Measure::Completion, four_bdp).unwrap();
        assert!((late.worst - 13.2).abs() < 1e-9, "{late:?}");
        assert_eq!((summaries[2].not_done(four_bdp), summaries[1].not_done(four_bdp)), (1, 0));
        let lost = summaries[1].mean(Measure::Lost, four_bdp).unwrap();
        assert_eq!((lost.mean, lost.worst), (25.0, 25.0), "one of four BDP");
        assert_eq!(summaries[1].mean(Measure::Queue, four_bdp).unwrap().mean, 0.5);
        assert_eq!(summaries[1].mean(Measure::At90, four_bdp), None);
        assert!(summaries[0].is_slow_start && !summaries[1].is_slow_start);
    }

    #[test]
    fn what_routers_or_memory_help_stands_behind_the_others() {
        let names = ["xcp", "careful-resume", "slow-start", "rapid-start"];
        let runs = names.map(|name| run(name, 100, Some(if name == "xcp" { 0.1 } else { 1.0 })));
        let summaries = of(&runs);
        let kinds: Vec<_> = summaries.iter().map(|one| (one.startup, one.help)).collect();
        assert_eq!(kinds[..2].iter().filter(|(_, help)| *help == Help::None).count(), 2);
        assert_eq!(kinds[2..], [("xcp", Help::Routers), ("careful-resume", Help::Memory)]);
    }
}
