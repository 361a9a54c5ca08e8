//! What the connections of a trial say of its two controls.
//!
//! A connection counts for the arm that it was dealt, whatever control it had in the end (intention
//! to treat). Each measure has scores whose mean is the treated arm's mean less the other's: a
//! value's distance from what was expected of it beforehand, weighted by the inverse of the
//! probability of its arm. Connections that begin in one minute towards one prefix share a queue,
//! and are one cluster.

use std::collections::HashMap;
use std::net::IpAddr;

use super::sequence::{Cluster, Interval, Scores, ShareCheck};

/// What is dealt into an arm at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Each connection.
    Connection,
    /// The connections towards a prefix, anew every minute.
    Prefix,
    /// All connections, anew every minute.
    Time,
}

/// A measure, and what is worse of it.
#[derive(Debug)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// Its unit: seconds, bytes, or a share `of` something.
    pub unit: &'static str,
    /// Its values are logarithms: a difference is a ratio.
    pub is_log: bool,
    /// More is worse.
    pub more_is_worse: bool,
}

/// What is measured of a connection, in the order of its values.
pub const MEASURES: [Measure; 6] = [
    Measure { name: "time to the bytes", unit: "s", is_log: true, more_is_worse: true },
    Measure { name: "bytes at the age", unit: "bytes", is_log: true, more_is_worse: false },
    Measure { name: "RTT", unit: "s", is_log: true, more_is_worse: true },
    Measure { name: "sent again", unit: "of bytes", is_log: false, more_is_worse: true },
    Measure { name: "with a timeout", unit: "of connections", is_log: false, more_is_worse: true },
    Measure { name: "broken off", unit: "of connections", is_log: false, more_is_worse: true },
];

/// The values of a connection, where they are known; logarithms are natural.
pub type Values = [Option<f64>; MEASURES.len()];

/// What is seen of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConnectionRecord {
    /// Until a number of bytes was acknowledged, in seconds.
    pub time_to_bytes: Option<f64>,
    /// Bytes acknowledged by an age.
    pub bytes_at_age: f64,
    /// The smoothed RTT, in seconds; 0 for unknown.
    pub rtt: f64,
    /// Bytes that were acknowledged.
    pub acked: u64,
    /// Bytes that were sent again.
    pub sent_again: u64,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// It closed before both sides had finished.
    pub broken: bool,
}

impl ConnectionRecord {
    /// The values of [`MEASURES`].
    pub fn values(&self) -> Values {
        let is = |holds: bool| Some(f64::from(u8::from(holds)));
        let logarithm = |value: f64| (value > 0.).then(|| value.ln());
        let sent = self.acked.saturating_add(self.sent_again);
        [
            self.time_to_bytes.and_then(logarithm),
            Some(self.bytes_at_age.max(0.).ln_1p()),
            logarithm(self.rtt),
            (sent > 0).then(|| self.sent_again as f64 / sent as f64),
            is(self.timeouts > 0),
            is(self.broken),
        ]
    }
}

/// The addresses that share a queue as far as anybody knows: a /24 of IPv4, a /48 of IPv6, as
/// c/bpf/trial.bpf.c deals them.
pub fn prefix_of(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => u128::from(address.to_bits() >> 8),
        IpAddr::V6(address) => address.to_bits() >> 80 << 80,
    }
}

/// What became of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The arm that it was dealt.
    pub treated: bool,
    /// The other end's prefix.
    pub prefix: u128,
    /// The minute in which it began, of a clock that never goes back.
    pub minute: u64,
    /// What was measured.
    pub values: Values,
}

/// The connections of a trial so far.
#[derive(Debug)]
pub struct Judge {
    by: By,
    share: f64,
    tolerance: f64,
    dealt: ShareCheck,
    connections: [u64; 2],
    measures: [Tally; MEASURES.len()],
    /// The clusters of the last [`MINUTES`]; a connection that is reported later is a cluster of
    /// its own.
    clusters: HashMap<(u128, u64), [InCluster; MEASURES.len()]>,
    newest: u64,
    expected: HashMap<u128, [Mean; MEASURES.len()]>,
}

/// A measure over all connections.
#[derive(Clone, Debug, Default)]
struct Tally {
    arms: [Mean; 2],
    /// Clusters in which each arm is.
    clusters: [u64; 2],
    scores: Scores,
}

/// A measure in one cluster.
#[derive(Clone, Copy, Debug, Default)]
struct InCluster {
    has: [bool; 2],
    scores: Cluster,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.;
    }

    fn of(self) -> Option<f64> {
        (self.count > 0.).then(|| self.sum / self.count)
    }

    /// The mean of these values and of [`PRIOR_COUNT`] values that equal `all`, the mean of all
    /// connections.
    fn shrunk_toward(self, all: f64) -> f64 {
        (self.sum + PRIOR_COUNT * all) / (self.count + PRIOR_COUNT)
    }
}

/// What one measure shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// Mean of the arm that is not treated.
    pub control: f64,
    /// Mean of the treated one.
    pub treated: f64,
    /// By how much the treated arm's mean is more, as an interval that holds at every time.
    pub more: Interval,
    /// What follows.
    pub verdict: Verdict,
}

