//! The median of a few values, and the confidence interval of the median of all that could be
//! measured.

use serde::Serialize;

/// A median with its 95 % confidence interval by order statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Median {
    pub(super) median: f64,
    /// Least and largest value of the interval; `None` for fewer than six values.
    pub(super) interval: Option<(f64, f64)>,
}

impl Median {
    /// The median of at most a thousand values; `None` for none.
    ///
    /// The interval holds whatever the distribution is (David and Nagaraja, Order Statistics,
    /// section 7.1). Each value is below the true median with probability 1/2. So the probability
    /// that the k-th smallest value exceeds the median is P(B < k), where B is binomial with n
    /// trials of 1/2; the k-th largest falls short of it with the same probability. The interval
    /// lies between these two values, for the largest k at which P(B < k) is at most 2.5 %.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let upper = values.get(n / 2)?;
        let median = f64::midpoint(values[(n - 1) / 2], *upper);
        let (mut k, mut below, mut term) = (0, 0.0, 0.5_f64.powf(n as f64));
        while 2 * k < n && below + term <= TAIL {
            below += term;
            k += 1;
            term *= (n + 1 - k) as f64 / k as f64;
        }
        let interval = (k > 0).then(|| (values[k - 1], values[n - k]));
        Some(Self { median, interval })
    }
}

/// On each side of the interval.
const TAIL: f64 = 0.025;

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranks that tables of the sign test have for two-sided 95 %.
    #[test]
    fn the_ranks_are_those_of_the_sign_test() {
        let tables = [(6, 1), (8, 1), (9, 2), (12, 3), (15, 4), (20, 6), (25, 8), (100, 40)];
        for (n, k) in tables {
            let values = (1..=n).rev().map(f64::from);
            let expected = (f64::from(k), f64::from(n + 1 - k));
            assert_eq!(Median::of(values).unwrap().interval, Some(expected), "{n}");
        }
        assert!(Median::of((0..1_000).map(f64::from)).unwrap().interval.is_some());
    }

    #[test]
    fn few_values_have_a_median_and_no_interval() {
        assert_eq!(Median::of([3.0, 1.0]), Some(Median { median: 2.0, interval: None }));
        assert_eq!(Median::of([5.0, 1.0, 4.0, 2.0, 3.0]).unwrap().interval, None);
        assert_eq!(Median::of([]), None);
    }
}
