//! Both side by side, on the terminal and on the page.

use std::fmt::Write as _;

use super::draw::{DISCIPLINES, Offset, Point};
use super::packets::Replayed;
use crate::compared::{Measure, Sides, Spread};
use crate::explained::Accepted;
use crate::runs::Run;

/// One point with both.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) point: Point,
    /// The simulator and the kernel; where something is random, with several seeds.
    pub(super) sides: Sides<Run>,
    /// Ours with the kernel's own packets, where they were written down.
    pub(super) replayed: Option<Replayed>,
}

/// One packet more or less is no difference.
pub(super) const PACKETS: Accepted = Accepted { percent: ACCEPTED, least: 1.0 };
const SHARE: Accepted = Accepted { percent: ACCEPTED, least: 0.0 };

const MEASURES: [Measure<Run>; 4] = [
    Measure {
        name: "marks",
        of: |run| run.result.bottleneck.marks as f64,
        digits: 0,
        accepted: PACKETS,
    },
    Measure {
        name: "drops",
        of: |run| run.result.bottleneck.drops as f64,
        digits: 0,
        accepted: PACKETS,
    },
    Measure { name: "throughput", of: mbps, digits: 2, accepted: SHARE },
    Measure { name: "RTT", of: |run| run.srtt_ms, digits: 2, accepted: SHARE },
];

/// Payload that arrived.
fn mbps(Run { result, .. }: &Run) -> f64 {
    let bytes: u64 = result.flows.iter().map(|flow| flow.delivered_bytes).sum();
    bytes as f64 * 8e-6 / result.duration_s
}

impl Row {
    fn is_own_range(&self, measure: &Measure<Run>) -> bool {
        let ([_, kernel], (least, most)) = (self.sides.means(measure), self.sides.range(measure));
        (least..=most).contains(&kernel)
    }

    /// Whether anything differs by more than it does within the simulator.
    fn is_beyond(&self) -> bool {
        MEASURES.iter().any(|it| self.sides.differs(it) && !self.is_own_range(it))
    }

    /// Whether that is so, and the queue does otherwise with the kernel's own packets too.
    pub(super) fn is_unexplained(&self) -> bool {
        self.is_beyond() && !self.replayed.as_ref().is_some_and(Replayed::agrees)
    }

    fn cells(&self) -> [String; 4] {
        MEASURES.each_ref().map(|measure| {
            let ([sim, kernel], digits) = (self.sides.means(measure), measure.digits);
            format!("{sim:.digits$}, {kernel:.digits$}")
        })
    }

