//! Arithmetic that is written as text, such as `23.2 / 100 * 40`: of claims of papers, and in the
//! tables of sweeps.

/// What was read of such a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A name, or a function of that name with its arguments.
    Named(String, Vec<Formula>),
    /// Two of them with an operator between.
    Both(Box<Formula>, char, Box<Formula>),
}

/// The value of a name, or of a function of that name with its arguments.
pub type Named<'a> = dyn Fn(&str, &[f64]) -> Result<f64, String> + 'a;

/// The same, of arguments as they are written.
pub type Written<'a> = dyn Fn(&str, &[Formula]) -> Result<f64, String> + 'a;

/// The value of an expression of numbers, `+ - * /`, brackets, and names as `named` knows them.
///
/// # Errors
/// The text is no expression: what was found, and where.
pub fn evaluate(text: &str, named: &Named<'_>) -> Result<f64, String> {
    fn numbers(formula: &Formula, named: &Named<'_>) -> Result<f64, String> {
        formula.value(&|name, arguments| {
            let arguments = arguments.iter().map(|argument| numbers(argument, named));
            named(name, &arguments.collect::<Result<Vec<_>, _>>()?)
        })
    }
    let value = numbers(&Formula::read(text)?, named);
    value.map_err(|problem| format!("formula `{text}`: {problem}"))
}

impl Formula {
    /// Reads an expression; `1 > 0` is 1, and `0 > 1` is 0.
    ///
    /// # Errors
    /// The text is no expression: what was found, and where.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, rest: text.trim_start() };
        let formula = reader.comparison()?;
        if reader.rest.is_empty() {
            return Ok(formula);
        }
        Err(reader.problem("`+`, `-`, `*`, `/` or the end"))
    }

    /// Its value, with names and functions as `named` knows them: a function has its arguments as
    /// they are written.
    ///
    /// # Errors
    /// What `named` says, or a value that is no finite number.
    pub fn value(&self, named: &Written<'_>) -> Result<f64, String> {
        let value = match self {
            Self::Number(value) => *value,
            Self::Named(name, arguments) => named(name, arguments)?,
            Self::Both(one, operator, other) => {
                let (one, other) = (one.value(named)?, other.value(named)?);
                match operator {
                    '+' => one + other,
                    '-' => one - other,
                    '*' => one * other,
                    '>' => f64::from(one > other),
                    '<' => f64::from(one < other),
                    _ => one / other,
                }
            }
        };
        value.is_finite().then_some(value).ok_or_else(|| format!("{value} is no number"))
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    fn comparison(&mut self) -> Result<Formula, String> {
        self.joined(&['>', '<'], |reader| {
            reader.joined(&['+', '-'], |reader| reader.joined(&['*', '/'], Self::atom))
        })
    }

    /// Parts with one of these operators between each two; the first two belong together.
    fn joined(
        &mut self,
        operators: &[char],
        part: impl Fn(&mut Self) -> Result<Formula, String>,
    ) -> Result<Formula, String> {
        let mut formula = part(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.accept(**operator)) {
            formula = Formula::Both(Box::new(formula), *operator, Box::new(part(self)?));
        }
        Ok(formula)
    }

    fn atom(&mut self) -> Result<Formula, String> {
        if self.accept('(') {
            let formula = self.comparison()?;
            return if self.accept(')') { Ok(formula) } else { Err(self.problem("`)`")) };
        }
        if self.rest.starts_with(|c: char| c.is_ascii_lowercase()) {
            return self.name();
        }
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let value = self.rest[..end].parse().map_err(|_| self.problem("a number"))?;
        self.rest = self.rest[end..].trim_start();
        Ok(Formula::Number(value))
    }

    fn name(&mut self) -> Result<Formula, String> {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.[]".contains(c);
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let name = self.rest[..end].to_owned();
        self.rest = self.rest[end..].trim_start();
        let mut arguments = Vec::new();
        if self.accept('(') {
            arguments.push(self.comparison()?);
            while self.accept(',') {
                arguments.push(self.comparison()?);
            }
            if !self.accept(')') {
                return Err(self.problem("`,` or `)`"));
            }
        }
        Ok(Formula::Named(name, arguments))
    }

    fn accept(&mut self, wanted: char) -> bool {
        let Some(rest) = self.rest.strip_prefix(wanted) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn problem(&self, wanted: &str) -> String {
        let column = self.text.len() - self.rest.len() + 1;
        format!("formula `{}`: expected {wanted} at column {column}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        evaluate(text, &|name, arguments| match (name, arguments) {
            ("window", [bdp, buffer]) => Ok(bdp + buffer),
            ("sim.rtt_s", []) => Ok(0.5),
            _ => Err(format!("no {name}")),
        })
    }

    #[test]
    fn products_bind_before_sums_and_brackets_before_both() {
        assert_eq!(value("23.2 / 100 * 40"), Ok(23.2 / 100.0 * 40.0));
        assert_eq!(value("1 + 2 * (3 - 1) / 4 - 1"), Ok(1.0));
        assert_eq!(value("window(140 / 2, 20) * sim.rtt_s"), Ok(45.0));
        assert_eq!(value("1 + 1 > 3 / 2"), Ok(1.0));
        assert_eq!(value("(2 < 1) + 3"), Ok(3.0));
    }

    #[test]
    fn what_is_no_sum_is_pointed_at() {
        assert_eq!(value("2 * x").unwrap_err(), "formula `2 * x`: no x");
        let expected = "formula `2 * X`: expected a number at column 5";
        assert_eq!(value("2 * X").unwrap_err(), expected);
        assert!(value("window(70, 20").unwrap_err().contains("`,` or `)`"));
        assert!(value("windows(70, 20)").unwrap_err().contains("no windows"));
        assert!(value("(1 + 2").is_err());
        assert!(value("1 / 0").is_err());
        assert!(value("1 2").is_err());
    }
}
