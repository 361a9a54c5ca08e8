//! Thins long series for drawing without losing their peaks.

/// At most this many points of a series go into a picture people zoom into.
pub(crate) const SCREEN_POINTS: usize = 4_000;

/// Keeps the lowest and the highest point of each of equally filled buckets, and both ends.
///
/// Order is kept. A gap (a value that is not finite) in a bucket survives as one gap. A series of
/// `limit` points or fewer is returned as it is; `limit` must be at least 8.
pub(crate) fn thin(points: &[(f64, f64)], limit: usize) -> Vec<(f64, f64)> {
    debug_assert!(limit >= 8);
    if points.len() <= limit {
        return points.to_vec();
    }
    let gaps = points.iter().any(|(_, y)| !y.is_finite());
    let buckets = (limit - 2) / if gaps { 3 } else { 2 };
    let inner = &points[1..points.len() - 1];
    let mut kept = Vec::with_capacity(limit);
    kept.push(points[0]);
    for bucket in 0..buckets {
        let (from, to) = (bucket * inner.len() / buckets, (bucket + 1) * inner.len() / buckets);
        kept.extend(extremes(inner, from, to).into_iter().map(|index| inner[index]));
    }
    kept.push(points[points.len() - 1]);
    kept
}

/// Where the lowest value, the highest value and the first gap are, ascending and without repeats.
fn extremes(points: &[(f64, f64)], from: usize, to: usize) -> Vec<usize> {
    let finite = |index: &usize| points[*index].1.is_finite();
    let by_value = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
    let low = (from..to).filter(finite).min_by(by_value);
    let high = (from..to).filter(finite).max_by(by_value);
    let gap = (from..to).find(|index| !finite(index));
    let mut found: Vec<usize> = [low, high, gap].into_iter().flatten().collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp_with_spike(len: u32, spike: u32) -> Vec<(f64, f64)> {
        (0..len).map(|i| (f64::from(i), if i == spike { 1e6 } else { f64::from(i) })).collect()
    }

    #[test]
    fn a_single_spike_and_both_ends_survive() {
        let points = ramp_with_spike(100_000, 54_321);
        let thinned = thin(&points, 4_000);
        assert!(thinned.len() <= 4_000 && thinned.len() > 3_900, "{}", thinned.len());
        assert!(thinned.contains(&(54_321.0, 1e6)));
        assert_eq!(thinned.first(), points.first());
        assert_eq!(thinned.last(), points.last());
        assert!(thinned.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn a_short_series_is_left_alone() {
        let points = ramp_with_spike(4_000, 17);
        assert_eq!(thin(&points, 4_000), points);
    }

    #[test]
    fn what_falls_stays_in_its_order() {
        let points: Vec<_> = (0..100_000).map(|i| (f64::from(i), -f64::from(i))).collect();
        assert!(thin(&points, 4_000).is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn a_gap_survives() {
        let mut points = ramp_with_spike(50_000, 1);
        points[25_000].1 = f64::NAN;
        let gaps = thin(&points, 4_000).iter().filter(|(_, y)| y.is_nan()).count();
        assert_eq!(gaps, 1);
    }

    #[test]
    fn many_gaps_do_not_break_the_limit() {
        let mut points = ramp_with_spike(50_000, 1);
        points.iter_mut().step_by(5).for_each(|point| point.1 = f64::NAN);
        assert!(thin(&points, 4_000).len() <= 4_000);
    }
}
