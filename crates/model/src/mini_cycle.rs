//! Slow start round by round (section 2.2, Figure 2).

use serde::Serialize;

use crate::packets::float;
use crate::slow_start::SlowStart;

/// A mini-cycle: the round trip in which the ACKs of one burst release the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MiniCycle {
    /// Its number; 0 is the first window.
    pub number: u32,
    /// The window at its beginning, in packets.
    pub from: f64,
    /// The window at its end, in packets; so many packets are sent in it.
    pub to: f64,
    /// Packets still waiting at its beginning.
    pub queue_from: f64,
    /// Packets waiting at the end of its burst, at most the buffer.
    pub queue_peak: f64,
    /// How long it lasts, in round trips of the empty path; more than 1 when packets wait.
    pub round_trips: f64,
    /// Whether the buffer overflows in it.
    pub overflows: bool,
}

impl SlowStart {
    /// The mini-cycles of slow start without a threshold, up to and with the one that overflows.
    ///
    /// In each the queue builds up at the rate `mu/d` while the burst arrives, and is served until
    /// the next.
    pub fn mini_cycles(&self) -> Vec<MiniCycle> {
        let mut cycles = vec![self.first_burst()];
        if self.first_burst_overflows() {
            return cycles;
        }
        let (bdp, room) = (float(self.bdp()), self.buffer() as f64);
        let alpha = float(&self.aggressiveness().alpha());
        let last = self.last_cycle();
        let mut from = self.initial_window() as f64;
        for cycle in 1..=last {
            let to = from * alpha;
            let queue_from = (from - bdp).clamp(0.0, room);
            cycles.push(MiniCycle {
                number: cycle.unsigned_abs(),
                from,
                to,
                queue_from,
                queue_peak: (queue_from + to - from).min(room),
                round_trips: (from / bdp).max(1.0),
                overflows: cycle == last,
            });
            from = to;
        }
        cycles
    }

    /// The first window comes at once: one packet is served, the others wait.
    fn first_burst(&self) -> MiniCycle {
        let window = self.initial_window() as f64;
        MiniCycle {
            number: 0,
            from: window,
            to: window,
            queue_from: 0.0,
            queue_peak: (window - 1.0).min(self.buffer() as f64),
            round_trips: 1.0,
            overflows: self.first_burst_overflows(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggressiveness::Aggressiveness;
    use crate::packets::whole;

    fn paper(buffer: u64, d: u64) -> SlowStart {
        SlowStart::new(whole(70), buffer, Aggressiveness::delayed_acks(d).unwrap())
    }

    #[test]
    fn each_round_queues_its_growth_until_one_overflows() {
        let cycles = paper(20, 1).mini_cycles();
        let windows: Vec<f64> = cycles.iter().map(|cycle| cycle.to).collect();
        assert_eq!(windows, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        let peaks: Vec<f64> = cycles.iter().map(|cycle| cycle.queue_peak).collect();
        assert_eq!(peaks, [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 20.0]);
        let overflows: Vec<u32> =
            cycles.iter().filter(|cycle| cycle.overflows).map(|cycle| cycle.number).collect();
        assert_eq!(overflows, [6]);
    }

    #[test]
    fn beyond_one_bdp_packets_wait_from_round_to_round_and_rounds_last_longer() {
        let cycles = paper(70, 1).mini_cycles();
        let last = cycles.last().unwrap();
        assert_eq!((last.from, last.to, last.queue_from), (128.0, 256.0, 58.0));
        assert_eq!((last.queue_peak, last.round_trips), (70.0, 128.0 / 70.0));
        assert_eq!(cycles.len(), 9);
    }

    #[test]
    fn a_full_path_ends_it_before_the_cycle_of_the_theorem() {
        let path = SlowStart::new(whole(10), 100, Aggressiveness::ONE);
        assert_eq!(path.overflow_cycle(), 8);
        assert_eq!(path.mini_cycles().last().unwrap().number, 7);
    }

    #[test]
    fn a_first_burst_that_does_not_fit_is_the_whole_story() {
        let cycles = paper(5, 1).with_initial_window(10).unwrap().mini_cycles();
        assert_eq!(cycles.len(), 1);
        assert!(cycles[0].overflows);
        assert_eq!(cycles[0].queue_peak, 5.0);
    }
}
