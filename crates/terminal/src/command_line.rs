//! The command line as it was typed, ready to be pasted again, but for its secrets.

use std::any::TypeId;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::sync::OnceLock;

/// A value that is shown nowhere. A flag that takes one has it left out of every page and message
/// ([`without_secrets`]).
#[derive(Clone)]
pub struct Hidden(String);

/// The words, the program's name first: this program's own, or those that another program was given
/// in which this one is a library.
pub fn words() -> Vec<OsString> {
    HANDED_IN.get().cloned().unwrap_or_else(|| std::env::args_os().collect())
}

/// Takes the words of another program, once.
pub fn hand_in(words: Vec<OsString>) {
    let _ = HANDED_IN.set(words);
}

/// Whether this program is a library of another.
pub fn is_inside_another() -> bool {
    HANDED_IN.get().is_some()
}

static HANDED_IN: OnceLock<Vec<OsString>> = OnceLock::new();

static SECRETS: OnceLock<Vec<String>> = OnceLock::new();

impl Hidden {
    /// The value, for whoever needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Hidden {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(not shown)")
    }
}

/// `firstflight` and its arguments, quoted for a shell where needed, without what is secret.
pub fn typed() -> String {
    let shown = |word: OsString| quoted(&without_secrets(&word.to_string_lossy())).into_owned();
    let words = words().into_iter().skip(1).map(shown);
    std::iter::once("firstflight".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The text with three dots for every secret of the command line, wherever it stands.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let secrets = SECRETS.get().map_or(&[][..], Vec::as_slice);
    masked(text, secrets)
}

/// Learns from the definition of a command what is secret among these words.
pub(crate) fn learn_secrets(definition: &clap::Command, words: &[OsString]) {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let flags: Vec<String> = secret_flags(definition).into_iter().map(|(_, flag)| flag).collect();
    let _ = SECRETS.set(secrets(&flags, &words));
}

/// Every flag that takes a secret, with the names of its command: `(send, secret)`.
pub fn secret_flags(definition: &clap::Command) -> Vec<(String, String)> {
    let is_secret = |arg: &&clap::Arg| arg.get_value_parser().type_id() == TypeId::of::<Hidden>();
    let own = definition.get_arguments().filter(is_secret).filter_map(clap::Arg::get_long);
    let own = own.map(|flag| (definition.get_name().to_owned(), flag.to_owned()));
    let below = definition.get_subcommands().flat_map(secret_flags);
    own.chain(below).collect()
}

/// The values of these flags: behind the flag, and within a word that is a command line itself, or
/// that sets the flag's variable, as in `--serve 'FIRSTFLIGHT_SECRET=... firstflight recv'`.
fn secrets(flags: &[String], words: &[Cow<'_, str>]) -> Vec<String> {
    let mut found = Vec::new();
    for flag in flags {
        let (flag, variable) =
            (format!("--{flag}"), format!("FIRSTFLIGHT_{}=", flag.to_uppercase()));
        for (at, word) in words.iter().enumerate() {
            if let Some(value) = words.get(at + 1).filter(|_| *word == flag) {
                found.push(value.to_string());
                continue;
            }
            let own = word.strip_prefix(&flag).and_then(|rest| rest.strip_prefix('='));
            if let Some(value) = own {
                found.push(value.to_owned());
                continue;
            }
            let behind = |begin: &str| {
                word.match_indices(begin)
                    .map(|(at, _)| &word[at + begin.len()..])
                    .collect::<Vec<_>>()
            };
            let flags = behind(&flag).into_iter().filter(|rest| rest.starts_with(['=', ' ', '\t']));
            let flags = flags.map(|rest| rest[1..].trim_start());
            found.extend(flags.chain(behind(&variable)).map(first_word));
        }
    }
    found.retain(|value| value.len() >= SHORTEST);
    // One that is part of another goes last.
    found.sort_by_key(|value| std::cmp::Reverse(value.len()));
    found
}

/// The first word of a command line, without its quotes.
fn first_word(line: &str) -> String {
    let quote = line.chars().next().filter(|c| ['\'', '"'].contains(c));
    let ends = |c: char| quote.map_or(c.is_whitespace(), |quote| c == quote);
    line.trim_start_matches(['\'', '"']).split(ends).next().unwrap_or_default().to_owned()
}

fn masked<'a>(text: &'a str, secrets: &[String]) -> Cow<'a, str> {
    secrets.iter().fold(Cow::Borrowed(text), |text, secret| match text.contains(secret) {
        true => Cow::Owned(text.replace(secret, "...")),
        false => text,
    })
}

/// What is shorter is no secret, and stands in many words.
const SHORTEST: usize = 6;

fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=,:%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_with_knobs_is_quoted_and_a_plain_one_is_not() {
        assert_eq!(quoted("astart+westwood"), "astart+westwood");
        assert_eq!(quoted("astart(preset=paper)"), "'astart(preset=paper)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_secret_is_found_behind_its_flag_and_in_command_lines_within_words() {
        let flags = ["secret".to_owned()];
        let found = |words: &[&str]| {
            secrets(&flags, &words.iter().map(|word| Cow::Borrowed(*word)).collect::<Vec<_>>())
        };
        assert_eq!(found(&["send", "--secret", "correct horse", "f"]), ["correct horse"]);
        assert_eq!(found(&["send", "--secret=correct horse", "f"]), ["correct horse"]);
        assert_eq!(found(&["send", "--secret-file", "correct"]), [""; 0]);
        assert_eq!(found(&["link", "--serve", "recv --secret  correct --json"]), ["correct"]);
        assert_eq!(
            found(&["link", "--serve", "recv --secret='correct horse' x"]),
            ["correct horse"]
        );
        assert_eq!(found(&["link", "--", "FIRSTFLIGHT_SECRET=correct send 1"]), ["correct"]);
        let both = found(&["--secret", "correct", "--serve", "recv --secret correcthorse"]);
        assert_eq!(both, ["correcthorse", "correct"]);
        assert_eq!(masked("a correcthorse, a correct", &both), "a ..., a ...");
        assert_eq!(format!("{:?}", Hidden::from("correct".to_owned())), "Hidden(not shown)");
    }
}
