//! Small measures over several values.

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

/// The mean of values, and the standard error of the mean: the sample's standard deviation over the
/// root of their number. No value has no mean, and fewer than two have no error.
pub fn mean_and_error(values: &[f64]) -> (Option<f64>, Option<f64>) {
    if values.is_empty() {
        return (None, None);
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
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
    ratio(bytes as f64 * 8.0 * 1e9, ns as f64)
}

/// The distinct `names`, each once and in order of first appearance, for results of mixed runs.
pub fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.join(", ")
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
}
