//! Measures the outcome of a run, in the schema that all transports share.

use std::time::Duration;

use firstflight_control::Control;
use firstflight_core::units::Instant;
use firstflight_results::statistics::distinct;
use firstflight_results::{
    Bottleneck, FilesResult, FlowContext, FlowOutcome, FlowResult, RunResult,
};
use firstflight_scenario::complete;
use firstflight_scenario::complete::Capacity;
use firstflight_scenario::{Complete, Plan};
use firstflight_sim::{FlowSpec, Network, Outcome};

use crate::network::flow_bps;

/// The result of one run.
pub(crate) fn result(
    complete: &Complete,
    plan: &Plan,
    controls: &[Control],
    network: &Network,
    outcome: &Outcome,
    wall: Duration,
) -> RunResult {
    let owners = complete.flows.iter().zip(controls);
    let owners = owners.flat_map(|owner| std::iter::repeat_n(owner, owner.0.count as usize));
    let capacity = complete.capacity();
    let flows: Vec<FlowResult> = owners
        .zip(network.flows.iter().zip(&outcome.flows))
        .enumerate()
        .map(|(id, (owner, flow))| flow_result(id, (complete, &capacity), owner, flow))
        .collect();
    RunResult {
        control: distinct(controls.iter().map(|control| control.full.as_str())),
        alias: plan.name.clone(),
        preset: distinct(controls.iter().map(|c| c.preset.as_str()).filter(|p| !p.is_empty())),
        transport: "sim".to_owned(),
        profile: complete.endpoint.profile.to_string(),
        seed: complete.seed,
        utilization: complete.utilization(&flows),
        bottleneck: bottleneck(complete, outcome),
        note: failures(outcome),
        ..RunResult::of_flows(flows, complete.duration.ns(), (wall, outcome.events))
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
    (complete, capacity): (&Complete, &Capacity),
    (group, control): (&complete::Flow, &Control),
    (spec, flow): (&FlowSpec, &FlowOutcome),
) -> FlowResult {
    let start = spec.start.0;
    let end = complete.duration.ns().min(spec.stop.map_or(u64::MAX, |stop| stop.0));
    let end = end.min(flow.finished_at.map_or(u64::MAX, |at| at.0));
    let bdp = spec.bdp_bytes.unwrap_or_else(|| {
        // What start-up met is the rate until it ended: over a round trip at least, which is what
        // a window is for.
        let over = flow.startup.exit.map_or(end, |exit| exit.at.0);
        let until = over.max(start.saturating_add(group.rtt.ns()));
        complete.bdp_bytes(&spec.path, flow_bps(complete, capacity, group, (start, until)))
    });
    let context = FlowContext {
        start: spec.start,
        period: Instant(end).since(spec.start),
        packet_bytes: spec.payload_bytes,
        rate_bps: Some(capacity.most_bps(&spec.path, start, end).min(spec.access_rate_bps)),
        bdp_bytes: Some(bdp).filter(|bdp| *bdp >= spec.data_bytes()),
    };
    FlowResult {
        id: id as u64,
        control: control.full.clone(),
        files: spec.files.map(|_| FilesResult::of(spec.data_bytes(), &flow.files)),
        ..FlowResult::of(flow, context)
    }
}

/// The link that lets the least pass, its queue without the packet being sent.
fn bottleneck(complete: &Complete, outcome: &Outcome) -> Bottleneck {
    let totals = &outcome.links[complete.slowest_link()].totals;
    let duration = complete.duration.ns().max(1) as f64;
    let waiting_ns = totals.held_ns.saturating_sub(u128::from(totals.busy_ns));
    Bottleneck {
        drops: totals.drops + totals.losses,
        random_losses: totals.losses,
        marks: totals.marks,
        utilization: totals.busy_ns as f64 / duration,
        peak_queue_packets: Some(totals.peak_packets.saturating_sub(1)),
        mean_queue_packets: Some(waiting_ns as f64 / duration),
    }
}
