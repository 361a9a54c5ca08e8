//! What there is to choose from.

use firstflight_control::policy::{partners, startups};
use firstflight_core::card::Card;
use firstflight_core::registry::ALIASES;
use firstflight_judge::{GROUPS, REFERENCES, whole};
use firstflight_runner::RunError;
use firstflight_scenario::Rule;
use serde::Serialize;

use crate::question::compact;

#[derive(Serialize)]
struct Lists {
    version: &'static str,
    controls: Vec<Named>,
    aliases: Vec<Named>,
    avoidances: Vec<&'static str>,
    references: &'static [&'static str],
    rules: Vec<Named>,
    groups: Vec<Named>,
    scenarios: Vec<Entry>,
}

/// Something by its name, and what it is.
#[derive(Serialize)]
struct Named {
    name: &'static str,
    says: &'static str,
    watches: Option<&'static str>,
    believes: Option<&'static str>,
    fails: Option<&'static str>,
    source: Option<&'static str>,
}

/// A scenario of the catalogue.
#[derive(Serialize)]
struct Entry {
    id: String,
    name: &'static str,
    title: String,
    group: String,
    toml: &'static str,
    about: String,
    why: String,
    expected: String,
    is_matrix: bool,
}

/// Controls, scenarios and rules.
pub(crate) fn lists() -> Result<String, RunError> {
    let entries = whole()?.into_iter().map(|entry| Entry {
        title: entry.title().to_owned(),
        group: entry.letter().to_owned(),
        about: entry.head.about.clone(),
        why: entry.head.why.clone(),
        expected: entry.head.expected.clone(),
        is_matrix: entry.head.matrix.is_some(),
        id: entry.id,
        name: entry.name,
        toml: entry.toml,
    });
    compact(&Lists {
        version: env!("CARGO_PKG_VERSION"),
        controls: startups().into_iter().map(Named::control).collect(),
        aliases: ALIASES.iter().map(|alias| Named::plain(alias.name, alias.control)).collect(),
        avoidances: partners(),
        references: &REFERENCES,
        rules: Rule::ALL.iter().map(|rule| Named::plain(rule.name(), rule.title())).collect(),
        groups: GROUPS.iter().map(|group| Named::plain(group.letter, group.title)).collect(),
        scenarios: entries.collect(),
    })
}

impl Named {
    fn plain(name: &'static str, says: &'static str) -> Self {
        Self { name, says, watches: None, believes: None, fails: None, source: None }
    }

    fn control(card: &'static Card) -> Self {
        let about = card.about.as_ref();
        Self {
            watches: about.map(|about| about.watches),
            believes: about.map(|about| about.believes),
            fails: about.map(|about| about.fails),
            source: Some(card.source),
            ..Self::plain(card.name, card.summary)
        }
    }
}
