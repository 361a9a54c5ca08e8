//! What a user asks of a judge, checked.

use firstflight_runner::RunError;
use firstflight_scenario::ControlSpec;

use crate::{Entry, Question, REFERENCES, Transports, select};

/// What is asked of a judge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The control.
    pub control: &'a str,
    /// Further references.
    pub against: &'a [String],
    /// Groups or scenarios; all if there are none.
    pub only: &'a [String],
    /// Seeds where something is random, 1 to [`MOST_SEEDS`]; the scenario's own number if there is
    /// none.
    pub seeds: Option<u64>,
    /// Few seeds and no long transfers.
    pub quick: bool,
}

impl Request<'_> {
    /// What is asked, checked.
    ///
    /// # Errors
    /// A control or a scenario that is none, with the nearest that is.
    pub fn question(&self, transports: &Transports<'_>) -> Result<Question, RunError> {
        let control = |place: &str, name: &str| -> Result<ControlSpec, RunError> {
            let wrong = |problem: String| RunError::Input(format!("{place}{problem}"));
            let spec: ControlSpec = name.parse().map_err(|error| wrong(format!("{error}")))?;
            let known = transports.of(&spec, self.control).full_name(&spec);
            known.map_err(|error| match error.is_of_input() {
                true => wrong(error.to_string()),
                false => error,
            })?;
            Ok(spec)
        };
        if let Some(seeds) = self.seeds {
            if self.quick {
                let problem = "seeds: found together with quick; accepted: one of the two";
                return Err(RunError::Input(problem.to_owned()));
            }
            if !(1..=MOST_SEEDS).contains(&seeds) {
                return Err(RunError::Input(format!(
                    "seeds: found {seeds}; accepted: a whole number from 1 to {MOST_SEEDS}"
                )));
            }
        }
        let against = self.against.iter().map(|name| control("--against: ", name));
        let mut question = Question {
            control: control("", self.control)?,
            against: against.collect::<Result<_, _>>()?,
            entries: found("--only", self.only)?,
            seeds: self.seeds,
        };
        for reference in REFERENCES {
            control("reference: ", reference)?;
        }
        if self.quick {
            question.quicken();
        }
        Ok(question)
    }
}

/// The scenarios that are meant by an argument or a flag.
///
/// # Errors
/// A name that is none.
pub fn found(flag: &str, only: &[String]) -> Result<Vec<Entry>, RunError> {
    select(only).map_err(|problem| RunError::Input(format!("{flag}: {problem}")))
}

/// How many seeds a scenario may have.
pub const MOST_SEEDS: u64 = 10_000;
