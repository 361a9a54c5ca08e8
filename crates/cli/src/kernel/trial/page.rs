//! The page of a trial: what was found, and how its intervals went.

use std::path::Path;

use firstflight_kernel::trial::judge::{Finding, MEASURES};
use firstflight_report::{Axis, Figure, Page, Panel, Section, Series, write_dir};

use super::findings::Findings;
use super::history::{History, Look};
use crate::failure::Failure;
use crate::{command_line, output};

/// Writes `report.html`, `figures/`, `data/` and `trial.json` under `out`.
pub(super) fn write(out: &Path, found: &Findings, history: &History) -> Result<(), Failure> {
    write_dir(out, &page(found, history), vec![("trial.json".into(), found.json()?)])?;
    output::note_report(&out.join("report.html"));
    Ok(())
}

pub(super) fn page(found: &Findings, history: &History) -> Page {
    let command = command_line::typed();
    let results = Section::new("results", "What was found").table(found.table());
    let results = found.sentences().into_iter().fold(results, Section::text);
    let mut curves = Section::new("curves", "How it went");
    let figures = [differences(found, history), arms(found, history), share(found, history)];
    let drawn = figures.into_iter().filter(|figure| !figure.panels.is_empty());
    let drawn: Vec<Figure> = drawn.map(|figure| figure.command(&command)).collect();
    if drawn.is_empty() {
        curves = curves.text("Too few connections were told for a picture.");
    }
    let limits = LIMITS.into_iter().fold(Section::new("limits", "What to doubt"), Section::text);
    Page::new(format!("Trial: {} beside {}", found.control, found.against))
        .subtitle(found.title())
        .section(results)
        .section(drawn.into_iter().fold(curves, Section::figure))
        .section(limits)
        .command(command)
        .fact("version", env!("CARGO_PKG_VERSION"))
        .fact("tolerated", format!("{} %", 100. * found.tolerance))
        .fact("to", &found.to)
}

/// A panel for each measure: the difference, and the interval that holds at every time.
fn differences(found: &Findings, history: &History) -> Figure {
    let title = format!("{} over {}, or less it", found.control, found.against);
    let mut figure = Figure::new("differences", title, time()).caption(
        "The intervals hold at every time together: with 98 % none of them ever leaves out what is \
         so. The trial stops as soon as one is worse as a whole than what is tolerated.",
    );
    for at in 0..MEASURES.len() {
        let (scale, unit) = scale(at);
        let curve = |value: fn(&Finding) -> f64| {
            let value = |finding: &Finding| scale(value(finding));
            points(history, |look| look.findings[at].as_ref().map(value))
        };
        let estimate = curve(|it| it.more.mean);
        let Some(((first, _), (last, _))) = estimate.first().copied().zip(estimate.last().copied())
        else {
            continue;
        };
        let none = scale(0.);
        let panel = Panel::new(Axis::new(found.name(at), unit))
            .with(Series::reference("no difference", vec![(first, none), (last, none)]))
            .with(Series::line("interval", curve(|it| it.more.low)))
            .with(Series::line("interval", curve(|it| it.more.high)))
            .with(Series::line("estimate", estimate));
        figure = figure.panel(panel);
    }
    figure
}

/// A panel for each measure: the means of both arms.
fn arms(found: &Findings, history: &History) -> Figure {
    let mut figure = Figure::new("arms", "Means of both arms", time()).caption(
        "Where the arm that is not tried changes with the share of the other, the one takes from \
         the other or gives to it.",
    );
    let tried = format!("{}, tried", found.control);
    for (at, measure) in MEASURES.iter().enumerate() {
        let show = |value: f64| match measure.is_log {
            true => value.exp(),
            false => 100. * value,
        };
        let arm = |value: fn(&Finding) -> f64| {
            points(history, |look| look.findings[at].as_ref().map(|it| show(value(it))))
        };
        let against = arm(|it| it.control);
        if !against.is_empty() {
            let unit = if measure.is_log { measure.unit } else { "%" };
            let panel = Panel::new(Axis::new(found.name(at), unit));
            let panel = panel.with(Series::line(found.against.clone(), against));
            figure = figure.panel(panel.with(Series::line(&tried, arm(|it| it.treated))));
        }
    }
    figure
}

