//! FQ-CoDel: a queue for each flow, served in turn, with CoDel in each (RFC 8290; Linux's
//! `sch_fq_codel`).
//!
//! Flows share `flows` queues by a hash. A flow whose queue was empty is new, and comes before the
//! old ones until it has sent `quantum` bytes (DRR++). A packet that exceeds the limit makes the
//! longest queue lose half of its bytes, from its front, at most 64 packets.
//!
//! CoDel's rule that a queue of one packet is no queue looks at the bytes of all flows, as Linux's
//! does (RFC 8289 section 5.5: those of the queue). Linux's second limit, of memory, is left out.

use std::collections::VecDeque;

use super::codel::{CodelRules, Law, Source, State};
use super::{Kind, Knob, Rules};
use crate::random::spread;
use crate::tc::{Counted, Words};
use crate::{Buffer, DropTail, Moment, Next, Packet, Queue};

/// Rules of [`FqCodel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelRules {
    /// What holds for each queue; the limit is for all together.
    pub codel: CodelRules,
    /// How many queues there are.
    pub flows: u32,
    /// What a flow sends in its turn, in bytes; a full packet where it is not said.
    pub quantum_bytes: Option<u64>,
}

impl Default for FqCodelRules {
    /// `fq_codel_init`; RFC 8290 section 5.2.
    fn default() -> Self {
        let codel = CodelRules { limit_packets: 10 * 1_024, ecn: true, ..CodelRules::default() };
        Self { codel, flows: 1_024, quantum_bytes: None }
    }
}

impl Rules for FqCodelRules {
    const NAME: &'static str = "fq_codel";
    const ABOUT: &'static str = "A queue for each flow, served in turn, with CoDel in each; a \
        flow that has just begun comes first.";
    const SOURCES: &'static str = "RFC 8290, Linux's `sch_fq_codel`";
    const KNOBS: &'static [Knob<Self>] = &[
        Knob::new("quantum", Kind::Size, "(a full packet)", |r, it| r.quantum_bytes = Some(it)),
        Knob::new("target", Kind::Time, "5ms", |r, it| r.codel.target_ns = it),
        Knob::new("interval", Kind::Time, "100ms", |r, it| r.codel.interval_ns = it),
        Knob::new("limit", Kind::Packets, "10240pkt", |r, it| r.codel.limit_packets = it),
        Knob::new("ecn", Kind::Switch, "on", |r, it| r.codel.ecn = it > 0),
        Knob::new("ce_threshold", Kind::Time, "(none)", |r, it| r.codel.ce_threshold_ns = Some(it)),
        Knob::new("flows", Kind::Count(1, 65_536), "1024", |r, it| r.flows = it as u32),
    ];

    fn room(&self) -> Buffer {
        self.codel.room()
    }

    fn build(self, mtu: u64, _rate_bps: u64) -> Box<dyn Queue> {
        Box::new(FqCodel::new(self, mtu))
    }

    fn tc(&self, counted: Counted) -> Option<Words> {
        let quantum = self.quantum_bytes.map_or(counted.frame, |bytes| counted.frames(bytes));
        Some(Words::InClass(format!(
            "fq_codel flows {} quantum {quantum} memory_limit {MEMORY} {}",
            self.flows,
            self.codel.words()
        )))
    }
}

/// Linux's limit of memory, which a scenario does not have.
const MEMORY: &str = "1gb";

/// The queues of all flows.
#[derive(Clone, Debug)]
pub struct FqCodel {
    flows: Vec<Flow>,
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    total: Total,
    limit: u64,
    quantum: u64,
    law: Law,
}

/// One queue.
#[derive(Clone, Debug, Default)]
struct Flow {
    waiting: DropTail,
    state: State,
    /// Bytes that it may send before the next one's turn.
    deficit: i64,
    /// It is among the new or the old flows.
    listed: bool,
}

/// What waits in all queues.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    packets: u64,
    bytes: u64,
}

/// A flow's queue as CoDel sees it.
struct OfFlow<'a> {
    waiting: &'a mut DropTail,
    total: &'a mut Total,
}

impl Source for OfFlow<'_> {
    fn take(&mut self) -> Option<Packet> {
        let packet = self.waiting.pop()?;
        self.total.packets -= 1;
        self.total.bytes -= packet.bytes;
        Some(packet)
    }

    fn backlog(&self) -> u64 {
        self.total.bytes
    }
}

impl FqCodel {
    /// One with these rules; a full packet takes `mtu` bytes.
    pub fn new(rules: FqCodelRules, mtu: u64) -> Self {
        Self {
            flows: vec![Flow::default(); rules.flows.max(1) as usize],
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            total: Total::default(),
            limit: rules.codel.limit_packets,
            quantum: rules.quantum_bytes.unwrap_or(mtu).max(1),
            law: Law::new(&rules.codel, mtu),
        }
    }

    /// `fq_codel_classify`.
    fn place_of(&self, flow: u64) -> usize {
        // In place of the kernel's keyed hash.
        (spread(flow) % self.flows.len() as u64) as usize
    }

    /// `fq_codel_drop`; RFC 8290 section 4.1.
    fn drop_from_longest(&mut self, moment: &mut Moment<'_>) {
        // The first of the longest.
        let longest = self.flows.iter_mut().rev().max_by_key(|flow| flow.waiting.bytes());
        let Some(flow) = longest else { return };
        let threshold = flow.waiting.bytes() / 2;
        let mut len = 0;
        for _ in 0..DROP_BATCH_SIZE {
            let mut source = OfFlow { waiting: &mut flow.waiting, total: &mut self.total };
            let Some(packet) = source.take() else { return };
            len += packet.bytes;
            moment.dropped.push(packet);
            // It counts as a drop of CoDel, which then drops more.
            flow.state.count = flow.state.count.wrapping_add(1);
            if len >= threshold {
                return;
            }
        }
    }
}