/// What an interval says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds worse and better.
    Open,
    /// All of it is worse by more than is tolerated.
    Worse,
    /// All of it is better by more than that.
    Better,
}

/// Why a trial is to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// This measure is worse.
    Harm(usize),
    /// Not the share that was meant is in the treated arm, but this one.
    Share(f64),
}

impl Judge {
    /// A judge that has seen no connection. `share` is the probability of the treated arm; a
    /// worsening or an improvement up to `tolerance`, a part of the other arm's value, is none.
    pub fn new(by: By, share: f64, tolerance: f64) -> Self {
        Self {
            by,
            share,
            tolerance,
            dealt: ShareCheck::new(share),
            connections: [0; 2],
            measures: Default::default(),
            clusters: HashMap::new(),
            newest: 0,
            expected: HashMap::new(),
        }
    }

    /// Takes a connection in.
    pub fn take(&mut self, outcome: &Outcome) {
        let arm = usize::from(outcome.treated);
        self.connections[arm] += 1;
        if outcome.minute > self.newest {
            self.newest = outcome.minute;
            let oldest = outcome.minute.saturating_sub(MINUTES);
            self.clusters.retain(|(_, minute), _| *minute >= oldest);
        }
        let prefix = if self.by == By::Time { 0 } else { outcome.prefix };
        let key = (prefix, outcome.minute);
        if self.by == By::Connection || !self.clusters.contains_key(&key) {
            self.dealt.take(outcome.treated);
        }
        let cluster = self.clusters.entry(key).or_default();
        let has_room = self.expected.len() < PREFIXES;
        let mut unknown = Default::default();
        let expected = match self.expected.get_mut(&outcome.prefix) {
            None if has_room => self.expected.entry(outcome.prefix).or_default(),
            None => &mut unknown,
            Some(expected) => expected,
        };
        let weight = if outcome.treated { 1. / self.share } else { -1. / (1. - self.share) };
        let each = outcome.values.iter().zip(&mut self.measures).zip(cluster).zip(expected);
        for (((value, measured), cluster), expected) in each {
            let Some(value) = *value else { continue };
            let [mut all, treated] = measured.arms;
            all.sum += treated.sum;
            all.count += treated.count;
            // Of the first nothing was expected.
            if let Some(all) = all.of() {
                measured
                    .scores
                    .add(&mut cluster.scores, weight * (value - expected.shrunk_toward(all)));
                measured.clusters[arm] += u64::from(!cluster.has[arm]);
                cluster.has[arm] = true;
            }
            measured.arms[arm].add(value);
            expected.add(value);
        }
    }

    /// Connections taken in, of the other arm and of the treated one.
    pub const fn connections(&self) -> [u64; 2] {
        self.connections
    }

    /// The share of the treated arm, and a bound of the probability that the right one looks so.
    pub fn share(&self) -> (f64, f64) {
        (self.dealt.found(), self.dealt.p_value())
    }

    /// What a measure shows, in the order of [`MEASURES`]; `None` before there is enough of both
    /// arms.
    pub fn finding(&self, measure: usize) -> Option<Finding> {
        let Tally { arms: [control, treated], clusters, scores } = self.measures.get(measure)?;
        let (control, treated) = (control.of()?, treated.of()?);
        if clusters.iter().any(|clusters| *clusters < LEAST) {
            return None;
        }
        let more = scores.interval(2. * ALPHA / MEASURES.len() as f64)?;
        let Measure { is_log, more_is_worse, .. } = MEASURES[measure];
        let margin = if is_log { self.tolerance.ln_1p() } else { self.tolerance * control.max(0.) };
        let (is_more, is_less) = (more.low > margin, more.high < -margin);
        let verdict = match (is_more, is_less) {
            (false, false) => Verdict::Open,
            _ if is_more == more_is_worse => Verdict::Worse,
            _ => Verdict::Better,
        };
        Some(Finding { control, treated, more, verdict })
    }

    /// Why the trial is to stop now.
    pub fn stop(&self) -> Option<Stop> {
        let worse = |at: &usize| self.finding(*at).is_some_and(|it| it.verdict == Verdict::Worse);
        let (found, p_value) = self.share();
        let share = (p_value < SHARE_ALPHA).then_some(Stop::Share(found));
        share.or_else(|| (0..MEASURES.len()).find(worse).map(Stop::Harm))
    }
}

/// The probability with which a trial of two equal controls is stopped for harm, at any time and by
/// any measure; and that with which it finds a benefit. The measures share it (Bonferroni).
pub const ALPHA: f64 = 0.01;
/// The probability with which a right share is taken for a wrong one.
const SHARE_ALPHA: f64 = 0.001;
/// Clusters of each arm before anything is said: the intervals are those of many.
pub const LEAST: u64 = 20;
/// Minutes in which a cluster is added to. Connections are reported when they close, at the latest
/// a minute after they began.
const MINUTES: u64 = 3;
/// Prefixes of which is kept what to expect; of others it is the mean of all.
const PREFIXES: usize = 1 << 16;
/// The mean of all connections weighs as much as so many connections of a prefix. No weight makes
/// an interval wrong.
const PRIOR_COUNT: f64 = 4.;

#[cfg(test)]
mod tests;
