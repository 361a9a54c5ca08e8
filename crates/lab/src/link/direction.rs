//! One direction of the link: queue, loss, delay, in that order, as in the simulator's link.
//!
//! Time is an argument everywhere, so that a test is its own clock.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use firstflight_link::{LossChain, stream};
use firstflight_runner::losses;
use firstflight_scenario::Loss;

use super::DirectionSpec;
use super::flows::{Flows, key_and_payload};
use super::lateness::Lateness;
use super::managed::{Held, Left, Managed};
use super::packet;
use super::queue::{Queue, QueueTotals};

/// A direction while it runs.
#[derive(Debug)]
pub(crate) struct Direction {
    /// `None` has no rate: packets only take time.
    queue: Option<Queue>,
    /// In place of `queue` if the link is more than a rate and a buffer.
    managed: Option<Managed>,
    /// What it has released and is still to be forwarded.
    left: Vec<Left>,
    /// The packets that were dropped or marked since they were last taken.
    touched: Touched,
    /// Propagation for everybody.
    delay: u64,
    /// Whether the next packet is lost at random.
    loss: LossChain,
    /// The random losses, with the run's seed and the element's number.
    loss_seed: (Loss, u64, u64),
    /// Packets that are dropped by their number.
    drop: Vec<u64>,
    /// Only packets with data take part in loss.
    data_only: bool,
    /// What a TCP packet's headers are charged with; `None` for what they have.
    header_bytes: Option<u64>,
    /// What a TCP packet without payload is charged with instead.
    ack_bytes: Option<u64>,
    /// What a UDP packet's headers are charged with.
    udp_header_bytes: Option<u64>,
    /// The first lane is for everybody, the others for the addresses in `routes`.
    lanes: Vec<Lane>,
    /// Which lane the packets for an address take.
    routes: Vec<(Ipv4Addr, usize)>,
    /// Packets that took part in loss, from the beginning of the measured period.
    numbered: u64,
    /// The measured period, ns.
    period: (u64, u64),
    /// Counters of the measured period.
    pub(crate) totals: DirectionTotals,
    /// How late packets were handed on.
    pub(crate) lateness: Lateness,
    /// When TCP packets were gone and to which port they went; `None` after too many.
    losses: Option<Vec<(u64, u16)>>,
    /// The counts of each flow, if flows are counted.
    flows: Option<Flows>,
}

/// What became of the packets in the measured period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectionTotals {
    pub(crate) offered: u64,
    pub(crate) lost: u64,
    pub(crate) marked: u64,
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
}

/// The slots of packets that were dropped or marked.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Dropped or lost.
    pub(crate) gone: Vec<u32>,
    /// To be marked.
    pub(crate) marked: Vec<u32>,
}

/// Packets that take the same time, in the order of their release.
#[derive(Debug)]
struct Lane {
    delay: u64,
    waiting: VecDeque<(u64, u32)>,
}

impl Direction {
    /// The direction number `element` of a run of `seed`.
    pub(crate) fn new(spec: &DirectionSpec, seed: u64, element: u64) -> Self {
        let mut lanes = vec![Lane { delay: spec.delay_ns, waiting: VecDeque::new() }];
        let mut routes = Vec::new();
        for (address, more) in &spec.more_delay {
            let delay = spec.delay_ns.saturating_add(*more);
            let lane = lanes.iter().position(|lane| lane.delay == delay).unwrap_or(lanes.len());
            if lane == lanes.len() {
                lanes.push(Lane { delay, waiting: VecDeque::new() });
            }
            routes.push((*address, lane));
        }
        let queue = |rate: super::Rate| {
            Queue::new(rate, spec.buffer, spec.buffer_counts_in_service).marking(spec.ecn_threshold)
        };
        let managed = Managed::of(spec, seed, element);
        Self {
            queue: spec.rate.filter(|_| managed.is_none()).map(queue),
            managed,
            left: Vec::new(),
            touched: Touched::default(),
            delay: spec.delay_ns,
            loss: chain((spec.loss, seed, element)),
            loss_seed: (spec.loss, seed, element),
            drop: spec.drop.clone(),
            data_only: spec.data_only,
            header_bytes: spec.header_bytes,
            ack_bytes: spec.ack_bytes,
            udp_header_bytes: spec.udp_header_bytes,
            lanes,
            routes,
            numbered: 0,
            period: (0, u64::MAX),
            totals: DirectionTotals::default(),
            lateness: Lateness::new(),
            losses: Some(Vec::new()),
            flows: spec.by_flow.then(|| Flows::new(spec.other_ports.clone())),
        }
    }

