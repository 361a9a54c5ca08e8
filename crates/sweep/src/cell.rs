//! The text of a cell: values of runs, and formulas of them, in braces.

use firstflight_results::formula::Formula;
use firstflight_results::statistics::{mean_and_error, quantile};

use crate::layout::{Named, OneTable};
use crate::range;
use crate::results::Found;

/// Where a cell stands.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) table: OneTable<'a>,
    pub(crate) side: &'a str,
    pub(crate) control: Option<&'a str>,
    /// Those that share its row.
    pub(crate) points: &'a [u64],
}

/// A text with the values of what it has in braces: a name, or a formula and behind a colon the
/// digits that are shown; `None` where one is not there.
pub(crate) fn filled(form: &str, place: Place<'_>) -> Option<String> {
    let mut parts = form.split('{');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (inside, rest) = part.split_once('}')?;
        text += &match inside.split_once(':') {
            Some((formula, digits)) => {
                let value = value(formula, place).ok()?;
                let (sign, digits) =
                    digits.strip_prefix('+').map_or((false, digits), |it| (true, it));
                let digits = digits.strip_prefix('.')?.parse::<usize>().ok()?;
                if sign { format!("{value:+.digits$}") } else { format!("{value:.digits$}") }
            }
            None => match place.found(inside)? {
                Found::Number(number) => number.to_string(),
                Found::Text(text) => text,
            },
        };
        text += rest;
    }
    Some(text)
}

/// The value of a formula.
pub(crate) fn value(formula: &str, place: Place<'_>) -> Result<f64, String> {
    place.value(&Formula::read(formula)?)
}

impl<'a> Place<'a> {
    fn value(self, formula: &Formula) -> Result<f64, String> {
        formula.value(&|name, arguments| match arguments {
            [] => self.number(name).ok_or_else(|| format!("no number {name}")),
            [share, of] if name == "quantile" => {
                let found = quantile(self.values(of)?, self.value(share)?);
                found.ok_or_else(|| format!("no {name}"))
            }
            [of] => over(name, &self.values(of)?).ok_or_else(|| format!("no {name}")),
            _ => Err(format!("no {name}")),
        })
    }

    /// A formula's values: of each point, or of each group of points.
    fn values(self, formula: &Formula) -> Result<Vec<f64>, String> {
        let by = self.table.layout.by.as_ref();
        let mut groups: Vec<(Option<&str>, Vec<u64>)> = Vec::new();
        for point in self.points {
            let group = by.and_then(|by| self.table.results.key(self.side, *point, by));
            match groups.iter_mut().find(|(own, _)| *own == group) {
                Some((_, points)) => points.push(*point),
                None => groups.push((group, vec![*point])),
            }
        }
        match &groups[..] {
            [_] => self.points.chunks(1).map(|it| self.among(it).value(formula)).collect(),
            _ => groups.iter().map(|(_, points)| self.among(points).value(formula)).collect(),
        }
    }

    fn among<'b>(self, points: &'b [u64]) -> Place<'b>
    where
        'a: 'b,
    {
        Place { points, ..self }
    }

    fn number(self, name: &str) -> Option<f64> {
        match self.found(name)? {
            Found::Number(number) => Some(number),
            Found::Text(text) => range::number(&text),
        }
    }

    /// The value of a key that all points of the row have.
    pub(crate) fn key(self, name: &str) -> Option<&'a str> {
        let mut values = self.points.iter().map(|it| self.table.results.key(self.side, *it, name));
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }

    /// How many points share the row; its side or control; a key of its points; or a measure of the
    /// run that stands there, of another run by its name or its side, as in `quinn.throughput_bps`.
    fn found(self, name: &str) -> Option<Found> {
        let results = self.table.results;
        match name {
            "points" => return Some(Found::Number(self.points.len() as f64)),
            "side" => return Some(Found::Text(results.title(self.side).to_owned())),
            "control" => return Some(Found::Text(self.control?.to_owned())),
            _ => {}
        }
        if let Some(value) = self.key(name) {
            return Some(Found::Text(value.to_owned()));
        }
        let [point] = self.points else { return None };
        let measured = |run, name: &str| results.measured(run, *point, name);
        match name.split_once('.') {
            Some((run, rest)) if !run.starts_with("flow[") => match self.table.run(run) {
                Some(Named::Run(side, control)) => measured((side, control), rest),
                Some(Named::Control(control)) => measured((self.side, control), rest),
                None => measured((run, self.control?), rest),
            },
            _ => measured((self.side, self.control?), name),
        }
    }
}

/// A function of several values.
fn over(function: &str, values: &[f64]) -> Option<f64> {
    let (mean, error) = mean_and_error(values);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    match function {
        "mean" => mean,
        "error" => error,
        "geomean" => mean_and_error(&logs).0.map(f64::exp),
        "median" => quantile(values.to_vec(), 0.5),
        "min" => values.iter().copied().reduce(f64::min),
        "max" => values.iter().copied().reduce(f64::max),
        "sum" => Some(values.iter().sum()),
        "count" => Some(values.iter().filter(|value| **value != 0.0).count() as f64),
        _ => None,
    }
}
