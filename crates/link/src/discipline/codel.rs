//! CoDel: a queue that drops, or marks, when packets have waited too long for too long (RFC 8289;
//! Linux's `sch_codel` and `codel_impl.h`).
//!
//! The delay of a packet is known when it leaves. Once all that left for `interval` had waited for
//! `target` or longer, one is dropped, and others after `interval` over the square root of their
//! number, until one has waited for less.
//!
//! Times are Linux's units of 1024 ns, and the inverse square root is Linux's 16 bits after one
//! step of Newton's per drop: both decide when the next drop comes.

use super::{Kind, Knob, Rules};
use crate::tc::{Counted, Words, ecn_word};
use crate::{Buffer, DropTail, Moment, Next, Packet, Queue};

/// Rules of [`Codel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelRules {
    /// How long packets may wait, in nanoseconds.
    pub target_ns: u64,
    /// For how long they may wait longer, in nanoseconds: about the largest RTT.
    pub interval_ns: u64,
    /// How many may wait.
    pub limit_packets: u64,
    /// Marks what is ECN-capable instead of dropping it.
    pub ecn: bool,
    /// Marks what has waited longer than this, in nanoseconds, in addition.
    pub ce_threshold_ns: Option<u64>,
}

impl Default for CodelRules {
    /// `codel_params_init` and `DEFAULT_CODEL_LIMIT`; RFC 8289 section 4.
    fn default() -> Self {
        Self {
            target_ns: 5_000_000,
            interval_ns: 100_000_000,
            limit_packets: 1_000,
            ecn: false,
            ce_threshold_ns: None,
        }
    }
}

impl Rules for CodelRules {
    const NAME: &'static str = "codel";
    const ABOUT: &'static str = "Drops what leaves, once all packets of an `interval` have waited \
        for `target` or longer, and then at the interval over the square root of the number of \
        drops.";
    const SOURCES: &'static str = "RFC 8289, Linux's `sch_codel`";
    const KNOBS: &'static [Knob<Self>] = &[
        Knob::new("target", Kind::Time, "5ms", |r, it| r.target_ns = it),
        Knob::new("interval", Kind::Time, "100ms", |r, it| r.interval_ns = it),
        Knob::new("limit", Kind::Packets, "1000pkt", |r, it| r.limit_packets = it),
        Knob::new("ecn", Kind::Switch, "off", |r, it| r.ecn = it > 0),
        Knob::new("ce_threshold", Kind::Time, "(none)", |r, it| r.ce_threshold_ns = Some(it)),
    ];

    fn room(&self) -> Buffer {
        Buffer::Packets(self.limit_packets)
    }

    fn build(self, mtu: u64, _rate_bps: u64) -> Box<dyn Queue> {
        Box::new(Codel::new(self, mtu))
    }

    fn tc(&self, _counted: Counted) -> Option<Words> {
        Some(Words::InClass(format!("codel {}", self.words())))
    }
}

impl CodelRules {
    /// For `tc`.
    pub(super) fn words(&self) -> String {
        let us = |ns: u64| ns / 1_000;
        let above = self.ce_threshold_ns.map(|ns| format!(" ce_threshold {}us", us(ns)));
        format!(
            "limit {} target {}us interval {}us {}{}",
            self.limit_packets,
            us(self.target_ns),
            us(self.interval_ns),
            ecn_word(self.ecn),
            above.unwrap_or_default()
        )
    }
}

/// A FIFO under CoDel.
#[derive(Clone, Debug)]
pub struct Codel {
    waiting: DropTail,
    limit: u64,
    law: Law,
    state: State,
}

impl Codel {
    /// One with these rules; a full packet takes `mtu` bytes.
    pub fn new(rules: CodelRules, mtu: u64) -> Self {
        Self {
            waiting: DropTail::default(),
            limit: rules.limit_packets,
            law: Law::new(&rules, mtu),
            state: State::default(),
        }
    }
}

