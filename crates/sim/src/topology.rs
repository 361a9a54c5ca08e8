//! How a network is laid out before it runs: the routes of its flows, the paths of all that sends,
//! and the lanes in which events wait.

use std::cmp::Reverse as Descending;
use std::collections::HashMap;

use firstflight_core::units::{Instant, Span};
use firstflight_link::{NEVER, Tie, serialisation};

use crate::control::Wants;
use crate::endpoint::Recovery;
use crate::event::queue::Queue;
use crate::fast::{self, Early, FastPaths, crosses_element};
use crate::flow::access::Access;
use crate::flow::reverse::{Reverse, SACK_BLOCK_BYTES};
use crate::flow::route::{Hop, Route, SynAnswer, ack_time, return_delay};
use crate::net::{self, Path, Wait};
use crate::network::{FlowSpec, Network};
use crate::receiver::Receiver;

/// Which of an arrival and a departure at one instant comes first at a link: the `first` of the
/// route or another, which the packet takes `longer` to reach than its service there takes.
fn tie(ns2_ties: bool, spec: &FlowSpec, first: bool, longer: bool) -> Tie {
    match ns2_ties {
        // Where a flight begins, Linux wakes up, and what its ACKs send later takes that time
        // less: it comes just before the departure that it would coincide with.
        false if first && spec.endpoint.wakes_up => Tie::ROUNDED_ARRIVAL_FIRST,
        false => Tie::DEPARTURE_FIRST,
        true if first && longer => Tie::ROUNDED_ARRIVAL_FIRST,
        true => Tie::ROUNDED_DEPARTURE_FIRST,
    }
}

impl Route {
    /// The route of flow `id`, and the lane of what waits for its receiver, if it does; lanes are
    /// of ACKs and of arrivals.
    fn new(
        network: &Network,
        feeders: &[u32],
        fast_paths: bool,
        (acks, arrivals): (&mut Lanes, &mut Lanes),
        (id, spec): (u16, &FlowSpec),
    ) -> (Self, Option<u32>) {
        // Only ns-2's agents look at ticks, and none of their ACKs is calm.
        let exact = network.ns2_ties && spec.endpoint.rto.timer.ticks();
        let (access, egress) = (Access::new(spec, exact), Access::to_receiver(spec, exact));
        let packet_bytes = spec.payload_bytes + spec.header_bytes;
        let mut hops = Vec::with_capacity(spec.path.len());
        let mut source = Source::Access(access.full_packet, access.delay);
        let mut lead = access.full_packet + access.delay;
        let mut service = Span(0);
        for link in &spec.path {
            service = serialisation(packet_bytes, network.rate_bps(*link));
            let tie = tie(network.ns2_ties, spec, hops.is_empty(), lead > service);
            let early = Early::at(feeders[*link], fast_paths);
            hops.push(Hop { link: *link, lane: arrivals.of(source, lead), early, order: id, tie });
            let delay = network.direction(*link).map_or(Span(0), |spec| spec.delay);
            (source, lead) = (Source::Link(*link), service + delay);
        }
        let last = hops.last().map_or(0, |hop: &Hop| hop.link);
        let exit = crosses_element(network, spec).then(|| arrivals.of(source, lead));
        let return_delay = return_delay(spec, spec.endpoint.ack_bytes);
        let reverse = spec.return_path.first().map(|link| {
            let ack = serialisation(spec.endpoint.ack_bytes, spec.access_rate_bps);
            let lead = ack + spec.access_delay;
            let source = Source::Back(last, egress.full_packet + egress.delay, lead);
            let reverse = Reverse::new(spec, *link, arrivals.of(source, lead), id);
            Box::new((reverse, fast::Crossing::default()))
        });
        let ack_lane = acks.of(Source::Return(last, egress.delay + return_delay), return_delay);
        let (until, syn) = (times(network, spec), spec.endpoint.syn);
        // The SYN of a later connection is shorter than the packets ahead of it, and may wait.
        let late_syn = syn && spec.files.is_some();
        let waits = late_syn || reverse.is_some() || !egress.is_free_for(service);
        let home = egress.full_packet + egress.delay + return_delay;
        let route = Self {
            first: hops[0],
            is_plain: hops.len() == 1,
            others: hops.split_off(1),
            receiver: Receiver::new(&spec.endpoint, syn, spec.packets, until, fast_paths),
            counts_until: until.0,
            earlier: None,
            ack_lane,
            reverse,
            access,
            egress,
            wakes_at: fast::NOT_YET,
            fast_paths,
            home: if waits { NEVER } else { home.min(NEVER) },
            return_delay,
            block_delay: ack_time(spec, SACK_BLOCK_BYTES),
            last_ack: Instant(0),
            tag: 0,
            connection: 0,
            packet_bytes,
            payload_bytes: spec.payload_bytes,
            syn_bytes: syn.then_some(spec.syn_bytes),
            syn_answer: SynAnswer { delay: spec.handshake_delay, held: None },
        };
        (route, exit)
    }

