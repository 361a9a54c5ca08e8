//! `docs/judgement-quic.md`: controls on the catalogue over quinn in virtual time, beside the
//! simulator's own QUIC, which has the profile `quic`.

use std::fmt::Write as _;
use std::path::Path;

use firstflight_judge::{Entry, Judged, Measured, Question, select};
use firstflight_report::write_file;
use firstflight_scenario::{Profile, Rule};

use crate::Stop;
use crate::tables::{head, row};

use super::compared::{Compared, number, tell_apart, words};
use super::{Judges, fails_in, question};

/// Measures what is not kept, and writes the page.
pub(super) fn run(root: &Path, judges: &Judges) -> Result<(), Stop> {
    let entries: Vec<Entry> = select(&[])
        .map_err(|problem| Stop::failed(&format!("judge: {problem}")))?
        .into_iter()
        .filter(|entry| entry.head.matrix.is_none())
        .collect();
    let simulated: Vec<Entry> = entries.iter().map(of_profile_quic).collect();
    let mut text = HEAD.to_owned();
    for name in CONTROLS {
        let judge = |entries: &[Entry], over_quic| {
            let question = Question { seeds: Some(1), ..question(name, entries.to_vec())? };
            judges.answer(&question, over_quic)
        };
        let [over_quinn, sim] = [judge(&entries, true)?, judge(&simulated, false)?];
        table(&mut text, name, over_quinn.scenarios.iter().zip(&sim.scenarios));
    }
    text.push_str(WHY);
    let failed = |error| Stop::failed(&format!("judge: {error}"));
    write_file(&root.join(PAGE), text).map_err(failed)?;
    println!("judge: {PAGE} is written");
    Ok(())
}

/// The scenario as the simulator's QUIC runs it. Sources of files it has over TCP only.
fn of_profile_quic(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if entry.scenario.flows.iter().all(|flow| flow.files.is_none()) {
        let own = &mut entry.scenario.endpoint;
        own.profile = Some(Profile::Quic);
        // They say what QUIC does anyway, and the profile has no such keys.
        (own.switches.ecn_feedback, own.switches.quick_acks) = (None, None);
    }
    entry
}

fn table<'a>(text: &mut String, name: &str, rows: impl Iterator<Item = (&'a Judged, &'a Judged)>) {
    head(text, &format!("`{name}`"), "scenario", &COLUMNS);
    let mut apart = Vec::new();
    let mut refused = String::new();
    for (quinn, sim) in rows {
        let sides = [("over quinn", &quinn.not_carried), ("simulated", &sim.not_carried)];
        if let Some((side, why)) =
            sides.iter().find_map(|(side, why)| Some((side, (*why).as_ref()?)))
        {
            let _ = writeln!(refused, "- {}, {side}: {why}", quinn.id);
            continue;
        }
        let compared = Compared::of(&quinn.measured, &sim.measured);
        apart.extend(compared.apart());
        let both = |of: fn(&Measured) -> Option<f64>| {
            [of(&quinn.measured), of(&sim.measured)].map(number).join(", ")
        };
        let cells = [
            failing(quinn),
            failing(sim),
            compared.words(),
            compared.marked(),
            both(|it| it.lost_packets),
            both(|it| it.peak_queue_packets),
        ];
        row(text, &quinn.id, cells.into_iter());
    }
    tell_apart(text, apart);
    if !refused.is_empty() {
        let _ = writeln!(text, "\nNot compared:\n\n{}", refused.trim_end());
    }
}

fn failing(judged: &Judged) -> String {
    let fails = words(Rule::ALL.into_iter().filter(|rule| fails_in(judged, *rule)));
    if fails.is_empty() { "none".to_owned() } else { fails }
}

const PAGE: &str = "docs/judgement-quic.md";
/// What people run, what this repository proposes, and the two that Linux has.
const CONTROLS: [&str; 4] = ["hystart-pp", "scout", "bbr", "cubic"];

const COLUMNS: [&str; 6] = [
    "fails over quinn",
    "fails simulated",
    "time: quinn, simulated",
    "apart",
    "lost",
    "peak queue",
];

const HEAD: &str = "\
# Controls judged over QUIC

What [the judge](judge.md) says of controls over quinn, whose stack runs unchanged in virtual time,
and over the simulator's own QUIC (profile `quic`), which follows RFC 9002. `cargo xtask judge
--quic` writes this page; `firstflight judge scout --on quic --seeds 1 --only A1` runs one row over
quinn, with pictures (`--out DIR`). [judgement.md](judgement.md) has every start-up over the
simulator's TCP, with 20 seeds.

Each scenario was run with one seed, and the references over the stack under test. Where something
is random, or a value is close to a threshold, the two can get different verdicts by chance. Columns
with two numbers have quinn's first: the completion time in seconds, or where nothing ends what the
others got; packets lost; packets waiting at most. A difference above 15 % is bold. Sources of files
(B2, G4, G5a, G5b, G6) the simulator has over TCP only, and A8 is left out: it is 600 points.
";

const WHY: &str = "
## Why they differ

- **G4, G6.** The simulator's side is TCP, which takes a window back that a resting source has left
  unused (RFC 2861); quinn keeps it. With `slow_start_after_idle = false` the simulator takes 0.80 s
  on G4 and 0.258 s on G6 under `hystart-pp`, quinn 0.77 and 0.232 s.
- **F5b under `bbr`.** Four handshakes of 500 do not end within the minute, although the path is
  idle from the eighth second on. A handshake of quinn's can come to a halt at losses, whatever
  control it has: at 40 % of random loss, 40 ms and 400 connections one of `quinn-newreno` has not
  delivered a byte after two minutes.
- **F3b under `scout`.** quinn sends the first window in two bursts, so that all of it is a train.
  Nothing behind it tells what is free, W becomes what the train showed, and the late flow takes
  more from the first one.
- **E5 under `scout`.** quinn's first window of twenty packets leaves at once, and the buffer holds
  ten. Seven packets are lost, and start-up lands at eleven of the 833 packets that the path holds.
  The simulator paces the second ten, and leaves at 1.1 BDP.
- **Chance.** These have the same range on both sides, or nearly, over ten seeds, or over ten starts
  of the second flow, 14 ms apart (F1c, F2c: of our flow). Seconds, or the others' share: least,
  median, largest.

| scenario | control | quinn | simulator |
|---|---|---|---|
| B5b | `scout` | 91.6, 146, 186 | 52.5, 141, 178 |
| E3c | `hystart-pp` | 5.86, 6.9, 6.99 | 6.83, 6.88, 7 |
| E4a, E4b | `hystart-pp` | 4.69, 5.29, 5.51 | 4.85, 5.37, 6.87 |
| E4a, E4b | `bbr` | 5.75, 6.86, 7.09 | 5.77, 6.77, 6.94 |
| F1c | `bbr` | 3.06, 3.21, 3.33 | 2.93, 3.22, 4.14 |
| F2c | `bbr` | 0.497, 0.521, 0.537 | 0.166, 0.482, 0.515 |
| F3a | `hystart-pp` | 0.334, 0.432, 0.551 | 0.333, 0.428, 0.542 |
| F3a | `cubic` | 0.344, 0.421, 0.514 | 0.364, 0.425, 0.532 |

Not explained are E3c under `cubic` (quinn 6.15, 6.97, 8.23 s, simulator 7.14, 8.66, 9.41), F2a
under `bbr` (0.671, 0.687, 0.768 and 0.36, 0.438, 0.662), and B7b under `bbr`.
";
