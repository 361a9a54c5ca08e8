//! Samples over time as named columns.

use firstflight_core::units::Bytes;
use firstflight_results::Series;
use firstflight_results::series::{FLOW_COLUMNS, QUEUE_COLUMNS};
use firstflight_sim::{LinkSample, Network, Outcome};

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

/// The columns of packets that a link has carried until the end of an interval, and of their bytes;
/// the simulator alone has them.
const CARRIED: [&str; 2] = ["carried_packets", "carried_bytes"];

/// An ssthresh above this, in bytes, is no threshold.
const UNLIMITED: u64 = 1 << 50;
