//! Both side by side, on the terminal and on the page.

use std::fmt::Write as _;

use super::draw::{Beside, DISCIPLINES, Point};
use super::measured::{Measured, mean};
use super::packets::Replayed;

/// One point with both.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) point: Point,
    /// The simulator: one run, or one for each of [`SEEDS`] seeds where something is random.
    pub(super) sim: Vec<Measured>,
    pub(super) kernel: Vec<Measured>,
    /// The simulator [`beside`] the point.
    pub(super) beside: Vec<Measured>,
    /// Ours with the kernel's own packets, where they were written down.
    pub(super) replayed: Option<Replayed>,
}

/// What is compared.
struct Measure {
    name: &'static str,
    of: fn(&Measured) -> f64,
    /// It counts packets: one more or less is no difference.
    counts: bool,
}

const MEASURES: [Measure; 4] = [
    Measure { name: "marks", of: |run| run.marks, counts: true },
    Measure { name: "drops", of: |run| run.drops, counts: true },
    Measure { name: "throughput", of: |run| run.mbps, counts: false },
    Measure { name: "RTT", of: |run| run.rtt_ms, counts: false },
];

impl Row {
    fn means(&self, measure: &Measure) -> [f64; 2] {
        [&self.sim, &self.kernel].map(|runs| mean(&runs.iter().map(measure.of).collect::<Vec<_>>()))
    }

    fn percent(&self, measure: &Measure) -> f64 {
        let [sim, kernel] = self.means(measure);
        if sim == kernel { 0.0 } else { 100.0 * (sim - kernel) / kernel.max(1e-9) }
    }

    fn differs(&self, measure: &Measure) -> bool {
        let [sim, kernel] = self.means(measure);
        let one_packet = measure.counts && (sim - kernel).abs() <= 1.0;
        self.percent(measure).abs() > ACCEPTED && !one_packet
    }

    /// The least and the most of the simulator's runs, here and beside.
    fn range(&self, measure: &Measure) -> (f64, f64) {
        let all = self.sim.iter().chain(&self.beside).map(measure.of);
        all.fold((f64::MAX, 0.0), |(least, most), it| (it.min(least), it.max(most)))
    }

    fn is_own_range(&self, measure: &Measure) -> bool {
        let ([_, kernel], (least, most)) = (self.means(measure), self.range(measure));
        (least..=most).contains(&kernel)
    }

    /// Whether anything differs by more than it does within the simulator.
    fn is_beyond(&self) -> bool {
        MEASURES.iter().any(|it| self.differs(it) && !self.is_own_range(it))
    }

    /// Whether that is so, and the queue does otherwise with the kernel's own packets too.
    pub(super) fn is_unexplained(&self) -> bool {
        self.is_beyond() && !self.replayed.as_ref().is_some_and(Replayed::agrees)
    }

    fn cells(&self) -> [String; 4] {
        MEASURES.each_ref().map(|measure| {
            let [sim, kernel] = self.means(measure);
            let digits = if measure.counts { 0 } else { 2 };
            format!("{sim:.digits$}, {kernel:.digits$}")
        })
    }

    /// What differs, and what the simulator itself does beside the point.
    fn remark(&self) -> String {
        let differ = MEASURES.iter().filter(|measure| self.differs(measure));
        let said = differ.map(|measure| {
            let (least, most) = self.range(measure);
            let digits = if measure.counts { 0 } else { 2 };
            let beyond = if self.is_own_range(measure) { "" } else { "**" };
            let percent = self.percent(measure);
            let name = measure.name;
            format!("{beyond}{name} {percent:+.0} %{beyond} ({least:.digits$} to {most:.digits$})")
        });
        said.collect::<Vec<_>>().join(", ")
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
        let differ = rows.iter().filter(|row| row.differs(measure));
        let (count, own) =
            (differ.clone().count(), differ.filter(|it| it.is_own_range(measure)).count());
        let mut percents: Vec<f64> = rows.iter().map(|row| row.percent(measure).abs()).collect();
        percents.sort_by(f64::total_cmp);
        let half = percents.get(percents.len() / 2).copied().unwrap_or(0.0);
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
    let kernel = rows.iter().flat_map(|row| &row.kernel).map(|run| run.kernel.as_str()).next();
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

/// Beside a point: RTTs that are longer by this many ms, and links that are faster by this many
/// millionths. The kernel's class of HTB sends some 300 millionths faster than its rate, because it
/// makes up for late timers.
pub(super) fn beside() -> impl Iterator<Item = Beside> {
    let longer = BESIDE_MS.map(|more_ms| Beside { more_ms, faster_ppm: 0.0 });
    longer.into_iter().chain(BESIDE_PPM.map(|faster_ppm| Beside { more_ms: 0.0, faster_ppm }))
}

const BESIDE_MS: [f64; 6] = [0.05, 0.1, 0.2, 0.3, 0.5, 1.0];
const BESIDE_PPM: [f64; 6] = [-1_000.0, -300.0, -100.0, 100.0, 300.0, 1_000.0];

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sim: f64, kernel: f64, beside: &[f64]) -> Row {
        let run = |mbps: &f64| Measured { mbps: *mbps, rtt_ms: 10.0, ..Measured::default() };
        let point = Point::draw(1, &DISCIPLINES[3], 0);
        let beside = beside.iter().map(run).collect();
        Row { point, sim: vec![run(&sim)], kernel: vec![run(&kernel)], beside, replayed: None }
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
        (row.sim[0].drops, row.kernel[0].drops) = (3.0, 2.0);
        assert!(row.remark().is_empty());
        row.sim[0].drops = 4.0;
        assert!(row.is_unexplained());
        let page = page(&[row], "x");
        assert!(
            page.contains("| 0, 0 | 4, 2 | 10.00, 10.00 | 10.00, 10.00 | - | **drops +100 %**")
        );
    }
}
