//! What a trial found: a table, sentences, a document.

use std::time::Duration;

use firstflight_kernel::trial::Counts;
use firstflight_kernel::trial::judge::{Finding, Judge, LEAST, MEASURES, Verdict};
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Column, Table, wrapped};
use firstflight_terminal::words::count;
use serde::Serialize;

use super::connection::Head;
use super::reason;
use crate::document::document;
use crate::failure::Failure;
use crate::kernel::why;

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Findings {
    pub(super) control: String,
    pub(super) against: String,
    pub(super) to: String,
    port: Option<u16>,
    pub(super) share: f64,
    by: String,
    bytes: u64,
    age_s: f64,
    pub(super) tolerance: f64,
    lasted_s: f64,
    /// Connections that were reported, of `against` and of `control`.
    connections: [u64; 2],
    /// The share of `control` among them.
    share_found: f64,
    /// A bound of the probability that the right share looks so.
    share_p_value: f64,
    /// Connections that the trial was for. Counts that no line of a recording has are `null` where
    /// a recording alone is read.
    matched: Option<u64>,
    /// Connections whose application had chosen a control; they take no part.
    own_choice: Option<u64>,
    /// Connections for which the kernel refused the control that was dealt.
    refused: u64,
    last_error: Option<String>,
    /// Connections that could not be reported, because there were too many at once.
    dropped: Option<u64>,
    measures: Vec<MeasureRow>,
    /// Why it was stopped before its time; `null` if it was not.
    stopped: Option<String>,
}

/// A measure.
#[derive(Serialize)]
struct MeasureRow {
    measure: &'static str,
    unit: &'static str,
    /// The difference is a ratio.
    is_ratio: bool,
    /// The mean of each arm, geometric for ratios; `null` before there is enough.
    against: Option<f64>,
    control: Option<f64>,
    /// `control` over `against`, or less it, and the interval that holds at every time.
    difference: Option<[f64; 3]>,
    verdict: Option<&'static str>,
}

impl MeasureRow {
    fn new(at: usize, finding: Option<Finding>) -> Self {
        let measure = &MEASURES[at];
        let show = |value: f64| if measure.is_log { value.exp() } else { value };
        Self {
            measure: measure.name,
            unit: measure.unit,
            is_ratio: measure.is_log,
            against: finding.map(|it| show(it.control)),
            control: finding.map(|it| show(it.treated)),
            difference: finding.map(|it| [it.more.mean, it.more.low, it.more.high].map(show)),
            verdict: finding.map(|it| word(it.verdict)),
        }
    }

    /// The difference as people read it.
    fn words(&self) -> String {
        match self.difference {
            None => "too few yet".to_owned(),
            Some([mean, low, high]) if self.is_ratio => {
                format!("{mean:.3} times [{low:.3}–{high:.3}]")
            }
            Some(all) => {
                let [mean, low, high] = all.map(|it| 100. * it);
                format!("{mean:+.2} points [{low:+.2}–{high:+.2}]")
            }
        }
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Open => "no difference shown",
        Verdict::Worse => "worse",
        Verdict::Better => "better",
    }
}

fn rows(judge: &Judge) -> Vec<MeasureRow> {
    (0..MEASURES.len()).map(|at| MeasureRow::new(at, judge.finding(at))).collect()
}

/// How it stands, in a few words.
#[cfg(feature = "kernel")]
pub(super) fn so_far(judge: &Judge) -> String {
    let [other, tried] = judge.connections();
    let first = &MeasureRow::new(0, judge.finding(0));
    format!("{tried} of {} connections tried; {}: {}", other + tried, first.measure, first.words())
}

