//! What happens to packets on a link, in base units.

use firstflight_control::quantity::{Buffer, Fraction, Time};

use super::limits::{HALF_DAY, HOUR, NANOSECOND, SHORTEST};
use super::{Resolver, bdp_packets};
use crate::error::ScenarioError;
use crate::resolved::{
    ResolvedBack, ResolvedBuffer, ResolvedDelay, ResolvedElements, ResolvedFlow, ResolvedJitter,
    ResolvedLink, ResolvedPolicer, ResolvedRate, ResolvedReorder,
};
use crate::scenario::{Back, DelayStep, Elements, Jitter, RateStep, Reorder};
use crate::trace::{Rates, Trace};

impl Resolver<'_> {
    /// The elements of the link whose table has this name, of this rate and two-way propagation.
    pub(super) fn elements(
        &self,
        table: &str,
        elements: &Elements,
        (rate_bps, rtt_ns): (u64, u64),
    ) -> Result<ResolvedElements, ScenarioError> {
        let span = |key: &str, time: Option<Time>| {
            let key = format!("{table}.{key}");
            time.map(|time| self.time(&key, time, NANOSECOND..=HOUR)).transpose()
        };
        let period = |time| self.time(&format!("{table}.rates_period"), time, SHORTEST..=HOUR);
        let rate =
            |step: &RateStep| ResolvedRate { at_ns: step.at.ns(), rate_bps: step.rate.bps() };
        let delay = |(i, step): (usize, &DelayStep)| {
            let key = format!("{table}.delays[{i}].delay");
            let delay_ns = self.time(&key, step.delay, Time::ZERO..=HOUR)?;
            Ok(ResolvedDelay { at_ns: step.at.ns(), delay_ns })
        };
        let jitter = |jitter: &Jitter| self.jitter(&format!("{table}.jitter"), jitter);
        let reorder = |reorder| self.reorder(&format!("{table}.reorder"), reorder);
        let back = |back: &Back| self.back(&format!("{table}.back"), back, (rate_bps, rtt_ns));
        let resolved = ResolvedElements {
            jitter: elements.jitter.as_ref().map(jitter).transpose()?,
            wifi_ns: span("wifi", elements.wifi)?,
            policer: elements.policer.map(|policer| ResolvedPolicer {
                rate_bps: policer.rate.bps(),
                bucket_bytes: policer.bucket.bytes(),
            }),
            rates: elements.rates.iter().map(rate).collect(),
            rates_period_ns: elements.rates_period.map(period).transpose()?,
            rate_trace: elements.rate_trace.clone(),
            delays: elements.delays.iter().enumerate().map(delay).collect::<Result<_, _>>()?,
            delays_period_ns: span("delays_period", elements.delays_period)?,
            delay_trace: elements.delay_trace.clone(),
            reorder: elements.reorder.map(reorder).transpose()?,
            release_ns: span("release", elements.release)?,
            back: elements.back.as_deref().map(back).transpose()?.map(Box::new),
        };
        let wire = self.wire_bytes();
        if resolved.policer.is_some_and(|policer| policer.bucket_bytes < wire) {
            let problem = format!("it holds no packet of {wire} bytes, so that none would pass");
            let problem = problem + "; accepted: one packet or more";
            return Err(self.error(&format!("{table}.policer.bucket"), problem));
        }
        let rates: Vec<u64> = resolved.rates.iter().map(|step| step.at_ns).collect();
        let trace = resolved.rate_trace.as_ref().map(|trace| match &trace.said {
            Rates::Opportunities(_) => (true, 0),
            Rates::Steps { steps, period_ns } => {
                (period_ns.is_some(), steps.last().map_or(0, |(at, _)| *at))
            }
        });
        if let Some(Trace { said: Rates::Steps { period_ns: Some(own), .. }, .. }) =
            resolved.rate_trace
        {
            self.time(&format!("{table}.rate_trace"), Time::from_ns(own), SHORTEST..=HALF_DAY)?;
        }
        self.schedule((table, "rates", "rate_trace"), &rates, resolved.rates_period_ns, trace)?;
        if !rates.is_empty() && resolved.rates.iter().all(|step| step.rate_bps == 0) {
            let problem = "nothing would ever be sent; accepted: a rate above none";
            return Err(self.error(&format!("{table}.rates"), problem));
        }
        let delays: Vec<u64> = resolved.delays.iter().map(|step| step.at_ns).collect();
        let trace = resolved.delay_trace.as_ref().map(|trace| {
            let last = trace.said.steps.last().map_or(0, |(at, _)| *at);
            (trace.said.period_ns.is_some(), last)
        });
        self.schedule((table, "delays", "delay_trace"), &delays, resolved.delays_period_ns, trace)?;
        Ok(resolved)
    }

    /// Times at which something changes, and after which they begin again; or a trace, which may
    /// begin again by itself, and its last time.
    fn schedule(
        &self,
        (table, key, trace_key): (&str, &str, &str),
        times: &[u64],
        period: Option<u64>,
        trace: Option<(bool, u64)>,
    ) -> Result<(), ScenarioError> {
        let no = |key: &str, problem: &str| Err(self.error(&format!("{table}.{key}"), problem));
        let own_period = format!("{key}_period");
        if let Some((repeats, last)) = trace {
            if !times.is_empty() {
                let problem =
                    format!("a link has either {key} or {trace_key}; accepted: one of the two");
                return no(trace_key, &problem);
            }
            if repeats && period.is_some() {
                return no(&own_period, "such a trace begins again at its own end; accepted: none");
            }
            if period.is_some_and(|period| last >= period) {
                return no(&own_period, "a step is not before its end; accepted: a longer period");
            }
            return Ok(());
        }
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            let problem = format!("no {key} repeat; accepted: `{key}` beside it");
            return period.map_or(Ok(()), |_| no(&own_period, &problem));
        };
        if *first > 0 || times.windows(2).any(|pair| pair[0] >= pair[1]) {
            return no(key, "times do not rise from 0s; accepted: `at` later than the one before");
        }
        if period.is_some_and(|period| *last >= period) {
            return no(&own_period, "a step is not before its end; accepted: a longer period");
        }
        Ok(())
    }

    fn jitter(&self, key: &str, jitter: &Jitter) -> Result<ResolvedJitter, ScenarioError> {
        let span = |time: Time, from: Time| self.time(key, time, from..=HOUR);
        Ok(match jitter {
            Jitter::UpTo(most) => ResolvedJitter::UpTo(span(*most, NANOSECOND)?),
            Jitter::Uniform(from, until) => {
                ResolvedJitter::Uniform([span(*from, Time::ZERO)?, span(*until, NANOSECOND)?])
            }
            Jitter::Recorded(trace) => ResolvedJitter::Recorded(trace.clone()),
            Jitter::Normal(mean, deviation) => {
                ResolvedJitter::Normal([span(*mean, Time::ZERO)?, span(*deviation, NANOSECOND)?])
            }
        })
    }

    fn reorder(&self, key: &str, reorder: Reorder) -> Result<ResolvedReorder, ScenarioError> {
        if reorder.share == Fraction::ZERO {
            let problem = "no packet would be late; accepted: more than 0%";
            return Err(self.error(&format!("{key}.share"), problem));
        }
        let by_ns = self.time(&format!("{key}.by"), reorder.by, NANOSECOND..=HOUR)?;
        Ok(ResolvedReorder { share_ppb: reorder.share.ppb(), by_ns })
    }

    /// The reverse path over a link of this rate and two-way propagation.
    fn back(
        &self,
        table: &str,
        back: &Back,
        (link_bps, rtt_ns): (u64, u64),
    ) -> Result<ResolvedBack, ScenarioError> {
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
        let elements = self.elements(table, &back.elements, (rate_bps, rtt_ns))?;
        Ok(ResolvedBack { rate_bps, buffer, loss: back.loss.unwrap_or_default(), elements })
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
