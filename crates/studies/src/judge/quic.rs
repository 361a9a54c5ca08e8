//! `docs/judgement-quic.md`: controls on the catalogue over quinn in virtual time, beside the
//! simulator's own QUIC, which has the profile `quic`.

use std::path::Path;

use firstflight_judge::{Entry, Question};
use firstflight_scenario::Profile;

use crate::Stop;
use crate::tables::write_parts;

use super::two_sides::{TwoSides, tables};
use super::{Judges, question, without_matrix};

/// Measures what is not kept, and writes the page.
pub(super) fn run(root: &Path, judges: &Judges) -> Result<(), Stop> {
    let entries = without_matrix()?;
    let simulated: Vec<Entry> = entries.iter().map(of_profile_quic).collect();
    let mut all = Vec::new();
    for name in CONTROLS {
        let judge = |entries: &[Entry], over_quic| {
            let question = Question { seeds: Some(1), ..question(name, entries.to_vec())? };
            judges.answer(&question, over_quic)
        };
        let [over_quinn, sim] = [judge(&entries, true)?, judge(&simulated, false)?];
        let both = over_quinn.scenarios.into_iter().zip(sim.scenarios);
        let both = both.map(|(quinn, sim)| [quinn, sim]);
        let carried = both.filter(|both| both.iter().all(|judged| judged.not_carried.is_none()));
        all.push(TwoSides { control: name.to_owned(), scenarios: carried.collect() });
    }
    write_parts(root, PAGE, "judge --quic", &[("", tables("quinn", &all))])
}

/// The scenario as the simulator's QUIC runs it. Sources of files it has over TCP only.
fn of_profile_quic(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if entry.scenario.flows.iter().all(|flow| flow.files.is_none()) {
        let own = &mut entry.scenario.endpoint;
        own.profile = Some(Profile::Quic);
        // They say what QUIC does anyway, and the profile has no such keys.
        (own.switches.ecn_feedback, own.switches.quick_acks) = (None, None);
    }
    entry
}

const PAGE: &str = "docs/judgement-quic.md";
/// What people run, what this repository proposes, and the two that Linux has.
const CONTROLS: [&str; 4] = ["hystart-pp", "scout", "bbr", "cubic"];
