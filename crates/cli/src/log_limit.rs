//! Limits how many lines a minute strangers can put into a log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::output;

/// Logs at most [`MOST`] lines a minute, and then how many it left out.
#[derive(Default)]
pub(crate) struct LogLimit(Mutex<Minute>);

#[derive(Default)]
struct Minute {
    began: Option<Instant>,
    problems: u32,
}

impl LogLimit {
    /// Says what went wrong, on standard error.
    pub(crate) fn complain(&self, problem: &str) {
        let output = self.0.lock().unwrap_or_else(PoisonError::into_inner).add(Instant::now());
        match output {
            Output::Problem => output::complain(&problem),
            Output::AfterOthers(left) => {
                output::complain(&format!("{left} more of these were not logged"));
                output::complain(&problem);
            }
            Output::Nothing => {}
        }
    }
}

/// What is logged of a problem.
#[derive(Debug, PartialEq, Eq)]
enum Output {
    Problem,
    /// The problem, after so many that were not logged.
    AfterOthers(u32),
    Nothing,
}

impl Minute {
    fn add(&mut self, now: Instant) -> Output {
        let mut left = 0;
        if self.began.is_none_or(|began| now.duration_since(began) >= MINUTE) {
            left = self.problems.saturating_sub(MOST);
            *self = Self { began: Some(now), problems: 0 };
        }
        self.problems = self.problems.saturating_add(1);
        match (self.problems > MOST, left) {
            (true, _) => Output::Nothing,
            (false, 0) => Output::Problem,
            (false, left) => Output::AfterOthers(left),
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const MOST: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_are_logged_in_a_minute_and_then_how_many_were_not() {
        let (mut minute, now) = (Minute::default(), Instant::now());
        let outputs: Vec<Output> = (0..30).map(|_| minute.add(now)).collect();
        assert!(outputs[..20].iter().all(|one| *one == Output::Problem));
        assert!(outputs[20..].iter().all(|one| *one == Output::Nothing));
        assert_eq!(minute.add(now + MINUTE), Output::AfterOthers(10));
        assert_eq!(minute.add(now + MINUTE), Output::Problem);
    }
}
