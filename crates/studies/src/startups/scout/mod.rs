//! Measures what `docs/scout.md` and `docs/scout-choices.md` show: Scout beside other start-ups
//! over sets of paths, without one or another of its rules, other start-ups with its landing, its
//! harm to a flow that was there before, receivers that lie, and the paths on which it is worse.

mod beside;
mod catalogue;
mod draws;
mod half;
mod hostile;
mod kernel;
mod paths;
mod picture;
mod together;
mod told;

use std::error::Error;
use std::fmt::Write as _;

use firstflight_control::spec::LANDED;
use rayon::prelude::*;

use half::Half;
pub(crate) use half::tables_of_half;
pub(crate) use kernel::measure as measure_on_linux;
use paths::{Path, Set};
pub(crate) use picture::pictures;

/// Everything else is over what this one does.
const REFERENCE: &str = "hystart-pp";
const OTHERS: [&str; 7] =
    [REFERENCE, GENTLE, "suss", FAST, "bbr+cubic", "slow-start+cubic", "scout"];
const PARTS: [&str; 14] = [
    REFERENCE,
    "scout",
    "scout(first=1)",
    "scout(spacing=0ms)",
    "scout(acks=4)",
    "scout(polite=off)",
    "scout(look=2)",
    "scout(look=3)",
    "scout(look=6)",
    "scout(look=8)",
    "scout(share=4)",
    "scout(share=16)",
    "scout(behind=0)",
    "scout(pace=off)",
];
/// Each constant of Scout an eighth less and an eighth more; of `room` what is more than W.
const EIGHTHS: [&str; 15] = [
    "scout",
    "scout(look=3.5)",
    "scout(look=4.5)",
    "scout(spacing=1.05ms)",
    "scout(spacing=1.35ms)",
    "scout(share=7)",
    "scout(share=9)",
    "scout(pass=7)",
    "scout(pass=9)",
    "scout(room=1.0875)",
    "scout(room=1.1125)",
    "scout(behind=3.5)",
    "scout(behind=4.5)",
    "scout(keeps=0.74375)",
    "scout(keeps=0.95625)",
];
/// What quinn carries of them.
const OVER_QUINN: [&str; 6] = [REFERENCE, GENTLE, FAST, "bbr+cubic", "slow-start+cubic", "scout"];
/// The columns of the first table of `docs/scout.md`.
const IN_SHORT: [&str; 4] = [REFERENCE, GENTLE, FAST, "scout"];
/// Climbs that are compared with the same landing.
const CLIMBS: [&str; 7] =
    ["slow-start", "hystart", "hystart-pp", "suss", "rapid-start", "bbr", "scout"];
/// Newcomers beside other flows than CUBIC.
const RIVALS: [&str; 5] = [REFERENCE, GENTLE, "suss", FAST, "scout"];
/// Who is told lies: slow start with the window that Scout begins with, and Scouts that grow less,
/// too.
const LIED_TO: [&str; 9] = [
    "slow-start+cubic",
    "slow-start(iw=20pkt)+cubic",
    REFERENCE,
    GENTLE,
    FAST,
    "scout",
    "scout(first=1)",
    "scout(first=1,look=2)",
    "ack-counting",
];
/// What Scout is to be as fast as, and of whose losses it is to have a quarter.
const FAST: &str = "rapid-start";
const GENTLE: &str = "hystart";
/// From here on a path is listed.
const MUCH_LONGER: f64 = 1.1;
/// How many of the sets with a table of parts have one of constants: clean and drawn paths.
const FIRST_SETS: usize = 2;
/// The most paths that are listed.
const LISTED: usize = 12;

/// What a control did on a path.
#[derive(Clone, Copy, Debug)]
struct Measured {
    completion_s: f64,
    /// Percent of the transfer.
    sent_again: f64,
    /// The longest queue, in BDP.
    queue_bdp: f64,
}

/// Runs over paths: set by set, path by path, control by control.
type Runs = Vec<Vec<Vec<Measured>>>;

