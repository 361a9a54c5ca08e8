//! Measures the outcome of a run, in the schema that all transports share.

use std::time::Duration;

use firstflight_control::Control;
use firstflight_core::units::{Bytes, Instant};
use firstflight_scenario::measure::{distinct, jain_index, mean_and_error, ratio};
use firstflight_scenario::{
    Bottleneck, Cost, FilesResult, FlowResult, Plan, Resolved, RunResult, Startup, TimeToBdp,
};
use firstflight_sim::{FileOutcome, FlowOutcome, FlowSpec, Network, Outcome};

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
    let owners = owners.flat_map(|(group, c)| std::iter::repeat_n(c, group.count as usize));
    let flows: Vec<FlowResult> = owners
        .zip(network.flows.iter().zip(&outcome.flows))
        .enumerate()
        .map(|(id, (control, (spec, flow)))| flow_result(id, resolved, control, spec, flow))
        .collect();
    let duration_s = seconds(resolved.duration_ns);
    let delivered: u64 = flows.iter().map(|flow| flow.delivered_bytes).sum();
    let packets: u64 = flows.iter().map(|flow| flow.delivered_packets).sum();
    let rates: Vec<f64> = flows.iter().map(|flow| flow.throughput_bps).collect();
    RunResult {
        control: distinct(controls.iter().map(|control| control.full.as_str())),
        alias: plan.name.clone(),
        preset: distinct(controls.iter().map(|c| c.preset.as_str()).filter(|p| !p.is_empty())),
        transport: "sim".to_owned(),
        profile: resolved.endpoint.profile.to_string(),
        seed: resolved.seed,
        duration_s,
        bottleneck: bottleneck(resolved, outcome),
        total_throughput_bps: delivered as f64 * 8.0 / duration_s,
        jain_index: jain_index(&rates),
        cost: Cost {
            wall_s: wall.as_secs_f64(),
            events: outcome.events,
            delivered_packets_per_s: packets as f64 / wall.as_secs_f64().max(f64::MIN_POSITIVE),
        },
        note: failures(outcome),
        lab: None,
        flows,
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
    resolved: &Resolved,
    control: &Control,
    spec: &FlowSpec,
    flow: &FlowOutcome,
) -> FlowResult {
    let start = spec.start.0;
    let end = resolved.duration_ns.min(spec.stop.map_or(u64::MAX, |stop| stop.0));
    let end = end.min(flow.finished_at.map_or(u64::MAX, |at| at.0));
    let period_s = seconds(end.saturating_sub(start));
    let rate = resolved.links[resolved.bottleneck(&spec.path)].rate_bps;
    let throughput_bps =
        if period_s > 0.0 { flow.delivered_bytes.0 as f64 * 8.0 / period_s } else { 0.0 };
    FlowResult {
        id: id as u64,
        control: control.full.clone(),
        start_s: seconds(start),
        throughput_bps,
        utilization: throughput_bps / rate.max(1) as f64,
        delivered_bytes: flow.delivered_bytes.0,
        delivered_packets: flow.delivered_packets,
        sent_packets: flow.counts.sent,
        retransmitted_packets: flow.counts.retransmitted,
        fast_retransmits: flow.counts.fast_retransmits,
        timeouts: flow.counts.timeouts,
        completion_time_s: flow.finished_at.map(|at| seconds(at.since(spec.start).0)),
        peak_cwnd_packets: packets(flow.peak_cwnd, spec),
        final_cwnd_packets: packets(flow.final_cwnd, spec),
        startup: startup(spec, flow),
        files: spec.files.map(|_| files(spec, &flow.files)),
    }
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

fn startup(spec: &FlowSpec, flow: &FlowOutcome) -> Startup {
    let since_start = |at: Instant| seconds(at.since(spec.start).0);
    // A path that holds less than a packet is full before anything is sent: that says nothing.
    let holds_any = spec.bdp_bytes >= spec.data_bytes();
    let reached = |at: Option<Instant>| at.filter(|_| holds_any).map(since_start);
    let [at_60, at_80, at_90] = flow.startup.time_to_bdp.map(reached);
    let time_to_bdp_s = TimeToBdp { at_60, at_80, at_90 };
    let reprobes = flow.reprobes;
    let Some(exit) = flow.startup.exit else {
        return Startup { time_to_bdp_s, reprobes, ..Startup::default() };
    };
    let ratio = |part: Bytes, whole: u64| part.0 as f64 / whole.max(1) as f64;
    Startup {
        exit_time_s: Some(since_start(exit.at)),
        exit_reason: Some(exit.why.name().to_owned()),
        exit_cwnd_packets: Some(packets(exit.cwnd, spec)),
        exit_window_over_bdp: Some(ratio(exit.cwnd, spec.bdp_bytes)),
        inflight_over_window_at_exit: Some(ratio(exit.in_flight, exit.cwnd.0)),
        drops_in_exit_round: Some(flow.startup.drops_in_exit_round),
        reductions_next_10_rtt: Some(flow.startup.reductions_next_10_rtt),
        time_to_bdp_s,
        reprobes,
    }
}

/// The slowest link, its queue without the packet being sent.
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

fn packets(bytes: Bytes, spec: &FlowSpec) -> u64 {
    bytes.0 / spec.payload_bytes.max(1)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
