//! PIE: a queue that drops at random what arrives, with a probability that a controller sets by how
//! long packets wait (RFC 8033; Linux's `sch_pie`).
//!
//! How long packets wait is read from the packet that left last, as Linux does without
//! `dq_rate_estimator`, its default. Probabilities are Linux's fractions of 2^56, delays its ticks
//! of 64 ns. The controller's timer counts jiffies of 4 ms and comes one later than it was set for,
//! as every timer of Linux's wheel does (`calc_index`): 15 ms are 20.

use rand_pcg::rand_core::Rng;

use super::{Kind, Knob, Rules};
use crate::tc::{Counted, Words, ecn_word};
use crate::{Buffer, DropTail, Moment, Next, Packet, Queue};

/// Rules of [`Pie`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieRules {
    /// How long packets should wait, in nanoseconds.
    pub target_ns: u64,
    /// The controller's period, in nanoseconds, which counts in jiffies.
    pub tupdate_ns: u64,
    /// How many packets may wait.
    pub limit_packets: u64,
    /// How the probability follows the distance to the target, in 16ths of a hertz.
    pub alpha: u32,
    /// How it follows the delay's change, in 16ths of a hertz.
    pub beta: u32,
    /// Marks what is ECN-capable instead of dropping it, up to a probability of 10 %.
    pub ecn: bool,
}

impl Default for PieRules {
    /// `pie_params_init`; RFC 8033 section 5.
    fn default() -> Self {
        Self {
            target_ns: 15_000_000,
            tupdate_ns: 15_000_000,
            limit_packets: 1_000,
            alpha: 2,
            beta: 20,
            ecn: false,
        }
    }
}

