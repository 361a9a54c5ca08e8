//! What the lab measured last, kept in `papers/lab.toml`, for rows of the lab that are not run now.
//!
//! The file has values, not verdicts: the claims of today judge them. A claim that asks for a value
//! that the file does not have is not judged.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use firstflight_results::LabOrigin;
use serde::Deserialize;

use crate::check::Outcome;
use crate::file::Claim;
use crate::paper::{Expanded, FILES};

/// `papers/lab.toml`, which `cargo xtask lab` writes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LastLab {
    /// The release of the kernel, and whether its time was virtual.
    kernel: String,
    /// The day of the measurement.
    date: String,
    /// The rows that it measured.
    #[serde(rename = "row")]
    rows: Vec<LabRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabRow {
    id: String,
    /// The measured values, by the words of each check.
    values: BTreeMap<String, f64>,
}

/// A row's checks with the values of the last lab, and which lab that was; `None` if it did not
/// measure all of them.
pub(crate) fn checks(expanded: &Expanded, claim: &Claim) -> Option<(Vec<Outcome>, LabOrigin)> {
    let lab = kept().as_ref()?;
    let row = lab.rows.iter().find(|row| row.id == claim.id)?;
    let judged = claim.checks.iter().map(|check| {
        let what = check.asked(expanded, claim).what;
        Some(check.judged(Some(*row.values.get(&what)?), expanded, claim))
    });
    let origin = LabOrigin { kernel: lab.kernel.clone(), date: lab.date.clone() };
    Some((judged.collect::<Option<_>>()?, origin))
}

fn kept() -> &'static Option<LastLab> {
    static KEPT: OnceLock<Option<LastLab>> = OnceLock::new();
    KEPT.get_or_init(|| {
        let (_, text) = FILES.iter().find(|(path, _)| *path == FILE)?;
        toml::from_str(text).ok()
    })
}

const FILE: &str = "lab.toml";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::load;

    #[test]
    fn the_last_lab_has_every_value_of_every_row_of_the_lab() {
        let papers = load(FILES, true).unwrap();
        let expanded = papers.iter().flat_map(|paper| &paper.experiments);
        let claims =
            expanded.flat_map(|expanded| expanded.data.claims.iter().map(move |it| (expanded, it)));
        let (mut found, mut missing) = (0, Vec::new());
        for (expanded, claim) in claims.filter(|(_, claim)| claim.id.contains("-L")) {
            match checks(expanded, claim) {
                Some((checks, origin)) => {
                    found += 1;
                    assert_eq!(checks.len(), claim.checks.len());
                    assert!(origin.kernel.starts_with(|c: char| c.is_ascii_digit()));
                    assert_eq!(origin.date.len(), "2026-11-22".len());
                }
                None => missing.push(claim.id.as_str()),
            }
        }
        assert_eq!(missing, Vec::<&str>::new(), "run `cargo xtask lab`");
        assert!(found > 10);
    }

    #[test]
    fn a_claim_that_the_last_lab_did_not_measure_has_no_values() {
        let papers = load(FILES, true).unwrap();
        let expanded = &papers[0].experiments[0];
        assert!(checks(expanded, &expanded.data.claims[0]).is_none());
    }
}
