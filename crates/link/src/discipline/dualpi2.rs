//! DualPI2: one queue for L4S and one for the others, under one controller (RFC 9332; Linux's
//! `sch_dualpi2` of 6.17).
//!
//! The controller holds the longer of both delays at `target` by a probability p. A classic packet
//! is dropped, or marked if it is ECT(0), with p^2, an L4S packet marked with `coupling` times p.
//! L4S packets, ECT(1) and CE, have a queue of their own, which comes first but for a tenth of the
//! time, and are marked too if they have waited for longer than `step`.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use super::{Kind, Knob, Rules};
use crate::tc::{Counted, Words};
use crate::{Buffer, DropTail, Ecn, Moment, Next, Packet, Queue};

/// Rules of [`DualPi2`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Rules {
    /// How long packets should wait, in nanoseconds.
    pub target_ns: u64,
    /// The controller's period, in nanoseconds.
    pub tupdate_ns: u64,
    /// An L4S packet that has waited longer is marked, in nanoseconds.
    pub step_ns: u64,
    /// How much more often L4S packets are marked than the root of the classic probability.
    pub coupling: u32,
    /// How many packets may wait.
    pub limit_packets: u64,
}

impl Default for DualPi2Rules {
    /// `dualpi2_reset_default`; RFC 9332 appendix A.1.
    fn default() -> Self {
        Self {
            target_ns: 15_000_000,
            tupdate_ns: 16_000_000,
            step_ns: 1_000_000,
            coupling: 2,
            limit_packets: 10_000,
        }
    }
}

impl Rules for DualPi2Rules {
    const NAME: &'static str = "dualpi2";
    const ABOUT: &'static str = "Two queues under one controller: ECT(1) has its own, which comes \
        first, and is marked above `step` and by twice the root of the probability with which the \
        others are dropped.";
    const SOURCES: &'static str = "RFC 9332, Linux's `sch_dualpi2`";
    const NOT_IN_TC: Option<&'static str> =
        Some("Linux has dualpi2 from 6.17 on, and `tc` of that time");
    const KNOBS: &'static [Knob<Self>] = &[
        Knob::new("target", Kind::Time, "15ms", |r, it| r.target_ns = it),
        Knob::new("tupdate", Kind::Time, "16ms", |r, it| r.tupdate_ns = it),
        Knob::new("step", Kind::Time, "1ms", |r, it| r.step_ns = it),
        Knob::new("coupling", Kind::Count(1, 255), "2", |r, it| r.coupling = it as u32),
        Knob::new("limit", Kind::Packets, "10000pkt", |r, it| r.limit_packets = it),
    ];

    fn room(&self) -> Buffer {
        Buffer::Packets(self.limit_packets)
    }

    fn build(self, mtu: u64, _rate_bps: u64) -> Box<dyn Queue> {
        Box::new(DualPi2::new(self, mtu))
    }

    fn tc(&self, _counted: Counted) -> Option<Words> {
        None
    }
}

/// Both queues and their controller.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    /// The L-queue.
    l4s: DropTail,
    /// The C-queue.
    classic: DropTail,
    rules: DualPi2Rules,
    mtu: u64,
    /// p, of 2^32 (`pi2_prob`).
    prob: u32,
    last_qdelay: u64,
    /// It is the L-queue's turn if this is 0 or less (`c_protection_credit`).
    credit: i64,
    /// When the controller comes next.
    timer: u64,
}

impl DualPi2 {
    /// One with these rules; a full packet takes `mtu` bytes.
    pub fn new(rules: DualPi2Rules, mtu: u64) -> Self {
        let rules = DualPi2Rules { tupdate_ns: rules.tupdate_ns.max(1), ..rules };
        let (l4s, classic) = (DropTail::default(), DropTail::default());
        let (timer, credit) = (rules.tupdate_ns, first_credit(mtu));
        Self { l4s, classic, rules, mtu, prob: 0, last_qdelay: 0, credit, timer }
    }

