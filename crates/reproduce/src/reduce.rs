//! How the values of several cases, or of many seeds, become one number.

use firstflight_results::statistics::{mean, mean_and_interval, median};

use crate::file::Reduce;

/// The value of a case and its place on the x axis, where it has one.
pub(crate) type PlottedValue = (Option<f64>, Option<f64>);

/// One number for the values at `points`: the first where `how` is `None`. There is none where a
/// value is missing.
pub(crate) fn reduce(how: Option<Reduce>, points: &[PlottedValue]) -> Option<f64> {
    let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect::<Option<_>>()?;
    let smallest = values.iter().copied().reduce(f64::min)?;
    let largest = values.iter().copied().reduce(f64::max)?;
    let (first, last) = (values.first()?, values.last()?);
    match how {
        None => Some(*first),
        Some(Reduce::Min) => Some(smallest),
        Some(Reduce::Max) => Some(largest),
        Some(Reduce::Mean) => mean(values),
        Some(Reduce::SpreadPercent) => Some(100.0 * (largest - smallest) / largest),
        Some(Reduce::Growth) => Some(last / first),
        Some(Reduce::ZeroFrom) => zero_from(points),
        Some(Reduce::Median) => median(values),
        Some(Reduce::XOfLargest) => x_of_largest(points.iter().map(|(x, value)| (*x, *value))),
        Some(Reduce::XOfFall) => x_of_largest(steps(points).map(|(x, by)| (x, by.map(|by| -by)))),
        Some(Reduce::XOfRise) => x_of_largest(steps(points)),
    }
}

/// Half the width of the 95 % confidence interval, by Student's t, of the ratio of two means over
/// one set of seeds. It is computed from residuals, because a seed gives both runs equal random
/// sources. Few seeds, or values without spread, have no interval.
pub(crate) fn margin_of_ratio(top: &[f64], bottom: &[f64]) -> Option<f64> {
    if top.len() != bottom.len() || top.len() < SEEDS_FOR_MARGIN {
        return None;
    }
    let below = mean(bottom.iter().copied())?;
    let ratio = mean(top.iter().copied())? / below;
    let residuals: Vec<f64> = top.iter().zip(bottom).map(|(t, b)| t - ratio * b).collect();
    let margin = mean_and_interval(&residuals).1? / below;
    Some(margin).filter(|margin| margin.is_finite() && *margin > 0.0)
}

/// The least number of seeds for an interval.
const SEEDS_FOR_MARGIN: usize = 5;

/// From each point to the next: the x before, and the change.
fn steps(points: &[PlottedValue]) -> impl Iterator<Item = PlottedValue> + '_ {
    points.windows(2).map(|pair| (pair[0].0, pair[1].1.zip(pair[0].1).map(|(to, from)| to - from)))
}

fn x_of_largest(points: impl Iterator<Item = PlottedValue>) -> Option<f64> {
    let known = points.filter_map(|(x, value)| x.zip(value));
    known.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(x, _)| x)
}

/// The smallest x from which on every value is zero; `None` if the last one is not.
fn zero_from(points: &[PlottedValue]) -> Option<f64> {
    let mut sorted: Vec<(f64, f64)> = points.iter().filter_map(|(x, v)| x.zip(*v)).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    sorted.iter().take_while(|(_, value)| *value == 0.0).last().map(|(x, _)| *x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_cases_become_one_number() {
        let at = |values: &[f64]| -> Vec<_> {
            values.iter().enumerate().map(|(i, v)| (Some(i as f64), Some(*v))).collect()
        };
        let points = at(&[10.0, 40.0, 20.0]);
        let value = |how| reduce(Some(how), &points);
        assert_eq!(value(Reduce::Min), Some(10.0));
        assert_eq!(value(Reduce::Max), Some(40.0));
        assert_eq!(value(Reduce::Mean), Some(70.0 / 3.0));
        assert_eq!(value(Reduce::SpreadPercent), Some(75.0));
        assert_eq!(value(Reduce::Growth), Some(2.0));
        assert_eq!(reduce(Some(Reduce::ZeroFrom), &at(&[9.0, 3.0, 0.0, 0.0])), Some(2.0));
        assert_eq!(reduce(Some(Reduce::ZeroFrom), &at(&[0.0, 3.0, 0.0])), Some(2.0));
        assert_eq!(reduce(Some(Reduce::ZeroFrom), &at(&[0.0, 1.0])), None);
        assert_eq!(reduce(Some(Reduce::Min), &[(None, None), (None, Some(1.0))]), None);
        let hill = at(&[10.0, 40.0, 45.0, 20.0, 30.0]);
        let value = |how| reduce(Some(how), &hill);
        assert_eq!(value(Reduce::Median), Some(30.0));
        assert_eq!(reduce(Some(Reduce::Median), &hill[..4]), Some(30.0));
        assert_eq!(value(Reduce::XOfLargest), Some(2.0));
        assert_eq!(value(Reduce::XOfFall), Some(2.0));
        assert_eq!(value(Reduce::XOfRise), Some(0.0));
    }

    #[test]
    fn a_margin_is_that_of_the_mean_or_of_the_ratio_over_the_same_seeds() {
        // Deviation 1 of 16 values: standard deviation sqrt(16/15), error that over 4.
        let top: Vec<f64> = (0..16).map(|i| if i % 2 == 0 { 9.0 } else { 11.0 }).collect();
        let alone = margin_of_ratio(&top, &[1.0; 16]).unwrap();
        // Student's t of 15 degrees of freedom is 2.131.
        assert!((alone - 2.131 * (16.0_f64 / 15.0).sqrt() / 4.0).abs() < 1e-12);
        let half = margin_of_ratio(&top, &[2.0; 16]).unwrap();
        assert!((half - alone / 2.0).abs() < 1e-12);
        let bottom: Vec<f64> = top.iter().map(|value| value * 3.0).collect();
        assert_eq!(margin_of_ratio(&top, &bottom), None, "the ratio is the same with every seed");
        assert!(margin_of_ratio(&top[..5], &[1.0; 5]).is_some());
        assert_eq!(margin_of_ratio(&top[..4], &[1.0; 4]), None);
    }
}
