//! Time against loss: where a control and the references stand, and the Pareto front.

use firstflight_report::{Axis, Figure, Panel, Section, Series};

use crate::judgement::{Judged, Judgement};
use crate::measured::Measured;
use crate::rules::REFERENCES;

/// The means of each control with their front, and every scenario. Nothing where slow start or the
/// control has no times.
pub(crate) fn plane(judgement: &Judgement) -> Option<Section> {
    let mut names: Vec<&str> = vec![&judgement.control];
    names.extend(judgement.references.iter().map(String::as_str));
    names.dedup();
    let common =
        |judged: &&Judged| names.iter().all(|name| point(judged, name, judgement).is_some());
    let scenarios: Vec<&Judged> = judgement.scenarios.iter().filter(common).collect();
    if scenarios.is_empty() {
        return None;
    }
    let loss = Axis::new("lost", "%");
    let (mut means, mut each) = (Vec::new(), Panel::new(loss.clone()));
    let mut middle = Panel::new(Axis::new("lost, mean", "%"));
    for name in &names {
        let points: Vec<(f64, f64)> =
            scenarios.iter().filter_map(|judged| point(judged, name, judgement)).collect();
        means.push(mean(&points));
        middle = middle.with(Series::points(*name, vec![mean(&points)]));
        each = each.with(Series::points(*name, points));
    }
    middle = middle.with(Series::reference("Pareto front", front(&means)));
    let axis = || Axis::new("completion over slow start's", "");
    let count = scenarios.len();
    let of_means =
        Figure::new("plane", "Time against loss: means", axis()).panel(middle).caption(format!(
            "The geometric mean of completion times as multiples of slow start's, and the mean \
             share of packets lost at the bottleneck, over the {count} scenarios in which all \
             controls were done. Left and low is good; the line joins those that no other beats in \
             both."
        ));
    let of_each = Figure::new("plane-each", "Time against loss: every scenario", axis())
        .panel(each)
        .caption("A point per scenario and control.");
    let section = Section::new("time-and-loss", "Time against loss");
    Some(section.figure(of_means).figure(of_each))
}

/// A scenario's place on the plane: completion over slow start's, and what was lost in percent;
/// none where the control or slow start was not done.
pub fn place(judged: &Judged, judgement: &Judgement) -> Option<(f64, f64)> {
    point(judged, &judgement.control, judgement)
}

/// Completion over slow start's, and what was lost in percent.
fn point(judged: &Judged, name: &str, judgement: &Judgement) -> Option<(f64, f64)> {
    let of = |name: &str| -> Option<&Measured> {
        let ours = name == judgement.control;
        if ours { Some(&judged.measured) } else { judged.references.get(name) }
    };
    let slow_start = of(REFERENCES[0])?.completion_s?;
    let measured = of(name)?;
    Some((measured.completion_s? / slow_start, measured.lost_share? * 100.0))
}

/// The geometric mean of ratios and the mean of shares.
pub fn mean(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len().max(1) as f64;
    let logs: f64 = points.iter().map(|(ratio, _)| ratio.max(f64::MIN_POSITIVE).ln()).sum();
    ((logs / count).exp(), points.iter().map(|(_, lost)| lost).sum::<f64>() / count)
}

/// The points that no other is at least as good as in both and better in one, from left to right.
pub fn front(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let dominates =
        |one: &(f64, f64), other: &(f64, f64)| one.0 <= other.0 && one.1 <= other.1 && one != other;
    let best = points.iter().filter(|point| !points.iter().any(|other| dominates(other, point)));
    let mut best: Vec<(f64, f64)> = best.copied().collect();
    best.sort_by(|one, other| one.0.total_cmp(&other.0));
    best.dedup();
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_has_what_nothing_is_better_than_in_both() {
        let points = [(1.0, 5.0), (0.9, 6.0), (1.1, 1.0), (1.2, 1.0), (1.0, 5.0)];
        assert_eq!(front(&points), [(0.9, 6.0), (1.0, 5.0), (1.1, 1.0)]);
        assert!(front(&[]).is_empty());
    }

    #[test]
    fn twice_as_long_and_half_as_long_are_no_difference_in_the_mean() {
        let (ratio, lost) = mean(&[(2.0, 1.0), (0.5, 3.0)]);
        assert!((ratio - 1.0).abs() < 1e-12 && (lost - 2.0).abs() < 1e-12);
    }
}