    /// The controller's turns that have come by `now` (`dualpi2_timer`).
    fn catch_up(&mut self, now: u64) {
        while self.timer <= now {
            let before = (self.prob, self.last_qdelay);
            self.calculate_probability(self.timer);
            self.timer += self.rules.tupdate_ns;
            // Nothing waits: the delay of what waits grows. So nothing changes any more.
            if before == (self.prob, self.last_qdelay) {
                let turns = now.saturating_sub(self.timer) / self.rules.tupdate_ns;
                self.timer += turns * self.rules.tupdate_ns;
            }
        }
    }

    /// `calculate_probability`; RFC 9332 appendix A.1, figure 6.
    fn calculate_probability(&mut self, now: u64) {
        let waited =
            |queue: &DropTail| queue.first().map_or(0, |first| now.saturating_sub(first.at));
        let qdelay = waited(&self.l4s).max(waited(&self.classic));
        let above = qdelay as i64 - self.rules.target_ns as i64;
        let grown = qdelay as i64 - self.last_qdelay as i64;
        let delta = above.saturating_mul(ALPHA).saturating_add(grown.saturating_mul(BETA));
        self.last_qdelay = qdelay;
        // Toward zero, as of the absolute value.
        let prob = i64::from(self.prob).saturating_add(delta / GRANULARITY);
        self.prob = prob.clamp(0, i64::from(u32::MAX)) as u32;
    }

    /// `dequeue_packet`: the next one, and by how much the credit changes if it is sent.
    fn take(&mut self) -> Option<(Packet, i64, bool)> {
        let both = self.l4s.first().is_some() && self.classic.first().is_some();
        let is_l4s = self.l4s.first().is_some() && (!both || self.credit <= 0);
        let queue = if is_l4s { &mut self.l4s } else { &mut self.classic };
        let Some(packet) = queue.pop() else {
            self.credit = first_credit(self.mtu);
            return None;
        };
        let weight = if is_l4s { CLASSIC_SHARE } else { CLASSIC_SHARE - WHOLE };
        let change = if both { weight * packet.bytes as i64 } else { 0 };
        Some((packet, change, is_l4s))
    }

    /// `must_drop`: marks by the probability; whether the packet is dropped instead.
    fn drops(&self, packet: &mut Packet, is_l4s: bool, random: &mut Pcg64Mcg) -> bool {
        if self.bytes() < 2 * self.mtu {
            return false;
        }
        let mut roll = |prob: u32| random.next_u32() <= prob;
        let coupled = u64::from(self.prob) * u64::from(self.rules.coupling);
        let Ok(coupled) = u32::try_from(coupled) else {
            // Overload: L4S packets are dropped with the classic probability too, and the rest are
            // marked (RFC 9332 section 4.2.3).
            let drops = roll(self.prob) && roll(self.prob);
            if is_l4s && !drops {
                packet.mark();
            }
            return drops;
        };
        match is_l4s {
            true => roll(coupled) && !packet.mark(),
            false => roll(self.prob) && roll(self.prob) && !packet.mark(),
        }
    }
}

impl Queue for DualPi2 {
    /// `dualpi2_enqueue_skb`.
    fn enqueue(&mut self, packet: Packet, moment: &mut Moment<'_>) {
        self.catch_up(moment.now);
        if self.packets() + u64::from(moment.in_service > 0) >= self.rules.limit_packets {
            return moment.dropped.push(packet);
        }
        match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.l4s.push(packet),
            Ecn::Ect0 | Ecn::NotCapable => self.classic.push(packet),
        }
    }

    /// `dualpi2_qdisc_dequeue`.
    fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next {
        self.catch_up(moment.now);
        while let Some((mut packet, change, is_l4s)) = self.take() {
            if self.drops(&mut packet, is_l4s, moment.random) {
                moment.dropped.push(packet);
                continue;
            }
            // `do_step_aqm`
            if is_l4s && moment.now - packet.at > self.rules.step_ns {
                packet.mark();
            }
            self.credit += change;
            return Next::Send(packet);
        }
        Next::Empty
    }

    fn packets(&self) -> u64 {
        self.l4s.packets() + self.classic.packets()
    }

    fn bytes(&self) -> u64 {
        self.l4s.bytes() + self.classic.bytes()
    }
}

