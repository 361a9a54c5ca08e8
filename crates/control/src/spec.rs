//! Controls by name: `<start-up>[(key=value,...)][+<avoidance>[(key=value,...)]]`, where the
//! start-up may be `landed(<start-up>[(key=value,...)])`.
//!
//! Only the shape is checked here. [`Control`](crate::Control) checks names and knobs.

use std::fmt;
use std::str::FromStr;

use crate::stack::{OF_LINUX, OF_NOQ, OF_QUINN};

/// A control as written: a start-up or alias, its knobs, and perhaps an avoidance.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlSpec {
    /// The start-up, or an alias for a whole control.
    pub startup: NamedPolicy,
    /// The avoidance after `+`; `None` leaves it to the alias or the start-up's usual partner.
    pub avoidance: Option<NamedPolicy>,
    /// What was written, without surrounding blanks.
    pub text: String,
}

/// A name with its knobs, in the order written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedPolicy {
    /// Letters, digits, `-`, `_` and `.`; never empty.
    pub name: String,
    /// Pairs of key and value, neither empty, keys distinct.
    pub knobs: Vec<(String, String)>,
    /// It is a start-up within `landed(...)` ([`firstflight_core::delivery_exit`]).
    pub landed: bool,
}

impl NamedPolicy {
    /// The value of a knob, if it was given.
    pub fn knob(&self, key: &str) -> Option<&str> {
        self.knobs.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

/// Why a control could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at column {column} of `{text}`; accepted: {ACCEPTED}")]
#[non_exhaustive]
pub struct ControlError {
    /// What was written, on one line and cut after 200 characters.
    pub text: String,
    /// Where the trouble starts, in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
}

impl FromStr for ControlSpec {
    type Err = ControlError;

    fn from_str(text: &str) -> Result<Self, ControlError> {
        let mut reader = Reader { text: text.trim(), at: 0 };
        let startup = reader.startup()?;
        let avoidance = if reader.accept('+') { Some(reader.part("an avoidance")?) } else { None };
        if !reader.rest().is_empty() {
            if reader.rest().starts_with(',') {
                let why = "a comma; several controls are words with a blank between them";
                return Err(reader.error(format!("found {why}, as in `hoe astart`,")));
            }
            let expected = if avoidance.is_some() { "the end" } else { "`+` or the end" };
            return Err(reader.error(format!("expected {expected}")));
        }
        Ok(Self { startup, avoidance, text: reader.text.to_owned() })
    }
}

impl fmt::Display for ControlSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.startup)?;
        self.avoidance.as_ref().map_or(Ok(()), |avoidance| write!(f, "+{avoidance}"))
    }
}

impl fmt::Display for NamedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.landed {
            write!(f, "{LANDED}(")?;
        }
        f.write_str(&self.name)?;
        for (i, (key, value)) in self.knobs.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { "(" } else { "," })?;
        }
        let closing = [!self.knobs.is_empty(), self.landed];
        closing.iter().filter(|closes| **closes).try_for_each(|_| f.write_str(")"))
    }
}

impl serde::Serialize for ControlSpec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// A cursor over the text; `at` is a byte offset on a character boundary.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, problem: String) -> ControlError {
        let column = self.text[..self.at].chars().count() + 1;
        ControlError { text: shown(self.text), column, problem }
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn accept(&mut self, wanted: char) -> bool {
        self.blanks();
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    /// The longest run of characters that `belongs` allows; `what` names it when there is none.
    fn word(&mut self, what: &str, belongs: fn(char) -> bool) -> Result<&'a str, ControlError> {
        self.blanks();
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_end();
        if word.is_empty() {
            return Err(self.error(format!("expected {what}")));
        }
        self.at += end;
        Ok(word)
    }

    /// A start-up, perhaps with another landing.
    fn startup(&mut self) -> Result<NamedPolicy, ControlError> {
        let before = self.at;
        if self.word("a start-up", is_name)? != LANDED {
            self.at = before;
            return self.part("a start-up");
        }
        if !self.accept('(') {
            return Err(self.error(format!("expected `(` and a start-up after `{LANDED}`")));
        }
        self.blanks();
        let begin = self.at;
        let part = self.part("a start-up to be landed")?;
        if [OF_QUINN, OF_NOQ, OF_LINUX].iter().any(|whole| part.name.starts_with(whole)) {
            self.at = begin;
            return Err(self.error(format!("`{}` is more than a start-up", part.name)));
        }
        if !self.accept(')') {
            return Err(self.error(format!("expected the `)` of `{LANDED}`")));
        }
        Ok(NamedPolicy { landed: true, ..part })
    }

    fn part(&mut self, what: &str) -> Result<NamedPolicy, ControlError> {
        let name = self.word(what, is_name)?.to_owned();
        let mut knobs = Vec::new();
        if self.accept('(') {
            loop {
                let (key, value) = self.knob(&knobs)?;
                knobs.push((key, value));
                if self.accept(')') {
                    break;
                }
                if !self.accept(',') {
                    return Err(self.error("expected `,` or `)`".to_owned()));
                }
            }
        }
        Ok(NamedPolicy { name, knobs, landed: false })
    }

    fn knob(&mut self, earlier: &[(String, String)]) -> Result<(String, String), ControlError> {
        self.blanks();
        let start = self.at;
        let key = self.word("a knob like `iw=10pkt`", is_name)?;
        if earlier.iter().any(|(k, _)| k == key) {
            self.at = start;
            return Err(self.error(format!("knob `{key}` given twice")));
        }
        if !self.accept('=') {
            return Err(self.error(format!("expected `=` after `{key}`")));
        }
        let value = self.word(&format!("a value for `{key}`"), |c| !"(),=+".contains(c))?;
        Ok((key.to_owned(), value.to_owned()))
    }
}

