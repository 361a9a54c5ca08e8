//! What happens to packets on a link, in base units.

use firstflight_control::quantity::Time;

use super::Resolver;
use super::limits::{HOUR, NANOSECOND};
use crate::error::ScenarioError;
use crate::resolved::{ResolvedElements, ResolvedPolicer, ResolvedRate};
use crate::scenario::Elements;

impl Resolver<'_> {
    /// The elements of the link whose table has this name.
    pub(super) fn elements(
        &self,
        table: &str,
        elements: &Elements,
    ) -> Result<ResolvedElements, ScenarioError> {
        let span = |key: &str, time: Option<Time>| {
            let key = format!("{table}.{key}");
            time.map(|time| self.time(&key, time, NANOSECOND..=HOUR)).transpose()
        };
        let rates = elements.rates.iter();
        let rate = |step: &crate::scenario::RateStep| ResolvedRate {
            at_ns: step.at.ns(),
            rate_bps: step.rate.bps(),
        };
        let resolved = ResolvedElements {
            jitter_ns: span("jitter", elements.jitter)?,
            wifi_ns: span("wifi", elements.wifi)?,
            policer: elements.policer.map(|policer| ResolvedPolicer {
                rate_bps: policer.rate.bps(),
                bucket_bytes: policer.bucket.bytes(),
            }),
            rates: rates.map(rate).collect(),
            rates_period_ns: span("rates_period", elements.rates_period)?,
        };
        let wire = self.wire_bytes();
        if resolved.policer.is_some_and(|policer| policer.bucket_bytes < wire) {
            let problem = format!("it holds no packet of {wire} bytes, so that none would pass");
            let problem = problem + "; accepted: one packet or more";
            return Err(self.error(&format!("{table}.policer.bucket"), problem));
        }
        self.rates(table, &resolved)?;
        Ok(resolved)
    }

    fn rates(&self, table: &str, elements: &ResolvedElements) -> Result<(), ScenarioError> {
        let ResolvedElements { rates, rates_period_ns: period, .. } = elements;
        let no = |key: &str, problem: &str| Err(self.error(&format!("{table}.{key}"), problem));
        let (Some(first), Some(last)) = (rates.first(), rates.last()) else {
            return match period {
                None => Ok(()),
                Some(_) => no("rates_period", "no rates repeat; accepted: `rates` beside it"),
            };
        };
        if first.at_ns > 0 || rates.windows(2).any(|pair| pair[0].at_ns >= pair[1].at_ns) {
            return no(
                "rates",
                "times do not rise from 0s; accepted: `at` later than the one before",
            );
        }
        if rates.iter().all(|step| step.rate_bps == 0) {
            return no("rates", "nothing would ever be sent; accepted: a rate above none");
        }
        if period.is_some_and(|period| last.at_ns >= period) {
            return no("rates_period", "a step is not before its end; accepted: a longer period");
        }
        Ok(())
    }
}
