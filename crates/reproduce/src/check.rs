//! Checks: the runs that a check reads, the number they give, and whether the condition holds.

use firstflight_results::formula::evaluate;
use firstflight_results::statistics::{distinct, mean};
use firstflight_results::{ClaimValue, Verdict};
use firstflight_runner::Run;

use crate::file::{Check, Claim};
use crate::job::Jobs;
use crate::measure::{Measure, Query, RunOnPath};
use crate::model::call;
use crate::number::number;
use crate::paper::{Expanded, ExpandedCase, Variant};
use crate::reduce::{margin_of_ratio, reduce};

/// Finished runs, by the index of their job.
#[derive(Clone, Copy)]
pub(crate) struct Done<'a> {
    /// Every run that was asked for.
    pub jobs: &'a Jobs,
    /// The runs, in the order of the jobs.
    pub runs: &'a [Result<Run, Unfinished>],
}

/// Why a run that is needed is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The reproduction was stopped before it ran.
    Interrupted,
    /// It is a run of the lab, which the user did not ask for.
    NotAsked,
    /// It is a run of the lab, which gave no result; why, in a line.
    NotRun(String),
}

/// A check with its number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// What is measured, in words.
    pub what: String,
    /// What the paper has, where that is a number.
    pub paper: Option<f64>,
    /// What was measured; `None` where it did not happen.
    pub measured: Option<f64>,
    /// Half the width of its 95 % confidence interval, where there are enough seeds to tell.
    pub margin: Option<f64>,
    /// The condition on the measured value, in words.
    pub rule: String,
    /// Whether the condition holds.
    pub holds: bool,
    /// What the check counts for.
    pub counts: Counts,
    /// Runs behind the number, one per seed; 0 for arithmetic.
    pub seeds: u64,
    /// The presets of those runs.
    pub preset: String,
}

/// What a check counts for in the verdict of its claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counts {
    /// It must hold.
    #[default]
    Decides,
    /// It must hold, but knobs were fitted to the value it compares with.
    Fitted,
    /// It is shown and decides nothing.
    Informs,
}

impl Outcome {
    /// The verdict of this check alone.
    pub(crate) fn verdict(&self) -> Verdict {
        match (self.counts, self.holds) {
            (Counts::Informs, _) => Verdict::Information,
            (_, false) => Verdict::Fail,
            (Counts::Fitted, true) => Verdict::Fitted,
            (Counts::Decides, true) => Verdict::Pass,
        }
    }

    /// Whether it keeps its claim from passing: it must hold and does not.
    pub(crate) fn stands_against(&self) -> bool {
        self.counts != Counts::Informs && !self.holds
    }
}

/// The runs in which something is measured: those of one control in one case.
pub(crate) type Place<'a> = (&'a ExpandedCase, &'a Variant);

/// One number of a check: what is measured and, perhaps, what divides it.
pub(crate) struct Quotient<'a> {
    /// The case's place on the x axis.
    pub x: Option<f64>,
    /// The runs in which it is measured.
    pub top: Place<'a>,
    /// The runs whose number divides it, if any.
    pub bottom: Option<Place<'a>>,
}

impl Claim {
    /// The checks of the claim, then those that show that a refuted claim cannot be true.
    pub(crate) fn all_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().chain(&self.refutations)
    }

    /// The runs that its checks read.
    ///
    /// # Errors
    /// Those of [`Check::points`].
    pub(crate) fn places<'a>(&self, expanded: &'a Expanded) -> Result<Vec<Place<'a>>, String> {
        let mut places = Vec::new();
        for check in self.all_checks() {
            places.extend(check.places(expanded)?);
        }
        Ok(places)
    }
}