    /// What differs, and what the simulator itself does beside the point.
    fn remark(&self) -> String {
        let differ = MEASURES.iter().filter(|measure| self.sides.differs(measure));
        let words = differ.map(|measure| {
            let ((least, most), digits) = (self.sides.range(measure), measure.digits);
            let beyond = if self.is_own_range(measure) { "" } else { "**" };
            let (percent, name) = (self.sides.percent(measure), measure.name);
            format!("{beyond}{name} {percent:+.0} %{beyond} ({least:.digits$} to {most:.digits$})")
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// As one of the terminal.
    pub(super) fn line(&self) -> String {
        let [marks, drops, mbps, rtt] = self.cells();
        let mark = match (self.is_unexplained(), self.remark().is_empty()) {
            (true, _) => "!",
            (false, false) => "~",
            (false, true) => " ",
        };
        let line = format!(
            "{:>8} {:>2} {mark} {marks:>10} {drops:>10} {mbps:>13} {rtt:>15}  {} {}",
            self.point.discipline.name,
            self.point.number,
            self.point.words(),
            self.remark(),
        );
        match &self.replayed {
            Some(replayed) => format!("{line}\n{:13}{}", "", replayed.words()),
            None => line,
        }
    }
}

/// How many differ.
pub(super) fn summary(rows: &[Row]) -> String {
    let mut text = String::new();
    for measure in &MEASURES {
        let differ = rows.iter().filter(|row| row.sides.differs(measure));
        let (count, own) =
            (differ.clone().count(), differ.filter(|it| it.is_own_range(measure)).count());
        let half = Spread::of(rows.iter().map(|row| row.sides.percent(measure))).half();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "In {} {count} of {} points differ by more than {ACCEPTED} %, {own} of them within the \
             simulator's own range; half of all by at most {half:.1} %. ",
            measure.name,
            rows.len()
        );
    }
    let beyond = rows.iter().filter(|row| row.is_beyond());
    let (count, unexplained) =
        (beyond.clone().count(), beyond.filter(|row| row.is_unexplained()).count());
    let _ = write!(
        text,
        "Of {count} points beyond that range {} agree with the kernel's own packets.",
        count - unexplained
    );
    text
}

/// The table of the page.
pub(super) fn page(rows: &[Row], command: &str) -> String {
    let kernel = rows.iter().flat_map(|row| &row.sides.other).map(Run::release).next();
    let mut page = format!(
        "Written by `{command}`; edits by hand are lost. Linux {}. {}\n",
        kernel.unwrap_or_default(),
        summary(rows)
    );
    for discipline in &DISCIPLINES {
        let mut rows: Vec<&Row> =
            rows.iter().filter(|row| row.point.discipline.name == discipline.name).collect();
        rows.sort_by_key(|row| row.point.number);
        if rows.is_empty() {
            continue;
        }
        let _ = write!(
            page,
            "\n### {}\n\n| path | marks | drops | Mbit/s | RTT, ms | kernel's packets | differ \
             |\n|---|---|---|---|---|---|---|\n",
            discipline.name
        );
        for row in rows {
            let (words, cells) = (row.point.words(), row.cells().join(" | "));
            let replayed = row.replayed.as_ref().map_or("-".to_owned(), Replayed::words);
            let _ = writeln!(page, "| {words} | {cells} | {replayed} | {} |", row.remark());
        }
    }
    page.trim_end().to_owned()
}

/// Per cent.
pub(super) const ACCEPTED: f64 = 5.0;
/// Runs in the simulator of what draws random numbers.
pub(super) const SEEDS: u64 = 10;

/// The paths near a point: RTTs that are longer by [`LONGER_MS`], and links that are faster by
/// [`FASTER_PPM`]. The kernel's class of HTB sends some 300 millionths faster than its rate,
/// because it makes up for late timers.
pub(super) fn nearby() -> impl Iterator<Item = Offset> {
    let longer = LONGER_MS.map(|more_ms| Offset { more_ms, faster_ppm: 0.0 });
    longer.into_iter().chain(FASTER_PPM.map(|faster_ppm| Offset { more_ms: 0.0, faster_ppm }))
}

const LONGER_MS: [f64; 6] = [0.05, 0.1, 0.2, 0.3, 0.5, 1.0];
const FASTER_PPM: [f64; 6] = [-1_000.0, -300.0, -100.0, 100.0, 300.0, 1_000.0];

#[cfg(test)]
mod tests {
    use firstflight_results::{FlowResult, RunResult};

    use super::*;

    fn row(sim: f64, kernel: f64, nearby: &[f64]) -> Row {
        let run = |mbps: &f64| {
            let flow = FlowResult { delivered_bytes: (mbps * 1e6) as u64, ..Default::default() };
            let result = RunResult { duration_s: 8.0, flows: vec![flow], ..Default::default() };
            Run { result, srtt_ms: 10.0 }
        };
        let point = Point::draw(1, &DISCIPLINES[3], 0);
        let nearby = nearby.iter().map(run).collect();
        let sides = Sides { ours: vec![run(&sim)], other: vec![run(&kernel)], nearby };
        Row { point, sides, replayed: None }
    }

    #[test]
    fn what_the_simulator_does_beside_a_point_explains_a_difference() {
        assert!(row(10.0, 10.4, &[]).remark().is_empty());
        let far = row(10.0, 11.0, &[9.0]);
        assert!(far.is_unexplained() && far.remark().starts_with("**throughput -9 %**"));
        let own = row(10.0, 11.0, &[11.5]);
        assert!(!own.is_unexplained());
        assert_eq!(own.remark(), "throughput -9 % (10.00 to 11.50)");
    }

    #[test]
    fn one_packet_is_no_difference() {
        let mut row = row(10.0, 10.0, &[]);
        let drops = |runs: &mut [Run], drops| runs[0].result.bottleneck.drops = drops;
        drops(&mut row.sides.ours, 3);
        drops(&mut row.sides.other, 2);
        assert!(row.remark().is_empty());
        drops(&mut row.sides.ours, 4);
        assert!(row.is_unexplained());
        let page = page(&[row], "x");
        assert!(
            page.contains("| 0, 0 | 4, 2 | 10.00, 10.00 | 10.00, 10.00 | - | **drops +100 %**")
        );
    }
}
