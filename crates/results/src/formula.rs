//! Evaluates arithmetic that is written as text, such as `23.2 / 100 * 40`: of claims of papers,
//! and in the tables of sweeps.

/// The value of a name, or of a function of that name with its arguments.
pub type Named<'a> = dyn Fn(&str, &[f64]) -> Result<f64, String> + 'a;

/// The value of an expression of numbers, `+ - * /`, brackets, and names as `named` knows them.
///
/// # Errors
/// The text is no expression: what was found, and where.
pub fn evaluate(text: &str, named: &Named<'_>) -> Result<f64, String> {
    let mut reader = Reader { text, rest: text.trim_start(), named };
    let value = reader.sum()?;
    if reader.rest.is_empty() && value.is_finite() {
        return Ok(value);
    }
    Err(reader.problem("`+`, `-`, `*`, `/` or the end"))
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    named: &'a Named<'a>,
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.accept('+') {
                value += self.product()?;
            } else if self.accept('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.atom()?;
        loop {
            if self.accept('*') {
                value *= self.atom()?;
            } else if self.accept('/') {
                value /= self.atom()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.accept('(') {
            let value = self.sum()?;
            return if self.accept(')') { Ok(value) } else { Err(self.problem("`)`")) };
        }
        if self.rest.starts_with(|c: char| c.is_ascii_lowercase()) {
            return self.name();
        }
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let value = self.rest[..end].parse().map_err(|_| self.problem("a number"))?;
        self.rest = self.rest[end..].trim_start();
        Ok(value)
    }

    fn name(&mut self) -> Result<f64, String> {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.[]".contains(c);
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let name = &self.rest[..end];
        self.rest = self.rest[end..].trim_start();
        let mut arguments = Vec::new();
        if self.accept('(') {
            arguments.push(self.sum()?);
            while self.accept(',') {
                arguments.push(self.sum()?);
            }
            if !self.accept(')') {
                return Err(self.problem("`,` or `)`"));
            }
        }
        let value = (self.named)(name, &arguments);
        value.map_err(|problem| format!("formula `{}`: {problem}", self.text))
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