impl Rules for PieRules {
    const NAME: &'static str = "pie";
    const ABOUT: &'static str = "Drops at random what arrives. A controller sets the probability \
        by how far the delay is from `target`, and by how it changes.";
    const SOURCES: &'static str = "RFC 8033, Linux's `sch_pie`";
    const KNOBS: &'static [Knob<Self>] = &[
        Knob::new("target", Kind::Time, "15ms", |r, it| r.target_ns = it),
        Knob::new("tupdate", Kind::Time, "15ms", |r, it| r.tupdate_ns = it),
        Knob::new("limit", Kind::Packets, "1000pkt", |r, it| r.limit_packets = it),
        Knob::new("alpha", Kind::Count(0, 32), "2", |r, it| r.alpha = it as u32),
        Knob::new("beta", Kind::Count(0, 32), "20", |r, it| r.beta = it as u32),
        Knob::new("ecn", Kind::Switch, "off", |r, it| r.ecn = it > 0),
    ];

    fn room(&self) -> Buffer {
        Buffer::Packets(self.limit_packets)
    }

    fn build(self, mtu: u64, _rate_bps: u64) -> Box<dyn Queue> {
        Box::new(Pie::new(self, mtu))
    }

    fn tc(&self, _counted: Counted) -> Option<Words> {
        Some(Words::InClass(format!(
            "pie limit {} target {}us tupdate {}us alpha {} beta {} {}",
            self.limit_packets,
            self.target_ns / 1_000,
            self.tupdate_ns / 1_000,
            self.alpha,
            self.beta,
            ecn_word(self.ecn)
        )))
    }
}

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
            timer: (FIRST_NS, period(rules.tupdate_ns)),
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
            if self.vars == before {
                let turns = now.saturating_sub(self.timer.0) / self.timer.1;
                self.timer.0 += turns * self.timer.1;
            }
        }
    }

    /// `pie_calculate_probability`; RFC 8033 section 4.2.
    fn calculate_probability(&mut self, backlog: u64) {
        let vars = &mut self.vars;
        let (qdelay, qdelay_old) = (vars.qdelay, vars.qdelay_old);
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
        if qdelay > LONG_DELAY {
            delta = delta.wrapping_add((MAX_PROB / (100 / 2)) as i64);
        }
        let beyond = if delta.is_positive() { MAX_PROB } else { 0 };
        vars.prob = vars.prob.checked_add_signed(delta).unwrap_or(beyond);
        // `update_prob`
        if qdelay == 0 && qdelay_old == 0 && backlog == 0 {
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
    fn drops_early(&mut self, in_service: u64, random: &mut impl Rng) -> bool {
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

/// How far apart the controller's turns are, in nanoseconds: `usecs_to_jiffies` rounds up, and the
/// timer's bucket is that of the jiffy after.
fn period(tupdate_ns: u64) -> u64 {
    (tupdate_ns.div_ceil(JIFFY_NS).max(1) + 1) * JIFFY_NS
}

const MAX_PROB: u64 = u64::MAX >> 8;
/// `PSCHED_SHIFT`.
const TICK_SHIFT: u32 = 6;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> TICK_SHIFT;
/// 150 ms, in ticks: how long a burst passes (RFC 8033 section 4.4).
const MAX_BURST: u64 = 150_000_000 >> TICK_SHIFT;
/// 250 ms, in ticks: from there on the probability grows by 2 % each time.
const LONG_DELAY: u64 = 250_000_000 >> TICK_SHIFT;
/// Debian's and most others' kernels have 250 a second.
const JIFFY_NS: u64 = 4_000_000;
/// The first turn comes half a second after the beginning (`pie_init`).
const FIRST_NS: u64 = 500_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Always, Bench, MS, packet};

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

    /// `pie_timer` comes after half a second and then every 15 ms, which take 5 jiffies of
    /// 4 ms, whenever the queue is asked: while the probability changes, and for as long as it does
    /// not.
    #[test]
    fn the_controllers_turns_are_caught_up_with() {
        let mut by_turns = pie(false);
        by_turns.vars.qdelay = (40 * MS) >> TICK_SHIFT;
        let mut pie = by_turns.clone();
        pie.catch_up(499 * MS, 0);
        assert_eq!(pie.vars.prob, 0);
        (0..10).for_each(|_| by_turns.calculate_probability(0));
        pie.catch_up(699 * MS, 0);
        assert_eq!((&pie.vars, pie.timer.0), (&by_turns.vars, 700 * MS));
        // The packet that the link sends waits too: without it a 64th of the probability decays.
        (pie.vars.qdelay, pie.vars.qdelay_old, pie.vars.prob) = (0, 0, MAX_PROB / 100 * 64);
        let mut idle = pie.clone();
        idle.catch_up(700 * MS, 0);
        pie.catch_up(700 * MS, 1_500);
        assert_eq!(pie.vars.prob - pie.vars.prob / 64, idle.vars.prob);
        (pie.vars.prob, pie.timer.0) = (0, 700 * MS);
        for (now, next) in [(700, 720), (1_000, 1_020), (10_004, 10_020), (10_030, 10_040)] {
            pie.catch_up(now * MS, 0);
            assert_eq!(pie.timer.0, next * MS, "after {now} ms");
        }
    }

    /// One turn of `pie_calculate_probability` from a probability, in millionths, and delays of now
    /// and before, in ms. 125 millionths by ms above the target, 1250 by ms more than before.
    #[test]
    fn the_controllers_exceptions_are_linuxs() {
        let turn = |prob: u64, delay: u64, old: u64, backlog: u64| {
            let mut pie = pie(false);
            pie.vars.prob = (u128::from(MAX_PROB) * u128::from(prob) / 1_000_000) as u64;
            (pie.vars.qdelay, pie.vars.qdelay_old) =
                ((delay * MS) >> TICK_SHIFT, (old * MS) >> TICK_SHIFT);
            pie.calculate_probability(backlog);
            (probability(&pie) * 1e6).round() as u64
        };
        for (prob, delay, old, backlog, expected) in [
            // No more than 2 % at once from 10 % on; below, a half of the step.
            (200_000, 35, 15, 1, 220_000),
            (200_000, 30, 15, 1, 220_000),
            (200_000, 28, 15, 1, 217_875),
            (99_990, 35, 15, 1, 99_990 + 13_750),
            (100_000, 35, 15, 1, 120_000),
            (10_000, 35, 35, 1, 10_000 + 1_250),
            (9_999, 35, 35, 1, 9_999 + 312),
            // 2 % more while packets wait for more than 250 ms.
            (200_000, 250, 250, 1, 220_000),
            (200_000, 251, 251, 1, 240_000),
            // 64 bits hold more than 2^56, a probability of 1; it is 0 at least.
            (990_000, 300, 300, 1, 1_030_000),
            (1_000, 15, 200, 1, 0),
            // It decays by a 64th more on an idle link, but not before a packet tells of its delay.
            (640_000, 0, 0, 0, 628_154),
            (640_000, 0, 0, 1, 638_125),
            (640_000, 0, 1, 0, 636_875),
            (640_000, 1, 0, 0, 639_500),
        ] {
            let found = turn(prob, delay, old, backlog);
            let near = found.abs_diff(expected) <= 60;
            assert!(near, "{prob} at {delay} after {old} ms: {found}, not {expected}");
        }
        let mut pie = pie(false);
        (pie.vars.prob, pie.vars.qdelay, pie.vars.qdelay_old) = (u64::MAX, LONG_DELAY, LONG_DELAY);
        pie.calculate_probability(1);
        assert_eq!(pie.vars.prob, MAX_PROB, "where they overflow it is 1");
    }

    /// `pie_vars_init`, once packets wait for less than half of the target and none is dropped.
    #[test]
    fn a_burst_may_come_again_once_nothing_waits_for_long() {
        let half = ((15 * MS) >> TICK_SHIFT) / 2;
        for (qdelay, qdelay_old, prob, begins_again) in [
            (half - 1, half - 1, 0, true),
            (half, half - 1, 0, false),
            (half - 1, half, 0, false),
            (half - 1, half - 1, MAX_PROB / 10, false),
        ] {
            let mut pie = pie(false);
            pie.vars =
                Vars { qdelay, qdelay_old, prob, burst_time: 0, dq_tstamp: Some(1), accu_prob: 2 };
            pie.calculate_probability(1);
            let vars = (pie.vars.burst_time, pie.vars.dq_tstamp, pie.vars.accu_prob);
            let expected = if begins_again { (MAX_BURST, None, 0) } else { (0, Some(1), 2) };
            assert_eq!(vars, expected, "{qdelay} {qdelay_old} {prob}");
        }
    }

    /// `pie_drop_early`: what saves a packet before any number is drawn, and from which sum of
    /// probabilities on it is dropped without one (RFC 8033 sections 4.1, 4.4 and 5.4).
    #[test]
    fn a_packet_is_dropped_early_only_where_nothing_saves_it() {
        let percent = |of: u128| u128::from(MAX_PROB) / 100 * of;
        let usual = Vars {
            qdelay: (8 * MS) >> TICK_SHIFT,
            prob: MAX_PROB / 5,
            accu_prob: percent(851),
            ..Vars::default()
        };
        let drawn = |number: u64, packets: u64, in_service: u64, vars: &Vars| {
            let mut pie = pie(false);
            (0..packets).for_each(|id| pie.waiting.push(packet(id)));
            pie.vars = vars.clone();
            let drops = pie.drops_early(in_service, &mut Always(number << 8));
            (drops, pie.vars.accu_prob)
        };
        let drops = |packets, in_service, vars: &Vars| drawn(0, packets, in_service, vars);
        let usual = &usual;
        assert!(drops(2, 0, usual).0 && drops(1, 1_500, usual).0, "two packets are a queue");
        assert!(!drops(1, 0, usual).0 && !drops(1, 1_499, usual).0);
        assert!(!drops(2, 0, &Vars { burst_time: 1, ..usual.clone() }).0);
        let short = Vars { qdelay: (7 * MS) >> TICK_SHIFT, ..usual.clone() };
        assert!(drops(2, 0, &short).0, "a probability of a fifth is none to spare");
        assert!(!drops(2, 0, &Vars { prob: MAX_PROB / 5 - 1, ..short.clone() }).0);
        let half = Vars { qdelay: ((15 * MS) >> TICK_SHIFT) / 2, prob: 1, ..usual.clone() };
        assert!(drops(2, 0, &half).0, "half of the target is no short delay");
        // From 85 % on, with this packet's, a number below the probability drops it.
        let prob = MAX_PROB / 100 * 85;
        let first = |prob| Vars { accu_prob: 0, prob, ..usual.clone() };
        assert_eq!(drops(2, 0, &first(prob - 1)), (false, u128::from(prob - 1)));
        assert_eq!(drops(2, 0, &first(prob)), (true, 0));
        assert_eq!(drawn(prob - 1, 2, 0, &first(prob)), (true, 0));
        assert_eq!(drawn(prob, 2, 0, &first(prob)), (false, u128::from(prob)));
        // From 850 % on it is dropped whatever is drawn.
        let sum = |accu_prob| Vars { accu_prob, prob: 1, ..usual.clone() };
        let most = u128::from(MAX_PROB / 2) * 17;
        assert!(drawn(9, 2, 0, &sum(most - 1)).0 && !drawn(9, 2, 0, &sum(most - 2)).0);
        assert_eq!(drops(2, 0, &Vars { prob: 0, ..usual.clone() }), (false, 0));
    }

    /// `pie_process_dequeue`: the delay of the packet that left, none once nothing waits; the time
    /// for a burst runs from one departure to the next.
    #[test]
    fn a_departure_tells_the_delay_and_takes_from_the_bursts_time() {
        let mut bench = Bench::new(pie(false));
        (0..4).for_each(|id| bench.enqueue(id * MS, packet(id)));
        let ticks = |ms: u64| (ms * MS) >> TICK_SHIFT;
        for (at, delay, burst) in [(10, 10, 150), (20, 19, 140), (175, 173, 0), (180, 0, 0)] {
            bench.dequeue(at * MS);
            let vars = &bench.queue.vars;
            assert!(vars.qdelay.abs_diff(ticks(delay)) <= 1, "{vars:?}");
            assert!(vars.burst_time.abs_diff(ticks(burst)) <= 2, "{vars:?}");
        }
        assert_eq!(bench.dequeue(181 * MS), Next::Empty);
    }

    /// RFC 8033 section 5.1: marks stand for drops up to a probability of 10 %.
    #[test]
    fn above_ten_percent_what_is_ecn_capable_is_dropped_too() {
        for (prob, dropped) in [(MAX_PROB / 10, 0), (MAX_PROB / 10 + 1, 1)] {
            let mut bench = Bench::new(pie(true));
            (0..3).for_each(|id| bench.queue.waiting.push(packet(id)));
            let accu_prob = u128::from(MAX_PROB) * 9;
            let qdelay = (20 * MS) >> TICK_SHIFT;
            bench.queue.vars = Vars { prob, accu_prob, qdelay, ..Vars::default() };
            bench.enqueue(0, packet(3));
            while bench.dequeue(0) != Next::Empty {}
            assert_eq!((bench.dropped.len(), bench.marked()), (dropped, 1 - dropped));
            assert_eq!(bench.queue.vars.accu_prob == 0, dropped == 1);
        }
    }

    #[test]
    fn a_turn_is_a_jiffy_later_than_its_timer_was_set_for() {
        assert_eq!([8, 15, 30].map(|ms| period(ms * MS) / MS), [12, 20, 36]);
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
        assert!(!bench.dropped.is_empty());
    }
}
