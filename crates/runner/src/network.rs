//! A complete scenario becomes a network for the simulator.

use firstflight_control::Control;
use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_core::chosen::KNOWN;
use firstflight_core::units::{Instant, Span};
use firstflight_link::{Buffer, DelaySchedule, Element, LossSpec, Uniform, stream};
use firstflight_scenario::complete::{self, Capacity};
use firstflight_scenario::scenario::Files;
use firstflight_scenario::{Bursts, Complete, Loss, Profile, Recovery, Time, Timer};
use firstflight_sim::{FilesSpec, FlowSpec, LinkSpec, Network, Pattern, UdpSpec};

use crate::endpoint::{endpoint, own_recovery, syn_bytes};
use crate::{RunError, ns2, ns2_clocks};

/// The network of one run: one control per group of flows.
pub(crate) fn build(
    complete: &Complete,
    controls: &[Control],
    sample_every: Option<Span>,
) -> Network {
    let mut flows = Vec::new();
    let capacity = complete.capacity();
    let phases = clock_phases(complete, controls);
    for (group, control) in complete.flows.iter().zip(controls) {
        for _ in 0..group.count {
            let (id, phase) = (flows.len(), phases.get(flows.len()).copied().unwrap_or(Span(0)));
            flows.push(flow((complete, &capacity), group, control, (id, phase)));
        }
    }
    Network {
        links: complete.links.iter().map(|link| self::link(complete, link)).collect(),
        flows,
        udp: complete.udp.iter().map(udp).collect(),
        duration: span(complete.duration),
        seed: complete.seed,
        ns2_ties: complete.endpoint.profile == Profile::Ns2,
        sample_every,
    }
}

/// A link of a scenario, with all that happens to packets on it: the simulator's, and any other
/// that has the same models.
pub fn link(complete: &Complete, link: &complete::Link) -> LinkSpec {
    let delays = &link.elements.delays;
    let wire = link.elements.on_link(complete.wire_bytes());
    LinkSpec {
        rate_bps: link.rate.bps(),
        delay: delays.as_ref().map_or(span(link.delay), DelaySchedule::least),
        buffer: link.buffer,
        elements: link.elements.built.clone(),
        queue: link.queue.as_ref().map(|queue| queue.discipline.build(wire, link.rate.bps())),
        ecn_threshold: link.ecn_threshold,
        buffer_counts_in_service: complete.endpoint.switches.buffer_counts_in_service,
        loss: losses(link.loss),
        drop: link.drop.clone(),
        back: link.elements.written.has_way_back().then(|| Box::new(reverse_link(link))),
    }
}

/// The reverse path of a link on which ACKs meet more than a delay.
fn reverse_link(link: &complete::Link) -> LinkSpec {
    let own = link.back.as_deref();
    let delays = link.elements.delays.as_ref();
    let of_link = || delays.cloned().map(|it| Box::new(it) as Box<dyn Element>);
    LinkSpec {
        // Without a schedule the reverse path has one delay ([`FlowSpec::return_delay`]).
        delay: delays.map_or(Span(0), DelaySchedule::least),
        buffer: own.map_or(Buffer::Unlimited, |back| back.buffer),
        elements: match own {
            Some(back) => back.elements.built.clone(),
            None => of_link().into_iter().collect(),
        },
        loss: own.map_or(LossSpec::NONE, |back| losses(back.loss)),
        ..LinkSpec::open(own.map_or(link.rate, |back| back.rate).bps())
    }
}

