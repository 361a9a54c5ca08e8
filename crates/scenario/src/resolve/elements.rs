//! What happens to packets on a link: what is written is built, so that what builds is what runs.

use firstflight_control::quantity::{Buffer, Fraction, Time};
use firstflight_core::units::{Instant, Span};
use firstflight_link::{
    DelaySchedule, Element, Framing, Jitter, Policer, RateSchedule, Release, Reorder,
    ScheduleProblem, Steps, Uniform, Wifi,
};

use super::limits::{HALF_DAY, HOUR, NANOSECOND, SHORTEST};
use super::{Resolver, bdp_packets};
use crate::error::ScenarioError;
use crate::resolved::{Built, ResolvedBack, ResolvedBuffer, ResolvedFlow, ResolvedLink};
use crate::scenario::{self, Elements};
use crate::trace::Rates;

impl Resolver<'_> {
    /// The elements of the link whose table has this name, as they run; `delays` are those of the
    /// link where this is its reverse path.
    pub(super) fn built(
        &self,
        table: &str,
        written: &Elements,
        delays: Option<&DelaySchedule>,
    ) -> Result<Built, ScenarioError> {
        let span = |key: &str, time: Option<Time>| {
            let key = format!("{table}.{key}");
            time.map(|time| self.time(&key, time, NANOSECOND..=HOUR).map(Span)).transpose()
        };
        let jitter = written.jitter.as_ref().map(|it| self.jitter(&format!("{table}.jitter"), it));
        let jitter = jitter.transpose()?;
        let wifi = span("wifi", written.wifi)?;
        let framing = written.framing.map(|it| self.framing(table, it)).transpose()?;
        let wire = written.on_link(self.wire_bytes());
        let policer = written.policer.map(|it| self.policer(table, it, wire)).transpose()?;
        let reorder = written.reorder.map(|it| self.reorder(&format!("{table}.reorder"), it));
        let reorder = reorder.transpose()?;
        let release = span("release", written.release)?;
        let rates = self.rates(table, written)?;
        let own_delays = self.delays(table, written)?;
        let delays = own_delays.or_else(|| delays.cloned());
        let mut elements: Vec<Box<dyn Element>> = Vec::new();
        elements.extend(framing.map(boxed));
        elements.extend(policer.map(boxed));
        elements.extend(rates);
        elements.extend(delays.clone().map(boxed));
        elements.extend(wifi.map(|mean| boxed(Wifi::with_mean(mean))));
        elements.extend(jitter.map(boxed));
        elements.extend(reorder.map(boxed));
        elements.extend(release.map(|every| boxed(Release { every })));
        Ok(Built { elements, delays })
    }

    fn framing(&self, table: &str, framing: scenario::Framing) -> Result<Framing, ScenarioError> {
        for (key, size) in [("overhead", framing.overhead), ("mpu", framing.mpu)] {
            self.size(&format!("{table}.framing.{key}"), size.unwrap_or_default(), 0)?;
        }
        let built = framing.built();
        if built == Framing::default() {
            let problem = "it adds nothing; accepted: overhead, mpu or atm";
            return Err(self.error(&format!("{table}.framing"), problem));
        }
        Ok(built)
    }

    /// What takes packets of `wire` bytes.
    fn policer(
        &self,
        table: &str,
        policer: scenario::Policer,
        wire: u64,
    ) -> Result<Policer, ScenarioError> {
        let bucket = policer.bucket.bytes();
        if bucket < wire {
            let problem = format!("it holds no packet of {wire} bytes, so that none would pass");
            let problem = problem + "; accepted: one packet or more";
            return Err(self.error(&format!("{table}.policer.bucket"), problem));
        }
        Ok(Policer::new(policer.rate.bps(), bucket))
    }

    /// The rates over time, if they are written or traced.
    fn rates(
        &self,
        table: &str,
        written: &Elements,
    ) -> Result<Option<Box<dyn Element>>, ScenarioError> {
        let keys = (table, "rates", "rate_trace");
        let period = |time| self.time(&format!("{table}.rates_period"), time, SHORTEST..=HOUR);
        let period = written.rates_period.map(period).transpose()?.map(Span);
        let Some(trace) = &written.rate_trace else {
            let steps = written.rates.iter().map(|it| (Instant(it.at.ns()), it.rate.bps()));
            let built = Steps::new(steps.collect::<Vec<_>>(), period).and_then(RateSchedule::new);
            return self.scheduled(keys, false, period, built).map(|built| built.map(boxed));
        };
        let own = match trace.said {
            Rates::Opportunities(_) => true,
            Rates::Steps { period_ns: None, .. } => false,
            Rates::Steps { period_ns: Some(own), .. } => {
                let key = format!("{table}.rate_trace");
                self.time(&key, Time::from_ns(own), SHORTEST..=HALF_DAY)?;
                true
            }
        };
        self.one_of(keys, !written.rates.is_empty(), own && period.is_some())?;
        self.scheduled(keys, true, period, trace.said.element(period))
    }

    /// The delays over time, if they are written or traced.
    fn delays(
        &self,
        table: &str,
        written: &Elements,
    ) -> Result<Option<DelaySchedule>, ScenarioError> {
        let keys = (table, "delays", "delay_trace");
        let mut steps = Vec::new();
        for (i, step) in written.delays.iter().enumerate() {
            let key = format!("{table}.delays[{i}].delay");
            let delay = self.time(&key, step.delay, Time::ZERO..=HOUR)?;
            steps.push((Instant(step.at.ns()), Span(delay)));
        }
        let key = format!("{table}.delays_period");
        let period = written.delays_period.map(|time| self.time(&key, time, NANOSECOND..=HOUR));
        let mut period = period.transpose()?.map(Span);
        if let Some(trace) = &written.delay_trace {
            let own = trace.said.period_ns.map(Span);
            self.one_of(keys, !steps.is_empty(), own.is_some() && period.is_some())?;
            steps.extend(trace.said.steps.iter().map(|(at, ns)| (Instant(*at), Span(*ns))));
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
        let span = |time: Time, from: Time| self.time(key, time, from..=HOUR);
        Ok(match jitter {
            scenario::Jitter::UpTo(most) => Jitter::up_to(Span(span(*most, NANOSECOND)?)),
            scenario::Jitter::Uniform(from, until) => Jitter::Uniform(Uniform {
                from: span(*from, Time::ZERO)?,
                until: span(*until, NANOSECOND)?,
            }),
            scenario::Jitter::Recorded(trace) => {
                Jitter::Recorded(trace.said.iter().copied().map(Span).collect())
            }
            scenario::Jitter::Normal(mean, deviation) => Jitter::Normal {
                mean: Span(span(*mean, Time::ZERO)?),
                deviation: Span(span(*deviation, NANOSECOND)?),
            },
        })
    }

    fn reorder(&self, key: &str, reorder: scenario::Reorder) -> Result<Reorder, ScenarioError> {
        if reorder.share == Fraction::ZERO {
            let problem = "no packet would be late; accepted: more than 0%";
            return Err(self.error(&format!("{key}.share"), problem));
        }
        let by = self.time(&format!("{key}.by"), reorder.by, NANOSECOND..=HOUR)?;
        Ok(Reorder { share_ppb: reorder.share.ppb(), by: Span(by) })
    }

    /// The reverse path over a link of this rate and two-way propagation.
    pub(super) fn back(
        &self,
        table: &str,
        elements: &Elements,
        (link_bps, rtt_ns): (u64, u64),
        delays: Option<&DelaySchedule>,
    ) -> Result<Option<Box<ResolvedBack>>, ScenarioError> {
        let Some(back) = &elements.back else { return Ok(None) };
        let table = format!("{table}.back");
        if let Some((key, why)) = back.elements.not_back() {
            let problem = format!("not of a reverse path: {why}; accepted: without it");
            return Err(self.error(&format!("{table}.{key}"), problem));
        }
        let rate_bps = back.rate.map_or(link_bps, |rate| rate.bps());
        let buffer = back.buffer.map(|buffer| match buffer {
            Buffer::Packets(packets) => ResolvedBuffer::Packets(packets),
            Buffer::Bytes(bytes) => ResolvedBuffer::Bytes(bytes),
            // ACKs have no one size.
            Buffer::Bdp(milli) => {
                ResolvedBuffer::Bytes(bdp_packets(rate_bps, rtt_ns, 1, milli).max(1))
            }
        });
        let built = self.built(&table, &back.elements, delays)?;
        let (loss, elements) = (back.loss.unwrap_or_default(), back.elements.clone());
        Ok(Some(Box::new(ResolvedBack { rate_bps, buffer, loss, elements, built })))
    }

    /// ACKs cross one link on the reverse path.
    pub(super) fn ways_back(
        &self,
        links: &[ResolvedLink],
        flows: &[ResolvedFlow],
    ) -> Result<(), ScenarioError> {
        for flow in flows {
            let own = flow.path.iter().filter(|link| links[**link].elements.has_way_back());
            if let Some(second) = own.copied().nth(1) {
                let elements = &links[second].elements;
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

fn boxed(element: impl Element + 'static) -> Box<dyn Element> {
    Box::new(element)
}
