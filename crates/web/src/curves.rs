//! Curves over time, column by column, as a picture takes them.

use firstflight_results::Series;
use serde::{Serialize, Serializer};

/// A table of numbers by the names of its columns.
#[derive(Debug, Default)]
pub(crate) struct Columns(Vec<(&'static str, Vec<Option<f64>>)>);

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

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, column)| (name, column)))
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