impl Queue for FqCodel {
    /// `fq_codel_enqueue`.
    fn enqueue(&mut self, packet: Packet, moment: &mut Moment<'_>) {
        let place = self.place_of(packet.flow);
        let flow = &mut self.flows[place];
        flow.waiting.push(packet);
        self.total.packets += 1;
        self.total.bytes += packet.bytes;
        if !flow.listed {
            (flow.listed, flow.deficit) = (true, self.quantum as i64);
            self.new_flows.push_back(place);
        }
        if self.total.packets + u64::from(moment.in_service > 0) > self.limit {
            self.drop_from_longest(moment);
        }
    }

    /// `fq_codel_dequeue`; RFC 8290 section 4.2.
    fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let Some(place) = list.front().copied() else { return Next::Empty };
            let flow = &mut self.flows[place];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum as i64;
                list.pop_front();
                self.old_flows.push_back(place);
                continue;
            }
            let mut source = OfFlow { waiting: &mut flow.waiting, total: &mut self.total };
            let Some(packet) = flow.state.dequeue(&self.law, &mut source, moment) else {
                list.pop_front();
                // A new flow goes behind the old ones first, so that none starves.
                match is_new && !self.old_flows.is_empty() {
                    true => self.old_flows.push_back(place),
                    false => flow.listed = false,
                }
                continue;
            };
            flow.deficit -= packet.bytes as i64;
            return Next::Send(packet);
        }
    }

    fn packets(&self) -> u64 {
        self.total.packets
    }

    fn bytes(&self) -> u64 {
        self.total.bytes
    }
}

/// `drop_batch_size`.
const DROP_BATCH_SIZE: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, MS, packet};

    fn bench(limit_packets: u64) -> Bench<FqCodel> {
        let mut rules = FqCodelRules::default();
        rules.codel.limit_packets = limit_packets;
        Bench::new(FqCodel::new(rules, 1_500))
    }

    #[test]
    fn backlogged_flows_share_equally_whatever_their_packets() {
        let mut bench = bench(10_000);
        for id in 0..3_000 {
            let (flow, bytes) = if id < 1_000 { (1, 1_500) } else { (2, 300) };
            bench.enqueue(0, Packet { flow, bytes, ..packet(id) });
        }
        (0..600).for_each(|_| {
            bench.dequeue(0);
        });
        let bytes = |flow| -> u64 {
            bench.sent.iter().filter(|sent| sent.flow == flow).map(|sent| sent.bytes).sum()
        };
        assert_eq!((bytes(1), bytes(2)), (150_000, 150_000));
    }

    /// The first numbers of SplitMix64 from the seed 1234567, as its author's program prints them.
    #[test]
    fn flows_are_spread_by_splitmix64() {
        let number = |n: u64| spread(1_234_567 + n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        assert_eq!([number(1), number(2)], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn a_new_flow_is_served_before_the_old_ones() {
        let mut bench = bench(10_000);
        (0..100).for_each(|id| bench.enqueue(0, packet(id)));
        (0..3).for_each(|_| {
            bench.dequeue(MS);
        });
        bench.enqueue(MS, Packet { flow: 9, bytes: 100, ..packet(500) });
        bench.dequeue(MS);
        assert_eq!(bench.sent.last().map(|sent| sent.flow), Some(9));
    }

    /// RFC 8290 section 4.2: a new flow whose queue is empty becomes an old one, so that it does
    /// not come first again and starve the others. A turn of flow 0 is three packets.
    #[test]
    fn a_new_flow_that_was_emptied_waits_for_its_turn() {
        let mut bench = bench(10_000);
        let small = |flow| Packet { flow, bytes: 500, ..packet(0) };
        (0..10).for_each(|_| bench.enqueue(0, small(0)));
        (0..8).for_each(|at| {
            if at == 4 || at == 6 {
                bench.enqueue(0, small(9));
            }
            bench.dequeue(0);
        });
        let order: Vec<u64> = bench.sent.iter().map(|sent| sent.flow).collect();
        assert_eq!(order, [0, 0, 0, 0, 9, 0, 0, 9]);
    }

    /// RFC 8290 section 4.1: half of the bytes of the longest queue, from its front, and at most
    /// 64 packets.
    #[test]
    fn the_longest_queue_loses_half_of_it_or_64_packets() {
        for (limit, lost) in [(20, 10), (1_000, 64)] {
            let mut bench = bench(limit);
            bench.enqueue(0, Packet { flow: 5, ..packet(9_999) });
            (0..limit).for_each(|id| bench.enqueue(0, packet(id)));
            let dropped: Vec<u64> = bench.dropped.iter().map(|packet| packet.id).collect();
            assert_eq!(dropped, (0..lost).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_flow_that_fills_its_queue_meets_codel_and_another_does_not() {
        let mut bench = bench(10_000);
        for at in 0..2_000 {
            bench.enqueue(at * MS, Packet { ecn: crate::Ecn::NotCapable, ..packet(at) });
            if at % 10 == 0 {
                bench.enqueue(at * MS, Packet { flow: 3, bytes: 100, ..packet(100_000 + at) });
            }
            bench.dequeue(at * MS);
        }
        assert!(bench.dropped.len() > 20 && bench.dropped.iter().all(|drop| drop.flow == 0));
    }
}
