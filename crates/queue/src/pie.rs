//! PIE: a queue that drops at random what arrives, with a probability that a controller sets by how
//! long packets wait (RFC 8033; Linux's `sch_pie`).
//!
//! How long packets wait is read from the packet that left last, as Linux does without
//! `dq_rate_estimator`, its default. Probabilities are Linux's fractions of 2^56, delays its ticks
//! of 64 ns, and the controller's timer counts jiffies of 4 ms: 15 ms are 16.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

use crate::{DropTail, Moment, Next, Packet, PieRules, Queue};

/// A FIFO under PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    waiting: DropTail,
    rules: PieRules,
    /// In ticks.
    target: u64,
    mtu: u64,
    vars: Vars,
    /// When the controller comes next, and its period.
    timer: (u64, u64),
}

/// What PIE remembers, under Linux's names (`pie_vars`). Delays and times are ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Vars {
    qdelay: u64,
    qdelay_old: u64,
    burst_time: u64,
    dq_tstamp: Option<u64>,
    prob: u64,
    accu_prob: u128,
}

impl Pie {
    /// One with these rules; a full packet takes `mtu` bytes.
    pub fn new(rules: PieRules, mtu: u64) -> Self {
        Self {
            waiting: DropTail::default(),
            target: rules.target_ns >> TICK_SHIFT,
            // `usecs_to_jiffies` rounds up.
            timer: (FIRST_NS, rules.tupdate_ns.div_ceil(JIFFY_NS).max(1) * JIFFY_NS),
            rules,
            mtu,
            vars: Vars { burst_time: MAX_BURST, ..Vars::default() },
        }
    }

    /// The controller's turns that have come by `now` (`pie_timer`).
    fn catch_up(&mut self, now: u64, in_service: u64) {
        let backlog = self.waiting.bytes() + in_service;
        while self.timer.0 <= now {
            let before = self.vars.clone();
            self.calculate_probability(backlog);
            self.timer.0 += self.timer.1;
            // Then nothing changes any more.
            if self.vars == before && self.timer.0 <= now {
                self.timer.0 += (now - self.timer.0) / self.timer.1 * self.timer.1;
            }
        }
    }

    /// `pie_calculate_probability`; RFC 8033 section 4.2.
    fn calculate_probability(&mut self, backlog: u64) {
        let vars = &mut self.vars;
        let (qdelay, qdelay_old) = (vars.qdelay, vars.qdelay_old);
        let mut update_prob = qdelay > 0 || backlog == 0;
        // Of 16ths of a hertz.
        let mut alpha = (u64::from(self.rules.alpha) * (MAX_PROB / TICKS_PER_SECOND)) >> 4;
        let mut beta = (u64::from(self.rules.beta) * (MAX_PROB / TICKS_PER_SECOND)) >> 4;
        if vars.prob < MAX_PROB / 10 {
            (alpha, beta) = (alpha >> 1, beta >> 1);
            let mut power = 100;
            while vars.prob < MAX_PROB / power && power <= 1_000_000 {
                (alpha, beta) = (alpha >> 2, beta >> 2);
                power *= 10;
            }
        }
        let above = qdelay.wrapping_sub(self.target) as i64;
        let grown = qdelay.wrapping_sub(qdelay_old) as i64;
        let mut delta =
            (alpha as i64).wrapping_mul(above).wrapping_add((beta as i64).wrapping_mul(grown));
        if delta > (MAX_PROB / (100 / 2)) as i64 && vars.prob >= MAX_PROB / 10 {
            delta = (MAX_PROB / 100 * 2) as i64;
        }
        if qdelay > MUCH {
            delta = delta.wrapping_add((MAX_PROB / (100 / 2)) as i64);
        }
        let old = vars.prob;
        vars.prob = old.wrapping_add_signed(delta);
        if delta > 0 && vars.prob < old {
            (vars.prob, update_prob) = (MAX_PROB, false);
        } else if delta <= 0 && vars.prob > old {
            vars.prob = 0;
        }
        if qdelay == 0 && qdelay_old == 0 && update_prob {
            vars.prob -= vars.prob / 64;
        }
        let half = self.target / 2;
        if qdelay < half && qdelay_old < half && vars.prob == 0 {
            // `pie_vars_init`
            (vars.burst_time, vars.dq_tstamp, vars.accu_prob) = (MAX_BURST, None, 0);
        }
        vars.qdelay_old = qdelay;
    }

    /// `pie_drop_early`; RFC 8033 sections 4.1 and 5.4.
    fn drops_early(&mut self, in_service: u64, random: &mut Pcg64Mcg) -> bool {
        let vars = &mut self.vars;
        if vars.burst_time > 0
            || vars.qdelay < self.target / 2 && vars.prob < MAX_PROB / 5
            || self.waiting.bytes() + in_service < 2 * self.mtu
        {
            return false;
        }
        vars.accu_prob = if vars.prob == 0 { 0 } else { vars.accu_prob + u128::from(vars.prob) };
        if vars.accu_prob < u128::from(MAX_PROB / 100 * 85) {
            return false;
        }
        if vars.accu_prob >= u128::from(MAX_PROB / 2) * 17 {
            return true;
        }
        let drops = random.next_u64() >> 8 < vars.prob;
        if drops {
            vars.accu_prob = 0;
        }
        drops
    }
}

