//! A resolved scenario becomes a network for the simulator.

use firstflight_control::Control;
use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_core::units::{Instant, Span};
use firstflight_link::{Buffer, DelaySchedule, Element, LossSpec, Uniform, stream};
use firstflight_scenario::resolved::{
    Built, Capacity, ResolvedFiles, ResolvedFlow, ResolvedLink, ResolvedUdp,
};
use firstflight_scenario::{Bursts, Loss, Profile, Recovery, Resolved, Timer};
use firstflight_sim::{FilesSpec, FlowSpec, LinkSpec, Network, Pattern, UdpSpec};
use rand_pcg::rand_core::Rng;

use crate::endpoint::{endpoint, own_recovery, syn_bytes};
use crate::{RunError, ns2, ns2_clocks};

/// The network of one run: one control per group of flows.
pub(crate) fn build(
    resolved: &Resolved,
    controls: &[Control],
    sample_every: Option<Span>,
) -> Network {
    let mut flows = Vec::new();
    let capacity = resolved.capacity();
    let phases = clock_phases(resolved, controls);
    for (group, control) in resolved.flows.iter().zip(controls) {
        for _ in 0..group.count {
            let (id, phase) = (flows.len(), phases.get(flows.len()).copied().unwrap_or(Span(0)));
            flows.push(flow((resolved, &capacity), group, control, (id, phase)));
        }
    }
    Network {
        links: resolved.links.iter().map(|link| self::link(resolved, link)).collect(),
        flows,
        udp: resolved.udp.iter().map(udp).collect(),
        duration: Span(resolved.duration_ns),
        seed: resolved.seed,
        ns2_ties: resolved.endpoint.profile == Profile::Ns2,
        sample_every,
    }
}

/// A link of a scenario, with all that happens to packets on it: the simulator's, and any other
/// that has the same models.
pub fn link(resolved: &Resolved, link: &ResolvedLink) -> LinkSpec {
    let Built { elements, delays } = &link.built;
    let wire = link.elements.on_link(resolved.wire_bytes());
    LinkSpec {
        rate_bps: link.rate_bps,
        delay: delays.as_ref().map_or(Span(link.delay_ns), DelaySchedule::least),
        buffer: link.buffer.into(),
        elements: elements.clone(),
        queue: link.queue.as_ref().map(|queue| queue.discipline.build(wire, link.rate_bps)),
        mark_from: link.ecn_threshold_packets,
        in_service_counts: resolved.endpoint.switches.buffer_counts_in_service,
        loss: losses(link.loss),
        drop_nth: link.drop.clone(),
        back: link.elements.has_way_back().then(|| Box::new(back(link))),
    }
}

/// The reverse path of ACKs over a link that has more of it than a delay.
fn back(link: &ResolvedLink) -> LinkSpec {
    let own = link.back.as_deref();
    let delays = link.built.delays.as_ref();
    let of_link = || delays.cloned().map(|it| Box::new(it) as Box<dyn Element>);
    LinkSpec {
        rate_bps: own.map_or(link.rate_bps, |back| back.rate_bps),
        // Without a schedule the reverse path has one delay ([`FlowSpec::return_delay`]).
        delay: delays.map_or(Span(0), DelaySchedule::least),
        buffer: own.and_then(|back| back.buffer).map_or(Buffer::Unlimited, Buffer::from),
        elements: match own {
            Some(back) => back.built.elements.clone(),
            None => of_link().into_iter().collect(),
        },
        mark_from: None,
        in_service_counts: false,
        loss: own.map_or(LossSpec::NONE, |back| losses(back.loss)),
        drop_nth: Vec::new(),
        queue: None,
        back: None,
    }
}

