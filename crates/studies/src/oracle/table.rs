//! Rows, verdicts and the printed table.

use serde::Serialize;

use super::measured::OracleRun;
use super::point::Point;
use super::range::Range;
use crate::explained::Explained;

/// One point, as the simulators see it.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    scenario: String,
    ns2: OracleRun,
    ns3: Option<OracleRun>,
    firstflight: OracleRun,
    /// firstflight less ns-2, percentage points of utilisation.
    difference_points: f64,
    /// Losses in one of ns-2 and firstflight and not in the other.
    losses_differ: bool,
    /// Why, from `validation/explained.toml`.
    explained: Option<String>,
    /// Name of the cause of a difference from ns-3, from there too.
    ns3_cause: Option<String>,
    /// A difference from ns-3 needs a cause.
    #[serde(skip)]
    ns3_counts: bool,
    /// The values that ns-2 gives for slightly later starts, where a difference needs a reason.
    ns2_range: Option<Range>,
}

impl Row {
    /// Points that are drawn have no causes of a difference from ns-3: then `ns3_counts` is false.
    pub(super) fn new(
        point: &Point,
        ns2: OracleRun,
        ns3: Option<OracleRun>,
        firstflight: OracleRun,
        (ns3_counts, explained): (bool, &Explained),
    ) -> Self {
        let from = |program: &str| explained.reason(program, &point.id);
        let mut row = Self {
            id: point.id.clone(),
            scenario: point.line.clone(),
            ns2,
            ns3,
            firstflight,
            difference_points: firstflight.utilization_percent - ns2.utilization_percent,
            losses_differ: (ns2.drops == 0) != (firstflight.drops == 0),
            explained: from("ns-2").map(|reason| reason.why.clone()),
            ns3_cause: from("ns-3").map(|reason| reason.name.clone()),
            ns3_counts,
            ns2_range: None,
        };
        // A kind explains those of its points that differ, and need not explain the others.
        if row.explained.is_none() && row.must_be_explained() {
            let kind = explained.reason("ns-2", &point.kind());
            row.explained = kind.map(|reason| reason.why.clone());
        }
        row
    }

    /// Whether the difference is too large to stand without an explanation.
    pub(super) fn must_be_explained(&self) -> bool {
        self.difference_points.abs() > FAILS || self.losses_differ
    }

    /// This row with the range of values that ns-2 itself gives.
    pub(super) fn with_range(self, range: Range) -> Self {
        Self { ns2_range: Some(range), ..self }
    }

    /// Whether ns-2 differs as much from itself.
    fn within_range(&self) -> bool {
        self.ns2_range.is_some_and(|range| range.holds(&self.firstflight, FAILS))
    }

    /// Whether ns-3 is so far off that a cause must be known.
    pub(super) fn differs_from_ns3(&self) -> bool {
        let ours = self.firstflight.utilization_percent;
        self.ns3.is_some_and(|ns3| (ours - ns3.utilization_percent).abs() > NOTED)
    }

    /// Whether the file explains a difference that is within the bounds.
    fn is_needlessly_explained(&self) -> bool {
        let of_ns2 = self.explained.is_some() && !self.must_be_explained();
        let of_ns3 = self.ns3.is_some() && self.ns3_cause.is_some() && !self.differs_from_ns3();
        of_ns2 || of_ns3
    }

    /// Whether there is no cause, although there must be one.
    fn fails_ns3(&self) -> bool {
        self.ns3_counts && self.differs_from_ns3() && self.ns3_cause.is_none()
    }

    /// Whether the row breaks the comparison.
    pub(super) fn fails(&self) -> bool {
        let unexplained = self.explained.is_none() && !self.within_range();
        self.must_be_explained() && unexplained || self.fails_ns3()
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
        let ns3 = match &self.ns3_cause {
            Some(cause) if self.differs_from_ns3() => format!("ns-3: {cause}"),
            _ if self.fails_ns3() => "ns-3 NOT EXPLAINED".to_owned(),
            _ => String::new(),
        };
        let words = [size, losses, explained, &range, &ns3];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// What all three measured at every point.
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    pub(super) rows: Vec<Row>,
}

impl Comparison {
    /// A table, with a last line that sums up.
    pub(super) fn text(&self) -> String {
        text(&self.rows)
    }

    /// The points that differ and are not explained.
    pub(super) fn failed(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.fails())
    }

    /// These points as lines of `validation/points.toml`.
    pub(super) fn failed_lines(&self) -> String {
        self.failed().map(|row| format!("{} = \"{}\"\n", row.id, row.scenario)).collect()
    }

    /// The points with a reason that need none.
    pub(super) fn needlessly_explained(&self) -> impl Iterator<Item = &str> {
        let needless = self.rows.iter().filter(|row| row.is_needlessly_explained());
        needless.map(|row| row.id.as_str())
    }
}

