//! The pictures of `docs/judgement.md`: which rules fail where, and time against loss.

use std::collections::BTreeSet;
use std::path::Path;

use firstflight_judge::plane::{front, mean, place};
use firstflight_judge::{GROUPS, Judged, Judgement, Verdict};
use firstflight_report::{Colors, HeatMap, Plane, ReportError, digits, write_file};
use firstflight_scenario::Rule;

/// Draws both into the folder of the page's pictures; returns the sentence that names those on the
/// front.
pub(super) fn draw(folder: &Path, judgements: &[Judgement]) -> Result<String, ReportError> {
    write_file(&folder.join("rules.svg"), rules(judgements).svg()?)?;
    let common = common(judgements);
    let plane = plane(judgements, &common);
    write_file(&folder.join("plane.svg"), plane.svg()?)?;
    let mut best: Vec<&(String, f64, f64)> =
        plane.points.iter().filter(|of| plane.front.contains(&(of.1, of.2))).collect();
    best.sort_by(|one, other| one.1.total_cmp(&other.1));
    let named = best.iter().map(|(name, time, lost)| {
        format!("`{name}` ({}, {} %)", digits(*time, 3), digits(*lost, 2))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    Ok(format!(
        "Over the {} scenarios in which every start-up was done, none beats these in both time and \
         loss (mean time over slow start's, packets lost): {named}.",
        common.len()
    ))
}

/// The share of each group's scenarios that a rule asks and that fail it.
fn rules(judgements: &[Judgement]) -> HeatMap {
    let letters = GROUPS.map(|group| group.letter.to_owned()).to_vec();
    let mut map = HeatMap::new(
        "Which rules fail where",
        "share of the scenarios of group A to G that fail; grey: not asked",
        Colors::UpTo(1.0),
    )
    .columns(Rule::ALL.map(|rule| format!("{rule} {}", rule.title())).to_vec(), letters);
    for judgement in judgements {
        let share = |rule: Rule, letter: &str| {
            let verdicts =
                judgement.scenarios.iter().filter(|judged| judged.id.starts_with(letter));
            let verdicts = verdicts.filter_map(|judged| judged.verdicts.get(rule.name()));
            let asked: Vec<&Verdict> =
                verdicts.filter(|verdict| **verdict != Verdict::NotAsked).collect();
            let failed = asked.iter().filter(|verdict| ***verdict == Verdict::Fail).count();
            (!asked.is_empty()).then(|| failed as f64 / asked.len() as f64)
        };
        let cells =
            Rule::ALL.iter().flat_map(|rule| GROUPS.map(|group| share(*rule, group.letter)));
        map = map.row(judgement.control.as_str(), cells.collect());
    }
    map
}

/// The scenarios that have a place on the plane with every control.
fn common(judgements: &[Judgement]) -> BTreeSet<String> {
    let placed = |judgement: &Judgement| {
        let placed = |judged: &&Judged| place(judged, judgement).is_some();
        let scenarios = judgement.scenarios.iter().filter(placed);
        scenarios.map(|judged| judged.id.clone()).collect::<BTreeSet<_>>()
    };
    let all = judgements.iter().map(placed);
    all.reduce(|one, other| one.intersection(&other).cloned().collect()).unwrap_or_default()
}

fn plane(judgements: &[Judgement], common: &BTreeSet<String>) -> Plane {
    let mut plane = Plane::new(
        "Every start-up: time against loss, with the Pareto front",
        "completion over slow start's, geometric mean",
        "lost at the bottleneck, mean (%)",
    );
    for judgement in judgements {
        let scenarios = judgement.scenarios.iter().filter(|judged| common.contains(&judged.id));
        let points: Vec<(f64, f64)> =
            scenarios.filter_map(|judged| place(judged, judgement)).collect();
        if !points.is_empty() {
            let (time, lost) = mean(&points);
            plane.points.push((judgement.control.clone(), time, lost));
        }
    }
    let all: Vec<(f64, f64)> = plane.points.iter().map(|(_, time, lost)| (*time, *lost)).collect();
    plane.front = front(&all);
    plane
}
