//! Which claims and experiments a user's words name.

use firstflight_scenario::hint;

use crate::error::ReproduceError;
use crate::paper::{Expanded, Paper};

/// The claims that were asked for of one experiment, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Index of the paper.
    pub paper: usize,
    /// Index of the experiment.
    pub experiment: usize,
    /// Indices of its claims.
    pub claims: Vec<usize>,
}

/// The claims that any of the words names; all claims if there are no words.
///
/// A word is a paper's name (`astart`) or id (`S0`), an experiment (`figure09`), a claim (`S0-T1a`)
/// or the beginning of claims (`S0-T1`). Case does not count, and a claim's full id wins over the
/// beginning of others.
///
/// # Errors
/// A word that names nothing, with the nearest one that does.
pub(crate) fn choose(papers: &[Paper], words: &[String]) -> Result<Vec<Chosen>, ReproduceError> {
    if let Some(word) = words.iter().find(|word| !names_anything(papers, word)) {
        return Err(unknown(papers, word));
    }
    let mut chosen = Vec::new();
    for (p, paper) in papers.iter().enumerate() {
        for (e, expanded) in paper.experiments.iter().enumerate() {
            let wanted = |id: &str| {
                words.is_empty()
                    || words.iter().any(|word| matches(papers, paper, expanded, id, word))
            };
            let claims: Vec<usize> = (0..expanded.data.claims.len())
                .filter(|i| wanted(&expanded.data.claims[*i].id))
                .collect();
            let whole = words.iter().any(|word| names_whole(paper, expanded, word));
            if words.is_empty() || whole || !claims.is_empty() {
                chosen.push(Chosen { paper: p, experiment: e, claims });
            }
        }
    }
    Ok(chosen)
}

fn names_anything(papers: &[Paper], word: &str) -> bool {
    papers.iter().any(|paper| {
        paper.experiments.iter().any(|expanded| {
            let ids = expanded.data.claims.iter().map(|claim| claim.id.as_str());
            names_whole(paper, expanded, word) || ids.into_iter().any(|id| starts(id, word))
        })
    })
}

fn matches(papers: &[Paper], paper: &Paper, expanded: &Expanded, id: &str, word: &str) -> bool {
    names_whole(paper, expanded, word)
        || if is_full_id(papers, word) { id.eq_ignore_ascii_case(word) } else { starts(id, word) }
}

fn names_whole(paper: &Paper, expanded: &Expanded, word: &str) -> bool {
    let names = [paper.head.name.as_str(), paper.head.id.as_str(), expanded.stem.as_str()];
    names.iter().any(|name| name.eq_ignore_ascii_case(word))
        || format!("{}/{}", paper.head.name, expanded.stem).eq_ignore_ascii_case(word)
}

fn is_full_id(papers: &[Paper], word: &str) -> bool {
    ids(papers).any(|id| id.eq_ignore_ascii_case(word))
}

fn starts(id: &str, word: &str) -> bool {
    !word.is_empty() && id.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn ids(papers: &[Paper]) -> impl Iterator<Item = &str> {
    let expanded = papers.iter().flat_map(|paper| &paper.experiments);
    expanded.flat_map(|expanded| &expanded.data.claims).map(|claim| claim.id.as_str())
}

fn unknown(papers: &[Paper], word: &str) -> ReproduceError {
    let names = papers.iter().map(|paper| paper.head.name.as_str());
    let stems =
        papers.iter().flat_map(|paper| &paper.experiments).map(|expanded| expanded.stem.as_str());
    let hint = hint(word, ids(papers).chain(names).chain(stems));
    let names: Vec<&str> = papers.iter().map(|paper| paper.head.name.as_str()).collect();
    ReproduceError::Unknown {
        found: word.to_owned(),
        hint,
        accepted: format!(
            "a paper ({}), a figure or table (figure09, table1), a claim (S0-T1a) or the \
             beginning of claims (S0-T1)",
            names.join(", ")
        ),
    }
}