/// Refuses what the simulator's own ends cannot have on the path of such a flow.
pub(crate) fn check_path(
    complete: &Complete,
    flow: &complete::Flow,
    control: &Control,
) -> Result<(), RunError> {
    let own = own_recovery(complete.endpoint.profile, control);
    let quic = flow.recovery.or_own(own) == Recovery::Quic;
    let no = |key: &str, link: &complete::Link, why: &str| {
        let name = &link.name;
        Err(RunError::Input(format!(
            "`{key}` of link {name}: {why}; accepted: `--on quic`, or TCP"
        )))
    };
    for link in flow.path.iter().map(|link| &complete.links[*link]) {
        if link.elements.reorders() && flow.reverse {
            return no("reorder", link, "ACKs of flows with `reverse` keep their order");
        }
        if link.elements.reorders() && (quic || flow.files.is_some()) {
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
        (ChosenStartup::Core(startup), ChosenAvoidance::Core(avoidance)) if KNOWN > 0 => {
            firstflight_sim::core_control(startup.clone(), avoidance.clone())
        }
        (startup, avoidance) => firstflight_sim::control(startup.clone(), avoidance.clone()),
    }
}

/// When within a tick the clocks of ns-2's timers tick; none with others.
fn clock_phases(complete: &Complete, controls: &[Control]) -> Vec<Span> {
    let profile = complete.endpoint.profile;
    if complete.endpoint.switches.timer != Timer::Ns2 {
        return Vec::new();
    }
    let groups = complete.flows.iter().zip(controls);
    let own = Span(complete.endpoint.switches.rto_granularity.ns());
    let agents = groups.flat_map(|(group, control)| {
        let recovery = group.recovery.or_own(own_recovery(profile, control));
        let tick = if recovery == Recovery::Ns2Linux { ns2_clocks::LINUX_AT_START } else { own };
        let agent = ns2_clocks::Agent { vegas: control.startup_name == "vegas", tick };
        (0..group.count).map(move |_| agent)
    });
    ns2_clocks::phases(&agents.collect::<Vec<_>>())
}

fn flow(
    (complete, capacity): (&Complete, &Capacity),
    group: &complete::Flow,
    control: &Control,
    (id, phase): (usize, Span),
) -> FlowSpec {
    let start = start(complete.seed, group, id as u64);
    let lifetime_end = group.lifetime.map(Time::ns).map(|lifetime| start.saturating_add(lifetime));
    let bottleneck_index = complete.slowest(&group.path);
    let bottleneck = &complete.links[bottleneck_index];
    let sum = |part: fn(&complete::Link) -> u64| -> u64 {
        group.path.iter().map(|index| part(&complete.links[*index])).sum()
    };
    // A schedule of delays is the reverse path's own.
    let own_return_delay = |link: &complete::Link| {
        if link.elements.delays.is_some() { 0 } else { link.return_delay.ns() }
    };
    let (path_delay, return_delay) = match group.reverse {
        true => (sum(own_return_delay), 0),
        false => (0, sum(own_return_delay)),
    };
    let endpoint = endpoint(complete, group, control, phase);
    let data_bytes = complete.packet.bytes().saturating_sub(endpoint.overhead_bytes).max(1);
    let in_packets = |bytes: u64| u32::try_from(bytes.div_ceil(data_bytes)).unwrap_or(u32::MAX);
    let mut writes = group.each_write().map(|(at, size)| (span(at), in_packets(size.bytes())));
    let first = writes.next().map(|(_, packets)| packets);
    FlowSpec {
        control: simulated(control),
        endpoint,
        path: group.data_path.clone(),
        path_delay: Span(path_delay),
        access_rate_bps: group.access_rate.bps(),
        access_delay: span(group.access_delay),
        return_delay: Span(return_delay),
        return_rate_bps: bottleneck.rate.bps(),
        return_path: return_path(complete, group, bottleneck_index),
        payload_bytes: complete.packet.bytes(),
        header_bytes: complete.headers.bytes(),
        syn_bytes: syn_bytes(complete, group, control),
        start: Instant(start),
        stop: group.stop.map(Time::ns).or(lifetime_end).map(Instant),
        packets: first.or(group.size.map(|size| in_packets(size.bytes()))),
        writes: writes.collect(),
        receiver_window_until: group.receiver_window_until.map(span),
        handshake_delay: group.handshake_delay.map_or(Span(0), span),
        files: group.files.map(files),
        bdp_bytes: (!capacity.changes(&group.data_path)).then(|| {
            complete.bdp_bytes(&group.data_path, flow_bps(complete, capacity, group, (0, u64::MAX)))
        }),
    }
}

/// The links that ACKs cross: those of the path, where data goes the other way; else the reverse
/// direction of the link on which ACKs meet more than a delay, or as in ns-2 of the bottleneck.
fn return_path(complete: &Complete, group: &complete::Flow, bottleneck: usize) -> Vec<usize> {
    if group.reverse {
        return group.path.clone();
    }
    let has_way_back = |link: &&usize| complete.links[**link].elements.written.has_way_back();
    let way_back = group.path.iter().find(has_way_back).copied();
    let link = way_back.or(ns2::acks_queue(complete, group).then_some(bottleneck));
    link.map(|link| complete.links.len() + link).into_iter().collect()
}

/// The mean rate that a flow's path, its access links among it, lets pass between two times.
pub(crate) fn flow_bps(
    complete: &Complete,
    capacity: &Capacity,
    group: &complete::Flow,
    (from, until): (u64, u64),
) -> u64 {
    let until = until.min(complete.duration.ns());
    capacity.mean_bps(&group.data_path, from, until).min(group.access_rate.bps())
}

/// What a source of files is to send.
pub fn files(Files { size, pause, keep_alive, .. }: Files) -> FilesSpec {
    FilesSpec {
        bytes: Uniform { from: size.from.bytes(), until: size.until.bytes() },
        pause_ns: Uniform { from: pause.from.ns(), until: pause.until.ns() },
        keep_alive,
    }
}

fn udp(source: &complete::Udp) -> UdpSpec {
    UdpSpec {
        path: source.path.clone(),
        rate_bps: source.rate.bps(),
        pattern: match source.on_off {
            Some([on, off]) => Pattern::OnOff { on: span(on), off: span(off) },
            None if source.poisson => Pattern::Poisson,
            None => Pattern::Constant,
        },
        packet_bytes: source.packet.bytes(),
        start: Instant(source.start.ns()),
        stop: Some(Instant(source.stop.ns())),
    }
}

/// When a flow starts, ns: drawn from the group's span, plus its jitter, from a stream that only
/// this flow uses.
pub fn start(seed: u64, group: &complete::Flow, id: u64) -> u64 {
    let mut rng = stream(seed, START_STREAM + id);
    let span = group.start_until.ns().saturating_sub(group.start_from.ns());
    let mut below = |end: u64| Uniform { from: 0, until: end.saturating_sub(1) }.draw(&mut rng);
    let spread = below(span);
    group.start_from.ns() + spread + below(group.start_jitter.ns())
}

fn span(time: Time) -> Span {
    Span(time.ns())
}

/// Streams of flow starts begin here; below are the links'.
const START_STREAM: u64 = 1 << 32;