impl Check {
    /// The runs this check reads.
    ///
    /// # Errors
    /// A case or control that does not exist, samples that are not kept, or no condition for the
    /// number; in words.
    pub(crate) fn points<'a>(&self, expanded: &'a Expanded) -> Result<Vec<Quotient<'a>>, String> {
        if self.measure == Measure::Formula {
            let formula = self.formula.as_deref().ok_or("measure `formula` without a formula")?;
            return evaluate(formula, &call).map(|_| Vec::new());
        }
        let names: Vec<&str> = match (&self.case, &self.cases) {
            (Some(case), None) => vec![case.as_str()],
            (None, Some(cases)) => cases.iter().map(String::as_str).collect(),
            (None, None) => expanded.cases.iter().map(|case| case.name.as_str()).collect(),
            (Some(_), Some(_)) => return Err("a check has `case` or `cases`, not both".to_owned()),
        };
        if names.len() != 1 && self.reduce.is_none() {
            let known = expanded.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>();
            let known = known.join(", ");
            return Err(format!("several cases need `reduce`, or name one `case` of {known}"));
        }
        names.iter().map(|name| self.point(expanded, name)).collect()
    }

    fn point<'a>(&self, expanded: &'a Expanded, name: &str) -> Result<Quotient<'a>, String> {
        let case = expanded.case(name)?;
        let top = case.variant(self.control.as_deref())?;
        let scripted = self.measure.is_scripted();
        if scripted != top.acks.is_some() {
            let (is, wants) =
                if scripted { ("a network", "a script") } else { ("a script", "a network") };
            return Err(format!(
                "case `{name}` has {is}, {:?} wants {wants}; see `acks`",
                self.measure
            ));
        }
        if scripted && self.ack.is_some() == self.round.is_some() {
            return Err(format!("{:?} wants either `ack` or `round`", self.measure));
        }
        if self.measure.needs_samples(&self.query()) && top.samples.is_none() {
            return Err(format!("{:?} reads samples over time; write `samples`", self.measure));
        }
        let bottom = match (&self.over, &self.over_case) {
            (None, None) if self.over_flows.is_none() => None,
            (control, other) => {
                let case = other.as_ref().map_or(Ok(case), |name| expanded.case(name))?;
                let control = control.as_deref().or(self.control.as_deref());
                Some((case, case.variant(control)?))
            }
        };
        Ok(Quotient { x: case.x, top: (case, top), bottom })
    }

    fn query(&self) -> Query<'_> {
        let Self { from, until, level, ack, round, .. } = *self;
        Query { flows: self.flows.as_deref(), from, until, level, ack, round }
    }

    /// What selects the number that divides.
    fn query_below(&self) -> Query<'_> {
        let flows = self.over_flows.as_deref().or(self.flows.as_deref());
        Query { flows, ..self.query() }
    }

    /// The number of this check; `None` where it did not happen.
    pub(crate) fn value(
        &self,
        expanded: &Expanded,
        done: Done<'_>,
    ) -> Result<Option<f64>, Unfinished> {
        if self.measure == Measure::Formula {
            return Ok(self.formula.as_deref().and_then(|formula| evaluate(formula, &call).ok()));
        }
        let mut values = Vec::new();
        for point in self.points(expanded).unwrap_or_default() {
            let top = done.value(self.measure, point.top, &self.query())?;
            let value = match point.bottom {
                None => top,
                Some(bottom) => {
                    let bottom = done.value(self.measure, bottom, &self.query_below())?;
                    top.zip(bottom).map(|(top, bottom)| top / bottom)
                }
            };
            values.push((point.x, value));
        }
        Ok(reduce(self.reduce, &values).filter(|value| value.is_finite()))
    }

    /// The number, and whether the condition holds.
    pub(crate) fn outcome(
        &self,
        expanded: &Expanded,
        claim: &Claim,
        done: Done<'_>,
    ) -> Result<Outcome, Unfinished> {
        let measured = self.value(expanded, done)?;
        let margin = self.margin(expanded, done)?;
        let preset = done.presets(&self.places(expanded).unwrap_or_default())?;
        Ok(Outcome { margin, preset, ..self.judged(measured, expanded, claim) })
    }

    /// The outcome for a number that was measured elsewhere.
    pub(crate) fn judged(
        &self,
        measured: Option<f64>,
        expanded: &Expanded,
        claim: &Claim,
    ) -> Outcome {
        let target = self.target(claim);
        let holds = measured.is_some_and(|value| self.holds(value, target));
        Outcome { measured, holds, ..self.asked(expanded, claim) }
    }

    /// The outcome without a run: what is asked, and no measured number.
    pub(crate) fn asked(&self, expanded: &Expanded, claim: &Claim) -> Outcome {
        let target = self.target(claim);
        let alone = match claim.expected {
            ClaimValue::Number(expected) if claim.all_checks().count() == 1 => Some(expected),
            _ => None,
        };
        let places = self.places(expanded).unwrap_or_default();
        Outcome {
            what: if self.what.is_empty() { claim.what.clone() } else { self.what.clone() },
            paper: self.paper.or(target).or(alone),
            rule: self.rule(target),
            counts: match (self.fitted, self.information) {
                (_, true) => Counts::Informs,
                (true, false) => Counts::Fitted,
                (false, false) => Counts::Decides,
            },
            seeds: places.iter().map(|(_, it)| it.scenarios.len() as u64).max().unwrap_or(0),
            ..Outcome::default()
        }
    }

    /// The runs it reads.
    fn places<'a>(&self, expanded: &'a Expanded) -> Result<Vec<Place<'a>>, String> {
        let both = |p: Quotient<'a>| std::iter::once(p.top).chain(p.bottom);
        Ok(self.points(expanded)?.into_iter().flat_map(both).collect())
    }

    /// Half the width of the 95 % confidence interval of a mean over many seeds, or of the ratio of
    /// two such means over the same seeds (by residuals, since both are of the same sources).
    fn margin(&self, expanded: &Expanded, done: Done<'_>) -> Result<Option<f64>, Unfinished> {
        let points = self.points(expanded).unwrap_or_default();
        let ([point], None) = (&points[..], self.reduce) else { return Ok(None) };
        let Some(top) = done.values(self.measure, point.top, &self.query())? else {
            return Ok(None);
        };
        let bottom = match point.bottom {
            None => vec![1.0; top.len()],
            Some(bottom) => {
                done.values(self.measure, bottom, &self.query_below())?.unwrap_or_default()
            }
        };
        Ok(margin_of_ratio(&top, &bottom))
    }

    /// The number to compare with: the check's own, or the claim's.
    pub(crate) fn target(&self, claim: &Claim) -> Option<f64> {
        let own = match claim.expected {
            ClaimValue::Number(expected) => Some(expected),
            _ => None,
        };
        let wanted = self.within.is_some() || self.within_percent.is_some();
        self.equals.or(own.filter(|_| wanted))
    }

    fn holds(&self, value: f64, target: Option<f64>) -> bool {
        let near = target.is_none_or(|target| {
            let percent = self.within_percent.map(|percent| target.abs() * percent / 100.0);
            // The last digit of a difference of two decimals is noise, not a miss.
            (value - target).abs() <= self.within.or(percent).unwrap_or(0.0) + 1e-9
        });
        near && self.at_least.is_none_or(|bound| value >= bound)
            && self.at_most.is_none_or(|bound| value <= bound)
            && self.above.is_none_or(|bound| value > bound)
            && self.below.is_none_or(|bound| value < bound)
    }

    /// The condition in words.
    pub(crate) fn rule(&self, target: Option<f64>) -> String {
        let mut parts = Vec::new();
        let bare = self.within.is_none() && self.within_percent.is_none();
        // Information has a number to be compared with, not one that it must equal.
        if let Some(target) = target.filter(|_| !(self.information && bare)) {
            let target = number(target);
            parts.push(match (self.within, self.within_percent) {
                (Some(by), _) if by > 0.0 => format!("{target} ± {}", number(by)),
                (None, Some(by)) => format!("{target} ± {} %", number(by)),
                _ => format!("= {target}"),
            });
        }
        let bounds =
            [("≥", self.at_least), ("≤", self.at_most), (">", self.above), ("<", self.below)];
        let bounds = bounds.into_iter().filter_map(|(sign, bound)| Some((sign, bound?)));
        parts.extend(bounds.map(|(sign, bound)| format!("{sign} {}", number(bound))));
        parts.join(", ")
    }

    /// Whether the check has a condition on the number.
    pub(crate) fn has_condition(&self, claim: &Claim) -> bool {
        !self.rule(self.target(claim)).is_empty()
    }
}