fn text(rows: &[Row]) -> String {
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
    let compared = count(&|row| row.ns3.is_some());
    if compared > 0 {
        lines.push(format!(
            "ns-3 at {compared}: {} within 1 point, {} more with a known cause, {} unexplained",
            compared - count(&Row::differs_from_ns3),
            count(&|row| row.differs_from_ns3() && row.ns3_cause.is_some()),
            count(&Row::fails_ns3),
        ));
    }
    lines.join("\n")
}

fn losses(measured: &OracleRun) -> String {
    format!("{}/{}/{}", measured.drops, measured.retransmitted, measured.timeouts)
}

/// Percentage points from which a difference is marked, and from which it must be explained.
const NOTED: f64 = 1.0;
const FAILS: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::super::point;
    use super::*;

    /// A reason for point `a`, its name and its sentence the same, or none.
    fn explained(from: &str, why: Option<&str>) -> Explained {
        let reason = |why| {
            format!("[[differs]]\nfrom = '{from}'\nat = ['a']\nname = '{why}'\nwhy = '{why}'")
        };
        toml::from_str(&why.map_or(String::new(), reason)).unwrap()
    }

    fn row(ours: f64, drops: u64, reason: Option<&str>) -> Row {
        row_from("ns-2", ours, drops, reason)
    }

    fn row_from(program: &str, ours: f64, drops: u64, reason: Option<&str>) -> Row {
        let measured = |utilization_percent, drops| OracleRun {
            utilization_percent,
            drops,
            retransmitted: 0,
            timeouts: 0,
            jain: 1.0,
        };
        let point = point::example("a");
        let explained = explained(program, reason);
        Row::new(&point, measured(90.0, 3), None, measured(ours, drops), (true, &explained))
    }

    #[test]
    fn ns3_may_be_off_by_a_point_without_a_cause() {
        let at = |ns3: f64, ns3_counts, cause: Option<&str>| {
            let explained = (ns3_counts, &explained("ns-3", cause));
            let measured = |utilization_percent| OracleRun {
                utilization_percent,
                drops: 0,
                retransmitted: 0,
                timeouts: 0,
                jain: 1.0,
            };
            let point = point::example("a");
            Row::new(&point, measured(90.0), Some(measured(ns3)), measured(90.0), explained)
        };
        assert!(!at(89.1, true, None).fails());
        assert!(at(88.9, true, None).fails());
        assert!(!at(88.9, true, Some("growth")).fails());
        assert!(!at(88.9, false, None).fails(), "random points have no causes");
        let text = text(&[at(89.1, true, None), at(88.9, true, None), at(50.0, true, Some("why"))]);
        assert!(text.contains("ns-3 NOT EXPLAINED") && text.contains("ns-3: why"));
        assert!(text.ends_with(
            "ns-3 at 3: 1 within 1 point, 1 more with a known cause, \
            1 unexplained"
        ));
    }

    #[test]
    fn only_a_large_difference_without_a_reason_fails() {
        assert!(!row(91.9, 3, None).fails());
        assert!(row(92.1, 3, None).fails());
        assert!(row(87.9, 3, None).fails());
        assert!(!row(92.1, 3, Some("ties")).fails());
        assert!(row_from("ns-3", 92.1, 3, Some("ties")).fails(), "a reason of another program");
        assert!(row(90.0, 0, None).fails(), "losses in one only");
    }

    #[test]
    fn a_kind_is_of_one_agent_in_one_release_and_explains_what_differs() {
        let of = |alg, release, ours: f64| {
            let point = point::example_with("a", &[("alg", alg), ("release", release)]);
            let measured = |utilization_percent| OracleRun {
                utilization_percent,
                drops: 1,
                retransmitted: 1,
                timeouts: 0,
                jain: 1.0,
            };
            let explained = "[[differs]]\nfrom = 'ns-2'\nat = ['vegas release=2.1b6']\nwhy = 'w'";
            let explained = toml::from_str(explained).unwrap();
            Row::new(&point, measured(90.0), None, measured(ours), (false, &explained))
        };
        assert!(!of("vegas", "2.1b6", 80.0).fails());
        assert!(of("vegas", "2.26", 80.0).fails() && of("sack", "2.1b6", 80.0).fails());
        assert!(!of("vegas", "2.1b6", 90.0).is_needlessly_explained());
    }

    #[test]
    fn the_table_marks_and_counts() {
        let text = text(&[row(90.5, 3, None), row(91.5, 3, None), row(95.0, 0, Some("why"))]);
        assert!(text.contains("> 2, losses differ, explained"));
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("3 points: 1 within 1 point of ns-2, 1 more within 2, 1 with"));
    }
}
