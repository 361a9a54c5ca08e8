//! Measures the outcome of a run, in the schema that all transports share.

use std::time::Duration;

use firstflight_control::Control;
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant};
use firstflight_results::statistics::{distinct, mean_and_error, ratio, seconds};
use firstflight_results::{Bottleneck, FilesResult, FlowResult, Flown, Left, RunResult};
use firstflight_scenario::resolved::{Capacity, ResolvedFlow};
use firstflight_scenario::{Plan, Resolved};
use firstflight_sim::{FileOutcome, FlowOutcome, FlowSpec, Network, Outcome};

use crate::network::flow_bps;

/// The result of one run.
pub(crate) fn result(
    resolved: &Resolved,
    plan: &Plan,
    controls: &[Control],
    network: &Network,
    outcome: &Outcome,
    wall: Duration,
) -> RunResult {
    let owners = resolved.flows.iter().zip(controls);
    let owners = owners.flat_map(|owner| std::iter::repeat_n(owner, owner.0.count as usize));
    let capacity = resolved.capacity();
    let flows: Vec<FlowResult> = owners
        .zip(network.flows.iter().zip(&outcome.flows))
        .enumerate()
        .map(|(id, (owner, flow))| flow_result(id, (resolved, &capacity), owner, flow))
        .collect();
    RunResult {
        control: distinct(controls.iter().map(|control| control.full.as_str())),
        alias: plan.name.clone(),
        preset: distinct(controls.iter().map(|c| c.preset.as_str()).filter(|p| !p.is_empty())),
        transport: "sim".to_owned(),
        profile: resolved.endpoint.profile.to_string(),
        seed: resolved.seed,
        utilization: resolved.utilization(&flows),
        bottleneck: bottleneck(resolved, outcome),
        note: failures(outcome),
        ..RunResult::of_flows(flows, resolved.duration_ns, (wall, outcome.events))
    }
}

/// Flows that ended before their time, and why.
fn failures(outcome: &Outcome) -> Option<String> {
    let flows = outcome.flows.iter().enumerate();
    let broken = flows.filter_map(|(id, flow)| Some((id, flow.failure.as_ref()?)));
    let texts: Vec<String> = broken.map(|(id, why)| format!("flow {id} broke: {why}")).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// The measured period of a flow is its own: from its start until it stops, completes, or the run
/// ends.
fn flow_result(
    id: usize,
    (resolved, capacity): (&Resolved, &Capacity),
    (group, control): (&ResolvedFlow, &Control),
    (spec, flow): (&FlowSpec, &FlowOutcome),
) -> FlowResult {
    let start = spec.start.0;
    let end = resolved.duration_ns.min(spec.stop.map_or(u64::MAX, |stop| stop.0));
    let end = end.min(flow.finished_at.map_or(u64::MAX, |at| at.0));
    let bdp = spec.bdp_bytes.unwrap_or_else(|| {
        // What start-up met is the rate until it ended: over a round trip at least, which is what
        // a window is for.
        let over = flow.startup.exit.map_or(end, |exit| exit.at.0);
        let until = over.max(start.saturating_add(group.rtt_ns));
        resolved.bdp_bytes(&spec.path, flow_bps(resolved, capacity, group, (start, until)))
    });
    // A path that holds less than a packet is full before anything is sent: that says nothing.
    let holds_any = bdp >= spec.data_bytes();
    let left = |exit: StartupExit| Left {
        at_ns: exit.at.0,
        why: exit.why.name(),
        cwnd: exit.cwnd.0,
        in_flight: exit.in_flight.0,
        drops_in_round: Some(flow.startup.drops_in_exit_round),
        reductions_next_10_rtt: Some(flow.startup.reductions_next_10_rtt),
    };
    let flown = Flown {
        id,
        control: control.full.clone(),
        start_ns: start,
        period_ns: end.saturating_sub(start),
        finished_ns: flow.finished_at.map(|at| at.0),
        rate_bps: Some(capacity.most_bps(&spec.path, start, end).min(spec.access_rate_bps)),
        bdp_bytes: Some(bdp).filter(|_| holds_any),
        packet_bytes: spec.payload_bytes,
        delivered_bytes: flow.delivered_bytes.0,
        delivered_packets: flow.delivered_packets,
        sent_packets: flow.counts.sent,
        retransmitted_packets: flow.counts.retransmitted,
        fast_retransmits: flow.counts.fast_retransmits,
        timeouts: flow.counts.timeouts,
        peak_cwnd: flow.peak_cwnd.0,
        final_cwnd: flow.final_cwnd.0,
        exit: flow.startup.exit.map(left),
        reached_ns: reached(spec, flow, bdp).map(|at| at.filter(|_| holds_any).map(|at| at.0)),
        reprobes: flow.reprobes,
        files: spec.files.map(|_| files(spec, &flow.files)),
    };
    flown.into()
}

/// When 60, 80 and 90 % of the BDP were in flight for the first time.
fn reached(spec: &FlowSpec, flow: &FlowOutcome, bdp: u64) -> [Option<Instant>; 3] {
    if spec.bdp_bytes.is_some() {
        return flow.startup.time_to_bdp;
    }
    [60, 80, 90].map(|percent| {
        let enough = |(_, flight): &&(Instant, Bytes)| *flight >= Bytes(bdp).scaled(percent, 100);
        flow.flights.iter().find(enough).map(|(at, _)| *at)
    })
}

/// The result of files whose packets carry `packet_bytes`: of each its packets, those sent, and how
/// long it took, ns.
pub fn files_result(packet_bytes: u64, files: &[(u32, u64, u64)]) -> FilesResult {
    let times: Vec<f64> = files.iter().map(|(_, _, time)| seconds(*time)).collect();
    let rate = |((packets, ..), time): (&(u32, u64, u64), &f64)| {
        ratio((u64::from(*packets) * packet_bytes) as f64 * 8.0, *time)
    };
    let rates: Vec<f64> = files.iter().zip(&times).map(rate).collect();
    let (mean_rate, standard_error_bps) = mean_and_error(&rates);
    FilesResult {
        count: files.len() as u64,
        mean_throughput_bps: mean_rate.unwrap_or_default(),
        standard_error_bps,
        mean_time_s: mean_and_error(&times).0.unwrap_or_default(),
        last_time_s: times.last().copied().unwrap_or_default(),
        unique_packets: files.iter().map(|(packets, ..)| u64::from(*packets)).sum(),
        sent_packets: files.iter().map(|(_, sent, _)| sent).sum(),
    }
}

fn files(spec: &FlowSpec, files: &[FileOutcome]) -> FilesResult {
    let of = |file: &FileOutcome| (file.packets, file.sent, file.delivered.since(file.began).0);
    files_result(spec.data_bytes(), &files.iter().map(of).collect::<Vec<_>>())
}

/// The link that lets the least pass, its queue without the packet being sent.
fn bottleneck(resolved: &Resolved, outcome: &Outcome) -> Bottleneck {
    let totals = &outcome.links[resolved.slowest_link()].totals;
    let duration = resolved.duration_ns.max(1) as f64;
    let waiting_ns = totals.held_ns.saturating_sub(u128::from(totals.busy_ns));
    Bottleneck {
        drops: totals.drops + totals.losses,
        random_losses: totals.losses,
        marks: totals.marks,
        utilization: totals.busy_ns as f64 / duration,
        peak_queue_packets: totals.peak_packets.saturating_sub(1),
        mean_queue_packets: waiting_ns as f64 / duration,
    }
}
