//! RED: a queue that drops, or marks, at random what arrives, with a probability that rises with
//! the average of its length (Floyd and Jacobson, 1993; Linux's `sch_red` and `red.h`).
//!
//! Below `min` bytes in the average nothing is dropped, at `max` and above everything: Linux has no
//! gentle part between `max` and twice that. Weight, probability and the decay on an idle link are
//! what `tc` computes from `burst`, `avpkt`, `probability` and the link's rate.
//!
//! `tc` computes the decay for ticks of 64 ns, and the kernel looks it up by microseconds, so that
//! an average on an idle link falls 15 times more slowly than meant. It is kept so.

use rand_pcg::rand_core::Rng;

use super::{Kind, Knob, MOST, Rules, Sizes, UNSET, or};
use crate::tc::{Counted, Words};
use crate::{Buffer, DropTail, Moment, Next, Packet, Queue};

/// Rules of [`Red`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedRules {
    /// What may wait, in bytes.
    pub limit_bytes: u64,
    /// The average from which on packets may be dropped, in bytes.
    pub min_bytes: u64,
    /// The average from which on all are, in bytes.
    pub max_bytes: u64,
    /// A packet's mean size, in bytes.
    pub avpkt_bytes: u64,
    /// A burst of so many packets passes an empty queue.
    pub burst_packets: u64,
    /// The probability just below `max_bytes`, of 10^9.
    pub probability_ppb: u32,
    /// Marks what is ECN-capable instead.
    pub ecn: bool,
}

impl Default for RedRules {
    fn default() -> Self {
        Self {
            limit_bytes: UNSET,
            min_bytes: UNSET,
            max_bytes: UNSET,
            avpkt_bytes: UNSET,
            burst_packets: UNSET,
            probability_ppb: 20_000_000,
            ecn: false,
        }
    }
}

impl Rules for RedRules {
    const NAME: &'static str = "red";
    const ABOUT: &'static str = "Drops at random what arrives. The probability rises with an \
        average of the queue from 0 at `min` to `probability` at `max`; from there on everything \
        is dropped.";
    const SOURCES: &'static str = "Floyd and Jacobson 1993, Linux's `sch_red`";
    const KNOBS: &'static [Knob<Self>] = &[
        Knob::new("limit", Kind::Bytes, "4bdp", |r, it| r.limit_bytes = it),
        Knob::new("max", Kind::Bytes, "(a quarter of that)", |r, it| r.max_bytes = it),
        Knob::new("min", Kind::Bytes, "(a third of that)", |r, it| r.min_bytes = it),
        Knob::new("avpkt", Kind::Size, "(a full packet)", |r, it| r.avpkt_bytes = it),
        Knob::new("burst", Kind::Count(1, MOST), "(from those)", |r, it| r.burst_packets = it),
        Knob::new("probability", Kind::Share, "2%", |r, it| r.probability_ppb = it as u32),
        Knob::new("ecn", Kind::Switch, "off", |r, it| r.ecn = it > 0),
    ];

    /// As `tc` has it.
    fn complete(self, link: &Sizes<'_>) -> Result<Self, String> {
        let limit_bytes = or(self.limit_bytes, link.bdps(4));
        let max_bytes = or(self.max_bytes, limit_bytes / 4);
        let min_bytes = or(self.min_bytes, max_bytes / 3);
        let avpkt_bytes = or(self.avpkt_bytes, link.wire).max(1);
        let usual = (2 * min_bytes + max_bytes) / (3 * avpkt_bytes);
        let burst_packets = or(self.burst_packets, usual.max(1));
        if min_bytes >= max_bytes || max_bytes > limit_bytes {
            return Err("min, max and limit do not rise; accepted: min < max <= limit".to_owned());
        }
        Ok(Self { limit_bytes, min_bytes, max_bytes, avpkt_bytes, burst_packets, ..self })
    }

    fn room(&self) -> Buffer {
        Buffer::Bytes(self.limit_bytes)
    }

    fn build(self, _mtu: u64, rate_bps: u64) -> Box<dyn Queue> {
        Box::new(Red::new(self, rate_bps))
    }

    fn tc(&self, counted: Counted) -> Option<Words> {
        let [limit, min, max, avpkt] =
            [self.limit_bytes, self.min_bytes, self.max_bytes, self.avpkt_bytes]
                .map(|bytes| counted.frames(bytes));
        Some(Words::InClass(format!(
            "red limit {limit} min {min} max {max} avpkt {avpkt} burst {} bandwidth {}bit \
             probability {}{}",
            self.burst_packets,
            counted.rate_bps,
            f64::from(self.probability_ppb) / 1e9,
            if self.ecn { " ecn" } else { "" }
        )))
    }
}

