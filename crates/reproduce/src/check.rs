//! Checks: which runs one reads, the number they give, and whether it is as it must be.

use firstflight_runner::Run;
use firstflight_scenario::measure::mean_and_error;
use firstflight_scenario::{Value, hint};

use crate::file::{Check, Claim, Reduce};
use crate::formula::evaluate;
use crate::job::Jobs;
use crate::measure::{Measure, Measured, Query, mean};
use crate::paper::{Laid, LaidCase, Variant};

/// Finished runs by the place of their job.
#[derive(Clone, Copy)]
pub(crate) struct Done<'a> {
    /// Every run that was asked for.
    pub jobs: &'a Jobs,
    /// In the order of the jobs.
    pub runs: &'a [Result<Run, Unfinished>],
}

/// A run that is needed is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The reproduction was stopped before.
    Interrupted,
    /// It is the lab's, which gave none: why, in a line.
    NotRun(String),
}

/// A check with its number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// In words.
    pub what: String,
    /// What was measured; `None` where it did not happen.
    pub measured: Option<f64>,
    /// Half the width of its 95 % confidence interval, where there are enough seeds to tell.
    pub margin: Option<f64>,
    /// What it must be, in words.
    pub rule: String,
    /// Whether it is.
    pub holds: bool,
}

/// One number of a check: what is measured and, perhaps, what divides it.
pub(crate) struct Point<'a> {
    /// The case's place on the x axis.
    pub x: Option<f64>,
    /// What is measured where.
    pub top: (&'a LaidCase, &'a Variant),
    /// What divides it.
    pub bottom: Option<(&'a LaidCase, &'a Variant)>,
}

