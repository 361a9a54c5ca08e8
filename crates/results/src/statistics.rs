//! Small measures over several values.

use std::collections::HashSet;

/// Jain's fairness index `(sum x)^2 / (n * sum x^2)`, from 1/n (one takes all) to 1 (equal shares).
///
/// No values, or only zeros, count as equal: 1. Values must be finite and not negative.
pub fn jain_index(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    if squares == 0.0 {
        return 1.0;
    }
    (sum * sum / (values.len() as f64 * squares)).min(1.0)
}

/// `part / whole`, or 0 when `whole` is 0: a measure is never NaN.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// The median of values: of an even number, the mean of the two in the middle. No value has none.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) =
        (values.get(values.len().saturating_sub(1) / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

/// The quantile at `share`, 0 to 1, with straight lines between neighbouring values. No value has
/// none.
pub fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let at = share.clamp(0.0, 1.0) * values.len().saturating_sub(1) as f64;
    let (low, high) = (values.get(at.floor() as usize)?, values.get(at.ceil() as usize)?);
    Some(low + (high - low) * at.fract())
}

/// The mean of values. No value has none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut count = 0.0;
    let sum: f64 = values.into_iter().inspect(|_| count += 1.0).sum();
    (count > 0.0).then(|| sum / count)
}

/// The mean of values, and the standard error of the mean: the sample's standard deviation over the
/// root of their number. No value has no mean, and fewer than two have no error.
pub fn mean_and_error(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let Some(mean) = mean(values.iter().copied()) else { return (None, None) };
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let error = (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
    (Some(mean), error)
}

/// The mean of values, and half the width of its 95 % confidence interval by Student's t. Fewer
/// than two values have no interval.
pub fn mean_and_interval(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let (mean, error) = mean_and_error(values);
    (mean, error.map(|error| error * student_95(values.len() - 1)))
}

/// How many packets a link had sent at several times, from how many it had taken in by the end of
/// each sampled interval: it sends at its rate as long as it holds any. Samples bear the beginning
/// of their interval, and intervals in which no packet came are left out.
pub fn sent_by_link(taken_in: &[(f64, f64)], packets_per_s: f64) -> Vec<(f64, f64)> {
    let gaps = taken_in.windows(2).map(|two| two[1].0 - two[0].0);
    let interval_s = gaps.reduce(f64::min).unwrap_or(0.0);
    let (mut time, mut taken, mut sent) = (0.0, 0.0_f64, 0.0);
    let mut points = Vec::with_capacity(2 * taken_in.len());
    for (begin, count) in taken_in {
        for (until, taken) in [(*begin, taken), (begin + interval_s, *count)] {
            sent = taken.min(sent + (until - time).max(0.0) * packets_per_s);
            time = until;
            points.push((time, sent));
        }
        taken = *count;
    }
    points
}

/// When a count that only rises has first risen at `rate` per second or faster over the `period_s`
/// seconds before. Between its points, which are in order, it is straight, and 0 before the first.
pub fn first_at_rate(count: &[(f64, f64)], period_s: f64, rate: f64) -> Option<f64> {
    let mut before = 0;
    count.iter().find_map(|(time, value)| {
        let from = time - period_s;
        while count.get(before + 1).is_some_and(|(time, _)| *time <= from) {
            before += 1;
        }
        let earlier = match (count[before], count.get(before + 1)) {
            ((at, _), _) if at > from => 0.0,
            ((at, low), Some((next, high))) if *next > at => {
                low + (high - low) * (from - at) / (next - at)
            }
            ((_, low), _) => low,
        };
        (value - earlier >= rate * period_s).then_some(*time)
    })
}

/// The 97.5 % quantile of Student's t with so many degrees of freedom, to three digits.
fn student_95(freedom: usize) -> f64 {
    let exact = freedom.checked_sub(1).and_then(|i| STUDENT_95.get(i));
    // The first term of the expansion around the normal quantile: good to 0.01 beyond the table.
    exact.copied().unwrap_or(1.960 + 2.372 / freedom as f64)
}

/// The 97.5 % quantiles for 1 to 20 degrees of freedom, as every table of the distribution has
/// them.
const STUDENT_95: [f64; 20] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
];

/// Bits per second of `bytes` moved in `ns` nanoseconds; 0 in no time.
pub fn throughput_bps(bytes: u64, ns: u64) -> f64 {
    ratio(bytes as f64 * 8.0, seconds(ns))
}

/// Seconds of so many nanoseconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The distinct `names`, each once and in order of first appearance, for results of mixed runs.
pub fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut known = HashSet::new();
    names.filter(|name| known.insert(*name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_have_index_one_and_one_taker_one_over_n() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain_index(&[1.0, 3.0]), 0.8);
    }

    #[test]
    fn the_error_of_a_mean_shrinks_with_the_root_of_the_number() {
        // Deviations 1, 1, 1, 1 from 3: variance 4/3, over 4.
        assert_eq!(
            mean_and_error(&[2.0, 4.0, 2.0, 4.0]),
            (Some(3.0), Some((1.0_f64 / 3.0).sqrt()))
        );
        assert_eq!(mean_and_error(&[7.0]), (Some(7.0), None));
        assert_eq!(mean_and_error(&[]), (None, None));
    }

    #[test]
    fn the_interval_of_few_values_is_wider_than_two_errors() {
        // Error sqrt(1/3) of four values, times 3.182 for three degrees of freedom.
        let (_, half) = mean_and_interval(&[2.0, 4.0, 2.0, 4.0]);
        assert!((half.unwrap() - 3.182 * (1.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(mean_and_interval(&[7.0]), (Some(7.0), None));
        // 2.080, 2.042, 1.984 and 1.962 in tables.
        for (freedom, quantile) in [(21, 2.080), (30, 2.042), (100, 1.984), (1000, 1.962)] {
            assert!((student_95(freedom) - quantile).abs() < 0.01, "{freedom}");
        }
    }

    #[test]
    fn no_measure_is_ever_nan() {
        assert_eq!(jain_index(&[]), 1.0);
        assert_eq!(jain_index(&[0.0, 0.0]), 1.0);
        assert_eq!(throughput_bps(1000, 0), 0.0);
        assert_eq!(throughput_bps(1000, 1_000_000_000), 8000.0);
    }

    #[test]
    fn a_link_sends_what_it_took_in_at_its_rate() {
        // Six packets in the first second, one in the fifth, none in the sixth; two per second.
        let sent = sent_by_link(&[(0.0, 6.0), (4.0, 7.0), (5.0, 7.0)], 2.0);
        let expected = [(0.0, 0.0), (1.0, 2.0), (4.0, 6.0), (5.0, 7.0), (5.0, 7.0), (6.0, 7.0)];
        assert_eq!(sent, expected);
        assert!(sent_by_link(&[], 2.0).is_empty());
    }

    #[test]
    fn a_rate_is_reached_once_a_whole_period_had_it() {
        // Nothing for a second, then two per second.
        let count = [(1.0, 0.0), (2.0, 2.0), (5.0, 8.0)];
        assert_eq!(first_at_rate(&count, 1.0, 2.0), Some(2.0));
        assert_eq!(
            first_at_rate(&count, 3.0, 2.0),
            Some(5.0),
            "1 s to 2 s had it, the time before not"
        );
        assert_eq!(first_at_rate(&count, 1.0, 2.1), None);
        assert_eq!(first_at_rate(&[], 1.0, 0.0), None);
    }
}
