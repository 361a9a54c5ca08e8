//! Measures what `papers/scout/tables.md` and the table of `docs/scout.md` show: Scout beside other
//! start-ups over sets of paths, Scout with one of its rules turned off, what other flows lose to
//! it, receivers that acknowledge falsely, and the paths on which it does worse than the others.

mod beside;
mod draws;
mod hostile;
mod kernel;
mod paths;
mod picture;
mod together;

use std::error::Error;
use std::fmt::Write as _;

use firstflight_report::{wrapped, write_file};
use rayon::prelude::*;

use crate::tables::write_between;
pub(crate) use kernel::measure as measure_on_linux;
use paths::{Path, Set};
pub(crate) use picture::pictures;

/// Everything else is over what this one does.
const REFERENCE: &str = "hystart-pp";
/// What Scout is to be as fast as, and of whose losses it is to have a quarter.
const FAST: &str = "rapid-start";
const GENTLE: &str = "hystart";
const OTHERS: [&str; 7] =
    [REFERENCE, GENTLE, "suss", FAST, "bbr+cubic", "slow-start+cubic", "scout"];
/// What quinn carries of them.
const OVER_QUINN: [&str; 6] = [REFERENCE, GENTLE, FAST, "bbr+cubic", "slow-start+cubic", "scout"];
/// Scout without one or another of its rules.
const PARTS: [&str; 11] = [
    REFERENCE,
    "scout",
    "scout(first=1)",
    "scout(spacing=0ms)",
    "scout(acks=4)",
    "scout(polite=off)",
    "scout(look=2)",
    "scout(look=3)",
    "scout(look=6)",
    "scout(behind=0)",
    "scout(pace=off)",
];
/// Newcomers beside other flows.
const NEWCOMERS: [&str; 5] = [REFERENCE, GENTLE, "suss", FAST, "scout"];
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
/// Rows and columns of the table of `docs/scout.md`.
const IN_SHORT: [&str; 5] = ["clean grid", "drawn", "1 % lost", "UDP at 60 %", "jitter of 5 ms"];
const SHOWN: [&str; 4] = [REFERENCE, GENTLE, FAST, "scout"];
/// From here on a path is listed.
const MUCH_LONGER: f64 = 1.1;
/// The most paths that are listed.
const LISTED: usize = 12;

/// What a control did on a path.
#[derive(Clone, Copy, Debug)]
struct PathRun {
    completion_s: f64,
    /// Percent of the transfer.
    sent_again: f64,
    /// The longest queue, in BDP.
    queue_bdp: f64,
}

/// Runs over paths: set by set, path by path, control by control.
type Runs = Vec<Vec<Vec<PathRun>>>;

/// Writes the tables, and the page's own.
pub(crate) fn write(root: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let sets = paths::sets();
    let runs = measured(&sets, &OTHERS)?;
    let quinn = [paths::over_quinn()];
    let of_quinn = measured(&quinn, &OVER_QUINN)?;
    let mut worst = ratios(&sets, &OTHERS, &runs);
    worst.extend(ratios(&quinn, &OVER_QUINN, &of_quinn));
    let mut bars = head("paths", &["scout"]);
    held_to(&mut bars, &sets, &OTHERS, &runs);
    held_to(&mut bars, &quinn, &OVER_QUINN, &of_quinn);
    let in_short = table(&sets, &OTHERS, &runs, (&SHOWN, |set| IN_SHORT.contains(&set.name)));
    let marks = ("<!-- in short -->", "<!-- end -->");
    write_between(root, PAGE, marks, in_short.trim_end()).map_err(|stop| stop.message)?;

    let all = |_: &Set| true;
    let with_parts: Vec<Set> = paths::sets().into_iter().filter(|set| set.for_parts).collect();
    let of_parts = measured(&with_parts, &PARTS)?;
    let sections = [
        ("Alone", ALONE, table(&sets, &OTHERS, &runs, (&OTHERS, all))),
        ("Over quinn", QUINN, table(&quinn, &OVER_QUINN, &of_quinn, (&OVER_QUINN, all))),
        ("Over Linux", LINUX, kernel::table(root)?),
        ("The bars", BARS, bars),
        ("Other draws", DRAWS, draws::table(&["scout", "scout(spacing=0ms)"])?),
        ("Several at once", TOGETHER, together::table(&OTHERS)?),
        ("Beside other flows", BESIDE, beside::table(&NEWCOMERS)?),
        ("Without one rule", PARTED, turned(&with_parts, &PARTS, &of_parts)),
        ("Receivers that lie", LIES, hostile::table(&LIED_TO)?),
        ("The worst paths", WORST, listed(worst)),
    ];
    let mut text = wrapped(HEAD, COLUMNS, "");
    text.insert_str(0, "# Scout's tables\n\n");
    for (title, words, table) in sections {
        let _ = write!(text, "\n## {title}\n\n{}\n{table}", wrapped(words, COLUMNS, ""));
    }
    Ok(write_file(&root.join(TABLES), text)?)
}

