//! The checks of `run` and `compare` before anything runs, and the controls of `compare --all`.

use firstflight_control::policy::{partners, startups};
use firstflight_core::card::Card;
use firstflight_results::Refused;
use firstflight_runner::{RunError, Transport};
use firstflight_scenario::{Document, PathFlags, Scenario};

/// The controls that the Astart paper compares, and what Linux runs today.
pub const COMPARED: [&str; 5] = ["newreno", "hoe", "vegas", "astart", "hystart"];

/// The scenario of `compare`: the path flags, and controls that the transport can run; the
/// command's own five if none is named.
///
/// # Errors
/// A flag or a control that is wrong, and what the transport cannot do.
pub fn comparison(
    controls: &[String],
    path: &PathFlags,
    transport: &dyn Transport,
) -> Result<Scenario, RunError> {
    let usual = || COMPARED.map(str::to_owned).to_vec();
    let controls = if controls.is_empty() { usual() } else { controls.to_vec() };
    let scenario = Scenario::from_flags(path, &controls)?;
    for control in &scenario.controls {
        transport.full_name(control)?;
    }
    transport.can(&scenario)?;
    Ok(scenario)
}

/// The scenario of `run`: a document with the flags in it, which the transport can run.
///
/// # Errors
/// As [`comparison`].
pub fn scenario(
    mut document: Document,
    path: &PathFlags,
    transport: &dyn Transport,
) -> Result<Scenario, RunError> {
    document.apply(path)?;
    let scenario = document.scenario()?;
    transport.can(&scenario)?;
    Ok(scenario)
}

/// The start-ups, each with its usual avoidance, and slow start with each of those, as far as a
/// transport carries them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Carried {
    /// Those that the transport carries, as a user would write them.
    pub controls: Vec<String>,
    /// The others.
    pub refused: Vec<Refused>,
}

impl Carried {
    /// All that have a card, the program's own and those that were added to it.
    ///
    /// # Errors
    /// The transport carries none of them; why it does not carry the first.
    pub fn on(transport: &dyn Transport, path: &PathFlags) -> Result<Self, RunError> {
        let mut all = Self::default();
        let mut first = None;
        for control in startups().into_iter().map(pair) {
            let Err(error) = carries(transport, &control, path) else {
                all.controls.push(control);
                continue;
            };
            all.refused.push(Refused { control, reason: error.to_string() });
            first = first.or(Some(error));
        }
        for partner in partners().into_iter().filter(|partner| *partner != OF_SLOW_START) {
            let control = format!("slow-start+{partner}");
            if carries(transport, &control, path).is_ok() {
                all.controls.push(control);
            }
        }
        match first {
            Some(error) if all.controls.is_empty() => Err(error),
            _ => Ok(all),
        }
    }
}

/// Whether a flow of such a path can have a control.
fn carries(transport: &dyn Transport, control: &str, path: &PathFlags) -> Result<(), RunError> {
    let scenario = Scenario::from_flags(path, &[control.to_owned()])?;
    scenario.controls.iter().try_for_each(|spec| transport.full_name(spec).map(drop))?;
    transport.complete(&scenario).map(drop)
}

/// Slow start's usual avoidance, with which it is among the start-ups.
const OF_SLOW_START: &str = "newreno";

/// A start-up with its avoidance in full: its name alone may be an alias, which can name a recovery
/// too.
fn pair(card: &Card) -> String {
    match card.partner {
        Some(partner) => format!("{}+{partner}", card.name),
        None => card.name.to_owned(),
    }
}
