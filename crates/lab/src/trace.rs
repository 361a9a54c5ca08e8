//! Samples over time as named columns.

use firstflight_results::Series;
use firstflight_results::series::{FLOW_COLUMNS, QUEUE_COLUMNS};

use crate::tcp_info::TcpInfo;

/// What a flow's trace has beyond the common columns.
pub(crate) const TRACE_COLUMNS: &[&str] = &["retransmits", "pacing_rate_bps", "repairing"];

/// A flow's samples, at most about `most` of them. `part`: they come from iperf3, which does not
/// report every column.
pub(crate) fn flow(id: usize, samples: &[(u64, TcpInfo)], most: u32, part: bool) -> Series {
    let whole = |value: f64| Some(value).filter(|_| !part);
    let mut series = Series::new(FLOW_COLUMNS.iter().chain(TRACE_COLUMNS).copied());
    let step = samples.len().div_ceil(most.max(1) as usize).max(1);
    for (at, info) in samples.iter().step_by(step) {
        // The kernel's "no rate" is all ones.
        let pacing = Some(info.pacing_rate).filter(|rate| *rate < u64::MAX / 8);
        series.push(&[
            Some(*at as f64 / 1e9),
            Some(id as f64),
            Some(info.cwnd.into()),
            info.threshold().map(f64::from),
            whole(info.in_flight().into()),
            Some(f64::from(info.rtt_us) / 1e3),
            whole(info.delivered.into()),
            Some(info.total_retrans.into()),
            pacing.and_then(|rate| whole(rate as f64 * 8.0)),
            whole(f64::from(u8::from(info.repairs()))),
        ]);
    }
    series
}

/// The most packets waiting in each interval.
pub fn queue_series(depth: &[(u64, u64)]) -> Series {
    let mut series = Series::new(QUEUE_COLUMNS.iter().copied());
    for (at, waiting) in depth {
        series.push(&[Some(*at as f64 / 1e9), Some(*waiting as f64)]);
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_is_thinned_and_no_threshold_is_no_value() {
        let info = TcpInfo { cwnd: 10, ssthresh: u32::MAX, ..TcpInfo::default() };
        let samples: Vec<_> = (0..1_000).map(|i| (i * 10_000_000, info)).collect();
        let series = flow(3, &samples, 100, false);
        assert_eq!(series.len(), 100);
        assert!(series.column("ssthresh_packets").unwrap().all(|value| value.is_none()));
        assert!(series.column("flow").unwrap().all(|value| value == Some(3.0)));
    }

    #[test]
    fn what_iperf3_does_not_tell_is_no_value() {
        let info = TcpInfo { cwnd: 10, total_retrans: 2, ..TcpInfo::default() };
        let series = flow(0, &[(0, info)], 100, true);
        let value = |name: &str| series.column(name).unwrap().next().unwrap();
        assert_eq!((value("cwnd_packets"), value("retransmits")), (Some(10.0), Some(2.0)));
        let unknown = ["in_flight_packets", "delivered_packets", "pacing_rate_bps", "repairing"];
        assert_eq!(unknown.map(value), [None; 4]);
    }
}
