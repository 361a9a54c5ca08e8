//! What flows over sockets yielded: the transfers' own results, what the link saw, and both over
//! time.

use std::time::Duration;

use firstflight_lab::link::LinkReport;
use firstflight_lab::{LinkKind, lab_figures};
use firstflight_scenario::measure::{jain_index, throughput_bps};
use firstflight_scenario::series::{FLOW_COLUMNS, QUEUE_COLUMNS};
use firstflight_scenario::{FlowResult, Resolved, RunResult, Series, Startup, TimeToBdp};
use firstflight_transfer::{Record, Sample};

use super::transfer::{Flow, Moved};

/// Everything known about one run.
pub(super) struct Measured<'a> {
    pub(super) resolved: &'a Resolved,
    pub(super) flows: &'a [Flow<'a>],
    pub(super) moved: &'a [Moved],
    pub(super) link: &'a LinkReport,
}

impl Measured<'_> {
    /// The result, without the names of the run.
    pub(super) fn result(&self) -> RunResult {
        let firsts = self.flows.iter().zip(self.moved).map(|(flow, moved)| {
            let results = moved.sent.results(flow.control, env!("CARGO_PKG_VERSION"));
            results.runs.into_iter().next().unwrap_or_default()
        });
        let mut firsts: Vec<RunResult> = firsts.collect();
        let flows = self.moved.iter().zip(&mut firsts).enumerate();
        let flows: Vec<FlowResult> = flows
            .filter_map(|(id, (moved, run))| Some(self.flow(id, moved, run.flows.pop()?)))
            .collect();
        let mut result = firsts.into_iter().next().unwrap_or_default();
        let delivered = flows.iter().map(|flow| flow.delivered_bytes).sum();
        let rates: Vec<f64> = flows.iter().map(|flow| flow.throughput_bps).collect();
        result.duration_s = Duration::from_nanos(self.resolved.duration_ns).as_secs_f64();
        result.total_throughput_bps = throughput_bps(delivered, self.resolved.duration_ns);
        result.jain_index = jain_index(&rates);
        result.flows = flows;
        let way = &self.link.forward;
        result.bottleneck.drops = way.dropped_packets + way.lost_packets;
        result.bottleneck.random_losses = way.lost_packets;
        result.bottleneck.utilization = way.utilization;
        result.bottleneck.peak_queue_packets = way.peak_queue_packets;
        result.bottleneck.mean_queue_packets = way.mean_queue_packets;
        let rtt = self.resolved.flows[0].rtt_ns;
        result.note = self.link.disturbance(rtt);
        result.lab = Some(lab_figures(self.link, LinkKind::Tun, "quinn", rtt));
        result
    }

    fn flow(&self, id: usize, moved: &Moved, sent: FlowResult) -> FlowResult {
        let link = &self.resolved.links[0];
        FlowResult {
            id: id as u64,
            start_s: moved.start.as_secs_f64(),
            utilization: sent.throughput_bps / link.rate_bps as f64,
            // Without a size nothing is complete.
            completion_time_s: sent
                .completion_time_s
                .filter(|_| self.resolved.flows[0].size_bytes.is_some()),
            startup: self.startup(&moved.sent.record, sent.startup.clone()),
            ..sent
        }
    }

    /// With what only who knows the path can say.
    fn startup(&self, record: &Record, startup: Startup) -> Startup {
        let link = &self.resolved.links[0];
        let rtt = link.delay_ns + link.return_delay_ns;
        let bdp = self.resolved.bdp_packets(link.rate_bps, rtt) * self.resolved.packet_bytes;
        let reached = |share: f64| {
            let enough = |sample: &&Sample| sample.in_flight as f64 >= share * bdp as f64;
            Some(record.samples.iter().find(enough)?.after.as_secs_f64())
        };
        let [at_60, at_80, at_90] = [0.6, 0.8, 0.9].map(reached);
        let window = record.exit.as_ref().map(|exit| exit.window as f64);
        Startup {
            exit_window_over_bdp: window.filter(|_| bdp > 0).map(|window| window / bdp as f64),
            time_to_bdp_s: TimeToBdp { at_60, at_80, at_90 },
            ..startup
        }
    }

    /// Each flow's samples, at most about `most` of them.
    pub(super) fn flow_series(&self, most: u32) -> Vec<Series> {
        let series = |(id, moved): (usize, &Moved)| {
            let (record, packet) = (&moved.sent.record, self.resolved.packet_bytes.max(1) as f64);
            let mut series = Series::new(FLOW_COLUMNS.iter().copied());
            let step = record.samples.len().div_ceil(most.max(1) as usize).max(1);
            for sample in record.samples.iter().step_by(step) {
                series.push(&[
                    Some((moved.start + sample.after).as_secs_f64()),
                    Some(id as f64),
                    Some(sample.window as f64 / packet),
                    sample.ssthresh.map(|ssthresh| ssthresh as f64 / packet),
                    Some(sample.in_flight as f64 / packet),
                    Some(sample.srtt.as_secs_f64() * 1e3),
                    Some(sample.delivered as f64 / packet),
                ]);
            }
            series
        };
        self.moved.iter().enumerate().map(series).collect()
    }

    /// The most packets waiting in each interval.
    pub(super) fn queue_series(&self) -> Series {
        let mut series = Series::new(QUEUE_COLUMNS.iter().copied());
        for (at, waiting) in &self.link.forward.depth {
            series.push(&[Some(*at as f64 / 1e9), Some(*waiting as f64)]);
        }
        series
    }
}
