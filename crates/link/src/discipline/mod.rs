//! Every discipline with its rules, in base units. Defaults are Linux's.

pub(crate) mod codel;
pub(crate) mod dualpi2;
pub(crate) mod fq_codel;
pub(crate) mod pie;
pub(crate) mod red;
pub(crate) mod tbf;
pub(crate) mod tc;

use crate::{Codel, DropTail, DualPi2, FqCodel, Pie, Queue, Red, Tbf};

/// A discipline other than a link's plain drop-tail buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// A token-bucket shaper.
    Tbf(TbfRules),
    /// RED.
    Red(RedRules),
    /// CoDel.
    Codel(CodelRules),
    /// FQ-CoDel.
    FqCodel(FqCodelRules),
    /// PIE.
    Pie(PieRules),
    /// DualPI2.
    DualPi2(DualPi2Rules),
}

/// Rules of [`Tbf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TbfRules {
    /// The rate at which the bucket fills, in bits per second.
    pub rate_bps: u64,
    /// What it holds, in bytes.
    pub burst_bytes: u64,
    /// What may wait, in bytes.
    pub limit_bytes: u64,
}

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
    /// Marks what has waited longer than this, in nanoseconds, beside the rest.
    pub ce_threshold_ns: Option<u64>,
}

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

impl Discipline {
    /// The queue at time 0, on a link of `rate_bps` whose full packets take `mtu` bytes.
    pub fn build(self, mtu: u64, rate_bps: u64) -> Box<dyn Queue> {
        match self {
            Self::Tbf(rules) => Box::new(Tbf::new(rules)),
            Self::Red(rules) => Box::new(Red::new(rules, rate_bps)),
            Self::Codel(rules) => Box::new(Codel::new(rules, mtu)),
            Self::FqCodel(rules) => Box::new(FqCodel::new(rules, mtu)),
            Self::Pie(rules) => Box::new(Pie::new(rules, mtu)),
            Self::DualPi2(rules) => Box::new(DualPi2::new(rules, mtu)),
        }
    }
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

impl Default for FqCodelRules {
    /// `fq_codel_init`; RFC 8290 section 5.2.
    fn default() -> Self {
        let codel = CodelRules { limit_packets: 10 * 1_024, ecn: true, ..CodelRules::default() };
        Self { codel, flows: 1_024, quantum_bytes: None }
    }
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

impl Discipline {
    /// A FIFO of so many packets as a [`Queue`], for comparisons of queues. A simulated link has a
    /// drop-tail buffer of its own.
    pub fn drop_tail(packets: u64) -> Box<dyn Queue> {
        Box::new(DropTail::of_packets(packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moment;
    use crate::testing::packet;
    use rand_pcg::Pcg64Mcg;

    /// What a limit of three packets, or of their bytes, holds of five, and what where the packet
    /// that the link sends counts as waiting. A shaper has sent it and does not count it; FQ-CoDel
    /// makes room by dropping half of a queue (`fq_codel_drop`).
    #[test]
    fn a_limit_counts_the_packet_that_the_link_sends_where_that_counts() {
        let (limit_packets, limit_bytes) = (3, 4_500);
        let codel = CodelRules { limit_packets, ..CodelRules::default() };
        let flows = FqCodelRules { codel, ..FqCodelRules::default() };
        let pie = PieRules { limit_packets, ..PieRules::default() };
        let dual = DualPi2Rules { limit_packets, ..DualPi2Rules::default() };
        let tbf = TbfRules { rate_bps: 1_000, burst_bytes: 1_500, limit_bytes };
        let red = RedRules {
            limit_bytes,
            min_bytes: 10_000,
            max_bytes: 20_000,
            avpkt_bytes: 1_500,
            burst_packets: 10,
            probability_ppb: 1_000,
            ecn: false,
        };
        for (queue, alone, behind) in [
            (Discipline::drop_tail(3), 3, 2),
            (Discipline::Codel(codel).build(1_500, 1), 3, 2),
            (Discipline::FqCodel(flows).build(1_500, 1), 3, 1),
            (Discipline::Pie(pie).build(1_500, 1), 3, 2),
            (Discipline::DualPi2(dual).build(1_500, 1), 3, 2),
            (Discipline::Tbf(tbf).build(1_500, 1), 3, 3),
            (Discipline::Red(red).build(1_500, 1_000_000_000), 3, 2),
        ] {
            for (in_service, held) in [(0, alone), (1_500, behind)] {
                let (mut queue, mut dropped) = (queue.clone(), Vec::new());
                for id in 0..5 {
                    let (random, dropped) = (&mut Pcg64Mcg::new(7), &mut dropped);
                    let moment = &mut Moment { now: 0, in_service, random, dropped };
                    queue.enqueue(packet(id), moment);
                }
                let found = (queue.packets(), queue.bytes(), dropped.len());
                assert_eq!(found, (held, held * 1_500, 5 - held as usize), "{queue:?}");
            }
        }
    }
}