    /// What arrives at one instant comes in this order of lanes.
    fn order_by(&mut self, order: &[u16]) {
        let hops = std::iter::once(&mut self.first).chain(&mut self.others);
        hops.for_each(|hop| hop.order = order[hop.lane as usize]);
        if let Some(reverse) = self.reverse.as_mut().map(|reverse| &mut reverse.0) {
            reverse.order = order[reverse.lane as usize];
        }
    }

    /// The path of the flow, which stands at `place` in the network.
    fn path(&self, network: &Network, (place, spec): (usize, &FlowSpec), id: u16) -> Path {
        let wait = self.reverse.as_ref().map(|back| Wait::Lane(back.0.lane, back.0.order));
        let tie = Tie::DEPARTURE_FIRST;
        let back = spec.return_path.iter().zip(wait.into_iter().cycle());
        let back = back.map(|(link, wait)| net::Hop { link: *link, tie, wait });
        let keeps_order = keeps_order(network, spec);
        Path {
            forward: [self.first].iter().chain(&self.others).map(|hop| (*hop).into()).collect(),
            back: back.collect(),
            exit: None,
            place,
            listener: (id, Wants::of(&spec.control).listens()),
            latest: if keeps_order { vec![Instant(0); spec.path.len()] } else { Vec::new() },
        }
    }
}

/// Lays out the routes of `ours`, which are flows of the network, and the lanes their events wait
/// in. Flows whose events come out of the same element after the same delay share a lane, because
/// those are in order already.
///
/// With fast paths the states that no other flow can change are computed ahead of time.
pub(crate) fn lay_out(
    network: &Network,
    ours: &[(usize, &FlowSpec)],
    fast_paths: FastPaths,
) -> (Vec<Route>, Vec<Path>, Queue) {
    let (mut acks, mut arrivals) = (Lanes::default(), Lanes::default());
    let mut feeders = vec![0_u32; 2 * network.links.len()];
    for path in network.flows.iter().map(|f| &f.path).chain(network.udp.iter().map(|u| &u.path)) {
        for link in path {
            feeders[*link] += 1;
        }
    }
    let route = |(id, (_, spec)): (u16, &(usize, &FlowSpec))| {
        let (fast_paths, lanes) = (fast_paths.serve(network, spec), (&mut acks, &mut arrivals));
        Route::new(network, &feeders, fast_paths, lanes, (id, spec))
    };
    let (mut routes, exits): (Vec<Route>, Vec<Option<u32>>) = (0..).zip(ours).map(route).unzip();
    if network.ns2_ties {
        let order = arrivals.longest_first();
        routes.iter_mut().for_each(|route| route.order_by(&order));
    }
    let paths = (0..).zip(ours).zip(&routes).zip(exits).map(|(((id, flow), route), exit)| {
        let exit = exit.map(|lane| Wait::Lane(lane, id));
        match route.fast_paths {
            true => Path::default(),
            false => Path { exit, ..route.path(network, *flow, id) },
        }
    });
    let paths = paths.collect();
    let lead = network.flows.iter().map(least_lead).min().unwrap_or_default();
    let acks = (acks.leads.len(), routes.iter().map(|route| route.ack_lane).collect());
    (routes, paths, Queue::new(acks, arrivals.leads.len(), network.end(), lead))
}

