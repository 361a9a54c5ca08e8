//! What a reader of a paper file cannot see until runs are at hand, found before the first one.

use std::collections::BTreeSet;

use firstflight_scenario::Class;

use crate::error::ReproduceError;
use crate::file::Claim;
use crate::paper::{Laid, Paper};

/// Checks that every claim and plot refers to runs that there are and can fail.
///
/// # Errors
/// The first that does not, with its file and id.
pub(crate) fn validate(papers: &[Paper]) -> Result<(), ReproduceError> {
    let mut ids = BTreeSet::new();
    for paper in papers {
        for laid in &paper.experiments {
            for claim in &laid.data.claims {
                let problem = of_claim(laid, claim).err();
                let twice = (!ids.insert(claim.id.clone())).then(|| "twice".to_owned());
                let foreign = (!claim.id.starts_with(&format!("{}-", paper.head.id)))
                    .then(|| format!("not an id of paper {}", paper.head.id));
                if let Some(problem) = problem.or(twice).or(foreign) {
                    let problem = format!("claim `{}`: {problem}", claim.id);
                    return Err(ReproduceError::paper(&laid.path, problem));
                }
            }
            for plot in &laid.data.plots {
                if let Err(problem) = plot.variants(laid) {
                    let problem = format!("plot `{}`: {problem}", plot.id);
                    return Err(ReproduceError::paper(&laid.path, problem));
                }
            }
        }
    }
    Ok(())
}

fn of_claim(laid: &Laid, claim: &Claim) -> Result<(), String> {
    if claim.checks.is_empty() {
        return Err("no check".to_owned());
    }
    if (claim.class == Class::Refuted) == claim.refutations.is_empty() {
        return Err("class `refuted` and `refutation` belong together".to_owned());
    }
    for check in claim.checks.iter().chain(&claim.refutations) {
        check.points(laid)?;
        if !check.has_condition(claim) {
            return Err("a check without a condition cannot fail; accepted: equals, within, \
                within_percent, at_least, at_most, above, below"
                .to_owned());
        }
    }
    Ok(())
}
