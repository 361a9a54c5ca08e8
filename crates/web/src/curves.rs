//! Curves over time, column by column, as a picture takes them.

use std::collections::BTreeMap;

use firstflight_results::Series;
use serde::Serialize;

/// A table of numbers by the names of its columns.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Columns(BTreeMap<&'static str, Vec<Option<f64>>>);

impl Columns {
    /// Those of a flow that are drawn.
    pub(crate) fn of_flow(series: &Series) -> Self {
        Self::of(series, OF_FLOW)
    }

    /// Those of a link that are drawn.
    pub(crate) fn of_link(series: &Series) -> Self {
        Self::of(series, OF_LINK)
    }

    fn of(series: &Series, names: &[&'static str]) -> Self {
        let column = |name: &'static str| Some((name, series.column(name)?.collect()));
        Self(names.iter().copied().filter_map(column).collect())
    }
}

const OF_FLOW: &[&str] = &[
    "time_s",
    "cwnd_packets",
    "ssthresh_packets",
    "in_flight_packets",
    "srtt_ms",
    "delivered_packets",
];
const OF_LINK: &[&str] = &["time_s", "queue_packets"];
