//! `docs/judgement-quic.md`: controls on the catalogue over quinn in virtual time, beside the
//! simulator's own QUIC, which has the profile `quic`.

use std::path::Path;

use firstflight_judge::{Entry, Question};
use firstflight_report::write_file;
use firstflight_scenario::Profile;

use crate::Stop;

use super::beside::{Beside, tables};
use super::{Judges, question, without_matrix};

/// Measures what is not kept, and writes the page.
pub(super) fn run(root: &Path, judges: &Judges) -> Result<(), Stop> {
    let entries = without_matrix()?;
    let simulated: Vec<Entry> = entries.iter().map(of_profile_quic).collect();
    let mut all = Vec::new();
    for name in CONTROLS {
        let judge = |entries: &[Entry], over_quic| {
            let question = Question { seeds: Some(1), ..question(name, entries.to_vec())? };
            judges.answer(&question, over_quic)
        };
        let [over_quinn, sim] = [judge(&entries, true)?, judge(&simulated, false)?];
        let both = over_quinn.scenarios.into_iter().zip(sim.scenarios);
        let both = both.map(|(quinn, sim)| [quinn, sim]);
        let carried = both.filter(|both| both.iter().all(|judged| judged.not_carried.is_none()));
        all.push(Beside { control: name.to_owned(), scenarios: carried.collect() });
    }
    let mut text = HEAD.to_owned();
    tables(&mut text, "quinn", &all);
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

const PAGE: &str = "docs/judgement-quic.md";
/// What people run, what this repository proposes, and the two that Linux has.
const CONTROLS: [&str; 4] = ["hystart-pp", "scout", "bbr", "cubic"];

const HEAD: &str = "\
# Controls judged over QUIC

What [the judge](judge.md) says of controls over quinn, whose stack runs unchanged in virtual time,
beside the simulator's own QUIC (profile `quic`), which follows RFC 9002.
[judgement.md](judgement.md) has every start-up over the simulator's TCP.

Each scenario was run with one seed, and the references over the stack under test. Where something
is random, or a value is close to a threshold, the two can get different verdicts by chance. Sources
of files (B2, G4, G5a, G5b, G6) the simulator has over TCP only; A8, which is 600 points, and C4c
and C4d, whose reverse path loses ACKs, are left out. A cell has in how many scenarios a rule holds,
over quinn and simulated, of how many that ask it.

`firstflight judge scout --on quic --seeds 1 --csv rows.csv` writes a row per scenario and control
with all that was measured, `--out DIR` a report with pictures; `--only wifi` takes one scenario.
`cargo xtask judge --quic` writes this page.
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
| E4a, E4b | `bbr` | 5.75, 6.86, 7.09 | 5.77, 6.77, 6.94 |
| F1c | `bbr` | 3.06, 3.21, 3.33 | 2.93, 3.22, 4.14 |
| F2c | `bbr` | 0.497, 0.521, 0.537 | 0.166, 0.482, 0.515 |
| F3a | `hystart-pp` | 0.334, 0.432, 0.551 | 0.333, 0.428, 0.542 |
| F3a | `cubic` | 0.344, 0.421, 0.514 | 0.364, 0.425, 0.532 |

Not explained are E3c under `cubic` (quinn 6.15, 6.97, 8.23 s, simulator 7.14, 8.66, 9.41), F2a
under `bbr` (0.671, 0.687, 0.768 and 0.36, 0.438, 0.662), and B7b under `bbr`.
";
