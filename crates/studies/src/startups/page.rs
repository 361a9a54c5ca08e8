//! The page in Markdown: the maps, a condensed table, and each start-up explained.

use std::fmt::Write as _;

use firstflight_control::policy::{ChosenStartup, startups};
use firstflight_core::card::Card;
use firstflight_core::policy::Observer as _;
use firstflight_report::wrapped;

use super::grid::{
    BUFFERS, Case, PACKET, RATES_MBPS, REFERENCE, RTTS_MS, Transfer, control, partner, refusal,
};
use super::picture::{BUFFER, FOLDER, MAPS, RATE_MBPS, RTT_MS};
use super::summary::{Help, Mean, Measure, Summary, four_bdp};

/// The whole page.
pub(super) fn markdown(summaries: &[Summary]) -> String {
    let mut text = "# Every start-up, side by side\n".to_owned();
    learned(&mut text, summaries);
    maps(&mut text);
    tables(&mut text, summaries);
    made(&mut text);
    text.push_str("\n## The start-ups\n");
    paragraph(
        &mut text,
        &format!(
            "The pictures show cwnd on a path of {RATE_MBPS} Mbit/s and {RTT_MS} ms with a buffer \
             of {BUFFER} BDP, slow start's beside it. `firstflight list NAME` has the knobs and \
             the transports of each.",
        ),
    );
    for card in startups() {
        let usual = |one: &&Summary| (one.startup, one.avoidance) == (card.name, partner(card));
        explained(&mut text, card, summaries.iter().find(usual));
    }
    text
}

/// What was run, and what that does not show.
fn made(text: &mut String) {
    text.push_str("\n## How this was measured\n");
    let [rates, rtts, buffers] = [list(&RATES_MBPS), list(&RTTS_MS), list(&BUFFERS)];
    paragraph(
        text,
        "`cargo xtask startups` writes this page, its pictures and `startups.csv` in the folder \
         `target`, which has every number. Each start-up has its usual avoidance and its default \
         knobs, and slow start each of these avoidances.",
    );
    paragraph(
        text,
        &format!(
            "**What was run.** One flow in the simulator, rates of {rates} Mbit/s, RTTs of \
             {rtts} ms, drop-tail buffers of {buffers} BDP, transfers of 4 BDP and of 1 MB, \
             profile `linux` (IW 10, no ssthresh, RACK), packets of {PACKET} bytes. The \
             receiver delays ACKs as Linux's does: it answers every packet at once while the \
             window that it offers grows, which are the first 11,000 packets, and every second \
             one after that. So few transfers here see a delayed ACK. Everything was run twice: \
             as it is, and with endpoints that pace what the start-up does not pace itself; \
             there `hystart-pp` has no limit per ACK and `hystart` lets a train of ACKs be \
             twice as long, as their sources ask of a sender that paces. Start-ups that live \
             from what an earlier connection learned had nothing; those that need routers had \
             routers that answer. The receiver's window begins at 64 KB and grows with what \
             arrives, as Linux's does, and limits what jumps further in its first round trips.",
        ),
    );
    paragraph(
        text,
        "**What it does not show.** There is no other traffic, no jitter and no random loss here, \
         all of which decide between start-ups too, and each number is one deterministic run. A \
         transfer whose very last packet is dropped takes 220 ms more, because a probe for a \
         single packet waits that long (RFC 8985 section 7.2): on a short path that makes a worst \
         case of its own, as of `bbr` paced, which has no other loss there.",
    );
}

/// A blank line and a text in lines of a page's width.
fn paragraph(text: &mut String, words: &str) {
    let _ = write!(text, "\n{}", wrapped(words, COLUMNS, ""));
}

fn maps(text: &mut String) {
    text.push_str("\n## Over the grid\n");
    paragraph(
        text,
        "Transfers of 4 BDP, no pacing but the start-up's own. Each cell is the mean over the \
         three rates. Above are those that have nothing but their own ACKs, then those that \
         routers help, then those that live from a memory and had none; in each part the order is \
         that of the mean completion time. Grey: the rate was not reached.",
    );
    text.push('\n');
    for (name, measure) in MAPS {
        let what = match measure {
            Measure::Completion => "completion time over slow start's",
            Measure::Lost => "what the bottleneck dropped",
            Measure::Queue => "the longest queue",
            Measure::At90 => "time to 90 % of the rate",
        };
        let _ =
            writeln!(text, "![Every start-up over RTT and buffer: {what}]({FOLDER}/{name}.svg)");
    }
}

/// A table for each kind of start-up.
fn tables(text: &mut String, summaries: &[Summary]) {
    paragraph(
        text,
        "Times are over those of slow start with NewReno, paced where it is (geometric mean, in \
         brackets the worst case); what is lost is in percent of the transfer, the queue is the \
         longest. The rate counts as reached when the bottleneck has sent at 90 % of it for a \
         round trip: over slow start's time where both reach it, and in how many of the cases it \
         is reached. `*`: some transfers were not done in a hundred round trips and eight times \
         what their bytes take; they count as done then.",
    );
    for help in Help::ALL {
        let words = match help {
            Help::None => "Those that have nothing but the ACKs of their own connection:",
            Help::Routers => {
                "Those that routers help. Here every router does, so that these know what the \
                 others must find out:"
            }
            Help::Memory => {
                "Those that live from what earlier connections learned. Here there were none, so \
                 that this is what they do without it, and no measure of what they are for:"
            }
        };
        paragraph(text, words);
        table(text, summaries.iter().filter(|one| one.help == help));
    }
}

fn table<'a>(text: &mut String, summaries: impl Iterator<Item = &'a Summary>) {
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
    let _ = writeln!(text, "\n| {} |\n|{rule}", heads.join(" | "));
    for summary in summaries {
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
}

/// Numbers with commas.
fn list(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
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
fn learned(text: &mut String, summaries: &[Summary]) {
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
    let told =
        |(name, [time, lost, _]): &(&str, [f64; 3])| format!("`{name}` ({time:.2}, {lost:.1} %)");
    let best: Vec<String> = best.map(told).collect();
    let usual = costs.iter().find(|(name, _)| *name == LINUX).map(told).unwrap_or_default();
    paragraph(
        text,
        &format!(
            "What each start-up of `firstflight list`, historical and of today, gains and costs \
             over 192 paths, and how each works. Of those that have nothing but their own ACKs, \
             no other is as good as these in mean time, loss and queue at once (in brackets the \
             time over slow start's, and the packets lost): {}. Linux has {usual}. `firstflight \
             compare --all` runs all of them on a path of yours.",
            best.join(", ")
        ),
    );
}

/// Whether a start-up is as good in everything and better in something.
fn beats(one: &[f64], other: &[f64]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.clone().all(|(one, other)| one <= other) && pairs.any(|(one, other)| one < other)
}

/// A start-up's card and, if it was run, its window.
fn explained(text: &mut String, card: &Card, summary: Option<&Summary>) {
    let Card { name, summary: line, source, .. } = card;
    let _ = writeln!(text, "\n### {name}\n\n`{}`: {line}. Source: {source}.\n", control(card));
    if let Some(about) = card.about {
        let told =
            [("Watches", about.watches), ("Believes", about.believes), ("Fails", about.fails)];
        for (what, words) in told {
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
        return;
    };
    if summary.is_slow_start && *name != REFERENCE {
        let slow = format!("{REFERENCE}+{}", summary.avoidance);
        let _ = writeln!(text, "- **Here** it came out as `{slow}` in every case without pacing.");
    }
    let _ = writeln!(text, "\n![cwnd of {name} over time]({FOLDER}/{name}.svg)");
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
