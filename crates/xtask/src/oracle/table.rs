//! Rows, verdicts and the printed table.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::measured::Measured;
use super::point::Point;
use super::range::Range;
use crate::{Stop, step};

/// One point, as the simulators see it.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    scenario: String,
    ns2: Measured,
    ns3: Option<Measured>,
    firstflight: Measured,
    /// firstflight less ns-2, percentage points of utilisation.
    difference_points: f64,
    /// Losses in one of ns-2 and firstflight and not in the other.
    losses_differ: bool,
    /// Why, from `oracles/explained.toml`.
    explained: Option<String>,
    /// Where a difference wants a reason: what ns-2 gives when the same run begins otherwise.
    ns2_range: Option<Range>,
}

impl Row {
    pub(super) fn new(
        point: &Point,
        ns2: Measured,
        ns3: Option<Measured>,
        firstflight: Measured,
        explained: &BTreeMap<String, String>,
    ) -> Self {
        Self {
            id: point.id.clone(),
            scenario: point.said.clone(),
            ns2,
            ns3,
            firstflight,
            difference_points: firstflight.utilization_percent - ns2.utilization_percent,
            losses_differ: (ns2.drops == 0) != (firstflight.drops == 0),
            explained: explained.get(&point.id).cloned(),
            ns2_range: None,
        }
    }

    /// Whether the difference is too large to stand without an explanation.
    pub(super) fn must_be_explained(&self) -> bool {
        self.difference_points.abs() > FAILS || self.losses_differ
    }

    /// The same row with the range of values that ns-2 itself gives.
    pub(super) fn with_range(self, range: Range) -> Self {
        Self { ns2_range: Some(range), ..self }
    }

    /// Whether ns-2 differs as much from itself.
    fn within_range(&self) -> bool {
        self.ns2_range.is_some_and(|range| range.holds(&self.firstflight, FAILS))
    }

    /// Whether the row breaks the comparison.
    pub(super) fn fails(&self) -> bool {
        self.must_be_explained() && self.explained.is_none() && !self.within_range()
    }

    fn mark(&self) -> String {
        let size = match self.difference_points.abs() {
            far if far > FAILS => "> 2",
            far if far > NOTED => "> 1",
            _ => "",
        };
        let losses = if self.losses_differ { "losses differ" } else { "" };
        let explained = if self.explained.is_some() { "explained" } else { "" };
        let range = self.ns2_range.map_or(String::new(), |range| range.text());
        let words = [size, losses, explained, &range];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// Reads the reasons for differences that stand, by point.
pub(super) fn explained(path: &Path) -> Result<BTreeMap<String, String>, Stop> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        points: BTreeMap<String, String>,
    }
    step::read_toml(path).map(|file: File| file.points)
}

/// The rows as one JSON document.
pub(super) fn json(rows: &[Row]) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        rows: &'a [Row],
    }
    serde_json::to_string_pretty(&Document { rows })
}

/// The rows as a table, with a last line that sums up.
pub(super) fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0).max(5);
    let mut lines = vec![
        format!("{:width$}  utilisation, %                drops / retransmitted / timeouts", ""),
        format!(
            "{:width$}  {:>6} {:>6} {:>6} {:>6}   {:<16} {:<16} {}",
            "point", "ns-2", "ns-3", "ours", "diff", "ns-2", "ours", "mark"
        ),
    ];
    for row in rows {
        let ns3 = row.ns3.map_or("-".to_owned(), |ns3| format!("{:.2}", ns3.utilization_percent));
        let line = format!(
            "{:width$}  {:>6.2} {ns3:>6} {:>6.2} {:>+6.2}   {:<16} {:<16} {}",
            row.id,
            row.ns2.utilization_percent,
            row.firstflight.utilization_percent,
            row.difference_points,
            losses(&row.ns2),
            losses(&row.firstflight),
            row.mark()
        );
        lines.push(line.trim_end().to_owned());
    }
    let count = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    lines.push(format!(
        "{} points: {} within 1 point of ns-2, {} more within 2, {} with losses in one only, \
         {} within ns-2's own range, {} unexplained",
        rows.len(),
        count(&|row| row.difference_points.abs() <= NOTED),
        count(&|row| (NOTED..=FAILS).contains(&row.difference_points.abs())),
        count(&|row| row.losses_differ),
        count(&|row| row.must_be_explained() && row.within_range()),
        count(&Row::fails),
    ));
    lines.join("\n")
}

/// The rows that break the comparison as lines of `oracles/points.toml`.
pub(super) fn lines(rows: &[Row]) -> String {
    let failing = rows.iter().filter(|row| row.fails());
    failing.map(|row| format!("{} = \"{}\"\n", row.id, row.scenario)).collect()
}

fn losses(measured: &Measured) -> String {
    format!("{}/{}/{}", measured.drops, measured.retransmitted, measured.timeouts)
}

/// Percentage points from which a difference is marked, and from which it must be explained.
const NOTED: f64 = 1.0;
const FAILS: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::point;

    fn row(ours: f64, drops: u64, reason: Option<&str>) -> Row {
        let measured = |utilization_percent, drops| Measured {
            utilization_percent,
            drops,
            retransmitted: 0,
            timeouts: 0,
            jain: 1.0,
        };
        let point = point::example("a");
        let explained = reason.map(|reason| ("a".to_owned(), reason.to_owned()));
        let explained = explained.into_iter().collect();
        Row::new(&point, measured(90.0, 3), None, measured(ours, drops), &explained)
    }

    #[test]
    fn only_a_large_difference_without_a_reason_fails() {
        assert!(!row(91.9, 3, None).fails());
        assert!(row(92.1, 3, None).fails());
        assert!(row(87.9, 3, None).fails());
        assert!(!row(92.1, 3, Some("ties")).fails());
        assert!(row(90.0, 0, None).fails(), "losses in one only");
    }

    #[test]
    fn the_table_marks_and_counts() {
        let text = text(&[row(90.5, 3, None), row(91.5, 3, None), row(95.0, 0, Some("why"))]);
        assert!(text.contains("> 2, losses differ, explained"));
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("3 points: 1 within 1 point of ns-2, 1 more within 2, 1 with"));
    }
}