impl Queue for Pie {
    /// `pie_qdisc_enqueue`.
    fn enqueue(&mut self, mut packet: Packet, moment: &mut Moment<'_>) {
        self.catch_up(moment.now, moment.in_service);
        let held = self.waiting.packets() + u64::from(moment.in_service > 0);
        let keeps = held < self.rules.limit_packets
            && (!self.drops_early(moment.in_service, moment.random)
                || self.rules.ecn && self.vars.prob <= MAX_PROB / 10 && packet.mark());
        if keeps {
            return self.waiting.push(packet);
        }
        self.vars.accu_prob = 0;
        moment.dropped.push(packet);
    }

    /// `pie_qdisc_dequeue` and `pie_process_dequeue`.
    fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next {
        self.catch_up(moment.now, 0);
        let Some(packet) = self.waiting.pop() else { return Next::Empty };
        let (now, vars) = (moment.now >> TICK_SHIFT, &mut self.vars);
        vars.qdelay = now - (packet.at >> TICK_SHIFT);
        let dtime = vars.dq_tstamp.map_or(0, |before| now - before);
        vars.dq_tstamp = Some(now);
        if self.waiting.bytes() == 0 {
            vars.qdelay = 0;
        }
        vars.burst_time = vars.burst_time.saturating_sub(dtime);
        Next::Send(packet)
    }

    fn packets(&self) -> u64 {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

const MAX_PROB: u64 = u64::MAX >> 8;
/// `PSCHED_SHIFT`.
const TICK_SHIFT: u32 = 6;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> TICK_SHIFT;
/// 150 ms, in ticks: how long a burst passes (RFC 8033 section 4.4).
const MAX_BURST: u64 = 150_000_000 >> TICK_SHIFT;
/// 250 ms, in ticks: from there on the probability grows by 2 % each time.
const MUCH: u64 = 250_000_000 >> TICK_SHIFT;
/// Debian's and most others' kernels have 250 a second.
const JIFFY_NS: u64 = 4_000_000;
/// The first turn comes half a second after the beginning (`pie_init`).
const FIRST_NS: u64 = 500_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, MS, packet};

    fn pie(ecn: bool) -> Pie {
        Pie::new(PieRules { ecn, ..PieRules::default() }, 1_500)
    }

    fn probability(pie: &Pie) -> f64 {
        pie.vars.prob as f64 / MAX_PROB as f64
    }

    /// RFC 8033 section 4.2: alpha 0.125 and beta 1.25 hertz, scaled down while the probability is
    /// small.
    #[test]
    fn the_controller_is_the_rfcs() {
        let scaled = |p: f64| match p {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        let mut pie = pie(false);
        let (mut p, mut old): (f64, f64) = (0.0, 0.0);
        for delay_ms in [20, 30, 40, 60, 50, 40, 100, 120, 200, 240, 240, 240, 235] {
            let delay = f64::from(delay_ms) / 1e3;
            let change = (0.125 * (delay - 0.015) + 1.25 * (delay - old)) / scaled(p);
            p = (p + if change > 0.02 && p >= 0.1 { 0.02 } else { change }).clamp(0.0, 1.0);
            old = delay;
            pie.vars.qdelay = (u64::from(delay_ms as u32) * MS) >> TICK_SHIFT;
            pie.calculate_probability(100_000);
            assert!((probability(&pie) - p).abs() <= 1e-3 * p, "{delay_ms}: {p}");
        }
        assert!(p > 0.0, "{p}");
    }

    /// Three times what the link sends arrives: 15 ms in the long run, by drops of two thirds.
    #[test]
    fn it_holds_an_overload_near_its_target() {
        let mut bench = Bench::new(pie(false));
        let mut waits = Vec::new();
        for at in 0..60_000 {
            (0..3).for_each(|_| bench.enqueue(at * MS, packet(at)));
            if let Next::Send(sent) = bench.dequeue(at * MS) {
                waits.push(at * MS - sent.at);
            }
        }
        let last = &waits[30_000..];
        let mean = last.iter().sum::<u64>() as f64 / last.len() as f64 / 1e6;
        assert!((10.0..20.0).contains(&mean), "{mean}");
        let share = bench.dropped.len() as f64 / 180_000.0;
        assert!((share - 2.0 / 3.0).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_burst_of_less_than_150_ms_passes_and_marks_stand_for_drops() {
        let mut bench = Bench::new(pie(true));
        for at in 0..20_000 {
            bench.enqueue(at * MS, packet(at));
            if at >= 50 && at % 50 > 0 {
                bench.dequeue(at * MS);
            }
            assert!(at > 150 || bench.dropped.is_empty());
        }
        // Nobody answers the marks, so that at last packets are dropped.
        assert!(bench.marked() > 100, "{}", bench.marked());
    }
}
