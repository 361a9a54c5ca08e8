//! Compares runs of firstflight with those of another program: which quantities, and how much each
//! may differ.

use crate::explained::Accepted;

/// A quantity of a run.
pub(crate) struct Measure<R> {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&R) -> f64,
    /// Digits behind the point.
    pub(crate) digits: usize,
    pub(crate) accepted: Accepted,
}

/// Runs of one point.
#[derive(Debug)]
pub(crate) struct Sides<R> {
    /// One, or one for each seed where something is random.
    pub(crate) ours: Vec<R>,
    /// The other program's.
    pub(crate) other: Vec<R>,
    /// Ours on paths near the point: what differs there too is chance.
    pub(crate) nearby: Vec<R>,
}

impl<R> Sides<R> {
    /// The mean of ours and of the other's.
    pub(crate) fn means(&self, measure: &Measure<R>) -> [f64; 2] {
        [&self.ours, &self.other]
            .map(|runs| runs.iter().map(measure.of).sum::<f64>() / runs.len().max(1) as f64)
    }

    /// By how much ours has more, per cent of the other's.
    pub(crate) fn percent(&self, measure: &Measure<R>) -> f64 {
        let [ours, other] = self.means(measure);
        percent(ours, other)
    }

    pub(crate) fn differs(&self, measure: &Measure<R>) -> bool {
        let [ours, other] = self.means(measure);
        !measure.accepted.holds(ours, other)
    }

    /// All runs of ours.
    pub(crate) fn own(&self) -> impl Iterator<Item = &R> {
        self.ours.iter().chain(&self.nearby)
    }

    /// The least and the most of them.
    pub(crate) fn range(&self, measure: &Measure<R>) -> (f64, f64) {
        let all = self.own().map(measure.of);
        all.fold((f64::MAX, 0.0), |(least, most), it| (it.min(least), it.max(most)))
    }
}

/// By how much `ours` is more, per cent of `other`.
pub(crate) fn percent(ours: f64, other: f64) -> f64 {
    if ours == other { 0.0 } else { 100.0 * (ours - other) / other.max(1e-9) }
}

/// How far the rows of a table are apart, in per cent, from the least to the most.
pub(crate) struct Spread(Vec<f64>);

impl Spread {
    pub(crate) fn of(percents: impl Iterator<Item = f64>) -> Self {
        let mut percents: Vec<f64> = percents.map(f64::abs).collect();
        percents.sort_by(f64::total_cmp);
        Self(percents)
    }

    /// Half of all are at most this far apart.
    pub(crate) fn half(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(0.0)
    }

    pub(crate) fn most(&self) -> f64 {
        self.0.last().copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: Measure<f64> = Measure {
        name: "value",
        of: |value| *value,
        digits: 0,
        accepted: Accepted { percent: 5.0, least: 1.0 },
    };

    #[test]
    fn the_larger_of_a_share_and_a_least_amount_is_accepted() {
        let differs = |ours, other| {
            Sides { ours: vec![ours], other: vec![other], nearby: Vec::new() }.differs(&VALUE)
        };
        assert!(!differs(105.0, 100.0) && differs(106.0, 100.0) && differs(94.0, 100.0));
        assert!(!differs(3.0, 2.0) && differs(4.0, 2.0));
    }

    #[test]
    fn runs_are_taken_together_and_those_beside_the_point_widen_the_range() {
        let sides = Sides { ours: vec![9.0, 11.0], other: vec![8.0], nearby: vec![12.0] };
        assert_eq!((sides.means(&VALUE), sides.percent(&VALUE)), ([10.0, 8.0], 25.0));
        assert_eq!(sides.range(&VALUE), (9.0, 12.0));
        assert_eq!((percent(0.0, 0.0), percent(1.0, 0.0)), (0.0, 1e11));
        let spread = Spread::of([-3.0, 1.0, 2.0].into_iter());
        assert_eq!((spread.half(), spread.most()), (2.0, 3.0));
    }
}
