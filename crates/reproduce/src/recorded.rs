//! The verdicts that the repository records (`papers/verdicts.toml`), to which a reproduction is
//! held.

use std::collections::BTreeMap;

use firstflight_results::{ClaimRow, Verdict};

use crate::ReproduceError;
use crate::paper::FILES;

/// How the rows of a reproduction compare with the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// How many rows have the verdict that is recorded.
    pub as_recorded: usize,
    /// How many of these fail.
    pub failing: usize,
    /// What differs, a sentence each: `S0-T1a: fail, recorded pass`.
    pub differing: Vec<String>,
}

/// Compares rows with the record. A row that was not run here is left out: no machine has to
/// have everything.
///
/// # Errors
/// A record that does not read.
pub fn compared(rows: &[ClaimRow]) -> Result<Comparison, ReproduceError> {
    let text = FILES.iter().find(|(path, _)| *path == FILE).map_or("", |(_, text)| *text);
    against(rows, text)
}

fn against(rows: &[ClaimRow], text: &str) -> Result<Comparison, ReproduceError> {
    let wrong =
        |error: toml::de::Error| ReproduceError::paper("papers/verdicts.toml", error.to_string());
    let recorded: BTreeMap<String, String> = toml::from_str(text).map_err(wrong)?;
    let mut comparison = Comparison::default();
    for row in rows.iter().filter(|row| row.verdict != Verdict::NotRun) {
        let found = row.verdict.name();
        match recorded.get(&row.id).map(String::as_str) {
            Some(wanted) if wanted == found => {
                comparison.as_recorded += 1;
                comparison.failing += usize::from(row.verdict == Verdict::Fail);
            }
            wanted => {
                let wanted = wanted.map_or("nothing".to_owned(), ToOwned::to_owned);
                comparison.differing.push(format!("{}: {found}, recorded {wanted}", row.id));
            }
        }
    }
    Ok(comparison)
}

const FILE: &str = "verdicts.toml";

#[cfg(test)]
mod tests {
    use firstflight_results::Reproduction;

    use super::*;

    fn row(id: &str, verdict: &str) -> ClaimRow {
        let text = format!(
            r#"{{"rows":[{{"id":"{id}","paper":"p","what":"w","unit":"","class":"tight",
                "expected":1.0,"measured":1.0,"tolerance":"","verdict":"{verdict}",
                "preset":"","scenario":"s","checks":[],"lab":null,"note":null}}]}}"#
        );
        serde_json::from_str::<Reproduction>(&text).unwrap().rows.remove(0)
    }

    #[test]
    fn a_failing_claim_is_as_recorded_and_a_changed_one_is_not() {
        let text = "a = 'pass'\nb = 'fail'\nc = 'pass'\nd = 'pass'";
        let rows = [row("a", "pass"), row("b", "fail"), row("d", "not-run")];
        let comparison = against(&rows, text).unwrap();
        assert_eq!(
            (comparison.as_recorded, comparison.failing, comparison.differing.len()),
            (2, 1, 0)
        );
        let rows = [row("a", "fail"), row("b", "pass"), row("new", "pass")];
        let comparison = against(&rows, text).unwrap();
        assert_eq!(
            comparison.differing,
            ["a: fail, recorded pass", "b: pass, recorded fail", "new: pass, recorded nothing"]
        );
        assert!(against(&rows, "no toml").is_err());
    }

    #[test]
    fn a_claim_recorded_as_failing_has_its_reason_and_no_other_claim_has_one() {
        let (_, text) = FILES.iter().find(|(path, _)| *path == FILE).unwrap();
        let recorded: BTreeMap<String, String> = toml::from_str(text).unwrap();
        let papers = crate::paper::load(FILES, true).unwrap();
        let claims = papers.iter().flat_map(|it| &it.experiments).flat_map(|it| &it.data.claims);
        for claim in claims {
            let fails = recorded.get(&claim.id).is_some_and(|verdict| verdict == "fail");
            assert_eq!(claim.reason.is_some(), fails, "{}: `reason`", claim.id);
        }
    }

    #[test]
    fn the_record_has_no_verdict_but_these() {
        let (_, text) = FILES.iter().find(|(path, _)| *path == FILE).unwrap();
        let recorded: BTreeMap<String, String> = toml::from_str(text).unwrap();
        let known = ["pass", "fail", "fitted", "refuted-confirmed", "not-run"];
        assert!(recorded.values().all(|verdict| known.contains(&verdict.as_str())));
    }
}