impl Queue for Codel {
    /// `codel_qdisc_enqueue`.
    fn enqueue(&mut self, packet: Packet, moment: &mut Moment<'_>) {
        let held = self.waiting.packets() + u64::from(moment.in_service > 0);
        match held < self.limit {
            true => self.waiting.push(packet),
            false => moment.dropped.push(packet),
        }
    }

    fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next {
        self.state.dequeue(&self.law, &mut self.waiting, moment).map_or(Next::Empty, Next::Send)
    }

    fn packets(&self) -> u64 {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

/// Where CoDel takes packets from.
pub(crate) trait Source {
    /// The next packet (`dequeue_func`).
    fn take(&mut self) -> Option<Packet>;

    /// Bytes that wait behind it.
    fn backlog(&self) -> u64;
}

impl Source for DropTail {
    fn take(&mut self) -> Option<Packet> {
        self.pop()
    }

    fn backlog(&self) -> u64 {
        self.bytes()
    }
}

/// What holds for all queues of a discipline (`codel_params`).
#[derive(Clone, Debug)]
pub(crate) struct Law {
    target: u32,
    interval: u32,
    ce_threshold: Option<u32>,
    mtu: u64,
    ecn: bool,
}

/// What CoDel remembers of a queue, under Linux's names (`codel_vars`).
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// Drops since it began to drop.
    pub(crate) count: u32,
    /// `count` when it began.
    lastcount: u32,
    dropping: bool,
    /// 2^16 over the square root of `count`.
    rec_inv_sqrt: u16,
    /// When the delay will have been above the target for an interval; 0 if it is below.
    first_above_time: u32,
    drop_next: u32,
    /// How long the last packet waited.
    ldelay: u32,
}

impl Law {
    pub(crate) fn new(rules: &CodelRules, mtu: u64) -> Self {
        Self {
            target: units(rules.target_ns),
            interval: units(rules.interval_ns),
            ce_threshold: rules.ce_threshold_ns.map(units),
            mtu,
            ecn: rules.ecn,
        }
    }

    /// `codel_control_law`; RFC 8289 section 5.4.
    fn control_law(&self, t: u32, rec_inv_sqrt: u16) -> u32 {
        let inverse = u64::from(rec_inv_sqrt) << REC_INV_SQRT_SHIFT;
        t.wrapping_add(((u64::from(self.interval) * inverse) >> 32) as u32)
    }
}

impl State {
    /// `codel_dequeue`: the next packet after those that are dropped; RFC 8289 section 5.5.
    pub(crate) fn dequeue(
        &mut self,
        law: &Law,
        source: &mut dyn Source,
        moment: &mut Moment<'_>,
    ) -> Option<Packet> {
        let Some(mut packet) = source.take() else {
            self.dropping = false;
            return None;
        };
        let now = units(moment.now);
        let drop = self.should_drop(law, Some(&packet), source.backlog(), now);
        let packet = match (self.dropping, drop) {
            (true, false) => {
                self.dropping = false;
                Some(packet)
            }
            (true, true) => self.go_on_dropping(law, packet, source, moment),
            (false, true) => {
                if !(law.ecn && packet.mark()) {
                    moment.dropped.push(packet);
                    let next = source.take();
                    self.should_drop(law, next.as_ref(), source.backlog(), now);
                    self.begin_dropping(law, now);
                    return self.mark_above_threshold(law, next);
                }
                self.begin_dropping(law, now);
                Some(packet)
            }
            (false, false) => Some(packet),
        };
        self.mark_above_threshold(law, packet)
    }

    /// In the dropping state: one for every time that has come, with `count` one higher each.
    fn go_on_dropping(
        &mut self,
        law: &Law,
        packet: Packet,
        source: &mut dyn Source,
        moment: &mut Moment<'_>,
    ) -> Option<Packet> {
        let now = units(moment.now);
        let mut packet = Some(packet);
        while self.dropping && is_after_eq(now, self.drop_next) {
            self.count = self.count.wrapping_add(1);
            self.newton_step();
            if law.ecn && packet.as_mut().is_some_and(Packet::mark) {
                self.drop_next = law.control_law(self.drop_next, self.rec_inv_sqrt);
                break;
            }
            moment.dropped.extend(packet);
            packet = source.take();
            if self.should_drop(law, packet.as_ref(), source.backlog(), now) {
                self.drop_next = law.control_law(self.drop_next, self.rec_inv_sqrt);
            } else {
                self.dropping = false;
            }
        }
        packet
    }

