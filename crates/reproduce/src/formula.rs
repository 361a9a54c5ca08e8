//! Evaluates arithmetic that is written as text, such as `23.2 / 100 * 40`, by which a claim is
//! refuted, with the functions of the closed-form model, such as `overflow_window(70, 20, 1)`.

use crate::model::call;

/// The value of an expression of numbers, `+ - * /`, brackets and functions of the model.
///
/// # Errors
/// The text is no expression: what was found, and where.
pub(crate) fn evaluate(text: &str) -> Result<f64, String> {
    let mut reader = Reader { text, rest: text.trim_start() };
    let value = reader.sum()?;
    if reader.rest.is_empty() && value.is_finite() {
        return Ok(value);
    }
    Err(reader.problem("`+`, `-`, `*`, `/` or the end"))
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
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
            return self.function();
        }
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let value = self.rest[..end].parse().map_err(|_| self.problem("a number"))?;
        self.rest = self.rest[end..].trim_start();
        Ok(value)
    }

    fn function(&mut self) -> Result<f64, String> {
        let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let name = &self.rest[..end];
        self.rest = self.rest[end..].trim_start();
        if !self.accept('(') {
            return Err(self.problem("`(`"));
        }
        let mut arguments = vec![self.sum()?];
        while self.accept(',') {
            arguments.push(self.sum()?);
        }
        if !self.accept(')') {
            return Err(self.problem("`,` or `)`"));
        }
        call(name, &arguments).map_err(|problem| format!("formula `{}`: {problem}", self.text))
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

    #[test]
    fn products_bind_before_sums_and_brackets_before_both() {
        assert_eq!(evaluate("23.2 / 100 * 40"), Ok(23.2 / 100.0 * 40.0));
        assert_eq!(evaluate("1 + 2 * (3 - 1) / 4 - 1"), Ok(1.0));
        assert_eq!(
            evaluate("overflow_window(140 / 2, 20, 1) * 512 / 1000"),
            Ok(52.0 * 512.0 / 1000.0)
        );
    }

    #[test]
    fn what_is_no_sum_is_pointed_at() {
        let expected = "formula `2 * x`: expected `(` at column 6";
        assert_eq!(evaluate("2 * x").unwrap_err(), expected);
        let expected = "formula `2 * X`: expected a number at column 5";
        assert_eq!(evaluate("2 * X").unwrap_err(), expected);
        assert!(evaluate("overflow_window(70, 20").unwrap_err().contains("`,` or `)`"));
        assert!(evaluate("overflow(70, 20, 1)").unwrap_err().contains("no function overflow"));
        assert!(evaluate("(1 + 2").is_err());
        assert!(evaluate("1 / 0").is_err());
        assert!(evaluate("1 2").is_err());
    }
}
