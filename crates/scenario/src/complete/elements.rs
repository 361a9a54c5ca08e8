//! What happens to packets on a link: what is written is built, so that what builds is what runs.

use firstflight_control::quantity::{self, Rate, Time};
use firstflight_core::units::{Instant, Span};
use firstflight_link::{
    DelaySchedule, ELEMENTS, Element, Entry, Jitter, RateSchedule, ScheduleProblem, Steps, Uniform,
};
use serde::{Serialize, Serializer};

use super::limits::{HALF_DAY, HOUR, NANOSECOND, SHORTEST};
use super::{Back, Buffer, Completion, Flow, Link, bdp_packets};
use crate::error::ScenarioError;
use crate::scenario::{self, Carded};
use crate::trace::Rates;

/// The elements of a link or of its reverse path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elements {
    /// They as written. Results name these.
    pub written: scenario::Elements,
    /// They as they run, in the order in which packets cross them.
    pub built: Vec<Box<dyn Element>>,
    /// The one of them that is the delay; both directions of a link have one of their own.
    pub delays: Option<DelaySchedule>,
}

impl PartialEq for Elements {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Elements {}

impl Serialize for Elements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written.in_results(serializer)
    }
}

impl Elements {
    /// What a packet of so many bytes takes on the link.
    pub fn on_link(&self, bytes: u64) -> u64 {
        self.built.iter().fold(bytes, |bytes, element| element.frames(bytes))
    }

    /// Rates in bit/s above which it lets only a burst pass, each with the burst in bytes.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.built.iter().filter_map(|element| element.bucket())
    }

    /// Whether packets may overtake each other.
    pub fn reorders(&self) -> bool {
        self.built.iter().any(|element| element.reorders())
    }
}