    /// Counts from now on only what happens in this period. Packets are numbered from here, and the
    /// random numbers begin anew: earlier packets are not part of the run.
    pub(crate) fn measure(&mut self, from: u64, until: u64, every: Option<u64>) {
        self.loss = chain(self.loss_seed);
        self.period = (from, until);
        self.totals = DirectionTotals::default();
        self.lateness = Lateness::new();
        self.numbered = 0;
        self.losses = Some(Vec::new());
        if let Some(flows) = &mut self.flows {
            flows.measure(every);
        }
        if let Some(queue) = &mut self.queue {
            queue.measure(from, until, every);
        }
        if let Some(managed) = &mut self.managed {
            managed.measure(from, until, every);
        }
    }

    /// What the queue did, and its depth in every interval; `None` without one.
    pub(crate) fn queue_report(&mut self, now: u64) -> Option<(QueueTotals, Vec<(u64, u64)>)> {
        self.catch_up(now);
        let plain = self.queue.as_mut().map(|queue| (queue.totals, queue.take_samples(now)));
        plain.or_else(|| self.managed.as_mut().map(|all| (all.totals, all.take_samples(now))))
    }

    /// Takes the packets that were dropped or marked since the last call.
    pub(crate) fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// Whether a packet that arrives now is to be marked, if it finds room.
    pub(crate) fn marks(&mut self, now: u64, packet: &[u8]) -> bool {
        let congested = self.queue.as_mut().is_some_and(|queue| queue.is_congested(now));
        congested && packet::is_ecn_capable(packet)
    }

    /// A marked packet found room.
    pub(crate) fn count_mark(&mut self, now: u64) {
        self.totals.marked += u64::from((self.period.0..self.period.1).contains(&now));
    }

    /// A packet in a slot arrives. `false` if it is dropped or lost. A packet that is dropped or
    /// lost later is among [`Direction::take_touched`].
    pub(crate) fn arrive(&mut self, now: u64, slot: u32, packet: &[u8]) -> bool {
        if self.managed.is_some() {
            self.enqueue(now, slot, packet);
            return true;
        }
        let due = self.due(now, slot, packet);
        let (from, until) = self.period;
        if let Some(flows) = self.flows.as_mut().filter(|_| (from..until).contains(&now)) {
            flows.note(now - from, due.map(|due| due - from), packet);
        }
        due.is_some()
    }

    /// When a packet that arrives will be due at the other end, if it is not gone.
    fn due(&mut self, now: u64, slot: u32, packet: &[u8]) -> Option<u64> {
        let counted = u64::from((self.period.0..self.period.1).contains(&now));
        self.totals.offered += counted;
        let charged = self.charged(packet);
        let departure = match &mut self.queue {
            None => now,
            Some(queue) => match queue.arrive(now, charged) {
                Some(departure) => departure,
                None => {
                    self.note_loss(now, packet);
                    return None;
                }
            },
        };
        if self.is_lost(packet) {
            self.totals.lost += counted;
            self.note_loss(now, packet);
            return None;
        }
        let lane = &mut self.lanes[lane(&self.routes, packet)];
        let due = departure.saturating_add(lane.delay);
        lane.waiting.push_back((due, slot));
        Some(due)
    }

