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
    said: u32,
}

impl LogLimit {
    /// Says what went wrong, on standard error.
    pub(crate) fn complain(&self, problem: &str) {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner).say(Instant::now());
        match said {
            Said::All => output::complain(&problem),
            Said::Left(left) => {
                output::complain(&format!("{left} more of these were not logged"));
                output::complain(&problem);
            }
            Said::Nothing => {}
        }
    }
}

/// What is to be said.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    All,
    /// After so many that were not.
    Left(u32),
    Nothing,
}

impl Minute {
    fn say(&mut self, now: Instant) -> Said {
        let mut left = 0;
        if self.began.is_none_or(|began| now.duration_since(began) >= MINUTE) {
            left = self.said.saturating_sub(MOST);
            *self = Self { began: Some(now), said: 0 };
        }
        self.said = self.said.saturating_add(1);
        match (self.said > MOST, left) {
            (true, _) => Said::Nothing,
            (false, 0) => Said::All,
            (false, left) => Said::Left(left),
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const MOST: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_are_said_in_a_minute_and_then_how_many_were_not() {
        let (mut minute, now) = (Minute::default(), Instant::now());
        let said: Vec<Said> = (0..30).map(|_| minute.say(now)).collect();
        assert!(said[..20].iter().all(|said| *said == Said::All));
        assert!(said[20..].iter().all(|said| *said == Said::Nothing));
        assert_eq!(minute.say(now + MINUTE), Said::Left(10));
        assert_eq!(minute.say(now + MINUTE), Said::All);
    }
}