/// How much longer Scout took than the reference, on which path of which set.
type Ratio = (f64, Path, &'static str);

fn measured(sets: &[Set], controls: &[&str]) -> Result<Runs, String> {
    let of = |set: &Set| set.paths.par_iter().map(|path| path.run(controls)).collect();
    sets.iter().map(of).collect()
}

/// The first lines of a table.
fn head(first: &str, columns: &[&str]) -> String {
    format!("| {first} | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()))
}

/// A further one.
fn row(text: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(text, "| {first} | {} |", cells.join(" | "));
}

/// A table with a row for each set, of some of the controls and sets.
fn table(
    sets: &[Set],
    controls: &[&str],
    runs: &Runs,
    (columns, shown): (&[&str], impl Fn(&Set) -> bool),
) -> String {
    let mut text = head("paths", columns);
    for (set, runs) in sets.iter().zip(runs).filter(|(set, _)| shown(set)) {
        let places = columns.iter().filter_map(|name| place(controls, name));
        let first = format!("{} ({})", set.name, set.paths.len());
        row(&mut text, &first, places.map(|at| cell(runs, at)));
    }
    text
}

/// A table with a row for each control, and a column for each set.
fn turned(sets: &[Set], controls: &[&str], runs: &Runs) -> String {
    let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
    let mut text = head("control", &names);
    for (at, control) in controls.iter().enumerate().skip(1) {
        row(&mut text, control, runs.iter().map(|runs| cell(runs, at)));
    }
    text
}

/// Scout's ratio on every path.
fn ratios(sets: &[Set], controls: &[&str], runs: &Runs) -> Vec<Ratio> {
    let Some(scout) = place(controls, "scout") else { return Vec::new() };
    let mut ratios = Vec::new();
    for (set, runs) in sets.iter().zip(runs) {
        let of = |(path, run): (&Path, &Vec<PathRun>)| {
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
/// paths it is much slower than the reference.
fn held_to(text: &mut String, sets: &[Set], controls: &[&str], runs: &Runs) {
    let Some(scout) = place(controls, "scout") else { return };
    for (set, runs) in sets.iter().zip(runs) {
        let [time, share] = over_bars(runs, controls, scout);
        let much =
            |run: &&Vec<PathRun>| run[scout].completion_s > MUCH_LONGER * run[0].completion_s;
        let cell = format!("{time:.2}; {share:.2}; {}", runs.iter().filter(much).count());
        row(text, &format!("{} ({})", set.name, set.paths.len()), [cell].into_iter());
    }
}

/// The time over Rapid Start's and the loss over HyStart's of a control over the paths of a set.
fn over_bars(runs: &[Vec<PathRun>], controls: &[&str], at: usize) -> [f64; 2] {
    let [fast, gentle] = [FAST, GENTLE].map(|name| place(controls, name).unwrap_or(0));
    let mean =
        |of: &dyn Fn(&Vec<PathRun>) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let time = |run: &Vec<PathRun>| run[at].completion_s / run[fast].completion_s;
    let lost = mean(&|run| run[at].sent_again);
    let bar = mean(&|run| run[gentle].sent_again);
    [mean(&|run| time(run).ln()).exp(), lost / bar.max(f64::MIN_POSITIVE)]
}

/// A control over the paths of a set, beside the first control.
fn cell(runs: &[Vec<PathRun>], at: usize) -> String {
    let count = runs.len() as f64;
    let ratios = runs.iter().map(|run| run[at].completion_s / run[0].completion_s);
    let mean = (ratios.clone().map(f64::ln).sum::<f64>() / count).exp();
    let worst = ratios.fold(0.0, f64::max);
    let again = runs.iter().map(|run| run[at].sent_again).sum::<f64>() / count;
    let queue = runs.iter().map(|run| run[at].queue_bdp).sum::<f64>() / count;
    format!("{mean:.2} ({worst:.2}); {again:.1}; {queue:.2}")
}

/// The worst paths, each with its command, and once.
fn listed(mut worst: Vec<Ratio>) -> String {
    let counted = worst.len();
    worst.sort_by(|one, other| other.0.total_cmp(&one.0));
    worst.retain(|(ratio, ..)| *ratio > MUCH_LONGER);
    let mut text =
        format!("{} of {counted}.\n\n<!-- not run: paths, not examples -->\n```\n", worst.len());
    let is_new = |at: &usize| worst[..*at].iter().all(|(_, path, _)| !path.is_as(&worst[*at].1));
    for at in (0..worst.len()).filter(is_new).take(LISTED) {
        let (ratio, path, set) = &worst[at];
        let _ = writeln!(text, "# {ratio:.2}, {set}\n{}", path.command());
    }
    text + "```\n"
}

const PAGE: &str = "docs/scout.md";
pub(crate) const TABLES: &str = "papers/scout/tables.md";
/// Width of a page's lines.
const COLUMNS: usize = 110;

const HEAD: &str = "\
`cargo xtask startups --scout` writes this page; [README.md](README.md) says what it shows. \
Unless a table says otherwise, a cell has completion time over that of `hystart-pp` on the same \
path (geometric mean, in brackets the worst path); packets retransmitted, in percent of the \
transfer; the longest queue in BDP (means). CUBIC follows each start-up.";

const ALONE: &str = "\
The *clean grid* is 10, 50 and 200 Mbit/s, 20, 100 and 300 ms, buffers of 0.1 to 2 BDP, transfers \
of 4 BDP and 1 MB at least. *Drawn* are 200 paths of 3 to 500 Mbit/s, 8 to 600 ms, buffers of 0.1 \
to 4 BDP and transfers of 100 kB to 100 MB, all log-uniform. *Thinned* receivers send one ACK for \
so many packets; `quic` and *offload* are the endpoints'. The other rows are 10 and 50 Mbit/s, 40 \
and 150 ms, 0.25 and 1 BDP; jitter has three seeds a path. A *policer* of 10 or 30 Mbit/s is on a \
line of ten times that, with a bucket of 64 kB to 1 MB and transfers of 5 MB.";

const QUINN: &str = "\
The last 40 of the drawn paths over quinn's own state machines in the simulator's time. quinn has \
no timer for SUSS.";

const LINUX: &str = "\
The last 40 of the drawn paths of up to 200 Mbit/s in Debian's kernel, a guest for each \
([linux.csv](linux.csv), which `cargo xtask startups --scout --linux` fills); then what Scout is \
held to. All are eBPF but `linux-cubic`, and receivers delay ACKs.";

const BARS: &str = "\
Time over Rapid Start's; packets retransmitted over HyStart's; on how many paths it took more \
than 1.1 times as long as HyStart++. The bars are 1, a quarter and none.";

const DRAWS: &str = "\
The drawn sets from the seeds 9 to 16; `spacing` was chosen on 1 to 8. Time over Rapid Start's, \
the mean of the draws and in brackets the longest; packets retransmitted over HyStart's, the mean \
and the most.";

const TOGETHER: &str = "\
So many flows of one control, each of 8 BDP over their number (100 kB at least): the mean of \
their times; what all of them retransmitted; the longest queue.";

const BESIDE: &str = "\
A transfer of 4 BDP (500 kB at least) beside a flow without an end, which began so long before \
it; an established one 12 to 22 s. 10 and 50 Mbit/s unless said, 20 and 100 ms, 0.25, 1 and 2 \
BDP, 16 times each. The transfer's time (longest); what the other delivers less, in bytes per \
byte of the transfer; how many packets more it retransmits; with standard errors. The bars are 0 \
and 0.";

const PARTED: &str = "\
`look` is a train's rate in that of its round, `first=1` an ordinary first window, `behind=0` \
believes a train that slowed down without a look behind it, `pace=off` sets no rate.";

const LIES: &str = "\
How much sooner a sender believes that all has arrived if the receiver splits its ACKs, holds \
them back to release them together, or acknowledges what has not come yet (geometric mean over \
eight paths, in brackets the most; below 1 the receiver loses by it).";

const WORST: &str = "\
The paths above on which Scout took more than 1.1 times as long as HyStart++, the worst first and \
each once.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_geometric_mean_the_worst_path_and_two_means() {
        let run =
            |completion_s, sent_again, queue_bdp| PathRun { completion_s, sent_again, queue_bdp };
        let runs = [
            vec![run(1.0, 0.0, 0.0), run(2.0, 3.0, 0.5)],
            vec![run(4.0, 0.0, 0.0), run(2.0, 0.0, 0.1)],
        ];
        assert_eq!(cell(&runs, 1), "1.00 (2.00); 1.5; 0.30");
    }
}