    /// A packet arrives at a queue of [`Managed`], from which it leaves later.
    fn enqueue(&mut self, now: u64, slot: u32, packet: &[u8]) {
        let (from, until) = self.period;
        let counted = (from..until).contains(&now);
        self.totals.offered += u64::from(counted);
        let held = Held {
            slot,
            lane: lane(&self.routes, packet),
            port: packet::port(packet),
            at_risk: self.is_at_risk(packet),
            flow: key_and_payload(packet),
        };
        if let (Some(flows), Some((key, _))) = (self.flows.as_mut().filter(|_| counted), held.flow)
        {
            flows.arrived(now - from, key);
        }
        let size = (self.charged(packet), packet::ecn(packet));
        if let Some(managed) = &mut self.managed {
            managed.arrive(now, size, held, &mut self.left);
        }
        self.forward_released();
    }

    /// Forwards what the queue released by `now`.
    pub(crate) fn catch_up(&mut self, now: u64) {
        if let Some(managed) = &mut self.managed {
            managed.catch_up(now, &mut self.left);
            self.forward_released();
        }
    }

    /// Loses what the queue has released, or hands it on to the other end.
    fn forward_released(&mut self) {
        let (from, until) = self.period;
        for left in std::mem::take(&mut self.left) {
            let held = left.held;
            if left.marked && left.departs.is_some() {
                self.count_mark(left.at);
                self.touched.marked.push(held.slot);
            }
            let lost = left.departs.is_some() && held.at_risk && self.loses_next();
            let Some(departs) = left.departs.filter(|_| !lost) else {
                self.totals.lost += u64::from(lost && (from..until).contains(&left.arrived_at));
                self.note_loss_at_port(left.at, held.port);
                self.touched.gone.push(held.slot);
                continue;
            };
            let Some(managed) = &mut self.managed else { continue };
            let lane = &mut self.lanes[held.lane];
            let due = managed.far_end(&left, departs, self.delay) + lane.delay - self.delay;
            // The last place, unless packets overtake each other.
            let place = lane.waiting.partition_point(|(other, _)| *other <= due);
            lane.waiting.insert(place, (due, held.slot));
            let counted = self.flows.as_mut().filter(|_| (from..until).contains(&left.arrived_at));
            if let (Some(flows), Some((key, payload))) = (counted, held.flow) {
                flows.forwarded(due - from, key, payload);
            }
        }
    }

    fn note_loss(&mut self, now: u64, packet: &[u8]) {
        self.note_loss_at_port(now, packet::port(packet));
    }

    fn note_loss_at_port(&mut self, now: u64, port: Option<u16>) {
        let (from, until) = self.period;
        let Some(losses) = &mut self.losses else { return };
        let Some(port) = port.filter(|_| (from..until).contains(&now)) else {
            return;
        };
        losses.push((now - from, port));
        if losses.len() > MOST_LOSSES {
            self.losses = None;
        }
    }

    /// The losses noted in the measured period, by their time in it.
    pub(crate) fn take_losses(&mut self) -> Option<Vec<(u64, u16)>> {
        self.losses.take()
    }

    /// The counts of each flow in the measured period, if flows were counted.
    pub(crate) fn take_flows(&mut self) -> Flows {
        self.flows.take().unwrap_or_default()
    }

    /// When the first packet of a transfer arrived, if flows are counted.
    pub(crate) fn transfer_began(&self) -> Option<u64> {
        Some(self.period.0 + self.flows.as_ref()?.began()?)
    }

