//! Samples over time as named columns.

use firstflight_core::units::{Bytes, Span};
use firstflight_results::series::{FLOW_COLUMNS, QUEUE_COLUMNS};
use firstflight_results::{FlowOutcome, Series};
use firstflight_sim::{LinkSample, Network, Outcome};

use crate::{Moment, MomentKind};

/// One table per flow: the common columns, then the policies' own quantities in base units.
pub(crate) fn flows(network: &Network, outcome: &Outcome) -> Vec<Series> {
    let specs = network.flows.iter().zip(&outcome.flows).enumerate();
    specs
        .map(|(id, (spec, flow))| {
            let common = FLOW_COLUMNS.iter().copied();
            let mut series = Series::new(common.chain(flow.gauge_names.iter().copied()));
            let mss = spec.payload_bytes.max(1) as f64;
            let packets = |bytes: Bytes| Some(bytes.0 as f64 / mss);
            for sample in &flow.series {
                let ssthresh = Some(sample.ssthresh).filter(|s| *s < Bytes(UNLIMITED));
                let mut row = vec![
                    Some(sample.at.0 as f64 / 1e9),
                    Some(id as f64),
                    packets(sample.cwnd),
                    ssthresh.and_then(packets),
                    packets(sample.in_flight),
                    Some(sample.srtt.0 as f64 / 1e6),
                    Some(sample.acked_packets as f64),
                ];
                row.extend(sample.gauges.iter().map(|gauge| Some(*gauge as f64)));
                series.push(&row);
            }
            series
        })
        .collect()
}

/// One table per link: the most packets waiting in each interval, and those carried until its end.
pub(crate) fn queues(outcome: &Outcome) -> Vec<Series> {
    let table = |samples: &[LinkSample]| {
        let mut series = Series::new(QUEUE_COLUMNS.iter().copied().chain(CARRIED));
        for LinkSample { at, held, carried, bytes } in samples {
            let waiting = held.saturating_sub(1) as f64;
            let carried = [Some(*carried as f64), Some(*bytes as f64)];
            series.push(&[[Some(at.0 as f64 / 1e9), Some(waiting)], carried].concat());
        }
        series
    };
    outcome.links.iter().map(|link| table(&link.series)).collect()
}

/// When a flow lost packets, timed out and left start-up, in order; losses of one interval are one.
pub(crate) fn moments(flow: &FlowOutcome, every: Span) -> Vec<Moment> {
    let at = |ns: u64, what, count| Moment { time_s: ns as f64 / 1e9, what, count };
    let interval = every.0.max(1);
    let lost = flow.lost_at.chunk_by(|one, next| one.0 / interval == next.0 / interval);
    let lost = lost.map(|lost| at(lost[0].0, MomentKind::Lost, lost.len() as u64));
    let timeouts = flow.series.windows(2).filter_map(|pair| {
        let more = pair[1].timeouts.saturating_sub(pair[0].timeouts);
        (more > 0).then(|| at(pair[1].at.0, MomentKind::Timeout, more))
    });
    let exit = flow.startup.exit.map(|exit| at(exit.at.0, MomentKind::Exit, 1));
    let mut all: Vec<Moment> = lost.chain(timeouts).chain(exit).collect();
    all.sort_by(|one, next| one.time_s.total_cmp(&next.time_s));
    all
}

/// The columns of packets that a link has carried until the end of an interval, and of their bytes;
/// the simulator alone has them.
const CARRIED: [&str; 2] = ["carried_packets", "carried_bytes"];

/// An ssthresh above this, in bytes, is no threshold.
const UNLIMITED: u64 = 1 << 50;

#[cfg(test)]
mod tests {
    use firstflight_core::units::Instant;
    use firstflight_results::FlowSample;

    use super::*;

    #[test]
    fn losses_of_one_interval_are_one_moment_and_a_timeout_is_seen_at_the_next_sample() {
        let sample = |ms: u64, timeouts| FlowSample {
            at: Instant(ms * 1_000_000),
            cwnd: Bytes(1),
            ssthresh: Bytes(1),
            in_flight: Bytes(0),
            srtt: Span(0),
            acked_packets: 0,
            timeouts,
            gauges: Vec::new(),
        };
        let flow = FlowOutcome {
            lost_at: [11, 12, 25].map(|ms| Instant(ms * 1_000_000)).to_vec(),
            series: vec![sample(0, 0), sample(10, 0), sample(20, 1)],
            ..FlowOutcome::default()
        };
        let all = moments(&flow, Span::from_millis(10));
        let all: Vec<_> = all.iter().map(|it| (it.time_s, it.what, it.count)).collect();
        let wanted = [
            (0.011, MomentKind::Lost, 2),
            (0.02, MomentKind::Timeout, 1),
            (0.025, MomentKind::Lost, 1),
        ];
        assert_eq!(all, wanted);
    }
}
