//! The answer for a mix as a document: what `firstflight kernel what-if --json` prints.

use serde::Serialize;

use super::groups::{Group, Kind};
use super::run::Plan;
use super::{Mix, bounds, words};
use crate::answer::{Change, Chosen, Unknown};
use crate::choose::Table;

/// What other controls would do for the transfers of a host.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MixAnswer {
    /// Transfers under the control that the host has.
    pub connections: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The control that the host has.
    pub control: String,
    /// The control that the simulator ran in its place.
    pub simulated: String,
    /// What start-up means to them, and how many they are.
    pub parts: Vec<MixPart>,
    /// Paths on which each was simulated.
    pub paths: usize,
    /// The share of such paths that lie between `least` and `most`.
    pub interval: f64,
    /// Bytes that were simulated of larger transfers.
    pub simulated_bytes: Option<u64>,
    /// What the recording does not tell, and between what it was drawn.
    pub unknown: Vec<Unknown>,
    /// The most that the path can have lost at random, by what was sent again; `null` if it was not
    /// recorded.
    pub most_lost: Option<f64>,
    /// The time of their control as simulated over the time recorded, median; `null` if it was not
    /// recorded.
    pub over_recorded: Option<f64>,
    /// The share of those that took more than three times as long as simulated on any path.
    pub waited: Option<f64>,
    /// The answer in sentences.
    pub sentences: Vec<String>,
    /// The controls that ran on all paths, those worth taking first.
    pub controls: Vec<WhatIf>,
    /// What would change the answer.
    pub changes: Vec<Change>,
    /// The connections that stand for all.
    pub groups: Vec<Shown>,
}

/// Connections to which start-up means the same thing.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct MixPart {
    /// `first-window`, `held`, `stayed` or `left`.
    pub kind: &'static str,
    /// How many they are.
    pub connections: usize,
    /// Over all connections.
    pub share: f64,
    /// Their bytes over those of all.
    pub share_of_bytes: f64,
    /// How many stand for them in the simulator; 0 where no control changes anything.
    pub groups: usize,
}

/// A control in place of the one that the host has.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct WhatIf {
    /// The name that the stack has for it.
    pub control: String,
    /// The control that the simulator ran in its place.
    pub simulated: String,
    /// Why it is worth taking, as in `advise`; else `null`.
    pub role: Option<&'static str>,
    /// Whether it sends little again and leaves others their time.
    pub gentle: bool,
    /// Its time over that of the control that the host has, geometric mean.
    pub over_own: f64,
    /// The time of the other flow over that beside slow start, geometric mean; `null` alone.
    pub others: Option<f64>,
    /// What it does for connections that are over before slow start is.
    pub stayed: Option<Effect>,
    /// What it does for those that leave slow start.
    pub left: Option<Effect>,
}

/// What a control does, beside the one that the host has. A share of the time is over the time of
/// the latter.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Effect {
    /// Nine of ten save more, seconds; below zero where it takes longer.
    pub saved_p10_s: Over,
    /// The median of what is saved, seconds.
    pub saved_median_s: Over,
    /// One of ten saves more, seconds.
    pub saved_p90_s: Over,
    /// Nine of ten save more, as a share of the time.
    pub saved_p10: Over,
    /// The median of what is saved, as a share of the time.
    pub saved_median: Over,
    /// One of ten saves more, as a share of the time.
    pub saved_p90: Over,
    /// Packets sent again over those of the transfers.
    pub again: Over,
    /// Packets that the host's own control sends again, over those of the transfers.
    pub own_again: Over,
}

/// A number over the paths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Over {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// A connection that stands for others.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// What start-up means to it.
    pub kind: &'static str,
    /// For how many it stands.
    pub stands_for: usize,
    /// Its bytes.
    pub bytes: u64,
    /// The RTT of its path.
    pub rtt_s: f64,
    /// Between what the rate of its path is drawn.
    pub rate_bps: [f64; 2],
}