/// Refuses what the simulator's own ends cannot have on the path of such a flow.
pub(crate) fn bears(
    resolved: &Resolved,
    flow: &ResolvedFlow,
    control: &Control,
) -> Result<(), RunError> {
    let own = own_recovery(resolved.endpoint.profile, control);
    let quic = flow.recovery.or_own(own) == Recovery::Quic;
    let no = |key: &str, link: &ResolvedLink, why: &str| {
        let name = &link.name;
        Err(RunError::Input(format!(
            "`{key}` of link {name}: {why}; accepted: `--on quic`, or TCP"
        )))
    };
    for link in flow.path.iter().map(|link| &resolved.links[*link]) {
        if link.elements.reorder.is_some() && flow.reverse {
            return no("reorder", link, "ACKs of flows with `reverse` keep their order");
        }
        if link.elements.reorder.is_some() && (quic || flow.files.is_some()) {
            return no(
                "reorder",
                link,
                "QUIC's recovery and `files` here know packets in order only",
            );
        }
        if quic && (flow.reverse || link.back.as_ref().is_some_and(|back| back.may_lose())) {
            return no("back", link, "ACKs of QUIC's recovery here are never lost");
        }
    }
    Ok(())
}

/// How a link loses packets at random: the simulator's, and any other that asks the same chain.
pub fn losses(loss: Loss) -> LossSpec {
    match loss {
        Loss::Independent(share) => LossSpec::independent(share.ppb()),
        Loss::Bursts(Bursts { to_bad, to_good, in_good, in_bad }) => LossSpec {
            to_bad_ppb: to_bad.ppb(),
            to_good_ppb: to_good.ppb(),
            in_good_ppb: in_good.ppb(),
            in_bad_ppb: in_bad.ppb(),
        },
    }
}

/// The control for the simulator, where pairs of the core's policies can be the faster.
fn simulated(control: &Control) -> firstflight_sim::Control {
    match (&control.startup, &control.avoidance) {
        (ChosenStartup::Core(startup), ChosenAvoidance::Core(avoidance)) => {
            firstflight_sim::core_control(startup.clone(), avoidance.clone())
        }
        (startup, avoidance) => firstflight_sim::control(startup.clone(), avoidance.clone()),
    }
}

/// When within a tick the clocks of ns-2's timers tick; none with others.
fn clock_phases(resolved: &Resolved, controls: &[Control]) -> Vec<Span> {
    let profile = resolved.endpoint.profile;
    if resolved.endpoint.switches.timer != Timer::Ns2 {
        return Vec::new();
    }
    let groups = resolved.flows.iter().zip(controls);
    let own = Span(resolved.endpoint.switches.rto_granularity.ns());
    let agents = groups.flat_map(|(group, control)| {
        let recovery = group.recovery.or_own(own_recovery(profile, control));
        let tick = if recovery == Recovery::Ns2Linux { ns2_clocks::LINUX_AT_START } else { own };
        let agent = ns2_clocks::Agent { vegas: control.startup_name == "vegas", tick };
        (0..group.count).map(move |_| agent)
    });
    ns2_clocks::phases(&agents.collect::<Vec<_>>())
}