/// A FIFO under RED.
#[derive(Clone, Debug)]
pub struct Red {
    waiting: DropTail,
    ecn: bool,
    parms: Parms,
    /// The average, in bytes times 2^Wlog.
    qavg: u64,
    /// Packets since the last random number; -1 below `min` and above `max`.
    qcount: i64,
    /// The random number.
    q_r: u64,
    /// Since when the link is idle, in nanoseconds.
    qidlestart: Option<u64>,
}

/// What the rules come to, under Linux's names (`red_parms`).
#[derive(Clone, Debug)]
struct Parms {
    qth_min: u64,
    qth_max: u64,
    wlog: u32,
    /// The maximal probability, of 2^32, by byte between the thresholds.
    max_p_delta: u64,
    scell_log: u32,
    stab: Vec<u8>,
}

impl Red {
    /// One with these rules on a link of `rate_bps`.
    pub fn new(rules: RedRules, rate_bps: u64) -> Self {
        Self {
            waiting: DropTail::of_bytes(rules.limit_bytes),
            ecn: rules.ecn,
            parms: Parms::new(&rules, rate_bps),
            qavg: 0,
            qcount: -1,
            q_r: 0,
            qidlestart: Some(0),
        }
    }

    /// `red_calc_qavg`.
    fn average(&self, backlog: u64, now: u64) -> u64 {
        let Some(since) = self.qidlestart else {
            return (self.qavg + backlog).saturating_sub(self.qavg >> self.parms.wlog);
        };
        // `red_calc_qavg_from_idle_time`
        let us_idle = ((now - since) / 1_000).min(255 << self.parms.scell_log);
        match self.parms.stab[(us_idle >> self.parms.scell_log) as usize] {
            0 => {
                let less = (u128::from(self.qavg) * u128::from(us_idle)) >> self.parms.scell_log;
                self.qavg.saturating_sub(less as u64).max(self.qavg / 2)
            }
            shift => self.qavg >> shift,
        }
    }

    /// `red_action`: whether the packet is dropped or marked.
    fn acts(&mut self, random: &mut impl Rng) -> bool {
        if self.qavg < self.parms.qth_min || self.qavg >= self.parms.qth_max {
            self.qcount = -1;
            return self.qavg >= self.parms.qth_max;
        }
        self.qcount += 1;
        // `red_mark_probability`
        let above = (self.qavg - self.parms.qth_min) >> self.parms.wlog;
        let acts = self.qcount > 0 && above.saturating_mul(self.qcount as u64) >= self.q_r;
        if self.qcount == 0 || acts {
            // `red_random`
            self.q_r = u64::from(random.next_u32()) / self.parms.max_p_delta;
            self.qcount = 0;
        }
        acts
    }
}

impl Queue for Red {
    /// `red_enqueue`.
    fn enqueue(&mut self, mut packet: Packet, moment: &mut Moment<'_>) {
        self.qavg = self.average(self.waiting.bytes() + moment.in_service, moment.now);
        self.qidlestart = None;
        if self.acts(moment.random) && !(self.ecn && packet.mark()) {
            return moment.dropped.push(packet);
        }
        self.waiting.enqueue(packet, moment);
    }

    /// `red_dequeue`.
    fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next {
        let next = self.waiting.dequeue(moment);
        if next == Next::Empty {
            self.qidlestart.get_or_insert(moment.now);
        }
        next
    }