impl Completion<'_> {
    /// The elements of the link whose table has this name; `delays` are those of the link where
    /// this is its reverse path.
    pub(super) fn elements(
        &self,
        table: &str,
        written: &scenario::Elements,
        delays: Option<&DelaySchedule>,
    ) -> Result<Elements, ScenarioError> {
        let delays = self.delays(table, written)?.or_else(|| delays.cloned());
        let (written, built) = (written.clone(), Vec::new());
        let mut elements = Elements { written, built, delays };
        let mut in_order = ELEMENTS.to_vec();
        in_order.sort_by_key(|entry| entry.place());
        for entry in in_order {
            let written = &elements.written;
            let element = match entry {
                Entry::Card(card) => {
                    let wire = elements.on_link(self.wire_bytes());
                    written.of(card).map(|it| self.carded(table, it, wire)).transpose()?
                }
                Entry::Jitter => {
                    let key = format!("{table}.jitter");
                    written.jitter.as_ref().map(|it| self.jitter(&key, it)).transpose()?.map(boxed)
                }
                Entry::Rates => self.rates(table, written)?,
                Entry::Delays => elements.delays.clone().map(boxed),
            };
            elements.built.extend(element);
        }
        Ok(elements)
    }

    /// An element on a link on which a full packet takes `wire` bytes.
    fn carded(
        &self,
        table: &str,
        written: &Carded,
        wire: u64,
    ) -> Result<Box<dyn Element>, ScenarioError> {
        let place = |value: &str| match value {
            "" => format!("{table}.{}", written.card.key),
            value => format!("{table}.{}.{value}", written.card.key),
        };
        for (value, time) in written.times() {
            self.time(&place(value), time, NANOSECOND..=HOUR)?;
        }
        let built = (written.card.build)(&written.values(), wire);
        built.map_err(|(value, problem)| self.error(&place(value.unwrap_or_default()), problem))
    }

    /// The rates over time, if they are written or traced.
    fn rates(
        &self,
        table: &str,
        written: &scenario::Elements,
    ) -> Result<Option<Box<dyn Element>>, ScenarioError> {
        let keys = (table, "rates", "rate_trace");
        let period = |time| self.time(&format!("{table}.rates_period"), time, SHORTEST..=HOUR);
        let period = written.rates_period.map(period).transpose()?.map(span);
        let Some(trace) = &written.rate_trace else {
            let steps = written.rates.iter().map(|it| (Instant(it.at.ns()), it.rate.bps()));
            let built = Steps::new(steps.collect::<Vec<_>>(), period).and_then(RateSchedule::new);
            return self.scheduled(keys, false, period, built).map(|built| built.map(boxed));
        };
        let own = match trace.content {
            Rates::Opportunities(_) => true,
            Rates::Steps { period_ns: None, .. } => false,
            Rates::Steps { period_ns: Some(own), .. } => {
                let key = format!("{table}.rate_trace");
                self.time(&key, Time::from_ns(own), SHORTEST..=HALF_DAY)?;
                true
            }
        };
        self.one_of(keys, !written.rates.is_empty(), own && period.is_some())?;
        self.scheduled(keys, true, period, trace.content.element(period))
    }

    /// The delays over time, if they are written or traced.
    fn delays(
        &self,
        table: &str,
        written: &scenario::Elements,
    ) -> Result<Option<DelaySchedule>, ScenarioError> {
        let keys = (table, "delays", "delay_trace");
        let mut steps = Vec::new();
        for (i, step) in written.delays.iter().enumerate() {
            let key = format!("{table}.delays[{i}].delay");
            let delay = self.time(&key, step.delay, Time::ZERO..=HOUR)?;
            steps.push((Instant(step.at.ns()), span(delay)));
        }
        let key = format!("{table}.delays_period");
        let period = written.delays_period.map(|time| self.time(&key, time, NANOSECOND..=HOUR));
        let mut period = period.transpose()?.map(span);
        if let Some(trace) = &written.delay_trace {
            let own = trace.content.period_ns.map(Span);
            self.one_of(keys, !steps.is_empty(), own.is_some() && period.is_some())?;
            steps.extend(trace.content.steps.iter().map(|(at, ns)| (Instant(*at), Span(*ns))));
            period = own.or(period);
        }
        let built = Steps::new(steps, period).map(DelaySchedule::new);
        self.scheduled(keys, written.delay_trace.is_some(), period, built)
    }

    /// A link has steps or a trace, and one period.
    fn one_of(
        &self,
        (table, key, trace_key): (&str, &str, &str),
        steps: bool,
        two_periods: bool,
    ) -> Result<(), ScenarioError> {
        if steps {
            let problem =
                format!("a link has either {key} or {trace_key}; accepted: one of the two");
            return Err(self.error(&format!("{table}.{trace_key}"), problem));
        }
        if two_periods {
            let problem = "such a trace begins again at its own end; accepted: none";
            return Err(self.error(&format!("{table}.{key}_period"), problem));
        }
        Ok(())
    }

    /// What has been built of steps or a trace, or what is wrong with them; `None` without any.
    fn scheduled<T>(
        &self,
        (table, key, trace_key): (&str, &str, &str),
        traced: bool,
        period: Option<Span>,
        built: Result<T, ScheduleProblem>,
    ) -> Result<Option<T>, ScenarioError> {
        let steps = if traced { trace_key } else { key };
        let problem = match built {
            Ok(built) => return Ok(Some(built)),
            Err(ScheduleProblem::Empty) if period.is_none() => return Ok(None),
            Err(problem) => problem,
        };
        let of_period = format!("{key}_period");
        let no = |key: &str, text: String| Err(self.error(&format!("{table}.{key}"), text));
        match problem {
            ScheduleProblem::Empty => {
                no(&of_period, format!("no {key} repeat; accepted: `{key}` beside it"))
            }
            ScheduleProblem::Period => {
                no(&of_period, format!("{problem}; accepted: a longer period"))
            }
            ScheduleProblem::Order => {
                no(steps, format!("{problem}; accepted: `at` later than the one before"))
            }
            ScheduleProblem::Zero => no(steps, format!("{problem}; accepted: a rate above none")),
        }
    }

    fn jitter(&self, key: &str, jitter: &scenario::Jitter) -> Result<Jitter, ScenarioError> {
        let time = |time: Time, from: Time| self.time(key, time, from..=HOUR).map(span);
        Ok(match jitter {
            scenario::Jitter::UpTo(most) => Jitter::up_to(time(*most, NANOSECOND)?),
            scenario::Jitter::Uniform(from, until) => Jitter::Uniform(Uniform {
                from: time(*from, Time::ZERO)?.0,
                until: time(*until, NANOSECOND)?.0,
            }),
            scenario::Jitter::Recorded(trace) => {
                Jitter::Recorded(trace.content.iter().copied().map(Span).collect())
            }
            scenario::Jitter::Normal(mean, deviation) => Jitter::Normal {
                mean: time(*mean, Time::ZERO)?,
                deviation: time(*deviation, NANOSECOND)?,
            },
        })
    }

    /// The reverse path over a link of this rate and two-way propagation.
    pub(super) fn back(
        &self,
        table: &str,
        elements: &scenario::Elements,
        (link_rate, rtt): (Rate, Time),
        delays: Option<&DelaySchedule>,
    ) -> Result<Option<Box<Back>>, ScenarioError> {
        let Some(back) = &elements.back else { return Ok(None) };
        let table = format!("{table}.back");
        if let Some((key, why)) = back.elements.not_back() {
            let problem = format!("not of a reverse path: {why}; accepted: without it");
            return Err(self.error(&format!("{table}.{key}"), problem));
        }
        let rate = back.rate.unwrap_or(link_rate);
        let buffer = match back.buffer {
            None => Buffer::Unlimited,
            Some(quantity::Buffer::Packets(packets)) => Buffer::Packets(packets),
            Some(quantity::Buffer::Bytes(bytes)) => Buffer::Bytes(bytes),
            // ACKs have no one size.
            Some(quantity::Buffer::Bdp(milli)) => {
                Buffer::Bytes(bdp_packets(rate, rtt, 1, milli).max(1))
            }
        };
        let elements = self.elements(&table, &back.elements, delays)?;
        let loss = back.loss.unwrap_or_default();
        Ok(Some(Box::new(Back { rate, buffer, loss, elements })))
    }

    /// ACKs cross one link on the reverse path.
    pub(super) fn ways_back(&self, links: &[Link], flows: &[Flow]) -> Result<(), ScenarioError> {
        for flow in flows {
            let own = flow.path.iter().filter(|link| links[**link].elements.written.has_way_back());
            if let Some(second) = own.copied().nth(1) {
                let elements = &links[second].elements.written;
                let key = match (&elements.back, &elements.delay_trace) {
                    (Some(_), _) => "back",
                    (None, Some(_)) => "delay_trace",
                    (None, None) => "delays",
                };
                let problem = "a path has two links with `back` or `delays`; accepted: one of them";
                return Err(self.error(&format!("link[{second}].{key}"), problem));
            }
        }
        Ok(())
    }
}

fn span(time: Time) -> Span {
    Span(time.ns())
}

fn boxed(element: impl Element + 'static) -> Box<dyn Element> {
    Box::new(element)
}
