//! Figures: windows over time, and measures over the cases of a sweep.

use firstflight_report::{Axis, Figure, Panel, Series};
use firstflight_results as results;
use firstflight_runner::Run;
use firstflight_scenario as scenario;

use crate::check::{Done, Place, Unfinished};
use crate::file::{Line, Plot, Quantity};
use crate::load_gauge;
use crate::measure::{Measure, Query, carried_by};
use crate::paper::{Expanded, ExpandedCase, Paper};
use crate::samples;

impl Plot {
    /// The figure.
    pub(crate) fn figure(
        &self,
        paper: &Paper,
        expanded: &Expanded,
        done: Done<'_>,
    ) -> Result<Figure, Unfinished> {
        let figure = match self.measure {
            Some(measure) => self.over_cases(paper, expanded, measure, done)?,
            None => self.over_time(paper, expanded, done)?,
        };
        let command = format!("firstflight reproduce {}/{}", paper.head.name, expanded.stem);
        let figure = figure.subtitle(self.conditions(expanded));
        Ok(figure.caption(self.caption.trim()).command(command))
    }

    /// The endpoints of the runs it shows, and their path where it is one.
    fn conditions(&self, expanded: &Expanded) -> String {
        let shown = self.variants(expanded).unwrap_or_default();
        let distinct = |say: fn(&scenario::Complete) -> String| {
            let mut all: Vec<String> = shown.iter().map(|(case, _)| say(&case.complete)).collect();
            all.sort();
            all.dedup();
            all
        };
        let path = match &distinct(scenario::Complete::path)[..] {
            [path] => format!("{path}; "),
            _ => String::new(),
        };
        path + &distinct(scenario::Complete::endpoints).join(", or ")
    }

    /// Anchor and file name, unique over all papers.
    pub(crate) fn anchor(&self, paper: &Paper) -> String {
        format!("{}-{}", paper.head.name, self.id)
    }

    /// The runs the figure shows.
    ///
    /// # Errors
    /// A case or control that does not exist, or samples that are not kept; in words.
    pub(crate) fn variants<'a>(&self, expanded: &'a Expanded) -> Result<Vec<Place<'a>>, String> {
        if self.measure.is_some() {
            let shown = |control: &str| {
                self.controls.as_ref().is_none_or(|wanted| wanted.iter().any(|w| w == control))
            };
            let mut all = Vec::new();
            for case in self.cases(expanded)? {
                case.x.ok_or_else(|| format!("case `{}` has no x", case.name))?;
                let shown = case.variants.iter().filter(|variant| shown(&variant.control));
                all.extend(shown.map(|variant| (case, variant)));
            }
            return Ok(all);
        }
        let run = |line: &Line| {
            let case = expanded.case(&line.case)?;
            let variant = case.variant(line.control.as_deref())?;
            if variant.samples.is_none() {
                return Err(format!("case `{}` keeps no samples over time", line.case));
            }
            Ok((case, variant))
        };
        self.lines.iter().map(run).collect()
    }

    fn cases<'a>(&self, expanded: &'a Expanded) -> Result<Vec<&'a ExpandedCase>, String> {
        match &self.cases {
            Some(names) => names.iter().map(|name| expanded.case(name)).collect(),
            None => Ok(expanded.cases.iter().collect()),
        }
    }

    fn over_cases(
        &self,
        paper: &Paper,
        expanded: &Expanded,
        measure: Measure,
        done: Done<'_>,
    ) -> Result<Figure, Unfinished> {
        let (name, unit) = measure.axis();
        let y = self.y.as_ref().map_or(Axis::new(name, unit), |y| Axis::new(&y.name, &y.unit));
        let mut panel = Panel::new(y);
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for (case, variant) in self.variants(expanded).unwrap_or_default() {
            let value = done.value(measure, (case, variant), &Query::default())?;
            let point = (case.x.unwrap_or(f64::NAN), value.unwrap_or(f64::NAN));
            let name = self.names.get(&variant.control).unwrap_or(&variant.control);
            match lines.iter_mut().find(|(known, _)| known == name) {
                Some((_, points)) => points.push(point),
                None => lines.push((name.clone(), vec![point])),
            }
        }
        for (name, mut points) in lines {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            panel = panel.with(Series::line(name, points));
        }
        panel = self.with_published(panel);
        let x = self.x.as_ref().map_or(Axis::new("x", ""), |x| Axis::new(&x.name, &x.unit));
        Ok(Figure::new(self.anchor(paper), &self.title, x).panel(panel))
    }

    /// Adds the published values, dashed.
    fn with_published(&self, panel: Panel) -> Panel {
        self.paper.iter().fold(panel, |panel, published| {
            let (name, points) = (&published.name, published.points.clone());
            // A line through one or two points has no markers, and one point no line.
            let series = match points.len() {
                0..3 => Series::points(name, points),
                _ => Series::reference(name, points),
            };
            panel.with(match &published.like {
                Some(like) => series.like(like),
                None => series,
            })
        })
    }

    fn over_time(
        &self,
        paper: &Paper,
        expanded: &Expanded,
        done: Done<'_>,
    ) -> Result<Figure, Unfinished> {
        let mut runs = Vec::new();
        for (line, (case, variant)) in
            self.lines.iter().zip(self.variants(expanded).unwrap_or_default())
        {
            let run = done.runs(variant)?.into_iter().next().ok_or(Unfinished::Interrupted)?;
            runs.push((line, case, run));
        }
        let longest = runs.iter().map(|(_, _, run)| run.result.duration_s).fold(0.0, f64::max);
        let until = self.until.unwrap_or(longest);
        // The flows of a single line are told apart; those of several share the line's name.
        let numbered = runs.len() == 1;
        let mut figure = Figure::new(self.anchor(paper), &self.title, Axis::new("time", "s"));
        for (index, quantity) in self.panels.iter().enumerate() {
            let (name, unit) = quantity.axis();
            let mut panel = Panel::new(Axis::new(name, unit));
            let mut queues: Vec<(&str, Option<&str>)> = Vec::new();
            for (line, case, run) in &runs {
                // Lines of one run share its queue.
                let of_run = (case.name.as_str(), line.control.as_deref());
                let shared = runs
                    .iter()
                    .filter(|(l, c, _)| (c.name.as_str(), l.control.as_deref()) == of_run);
                let alone = shared.count() == 1 && line.flows.len() < 2;
                if *quantity == Quantity::Queue {
                    if queues.contains(&of_run) {
                        continue;
                    }
                    queues.push(of_run);
                }
                let queue = if alone { line.name.as_str() } else { "bottleneck" };
                for series in quantity.series(line, case, run, Shown { until, queue, numbered }) {
                    panel = panel.with(series);
                }
            }
            if index == 0 {
                panel = self.with_published(panel);
            }
            for mark in self.marks.iter().filter(|_| index == 0) {
                let ends = vec![(0.0, mark.y), (until, mark.y)];
                panel = panel.with(Series::reference(&mark.name, ends));
            }
            figure = figure.panel(panel);
        }
        Ok(figure)
    }
}