/// `c_protection_init`.
fn first_credit(mtu: u64) -> i64 {
    mtu as i64 * (2 * CLASSIC_SHARE - WHOLE)
}

/// 0.16 and 3.2 hertz, of 256ths (41 and 819), as fractions of 2^32 by 64 ns
/// (`dualpi2_scale_alpha_beta`).
const ALPHA: i64 = 41 * (u32::MAX as i64) / 4 / 1_000_000_000;
const BETA: i64 = 819 * (u32::MAX as i64) / 4 / 1_000_000_000;
const GRANULARITY: i64 = 64;
/// Per cent of the turns that the C-queue has where both wait (`c_protection`).
const CLASSIC_SHARE: i64 = 10;
const WHOLE: i64 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, MS, packet};

    fn bench() -> Bench<DualPi2> {
        Bench::new(DualPi2::new(DualPi2Rules::default(), 1_500))
    }

    fn l4s(id: u64) -> Packet {
        Packet { ecn: Ecn::Ect1, ..packet(id) }
    }

    /// RFC 9332 appendix A.1: p grows by alpha (delay - target) + beta (delay - the one before),
    /// with alpha 0.16 and beta 3.2 hertz.
    #[test]
    fn the_controller_is_the_rfcs() {
        let mut queue = DualPi2::new(DualPi2Rules::default(), 1_500);
        let (mut p, mut old): (f64, f64) = (0.0, 0.0);
        queue.classic.push(packet(0));
        for delay_ms in [16_u64, 30, 50, 40, 60, 10, 5, 90] {
            let delay = delay_ms as f64 / 1e3;
            p = (p + 0.160_16 * (delay - 0.015) + 3.199_2 * (delay - old)).clamp(0.0, 1.0);
            old = delay;
            queue.calculate_probability(delay_ms * MS);
            let found = f64::from(queue.prob) / 2_f64.powi(32);
            // Alpha is 44 of 44.02 units.
            assert!((found - p).abs() < 2e-3 * p + 1e-6, "{found} {p}");
        }
    }

    /// `dualpi2_timer` comes every 16 ms, whenever the queue is asked: while a packet waits, and
    /// for as long as nothing does.
    #[test]
    fn the_controllers_turns_are_caught_up_with() {
        let mut queue = bench().queue;
        queue.classic.push(packet(0));
        let mut by_turns = queue.clone();
        (1..=9).for_each(|turn| by_turns.calculate_probability(16 * MS * turn));
        queue.catch_up(150 * MS);
        assert_eq!((queue.prob, queue.last_qdelay), (by_turns.prob, 144 * MS));
        assert_eq!(queue.timer, 160 * MS);
        queue.classic.pop();
        for (now, next) in [(159, 160), (160, 176), (1_000, 1_008), (16_000, 16_016)] {
            queue.catch_up(now * MS);
            assert_eq!(queue.timer, next * MS, "after {now} ms");
        }
        assert_eq!((queue.prob, queue.last_qdelay), (0, 0));
    }

    /// `must_drop`: not while less than two full packets wait behind the one that leaves. In
    /// overload (RFC 9332 section 4.2.3) what is classic is dropped or left alone, never marked.
    #[test]
    fn less_than_two_full_packets_are_no_queue() {
        for (bytes, all) in [(2_999, false), (3_000, true)] {
            let mut bench = bench();
            bench.queue.prob = u32::MAX;
            bench.queue.classic.push(packet(0));
            bench.queue.classic.push(Packet { bytes, ..packet(1) });
            bench.dequeue(0);
            assert_eq!(bench.dropped.len(), usize::from(all), "{bytes}");
        }
        let mut bench = bench();
        bench.queue.prob = u32::MAX / 4 * 3;
        (0..100).for_each(|id| bench.queue.classic.push(packet(id)));
        while bench.dequeue(0) != Next::Empty {}
        assert!(bench.dropped.len() > 30 && bench.sent.len() > 30 && bench.marked() == 0);
    }

    /// `dequeue_packet`: a turn of one queue is owed to the other only if that waits too, 10 to 90
    /// by byte, and all is forgotten once nothing waits.
    #[test]
    fn turns_are_owed_only_while_both_queues_wait() {
        let mut bench = bench();
        let first = -80 * 1_500;
        let mut credit_after = |l4s_waits: u64, classic_waits: u64| {
            (0..l4s_waits).for_each(|id| bench.enqueue(0, l4s(id)));
            (0..classic_waits).for_each(|id| bench.enqueue(0, packet(id)));
            bench.dequeue(0);
            bench.queue.credit
        };
        assert_eq!((credit_after(1, 0), credit_after(0, 1)), (first, first));
        assert_eq!(credit_after(10, 10), first + 10 * 1_500);
        bench.queue.credit = 1;
        bench.dequeue(0);
        assert_eq!(bench.queue.credit, 1 - 90 * 1_500, "the others' turn");
        while bench.dequeue(0) != Next::Empty {}
        assert_eq!(bench.queue.credit, first);
    }

    #[test]
    fn what_has_waited_longer_than_the_step_is_marked() {
        let mut bench = bench();
        bench.enqueue(5 * MS, l4s(1));
        bench.enqueue(5 * MS, l4s(2));
        bench.dequeue(6 * MS);
        bench.dequeue(6 * MS + 1);
        assert_eq!(bench.sent.iter().map(|sent| sent.marked).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn l4s_comes_first_and_the_others_have_a_tenth() {
        let mut bench = bench();
        (0..2_000).for_each(|id| bench.enqueue(0, if id % 2 == 0 { packet(id) } else { l4s(id) }));
        (0..1_000).for_each(|_| {
            bench.dequeue(0);
        });
        let classic = bench.sent.iter().filter(|sent| sent.ecn == Ecn::Ect0).count();
        assert!((91..=101).contains(&classic), "{classic}");
        assert_eq!(bench.sent[0].ecn, Ecn::Ect1);
    }

    /// The square and twice the root of one probability: 1 % of classic, 20 % of L4S packets.
    #[test]
    fn marks_are_coupled() {
        let mut bench = bench();
        bench.queue.prob = u32::MAX / 10;
        (0..40_000).for_each(|id| {
            let packet = if id % 2 == 0 { packet(id) } else { l4s(id) };
            let queue = if id % 2 == 0 { &mut bench.queue.classic } else { &mut bench.queue.l4s };
            queue.push(packet);
        });
        (0..40_000).for_each(|_| {
            bench.dequeue(0);
        });
        let marked = |was: u64| {
            bench.sent.iter().filter(|sent| sent.id % 2 == was && sent.marked).count() as f64
        };
        assert!((marked(0) / 20_000.0 - 0.01).abs() < 0.003, "{}", marked(0));
        assert!((marked(1) / 20_000.0 - 0.2).abs() < 0.01, "{}", marked(1));
    }

    #[test]
    fn in_overload_l4s_is_dropped_too() {
        let mut bench = bench();
        bench.queue.prob = u32::MAX / 4 * 3;
        (0..1_000).for_each(|id| bench.queue.l4s.push(l4s(id)));
        (0..400).for_each(|_| {
            bench.dequeue(0);
        });
        let share = bench.dropped.len() as f64 / (bench.dropped.len() + 400) as f64;
        assert!((share - 9.0 / 16.0).abs() < 0.06, "{share}");
        assert!(bench.sent.iter().all(|sent| sent.marked));
    }
}