impl Check {
    /// The runs this check reads.
    ///
    /// # Errors
    /// In words: a case or control that is not there, samples that are not kept, nothing to hold
    /// the number against.
    pub(crate) fn points<'a>(&self, laid: &'a Laid) -> Result<Vec<Point<'a>>, String> {
        if self.measure == Measure::Formula {
            let formula = self.formula.as_deref().ok_or("measure `formula` without a formula")?;
            return evaluate(formula).map(|_| Vec::new());
        }
        let names: Vec<&str> = match (&self.case, &self.cases) {
            (Some(case), None) => vec![case.as_str()],
            (None, Some(cases)) => cases.iter().map(String::as_str).collect(),
            (None, None) => laid.cases.iter().map(|case| case.name.as_str()).collect(),
            (Some(_), Some(_)) => return Err("a check has `case` or `cases`, not both".to_owned()),
        };
        if names.len() != 1 && self.reduce.is_none() {
            let known = laid.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>();
            let known = known.join(", ");
            return Err(format!("several cases need `reduce`, or name one `case` of {known}"));
        }
        names.iter().map(|name| self.point(laid, name)).collect()
    }

    fn point<'a>(&self, laid: &'a Laid, name: &str) -> Result<Point<'a>, String> {
        let case = laid.case(name)?;
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
                let case = other.as_ref().map_or(Ok(case), |name| laid.case(name))?;
                let control = control.as_deref().or(self.control.as_deref());
                Some((case, case.variant(control)?))
            }
        };
        Ok(Point { x: case.x, top: (case, top), bottom })
    }

    fn query(&self) -> Query<'_> {
        let Self { from, until, level, ack, round, .. } = *self;
        Query { flows: self.flows.as_deref(), from, until, level, ack, round }
    }

    /// The number.
    pub(crate) fn value(&self, laid: &Laid, done: Done<'_>) -> Result<Option<f64>, Unfinished> {
        if self.measure == Measure::Formula {
            return Ok(self.formula.as_deref().and_then(|formula| evaluate(formula).ok()));
        }
        let mut values = Vec::new();
        for point in self.points(laid).unwrap_or_default() {
            let top = done.value(self.measure, point.top, &self.query())?;
            let value = match point.bottom {
                None => top,
                Some(bottom) => {
                    let flows = self.over_flows.as_deref().or(self.flows.as_deref());
                    let query = Query { flows, ..self.query() };
                    let bottom = done.value(self.measure, bottom, &query)?;
                    top.zip(bottom).map(|(top, bottom)| top / bottom)
                }
            };
            values.push((point.x, value));
        }
        Ok(reduce(self.reduce, &values).filter(|value| value.is_finite()))
    }

    /// The number and whether it is as it must be.
    pub(crate) fn outcome(
        &self,
        laid: &Laid,
        claim: &Claim,
        done: Done<'_>,
    ) -> Result<Outcome, Unfinished> {
        let measured = self.value(laid, done)?;
        let target = self.target(claim);
        let what = if self.what.is_empty() { claim.what.clone() } else { self.what.clone() };
        let holds = measured.is_some_and(|value| self.holds(value, target));
        let margin = self.margin(laid, done)?;
        Ok(Outcome { what, measured, margin, rule: self.rule(target), holds })
    }

    /// Half the width of the 95 % confidence interval of a mean over many seeds, or of the ratio of
    /// two such means over the same seeds (by residuals, since both are of the same sources).
    fn margin(&self, laid: &Laid, done: Done<'_>) -> Result<Option<f64>, Unfinished> {
        let points = self.points(laid).unwrap_or_default();
        let ([point], None) = (&points[..], self.reduce) else { return Ok(None) };
        let Some(top) = done.values(self.measure, point.top, &self.query())? else {
            return Ok(None);
        };
        let bottom = match point.bottom {
            None => vec![1.0; top.len()],
            Some(bottom) => {
                let flows = self.over_flows.as_deref().or(self.flows.as_deref());
                let query = Query { flows, ..self.query() };
                done.values(self.measure, bottom, &query)?.unwrap_or_default()
            }
        };
        Ok(margin_of_ratio(&top, &bottom))
    }

    /// What the number is compared with: the check's own, or the claim's.
    pub(crate) fn target(&self, claim: &Claim) -> Option<f64> {
        let own = match claim.expected {
            Value::Number(expected) => Some(expected),
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
        if let Some(target) = target {
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

    /// Whether there is anything that the number must be.
    pub(crate) fn has_condition(&self, claim: &Claim) -> bool {
        !self.rule(self.target(claim)).is_empty()
    }
}

impl Laid {
    /// The case of that name.
    pub(crate) fn case(&self, name: &str) -> Result<&LaidCase, String> {
        let names = || self.cases.iter().map(|case| case.name.as_str());
        self.cases.iter().find(|case| case.name == name).ok_or_else(|| {
            let (hint, known) = (hint(name, names()), names().collect::<Vec<_>>().join(", "));
            format!("no case `{name}`{hint}; there are {known}")
        })
    }
}

impl LaidCase {
    /// The variant under that control, or the only one there is.
    pub(crate) fn variant(&self, control: Option<&str>) -> Result<&Variant, String> {
        let names = || self.variants.iter().map(|variant| variant.control.as_str());
        let known = || names().collect::<Vec<_>>().join(", ");
        match (control, &self.variants[..]) {
            (None, [only]) => Ok(only),
            (None, _) => Err(format!("case `{}` needs a `control` of {}", self.name, known())),
            (Some(name), variants) => {
                variants.iter().find(|variant| variant.control == name).ok_or_else(|| {
                    format!("case `{}` has no control `{name}`; it has {}", self.name, known())
                })
            }
        }
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

    /// The mean over the seeds; `None` if it did not happen with one of them.
    pub(crate) fn value(
        &self,
        measure: Measure,
        place: (&LaidCase, &Variant),
        query: &Query<'_>,
    ) -> Result<Option<f64>, Unfinished> {
        Ok(self.values(measure, place, query)?.and_then(|values| mean(&values)))
    }

    /// One value per seed; `None` if it did not happen with one of them.
    fn values(
        &self,
        measure: Measure,
        (case, variant): (&LaidCase, &Variant),
        query: &Query<'_>,
    ) -> Result<Option<Vec<f64>>, Unfinished> {
        let resolved = &case.resolved;
        let link = &resolved.links[resolved.bottleneck(&all_links(resolved.links.len()))];
        let rtt_ns = link.delay_ns + link.return_delay_ns;
        let runs = self.runs(variant)?;
        let values = runs.into_iter().map(|run| {
            let measured = Measured {
                run,
                rate_bps: link.rate_bps,
                bdp_packets: resolved.bdp_packets(link.rate_bps, rtt_ns),
                packet_bytes: resolved.packet_bytes,
            };
            measure.of(measured, query)
        });
        Ok(values.collect())
    }
}

fn all_links(count: usize) -> Vec<usize> {
    (0..count).collect()
}

fn reduce(how: Option<Reduce>, points: &[(Option<f64>, Option<f64>)]) -> Option<f64> {
    let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect::<Option<_>>()?;
    let smallest = values.iter().copied().reduce(f64::min)?;
    let largest = values.iter().copied().reduce(f64::max)?;
    let (first, last) = (values.first()?, values.last()?);
    match how {
        None => Some(*first),
        Some(Reduce::Min) => Some(smallest),
        Some(Reduce::Max) => Some(largest),
        Some(Reduce::Mean) => mean(&values),
        Some(Reduce::SpreadPercent) => Some(100.0 * (largest - smallest) / largest),
        Some(Reduce::Growth) => Some(last / first),
        Some(Reduce::ZeroFrom) => zero_from(points),
        Some(Reduce::Median) => median(values),
        Some(Reduce::XOfLargest) => x_of_largest(points.iter().map(|(x, value)| (*x, *value))),
        Some(Reduce::XOfFall) => x_of_largest(steps(points).map(|(x, by)| (x, by.map(|by| -by)))),
        Some(Reduce::XOfRise) => x_of_largest(steps(points)),
    }
}

fn margin_of_ratio(top: &[f64], bottom: &[f64]) -> Option<f64> {
    if top.len() != bottom.len() || top.len() < SEEDS_FOR_MARGIN {
        return None;
    }
    let below = mean(bottom)?;
    let ratio = mean(top)? / below;
    let residuals: Vec<f64> = top.iter().zip(bottom).map(|(t, b)| t - ratio * b).collect();
    let margin = NORMAL_95 * mean_and_error(&residuals).1? / below;
    Some(margin).filter(|margin| margin.is_finite() && *margin > 0.0)
}

/// Fewer seeds say too little about how much their mean is to be trusted.
const SEEDS_FOR_MARGIN: usize = 10;

/// 95 % of a normal distribution lie within so many standard errors.
const NORMAL_95: f64 = 1.96;

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get((values.len() - 1) / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

/// From each point to the next: the x before, and the change.
fn steps(
    points: &[(Option<f64>, Option<f64>)],
) -> impl Iterator<Item = (Option<f64>, Option<f64>)> + '_ {
    points.windows(2).map(|pair| (pair[0].0, pair[1].1.zip(pair[0].1).map(|(to, from)| to - from)))
}

fn x_of_largest(points: impl Iterator<Item = (Option<f64>, Option<f64>)>) -> Option<f64> {
    let known = points.filter_map(|(x, value)| x.zip(value));
    known.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(x, _)| x)
}

/// The smallest x from which on every value is zero; `None` if the last one is not.
fn zero_from(points: &[(Option<f64>, Option<f64>)]) -> Option<f64> {
    let mut sorted: Vec<(f64, f64)> = points.iter().filter_map(|(x, v)| x.zip(*v)).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    sorted.iter().take_while(|(_, value)| *value == 0.0).last().map(|(x, _)| *x)
}

/// A number with four significant digits and no more than it needs.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "none".to_owned() };
    }
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a finite number")]
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 6);
    let text = format!("{value:.*}", usize::try_from(digits).unwrap_or(0));
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_scenario::Class;

    fn claim(expected: f64) -> Claim {
        Claim {
            id: "P-1".to_owned(),
            what: String::new(),
            class: Class::Tight,
            expected: Value::Number(expected),
            unit: String::new(),
            checks: Vec::new(),
            refutations: Vec::new(),
            note: None,
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
        let exact = Check { equals: Some(96.0), ..Check::default() };
        assert!(holds(&exact, 96.0) && !holds(&exact, 97.0));
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

    #[test]
    fn several_cases_become_one_number() {
        let at = |values: &[f64]| -> Vec<_> {
            values.iter().enumerate().map(|(i, v)| (Some(i as f64), Some(*v))).collect()
        };
        let points = at(&[10.0, 40.0, 20.0]);
        let value = |how| reduce(Some(how), &points);
        assert_eq!(value(Reduce::Min), Some(10.0));
        assert_eq!(value(Reduce::Max), Some(40.0));
        assert_eq!(value(Reduce::Mean), Some(70.0 / 3.0));
        assert_eq!(value(Reduce::SpreadPercent), Some(75.0));
        assert_eq!(value(Reduce::Growth), Some(2.0));
        assert_eq!(reduce(Some(Reduce::ZeroFrom), &at(&[9.0, 3.0, 0.0, 0.0])), Some(2.0));
        assert_eq!(reduce(Some(Reduce::ZeroFrom), &at(&[0.0, 3.0, 0.0])), Some(2.0));
        assert_eq!(reduce(Some(Reduce::ZeroFrom), &at(&[0.0, 1.0])), None);
        assert_eq!(reduce(Some(Reduce::Min), &[(None, None), (None, Some(1.0))]), None);
        let hill = at(&[10.0, 40.0, 45.0, 20.0, 30.0]);
        let value = |how| reduce(Some(how), &hill);
        assert_eq!(value(Reduce::Median), Some(30.0));
        assert_eq!(reduce(Some(Reduce::Median), &hill[..4]), Some(30.0));
        assert_eq!(value(Reduce::XOfLargest), Some(2.0));
        assert_eq!(value(Reduce::XOfFall), Some(2.0));
        assert_eq!(value(Reduce::XOfRise), Some(0.0));
    }

    #[test]
    fn a_margin_is_that_of_the_mean_or_of_the_ratio_over_the_same_seeds() {
        // Deviation 1 of 16 values: standard deviation sqrt(16/15), error that over 4.
        let top: Vec<f64> = (0..16).map(|i| if i % 2 == 0 { 9.0 } else { 11.0 }).collect();
        let alone = margin_of_ratio(&top, &[1.0; 16]).unwrap();
        assert!((alone - 1.96 * (16.0_f64 / 15.0).sqrt() / 4.0).abs() < 1e-12);
        let half = margin_of_ratio(&top, &[2.0; 16]).unwrap();
        assert!((half - alone / 2.0).abs() < 1e-12);
        let bottom: Vec<f64> = top.iter().map(|value| value * 3.0).collect();
        assert_eq!(margin_of_ratio(&top, &bottom), None, "the ratio is the same with every seed");
        assert_eq!(margin_of_ratio(&top[..5], &[1.0; 5]), None);
    }

    #[test]
    fn numbers_are_short() {
        let cases = [(95.5512, "95.55"), (0.384, "0.384"), (1992.0, "1992"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(123_456.0), "123456");
    }
}