/// How a line is shown.
#[derive(Clone, Copy)]
struct Shown<'a> {
    /// The last second shown.
    until: f64,
    /// The name of the run's queue.
    queue: &'a str,
    /// Whether flows of the line are told apart.
    numbered: bool,
}

impl Quantity {
    fn axis(self) -> (&'static str, &'static str) {
        match self {
            Self::Cwnd => ("cwnd", "packets"),
            Self::Ssthresh => ("ssthresh", "packets"),
            Self::InFlight => ("in flight", "packets"),
            Self::Queue => ("queue", "packets"),
            Self::Throughput => ("throughput", "Mbit/s"),
            Self::LinkAverage => ("average of the first link", "kbit/s"),
            Self::Rates => ("rate", "Mbit/s"),
        }
    }

    fn series(self, line: &Line, case: &ExpandedCase, run: &Run, shown: Shown<'_>) -> Vec<Series> {
        let until = shown.until;
        if self == Self::Queue {
            let points = run
                .queues
                .first()
                .map_or(Vec::new(), |queue| points(queue, "queue_packets", until));
            return vec![Series::line(shown.queue, points)];
        }
        if self == Self::LinkAverage {
            let points = run.queues.first().map_or(Vec::new(), |link| averages(link, until));
            return vec![Series::line(&line.name, points)];
        }
        if self == Self::Rates {
            let trace = run.flows.get(line.flows.first().copied().unwrap_or(0));
            let packet_bytes = case.complete.packet.bytes();
            return trace.map_or(Vec::new(), |trace| {
                load_gauge::lines(&line.name, trace, packet_bytes, until)
            });
        }
        let first = [0];
        let flows = if line.flows.is_empty() { &first[..] } else { &line.flows };
        let chosen =
            flows.iter().filter_map(|flow| run.flows.get(*flow).map(|trace| (flow, trace)));
        chosen
            .map(|(flow, trace)| {
                let name = if flows.len() > 1 && shown.numbered {
                    format!("{} {}", line.name, flow + 1)
                } else {
                    line.name.clone()
                };
                let points = match self {
                    Self::Cwnd | Self::Queue | Self::Rates | Self::LinkAverage => {
                        points(trace, "cwnd_packets", until)
                    }
                    Self::Ssthresh => points(trace, "ssthresh_packets", until),
                    Self::InFlight => points(trace, "in_flight_packets", until),
                    Self::Throughput => rates(trace, case.complete.packet.bytes(), until),
                };
                Series::line(name, points)
            })
            .collect()
    }
}

fn points(table: &results::Series, column: &str, until: f64) -> Vec<(f64, f64)> {
    let (Some(times), Some(values)) =
        (samples::column(table, "time_s"), samples::column(table, column))
    else {
        return Vec::new();
    };
    let points = times.zip(values).filter_map(|(time, value)| Some((time?, value)));
    let points = points.take_while(|(time, _)| *time <= until);
    points.map(|(time, value)| (time, value.unwrap_or(f64::NAN))).collect()
}

/// The mean rate from the start to each hundredth of the time shown, in kbit/s.
fn averages(link: &results::Series, until: f64) -> Vec<(f64, f64)> {
    let moments = (1..=100).map(|part| until * f64::from(part) / 100.0);
    let average = |time: f64| {
        let bits = carried_by(link, time)? * 8.0;
        Some((time, bits / 1e3 / time))
    };
    moments.filter_map(average).collect()
}

/// The rate acknowledged in each fiftieth of the time shown, in Mbit/s.
fn rates(trace: &results::Series, packet_bytes: u64, until: f64) -> Vec<(f64, f64)> {
    let acked = points(trace, "delivered_packets", until);
    let step = until / 50.0;
    let mut rates = Vec::new();
    let mut last = (0.0, 0.0);
    for (time, packets) in acked {
        if time - last.0 >= step {
            let bits = (packets - last.1) * packet_bytes as f64 * 8.0;
            rates.push((time, bits / 1e6 / (time - last.0)));
            last = (time, packets);
        }
    }
    rates
}
