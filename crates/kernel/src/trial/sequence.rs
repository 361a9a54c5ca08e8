//! Statistics that hold at every moment: whoever looks after each connection, and stops at the
//! first that shows something, is wrong as seldom as was said beforehand.
//!
//! The interval is the normal mixture of Howard, Ramdas, McAuliffe and Sekhon (Time-uniform,
//! nonparametric, nonasymptotic confidence sequences, Annals of Statistics 49, 2021)
//! with the variance as it is estimated, which Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
//! justify for many scores (Time-uniform central limit theory and asymptotic confidence sequences,
//! Annals of Statistics 52, 2024). The check of the share is that of Lindon and Malek
//! (Anytime-valid inference for multinomial count data, NeurIPS 2022).

/// Scores whose mean is what is asked for. Those of a cluster depend on each other; the variance is
/// that of the sums of clusters, of a mean over a number of scores that varies (the linearised
/// ratio: Cochran, Sampling Techniques, chapter 6).
#[derive(Clone, Debug, Default)]
pub struct Scores {
    sum: f64,
    count: f64,
    clusters: f64,
    squares: f64,
    products: f64,
    squared_counts: f64,
}

/// What a cluster has added so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cluster {
    sum: f64,
    count: f64,
}

/// A mean, and the least and largest that are compatible with the scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Scores {
    /// Adds a score to a cluster.
    pub fn add(&mut self, cluster: &mut Cluster, score: f64) {
        let Cluster { sum, count } = *cluster;
        *cluster = Cluster { sum: sum + score, count: count + 1. };
        self.clusters += f64::from(u8::from(count == 0.));
        self.sum += score;
        self.count += 1.;
        self.squares += cluster.sum.powi(2) - sum.powi(2);
        self.products += cluster.sum * cluster.count - sum * count;
        self.squared_counts += cluster.count.powi(2) - count.powi(2);
    }

    /// The mean, which leaves the intervals of all times together with probability `alpha`; `None`
    /// without scores.
    pub fn interval(&self, alpha: f64) -> Option<Interval> {
        if self.count == 0. {
            return None;
        }
        let mean = self.sum / self.count;
        let variance =
            self.squares - 2. * mean * self.products + mean.powi(2) * self.squared_counts;
        let variance = variance.max(0.);
        let rho = tightest_at(CLUSTERS * variance / self.clusters, alpha);
        let half = mixture_bound(variance, rho, alpha) / self.count;
        Some(Interval { mean, low: mean - half, high: mean + half })
    }
}

/// What a sum with this variance exceeds at no time, in either direction, except with probability
/// `alpha` (the two-sided normal mixture of Howard and others 2021).
fn mixture_bound(variance: f64, rho: f64, alpha: f64) -> f64 {
    if variance == 0. {
        return 0.;
    }
    ((variance + rho) * (2. * (1. / alpha).ln() + (1. + variance / rho).ln())).sqrt()
}

/// The parameter with which the bound is least, compared with the variance, near this variance
/// (as their program confseq takes it).
fn tightest_at(variance: f64, alpha: f64) -> f64 {
    let twice = 2. * (1. / alpha).ln();
    variance / (twice + (1. + twice).ln())
}

/// The interval is tightest at so many clusters, and its z value within a tenth of that from a
/// third of it on: a few prefixes for an hour, or many for minutes.
const CLUSTERS: f64 = 1000.;

/// Whether as many are dealt into the arm as its share says; if not, records are lost or dealing is
/// broken, and no comparison holds. It is a Bayes factor of shares around the one that was meant.
#[derive(Clone, Debug)]
pub struct ShareCheck {
    share: f64,
    dealt: [f64; 2],
    evidence: f64,
    most: f64,
}

impl ShareCheck {
    /// None was dealt yet.
    pub const fn new(share: f64) -> Self {
        Self { share, dealt: [0.; 2], evidence: 0., most: 0. }
    }

