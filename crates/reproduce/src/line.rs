//! A check as people read it, so that every page says it in equal words.

use firstflight_report::Verdict as Sign;
use firstflight_results::statistics::distinct;
use firstflight_results::{CheckRow, ClaimRow, Verdict};

use crate::number::number;

/// The cells of a check, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What is measured.
    pub what: String,
    /// The paper's number; empty where it has none.
    pub paper: String,
    /// What is measured here, with the 95 % interval of several seeds.
    pub ours: String,
    /// The measured number minus the paper's, also in percent of the paper's.
    pub difference: String,
    /// The condition on the measured value.
    pub tolerance: String,
    /// How many seeds; a dash for arithmetic.
    pub seeds: String,
    /// The presets of the runs.
    pub preset: String,
    /// The verdict with its sign.
    pub verdict: String,
}

impl Line {
    /// The heads of the cells.
    pub const HEADS: [&str; 8] =
        ["checked", "paper", "firstflight", "difference", "must be", "seeds", "preset", "verdict"];

    /// The cells of a check.
    pub fn of(check: &CheckRow) -> Self {
        Self {
            what: check.what.clone(),
            paper: check.paper.map_or(String::new(), number),
            ours: ours(check),
            difference: difference(check),
            tolerance: check.tolerance.clone(),
            seeds: if check.seeds == 0 { "–".to_owned() } else { check.seeds.to_string() },
            preset: check.preset.clone(),
            verdict: format!(
                "{} {}",
                of_report(check.verdict).map_or('·', Sign::sign),
                check.verdict.name()
            ),
        }
    }

    /// The cells, in the order of [`Line::HEADS`].
    pub fn cells(self) -> [String; 8] {
        let Self { what, paper, ours, difference, tolerance, seeds, preset, verdict } = self;
        [what, paper, ours, difference, tolerance, seeds, preset, verdict]
    }
}

/// Whether the row is of our own making: its id has an `I`.
pub(crate) fn is_own(row: &ClaimRow) -> bool {
    RowKind::of(row) == RowKind::Own
}

/// Kinds of rows that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Claims of a paper.
    Paper,
    /// Claims of a paper that follow from its other numbers, without a run.
    Arithmetic,
    /// Claims of a paper, measured on Linux; their ids have an `L`.
    Lab,
    /// Rows of our own making; their ids have an `I`.
    Own,
}

impl RowKind {
    /// All parts, in the order of pages.
    pub const ALL: [Self; 4] = [Self::Paper, Self::Arithmetic, Self::Lab, Self::Own];

    /// The part to which a row belongs.
    pub fn of(row: &ClaimRow) -> Self {
        match row.id.split_once('-').and_then(|(_, name)| name.chars().next()) {
            Some('I') => Self::Own,
            Some('L') => Self::Lab,
            _ if row.arithmetic => Self::Arithmetic,
            _ => Self::Paper,
        }
    }

    /// The part in a few words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Paper => "claims of the papers",
            Self::Arithmetic => "claims that are a paper's own arithmetic",
            Self::Lab => "claims again on Linux",
            Self::Own => "rows of our own making",
        }
    }
}

