//! What is measured of a flow and of its run: one row per quantity, under the name by which tables
//! of results, conditions of a scenario and claims of a paper all call it.

use crate::column::{Column, Value};
use crate::statistics::mean_and_error;
use crate::{FlowResult, RunResult};

/// A quantity that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its name, type, unit and meaning.
    pub column: Column,
    /// How the values of several flows become one.
    pub over: Over,
    pub(crate) get: for<'a> fn(&'a RunResult, &'a FlowResult) -> Value<'a>,
}

/// How the values of several flows of a run become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Their sum.
    Sum,
    /// Their mean; none if one of them has none.
    Mean,
    /// The largest.
    Largest,
    /// It is the run's, and all flows have the same.
    Run,
}

/// All of them, in the order of the table's columns.
pub fn all() -> impl Iterator<Item = &'static Measure> {
    crate::flow::MEASURES.iter().chain(crate::run::MEASURES)
}

/// The measure of that name.
pub fn named(name: &str) -> Option<&'static Measure> {
    all().find(|measure| measure.column.name == name)
}

impl Measure {
    /// What a flow of a run has.
    pub fn value<'a>(&self, run: &'a RunResult, flow: &'a FlowResult) -> Value<'a> {
        (self.get)(run, flow)
    }

    /// One number for some flows of a run; `None` where it did not happen, and for words.
    pub fn over<'a>(
        &self,
        run: &RunResult,
        flows: impl IntoIterator<Item = &'a FlowResult>,
    ) -> Option<f64> {
        let of = |flow: &FlowResult| match self.value(run, flow) {
            Value::Count(count) => Some(count as f64),
            Value::Number(number) => Some(number),
            Value::Text(_) | Value::Flag(_) | Value::Null => None,
        };
        if self.over == Over::Run {
            return of(&FlowResult::default());
        }
        self.over.one(&flows.into_iter().map(of).collect::<Option<Vec<f64>>>()?)
    }
}

impl Over {
    /// The values of several flows as one; `None` without a value but for a sum.
    pub fn one(self, values: &[f64]) -> Option<f64> {
        match self {
            Self::Sum => Some(values.iter().sum()),
            Self::Mean => mean_and_error(values).0,
            Self::Largest => values.iter().copied().reduce(f64::max),
            Self::Run => values.first().copied(),
        }
    }
}

/// Declares the measures: how flows become one, type, name, unit, meaning, value; `or_null` after
/// the type where the value can be missing.
macro_rules! measures {
    ($run:ident, $flow:ident: $($over:ident $kind:ident $($null:ident)? $name:literal
        [$unit:literal] $meaning:literal = $value:expr;)+) => {
        pub(crate) const MEASURES: &[Measure] = &[$(Measure {
            column: Column::new(Role::Measure, $kind, $name, $unit, $meaning)$(.$null())?,
            over: Over::$over,
            get: |$run, $flow| ($value).into(),
        }),+];
    };
}
pub(crate) use measures;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_become_one_number_as_the_row_says() {
        let flow = |timeouts, peak, exit| {
            let mut flow = FlowResult { peak_cwnd_packets: peak, ..Default::default() };
            flow.counts.timeouts = timeouts;
            flow.startup.exit_time_s = exit;
            flow
        };
        let flows = vec![flow(1, 20, Some(1.0)), flow(2, 10, Some(2.0))];
        let mut run = RunResult { flows, jain_index: 0.5, ..RunResult::default() };
        let of = |run: &RunResult, name: &str| named(name).unwrap().over(run, &run.flows);
        assert_eq!(of(&run, "timeouts"), Some(3.0));
        assert_eq!(of(&run, "peak_cwnd_packets"), Some(20.0));
        assert_eq!(of(&run, "exit_time_s"), Some(1.5));
        assert_eq!(of(&run, "jain_index"), Some(0.5));
        assert_eq!(of(&run, "exit_reason"), None);
        run.flows[1].startup.exit_time_s = None;
        assert_eq!(of(&run, "exit_time_s"), None, "one of them never left");
        assert!(named("exit_cwnd").is_none());
    }
}
