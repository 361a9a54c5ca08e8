//! What the page has of the measurements, in Markdown: a condensed table, and each start-up
//! explained.

use std::fmt::Write as _;

use firstflight_control::policy::{ChosenStartup, startups};
use firstflight_core::card::Card;
use firstflight_core::policy::Observer as _;
use firstflight_report::wrapped;

use super::grid::{Case, REFERENCE, Transfer, control, partner, refusal};
use super::picture::FOLDER;
use super::summary::{Help, Mean, Measure, Summary, four_bdp};

/// What the page has between its marks.
pub(super) fn parts(summaries: &[Summary]) -> Vec<(&'static str, String)> {
    let mut parts = vec![("learned", learned(summaries))];
    let kinds = [(Help::None, "alone"), (Help::Routers, "routers"), (Help::Memory, "memory")];
    parts.extend(kinds.map(|(help, name)| (name, table(summaries, help))));
    let explained = startups().into_iter().map(|card| {
        let usual = |one: &&Summary| (one.startup, one.avoidance) == (card.name, partner(card));
        explained(card, summaries.iter().find(usual))
    });
    parts.push(("explained", explained.collect()));
    parts
}

/// A table of the start-ups of a kind.
fn table(summaries: &[Summary], help: Help) -> String {
    let heads = [
        "start-up",
        "4 BDP: time",
        "lost, %",
        "queue, BDP",
        "90 % of the rate",
        "1 MB: time",
        "paced, 4 BDP: time",
        "lost, %",
    ];
    let rule = "---|".repeat(heads.len());
    let mut text = format!("\n| {} |\n|{rule}\n", heads.join(" | "));
    for summary in summaries.iter().filter(|one| one.help == help) {
        let cells = [
            format!("[{}](#{})", summary.name(), summary.startup),
            time(summary, Measure::Completion, &four_bdp),
            mean(summary.mean(Measure::Lost, four_bdp), 1),
            mean(summary.mean(Measure::Queue, four_bdp), 2),
            rate(summary),
            time(summary, Measure::Completion, &one_megabyte),
            time(summary, Measure::Completion, &four_bdp_paced),
            mean(summary.mean(Measure::Lost, four_bdp_paced), 1),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// `0.84 (1.10)`, with a star where some were not done.
fn time(summary: &Summary, measure: Measure, among: &dyn Fn(&Case) -> bool) -> String {
    let star = if summary.not_done(among) > 0 { "*" } else { "" };
    match summary.mean(measure, among) {
        Some(Mean { mean, worst, .. }) => format!("{mean:.2} ({worst:.2}{star})"),
        None => "-".to_owned(),
    }
}

fn mean(mean: Option<Mean>, decimals: usize) -> String {
    mean.map_or("-".to_owned(), |of| format!("{:.decimals$}", of.mean))
}

/// How soon the rate was reached, and how often.
fn rate(summary: &Summary) -> String {
    let of = summary.mean(Measure::Completion, four_bdp).map_or(0, |of| of.cases);
    let reached = format!("{} of {of}", summary.reached(four_bdp));
    match summary.mean(Measure::At90, four_bdp) {
        Some(of) => format!("{:.2}, {reached}", of.mean),
        None => reached,
    }
}

/// Which start-ups no other beats in everything.
fn learned(summaries: &[Summary]) -> String {
    let costs: Vec<(&str, [f64; 3])> = summaries
        .iter()
        .filter(|one| one.help == Help::None)
        .filter_map(|one| {
            let mean = |measure| Some(one.mean(measure, four_bdp)?.mean);
            let [time, lost] = [Measure::Completion, Measure::Lost].map(mean);
            Some((one.startup, [time?, lost?, mean(Measure::Queue)?]))
        })
        .collect();
    let best = costs.iter().filter(|(_, cost)| !costs.iter().any(|(_, other)| beats(other, cost)));
    let in_words =
        |(name, [time, lost, _]): &(&str, [f64; 3])| format!("`{name}` ({time:.2}, {lost:.1} %)");
    let best: Vec<String> = best.map(in_words).collect();
    let usual = costs.iter().find(|(name, _)| *name == LINUX).map(in_words).unwrap_or_default();
    wrapped(
        &format!(
            "What each start-up of `firstflight list`, historical and of today, gains and costs \
             over 192 paths, and how each works. Of those that have nothing but their own ACKs, \
             no other is as good as these in mean time, loss and queue at once (in brackets the \
             time over slow start's, and the packets lost): {}. Linux has {usual}. `firstflight \
             compare --all` runs all of them on a path of yours.",
            best.join(", ")
        ),
        COLUMNS,
        "",
    )
}

/// Whether a start-up is as good in everything and better in something.
fn beats(one: &[f64], other: &[f64]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.clone().all(|(one, other)| one <= other) && pairs.any(|(one, other)| one < other)
}

/// A start-up's card and, if it was run, its window.
fn explained(card: &Card, summary: Option<&Summary>) -> String {
    let Card { name, summary: line, source, .. } = card;
    let mut text = format!("\n### {name}\n\n`{}`: {line}. Source: {source}.\n\n", control(card));
    if let Some(about) = card.about {
        let parts =
            [("Watches", about.watches), ("Believes", about.believes), ("Fails", about.fails)];
        for (what, words) in parts {
            let _ = writeln!(text, "- **{what}.** {words}");
        }
    }
    let needs = needs(name);
    if !needs.is_empty() {
        let _ = writeln!(text, "- **Needs** {}.", needs.join(", "));
    }
    let Some(summary) = summary else {
        let why = refusal(card).unwrap_or_default();
        let _ = writeln!(text, "- **Not run here**: {why}.");
        return text;
    };
    if summary.is_slow_start && *name != REFERENCE {
        let slow = format!("{REFERENCE}+{}", summary.avoidance);
        let _ = writeln!(text, "- **Here** it came out as `{slow}` in every case without pacing.");
    }
    let _ = writeln!(text, "\n![cwnd of {name} over time]({FOLDER}/{name}.svg)");
    text
}

/// The facilities that a start-up requires of a transport, in words.
fn needs(startup: &str) -> Vec<&'static str> {
    let needs = ChosenStartup::by_name(startup).map(|startup| startup.needs());
    needs.iter().flat_map(|needs| needs.required.words()).collect()
}

fn one_megabyte(case: &Case) -> bool {
    case.transfer == Transfer::OneMegabyte && !case.paced
}

fn four_bdp_paced(case: &Case) -> bool {
    case.transfer == Transfer::FourBdp && case.paced
}

/// The width of the page's text in characters.
const COLUMNS: usize = 110;
/// The start-up of a current Linux.
const LINUX: &str = "hystart";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_as_good_in_all_and_better_in_one_beats() {
        assert!(beats(&[1.0, 0.0, 2.0], &[1.0, 0.0, 3.0]));
        assert!(!beats(&[1.0, 0.0, 2.0], &[1.0, 0.0, 2.0]), "an equal does not");
        assert!(!beats(&[0.5, 9.0, 2.0], &[1.0, 0.0, 2.0]));
    }
}
