//! The report of a judgement: a matrix, a heat map, the plane of time and loss, harm to others,
//! what is dominated, RFC 9743's questions, and a picture per scenario.

use firstflight_report::{Axis, Cell, Column, Figure, Page, Panel, Section, Series, Table, digits};
use firstflight_scenario::Rule;

use crate::judgement::{Judged, Judgement};
use crate::measured::{Curves, Measured};
use crate::overview::{over_slow_start, strip};
use crate::plane::plane;
use crate::questions::topics;
use crate::rules::{REFERENCES, Verdict};

/// The page.
pub fn page(judgement: &Judgement) -> Page {
    let title = format!("{} judged", judgement.control);
    let scenarios = judgement.scenarios.len();
    let page = Page::new(title)
        .subtitle(format!("{scenarios} scenarios on {}; rules in docs/judge.md", judgement.on))
        .section(summary(judgement));
    let page = match plane(judgement) {
        Some(section) => page.section(section),
        None => page,
    };
    let page =
        [reasons(judgement), others(judgement)].into_iter().flatten().fold(page, Page::section);
    let page = page.section(questions(judgement));
    let pictures = judgement.scenarios.iter().filter_map(picture);
    let section = Section::new("pictures", "Scenario by scenario").short("Scenarios").text(
        "The first flow under judgement with the first seed, in colour; the references are dashed \
         and grey behind it.",
    );
    let section = strip(judgement).into_iter().fold(section, Section::static_figure);
    page.section(pictures.fold(section, Section::figure))
        .fact("version", judgement.version)
        .fact("transport", &judgement.on)
        .fact("references", judgement.references.join(", "))
}

/// A row per scenario, a column per rule.
fn summary(judgement: &Judgement) -> Section {
    let rules = Rule::ALL.iter().map(|rule| Column::text(format!("{rule} {}", rule.title())));
    let first = ["scenario", "what"].map(Column::text);
    let numbers = [
        Column::number("completion", "s"),
        Column::number("better HyStart", "s"),
        Column::number("slow start", "s"),
        Column::number("lost", "packets"),
        Column::number("lost by slow start", "packets"),
    ];
    let columns = first.into_iter().chain(rules).chain(numbers);
    let mut table = Table::new("matrix", "Verdicts", columns);
    for judged in &judgement.scenarios {
        let name = match judged.curves.is_empty() {
            true => judged.name.into(),
            false => Cell::figure(figure_id(judged), judged.name),
        };
        let of = |name: &str| judged.references.get(name).copied().unwrap_or_default();
        let [slow_start, hystart, hystart_pp] = REFERENCES.map(of);
        let better = [hystart, hystart_pp].iter().filter_map(|of| of.completion_s).reduce(f64::min);
        let mut row = vec![name, judged.title.as_str().into()];
        row.extend(Rule::ALL.iter().map(|rule| cell(judged, *rule)));
        row.extend([
            number(judged.measured.completion_s, 3),
            number(better, 3),
            number(slow_start.completion_s, 3),
            number(judged.measured.lost_packets, 0),
            number(slow_start.lost_packets, 0),
        ]);
        table.push(row);
    }
    let means = "Numbers are means over the seeds. R5 holds where no reference is as good in time, \
                 loss and queue and better in one.";
    let sums = format!("Of the scenarios that ask a rule: {}.", judgement.sums());
    let section = Section::new("summary", "Summary").text(sums).text(means).table(table);
    section.static_figure(over_slow_start(judgement))
}

/// What does not hold, and by which numbers.
fn reasons(judgement: &Judgement) -> Option<Section> {
    let columns = ["scenario", "rule", "numbers"].map(Column::text);
    let mut table = Table::new(
        "failed",
        "Rules that do not hold, and scenarios not covered or in doubt",
        columns,
    );
    for judged in &judgement.scenarios {
        if let Some(why) = &judged.not_carried {
            table.push([judged.name.into(), "not covered".into(), why.as_str().into()]);
        }
        if let Some(why) = &judged.in_doubt {
            table.push([judged.name.into(), "in doubt".into(), why.as_str().into()]);
        }
        for (rule, why) in &judged.reasons {
            if judged.verdicts.get(rule) == Some(&Verdict::Fail) {
                table.push([judged.name.into(), (*rule).into(), why.as_str().into()]);
            }
        }
    }
    let text = "R5 names the reference that is as good in time, loss and queue and better in one: \
                there the control is Pareto-dominated.";
    let section = Section::new("reasons", "What does not hold").short("What fails").text(text);
    (!table.rows.is_empty()).then(|| section.table(table))
}