impl Findings {
    /// What was found after so long. A recording has no `counts`, but the number of connections for
    /// which the control was refused.
    pub(super) fn new(
        head: &Head,
        judge: &Judge,
        counts: Result<Counts, u64>,
        lasted: Duration,
    ) -> Self {
        let (share_found, share_p_value) = judge.share();
        let (refused, counts) = (counts.map_or_else(|it| it, |it| it.failed), counts.ok());
        let error = counts.filter(|_| refused > 0).map(|counts| why(counts.last_error));
        Self {
            control: head.control.clone(),
            against: head.against.clone(),
            to: head.to.clone(),
            port: head.port,
            share: head.share,
            by: head.by.clone(),
            bytes: head.bytes,
            age_s: head.age_s,
            tolerance: head.tolerance,
            lasted_s: lasted.as_secs_f64(),
            connections: judge.connections(),
            share_found,
            share_p_value,
            matched: counts.map(|counts| counts.matched),
            own_choice: counts.map(|counts| counts.own_choice),
            refused,
            last_error: error,
            dropped: counts.map(|counts| counts.dropped),
            measures: rows(judge),
            stopped: judge.stop().map(reason),
        }
    }

    pub(super) fn json(&self) -> Result<String, Failure> {
        document("firstflight/trial@1", self)
    }

    pub(super) fn text(&self, screen: Screen) -> String {
        let sentences: String =
            self.sentences().iter().map(|it| wrapped(it, screen.width, "  ")).collect();
        format!("{}\n{sentences}", terminal::table(&self.table(), screen))
    }

    /// What is tried, in a line.
    pub(super) fn title(&self) -> String {
        format!(
            "{} on {} % beside {}, dealt by {}, {:.0} s",
            self.control,
            100. * self.share,
            self.against,
            self.by,
            self.lasted_s
        )
    }

    pub(super) fn table(&self) -> Table {
        let title = format!("{}; [98 % for all at all times]", self.title());
        let is_same = self.control == self.against;
        let tried = if is_same { format!("{} too", self.control) } else { self.control.clone() };
        let columns = [
            Column::text("measure"),
            Column::text(self.against.clone()),
            Column::text(tried),
            Column::text("difference"),
            Column::text(""),
        ];
        let mut table = Table::new("trial", title, columns);
        for (name, row) in self.named() {
            let value = |it: Option<f64>| match it {
                None => "-".to_owned(),
                Some(value) if row.is_ratio => firstflight_outside::short(value),
                Some(value) => format!("{:.2} %", 100. * value),
            };
            let verdict = row.verdict.unwrap_or_default();
            let (against, control) = (value(row.against), value(row.control));
            table.push([
                name.into(),
                against.into(),
                control.into(),
                row.words().into(),
                verdict.into(),
            ]);
        }
        table
    }

    /// A measure's name with the trial's own numbers.
    pub(super) fn name(&self, measure: usize) -> String {
        let name = MEASURES[measure].name.replace("the bytes", &format!("{} bytes", self.bytes));
        name.replace("the age", &format!("{} s", self.age_s))
    }

    /// The name of each measure and its unit, with what was found.
    fn named(&self) -> impl Iterator<Item = (String, &MeasureRow)> {
        self.measures.iter().enumerate().map(|(at, row)| match row.unit {
            "bytes" => (self.name(at), row),
            unit => (format!("{} ({unit})", self.name(at)), row),
        })
    }

