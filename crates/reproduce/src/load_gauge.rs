//! What Load Gauge sees and does, read from samples: expected and achieved rate, and restarts.
//!
//! The achieved rate is the sender's own estimate. RTTmin is the smallest value that the
//! sender itself had for it (`lg_rtt_min`).

use firstflight_report::Series as Line;
use firstflight_results::Series;

use crate::samples;

/// A sender's rates at one moment, Mbit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// The time, in seconds.
    pub time: f64,
    /// The expected rate, cwnd over RTTmin.
    pub expected: f64,
    /// The achieved rate RE.
    pub achieved: f64,
    /// ssthresh over RTTmin; `None` while there is no ssthresh.
    pub initial: Option<f64>,
}

/// The rates over time; empty where the control has no Load Gauge.
pub(crate) fn rates(trace: &Series, packet_bytes: u64) -> Vec<Rates> {
    // What the sender takes for RTTmin, which may be coarse.
    let smallest = samples::column(trace, "lg_rtt_min")
        .map(|rtt| rtt.flatten().filter(|rtt| *rtt > 0.0).fold(f64::INFINITY, f64::min) / 1e6);
    let columns = ["time_s", "cwnd_packets", "ssthresh_packets", "lg_re"];
    let [Some(times), Some(cwnd), Some(ssthresh), Some(achieved)] =
        columns.map(|name| samples::column(trace, name))
    else {
        return Vec::new();
    };
    let per_packet = packet_bytes as f64 * 8.0 / 1e3 / smallest.unwrap_or(f64::INFINITY);
    let rows = times.zip(cwnd).zip(ssthresh).zip(achieved);
    rows.filter_map(|(((time, cwnd), ssthresh), achieved)| {
        Some(Rates {
            time: time?,
            expected: cwnd? * per_packet,
            achieved: achieved? * 8.0 / 1e6,
            initial: ssthresh.map(|ssthresh| ssthresh * per_packet),
        })
    })
    .collect()
}

/// The rates as curves, up to `until` seconds.
pub(crate) fn lines(name: &str, trace: &Series, packet_bytes: u64, until: f64) -> Vec<Line> {
    let rates = rates(trace, packet_bytes);
    let shown = || rates.iter().take_while(|rates| rates.time <= until);
    let line = |what: &str, value: fn(&Rates) -> f64| {
        Line::line(format!("{name}: {what}"), shown().map(|r| (r.time, value(r))).collect())
    };
    vec![
        line("cwnd/RTTmin", |rates| rates.expected),
        line("RE", |rates| rates.achieved),
        line("ssthresh/RTTmin", |rates| rates.initial.unwrap_or(f64::NAN)),
    ]
}

/// The slope of the least-squares line through the achieved rates, in Mbit/s per second.
pub(crate) fn slope(rates: &[Rates]) -> Option<f64> {
    let count = rates.len() as f64;
    let (time, rate) = rates.iter().fold((0.0, 0.0), |sum, rates| {
        (sum.0 + rates.time / count, sum.1 + rates.achieved / count)
    });
    let (above, below) = rates.iter().fold((0.0, 0.0), |sum, rates| {
        let off = rates.time - time;
        (sum.0 + off * (rates.achieved - rate), sum.1 + off * off)
    });
    (below > 0.0).then(|| above / below)
}

/// The first moment in a period at which Load Gauge had restarted once more than at its beginning.
pub(crate) fn restart(trace: &Series, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let rows = samples::column(trace, "time_s")?.zip(samples::column(trace, "lg_restarts")?);
    let mut rows = rows.filter_map(|(time, count)| Some((time?, count?)));
    let (_, before) = rows.find(|(time, _)| holds(*time))?;
    rows.take_while(|(time, _)| holds(*time)).find(|(_, count)| *count > before).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000-byte packets, RTT 100 ms: a packet per RTT is 0.08 Mbit/s, as are 10,000 bytes per
    /// second.
    fn trace() -> Series {
        let mut series = Series::new([
            "time_s",
            "cwnd_packets",
            "ssthresh_packets",
            "lg_rtt_min",
            "lg_re",
            "lg_restarts",
        ]);
        let rows = [
            [0.0, 10.0, 8.0, 0.0, 0.0, 0.0],
            [1.0, 20.0, 8.0, 100e6, 100_000.0, 0.0],
            [2.0, 30.0, 8.0, 100e6, 200_000.0, 1.0],
            [3.0, 40.0, 8.0, 100e6, 300_000.0, 2.0],
        ];
        rows.iter().for_each(|row| series.push(&row.map(Some)));
        series
    }

    #[test]
    fn rates_are_windows_over_the_smallest_rtt() {
        let rates = rates(&trace(), 1000);
        let near = |found: f64, by_hand: f64| assert!((found - by_hand).abs() < 1e-9, "{found}");
        near(rates[1].expected, 1.6);
        near(rates[2].expected, 2.4);
        near(rates[2].achieved, 1.6);
        near(rates[3].initial.unwrap(), 0.64);
        near(slope(&rates).unwrap(), 0.8);
        assert_eq!(slope(&rates[..1]), None);
    }

    #[test]
    fn a_restart_is_the_first_rise_of_the_count_within_the_period() {
        assert_eq!(restart(&trace(), |_| true), Some(2.0));
        assert_eq!(restart(&trace(), |time| time >= 2.0), Some(3.0));
        assert_eq!(restart(&trace(), |time| time >= 3.0), None);
    }
}