    /// When the next packet is to be handed on.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.lanes.iter().filter_map(|lane| lane.waiting.front().map(|(due, _)| *due)).min()
    }

    /// When the link has to act next: a packet that the queue releases is due after the delay.
    pub(crate) fn next_wakeup(&self) -> Option<u64> {
        let queue_at = self.managed.as_ref().and_then(Managed::next_at);
        let queue_at = queue_at.map(|at| at.saturating_add(self.delay));
        self.next_due().into_iter().chain(queue_at).min()
    }

    /// The next packet that is due, in the order of their times.
    pub(crate) fn take_due(&mut self, now: u64) -> Option<(u64, u32)> {
        let due = self.next_due().filter(|due| *due <= now)?;
        let at_front = |lane: &&mut Lane| lane.waiting.front().is_some_and(|(d, _)| *d == due);
        self.lanes.iter_mut().find(at_front)?.waiting.pop_front()
    }

    /// A packet that was due at `due` is handed on at `now`.
    pub(crate) fn delivered(&mut self, due: u64, now: u64, bytes: usize) {
        if (self.period.0..self.period.1).contains(&due) {
            self.totals.delivered += 1;
            self.totals.delivered_bytes += bytes as u64;
            self.lateness.record(now.saturating_sub(due));
        }
    }

    /// Bytes that a packet takes on the link: its own, or its payload and the scenario's headers.
    fn charged(&self, packet: &[u8]) -> u64 {
        let payload = packet::payload(packet);
        let headers = match (packet::is_tcp(packet), payload) {
            (true, Some(0)) => self.ack_bytes.or(self.header_bytes),
            (true, _) => self.header_bytes,
            (false, _) => self.udp_header_bytes,
        };
        match (headers, payload) {
            // A packet of no bytes would break the order of departures.
            (Some(headers), Some(payload)) => {
                (payload as u64 + headers + SACK_BLOCK * packet::sack_blocks(packet)).max(1)
            }
            _ => packet.len() as u64,
        }
    }

    fn is_lost(&mut self, packet: &[u8]) -> bool {
        self.is_at_risk(packet) && self.loses_next()
    }

    /// Whether it takes part in loss.
    fn is_at_risk(&self, packet: &[u8]) -> bool {
        let empty = packet::payload(packet).is_none_or(|payload| payload == 0);
        !self.data_only || !empty || packet::is_syn(packet)
    }

    /// Whether the next packet that takes part in loss is lost.
    fn loses_next(&mut self) -> bool {
        self.numbered += 1;
        // The random number is drawn in either case, so that a chosen packet does not shift the
        // others.
        let random = self.loss.loses_next();
        random || self.drop.binary_search(&self.numbered).is_ok()
    }
}

fn chain((loss, seed, element): (Loss, u64, u64)) -> LossChain {
    LossChain::new(losses(loss), stream(seed, element))
}

/// Two sequence numbers of four bytes (RFC 2018 section 3).
const SACK_BLOCK: u64 = 8;

/// Losses that are noted, so that a long run does not take the memory.
const MOST_LOSSES: usize = 1_000_000;

/// The lane of a packet: that of either of its addresses, or the first.
fn lane(routes: &[(Ipv4Addr, usize)], packet: &[u8]) -> usize {
    if routes.is_empty() {
        return 0;
    }
    let Some((from, to)) = packet::addresses(packet) else { return 0 };
    routes.iter().find(|(address, _)| *address == from || *address == to).map_or(0, |r| r.1)
}

#[cfg(test)]
mod tests {
    use firstflight_link::Buffer;

    use super::packet::tests::{PORT, syn, tcp, udp};
    use super::*;
    use firstflight_control::quantity::Rate;

    const MS: u64 = 1_000_000;

    fn spec() -> DirectionSpec {
        DirectionSpec {
            rate: Some(Rate::from_bps(8_000_000)),
            delay_ns: 50 * MS,
            buffer: Buffer::Packets(2),
            ..DirectionSpec::default()
        }
    }

