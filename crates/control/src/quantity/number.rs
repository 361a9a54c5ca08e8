//! A decimal number followed by a unit, scaled without rounding.

use strsim::damerau_levenshtein;

/// Why a quantity could not be read; prints the problem and the accepted forms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; accepted: {accepted}")]
#[non_exhaustive]
pub struct QuantityError {
    /// What is wrong, as a sentence without a full stop.
    pub problem: String,
    /// Examples of accepted forms, separated by commas.
    pub accepted: &'static str,
}

/// One kind of quantity: how it is called, its units, the accepted forms and the largest value.
pub(crate) struct Kind {
    /// Its name with the article: `a rate`.
    pub(crate) name: &'static str,
    /// Each unit's spelling and its size in base units. Suggestions use the first one.
    pub(crate) units: &'static [(&'static str, u64)],
    /// The base unit in words, for "finer than one ...".
    pub(crate) base: &'static str,
    /// What is accepted, in words.
    pub(crate) accepted: &'static str,
    /// Largest accepted value in base units, and that value as users write it.
    pub(crate) most: (u64, &'static str),
}

impl Kind {
    /// An error of this kind.
    pub(crate) fn error(&self, problem: impl Into<String>) -> QuantityError {
        QuantityError { problem: problem.into(), accepted: self.accepted }
    }

    /// Reads `text` into base units, at most `self.most`.
    pub(crate) fn read(&self, text: &str) -> Result<u64, QuantityError> {
        let (number, unit) = self.split(text)?;
        let scale = self.scale(unit)?;
        let value = self.scaled(number, scale)?;
        if value > self.most.0 {
            return Err(self.error(format!("{} is at most {}", self.name, self.most.1)));
        }
        Ok(value)
    }

    /// The number and the unit of `text`; a missing, negative or unreadable number is an error.
    pub(crate) fn split<'a>(&self, text: &'a str) -> Result<(&'a str, &'a str), QuantityError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(self.error(format!("nothing where {} was expected", self.name)));
        }
        if let Some(rest) = text.strip_prefix('-') {
            let negative = rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            let why = if negative { "cannot be negative" } else { "starts with a number" };
            return Err(self.error(format!("{} {why}", self.name)));
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        if digits == 0 || number.len() - digits > 1 {
            return Err(self.error(format!("{} starts with a number", self.name)));
        }
        Ok((number, unit.trim_start()))
    }

    fn scale(&self, unit: &str) -> Result<u64, QuantityError> {
        if unit.is_empty() {
            return Err(self.error(format!("{} needs a unit", self.name)));
        }
        let known = self.units.iter().find(|(name, _)| *name == unit);
        known.map(|(_, scale)| *scale).ok_or_else(|| {
            let names = || self.units.iter().map(|(name, _)| *name);
            if unit.contains(',') {
                let grid = "several are for a grid file of `firstflight sweep`";
                return self.error(format!("found several values for {}; {grid}", self.name));
            }
            // A slip is one wrong letter in a unit of three letters or more, after the first, which
            // is the prefix. Shorter ones would all be slips of each other: `EB` of `B`, `d` of
            // `s`.
            let slip = names().find(|name| name.eq_ignore_ascii_case(unit)).or_else(|| {
                names().find(|name| {
                    name.len().min(unit.len()) >= 3
                        && name.get(..1) == unit.get(..1)
                        && damerau_levenshtein(name, unit) == 1
                })
            });
            let meant = match slip {
                Some(name) => format!(", did you mean `{name}`"),
                None => format!("; the units are {}", names().collect::<Vec<_>>().join(", ")),
            };
            self.error(format!("unknown unit `{}`{meant}", shortened(unit)))
        })
    }

    /// `number * scale` exactly; more digits than fit, or a remainder, is an error.
    pub(crate) fn scaled(&self, number: &str, scale: u64) -> Result<u64, QuantityError> {
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let decimals = decimals.trim_end_matches('0');
        let too_large = || self.error(format!("{} is at most {}", self.name, self.most.1));
        let too_fine = || self.error(format!("{} is not finer than {}", self.name, self.base));
        if decimals.len() > MOST_DECIMALS {
            return Err(too_fine());
        }
        let parse = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse().ok() };
        let whole: u64 = parse(whole).ok_or_else(too_large)?;
        let part: u64 = parse(decimals).ok_or_else(too_fine)?;
        let (part, one) =
            (u128::from(part) * u128::from(scale), 10_u128.pow(decimals.len() as u32));
        if part % one != 0 {
            return Err(too_fine());
        }
        let value = u128::from(whole) * u128::from(scale) + part / one;
        u64::try_from(value).map_err(|_| too_large())
    }
}

/// Prints `value` in the largest of `units` (largest first) that divides it.
pub(crate) fn show(
    f: &mut std::fmt::Formatter<'_>,
    value: u64,
    units: &[(&'static str, u64)],
) -> std::fmt::Result {
    let fits = |scale: u64| value != 0 && value.is_multiple_of(scale);
    let (unit, scale) =
        units.iter().find(|(_, scale)| fits(*scale)).or(units.last()).copied().unwrap_or(("", 1));
    write!(f, "{}{unit}", value / scale)
}

/// At most twenty characters of what the user wrote, for messages.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(20).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// Nineteen decimals always fit a `u64`, and are more than any unit here can be divided into.
const MOST_DECIMALS: usize = 19;
