//! `docs/scout.md`: Scout beside other start-ups over sets of paths, its parts, its harm to a flow
//! that was there before, and the paths on which it is worse.

mod beside;
mod paths;
mod picture;

use std::error::Error;
use std::fmt::Write as _;

use rayon::prelude::*;

use paths::{Path, Set};
pub(crate) use picture::queue;

/// Everything else is over what this one does.
const REFERENCE: &str = "hystart-pp";
const OTHERS: [&str; 8] = [
    REFERENCE,
    "hystart",
    "suss",
    "rapid-start",
    "bbr+cubic",
    "slow-start+cubic",
    "scout",
    "scout(first=2)",
];
const PARTS: [&str; 8] = [
    REFERENCE,
    "scout(look=2)",
    "scout(look=3)",
    "scout",
    "scout(look=6)",
    "scout(look=8)",
    "scout(share=4)",
    "scout(share=16)",
];
/// Each constant of Scout an eighth less and an eighth more; of `room` what is more than W.
const EIGHTHS: [&str; 13] = [
    "scout",
    "scout(look=3.5)",
    "scout(look=4.5)",
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

/// The page.
pub(crate) fn markdown() -> Result<String, Box<dyn Error>> {
    let sets = paths::sets();
    let (rows, worst) = compared(&sets, &OTHERS)?;
    let clean: Vec<Set> = sets.into_iter().filter(|set| set.for_parts).collect();
    let (parts, _) = compared(&clean, &PARTS)?;
    let eighths = eighths(&clean[..FIRST_SETS])?;
    let counted = worst.len();
    let over: Vec<_> = worst.into_iter().filter(|(ratio, ..)| *ratio > MUCH_LONGER).collect();
    let fields = [
        ("{{paths}}", rows),
        ("{{parts}}", parts),
        ("{{eighths}}", eighths),
        ("{{harm}}", beside::table(&OTHERS)?),
        ("{{beside}}", beside::COUNT.to_string()),
        ("{{drawn}}", paths::DRAWN.to_string()),
        ("{{seed}}", paths::SEED.to_string()),
        ("{{over}}", over.len().to_string()),
        ("{{counted}}", counted.to_string()),
        ("{{worst}}", listed(&over)),
    ];
    let page = include_str!("../scout.md").to_owned();
    Ok(fields.iter().fold(page, |page, (field, text)| page.replace(field, text.trim_end())))
}

/// How much longer Scout took than the reference, on which path of which set.
type Ratio = (f64, Path, &'static str);

/// A table with a row for each set, and Scout's ratio on every path.
fn compared(sets: &[Set], controls: &[&str]) -> Result<(String, Vec<Ratio>), Box<dyn Error>> {
    let mut text =
        format!("| paths | {} |\n|---|{}\n", controls.join(" | "), "---|".repeat(controls.len()));
    let mut ratios = Vec::new();
    for set in sets {
        let runs: Result<Vec<_>, String> =
            set.paths.par_iter().map(|path| path.run(controls)).collect();
        let runs: Vec<Vec<Measured>> = runs?;
        let cells: Vec<String> = (0..controls.len()).map(|at| cell(&runs, at)).collect();
        let _ = writeln!(text, "| {} ({}) | {} |", set.name, set.paths.len(), cells.join(" | "));
        let Some(scout) = controls.iter().position(|control| *control == "scout") else { continue };
        let of = |(path, run): (&Path, &Vec<Measured>)| {
            (run[scout].completion_s / run[0].completion_s, path.clone(), set.name)
        };
        ratios.extend(set.paths.iter().zip(&runs).map(of));
    }
    ratios.sort_by(|one, other| other.0.total_cmp(&one.0));
    Ok((text, ratios))
}

/// A table with a row for each of [`EIGHTHS`], and a column for each set.
fn eighths(sets: &[Set]) -> Result<String, String> {
    let controls: Vec<&str> = [REFERENCE].into_iter().chain(EIGHTHS).collect();
    let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
    let mut text =
        format!("| control | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let run = |set: &Set| set.paths.par_iter().map(|path| path.run(&controls)).collect();
    let runs: Result<Vec<Vec<Vec<Measured>>>, String> = sets.iter().map(run).collect();
    let runs = runs?;
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

/// The worst paths, each with its command.
fn listed(over: &[Ratio]) -> String {
    let mut text = String::from("```\n");
    for (ratio, path, set) in over.iter().take(LISTED) {
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
    fn every_field_of_the_page_is_filled() {
        let fields = include_str!("../scout.md").matches("{{").count();
        assert_eq!(fields, 10);
    }
}
