//! A value that changes at given times, once or again and again.

use std::fmt;
use std::sync::Arc;

use firstflight_core::units::{Instant, Span};

/// A value over time. Copies share the steps, of which a trace has many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps<T> {
    /// From when on which value holds; the first from the beginning.
    steps: Arc<[(Instant, T)]>,
    /// After this time they begin again.
    period: Option<Span>,
}

/// Why steps are no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleProblem {
    /// There is none.
    Empty,
    /// The first is not at 0, or one is not later than the one before it.
    Order,
    /// A step is not before the schedule begins again.
    Period,
    /// No rate is above 0, so that nothing would ever be sent.
    Zero,
}

impl fmt::Display for ScheduleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "there is no step",
            Self::Order => "times do not rise from 0s",
            Self::Period => "a step is not before its end",
            Self::Zero => "nothing would ever be sent",
        })
    }
}

impl<T: Copy> Steps<T> {
    /// The value holds from each time on; with a period it begins again then.
    ///
    /// # Errors
    /// If the first step is not at 0, or if times do not rise or reach the period.
    pub fn new(
        steps: impl Into<Arc<[(Instant, T)]>>,
        period: Option<Span>,
    ) -> Result<Self, ScheduleProblem> {
        let steps = steps.into();
        let (Some((first, _)), Some((last, _))) = (steps.first(), steps.last()) else {
            return Err(ScheduleProblem::Empty);
        };
        let rises = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if *first != Instant(0) || !rises {
            return Err(ScheduleProblem::Order);
        }
        if period.is_some_and(|period| last.0 >= period.0) {
            return Err(ScheduleProblem::Period);
        }
        Ok(Self { steps, period })
    }

    /// Every value, in order of time.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.steps.iter().map(|(_, value)| *value)
    }

    /// The value at a time, and when it ends.
    pub(crate) fn at(&self, now: Instant) -> (T, Instant) {
        let (round, within) = match self.period {
            Some(period) => (now.0 / period.0 * period.0, now.0 % period.0),
            None => (0, now.0),
        };
        let next = self.steps.partition_point(|(from, _)| from.0 <= within);
        let (_, value) = self.steps[next - 1];
        let ends = match (self.steps.get(next), self.period) {
            (Some((from, _)), _) => Instant(round.saturating_add(from.0)),
            (None, Some(period)) => Instant(round.saturating_add(period.0)),
            (None, None) => Instant(u64::MAX),
        };
        (value, ends)
    }
}
