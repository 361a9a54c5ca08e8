//! Which of the controls that ran are worth taking.

use crate::measure::Cost;
use crate::request::{Factor, OTHERS, Point, Request};
use crate::stack::{Candidate, REFERENCE};

/// The results of all runs.
pub(crate) struct Table<'a> {
    pub(crate) request: &'a Request,
    pub(crate) candidates: &'a [Candidate],
    pub(crate) points: Vec<Point>,
    /// The runs of each candidate, one for each point at which it ran.
    pub(crate) runs: Vec<Vec<Cost>>,
}

/// A condition on an unknown, which some of the points meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Below(f64),
    Above(f64),
    Is(usize),
}

/// A control that is quicker than the advised one at the points that meet a condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Better {
    pub(crate) of: Factor,
    pub(crate) side: Side,
    pub(crate) candidate: usize,
    /// Its completion time over that of the advised control, geometric mean over these points.
    pub(crate) ratio: f64,
    pub(crate) points: usize,
}

impl<'a> Table<'a> {
    pub(crate) fn new(
        request: &'a Request,
        candidates: &'a [Candidate],
        points: Vec<Point>,
    ) -> Self {
        Self { request, candidates, points, runs: vec![Vec::new(); candidates.len()] }
    }

    /// The controls that run at the remaining points: the stack's own, the reference, the quickest
    /// of the gentle ones, those that are quickest at some point, and the quickest of all.
    pub(crate) fn finalists(&self, most: usize) -> Vec<usize> {
        let mut by_time: Vec<usize> = (0..self.candidates.len()).collect();
        by_time.sort_by(|one, other| self.log_time(*one).total_cmp(&self.log_time(*other)));
        let gentle: Vec<usize> = by_time.iter().copied().filter(|at| self.is_gentle(*at)).collect();
        let somewhere = (0..self.runs[0].len()).filter_map(|point| {
            gentle.iter().copied().min_by(|one, other| {
                self.runs[*one][point].seconds.total_cmp(&self.runs[*other][point].seconds)
            })
        });
        let mut all: Vec<usize> =
            [0, self.reference()].into_iter().chain(by_time.first().copied()).collect();
        all.extend(gentle.iter().copied().take(most / 2));
        all.extend(somewhere);
        all.extend(gentle.iter().copied());
        let mut chosen: Vec<usize> = Vec::new();
        for at in all {
            // Of those that do the same one is run; with the reference all are compared.
            let is_new = at == self.reference()
                || chosen.iter().all(|other| self.runs[*other] != self.runs[at]);
            if chosen.len() < most && is_new && !chosen.contains(&at) {
                chosen.push(at);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// The controls that ran at all points.
    pub(crate) fn complete(&self) -> impl Iterator<Item = usize> {
        (0..self.candidates.len()).filter(|at| self.runs[*at].len() == self.points.len())
    }

    /// The index of slow start with CUBIC.
    pub(crate) fn reference(&self) -> usize {
        let is_it = |candidate: &Candidate| candidate.model == REFERENCE;
        self.candidates.iter().position(is_it).unwrap_or_default()
    }

    /// The mean of the logarithms of its times.
    fn log_time(&self, at: usize) -> f64 {
        mean(self.runs[at].iter().map(|took| libm::log(took.seconds)))
    }

    /// The geometric mean of its times over those of another, at points of which both ran.
    pub(crate) fn over(&self, at: usize, other: usize) -> f64 {
        let pairs = self.runs[at].iter().zip(&self.runs[other]);
        libm::exp(mean(pairs.map(|(one, other)| libm::log(one.seconds / other.seconds))))
    }

    /// The share of the transfer that it retransmits, mean.
    pub(crate) fn again(&self, at: usize) -> f64 {
        mean(self.runs[at].iter().map(|took| took.again))
    }

    /// How much longer others take than beside slow start, in the geometric mean.
    pub(crate) fn harm(&self, at: usize) -> Option<f64> {
        let pairs = self.runs[at].iter().zip(&self.runs[self.reference()]);
        let ratio = |(one, other): (&Cost, &Cost)| Some(libm::log(one.others_s? / other.others_s?));
        let ratios: Vec<f64> = pairs.filter_map(ratio).collect();
        (!ratios.is_empty()).then(|| libm::exp(mean(ratios.into_iter())))
    }

    /// Whether it may be advised: it sends at most [`LITTLE`] again beyond what the path loses, or
    /// no more than slow start (rule R2 of `judge`), and others take at most [`HARM`] times as long
    /// as beside slow start (rule R3).
    pub(crate) fn is_gentle(&self, at: usize) -> bool {
        let runs = self.runs[at].len();
        let lost =
            self.points[..runs].iter().map(|point| self.request.given_loss().unwrap_or(point.loss));
        // What is sent again is lost again.
        let lost = mean(lost.map(|share| share / (1.0 - share)));
        let of_slow_start = mean(self.runs[self.reference()][..runs].iter().map(|took| took.again));
        self.again(at) <= of_slow_start.max(lost + LITTLE)
            && self.harm(at).is_none_or(|harm| harm <= HARM)
    }

    /// The one to take: the quickest of the gentle ones. Of those that are as quick, the stack's
    /// own, or else the one that sends least again.
    pub(crate) fn take(&self) -> usize {
        let gentle: Vec<usize> = self.complete().filter(|at| self.is_gentle(*at)).collect();
        let quickest = self.quickest(&gentle).unwrap_or(0);
        let equal = gentle.into_iter().filter(|at| self.over(*at, quickest) <= 1.0 + EQUAL);
        let rank = |at: &usize| if *at == 0 { -1.0 } else { self.again(*at) };
        equal.min_by(|one, other| rank(one).total_cmp(&rank(other))).unwrap_or(quickest)
    }

    pub(crate) fn quickest(&self, of: &[usize]) -> Option<usize> {
        let time = |at: &usize| self.log_time(*at);
        of.iter().copied().min_by(|one, other| time(one).total_cmp(&time(other)))
    }

    /// What would change the answer, one control for each unknown: the one that is quicker than
    /// the advised one at nearly all of at least [`FEW`] points on one side.
    pub(crate) fn better_somewhere(&self, take: usize) -> Vec<Better> {
        let unknown =
            if self.request.is_in_first_window() { &[][..] } else { &self.request.unknown };
        let all = unknown.iter().filter_map(|of| {
            let others = self.complete().filter(|at| *at != take && self.is_gentle(*at));
            let all = others.flat_map(|at| {
                self.sides(*of).into_iter().filter_map(move |side| self.better(*of, side, at, take))
            });
            let gain = |better: &Better| libm::log(better.ratio) * better.points as f64;
            all.min_by(|one, other| gain(one).total_cmp(&gain(other)))
        });
        all.collect()
    }

    fn better(&self, of: Factor, side: Side, candidate: usize, take: usize) -> Option<Better> {
        let there: Vec<f64> = (0..self.points.len())
            .filter(|point| side.has(self.points[*point].value(of)))
            .map(|point| self.runs[candidate][point].seconds / self.runs[take][point].seconds)
            .collect();
        let points = there.len();
        let wins = there.iter().filter(|ratio| **ratio < 1.0).count();
        let ratio = libm::exp(mean(there.iter().map(|ratio| libm::log(*ratio))));
        let is_better =
            points >= FEW && ratio < 1.0 - EQUAL && wins as f64 >= NEARLY_ALL * points as f64;
        is_better.then_some(Better { of, side, candidate, ratio, points })
    }

    /// The sides of what is not known between which the points fall.
    fn sides(&self, of: Factor) -> Vec<Side> {
        if of == Factor::Others {
            return (0..OTHERS.len()).map(Side::Is).collect();
        }
        let mut values: Vec<f64> = self.points.iter().map(|point| point.value(of)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let between = values.windows(2).map(|pair| match pair[0] {
            0.0 => pair[1],
            least => (least * pair[1]).sqrt(),
        });
        between.flat_map(|at| [Side::Below(at), Side::Above(at)]).collect()
    }
}

impl Side {
    pub(crate) fn has(self, value: f64) -> bool {
        match self {
            Self::Below(at) => value < at,
            Self::Above(at) => value >= at,
            #[expect(clippy::float_cmp, reason = "both are whole")]
            Self::Is(place) => value == place as f64,
        }
    }
}

impl Point {
    /// The value of an unknown at a point, as a number.
    pub(crate) fn value(&self, of: Factor) -> f64 {
        match of {
            Factor::Buffer => self.buffer_bdp,
            Factor::Loss => self.loss,
            Factor::Bursts => f64::from(u8::from(self.bursts)),
            Factor::Jitter => self.jitter_s,
            Factor::Acks => self.acks as f64,
            Factor::Others => self.others as f64,
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count.max(1))
}

/// Times that differ by less are equal, as in rule R1 of `judge`.
pub(crate) const EQUAL: f64 = 0.02;
/// The share of a transfer that may be sent again beyond what the path loses. CUBIC's slow start
/// sends 2 to 11 % of 20 MB again wherever it overflows, and what avoids that less than 1 %.
const LITTLE: f64 = 0.01;
/// How much longer others may take than beside slow start, as in rule R3 of `judge`.
pub(crate) const HARM: f64 = 1.1;
/// Points on one side that say something: that one of two equal controls is quicker at all five has
/// a chance of 1 in 32.
const FEW: usize = 5;
/// The share of them at which it must be quicker.
const NEARLY_ALL: f64 = 0.8;
