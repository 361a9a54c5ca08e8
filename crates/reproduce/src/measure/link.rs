//! Measures of the first link of a run, from its samples.

use firstflight_results::Series;
use firstflight_results::statistics::ratio;

use super::{Query, RunOnPath};
use crate::samples;

/// The rate that entered the link within the period, in kbit/s; `None` where no link was sampled.
pub(super) fn rate_kbps(measured: RunOnPath<'_>, query: &Query<'_>) -> Option<f64> {
    let link = measured.run.queues.first()?;
    let from = query.from.unwrap_or(0.0);
    let until = query.until.unwrap_or(measured.run.result.duration_s);
    let bytes = carried_by(link, until)? - carried_by(link, from)?;
    Some(ratio(bytes * 8.0 / 1e3, until - from))
}

/// Bytes that entered a link before `time`, which is the end of an interval of its samples.
pub(crate) fn carried_by(link: &Series, time: f64) -> Option<f64> {
    let rows = samples::column(link, "time_s")?.zip(samples::column(link, "carried_bytes")?);
    // A sample is named after the beginning of its interval.
    let before = rows.take_while(|(at, _)| at.is_some_and(|at| at < time - ROUNDING_S));
    Some(before.last().and_then(|(_, bytes)| bytes).unwrap_or(0.0))
}

/// Seconds by which two times may differ and count as equal: less than an interval of samples, and
/// more than the rounding of a time.
const ROUNDING_S: f64 = 1e-9;
