//! Both side by side, on the terminal and on the page.

use std::fmt::Write as _;

use firstflight_results::statistics::mean;

use super::draw::Point;
use crate::compared::{Measure, Sides, Spread};
use crate::explained::Accepted;
use crate::runs::Run;

/// One point with both.
pub(super) struct Row {
    pub(super) point: Point,
    /// The simulator and the kernel, a run each.
    pub(super) sides: Sides<Run>,
}

/// Each flow's over its own time, so that of a transfer it tells how long it took.
const THROUGHPUT: Measure<Run> = Measure {
    name: "throughput",
    of: |run| run.result.flows.iter().map(|flow| flow.throughput_bps).sum::<f64>() / 1e6,
    digits: 2,
    accepted: Accepted { percent: ACCEPTED, least: 0.0 },
};

impl Row {
    /// The kernel is within what is accepted of the simulator's own range, timeouts too.
    pub(super) fn is_own_range(&self) -> bool {
        let ((least, most), share) = (self.sides.range(&THROUGHPUT), ACCEPTED / 100.0);
        let kernel = |run: &Run| (timeouts(run) > 0) == (timeouts(self.kernel()) > 0);
        let [_, mbps] = self.sides.means(&THROUGHPUT);
        let holds = mbps >= least * (1.0 - share) && mbps <= most * (1.0 + share);
        holds && self.sides.own().any(kernel)
    }

    fn kernel(&self) -> &Run {
        &self.sides.other[0]
    }

    /// By more in throughput than is accepted, or with timeouts in one only.
    pub(super) fn differs(&self) -> bool {
        !self.remark().is_empty()
    }

    fn remark(&self) -> String {
        let far = self.sides.differs(&THROUGHPUT);
        let silent = (timeouts(&self.sides.ours[0]) > 0) != (timeouts(self.kernel()) > 0);
        let words = [(far, THROUGHPUT.name), (silent, "timeouts in one only")];
        let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned());
        let (least, most) = self.sides.range(&THROUGHPUT);
        let own = (!self.sides.nearby.is_empty())
            .then(|| format!("the simulator beside it {least:.2} to {most:.2}"));
        // A guest that had too much to do says so, and a flow that broke.
        let note = self.kernel().result.note.iter().map(|note| format!("kernel: {note}"));
        words.chain(own).chain(note).collect::<Vec<String>>().join(", ")
    }

    /// Simulator and kernel, value by value.
    fn cells(&self) -> [String; 6] {
        let both = |of: &dyn Fn(&Run) -> String| {
            format!("{}, {}", of(&self.sides.ours[0]), of(self.kernel()))
        };
        let again =
            |run: &Run| run.result.flows.iter().map(|it| it.counts.retransmitted_packets).sum();
        let exit = |run: &Run| {
            let exits = run.result.flows.iter().filter_map(|flow| flow.startup.exit_time_s);
            mean(exits).map_or("-".to_owned(), |at| format!("{at:.2}"))
        };
        [
            both(&|run| format!("{:.2}", (THROUGHPUT.of)(run))),
            format!("{:+.1} %", self.sides.percent(&THROUGHPUT)),
            both(&|run| run.result.bottleneck.drops.to_string()),
            both(&|run| u64::to_string(&again(run))),
            both(&|run| timeouts(run).to_string()),
            both(&exit),
        ]
    }

    /// As one of the terminal.
    pub(super) fn line(&self) -> String {
        let [mbps, percent, drops, again, timeouts, exit] = self.cells();
        let mark = if self.differs() { "!" } else { " " };
        format!(
            "{:>4} {mark} {:<12} {mbps:>16} {percent:>9} {drops:>13} {again:>13} {timeouts:>7} \
             {exit:>13}  {} {}",
            self.point.number,
            self.point.pair.1,
            self.point.path(),
            self.kernel().result.note.as_deref().unwrap_or_default()
        )
    }
}

/// Retransmission timeouts of all flows.
fn timeouts(run: &Run) -> u64 {
    run.result.flows.iter().map(|flow| flow.counts.timeouts).sum()
}