/// How many rows there are, with which verdicts, and of which parts, in two sentences: the one
/// total of the terminal and the page.
pub(crate) fn totals(rows: &[&ClaimRow]) -> String {
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let always = [Verdict::Pass, Verdict::Fail];
    let shown = VERDICTS.into_iter().filter(|it| always.contains(it) || of(*it) > 0);
    let counts = shown.map(|verdict| format!("{} {}", of(verdict), verdict.name()));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let not_run = match of(Verdict::NotRun) {
        0 => "",
        _ => " (each says what it takes)",
    };
    let parts = |part| rows.iter().filter(|row| RowKind::of(row) == part).count();
    let only_claims = parts(RowKind::Paper) == rows.len();
    let text = format!(
        "{}: {counts}{not_run}.",
        count(rows.len(), if only_claims { "claim" } else { "row" })
    );
    if only_claims {
        return text;
    }
    let each = RowKind::ALL.into_iter().filter(|part| parts(*part) > 0).map(|part| {
        let labs = rows.iter().filter(|row| RowKind::of(row) == part);
        let labs: Vec<String> = labs.filter_map(|row| Some(row.lab.as_ref()?.words())).collect();
        let labs = distinct(labs.iter().map(String::as_str));
        let labs = match labs.is_empty() {
            true => String::new(),
            false => format!(" (not run now; measured by {labs})"),
        };
        format!("{} {}{labs}", parts(part), part.words())
    });
    format!("{text} Of them: {}.", each.collect::<Vec<_>>().join(", "))
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The first value that keeps a row from passing and what it must be, and how many of its values
/// are not as they must be; empty for a row that does not fail.
pub(crate) fn missed(row: &ClaimRow) -> String {
    let decides = row.checks.iter().filter(|check| check.verdict != Verdict::Information);
    let all = decides.count();
    let failing: Vec<&CheckRow> =
        row.checks.iter().filter(|check| check.verdict == Verdict::Fail).collect();
    let Some(first) = failing.first() else { return String::new() };
    let name = if first.what == row.what { String::new() } else { format!("{}: ", first.what) };
    let unit = if name.is_empty() && !row.unit.is_empty() {
        format!(" {}", row.unit)
    } else {
        String::new()
    };
    let others = match (failing.len(), all) {
        (_, 1) => String::new(),
        (few, all) => format!("; {few} of {all} values are not as they must be"),
    };
    format!("{name}{}{unit}, must be {}{others}", ours(first), first.tolerance)
}

/// The verdicts of rows, in the order of counts.
pub(crate) const VERDICTS: [Verdict; 5] =
    [Verdict::Pass, Verdict::Fitted, Verdict::Fail, Verdict::RefutedConfirmed, Verdict::NotRun];

/// The value with its interval: `9.25 (9.1 to 9.4)`.
pub(crate) fn ours(check: &CheckRow) -> String {
    match (check.measured, check.interval) {
        (None, _) if check.verdict == Verdict::NotRun => String::new(),
        (None, _) => "none".to_owned(),
        (Some(value), None) => number(value),
        (Some(value), Some([low, high])) => {
            format!("{} ({} to {})", number(value), number(low), number(high))
        }
    }
}

/// `+15 (+3.0 %)`; nothing where the paper has no number.
fn difference(check: &CheckRow) -> String {
    let (Some(by), Some(paper)) = (check.difference, check.paper) else { return String::new() };
    let sign = if by > 0.0 { "+" } else { "" };
    if by == 0.0 || paper == 0.0 {
        return format!("{sign}{}", number(by));
    }
    format!("{sign}{} ({:+.1} %)", number(by), 100.0 * by / paper.abs())
}

/// A verdict as a report has it; what decides nothing is none there.
pub(crate) fn of_report(verdict: Verdict) -> Option<Sign> {
    match verdict {
        Verdict::Pass => Some(Sign::Pass),
        Verdict::Fitted => Some(Sign::Fitted),
        Verdict::Fail => Some(Sign::Fail),
        Verdict::RefutedConfirmed => Some(Sign::RefutedConfirmed),
        Verdict::NotRun => Some(Sign::NotRun),
        Verdict::Information => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_paper_ours_the_difference_and_what_it_must_be() {
        let check = CheckRow {
            what: "at 10 Mbit/s".to_owned(),
            paper: Some(9.5),
            measured: Some(9.25),
            difference: Some(-0.25),
            tolerance: "9.5 ± 15 %".to_owned(),
            seeds: 10,
            interval: Some([9.1, 9.4]),
            preset: "figures".to_owned(),
            verdict: Verdict::Fitted,
        };
        let words = ["at 10 Mbit/s", "9.5", "9.25 (9.1 to 9.4)", "-0.25 (-2.6 %)"];
        let rest = ["9.5 ± 15 %", "10", "figures", "○ fitted"];
        let wanted: Vec<String> = words.into_iter().chain(rest).map(str::to_owned).collect();
        assert_eq!(Line::of(&check).cells().to_vec(), wanted);
        let bound = CheckRow { paper: None, difference: None, seeds: 0, interval: None, ..check };
        let line = Line::of(&bound);
        assert_eq!((&*line.paper, &*line.ours, &*line.seeds), ("", "9.25", "–"));
        let never = CheckRow { measured: None, ..bound.clone() };
        assert_eq!(Line::of(&never).ours, "none");
        let not_run = CheckRow { verdict: Verdict::NotRun, ..never };
        assert_eq!(Line::of(&not_run).ours, "");
        let same = CheckRow { paper: Some(9.25), difference: Some(0.0), ..bound };
        assert_eq!(Line::of(&same).difference, "0");
    }
}