/// What was run, and the groups of the mix that its columns are of.
pub(super) struct Runs<'a> {
    pub(super) table: &'a Table<'a>,
    pub(super) groups: &'a [usize],
}

impl MixAnswer {
    pub(super) fn of(mix: &Mix<'_>, runs: Option<&Runs<'_>>, plan: &Plan) -> Self {
        let own = &mix.candidates[0];
        let recorded = runs.map(|runs| runs.recorded(mix, plan)).unwrap_or_default();
        let mut answer = Self {
            connections: mix.transfers.len(),
            bytes: mix.bytes,
            control: own.name.clone(),
            simulated: own.model.clone(),
            parts: Kind::ALL.map(|kind| MixPart::of(mix, kind)).to_vec(),
            paths: plan.paths,
            interval: (plan.paths as f64 - 1.0) / (plan.paths as f64 + 1.0),
            simulated_bytes: None,
            unknown: Vec::new(),
            most_lost: mix.lost,
            over_recorded: recorded.map(|(over, _)| over),
            waited: recorded.map(|(_, waited)| waited),
            sentences: Vec::new(),
            controls: Vec::new(),
            changes: Vec::new(),
            groups: mix.groups.iter().filter_map(|group| Shown::of(mix, group)).collect(),
        };
        if let Some(runs) = runs {
            let largest = runs.groups.iter().map(|at| mix.groups[*at].transfer.bytes).max();
            answer.simulated_bytes =
                Some(plan.most_bytes).filter(|most| largest.is_some_and(|it| it > *most));
            answer.unknown = words::unknown(mix, runs);
            let (controls, take) = runs.controls(mix, plan);
            answer.controls = controls;
            let better = runs.table.better_somewhere(take);
            answer.changes = better.iter().map(|better| Change::of(runs.table, better)).collect();
        }
        answer.sentences = words::sentences(mix, runs, &answer);
        answer
    }
}

impl Runs<'_> {
    /// The controls that ran on all paths, those worth taking first, and the place of the best.
    fn controls(&self, mix: &Mix<'_>, plan: &Plan) -> (Vec<WhatIf>, usize) {
        let chosen = Chosen::of(self.table).0;
        let role = |at: usize| chosen.iter().find(|(of, _)| *of == at).map(|(_, role)| *role);
        let mut order: Vec<usize> = chosen.iter().map(|(at, _)| *at).collect();
        order.extend(self.table.complete().filter(|at| role(*at).is_none()));
        let all = order.into_iter().map(|at| WhatIf {
            control: mix.candidates[at].name.clone(),
            simulated: mix.candidates[at].model.clone(),
            role: role(at),
            gentle: self.table.is_gentle(at),
            over_own: self.table.over(at, 0),
            others: self.table.harm(at),
            stayed: self.effect(mix, plan, Kind::Stayed, at),
            left: self.effect(mix, plan, Kind::Left, at),
        });
        (all.collect(), chosen[0].0)
    }

    /// What a control does for the connections of a kind, if there are any.
    fn effect(&self, mix: &Mix<'_>, plan: &Plan, kind: Kind, at: usize) -> Option<Effect> {
        let columns = self.groups.len();
        let of_kind: Vec<(usize, &Group<'_>)> = (0..columns)
            .map(|column| (column, &mix.groups[self.groups[column]]))
            .filter(|(_, group)| group.kind == kind)
            .collect();
        if of_kind.is_empty() {
            return None;
        }
        let over_paths = |number: &dyn Fn(usize) -> f64| -> Over {
            Over::of((0..plan.paths).map(|path| number(path * columns)).collect())
        };
        let saved = |share: f64, is_share: bool| {
            over_paths(&|from| {
                let saved = of_kind.iter().map(|(column, group)| {
                    let [own, other] = [0, at].map(|at| self.table.runs[at][from + column].seconds);
                    let over = if is_share { own } else { 1.0 };
                    ((own - other) / over, group.stands_for)
                });
                quantile(saved.collect(), share)
            })
        };
        let again = |at: usize| {
            over_paths(&|from| {
                let sums = of_kind.iter().map(|(column, group)| {
                    let packets = plan.of(group.transfer.bytes) as f64 * group.stands_for as f64;
                    (self.table.runs[at][from + column].again * packets, packets)
                });
                let (again, all) = sums.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                again / all
            })
        };
        Some(Effect {
            saved_p10_s: saved(0.1, false),
            saved_median_s: saved(0.5, false),
            saved_p90_s: saved(0.9, false),
            saved_p10: saved(0.1, true),
            saved_median: saved(0.5, true),
            saved_p90: saved(0.9, true),
            again: again(at),
            own_again: again(0),
        })
    }

    /// The time of their control as simulated over that recorded, median, and the share of those
    /// that took much longer than on any path; of transfers that are simulated whole.
    fn recorded(&self, mix: &Mix<'_>, plan: &Plan) -> Option<(f64, f64)> {
        let columns = self.groups.len();
        let (mut over, mut waited, mut all) = (Vec::new(), 0, 0);
        for (column, group) in self.groups.iter().map(|at| &mix.groups[*at]).enumerate() {
            let whole = group.transfer.bytes <= plan.most_bytes;
            let recorded = group.transfer.duration_s.filter(|seconds| whole && *seconds > 0.0);
            let Some(recorded) = recorded else { continue };
            let times = (0..plan.paths).map(|path| self.table.runs[0][path * columns + column]);
            let times = Over::of(times.map(|took| took.seconds).collect());
            over.push((times.median / recorded, group.stands_for));
            all += group.stands_for;
            waited += if recorded > WAITED * times.most { group.stands_for } else { 0 };
        }
        (all > 0).then(|| (quantile(over, 0.5), waited as f64 / all as f64))
    }
}