    /// One was dealt.
    pub fn take(&mut self, treated: bool) {
        let meant = if treated { self.share } else { 1. - self.share };
        let arm = usize::from(treated);
        // What the prior expects after those before, over what was meant.
        let expected = (WEIGHT * meant + self.dealt[arm]) / (WEIGHT + self.all());
        self.dealt[arm] += 1.;
        self.evidence += (expected / meant).ln();
        self.most = self.most.max(self.evidence);
    }

    fn all(&self) -> f64 {
        self.dealt[0] + self.dealt[1]
    }

    /// A bound of the probability that a right share looks as wrong as this one did at its worst.
    pub fn p_value(&self) -> f64 {
        (-self.most).exp()
    }

    /// The share that was dealt; 0 of none.
    pub fn found(&self) -> f64 {
        self.dealt[1] / self.all().max(1.)
    }
}

/// The prior has the weight of so many connections: it looks for shares that are wrong by about
/// the spread of that many.
const WEIGHT: f64 = 1000.;

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of 1 and -1 by turns, `size` of a kind in each cluster.
    fn scores(clusters: u32, size: u32) -> Scores {
        let mut scores = Scores::default();
        for number in 0..clusters {
            let mut cluster = Cluster::default();
            let score = if number % 2 == 0 { 1. } else { -1. };
            (0..size).for_each(|_| scores.add(&mut cluster, score));
        }
        scores
    }

    /// `normal_mixture_bound(v, alpha, 1000, alpha, False)` of Python's confseq 0.0.11.
    #[test]
    fn the_bound_is_the_one_of_its_authors_program() {
        for (clusters, alpha, bound) in [
            (40, 0.01, 34.857_360),
            (100, 0.05, 38.550_546),
            (1000, 0.05, 95.981_736),
            (1000, 0.001, 132.998_025),
            (10_000, 0.0033, 406.079_905),
        ] {
            let Interval { mean, low, high } = scores(clusters, 1).interval(alpha).unwrap();
            assert_eq!(mean, 0.);
            assert!((high * f64::from(clusters) - bound).abs() < 1e-6, "{clusters}: {high}");
            assert_eq!(low, -high);
        }
    }

    #[test]
    fn a_cluster_of_equal_scores_tells_no_more_than_one_of_them() {
        let one = scores(100, 1).interval(0.05).unwrap();
        let many = scores(100, 7).interval(0.05).unwrap();
        assert!((one.high - many.high).abs() < 1e-12, "{one:?} {many:?}");
        assert_eq!(Scores::default().interval(0.05), None);
    }

    /// Clusters whose sums are in proportion to their sizes are without error.
    #[test]
    fn clusters_of_different_sizes_are_compared_by_their_means() {
        let mut scores = Scores::default();
        for size in 1..50 {
            let mut cluster = Cluster::default();
            (0..size).for_each(|_| scores.add(&mut cluster, 3.));
        }
        let Interval { mean, low, high } = scores.interval(0.05).unwrap();
        assert_eq!((mean, (high - low) < 1e-6), (3., true));
    }

    /// The values are of `beta_binomial_log_mixture` of Python's confseq 0.0.11, with g the share,
    /// h = 1 - g, and `v_opt` chosen so that the prior weighs as many connections as `WEIGHT`.
    #[test]
    fn the_evidence_against_a_share_is_the_one_of_their_program() {
        for (share, treated, all, evidence) in [
            (0.05, 30, 400, 0.488_346),
            (0.05, 5, 100, -0.047_807),
            (0.5, 260, 500, -0.069_390),
            (0.05, 900, 10_000, 125.517_327),
        ] {
            let mut check = ShareCheck::new(share);
            (0..all).for_each(|number| check.take(number < treated));
            assert!((check.evidence - evidence).abs() < 1e-6, "{share}: {check:?}");
            assert_eq!(check.found(), f64::from(treated) / f64::from(all));
        }
    }
}
