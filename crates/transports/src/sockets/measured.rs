//! What flows over sockets yielded: the transfers' own results, what the link saw, and both over
//! time.

use std::time::Duration;

use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Instant, Span};
use firstflight_lab::link::LinkReport;
use firstflight_lab::{LinkKind, lab_figures};
use firstflight_results::series::FLOW_COLUMNS;
use firstflight_results::{FlowContext, FlowResult, RunResult, Series};
use firstflight_scenario::{Complete, Size};
use firstflight_transfer::Sample;

use super::transfer::{SocketFlow, Transferred};

/// Everything known about one run.
pub(super) struct SocketRun<'a> {
    pub(super) complete: &'a Complete,
    pub(super) flows: &'a [SocketFlow<'a>],
    pub(super) transferred: &'a [Transferred],
    pub(super) link: &'a LinkReport,
}

impl SocketRun<'_> {
    /// The result, without the names of the run.
    pub(super) fn result(&self) -> RunResult {
        let first = self.flows.iter().zip(self.transferred).next();
        let sent = first.and_then(|(flow, transferred)| {
            transferred.sent.results(flow.control, env!("CARGO_PKG_VERSION")).runs.pop()
        });
        let sent = sent.unwrap_or_default();
        let flow = |(id, transferred): (usize, &Transferred)| FlowResult {
            id: id as u64,
            control: sent.control.clone(),
            ..self.flow(transferred)
        };
        let flows = self.transferred.iter().enumerate().map(flow).collect();
        let wall = self
            .transferred
            .iter()
            .map(|transferred| transferred.sent.took)
            .max()
            .unwrap_or_default();
        let mut result = RunResult {
            control: sent.control.clone(),
            preset: sent.preset.clone(),
            transport: sent.transport.clone(),
            profile: sent.profile.clone(),
            ..RunResult::of_flows(flows, self.complete.duration.ns(), (wall, 0))
        };
        result.utilization = self.complete.utilization(&result.flows);
        result.bottleneck = firstflight_lab::bottleneck(&self.link.forward);
        let rtt = self.complete.flows[0].rtt.ns();
        result.note = self.link.disturbance(rtt);
        result.lab = Some(lab_figures(self.link, LinkKind::Tun, "quinn", rtt));
        result
    }

    /// The transfer's own figures, with those that take the path and the clock of the run.
    fn flow(&self, transferred: &Transferred) -> FlowResult {
        let (mut flow, context) = transferred.sent.flow();
        let rate = self.complete.path_bps(&[0]);
        let bdp = self.complete.bdp_bytes(&[0], rate);
        let (start, size) =
            (Span(ns(transferred.start)), self.complete.flows[0].size.map(Size::bytes));
        let reached = |share: f64| {
            let enough = |sample: &&Sample| sample.in_flight as f64 >= share * bdp as f64;
            let first = transferred.sent.record.samples.iter().find(enough)?;
            Some(Instant(ns(first.after)) + start)
        };
        // Without a size nothing is complete.
        flow.finished_at = size.and(flow.finished_at).map(|at| at + start);
        flow.startup.exit = flow.startup.exit.map(|it| StartupExit { at: it.at + start, ..it });
        flow.startup.time_to_bdp = [0.6, 0.8, 0.9].map(reached);
        let start = Instant(start.0);
        let (rate_bps, bdp_bytes) = (Some(rate), Some(bdp).filter(|bdp| *bdp > 0));
        FlowResult::of(&flow, FlowContext { start, rate_bps, bdp_bytes, ..context })
    }

    /// Each flow's samples, at most about `most` of them.
    pub(super) fn flow_series(&self, most: u32) -> Vec<Series> {
        let series = |(id, transferred): (usize, &Transferred)| {
            let (record, packet) =
                (&transferred.sent.record, self.complete.packet.bytes().max(1) as f64);
            let mut series = Series::new(FLOW_COLUMNS.iter().copied());
            let step = record.samples.len().div_ceil(most.max(1) as usize).max(1);
            for sample in record.samples.iter().step_by(step) {
                series.push(&[
                    Some((transferred.start + sample.after).as_secs_f64()),
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
        self.transferred.iter().enumerate().map(series).collect()
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