/// How the other flows fare, beside the control and beside slow start.
fn others(judgement: &Judgement) -> Option<Section> {
    let columns = [
        Column::text("scenario"),
        Column::text("beside"),
        Column::number("others' share", "%"),
        Column::number("others done after", "s"),
        Column::number("others carried", "packets"),
        Column::number("lost in all", "packets"),
        Column::number("95 % of the queue below", "packets"),
    ];
    let mut table = Table::new("others", "What becomes of the others", columns);
    let safe = |judged: &&Judged| judged.reasons.contains_key(Rule::R3.name());
    for judged in judgement.scenarios.iter().filter(safe) {
        let ours = (&judgement.control, &judged.measured);
        // A control that is a reference, too, has one row.
        let references = judged.references.iter().filter(|(name, _)| **name != judgement.control);
        for (name, measured) in std::iter::once(ours).chain(references) {
            table.push(other(judged, name, measured));
        }
    }
    let section = Section::new("harm", "Harm to others");
    (!table.rows.is_empty()).then(|| section.table(table))
}

fn other(judged: &Judged, name: &str, measured: &Measured) -> Vec<Cell> {
    vec![
        judged.name.into(),
        name.into(),
        number(measured.others_share.map(|share| share * 100.0), 1),
        number(measured.others_completion_s, 3),
        number(measured.others_packets, 0),
        number(measured.lost_packets, 0),
        number(measured.queue_p95_packets, 0),
    ]
}

/// RFC 9743, section by section.
fn questions(judgement: &Judgement) -> Section {
    let columns = ["section of RFC 9743", "asks", "verdict", "evidence"].map(Column::text);
    let mut table = Table::new("rfc9743", "Questions and evidence", columns).apart();
    for topic in topics() {
        let (answer, evidence) = topic.answer(judgement);
        table.push([topic.section.into(), topic.asks.into(), verdict(answer), evidence.into()]);
    }
    let text = "RFC 9743 has questions and no pass marks. A verdict here is that of the rules in \
                the evidence; whether it suffices is for people to say.";
    Section::new("questions", "The questions of RFC 9743").short("RFC 9743").text(text).table(table)
}

/// The window and the queue over time, the references first, so that they are drawn behind.
fn picture(judged: &Judged) -> Option<Figure> {
    let (control, references) = judged.curves.split_first()?;
    let drawn = |curves: fn(&Curves) -> &Vec<(f64, f64)>, y: Axis| {
        let behind = references
            .iter()
            .map(|(name, kept)| Series::reference(name.as_str(), curves(kept).clone()));
        let panel = behind.fold(Panel::new(y), Panel::with);
        panel.with(Series::steps(control.0.as_str(), curves(&control.1).clone()))
    };
    let window = drawn(|curves| &curves.window, Axis::new("cwnd", "packets"));
    let queue = drawn(|curves| &curves.queue, Axis::new("queue", "packets"));
    let asked = judged.reasons.iter().map(|(rule, why)| {
        let verdict = judged.verdicts.get(rule).map_or("n/a", |verdict| verdict.name());
        format!("{rule} {verdict}: {why}.")
    });
    let mut caption: Vec<String> = asked.collect();
    let published = judged.published_s.iter();
    let published: Vec<String> =
        published.map(|(name, time)| format!("{name} {} s", digits(*time, 3))).collect();
    if !published.is_empty() {
        caption.push(format!("Published: {}.", published.join(", ")));
    }
    caption.push(format!("It does not show: {}", judged.shows_not));
    let figure = Figure::new(
        figure_id(judged),
        format!("{}: {}", judged.name, judged.title),
        Axis::new("time", "s"),
    );
    Some(figure.subtitle(&judged.source).caption(caption.join(" ")).panel(window).panel(queue))
}

fn figure_id(judged: &Judged) -> String {
    format!("scenario-{}", judged.name)
}

fn cell(judged: &Judged, rule: Rule) -> Cell {
    verdict(judged.verdicts.get(rule.name()).copied().unwrap_or(Verdict::NotAsked))
}

/// What is not asked leaves its cell blank.
fn verdict(verdict: Verdict) -> Cell {
    match verdict {
        Verdict::Pass => firstflight_report::Verdict::Pass.into(),
        Verdict::Fail => firstflight_report::Verdict::Fail.into(),
        Verdict::NotAsked => "".into(),
    }
}

fn number(value: Option<f64>, decimals: u8) -> Cell {
    Cell::number(value.unwrap_or(f64::NAN), decimals)
}
