//! The nearest known name to a misspelt one, and the "did you mean" of every message.

use strsim::damerau_levenshtein;

/// The candidate closest to `found`, or `None` when nothing is close enough to be a slip.
///
/// Case does not count; a third of the longer name, and never fewer than one letter, may differ.
/// Among equals the first candidate wins.
pub fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // It is longer than any name here, and the distance costs length squared.
    if found.len() > LONGEST_NAME {
        return None;
    }
    let found = found.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (damerau_levenshtein(&found, &candidate.to_lowercase()), candidate))
        .filter(|(distance, name)| *distance <= (name.len().max(found.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `, did you mean` and the nearest candidate, to follow `found` in a message; empty when nothing
/// is close enough.
pub fn hint<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, candidates).map_or(String::new(), |name| format!(", did you mean `{name}`"))
}

/// The [`CLOSEST_LISTED`] candidates that are closest to `found`, the closest first.
fn closest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let found: String = found.to_lowercase().chars().take(LONGEST_NAME).collect();
    let mut all: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|candidate| (damerau_levenshtein(&found, &candidate.to_lowercase()), candidate))
        .collect();
    all.sort();
    all.truncate(CLOSEST_LISTED);
    all.into_iter().map(|(_, name)| name).collect()
}

/// The names as a message lists them: all of a few; of many the closest, and where the others are
/// shown.
pub(crate) fn listed(found: &str, names: &[&str]) -> String {
    if names.len() <= MOST_LISTED {
        return names.join(", ");
    }
    let closest = closest(found, names.iter().copied()).join(", ");
    format!("{closest} and others, {} in all, which `firstflight list` shows", names.len())
}

/// A message lists all names if they are no more than this.
const MOST_LISTED: usize = 8;
/// How many of more names a message lists.
const CLOSEST_LISTED: usize = 4;

/// Names and keys of this project are far shorter.
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_one_letter_finds_its_name() {
        assert_eq!(nearest("astrat", ["newreno", "astart"]), Some("astart"));
        assert_eq!(nearest("Buffr", ["rate", "buffer"]), Some("buffer"));
    }

    #[test]
    fn of_many_names_the_closest_are_listed() {
        let names = ["newreno", "astart", "afstart", "hystart", "mstart", "vegas"];
        assert_eq!(closest("astrt", names), ["astart", "afstart", "mstart", "hystart"]);
    }

    #[test]
    fn a_foreign_word_finds_nothing() {
        assert_eq!(nearest("zebra", ["newreno", "astart"]), None);
        assert_eq!(nearest("", ["astart"]), None);
        assert_eq!(nearest(&"a".repeat(1000), ["astart"]), None);
    }
}