    /// The first drop or mark. Soon after the last ones it begins with the number of drops that was
    /// right then.
    fn begin_dropping(&mut self, law: &Law, now: u32) {
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.lastcount);
        let ago = now.wrapping_sub(self.drop_next);
        if delta > 1 && !is_after_eq(ago, law.interval.wrapping_mul(16)) {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.lastcount = self.count;
        self.drop_next = law.control_law(now, self.rec_inv_sqrt);
    }

    /// `codel_should_drop`: whether packets have waited for the target or longer since an interval.
    fn should_drop(&mut self, law: &Law, packet: Option<&Packet>, backlog: u64, now: u32) -> bool {
        let Some(packet) = packet else {
            self.first_above_time = 0;
            return false;
        };
        self.ldelay = now.wrapping_sub(units(packet.at));
        if !is_after_eq(self.ldelay, law.target) || backlog <= law.mtu {
            self.first_above_time = 0;
            return false;
        }
        if self.first_above_time == 0 {
            self.first_above_time = now.wrapping_add(law.interval);
            return false;
        }
        is_after_eq(now, self.first_above_time.wrapping_add(1))
    }

    /// `codel_Newton_step`: y (3 - count y^2) / 2.
    fn newton_step(&mut self) {
        let inverse = u64::from(self.rec_inv_sqrt) << REC_INV_SQRT_SHIFT;
        let squared = (inverse * inverse) >> 32;
        let step = (3_u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(squared)) >> 2;
        let next = step.wrapping_mul(inverse) >> (32 - 2 + 1);
        self.rec_inv_sqrt = (next >> REC_INV_SQRT_SHIFT) as u16;
    }

