//! A token-bucket shaper: what arrives faster than a rate, and more than a bucket holds, waits
//! (Linux's `sch_tbf`). A policer drops it instead.
//!
//! The bucket is full at first. It fills at the rate, and a packet that leaves takes its size out
//! of it (`tbf_dequeue`). What waits is a FIFO of `limit` bytes, and a packet that the bucket can
//! never hold is dropped (`max_size` of `tbf_enqueue`).

use super::{Kind, Knob, Rules, Sizes, UNSET, or};
use crate::bucket::Bucket;
use crate::tc::{Counted, Words};
use crate::{Buffer, DropTail, Moment, Next, Packet, Queue};

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

impl Default for TbfRules {
    fn default() -> Self {
        Self { rate_bps: UNSET, burst_bytes: UNSET, limit_bytes: UNSET }
    }
}

impl Rules for TbfRules {
    const NAME: &'static str = "tbf";
    const ABOUT: &'static str = "Packets wait until a bucket that fills at `rate` holds their \
        size. A full bucket lets a burst pass.";
    const SOURCES: &'static str = "Linux's `sch_tbf`";
    const EXAMPLE: &'static str = "tbf(rate=10Mbps,burst=16KB,limit=1bdp)";
    const KNOBS: &'static [Knob<Self>] = &[
        Knob::new("rate", Kind::Rate, "", |r, it| r.rate_bps = it),
        Knob::new("burst", Kind::Bytes, "", |r, it| r.burst_bytes = it),
        Knob::new("limit", Kind::Bytes, "1bdp", |r, it| r.limit_bytes = it),
    ];

    fn complete(self, link: &Sizes<'_>) -> Result<Self, String> {
        let wire = link.wire;
        if self.burst_bytes < wire {
            let problem = format!("no packet of {wire} bytes would pass; accepted: one or more");
            return Err(format!("burst: {problem}"));
        }
        Ok(Self { limit_bytes: or(self.limit_bytes, link.bdps(1)), ..self })
    }

    fn room(&self) -> Buffer {
        Buffer::Bytes(self.limit_bytes)
    }

    fn bucket(&self) -> Option<(u64, u64)> {
        Some((self.rate_bps, self.burst_bytes))
    }

    fn build(self, _mtu: u64, _rate_bps: u64) -> Box<dyn Queue> {
        Box::new(Tbf::new(self))
    }

    /// A burst leaves at the link's rate.
    fn tc(&self, counted: Counted) -> Option<Words> {
        let [rate, burst, limit] = [self.rate_bps, self.burst_bytes, self.limit_bytes]
            .map(|amount| counted.frames(amount));
        Some(Words::Alone(format!(
            "tbf rate {rate}bit burst {burst}b limit {limit}b peakrate {}bit mtu {}b",
            counted.rate_bps,
            counted.frame + counted.late_bytes()
        )))
    }
}

/// A bucket and what waits for it.
#[derive(Clone, Debug)]
pub struct Tbf {
    bucket: Bucket,
    waiting: DropTail,
}

impl Tbf {
    /// One with these rules, at time 0.
    pub fn new(rules: TbfRules) -> Self {
        Self {
            bucket: Bucket::new(rules.rate_bps.max(1), rules.burst_bytes),
            waiting: DropTail::of_bytes(rules.limit_bytes),
        }
    }
}

impl Queue for Tbf {
    fn enqueue(&mut self, packet: Packet, moment: &mut Moment<'_>) {
        if packet.bytes > self.bucket.size().1 {
            return moment.dropped.push(packet);
        }
        // What is in service has left: a shaper keeps a packet until it may go.
        let moment = &mut Moment {
            in_service: 0,
            random: moment.random,
            dropped: moment.dropped,
            ..*moment
        };
        self.waiting.enqueue(packet, moment);
    }

    fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next {
        let Some(first) = self.waiting.first() else { return Next::Empty };
        match self.bucket.take(first.bytes, moment.now) {
            Ok(()) => self.waiting.dequeue(moment),
            Err(wait) => Next::Wait(moment.now.saturating_add(wait)),
        }
    }

    fn packets(&self) -> u64 {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, packet};

    /// 8 Mbit/s are a byte in a microsecond. The bucket of 3000 bytes is full at first, and no
    /// fuller after a rest.
    #[test]
    fn packets_leave_as_the_bucket_fills() {
        let rules = TbfRules { rate_bps: 8_000_000, burst_bytes: 3_000, limit_bytes: 9_000 };
        let mut bench = Bench::new(Tbf::new(rules));
        let us = 1_000;
        bench.enqueue(0, Packet { bytes: 3_001, ..packet(9) });
        assert_eq!(bench.dropped.len(), 1, "the bucket never holds it");
        for begin in [0, 1_000_000 * us] {
            bench.enqueue(begin, Packet { bytes: 3_000, ..packet(0) });
            bench.enqueue(begin, packet(1));
            bench.enqueue(begin, packet(2));
            assert_eq!((bench.queue.packets(), bench.queue.bytes()), (3, 6_000));
            assert!(matches!(bench.dequeue(begin), Next::Send(Packet { bytes: 3_000, .. })));
            let asked = [0, 1_499 * us, 1_500 * us, 1_500 * us + 1, 3_000 * us, 3_000 * us];
            let found = asked.map(|at| match bench.dequeue(begin + at) {
                Next::Send(packet) => packet.id,
                Next::Wait(until) => until - begin,
                Next::Empty => u64::MAX,
            });
            assert_eq!(found, [1_500 * us, 1_500 * us, 1, 3_000 * us, 2, u64::MAX]);
        }
    }

    /// A rate that does not divide: 3 bit/s take 4000 s for 1500 bytes, 1 byte 2,666,666,666.7 ns.
    #[test]
    fn a_wait_is_rounded_up() {
        let rules = TbfRules { rate_bps: 3, burst_bytes: 1_500, limit_bytes: 9_000 };
        let mut bench = Bench::new(Tbf::new(rules));
        bench.enqueue(0, packet(0));
        bench.enqueue(0, Packet { bytes: 1, ..packet(1) });
        bench.dequeue(5);
        assert_eq!(bench.dequeue(5), Next::Wait(5 + 2_666_666_667));
    }
}