impl Done<'_> {
    /// The runs of a variant, one per seed.
    pub(crate) fn runs(&self, variant: &Variant) -> Result<Vec<&Run>, Unfinished> {
        let run = |scenario| {
            let place = self.jobs.find(scenario, variant).ok_or(Unfinished::Interrupted)?;
            self.runs[place].as_ref().map_err(Clone::clone)
        };
        variant.scenarios.iter().map(run).collect()
    }

    /// The presets of all runs of some places.
    pub(crate) fn presets(&self, places: &[Place<'_>]) -> Result<String, Unfinished> {
        let mut runs = Vec::new();
        for (_, variant) in places {
            runs.extend(self.runs(variant)?);
        }
        let presets = runs.iter().map(|run| run.result.preset.as_str());
        Ok(distinct(presets.filter(|preset| !preset.is_empty())))
    }

    /// The mean over the seeds; `None` if it did not happen with one of them.
    pub(crate) fn value(
        &self,
        measure: Measure,
        place: Place<'_>,
        query: &Query<'_>,
    ) -> Result<Option<f64>, Unfinished> {
        Ok(self.values(measure, place, query)?.and_then(mean))
    }

    /// One value per seed; `None` if it did not happen with one of them.
    fn values(
        &self,
        measure: Measure,
        (case, variant): Place<'_>,
        query: &Query<'_>,
    ) -> Result<Option<Vec<f64>>, Unfinished> {
        let complete = &case.complete;
        let bottleneck = [complete.slowest_link()];
        let rate_bps = complete.path_bps(&bottleneck);
        let runs = self.runs(variant)?;
        let values = runs.into_iter().map(|run| {
            let measured = RunOnPath {
                run,
                rate_bps,
                bdp_packets: complete.bdp_bytes(&bottleneck, rate_bps)
                    / complete.packet.bytes().max(1),
                packet_bytes: complete.packet.bytes(),
            };
            measure.of(measured, query)
        });
        Ok(values.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_results::Class;

    fn claim(expected: f64) -> Claim {
        Claim {
            id: "P-1".to_owned(),
            what: String::new(),
            class: Class::Tight,
            expected: ClaimValue::Number(expected),
            unit: String::new(),
            checks: Vec::new(),
            refutations: Vec::new(),
            note: None,
            arithmetic: false,
            reason: None,
            unjudged: None,
        }
    }

    fn holds(check: &Check, value: f64) -> bool {
        check.holds(value, check.target(&claim(95.6)))
    }

    #[test]
    fn a_tolerance_is_absolute_or_in_percent_and_its_edge_belongs_to_it() {
        let absolute = Check { within: Some(1.5), ..Check::default() };
        assert!(holds(&absolute, 97.1) && holds(&absolute, 94.1));
        assert!(!holds(&absolute, 97.11) && !holds(&absolute, 94.0));
        let percent = Check { equals: Some(40.0), within_percent: Some(10.0), ..Check::default() };
        assert!(holds(&percent, 44.0) && holds(&percent, 36.0) && !holds(&percent, 44.1));
        let below_zero = Check { equals: Some(-40.0), ..percent };
        assert!(holds(&below_zero, -44.0) && !holds(&below_zero, -44.1));
        let exact = Check { equals: Some(96.0), ..Check::default() };
        assert!(holds(&exact, 96.0) && !holds(&exact, 97.0));
    }

    #[test]
    fn what_is_fitted_or_only_informs_is_never_a_pass() {
        let outcome = |counts, holds| Outcome { counts, holds, ..Outcome::default() };
        let verdict = |counts, holds| outcome(counts, holds).verdict();
        assert_eq!(verdict(Counts::Decides, true), Verdict::Pass);
        assert_eq!(verdict(Counts::Fitted, true), Verdict::Fitted);
        assert_eq!(verdict(Counts::Fitted, false), Verdict::Fail);
        assert_eq!(verdict(Counts::Informs, true), Verdict::Information);
        assert_eq!(verdict(Counts::Informs, false), Verdict::Information);
        assert!(outcome(Counts::Fitted, false).stands_against());
        assert!(!outcome(Counts::Informs, false).stands_against());
    }

    #[test]
    fn information_has_a_number_to_be_compared_with_and_no_rule() {
        let check = Check { equals: Some(14.8), information: true, ..Check::default() };
        assert_eq!(check.rule(check.target(&claim(95.6))), "");
        let near = Check { within: Some(1.0), ..check };
        assert_eq!(near.rule(near.target(&claim(95.6))), "14.8 ± 1");
    }

    #[test]
    fn bounds_hold_all_together_and_a_claims_number_binds_only_with_a_tolerance() {
        let band = Check { at_least: Some(1.0), below: Some(2.0), ..Check::default() };
        assert!(holds(&band, 1.0) && !holds(&band, 2.0) && !holds(&band, 0.9));
        let open = Check { above: Some(0.0), at_most: Some(5.0), ..Check::default() };
        assert!(!holds(&open, 0.0) && holds(&open, 5.0));
        assert_eq!(band.rule(band.target(&claim(95.6))), "≥ 1, < 2");
        assert!(!Check::default().has_condition(&claim(95.6)));
    }
}