    fn packets(&self) -> u64 {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

impl Parms {
    fn new(rules: &RedRules, rate_bps: u64) -> Self {
        let wlog = weight_log(rules);
        let delta = rules.max_bytes.saturating_sub(rules.min_bytes).max(1);
        let max_p = u64::from(rules.probability_ppb) * (u64::from(u32::MAX) + 1) / 1_000_000_000;
        let (scell_log, stab) = idle_damping(wlog, rules.avpkt_bytes, rate_bps);
        Self {
            qth_min: rules.min_bytes << wlog,
            qth_max: rules.max_bytes << wlog,
            wlog,
            max_p_delta: (max_p / delta).max(1),
            scell_log,
            stab,
        }
    }
}

/// `tc_red_eval_ewma`: the largest weight with which a burst of so many packets on an empty queue
/// does not bring the average to `min`. Of a burst that is too small for one, the largest weight.
fn weight_log(rules: &RedRules) -> u32 {
    let burst = rules.burst_packets.max(1) as f64;
    let avpkt = rules.avpkt_bytes.max(1) as f64;
    let wanted = burst + 1.0 - rules.min_bytes as f64 / avpkt;
    let passes = |wlog: &u32| {
        let weight = 0.5_f64.powi(*wlog as i32);
        wanted <= (1.0 - (1.0 - weight).powf(burst)) / weight
    };
    (1..32).find(passes).unwrap_or(31)
}

/// `tc_red_eval_idle_damping`: by how many bits the average falls in so many cells of time, and the
/// size of a cell.
fn idle_damping(wlog: u32, avpkt_bytes: u64, rate_bps: u64) -> (u32, Vec<u8>) {
    let ticks_per_second = 1e9 / 64.0;
    let xmit_time = avpkt_bytes.max(1) as f64 * 8.0 / rate_bps.max(1) as f64 * ticks_per_second;
    let by_tick = -(1.0 - 0.5_f64.powi(wlog as i32)).ln() / xmit_time.max(1.0);
    let longest = 31.0 / by_tick;
    let log = (0..31).find(|log| longest / 2_f64.powi(*log) < 512.0).unwrap_or(31);
    let cell = |number: i32| (f64::from(number) * 2_f64.powi(log) * by_tick).min(31.0) as u8;
    let mut stab: Vec<u8> = (0..255).map(cell).collect();
    stab.push(31);
    (log as u32, stab)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Always, Bench, MS, packet};

    fn rules() -> RedRules {
        RedRules {
            limit_bytes: 400_000,
            min_bytes: 30_000,
            max_bytes: 90_000,
            avpkt_bytes: 1_500,
            burst_packets: 33,
            probability_ppb: 20_000_000,
            ecn: false,
        }
    }

    #[test]
    fn the_weight_is_what_tc_computes() {
        // 33 + 1 - 20 = 14 <= (1 - (1 - W)^33) / W: 7.9 at 2^-3, 14.1 at 2^-4. With a burst of 60,
        // 41: 39.1 at 2^-6, 48.0 at 2^-7.
        assert_eq!(weight_log(&rules()), 4);
        assert_eq!(weight_log(&RedRules { burst_packets: 60, ..rules() }), 7);
        // 34 + 1 - 20 = 15, and (1 - (1 - W)^34) / W is 14.2 at 2^-4, so that it takes 2^-5.
        assert_eq!(weight_log(&RedRules { burst_packets: 34, ..rules() }), 5);
        assert_eq!(weight_log(&RedRules { burst_packets: 3, ..rules() }), 1, "too small for one");
    }

    /// By hand: a packet takes 18,750 ticks of 64 ns at 10 Mbit/s, so that -ln(1 - 1/16) / 18,750
    /// = 3.442e-6 is forgotten by tick. 31 bits of it are 9.006e6 ticks, 275 cells of 2^15.
    #[test]
    fn the_decay_on_an_idle_link_is_what_tc_computes() {
        let (log, stab) = idle_damping(4, 1_500, 10_000_000);
        let some = [0, 8, 9, 100, 254, 255].map(|cell| stab[cell]);
        assert_eq!((log, some, stab.len()), (15, [0, 0, 1, 11, 28, 31], 256));
        // At 1 Mbit/s ten times as long: 9.006e7 ticks, 344 cells of 2^18.
        let (log, stab) = idle_damping(4, 1_500, 1_000_000);
        assert_eq!((log, stab[11], stab[12]), (18, 0, 1));
    }

    /// `red_calc_qavg_from_idle_time`, with the cells above, which the kernel takes for
    /// microseconds: linear within the first, to a half at most, then by whole bits.
    #[test]
    fn the_average_falls_by_what_an_idle_time_is_worth() {
        let mut red = Red::new(rules(), 10_000_000);
        (red.qavg, red.qidlestart) = (64_000, Some(MS));
        for (cells_8th, expected) in
            [(0, 64_000), (2, 48_000), (4, 32_000), (64, 32_000), (72, 32_000), (144, 16_000)]
        {
            let now = MS + cells_8th * (1 << 12) * 1_000;
            assert_eq!(red.average(9, now), expected, "{cells_8th} eighths of a cell");
        }
        assert_eq!(red.average(9, MS + 256 * (1 << 15) * 1_000), 64_000 >> 31);
        red.qavg = 63_999;
        assert_eq!(red.average(9, MS + (1 << 15) * 1_000), 31_999, "a half, rounded down");
    }

    /// `red_calc_qavg_no_idle_time` on every arrival, of what waits and is sent; the first ends an
    /// idle time, which begins when the queue is first found empty.
    #[test]
    fn every_arrival_counts_into_the_average() {
        let mut bench = Bench::new(Red::new(rules(), 10_000_000));
        // Times 16: 0; 1500 waits; 3000 wait; 4500 wait and 1500 are sent.
        for (in_service, expected) in [(0, 0), (0, 1_500), (0, 4_407), (1_500, 4_407 + 6_000 - 275)]
        {
            bench.enqueue_behind(in_service, 0, packet(0));
            assert_eq!((bench.queue.qavg, bench.queue.qidlestart), (expected, None));
        }
        for at in 0..6 {
            bench.dequeue(at * MS);
        }
        assert_eq!(bench.queue.qidlestart, Some(4 * MS));
    }

    /// `red_action` and `red_mark_probability`: from `min` to below `max` the first packet draws a
    /// number, and the one whose count times the excess reaches it is dropped.
    #[test]
    fn the_random_number_says_which_packet_is_dropped() {
        let mut red = Red::new(rules(), 10_000_000);
        let (min, max) = (30_000 << 4, 90_000 << 4);
        // 2 % of 2^32 over 60,000 bytes is 1431 by byte; three times 10,000 bytes is the number.
        let random = &mut Always(1_431 * 30_000);
        let mut acts = |qavg, counts: &[i64]| {
            counts
                .iter()
                .map(|expected| {
                    red.qavg = qavg;
                    let acts = red.acts(random);
                    assert_eq!(red.qcount, *expected, "at {qavg}");
                    acts
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(acts(min - 1, &[-1, -1]), [false, false]);
        assert_eq!(acts(min, &[0, 1, 2]), [false; 3], "nothing above min");
        assert_eq!(acts(max, &[-1, -1]), [true, true]);
        let above = min + (10_000 << 4);
        assert_eq!(acts(above, &[0, 1, 2, 0, 1]), [false, false, false, true, false]);
        assert_eq!(acts(above - 16, &[2, 3, 0]), [false, false, true], "3 times 9,999 is less");
        assert_eq!(acts(max - 1, &[0]), [true]);
    }

    /// Held at 60,000 bytes, halfway, with a probability of 1 %: between two drops uniformly many
    /// packets, 1 to 1/p (Floyd and Jacobson, section 7), 50 on average.
    #[test]
    fn halfway_between_the_thresholds_half_of_the_probability_holds() {
        let mut bench = Bench::new(Red::new(rules(), 10_000_000));
        (0..40).for_each(|id| bench.queue.waiting.push(packet(id)));
        for id in 0..100_000 {
            bench.enqueue(id * MS, packet(id));
            if bench.queue.waiting.packets() > 40 {
                bench.dequeue(id * MS);
            }
        }
        let share = bench.dropped.len() as f64 / 100_000.0;
        assert!((share - 0.02).abs() < 0.001, "{share}");
    }

    #[test]
    fn above_max_everything_is_dropped_or_marked_and_below_min_nothing() {
        for ecn in [false, true] {
            let mut bench = Bench::new(Red::new(RedRules { ecn, ..rules() }, 10_000_000));
            (0..19).for_each(|id| bench.enqueue(0, packet(id)));
            assert!(bench.dropped.is_empty());
            (0..70).for_each(|id| bench.queue.waiting.push(packet(id)));
            (0..100).for_each(|id| bench.enqueue(0, packet(id)));
            let before = bench.dropped.len();
            bench.enqueue(0, packet(1));
            assert_eq!(bench.dropped.len() - before, usize::from(!ecn));
        }
    }

    #[test]
    fn the_average_falls_on_an_idle_link() {
        let mut bench = Bench::new(Red::new(rules(), 10_000_000));
        (0..100).for_each(|id| bench.enqueue(0, packet(id)));
        let full = bench.queue.qavg;
        while bench.dequeue(MS) != Next::Empty {}
        let at = |ms: u64| bench.queue.average(0, MS + ms * MS);
        assert!(at(0) == full && at(100) < full && at(100_000) < full / 1_000);
    }
}