    pub(super) fn sentences(&self) -> Vec<String> {
        let Self { control, against, .. } = self;
        let [other, tried] = self.connections;
        let all = count(other + tried, "connection");
        let share = 100. * self.share;
        let mut sentences = vec![format!(
            "{tried} of {all} were dealt into the arm of {control}, meant to be {share} %."
        )];
        if let Some(more) = self.own_choice.filter(|more| *more > 0) {
            sentences.push(format!(
                "{more} more had a control of their application's choice and take no part."
            ));
        }
        if self.refused > 0 {
            let why = self.last_error.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            sentences.push(format!(
                "For {} the kernel refused the control of their arm{why}; they count as dealt.",
                self.refused
            ));
        }
        if let Some(more) = self.dropped.filter(|more| *more > 0) {
            sentences
                .push(format!("{more} more could not be told, because too many were at once."));
        }
        let of = |verdict: Verdict| -> Vec<String> {
            let rows = self.named().filter(|(_, row)| row.verdict == Some(word(verdict)));
            rows.map(|(name, row)| format!("{name}, {}", row.words())).collect()
        };
        let (worse, better) = (of(Verdict::Worse), of(Verdict::Better));
        match &self.stopped {
            Some(why) if worse.is_empty() => sentences.push(format!(
                "Stopped, because {why}: records are missing, or something else deals; no \
                 comparison holds."
            )),
            Some(_) => sentences.push(format!(
                "Stopped, because {control} is worse: {}. No new connection gets it any more.",
                worse.join("; ")
            )),
            None if self.measures.iter().all(|row| row.difference.is_none()) => {
                sentences.push(format!(
                    "Nothing is compared yet: that takes connections of {LEAST} prefixes (/24, \
                     /48) in each arm, or of one in {LEAST} minutes."
                ));
            }
            None if better.is_empty() => sentences.push(format!(
                "No difference is shown between {control} and {against} beyond {:.1} %.",
                100. * self.tolerance
            )),
            None => sentences.push(format!("{control} is better: {}.", better.join("; "))),
        }
        if control == against {
            let wide = "Both arms have one control: what differs is chance, and the intervals are \
                as wide as those of a trial on this traffic.";
            sentences.push(wide.to_owned());
            return sentences;
        }
        if !better.is_empty() && self.stopped.is_none() && self.lasted_s < A_DAY {
            sentences.push("It has not seen a whole day.".to_owned());
        }
        sentences.push(format!(
            "Both arms share queues, so that one may gain what the other loses. Try another share \
             too: a difference, or a value of {against}, that moves with it is such interference."
        ));
        sentences
    }
}

const A_DAY: f64 = 86_400.;

#[cfg(all(test, feature = "kernel"))]
mod tests {
    use firstflight_kernel::trial::judge::{By, Outcome};

    use super::*;
    use crate::kernel::trial::record::tests::plan;

    /// Half of 400 connections take so much longer.
    fn text(control: &str, times: f64, seconds: u64) -> String {
        let mut judge = Judge::new(By::Connection, 0.5, 0.02);
        for number in 0..400_u32 {
            let treated = number % 2 == 0;
            // A spread that both arms share.
            let time = 0.1 * f64::from(number % 7) + if treated { f64::ln(times) } else { 0. };
            let values = [Some(time), None, None, Some(0.), None, None];
            let prefix = number.into();
            judge.take(&Outcome { treated, prefix, minute: 0, values });
        }
        let mut plan = plan(1);
        (plan.other, plan.treated.per_mille) = (control.to_owned(), 500);
        let counts = Counts { own_choice: 3, ..Counts::default() };
        let (head, lasted) = (Head::of(&plan, 0.02), Duration::from_secs(seconds));
        let found = Findings::new(&head, &judge, Ok(counts), lasted);
        assert!(found.json().unwrap().contains("firstflight/trial@1"));
        found.text(Screen::plain(160))
    }

    #[test]
    fn what_was_found_is_said_and_what_it_does_not_show() {
        let worse = text("cubic", 2., 9);
        assert!(worse.contains("Stopped, because ff_scout is worse: time to 100000"), "{worse}");
        assert!(worse.contains("200 of 400 connections were dealt"), "{worse}");
        assert!(worse.contains("3 more had a control of their application's choice"), "{worse}");
        let better = text("cubic", 0.5, 9);
        assert!(better.contains("ff_scout is better: time to 100000 bytes"), "{better}");
        assert!(better.contains("It has not seen a whole day."), "{better}");
        assert!(!text("cubic", 0.5, 90_000).contains("a whole day"));
        let none = text("cubic", 1., 9);
        assert!(none.contains("No difference is shown between ff_scout and cubic"), "{none}");
        assert!(none.contains("Both arms share queues"), "{none}");
        let (head, judge) = (Head::of(&plan(1), 0.02), Judge::new(By::Connection, 0.05, 0.02));
        let few = Findings::new(&head, &judge, Err(0), Duration::ZERO).text(Screen::plain(160));
        assert!(few.contains("Nothing is compared yet") && !few.contains("No difference"), "{few}");
        let same = text("ff_scout", 1., 9);
        assert!(same.contains("Both arms have one control"), "{same}");
        assert!(!same.contains("Both arms share queues"), "{same}");
    }
}