/// The pages, each with its name. What was measured on Linux is read from `docs` in `root`, the
/// repository.
pub(crate) fn pages(root: &std::path::Path) -> Result<[(&'static str, String); 2], Box<dyn Error>> {
    let sets = paths::sets();
    let runs = measured(&sets, &OTHERS)?;
    let quinn = [paths::over_quinn()];
    let of_quinn = measured(&quinn, &OVER_QUINN)?;
    let mut worst = ratios(&sets, &OTHERS, &runs, "scout");
    worst.extend(ratios(&quinn, &OVER_QUINN, &of_quinn, "scout"));
    worst.sort_by(|one, other| other.0.total_cmp(&one.0));
    let counted = worst.len();
    let over: Vec<_> = worst.into_iter().filter(|(ratio, ..)| *ratio > MUCH_LONGER).collect();
    let held_to = format!(
        "| paths | scout |\n|---|---|\n{}{}",
        held_to(&sets, &OTHERS, &runs, &["scout"]),
        held_to(&quinn, &OVER_QUINN, &of_quinn, &["scout"]),
    );
    let sizes = paths::by_size();
    let in_short =
        table(&sets[..FIRST_SETS], &IN_SHORT, &measured(&sets[..FIRST_SETS], &IN_SHORT)?);
    let rows = table(&sets, &OTHERS, &runs);
    let halves = halves(&sets, &runs);
    let clean: Vec<Set> = sets.into_iter().filter(|set| set.for_parts).collect();
    let climbs = climbs();
    let climbs: Vec<&str> = climbs.iter().map(String::as_str).collect();
    let fields = [
        ("{{in-short}}", in_short),
        ("{{paths}}", rows),
        ("{{sizes}}", table(&sizes, &OTHERS, &measured(&sizes, &OTHERS)?)),
        ("{{held-to}}", held_to),
        ("{{draws}}", draws::table(&["scout", "scout(spacing=0ms)"])?),
        ("{{seeds}}", format!("{} to {}", draws::SEEDS.start(), draws::SEEDS.end())),
        ("{{halves}}", halves),
        ("{{rivals-held-back}}", beside::rivals(&RIVALS, Some(Half::Held))?),
        ("{{together}}", together::table(&OTHERS)?),
        ("{{parts}}", table(&clean, &PARTS, &measured(&clean, &PARTS)?)),
        ("{{eighths}}", turned(&clean[..FIRST_SETS], &EIGHTHS)?),
        ("{{climbs}}", turned(&clean[..FIRST_SETS], &climbs)?),
        ("{{harm}}", beside::table(&OTHERS)?),
        ("{{rivals}}", beside::rivals(&RIVALS, None)?),
        ("{{told}}", told::table()?),
        ("{{hostile}}", hostile::table(&LIED_TO)?),
        ("{{beside}}", beside::COUNT.to_string()),
        ("{{times}}", beside::TIMES.to_string()),
        ("{{clean}}", clean[0].paths.len().to_string()),
        ("{{drawn}}", paths::DRAWN.to_string()),
        ("{{quinn}}", table(&quinn, &OVER_QUINN, &of_quinn)),
        ("{{linux}}", kernel::tables(&root.join("docs"))?),
        ("{{catalogue}}", catalogue::tables(root)?),
        ("{{seed}}", paths::SEED.to_string()),
        ("{{over}}", over.len().to_string()),
        ("{{counted}}", counted.to_string()),
        ("{{worst}}", listed(&over)),
    ];
    let [page, choices] = TEMPLATES.map(|(name, page)| (name, filled(page, &fields)));
    Ok([(page.0, page.1?), (choices.0, choices.1?)])
}

/// The page with what was measured. Every `{{field}}` is to be among the fields.
fn filled(page: &str, fields: &[(&str, String)]) -> Result<String, String> {
    let fill = |page: String, (field, text): &(&str, String)| page.replace(field, text.trim_end());
    let page = fields.iter().fold(page.to_owned(), fill);
    match page.split_once("{{").and_then(|(_, rest)| rest.split_once("}}")) {
        Some((field, _)) => Err(format!("a page has the field `{field}`, which nothing fills")),
        None => Ok(page),
    }
}

/// The pages, with a field where something that is measured stands.
const TEMPLATES: [(&str, &str); 2] = [
    ("scout.md", include_str!("../scout.md")),
    ("scout-choices.md", include_str!("../scout-choices.md")),
];

/// How much longer Scout took than the reference, on which path of which set.
type Ratio = (f64, Path, &'static str);

fn measured(sets: &[Set], controls: &[&str]) -> Result<Runs, String> {
    let of = |set: &Set| set.paths.par_iter().map(|path| path.run(controls)).collect();
    sets.iter().map(of).collect()
}

/// A table with a row for each set.
fn table(sets: &[Set], controls: &[&str], runs: &Runs) -> String {
    let mut text =
        format!("| paths | {} |\n|---|{}\n", controls.join(" | "), "---|".repeat(controls.len()));
    for (set, runs) in sets.iter().zip(runs) {
        let cells: Vec<String> = (0..controls.len()).map(|at| cell(runs, at)).collect();
        let _ = writeln!(text, "| {} ({}) | {} |", set.name, set.paths.len(), cells.join(" | "));
    }
    text
}

/// The ratio of a control on every path.
fn ratios(sets: &[Set], controls: &[&str], runs: &Runs, control: &str) -> Vec<Ratio> {
    let Some(scout) = place(controls, control) else { return Vec::new() };
    let mut ratios = Vec::new();
    for (set, runs) in sets.iter().zip(runs) {
        let of = |(path, run): (&Path, &Vec<Measured>)| {
            (run[scout].completion_s / run[0].completion_s, path.clone(), set.name)
        };
        ratios.extend(set.paths.iter().zip(runs).map(of));
    }
    ratios
}

fn place(controls: &[&str], name: &str) -> Option<usize> {
    controls.iter().position(|control| *control == name)
}

/// What Scout is held to, set by set: time over Rapid Start's, loss over HyStart's, and on how many
/// paths it is much slower than the reference. Rows of a table.
fn held_to(sets: &[Set], controls: &[&str], runs: &Runs, held: &[&str]) -> String {
    let mut text = String::new();
    for (set, runs) in sets.iter().zip(runs) {
        let cells: Vec<String> = held
            .iter()
            .filter_map(|name| place(controls, name))
            .map(|at| held_to_cell(runs, controls, at))
            .collect();
        let _ = writeln!(text, "| {} ({}) | {} |", set.name, set.paths.len(), cells.join(" | "));
    }
    text
}

fn held_to_cell(runs: &[Vec<Measured>], controls: &[&str], at: usize) -> String {
    let [time, share] = over_bars(runs, controls, at);
    let much = |run: &&Vec<Measured>| run[at].completion_s > MUCH_LONGER * run[0].completion_s;
    format!("{time:.2}; {share:.2}; {}", runs.iter().filter(much).count())
}

/// The time over Rapid Start's and the loss over HyStart's of a control over the paths of a set.
fn over_bars(runs: &[Vec<Measured>], controls: &[&str], at: usize) -> [f64; 2] {
    let [fast, gentle] = [FAST, GENTLE].map(|name| place(controls, name).unwrap_or(0));
    let mean =
        |of: &dyn Fn(&Vec<Measured>) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let time = |run: &Vec<Measured>| run[at].completion_s / run[fast].completion_s;
    let lost = mean(&|run| run[at].sent_again);
    let bar = mean(&|run| run[gentle].sent_again);
    [mean(&|run| time(run).ln()).exp(), lost / bar.max(f64::MIN_POSITIVE)]
}

/// What [`held_to`] says of Scout over both halves of every set.
fn halves(sets: &[Set], runs: &Runs) -> String {
    let scout = place(&OTHERS, "scout").unwrap_or(0);
    let mut text = String::from("| paths | working half | held-back half |\n|---|---|---|\n");
    for (set, runs) in sets.iter().zip(runs) {
        let [working, held] = [Half::Working, Half::Held]
            .map(|half| held_to_cell(&half.of(runs.clone()), &OTHERS, scout));
        let _ = writeln!(text, "| {} ({}) | {working} | {held} |", set.name, set.paths.len());
    }
    text
}

/// Every climb as it is and with the same landing.
fn climbs() -> Vec<String> {
    let both = |climb: &&str| [format!("{climb}+cubic"), format!("{LANDED}({climb})+cubic")];
    CLIMBS.iter().flat_map(both).collect()
}

/// A table with a row for each of these controls, and a column for each set.
fn turned(sets: &[Set], rows: &[&str]) -> Result<String, String> {
    let controls: Vec<&str> = [REFERENCE].into_iter().chain(rows.iter().copied()).collect();
    let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
    let mut text =
        format!("| control | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let runs = measured(sets, &controls)?;
    for (at, control) in controls.iter().enumerate().skip(1) {
        let cells: Vec<String> = runs.iter().map(|runs| cell(runs, at)).collect();
        let _ = writeln!(text, "| {control} | {} |", cells.join(" | "));
    }
    Ok(text)
}

/// A control over the paths of a set, beside the first control.
fn cell(runs: &[Vec<Measured>], at: usize) -> String {
    let count = runs.len() as f64;
    let ratios = runs.iter().map(|run| run[at].completion_s / run[0].completion_s);
    let mean = (ratios.clone().map(f64::ln).sum::<f64>() / count).exp();
    let worst = ratios.fold(0.0, f64::max);
    let again = runs.iter().map(|run| run[at].sent_again).sum::<f64>() / count;
    let queue = runs.iter().map(|run| run[at].queue_bdp).sum::<f64>() / count;
    format!("{mean:.2} ({worst:.2}); {again:.1}; {queue:.2}")
}

/// The worst paths, each with its command, and once.
fn listed(over: &[Ratio]) -> String {
    let mut text = String::from("```\n");
    let is_new = |at: &usize| over[..*at].iter().all(|(_, path, _)| !path.is_as(&over[*at].1));
    for at in (0..over.len()).filter(is_new).take(LISTED) {
        let (ratio, path, set) = &over[at];
        let _ = writeln!(text, "# {ratio:.2}, {set}\n{}", path.command());
    }
    text + "```\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_geometric_mean_the_worst_path_and_two_means() {
        let run =
            |completion_s, sent_again, queue_bdp| Measured { completion_s, sent_again, queue_bdp };
        let runs = [
            vec![run(1.0, 0.0, 0.0), run(2.0, 3.0, 0.5)],
            vec![run(4.0, 0.0, 0.0), run(2.0, 0.0, 0.1)],
        ];
        assert_eq!(cell(&runs, 1), "1.00 (2.00); 1.5; 0.30");
    }

    #[test]
    fn a_field_that_nothing_fills_is_refused() {
        let fields = [("{{one}}", "1\n".to_owned())];
        assert_eq!(filled("a {{one}} b", &fields), Ok("a 1 b".to_owned()));
        assert!(filled("a {{one}} {{two}}", &fields).unwrap_err().contains("`two`"));
    }
}