    fn take_all(direction: &mut Direction) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| direction.take_due(u64::MAX)).collect()
    }

    #[test]
    fn a_packet_is_due_after_its_sending_and_the_delay() {
        let mut direction = Direction::new(&spec(), 1, 0);
        assert!(direction.arrive(3 * MS, 9, &tcp(960)));
        assert_eq!(direction.take_due(54 * MS - 1), None);
        assert_eq!(direction.take_due(54 * MS), Some((54 * MS, 9)));
        assert_eq!(direction.next_due(), None);
    }

    #[test]
    fn headers_count_as_the_scenario_says() {
        let spec = DirectionSpec { header_bytes: Some(0), ..spec() };
        let mut direction = Direction::new(&spec, 1, 0);
        direction.arrive(0, 1, &tcp(1_000));
        assert_eq!(direction.next_due(), Some(51 * MS));
        let spec = DirectionSpec { ack_bytes: Some(1_000), ..spec };
        let mut direction = Direction::new(&spec, 1, 0);
        direction.arrive(0, 1, &tcp(0));
        assert_eq!(direction.next_due(), Some(51 * MS), "an ACK has its own size");
        let spec = DirectionSpec { header_bytes: None, udp_header_bytes: Some(40), ..spec };
        let mut direction = Direction::new(&spec, 1, 0);
        direction.arrive(0, 1, &udp(960));
        assert_eq!(direction.next_due(), Some(51 * MS));
    }

    #[test]
    fn chosen_packets_are_lost_after_they_were_sent_and_pure_acks_are_not_counted() {
        let spec = DirectionSpec { drop: vec![2], data_only: true, ..spec() };
        let mut direction = Direction::new(&spec, 1, 0);
        assert!(direction.arrive(0, 1, &tcp(960)));
        assert!(direction.arrive(0, 2, &tcp(0)));
        assert!(!direction.arrive(0, 3, &tcp(960)));
        assert!(direction.arrive(2 * MS, 4, &tcp(960)));
        let due: Vec<u32> = take_all(&mut direction).iter().map(|(_, slot)| *slot).collect();
        assert_eq!((due, direction.totals.lost), (vec![1, 2, 4], 1));
        assert_eq!(direction.take_losses(), Some(vec![(0, PORT)]));
        // Its time on the link was used: 960 + 40 bytes, twice, 40 bytes, and it again.
        assert_eq!(direction.queue.as_ref().unwrap().totals.busy_ns, 3 * MS + 40_000);
    }

    /// What the simulator's link loses, of the same packets with the same seed: SYNs take part, and
    /// connections before the measured period do not.
    #[test]
    fn random_losses_are_the_chains_and_pure_acks_do_not_move_it() {
        let loss = "ge:5%,25%".parse().unwrap();
        let mut direction =
            Direction::new(&DirectionSpec { loss, data_only: true, rate: None, ..spec() }, 3, 1);
        let mut chain = LossChain::new(losses(loss), stream(3, 1));
        let expected: Vec<bool> = (0..1_000).map(|_| !chain.loses_next()).collect();
        for before in 0..100 {
            direction.arrive(0, before, &tcp(5));
        }
        direction.measure(0, u64::MAX, None);
        let offered = expected.iter().enumerate().map(|(at, _)| {
            assert!(direction.arrive(0, at as u32, &tcp(0)));
            let packet = if at % 10 == 0 { syn() } else { tcp(960) };
            direction.arrive(0, at as u32, &packet)
        });
        assert_eq!(offered.collect::<Vec<bool>>(), expected);
        assert!(direction.totals.lost > 80, "{}", direction.totals.lost);
    }

    /// When each packet is due of a direction that is looked at every millisecond, and which were
    /// marked and which are gone.
    fn ways(spec: &DirectionSpec, from: u64, arrivals: &[u64]) -> (Vec<(u64, u32)>, Touched) {
        let mut direction = Direction::new(spec, 1, 0);
        direction.measure(from, u64::MAX, None);
        let mut capable = tcp(960);
        capable[1] = 2;
        for (slot, at) in (0..).zip(arrivals) {
            assert!(direction.arrive(from + at, slot, &capable));
        }
        (0..3_000).for_each(|ms| direction.catch_up(from + ms * MS));
        let due = take_all(&mut direction).into_iter().map(|(at, slot)| (at - from, slot));
        (due.collect(), direction.take_touched())
    }

    /// Queue and link alone, which are the simulator's, are given equal packets.
    #[test]
    fn a_queue_discipline_marks_as_it_does_without_the_link() {
        let rules = firstflight_link::CodelRules { ecn: true, ..Default::default() };
        let codel = firstflight_link::Discipline::Codel(rules);
        let spec = DirectionSpec { queue: Some(codel), full_bytes: 1_000, ..spec() };
        let arrivals: Vec<u64> = (0..800).map(|n| n * MS * 9 / 10).collect();
        let (due, touched) = ways(&spec, 7 * MS, &arrivals);
        let random = stream(1, firstflight_link::QUEUE_STREAMS);
        let mut server =
            firstflight_link::Server::new(codel.build(1_000, 8_000_000), 8_000_000, random, false);
        let (mut expected, mut marked) = (Vec::new(), Vec::new());
        let mut report = |slot: u32, packet: firstflight_link::Packet, what| {
            let firstflight_link::Happened::Sent(_, end) = what else { panic!("{what:?}") };
            expected.push((end + 50 * MS, slot));
            marked.extend(packet.marked.then_some(slot));
        };
        for (slot, at) in (0..).zip(&arrivals) {
            server.serve(*at, &mut |_, _| None, &mut report);
            let (bytes, ecn) = (1_000, firstflight_link::Ecn::Ect0);
            let packet =
                firstflight_link::Packet { id: 0, bytes, flow: 0, ecn, marked: false, at: *at };
            server.arrive(packet, slot, &mut report);
        }
        server.serve(u64::MAX, &mut |_, _| None, &mut report);
        assert_eq!((due, touched.marked), (expected, marked.clone()));
        assert!(marked.len() > 5 && touched.gone.is_empty(), "{marked:?}");
    }

    /// From a millisecond of the run on nothing is sent for ten; then a packet takes two.
    #[test]
    fn a_schedule_begins_with_the_measured_period_and_a_policer_drops_before_the_queue() {
        let link = "rates = [{ rate = '8Mbps' }, { at = '1ms', rate = 'none' }, \
                    { at = '11ms', rate = '4Mbps' }]\npolicer = { rate = '8kbps', bucket = '3kB' }";
        let text = format!(
            "controls = ['linux-reno']\npacket = '960B'\nheaders = '40B'\n[path]\n\
             rate = '8Mbps'\nrtt = '100ms'\n{link}"
        );
        let scenario = firstflight_scenario::Scenario::parse(&text, "x.toml").unwrap();
        let complete = crate::job::complete(&scenario).unwrap();
        let spec = super::super::LinkSpec::of_bottleneck(&complete, 1).forward;
        let (due, touched) = ways(&spec, 40 * MS, &[0, 0, 2 * MS, 2 * MS]);
        assert_eq!(due, [(51 * MS, 0), (63 * MS, 1), (65 * MS, 2)]);
        assert_eq!(touched.gone, [3]);
    }

    #[test]
    fn packets_of_a_longer_path_wait_longer_and_order_is_by_time() {
        let far = Ipv4Addr::new(10, 0, 0, 2);
        let spec = DirectionSpec { more_delay: vec![(far, 10 * MS)], rate: None, ..spec() };
        let mut direction = Direction::new(&spec, 1, 0);
        let mut near = tcp(0);
        near[19] = 9;
        direction.arrive(0, 1, &tcp(0));
        direction.arrive(MS, 2, &near);
        assert_eq!(take_all(&mut direction), [(51 * MS, 2), (60 * MS, 1)]);
    }

    #[test]
    fn lateness_is_counted_in_the_measured_period_alone() {
        let mut direction = Direction::new(&spec(), 1, 0);
        direction.measure(10 * MS, 20 * MS, None);
        direction.delivered(9 * MS, 12 * MS, 100);
        direction.delivered(15 * MS, 16 * MS, 100);
        let report = direction.lateness.report();
        assert_eq!((report.packets, report.max_us), (1, 1_000.0));
        assert_eq!(direction.totals.delivered_bytes, 100);
    }
}