impl MixPart {
    fn of(mix: &Mix<'_>, kind: Kind) -> Self {
        let groups = || mix.groups.iter().filter(move |group| group.kind == kind);
        let connections: usize = groups().map(|group| group.stands_for).sum();
        let bytes: u64 = groups().map(|group| group.bytes).sum();
        Self {
            kind: kind.name(),
            connections,
            share: connections as f64 / mix.transfers.len().max(1) as f64,
            share_of_bytes: bytes as f64 / mix.bytes.max(1) as f64,
            groups: if kind.is_simulated() { groups().count() } else { 0 },
        }
    }
}

impl Shown {
    fn of(mix: &Mix<'_>, group: &Group<'_>) -> Option<Self> {
        let path = mix.rtt_and_rate(group.transfer).ok().filter(|_| group.kind.is_simulated());
        path.map(|(rtt_s, rate)| {
            let (least, most) = bounds(rate);
            let (kind, bytes) = (group.kind.name(), group.transfer.bytes);
            Self { kind, stands_for: group.stands_for, bytes, rtt_s, rate_bps: [least, most] }
        })
    }
}

impl Over {
    fn of(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        let last = numbers.len() - 1;
        let median = (numbers[last / 2] + numbers[last.div_ceil(2)]) / 2.0;
        Self { median, least: numbers[0], most: numbers[last] }
    }
}

/// The number that so large a share does not exceed; each counts so many times.
fn quantile(mut numbers: Vec<(f64, usize)>, share: f64) -> f64 {
    numbers.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all: usize = numbers.iter().map(|(_, times)| times).sum();
    let mut seen = 0;
    let found = numbers.iter().find(|(_, times)| {
        seen += times;
        seen as f64 >= share * all as f64
    });
    found.or(numbers.last()).map_or(0.0, |(number, _)| *number)
}

/// A transfer that takes this many times as long as simulated waits for something else.
pub(super) const WAITED: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_counts_a_group_by_its_connections() {
        let numbers = vec![(3.0, 1), (1.0, 8), (2.0, 1)];
        let at = |share| quantile(numbers.clone(), share);
        assert_eq!([at(0.5), at(0.8), at(0.85), at(0.95)], [1.0, 1.0, 2.0, 3.0]);
        let over = Over::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(over, Over { median: 2.5, least: 1.0, most: 4.0 });
    }
}