fn flow(
    (resolved, capacity): (&Resolved, &Capacity),
    group: &ResolvedFlow,
    control: &Control,
    (id, phase): (usize, Span),
) -> FlowSpec {
    let start = start(resolved.seed, group, id as u64);
    let lifetime_end = group.lifetime_ns.map(|lifetime| start.saturating_add(lifetime));
    let bottleneck_index = resolved.slowest(&group.path);
    let bottleneck = &resolved.links[bottleneck_index];
    let sum = |part: fn(&ResolvedLink) -> u64| -> u64 {
        group.path.iter().map(|index| part(&resolved.links[*index])).sum()
    };
    // A schedule of delays is the reverse path's own.
    let own_return_delay = |link: &ResolvedLink| {
        if link.elements.has_delays() { 0 } else { link.return_delay_ns }
    };
    let (path_delay, return_delay) = match group.reverse {
        true => (sum(own_return_delay), 0),
        false => (0, sum(own_return_delay)),
    };
    let endpoint = endpoint(resolved, group, control, phase);
    let data_bytes = resolved.packet_bytes.saturating_sub(endpoint.overhead_bytes).max(1);
    let in_packets = |bytes: u64| u32::try_from(bytes.div_ceil(data_bytes)).unwrap_or(u32::MAX);
    let mut writes = group.each_write().map(|(at, bytes)| (Span(at), in_packets(bytes)));
    let first = writes.next().map(|(_, packets)| packets);
    FlowSpec {
        control: simulated(control),
        endpoint,
        path: group.data_path.clone(),
        path_delay: Span(path_delay),
        access_rate_bps: group.access_rate_bps,
        access_delay: Span(group.access_delay_ns),
        return_delay: Span(return_delay),
        return_rate_bps: bottleneck.rate_bps,
        return_path: return_path(resolved, group, bottleneck_index),
        payload_bytes: resolved.packet_bytes,
        header_bytes: resolved.header_bytes,
        syn_bytes: syn_bytes(resolved, group, control),
        start: Instant(start),
        stop: group.stop_ns.or(lifetime_end).map(Instant),
        packets: first.or(group.size_bytes.map(in_packets)),
        writes: writes.collect(),
        receiver_window_until: group.receiver_window_until_ns.map(Span),
        handshake_delay: Span(group.handshake_delay_ns.unwrap_or(0)),
        files: group.files.map(files),
        bdp_bytes: (!capacity.changes(&group.data_path)).then(|| {
            resolved.bdp_bytes(&group.data_path, flow_bps(resolved, capacity, group, (0, u64::MAX)))
        }),
    }
}

/// The links that ACKs cross: those of the path, where data goes the other way; else the other
/// direction of the one that has more of it than a delay, or as in ns-2 of the bottleneck.
fn return_path(resolved: &Resolved, group: &ResolvedFlow, bottleneck: usize) -> Vec<usize> {
    if group.reverse {
        return group.path.clone();
    }
    let has_way_back = |link: &&usize| resolved.links[**link].elements.has_way_back();
    let way_back = group.path.iter().find(has_way_back).copied();
    let link = way_back.or(ns2::acks_queue(resolved, group).then_some(bottleneck));
    link.map(|link| resolved.links.len() + link).into_iter().collect()
}

/// The mean rate that a flow's path, its access links among it, lets pass between two times.
pub(crate) fn flow_bps(
    resolved: &Resolved,
    capacity: &Capacity,
    group: &ResolvedFlow,
    (from, until): (u64, u64),
) -> u64 {
    let until = until.min(resolved.duration_ns);
    capacity.mean_bps(&group.data_path, from, until).min(group.access_rate_bps)
}

/// What a source of files is to send.
pub fn files(files: ResolvedFiles) -> FilesSpec {
    let (size, pause) = (files.size_from_bytes, files.pause_from_ns);
    FilesSpec {
        bytes: Uniform { from: size, until: files.size_until_bytes },
        pause_ns: Uniform { from: pause, until: files.pause_until_ns },
        keep_alive: files.keep_alive,
    }
}

fn udp(source: &ResolvedUdp) -> UdpSpec {
    UdpSpec {
        path: source.path.clone(),
        rate_bps: source.rate_bps,
        pattern: match source.on_off_ns {
            Some([on, off]) => Pattern::OnOff { on: Span(on), off: Span(off) },
            None if source.poisson => Pattern::Poisson,
            None => Pattern::Constant,
        },
        packet_bytes: source.packet_bytes,
        start: Instant(source.start_ns),
        stop: Some(Instant(source.stop_ns)),
    }
}

/// When a flow starts, ns: drawn from the group's span, plus its jitter, from a stream that only
/// this flow uses.
pub fn start(seed: u64, group: &ResolvedFlow, id: u64) -> u64 {
    let mut rng = stream(seed, START_STREAM + id);
    let span = group.start_until_ns.saturating_sub(group.start_from_ns);
    let spread = below(&mut rng, span);
    group.start_from_ns + spread + below(&mut rng, group.start_jitter_ns)
}

/// Uniform from 0 to `limit`, `limit` excluded unless it is 0.
fn below(rng: &mut impl Rng, limit: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(limit)) >> 64) as u64
}

/// Streams of flow starts begin here; below are the links'.
const START_STREAM: u64 = 1 << 32;
