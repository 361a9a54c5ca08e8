//! The rate of a path from its ACKs, without the pause between two rounds: the gap-compensated
//! bandwidth estimation of Stateful-TCP (Guo and Lee, "Stateful-TCP - A New Approach to Accelerate
//! TCP Slow-Start", IEEE Access 8, 2020; draft-lee-tcpm-stateful-tcp-00).
//!
//! A window below what the path holds leaves the path idle for a part of every round. What arrives
//! in a round over the time of the round then says how large the window was, not what the path
//! carries. So the longest gap between two ACKs is taken off the time, and what the ACK that ended
//! it brought is taken off the data. In cycles, each of which begins with an ACK:
//!
//! ```text
//! cycle:  up to the first ACK that comes more than an RTT (the newest sample) after its beginning
//! sample = (delivered - what the ACK behind the longest gap brought) / (time - longest gap)
//! rate   = the largest of the last five samples
//! ```
//!
//! Published: all of it in the authors' module for Linux (`stateful_bandwidth_estimation()`), with
//! three segments that a cycle needs and three ACKs that the connection must have seen before. Of
//! every cycle but the first the module also leaves out what the first ACK brought, though it
//! counts the time before it, so that it says up to an n-th too little where n ACKs come in an RTT;
//! here that ACK counts.

use crate::event::Ack;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::View;

/// Measures cycle by cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct GapCompensated {
    /// How many ACKs have come, as far as it is counted.
    acks: u8,
    cycle: Option<Cycle>,
    /// The last samples in a ring.
    samples: [Rate; SAMPLES],
    /// How many there have been: the next goes to this place, modulo [`SAMPLES`].
    count: usize,
}

/// What has arrived since an ACK.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    began: Instant,
    /// When the newest ACK came.
    last: Instant,
    delivered: Bytes,
    longest_gap: Span,
    /// What the ACK that ended it brought.
    behind_gap: Bytes,
}

impl Cycle {
    fn new(now: Instant) -> Self {
        let (delivered, behind_gap) = (Bytes(0), Bytes(0));
        Self { began: now, last: now, delivered, longest_gap: Span(0), behind_gap }
    }

    fn take(&mut self, ack: &Ack) {
        let gap = ack.now.since(self.last);
        if gap >= self.longest_gap {
            (self.longest_gap, self.behind_gap) = (gap, ack.credited);
        }
        self.last = ack.now;
        self.delivered += ack.credited;
    }

    /// The rate without the longest gap; `None` if nothing else came.
    fn sample(&self) -> Option<Rate> {
        let (bytes, time) =
            (self.delivered - self.behind_gap, self.last.since(self.began) - self.longest_gap);
        (bytes > Bytes(0) && time > Span(0)).then(|| bytes.per(time))
    }
}

impl GapCompensated {
    /// The largest of the last samples, once there is one.
    pub fn rate(&self) -> Option<Rate> {
        self.samples.into_iter().max().filter(|rate| *rate > Rate(0))
    }

    /// Takes an ACK in.
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        if ack.credited == Bytes(0) {
            return;
        }
        self.acks = self.acks.saturating_add(1);
        let Some(cycle) = &mut self.cycle else {
            self.cycle = Some(Cycle::new(ack.now));
            return;
        };
        cycle.take(ack);
        if self.acks <= LEAST_ACKS || ack.now.since(cycle.began) <= view.rtt.latest {
            return;
        }
        if let Some(sample) =
            cycle.sample().filter(|_| cycle.delivered >= view.mss * LEAST_SEGMENTS)
        {
            self.samples[self.count % SAMPLES] = sample;
            self.count = self.count.wrapping_add(1);
        }
        self.cycle = Some(Cycle::new(ack.now));
    }
}

/// `BW_NUM` of the authors' module.
const SAMPLES: usize = 5;

/// `MIN_ACK_REQUIRED`: as many ACKs come before the first sample,
const LEAST_ACKS: u8 = 3;

/// and as many segments in a cycle that gives one.
const LEAST_SEGMENTS: u64 = 3;

#[cfg(test)]
mod tests {
    use core::iter::{once, repeat_n};

    use super::*;
    use crate::testing::{ack, view};

    /// ACKs, each so many milliseconds after the last, for so many segments; the RTT is 100 ms.
    fn after(acks: impl IntoIterator<Item = (u64, u64)>) -> Option<u64> {
        let (mut estimate, mut view) = (GapCompensated::default(), view(10, Bytes::MAX));
        for (gap_ms, segments) in acks {
            view.now = view.now + Span::from_millis(gap_ms);
            estimate.on_ack(&ack(&view, segments), &view);
        }
        estimate.rate().map(|rate| rate.0)
    }

    /// A pause, and ten ACKs 2 ms apart.
    fn round(pause_ms: u64) -> impl Iterator<Item = (u64, u64)> {
        once((pause_ms, 1)).chain(repeat_n((2, 1), 9))
    }

    #[test]
    fn the_pause_between_two_rounds_counts_for_nothing() {
        // A packet per 2 ms; all that came over all the time would be 100 packets per second.
        for pause_ms in [83, 90] {
            let acks = round(2).chain(round(pause_ms)).chain(round(pause_ms));
            assert_eq!(after(acks), Some(500_000), "{pause_ms}");
        }
    }

    #[test]
    fn without_a_pause_it_is_what_arrives() {
        assert_eq!(after([(5, 2); 22]), Some(400_000));
        assert_eq!(after([(5, 2); 21]), None, "100 ms, and not more");
    }

    #[test]
    fn the_first_acks_and_small_cycles_say_nothing() {
        assert_eq!(after([(60, 2); 3]), None, "three ACKs");
        // The first cycle goes on until the fourth: six segments in 180 ms, less two in 60 ms.
        assert_eq!(after([(60, 2); 4]), Some(4_000 * 1_000 / 120));
        // Later ones have two segments each, at 20 per second.
        assert_eq!(after(repeat_n((60, 1), 4).chain([(51, 1); 20])), Some(2_000 * 1_000 / 120));
    }

    #[test]
    fn the_largest_of_five_samples_counts() {
        let rate = |slow| after(once((1, 1)).chain([(2, 1); 51]).chain(repeat_n((10, 1), slow)));
        assert_eq!(rate(4 * 11), Some(500_000));
        assert_eq!(rate(5 * 11), Some(100_000), "the first is forgotten");
    }

    #[test]
    fn acks_at_one_instant_give_no_rate() {
        assert_eq!(after([(0, 3), (0, 3), (0, 3), (0, 3), (101, 3), (101, 3)]), None);
    }

    #[test]
    fn an_ack_that_brings_nothing_is_no_ack() {
        let acks = repeat_n((5, 2), 3).chain(repeat_n((0, 0), 9)).chain(repeat_n((5, 2), 19));
        assert_eq!(after(acks), Some(400_000));
    }
}
