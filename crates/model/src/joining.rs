//! A connection that joins others (section 5.1).

use std::cmp::min;

use num_traits::Zero as _;

use crate::packets::{Packets, whole};
use crate::slow_start::SlowStart;

impl SlowStart {
    /// Equation 6: the overflow window of a connection that finds `present` packets of others in
    /// the network, `B + min(mu*T - N, B*d)`; 0 if they fill it.
    ///
    /// In congestion avoidance the others queue only beyond one BDP, so up to there the newcomer
    /// sees a shorter path with the whole buffer, and above a full path with what is left of the
    /// buffer.
    pub fn overflow_window_among(&self, present: &Packets) -> Packets {
        let by_burst = whole(self.buffer()) * self.aggressiveness().d();
        let window = whole(self.buffer()) + min(self.bdp() - present, by_burst);
        std::cmp::max(window, Packets::zero())
    }

    /// Equation 7: the largest overflow window of a connection that joins others. Synchronised
    /// flows keep at least half of what path and buffer hold in the network, so it is `B +
    /// min((mu*T - B)/2, B*d)`.
    pub fn most_overflow_window_among(&self) -> Packets {
        self.overflow_window_among(&(self.pipe() / whole(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggressiveness::Aggressiveness;

    fn five_sources(buffer: u64, d: u64) -> SlowStart {
        SlowStart::new(whole(350), buffer, Aggressiveness::delayed_acks(d).unwrap())
    }

    #[test]
    fn the_largest_window_of_figure_10_is_106_kb_for_d_2_and_21_kb_for_d_1() {
        // The text says d = 1 for both, but only d = 2 gives 106 KB of 512-byte packets for B 70.
        assert_eq!(five_sources(70, 2).most_overflow_window_among(), whole(210));
        assert_eq!(five_sources(70, 1).most_overflow_window_among(), whole(140));
        assert_eq!(five_sources(20, 1).most_overflow_window_among(), whole(40));
        assert_eq!((210 * 512, 140 * 512, 40 * 512), (107_520, 71_680, 20_480));
    }

    #[test]
    fn equation_6_runs_from_equation_4_to_nothing_as_the_network_fills() {
        let path = five_sources(70, 2);
        assert_eq!(path.overflow_window_among(&whole(0)), path.overflow_window_approx());
        assert_eq!(path.overflow_window_among(&whole(350)), whole(70));
        assert_eq!(path.overflow_window_among(&whole(400)), whole(20));
        assert_eq!(path.overflow_window_among(&whole(420)), whole(0));
        assert_eq!(path.overflow_window_among(&whole(500)), whole(0));
    }

    #[test]
    fn a_buffer_above_one_bdp_leaves_half_of_all_there_is() {
        let path = five_sources(450, 1);
        assert_eq!(path.most_overflow_window_among(), whole(400));
    }
}
