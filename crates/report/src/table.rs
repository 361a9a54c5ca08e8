//! Tables of text, numbers and verdicts.

use std::fmt;

/// A table with a fixed list of columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// File name and anchor: letters, digits, `-`, `_` and `.`; unique on a page.
    pub id: String,
    /// One line above the table.
    pub title: String,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The rows, from top to bottom, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// Its verdicts are of something else than the page's: they are not counted with those, and a
    /// page's badge does not filter them.
    pub apart: bool,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// What the column holds.
    pub name: String,
    /// The unit of its numbers; empty for none.
    pub unit: String,
    /// The side to which its cells are aligned.
    pub align: Align,
}

/// The side to which the cells of a column are aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Text.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text; empty text leaves the cell blank.
    Text(String),
    /// A number in the column's unit.
    Number {
        /// The value, written in full to CSV.
        value: f64,
        /// Digits after the point where people read it.
        decimals: u8,
    },
    /// The mean of several runs.
    Mean(Mean),
    /// The outcome of a check.
    Verdict(Verdict),
    /// A link to a figure on this page.
    Figure {
        /// The figure's id.
        id: String,
        /// The text of the link.
        label: String,
    },
}

/// The mean of several runs in the column's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Half the width of its confidence interval, if there are enough runs for one.
    pub half: Option<f64>,
    /// Digits after the point where people read it.
    pub decimals: u8,
    /// How many runs have a value, and how many there are.
    pub runs: (usize, usize),
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The expectation holds.
    Pass,
    /// The expectation does not hold.
    Fail,
    /// The claim was expected to be wrong, and the check shows that it is.
    RefutedConfirmed,
    /// The expectation holds, but something was fitted to it.
    Fitted,
    /// Nothing was measured.
    NotRun,
}

impl Table {
    /// A table without rows.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        columns: impl IntoIterator<Item = Column>,
    ) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            apart: false,
        }
    }

    /// Counts its verdicts apart from those of the page.
    #[must_use]
    pub fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// Adds a row below those already there; it must have one cell per column.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// The verdicts of all cells, row by row.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + '_ {
        self.rows.iter().flatten().filter_map(|cell| match cell {
            Cell::Verdict(verdict) => Some(*verdict),
            _ => None,
        })
    }
}

impl Column {
    /// A column of text.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), unit: String::new(), align: Align::Left }
    }

    /// A column of numbers; an empty unit means pure numbers.
    pub fn number(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), align: Align::Right }
    }

    /// The text at the head of the column, for example `rate (Mbps)`.
    pub fn label(&self) -> String {
        if self.unit.is_empty() {
            return self.name.clone();
        }
        format!("{} ({})", self.name, self.unit)
    }
}

impl Cell {
    /// A number shown with the given digits after the point.
    pub fn number(value: f64, decimals: u8) -> Self {
        Self::Number { value, decimals }
    }

    /// A link to the figure with that id.
    pub fn figure(id: impl Into<String>, label: impl Into<String>) -> Self {
        Self::Figure { id: id.into(), label: label.into() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Verdict> for Cell {
    fn from(verdict: Verdict) -> Self {
        Self::Verdict(verdict)
    }
}

/// What people read in the cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number { value, .. } if !value.is_finite() => f.write_str("-"),
            Self::Number { value, decimals } => write!(f, "{value:.*}", usize::from(*decimals)),
            Self::Mean(mean) => mean.fmt(f),
            Self::Verdict(verdict) => verdict.fmt(f),
            Self::Figure { label, .. } => f.write_str(label),
        }
    }
}

impl Mean {
    /// Whether the interval of a quantity that has no negative values would reach below zero: it
    /// begins at zero then.
    pub fn is_cut_off(&self) -> bool {
        self.value >= 0.0 && self.half.is_some_and(|half| half > self.value)
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = usize::from(self.decimals);
        write!(f, "{:.decimals$}", self.value)?;
        match self.half {
            Some(half) if self.is_cut_off() => {
                write!(f, " (0 to {:.decimals$})", self.value + half)?;
            }
            Some(half) => write!(f, " ± {half:.decimals$}")?,
            None => {}
        }
        match self.runs {
            (some, all) if some < all => write!(f, " ({some} of {all})"),
            _ => Ok(()),
        }
    }
}

impl Verdict {
    /// Every verdict, in the order of summaries.
    pub const ALL: [Self; 5] =
        [Self::Pass, Self::Fitted, Self::Fail, Self::RefutedConfirmed, Self::NotRun];

    /// Whether summaries name it even when no cell has it.
    pub(crate) fn is_usual(self) -> bool {
        matches!(self, Self::Pass | Self::Fail)
    }

    /// The word used in results: `pass`, `fail`, `refuted-confirmed`, `fitted` or `not-run`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::RefutedConfirmed => "refuted-confirmed",
            Self::Fitted => "fitted",
            Self::NotRun => "not-run",
        }
    }

    /// A sign that tells verdicts apart without colour.
    pub fn sign(self) -> char {
        match self {
            Self::Pass => '✓',
            Self::Fail => '✗',
            Self::RefutedConfirmed => '≠',
            Self::Fitted => '○',
            Self::NotRun => '–',
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_the_asked_digits_and_gaps_a_dash() {
        assert_eq!(Cell::number(38.049, 2).to_string(), "38.05");
        assert_eq!(Cell::number(f64::NAN, 2).to_string(), "-");
    }

    #[test]
    fn a_mean_shows_its_interval_and_the_runs_it_lacks() {
        let mean = Mean { value: 9.312, half: Some(1.79), decimals: 2, runs: (3, 3) };
        assert_eq!(mean.to_string(), "9.31 ± 1.79");
        let alone = Mean { half: None, decimals: 1, runs: (1, 3), ..mean };
        assert_eq!(Cell::Mean(alone).to_string(), "9.3 (1 of 3)");
        let wide = Mean { value: 10.394, half: Some(12.928), decimals: 1, runs: (2, 3) };
        assert_eq!(wide.to_string(), "10.4 (0 to 23.3) (2 of 3)", "no time is below zero");
    }
}
