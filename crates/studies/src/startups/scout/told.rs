//! How much slow start sends again if it is told its share of the path, beside HyStart and Scout,
//! which are told nothing.

use std::error::Error;
use std::fmt::Write as _;

use rayon::prelude::*;

use super::paths::threshold;
use super::together::{self, Named};
use super::{GENTLE, Measured, paths};

const TOLD: &str = "slow-start+cubic";
/// Those that are told nothing.
const CONTROLS: [&str; 2] = [GENTLE, "scout"];
/// How many of the sets lose packets only where a queue is full.
const SETS: usize = 8;

/// A row for each set of paths with a flow alone, and for each group of flows.
pub(super) fn table() -> Result<String, Box<dyn Error>> {
    let mut rows: Vec<(Named, Named)> = Vec::new();
    for set in paths::sets().into_iter().take(SETS) {
        let run = |path: &paths::Path| {
            let told = path.run_with(&[TOLD], &threshold(path.bdp_packets() as u64))?;
            Ok((path.run(&CONTROLS)?, told))
        };
        let both: Result<Vec<_>, String> = set.paths.par_iter().map(run).collect();
        let (itself, told) = both?.into_iter().unzip();
        rows.push(((set.name, itself), (set.name, told)));
    }
    rows.extend(
        together::measured(&CONTROLS, false)?.into_iter().zip(together::measured(&[TOLD], true)?),
    );
    let mut text = format!(
        "| paths, flows | {} | told | {} | beyond told |\n|---|---|---|---|---|\n",
        CONTROLS[0], CONTROLS[1]
    );
    for ((name, runs), (_, told)) in &rows {
        let [gentle, scout, told, beyond] = means(runs, told);
        let _ = writeln!(text, "| {name} | {gentle:.2} | {told:.2} | {scout:.2} | {beyond:.2} |");
    }
    Ok(text)
}

/// The means of what is sent again, in percent, by the two controls and by who is told; and of what
/// the second sends again beyond that on the same path.
fn means(runs: &[Vec<Measured>], told: &[Vec<Measured>]) -> [f64; 4] {
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / runs.len() as f64;
    let beyond = |(run, told): (&Vec<Measured>, &Vec<Measured>)| {
        (run[1].sent_again - told[0].sent_again).max(0.0)
    };
    [
        mean(&mut runs.iter().map(|run| run[0].sent_again)),
        mean(&mut runs.iter().map(|run| run[1].sent_again)),
        mean(&mut told.iter().map(|run| run[0].sent_again)),
        mean(&mut runs.iter().zip(told).map(beyond)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_is_counted_path_by_path() {
        let of = |sent_again: f64| Measured { completion_s: 1.0, sent_again, queue_bdp: 1.0 };
        let runs = [vec![of(8.0), of(3.0)], vec![of(4.0), of(1.0)]];
        let told = [vec![of(2.0)], vec![of(4.0)]];
        assert_eq!(means(&runs, &told), [6.0, 2.0, 3.0, 0.5]);
    }
}