/// What was written, for messages: on one line and cut after [`MOST_SHOWN`] characters.
pub(crate) fn shown(text: &str) -> String {
    let plain = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    let mut short: String = text.chars().take(MOST_SHOWN).map(plain).collect();
    if text.chars().nth(MOST_SHOWN).is_some() {
        short.push_str("...");
    }
    short
}

/// Longer than any real control.
const MOST_SHOWN: usize = 200;

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

/// What is written around a start-up that has another landing.
pub const LANDED: &str = "landed";

/// Shapes shown in errors.
const ACCEPTED: &str = "astart, astart(preset=paper), slow-start(iw=64KiB,ssthresh=64KiB)+newreno";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(text: &str) -> (usize, String) {
        let error = text.parse::<ControlSpec>().unwrap_err();
        (error.column, error.problem)
    }

    #[test]
    fn a_pair_with_knobs_reads_into_its_parts() {
        let spec: ControlSpec = "slow-start(iw=64KiB, ssthresh=64KiB)+newreno".parse().unwrap();
        assert_eq!(spec.startup.name, "slow-start");
        assert_eq!(spec.startup.knob("iw"), Some("64KiB"));
        assert_eq!(spec.startup.knob("ssthresh"), Some("64KiB"));
        assert_eq!(spec.avoidance.as_ref().map(|part| part.name.as_str()), Some("newreno"));
        assert_eq!(spec.to_string(), "slow-start(iw=64KiB,ssthresh=64KiB)+newreno");
    }

    #[test]
    fn an_alias_alone_is_a_control() {
        let spec: ControlSpec = " tcpw-a(ere.N=0) ".parse().unwrap();
        assert_eq!(spec.startup.knobs, [("ere.N".to_owned(), "0".to_owned())]);
        assert_eq!((spec.avoidance, spec.text.as_str()), (None, "tcpw-a(ere.N=0)"));
    }

    #[test]
    fn what_a_message_repeats_is_one_line_of_moderate_length() {
        let text = "a\nb".parse::<ControlSpec>().unwrap_err().to_string();
        assert!(!text.contains('\n') && text.contains("`a\\nb`"), "{text}");
        assert!(("a+".repeat(100_000)).parse::<ControlSpec>().unwrap_err().to_string().len() < 500);
    }

    #[test]
    fn errors_point_at_the_place() {
        assert_eq!(problem(""), (1, "expected a start-up".to_owned()));
        assert_eq!(problem("astart+"), (8, "expected an avoidance".to_owned()));
        assert_eq!(problem("astart(preset=paper"), (20, "expected `,` or `)`".to_owned()));
        assert_eq!(problem("astart()"), (8, "expected a knob like `iw=10pkt`".to_owned()));
        assert_eq!(problem("astart(iw)"), (10, "expected `=` after `iw`".to_owned()));
        assert_eq!(problem("astart(iw=)"), (11, "expected a value for `iw`".to_owned()));
        assert_eq!(problem("a(k=1,k=2)"), (7, "knob `k` given twice".to_owned()));
        assert_eq!(problem("astart westwood"), (8, "expected `+` or the end".to_owned()));
        assert_eq!(problem("a+b+c"), (4, "expected the end".to_owned()));
        let after = "expected `(` and a start-up after `landed`".to_owned();
        assert_eq!(problem("landed+cubic"), (7, after));
        assert_eq!(problem("landed()"), (8, "expected a start-up to be landed".to_owned()));
        assert_eq!(problem("landed(a"), (9, "expected the `)` of `landed`".to_owned()));
        assert_eq!(problem("landed(a(k=1)+b)").0, 14);
        let whole = (8, "`quinn-bbr` is more than a start-up".to_owned());
        assert_eq!(problem("landed(quinn-bbr)"), whole);
        assert_eq!(problem("landed( linux-cubic)").0, 9);
        let characters = "columns count characters, not bytes";
        assert_eq!(problem("astart(iw=é").0, 12, "{characters}");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(
            name in "[a-z][a-z-]{0,8}",
            knobs in proptest::collection::btree_map("[a-z.]{1,6}", "[a-zA-Z0-9.%:|]{1,8}", 0..4),
            landed in any::<bool>(),
        ) {
            prop_assume!(name != LANDED);
            let part = NamedPolicy { name, knobs: knobs.into_iter().collect(), landed: false };
            let startup = NamedPolicy { landed, ..part.clone() };
            let text = format!("{startup}+{part}");
            let spec: ControlSpec = text.parse().unwrap();
            prop_assert_eq!(&spec.startup, &startup);
            prop_assert_eq!(spec.avoidance.as_ref(), Some(&part));
            prop_assert_eq!(spec.to_string(), text);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", close in "[a=+(),é ]{0,20}") {
            let _ = text.parse::<ControlSpec>();
            let _ = close.parse::<ControlSpec>();
        }
    }
}
