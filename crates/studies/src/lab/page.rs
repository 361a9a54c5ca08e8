//! The parts of the page: what was measured, and on which kernel.

use std::fmt::Write as _;

use firstflight_report::markdown;
use firstflight_results::{ClaimRow, Verdict};

use super::points::{Table, late_p99_us, mbps};
use super::rows::text;
use super::{File, Kind, Route};

/// What the page has of the link.
pub(super) fn of_link(kernel: &str, lines: &[String]) -> String {
    let lines = lines.join("\n");
    format!("\nMeasured on Linux {kernel}.\n\n{SHOWN}\n```\n{lines}\n```\n")
}

/// What it has of the paths.
pub(super) fn of_points(kernel: &str, file: &File, tables: &[Table]) -> String {
    let mut compared = format!("\nMeasured on Linux {kernel}.\n");
    tables.iter().for_each(|table| points(&mut compared, table, file));
    compared
}

/// The table of the papers' rows, and why some are not as claimed.
pub(super) fn of_rows(kernel: &str, rows: &[ClaimRow]) -> String {
    let head = "| id | claim | expected | measured | verdict |\n|---|---|---|---|---|";
    let mut page = format!("\nMeasured on Linux {kernel}.\n\n{head}\n");
    for row in rows {
        let ClaimRow { id, what, expected, measured, verdict, unit, .. } = row;
        let cells = [text(id), text(what), text(expected), text(measured), text(verdict)];
        let [id, what, expected, measured, verdict] = cells.map(|cell| markdown::cell(&cell));
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let measured = measured.replace("; ", "<br>");
        let _ = writeln!(page, "| {id} | {what} | {expected}{unit} | {measured} | {verdict} |");
    }
    let failed: Vec<&ClaimRow> = rows.iter().filter(|row| row.verdict == Verdict::Fail).collect();
    if !failed.is_empty() {
        page.push_str("\n### Not as claimed\n");
    }
    for row in failed {
        let note = row.note.as_deref().unwrap_or_default();
        let _ = writeln!(page, "\n**{}**: {}", row.id, markdown::line(note));
    }
    page
}

fn points(page: &mut String, table: &Table, file: &File) {
    let (sim, linux) = (&table.pair.sim, &table.pair.linux);
    let (what, about) = match table.pair.paths {
        Kind::Plain => ("", ""),
        Kind::Thinned => (", ACKs thinned", THINNED),
        Kind::BothWays => (", data both ways", BOTH_WAYS),
        Kind::Framed => (", packets in frames", FRAMED),
    };
    let _ = writeln!(page, "\n### `{sim}` simulated, `{linux}` in the kernel{what}\n{about}");
    let head = "| path | simulator, Mbit/s | kernel | difference | drops | 99 % late by | |";
    let _ = writeln!(page, "{head}\n|---|---|---|---|---|---|---|");
    for point in &table.points {
        let (route, sim, linux) = (&point.route, &point.sim, &point.linux);
        let _ = writeln!(
            page,
            "| {}, {} | {} | {} | {:+.1} % | {}, {} | {:.0} us | {} |",
            route.name(", "),
            route.duration,
            mbps(sim),
            mbps(linux),
            point.percent(),
            sim.result.bottleneck.drops,
            linux.result.bottleneck.drops,
            late_p99_us(linux),
            point.remark()
        );
    }
    let measured = |route: &Route| table.points.iter().any(|point| point.route == *route);
    for route in file.paths(&table.pair).into_iter().filter(|route| !measured(route)) {
        let (name, duration) = (route.name(", "), &route.duration);
        let _ = writeln!(page, "| {name}, {duration} | | | | | | not measured |");
    }
    let most = table.points.iter().map(|point| point.percent().abs()).fold(0.0, f64::max);
    let _ = writeln!(page, "\nThe largest difference is {most:.1} %.");
}

/// For those who run what the pages show.
const SHOWN: &str = "<!-- not run: what the machine of this page measured -->";

const THINNED: &str = "
Slow start without HyStart, over 12 round trips. The way back carries one ACK for 2 to 100 packets
as the path fills; those that find no room in its buffer are lost, and the next one acknowledges
their packets too. Linux's slow start and profile `linux` count all that an ACK acknowledges.
";

const BOTH_WAYS: &str = "
An upload over the way back, and a download that begins a second later, whose ACKs wait behind the
upload's data. The throughputs are the download's and the upload's, and the difference is that of
the one that differs more.
";

const FRAMED: &str = "
Headers and cells of a link layer in both directions, packets of 1500 bytes and ACKs of 52. ACKs
fill the way back.
";

#[cfg(test)]
mod tests {
    use super::super::Pair;
    use super::*;

    #[test]
    fn a_row_that_is_not_as_claimed_has_its_note_behind_the_table() {
        let row = serde_json::json!({"id": "S0-X", "paper": "", "what": "w", "expected": "1",
            "measured": "2", "unit": "", "class": "tight", "tolerance": "", "verdict": "fail",
            "preset": "", "scenario": "", "note": "why"});
        let page = of_rows("6.1", &[serde_json::from_value(row).unwrap()]);
        assert!(page.starts_with("\nMeasured on Linux 6.1.\n\n| id |"), "{page}");
        assert!(page.contains("| S0-X | w |") && page.ends_with("**S0-X**: why\n"), "{page}");
    }

    #[test]
    fn a_pair_for_thinned_acks_has_the_paths_with_a_slow_way_back_and_no_other() {
        let path = |rate: &str, back: &str| {
            format!(
                "[[path]]\nrate = '{rate}'\nrtt = '9ms'\nbuffer = '1bdp'\nduration = '1s'\n{back}\n"
            )
        };
        let back = "back = { rate = '30kbps', buffer = '4pkt' }";
        let text = format!("rows = []\npair = []\n{}{}", path("1Mbps", ""), path("2Mbps", back));
        let file: File = toml::from_str(&text).unwrap();
        let page = |more: &str| {
            let pair: Pair = toml::from_str(&format!("sim = 'a'\nlinux = 'b'\n{more}")).unwrap();
            let mut page = String::new();
            points(&mut page, &Table { pair, points: Vec::new() }, &file);
            page
        };
        let (plain, thinned) = (page(""), page("paths = 'thinned'"));
        assert!(plain.contains("| 1Mbps, 9ms, 1bdp, 1s |") && !plain.contains("2Mbps"), "{plain}");
        let line = "| 2Mbps, 9ms, 1bdp, back 30kbps 4pkt, 1s |";
        assert!(thinned.contains(line) && !thinned.contains("1Mbps"), "{thinned}");
        assert!(thinned.contains("in the kernel, ACKs thinned\n\nSlow start without"), "{thinned}");
    }
}