/// The columns of [`Row::line`].
pub(super) const HEAD: &str = "   #   control          sim, kernel Mb/s    differ         drops    \
                               sent again timeout        exit s  path";

/// How many differ, and why.
pub(super) fn summary(rows: &[Row]) -> String {
    let far = rows.iter().filter(|row| row.sides.differs(&THROUGHPUT)).count();
    let differ = rows.iter().filter(|row| row.differs()).count();
    let own = rows.iter().filter(|row| row.differs() && row.is_own_range()).count();
    let spread = Spread::of(rows.iter().map(|row| row.sides.percent(&THROUGHPUT)));
    let (half, most) = (spread.half(), spread.most());
    format!(
        "Of {} points {far} differ by more than {ACCEPTED} % in throughput, and {} more have \
         timeouts in one only; {own} of these are within the simulator's own range. Half of all \
         differ by at most {half:.1} %, the most by {most:.1} %.",
        rows.len(),
        differ - far
    )
}

/// What the page has between its marks.
pub(super) fn part(rows: &[Row], seed: u64) -> String {
    let kernel = rows.first().map_or("", |row| row.kernel().release());
    let mut page = format!("\nLinux {kernel}, seed {seed}. {}\n", summary(rows));
    page.push_str("\n| # | control | path | Mbit/s | differ | drops | sent again | timeouts |");
    page.push_str(" exit, s | |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for row in rows {
        let (point, cells) = (&row.point, row.cells().join(" | "));
        let (number, control, path) = (point.number, point.pair.1, point.path());
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {number} | `{control}` | {path} | {cells} | {} |", row.remark());
    }
    page
}

/// Per cent of throughput.
const ACCEPTED: f64 = 5.0;
#[cfg(test)]
mod tests {
    use firstflight_results::{Counts, FlowResult, RunResult};

    use super::*;

    fn run((mbps, timeouts): (f64, u64)) -> Run {
        let counts = Counts { timeouts, ..Counts::default() };
        let flow = FlowResult { throughput_bps: mbps * 1e6, counts, ..FlowResult::default() };
        let result = RunResult { flows: vec![flow], ..RunResult::default() };
        Run { result, srtt_ms: 0.0 }
    }

    fn row(sim: (f64, u64), kernel: (f64, u64)) -> Row {
        let sides = Sides { ours: vec![run(sim)], other: vec![run(kernel)], nearby: Vec::new() };
        Row { point: Point::draw(1, 0, false), sides }
    }

    #[test]
    fn a_difference_within_the_simulators_own_range_is_said() {
        let mut far = row((10.6, 0), (10.0, 0));
        assert!(far.differs() && !far.is_own_range());
        far.sides.nearby = vec![run((10.4, 0))];
        assert!(far.differs() && far.is_own_range());
        assert!(far.remark().contains("the simulator beside it 10.40 to 10.60"));
        let mut silent = row((10.0, 0), (10.0, 3));
        silent.sides.nearby = vec![run((10.0, 0))];
        assert!(!silent.is_own_range(), "no timeout beside it");
    }

    #[test]
    fn what_differs_is_marked_and_counted() {
        let rows = [
            row((10.4, 0), (10.0, 0)),
            row((10.6, 0), (10.0, 0)),
            row((10.0, 1), (10.0, 0)),
            row((10.0, 1), (10.0, 2)),
        ];
        let differ: Vec<bool> = rows.iter().map(Row::differs).collect();
        assert_eq!(differ, [false, true, true, false]);
        let text = summary(&rows);
        assert!(
            text.starts_with("Of 4 points 1 differ by more than 5 %") && text.contains("1 more")
        );
        assert!(text.ends_with("the most by 6.0 %."), "{text}");
        let page = part(&rows, 7);
        assert_eq!(page.lines().filter(|line| line.starts_with("| 0 |")).count(), 4);
        assert!(page.contains("| timeouts in one only |") && page.contains("| throughput |"));
        assert!(rows[1].line().contains(" ! ") && !rows[0].line().contains(" ! "));
    }
}