/// The path of what is not our TCP: packets have events of their own, by this number, at each of
/// the links there and back.
pub(crate) fn other_path((forward, back): (&[usize], &[usize]), number: u16, place: usize) -> Path {
    let (tie, wait) = (Tie::DEPARTURE_FIRST, Wait::Other(number));
    let hop = |link: &usize| net::Hop { link: *link, tie, wait };
    Path {
        forward: forward.iter().map(hop).collect(),
        back: back.iter().map(hop).collect(),
        exit: Some(wait),
        place,
        ..Path::default()
    }
}

/// Whether the flow's packets must not overtake each other where others may: one bit tells a
/// source's connections apart, and a receiver of packet numbers knows none that comes late.
fn keeps_order(network: &Network, spec: &FlowSpec) -> bool {
    let links = || spec.path.iter().filter_map(|link| network.direction(*link));
    let elements = || links().flat_map(|link| &link.elements);
    (spec.files.is_some() || spec.endpoint.recovery == Recovery::Quic)
        && elements().any(|element| element.reorders())
}

/// Until when what arrives is delivered, and until when the run is.
fn times(network: &Network, spec: &FlowSpec) -> (Instant, Instant) {
    let end = network.end();
    (spec.stop.map_or(end, |stop| end.min(stop)), end)
}

/// What an ACK makes a sender send reaches the first link no earlier than this after it. That is
/// data, unless the ACK ends a file, whose successor's SYN may follow at once, or is of a SYN.
fn least_lead(spec: &FlowSpec) -> Span {
    let data = spec.payload_bytes + spec.header_bytes;
    let answers_syn = spec.endpoint.syn && spec.endpoint.handshake_ack;
    let short = spec.files.is_some() || answers_syn;
    let bytes = if short { data.min(spec.syn_bytes) } else { data };
    serialisation(bytes, spec.access_rate_bps) + spec.access_delay
}

/// The lanes there are, and how long the events of each are under way.
#[derive(Default)]
struct Lanes {
    known: HashMap<Source, u32>,
    leads: Vec<Span>,
}

impl Lanes {
    /// The lane of what comes from this source, and is under way for so long.
    fn of(&mut self, source: Source, lead: Span) -> u32 {
        let fresh = self.leads.len() as u32;
        let lane = *self.known.entry(source).or_insert(fresh);
        if lane == fresh {
            self.leads.push(lead);
        }
        lane
    }

    /// The places of the lanes among each other, those first whose events are under way for longer:
    /// of what arrives at one instant they set out first.
    fn longest_first(&self) -> Vec<u16> {
        let mut lanes: Vec<usize> = (0..self.leads.len()).collect();
        lanes.sort_by_key(|lane| Descending(self.leads[*lane]));
        let mut places = vec![0; lanes.len()];
        for (place, lane) in lanes.into_iter().enumerate() {
            places[lane] = u16::try_from(place).unwrap_or(u16::MAX);
        }
        places
    }
}

/// What makes events come out in order: the same element, the same delay after it.
#[derive(PartialEq, Eq, Hash)]
enum Source {
    Access(Span, Span),
    Link(usize),
    Return(usize, Span),
    Back(usize, Span, Span),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_has_one_lane_and_the_longest_comes_first() {
        let mut lanes = Lanes::default();
        let access = |ms| Source::Access(Span(1000), Span::from_millis(ms));
        let near = lanes.of(access(1), Span::from_millis(1));
        let far = lanes.of(access(7), Span::from_millis(7));
        let link = lanes.of(Source::Link(0), Span::from_millis(5));
        assert_eq!(lanes.of(access(7), Span::from_millis(7)), far);
        let places = lanes.longest_first();
        assert_eq!([near, far, link].map(|lane| places[lane as usize]), [2, 0, 1]);
    }
}