/// The share that was dealt.
fn share(found: &Findings, history: &History) -> Figure {
    let figure = Figure::new("share", "Share of the connections that were told", time());
    let dealt = points(history, |look| Some(100. * look.share));
    let Some(last) = dealt.last().map(|(time, _)| *time) else { return figure };
    let meant = vec![(0., 100. * found.share), (last, 100. * found.share)];
    let panel = Panel::new(Axis::new("in the tried arm", "%"));
    let panel = panel.with(Series::reference("meant", meant));
    figure.panel(panel.with(Series::line("dealt", dealt)))
}

fn points(history: &History, value: impl Fn(&Look) -> Option<f64>) -> Vec<(f64, f64)> {
    let looks = history.looks.iter();
    looks.filter_map(|look| Some((look.after_s, value(look)?))).collect()
}

/// How a difference is shown, and in which unit: a ratio, or points.
fn scale(measure: usize) -> (fn(f64) -> f64, &'static str) {
    match MEASURES[measure].is_log {
        true => (f64::exp, "times"),
        false => (|value| 100. * value, "points"),
    }
}

fn time() -> Axis {
    Axis::new("time", "s")
}

const LIMITS: [&str; 5] = [
    "Interference: both arms share queues. A control that sends more gains from the other arm \
     what it does not gain from the path, and the comparison counts that twice. Try 50 % and \
     95 % of the connections too: the difference, and the mean of the arm that is not tried, \
     stay the same where there is no interference. Dealing by prefix or by time (--by) keeps the \
     arms apart where they share a queue, and takes longer.",
    "Chance: a trial of a control against itself shows how wide the intervals are on this traffic, \
     and that the dealing is right.",
    "Time: the traffic of a night is not that of a day. A benefit counts after a whole day.",
    "Memory: Linux keeps RTT and window of a destination, whichever arm closed last \
     (net.ipv4.tcp_no_metrics_save). A control that remembers paths knows none at first.",
    "Who counts: a connection counts for the arm that it was dealt, also where the kernel refused \
     its control. Those that were still open at the end of the trial and younger than 60 s do not \
     count.",
];

#[cfg(all(test, feature = "kernel"))]
mod tests {
    use std::time::Duration;

    use firstflight_kernel::trial::judge::Outcome;

    use super::*;
    use crate::kernel::trial::connection::Head;
    use crate::kernel::trial::record::tests::plan;

    fn trial(connections: u32) -> (Findings, History) {
        let head = Head::of(&plan(1), 0.02);
        let (mut judge, mut history) = (head.judge(), History::default());
        for number in 0..connections {
            let (treated, prefix) = (number % 20 == 0, number.into());
            let values = [Some(f64::from(number % 7)), None, None, Some(0.01), None, None];
            judge.take(&Outcome { treated, prefix, minute: 0, values });
            history.look(&judge, f64::from(number));
        }
        (Findings::new(&head, &judge, Err(2), Duration::from_secs(9)), history)
    }

    #[test]
    fn the_page_draws_what_was_measured_and_nothing_else() {
        let (found, history) = trial(4_000);
        assert!((200..400).contains(&history.looks.len()), "{}", history.looks.len());
        let page = page(&found, &history);
        let panels: Vec<usize> = page.figures().map(|figure| figure.panels.len()).collect();
        assert_eq!(panels, [2, 2, 1]);
        let differences = page.figures().next().unwrap();
        let [_, low, high, mean] = &differences.panels[0].series[..] else { panic!() };
        let last = [low, mean, high].map(|series| series.points.last().unwrap().1);
        assert!(last.is_sorted() && last[0] < 1. && last[2] > 1., "a ratio: {last:?}");
        let text = firstflight_report::html::render(&page).unwrap();
        assert!(text.contains("For 2 the kernel refused the control of their arm;"));
        assert!(text.contains("Interference: both arms share queues."));
    }

    #[test]
    fn of_too_few_connections_the_page_says_so() {
        let (found, history) = trial(3);
        let text = firstflight_report::html::render(&page(&found, &History::default())).unwrap();
        assert!(text.contains("Too few connections were told for a picture."));
        assert_eq!(page(&found, &history).figures().count(), 1, "the share alone");
    }
}
