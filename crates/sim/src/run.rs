//! Runs a network: takes events in order of time and lets the elements act.
//!
//! A flow takes a fast path where the outcome is the same as on the general path ([`FastPaths`]).

use firstflight_core::units::Instant;
use firstflight_results::FlowOutcome;

use crate::end::End;
use crate::event::queue::Next;
use crate::event::{Event, Kind};
use crate::fast::{Arriving, FastPaths};
use crate::flow::Flow;
use crate::memory::Memory;
use crate::net::{self, Net, Reached};
use crate::network::Network;
use crate::other_stack::{Ends, OtherFlow};
use crate::outcome::Outcome;
use crate::passed::Passed;
use crate::topology::{lay_out, other_path};
use crate::udp::UdpSource;

/// The run was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Runs `network` to its end.
pub fn run(network: &Network) -> Outcome {
    match run_watched(network, FastPaths::On, &mut || true) {
        Ok(outcome) => outcome,
        Err(Interrupted) => unreachable!("nobody stops it"),
    }
}

/// Runs `network` to its end, and asks before the first event and again after every 2^14 events
/// whether to go on.
///
/// # Errors
/// [`Interrupted`] if not.
pub fn run_watched(
    network: &Network,
    fast_paths: FastPaths,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Interrupted> {
    run_with(network, Vec::new(), fast_paths, go_on)
}

/// Runs `network` with flows of another protocol, like [`run_watched`] otherwise: each names a flow
/// of the network by index, whose path and times it takes. An index that is none, or is there
/// twice, has no effect.
///
/// # Errors
/// As of [`run_watched`].
pub fn run_with<'a>(
    network: &'a Network,
    others: Vec<(usize, Box<dyn Ends + 'a>)>,
    fast_paths: FastPaths,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Interrupted> {
    let mut engine = Engine::new(network, others, fast_paths);
    engine.run(&mut |_| go_on())?;
    Ok(engine.outcome())
}

/// Runs `network` like [`run_with`], and keeps what passes the sender of each flow of our TCP. No
/// flow takes a fast path.
///
/// # Errors
/// As of [`run_watched`].
pub fn run_recorded<'a>(
    network: &'a Network,
    others: Vec<(usize, Box<dyn Ends + 'a>)>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(Outcome, Vec<Vec<Passed>>), Interrupted> {
    let mut engine = Engine::new(network, others, FastPaths::Off);
    engine.flows.iter_mut().for_each(|flow| flow.path.record = Some(Box::default()));
    engine.run(&mut |_| go_on())?;
    let passed = engine.passed();
    Ok((engine.outcome(), passed))
}

pub(crate) struct Engine<'a> {
    /// What flows share: links, queue of events, memory.
    pub(crate) net: Net,
    /// The flows of our TCP, in the network's order.
    flows: Vec<Flow<'a>>,
    /// The sources without congestion control.
    udp: Vec<UdpSource<'a>>,
    /// The flows of other protocols.
    others: Vec<OtherFlow<'a>>,
    /// How many events have been handled.
    events: u64,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(
        network: &'a Network,
        others: Vec<(usize, Box<dyn Ends + 'a>)>,
        fast_paths: FastPaths,
    ) -> Self {
        let fast_paths = fast_paths.of(network);
        let mut others = other_flows(network, others);
        let mut is_other = vec![false; network.flows.len()];
        others.iter().for_each(|flow| is_other[flow.flow] = true);
        let mut ours: Vec<_> = network.flows.iter().enumerate().collect();
        ours.retain(|(place, _)| !is_other[*place]);
        let (routes, mut paths, queue) = lay_out(network, &ours, fast_paths);
        let first = paths.len() as u32;
        let udp: Vec<UdpSource<'a>> = (0..)
            .zip(&network.udp)
            .map(|(id, spec)| {
                let place = network.flows.len() + usize::from(id);
                paths.push(other_path((&spec.path, &[]), id, place));
                UdpSource::new(spec, (first + u32::from(id), id), network.seed, place)
            })
            .collect();
        for flow in &mut others {
            let path = flow.lay_out(network, paths.len() as u32);
            paths.push(path);
        }
        let memory = Memory::new(ours.iter().map(|(_, spec)| *spec));
        let mut net = Net::new(network, queue, memory, paths, fast_paths);
        let flows: Vec<Flow<'a>> = (0..)
            .zip(ours.into_iter().zip(routes))
            .map(|(id, (flow, route))| Flow::new(network, id, flow, route))
            .collect();
        others.iter().for_each(|flow| flow.schedule(&mut net));
        flows.iter().for_each(|flow| flow.schedule(&mut net));
        udp.iter().for_each(|source| source.schedule(&mut net));
        Self { net, flows, udp, others, events: 0 }
    }

    /// Handles events until there is none. The only place that does: what the compiler finds called
    /// once it inlines, and every packet passes here.
    pub(crate) fn run(&mut self, go_on: &mut dyn FnMut(&Net) -> bool) -> Result<(), Interrupted> {
        loop {
            if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && !go_on(&self.net) {
                return Err(Interrupted);
            }
            let Some(next) = self.net.queue.pop() else { return Ok(()) };
            self.events += 1;
            match next {
                Next::Ack(ack) => {
                    self.flows[ack.number() as usize].on_ack_in_order(ack.at(), &mut self.net);
                }
                Next::Any(kind, event) => self.handle(kind, event),
            }
        }
    }

    /// Flows that take fast paths have events of their own for packets and ACKs; all others are
    /// about a [`Packet`](crate::packet::Packet), or wake an end.
    #[inline(always)]
    fn handle(&mut self, kind: Kind, event: Event) {
        let (now, payload, net) = (event.at(), event.payload, &mut self.net);
        let number = event.number() as usize;
        match kind {
            Kind::Arrive if net::is_packet(payload) => self.arrive(payload, now),
            Kind::Arrive => {
                let arriving = Arriving::unpack(payload);
                self.flows[arriving.flow as usize].path.arrive_small(net, arriving, now);
            }
            Kind::Ack => {
                let flow = &mut self.flows[number];
                match flow.path.route.fast_paths {
                    true => flow.on_small_ack(payload, now, net),
                    false => self.arrive(payload, now),
                }
            }
            Kind::Timer => self.flows[number].wake(net, payload, now),
            Kind::Other => self.handle_other(event.number(), payload, now),
        }
    }

    /// An event of what is not our TCP, or of a link with a queue.
    #[inline(never)]
    fn handle_other(&mut self, number: u16, payload: u64, now: Instant) {
        if net::is_packet(payload) {
            return self.arrive(payload, now);
        }
        let ends = self.udp.len() + self.others.len();
        match self.flows.len() + usize::from(number) {
            path if usize::from(number) < ends => {
                let (end, net) = self.end(path as u32);
                end.wake(net, payload, now);
            }
            _ => {
                let reached = self.net.serve_link(number, now);
                reached.into_iter().for_each(|reached| self.hand_over(reached));
            }
        }
    }

    /// The packet of an event comes to a link, or to the end that it goes to.
    #[inline(never)]
    fn arrive(&mut self, payload: u64, now: Instant) {
        let Some(packet) = self.net.arriving(payload) else { return };
        if packet.is_at_end() {
            let (end, net) = self.end(packet.path);
            return end.receive(net, packet, now);
        }
        if let Some(reached) = self.net.forward(packet, now) {
            self.hand_over(reached);
        }
    }

    /// A packet leaves the links of its path.
    fn hand_over(&mut self, reached: Reached) {
        match reached {
            Reached::FarEnd(packet, at) => {
                let (end, net) = self.end(packet.path);
                end.arrive(net, packet, at);
            }
            Reached::Lost(packet, at) => {
                let (end, net) = self.end(packet.path);
                end.lose(net, packet, at);
            }
        }
    }

    /// The ends of a path, and the network.
    fn end(&mut self, path: u32) -> (&mut dyn End, &mut Net) {
        let Self { net, flows, udp, others, .. } = self;
        let (path, tcp) = (path as usize, flows.len());
        let end: &mut dyn End = match path.checked_sub(tcp) {
            None => &mut flows[path],
            Some(place) if place < udp.len() => &mut udp[place],
            Some(place) => &mut others[place - udp.len()],
        };
        (end, net)
    }

    fn passed(&mut self) -> Vec<Vec<Passed>> {
        let records = self.flows.iter_mut().map(|flow| flow.path.record.take());
        let mut passed: Vec<_> = records.map(|it| it.map_or(Vec::new(), |it| it.passed)).collect();
        self.others.sort_unstable_by_key(|flow| flow.flow);
        self.others.iter().for_each(|flow| passed.insert(flow.flow, Vec::new()));
        passed
    }

    fn outcome(mut self) -> Outcome {
        let mut flows: Vec<FlowOutcome> = self.flows.iter_mut().map(Flow::outcome).collect();
        self.others.sort_unstable_by_key(|flow| flow.flow);
        for flow in self.others {
            flows.insert(flow.flow, flow.outcome());
        }
        Outcome { flows, links: self.net.outcome(), events: self.events }
    }
}

/// The flows of another protocol, numbered behind the sources without congestion control.
fn other_flows<'a>(
    network: &'a Network,
    given: Vec<(usize, Box<dyn Ends + 'a>)>,
) -> Vec<OtherFlow<'a>> {
    let mut flows: Vec<OtherFlow<'a>> = Vec::with_capacity(given.len());
    let mut taken = vec![false; network.flows.len()];
    for (place, ends) in given {
        let Some(spec) = network.flows.get(place).filter(|_| !taken[place]) else { continue };
        taken[place] = true;
        let id = (network.udp.len() + flows.len()) as u16;
        flows.push(OtherFlow::new(id, place, spec, ends, network.sample_every));
    }
    flows
}

/// How often a run looks whether it should stop: a few milliseconds.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 14;