    /// `ce_threshold`: a step in addition to CoDel.
    fn mark_above_threshold(&self, law: &Law, mut packet: Option<Packet>) -> Option<Packet> {
        let above = |threshold: u32| is_after_eq(self.ldelay, threshold.wrapping_add(1));
        if law.ce_threshold.is_some_and(above) {
            packet.as_mut().map(Packet::mark);
        }
        packet
    }
}

/// `codel_get_time`.
fn units(ns: u64) -> u32 {
    (ns >> CODEL_SHIFT) as u32
}

/// `codel_time_after_eq`, on a clock that wraps.
fn is_after_eq(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 >= 0
}

const CODEL_SHIFT: u32 = 10;
const REC_INV_SQRT_SHIFT: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, MS, packet};

    fn rules(ecn: bool) -> CodelRules {
        CodelRules { ecn, ..CodelRules::default() }
    }

    /// A queue in which every packet has waited for 50 ms, served every millisecond: the times of
    /// the drops.
    fn drops_ms(queue: Codel, until_ms: u64) -> Vec<u64> {
        let mut bench = Bench::new(queue);
        let mut at = Vec::new();
        for id in 0..until_ms {
            bench.enqueue(id * MS, packet(id));
            let before = bench.dropped.len();
            if id >= 50 {
                bench.dequeue(id * MS);
            }
            at.extend(vec![id; bench.dropped.len() - before]);
            // What was dropped made the queue shorter.
            (before..bench.dropped.len()).for_each(|more| {
                bench.enqueue(id * MS, packet(1_000_000 + more as u64));
            });
        }
        at
    }

    /// RFC 8289 section 5.4: intervals of 100 ms over the square roots of 1, 2, 3, ... The root is
    /// one step of Newton's for each drop, y (3 - n y^2) / 2: rough at 2 and 3, then within 5 %.
    #[test]
    fn drops_come_at_the_interval_over_the_square_root_of_their_number() {
        let drops = drops_ms(Codel::new(rules(false), 1_500), 1_000);
        assert!(drops.len() > 20, "{drops:?}");
        let (mut expected, mut y) = (150.0, 1.0_f64);
        for (found, n) in drops.iter().zip(1..) {
            let n = f64::from(n);
            y = if n > 1.0 { y * (3.0 - n * y * y) / 2.0 } else { 1.0 };
            assert!((0.0..2.0).contains(&(*found as f64 - expected)), "{found} {expected}");
            assert!((2.0..4.0).contains(&n) || (y * n.sqrt() - 1.0).abs() < 0.05, "{n}");
            expected += 100.0 * y;
        }
    }

    /// The inverse square root of the first counts as Linux's 16 bits have it, by hand.
    #[test]
    fn one_step_of_newtons_for_each_drop() {
        let mut state = State { count: 1, rec_inv_sqrt: u16::MAX, ..State::default() };
        let mut found = Vec::new();
        for count in 2..=5 {
            state.count = count;
            state.newton_step();
            found.push(f64::from(state.rec_inv_sqrt) / 65_536.0);
        }
        // y (3 - n y^2) / 2 from 1: 0.5, 0.5625, 0.4878, 0.4416.
        let mut y = 65_535.0 / 65_536.0;
        for (found, n) in found.iter().zip(2..) {
            y = y * (3.0 - f64::from(n) * y * y) / 2.0;
            assert!((found - y).abs() < 1e-4, "{found} {y}");
        }
    }

    /// `codel_dequeue`, RFC 8289 section 5.5: dropping that begins again within 16 intervals begins
    /// with as many drops as the last time, if those were two or more.
    #[test]
    fn dropping_begins_again_where_it_ended_not_long_ago() {
        let law = Law::new(&rules(false), 1_500);
        let anew = (1, u16::MAX);
        // Two drops at half of the inverse root: 1/2 (3 - 2/4) / 2.
        for (drops, ago, expected) in [
            (0, 1, anew),
            (1, 1, anew),
            (2, 1, (2, 40_960)),
            (2, 16 * law.interval - 1, (2, 40_960)),
            (2, 16 * law.interval, anew),
        ] {
            let (lastcount, rec_inv_sqrt) = (7, 1 << 15);
            let mut state = State { count: 7 + drops, lastcount, rec_inv_sqrt, ..State::default() };
            state.begin_dropping(&law, ago);
            assert_eq!((state.count, state.rec_inv_sqrt), expected, "{drops} drops, {ago} ago");
            let next = ago + ((u64::from(law.interval) * u64::from(expected.1)) >> 16) as u32;
            assert_eq!((state.lastcount, state.drop_next), (expected.0, next));
        }
    }

    #[test]
    fn what_waits_for_less_than_the_target_is_left_alone_and_so_is_one_packet() {
        let mut bench = Bench::new(Codel::new(rules(false), 1_500));
        for id in 0..2_000 {
            bench.enqueue(id * MS, packet(id));
            if id >= 4 {
                bench.dequeue(id * MS);
            }
        }
        assert!(bench.dropped.is_empty());
        let mut bench = Bench::new(Codel::new(rules(false), 1_500));
        for id in 0..200 {
            bench.enqueue(id * 100 * MS, packet(id));
            bench.dequeue(id * 100 * MS + 50 * MS);
        }
        assert!(bench.dropped.is_empty(), "a queue of one packet is no queue");
    }

    #[test]
    fn with_ecn_packets_are_marked_instead() {
        let mut bench = Bench::new(Codel::new(rules(true), 1_500));
        for id in 0..1_000 {
            bench.enqueue(id * MS, packet(id));
            if id >= 50 {
                bench.dequeue(id * MS);
            }
        }
        assert!(bench.dropped.is_empty() && bench.marked() > 20, "{}", bench.marked());
    }

    #[test]
    fn the_limit_drops_what_arrives() {
        let limit_packets = 3;
        let mut bench = Bench::new(Codel::new(CodelRules { limit_packets, ..rules(false) }, 1_500));
        (0..5).for_each(|id| bench.enqueue(0, packet(id)));
        assert_eq!(bench.dropped.iter().map(|packet| packet.id).collect::<Vec<_>>(), [3, 4]);
    }
}
