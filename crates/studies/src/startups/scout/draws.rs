//! The drawn sets from other seeds than the first table's: how much of its results is chance.

use super::paths::{self, Set};
use super::{FAST, GENTLE, REFERENCE, Runs, head, measured, over_bars, place, row};

/// One draw of the paths for each seed. `spacing` was chosen on seeds 1 to 8, which are left out.
pub(super) const SEEDS: std::ops::RangeInclusive<u64> = 9..=16;

/// A row for each drawn set: time and loss over what Scout is held to, the mean of the draws and
/// the worst.
pub(super) fn table(rows: &[&str]) -> Result<String, String> {
    let controls: Vec<&str> = [REFERENCE, FAST, GENTLE].iter().chain(rows).copied().collect();
    let mut text = head("paths", rows);
    let draws: Vec<(Vec<Set>, Runs)> = SEEDS
        .map(|seed| {
            let sets = paths::drawn_sets(seed);
            let runs = measured(&sets, &controls)?;
            Ok((sets, runs))
        })
        .collect::<Result<_, String>>()?;
    let names = draws.first().map(|(sets, _)| sets.iter().map(|set| set.name));
    for (set, name) in names.into_iter().flatten().enumerate() {
        let cells = rows.iter().filter_map(|row| place(&controls, row)).map(|at| {
            let bars: Vec<[f64; 2]> =
                draws.iter().map(|(_, runs)| over_bars(&runs[set], &controls, at)).collect();
            cell(&bars)
        });
        row(&mut text, name, cells);
    }
    Ok(text)
}

/// The mean of each number, and in brackets the largest.
fn cell(bars: &[[f64; 2]]) -> String {
    let [time, lost] = [0, 1].map(|which| {
        let values = bars.iter().map(|bar| bar[which]);
        let mean = values.clone().sum::<f64>() / bars.len() as f64;
        format!("{mean:.2} ({:.2})", values.fold(0.0, f64::max))
    });
    format!("{time}; {lost}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_means_of_the_draws_and_the_worst_of_each() {
        assert_eq!(cell(&[[1.0, 0.2], [0.9, 0.4]]), "0.95 (1.00); 0.30 (0.40)");
    }
}
