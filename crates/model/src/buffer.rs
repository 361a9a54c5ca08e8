//! How large the buffer must be (sections 2.2, 3 and 5.1).

use num_traits::One as _;

use crate::packets::{Packets, whole};
use crate::slow_start::SlowStart;

/// The sizes of buffer at which slow start changes its behaviour, all by equation 4, which is safe
/// however the rounds fall.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferNeeds {
    /// `mu*T/d`: from this buffer on slow start fills the path before it overflows (section 2.2).
    pub fills_pipe: Packets,
    /// `mu*T/(d + 1)`: above this buffer an ssthresh of one BDP is safe (section 3).
    pub bdp_threshold: Packets,
    /// `mu*T/(2d + 1)`: above this buffer a connection that joins others does not overflow it early
    /// (section 5.1).
    pub several_flows: Packets,
}

impl SlowStart {
    /// The sizes of buffer that matter on this path.
    pub fn buffer_needs(&self) -> BufferNeeds {
        let d = self.aggressiveness().d();
        let one = Packets::one();
        BufferNeeds {
            fills_pipe: self.bdp() / &d,
            bdp_threshold: self.bdp() / (&d + &one),
            several_flows: self.bdp() / (&d + &d + one),
        }
    }

    /// Whether slow start fills the path before the buffer overflows: `B >= mu*T/d`.
    pub fn fills_pipe(&self) -> bool {
        whole(self.buffer()) >= self.buffer_needs().fills_pipe
    }

    /// Whether an ssthresh of one BDP is safe: `B > mu*T/(d + 1)`.
    pub fn bdp_threshold_is_safe(&self) -> bool {
        whole(self.buffer()) > self.buffer_needs().bdp_threshold
    }

    /// Whether a connection that joins others never overflows the buffer early: `B > mu*T/(2d +
    /// 1)`.
    pub fn several_flows_are_safe(&self) -> bool {
        whole(self.buffer()) > self.buffer_needs().several_flows
    }

    /// The smallest whole d with which slow start up to `threshold` is safe by equation 4; `None`
    /// if the path and its buffer do not hold that much, or nothing can wait.
    ///
    /// From `B(d + 1) > W_th`; it is also the `dmax` with which Decreasing Byte Counting (section
    /// 4.3) gets there, since its d stays above `W/B - 1` all the way if it does at the end.
    pub fn least_safe_d(&self, threshold: &Packets) -> Option<u64> {
        if self.buffer() == 0 || *threshold >= self.pipe() {
            return None;
        }
        // The smallest whole number above W_th/B - 1 is the floor of W_th/B.
        let d = (threshold / whole(self.buffer())).floor().to_integer();
        u64::try_from(d).ok().map(|d| d.max(1))
    }

    /// The smallest whole d with which the path is full before the buffer overflows, from
    /// `B >= mu*T/d`; `None` if nothing can wait.
    pub fn least_pipe_filling_d(&self) -> Option<u64> {
        if self.buffer() == 0 {
            return None;
        }
        let d = (self.bdp() / whole(self.buffer())).ceil().to_integer();
        u64::try_from(d).ok().map(|d| d.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggressiveness::Aggressiveness;

    fn paper(bdp: u64, buffer: u64, d: u64) -> SlowStart {
        SlowStart::new(whole(bdp), buffer, Aggressiveness::delayed_acks(d).unwrap())
    }

    #[test]
    fn the_pipe_is_filled_from_a_buffer_of_a_dth_of_the_bdp_on() {
        assert!(!paper(70, 69, 1).fills_pipe() && paper(70, 70, 1).fills_pipe());
        assert!(!paper(70, 34, 2).fills_pipe() && paper(70, 35, 2).fills_pipe());
    }

    #[test]
    fn a_threshold_of_one_bdp_needs_more_than_a_half_or_a_third_of_it() {
        assert!(!paper(70, 35, 1).bdp_threshold_is_safe());
        assert!(paper(70, 36, 1).bdp_threshold_is_safe());
        assert!(!paper(70, 23, 2).bdp_threshold_is_safe());
        assert!(paper(70, 24, 2).bdp_threshold_is_safe());
        assert_eq!(paper(70, 1, 2).buffer_needs().bdp_threshold, Packets::new(70.into(), 3.into()));
    }

    #[test]
    fn among_several_flows_less_buffer_is_enough() {
        assert!(!paper(350, 116, 1).several_flows_are_safe());
        assert!(paper(350, 117, 1).several_flows_are_safe());
        assert!(!paper(350, 70, 2).several_flows_are_safe());
        assert!(paper(350, 71, 2).several_flows_are_safe());
    }

    #[test]
    fn the_least_safe_d_is_the_first_that_equation_4_allows() {
        let (one, two) = (paper(70, 30, 1), paper(70, 30, 2));
        // Figure 8: a threshold of 70 overflows 30 packets with d = 1, not with d = 2.
        assert!(one.overflow_window_approx() < whole(70));
        assert!(two.overflow_window_approx() > whole(70));
        assert_eq!(one.least_safe_d(&whole(70)), Some(2));
        assert_eq!(one.least_safe_d(&whole(59)), Some(1));
        // At 60 = B(d + 1) the buffer is just filled.
        assert_eq!(one.least_safe_d(&whole(60)), Some(2));
        assert_eq!(one.least_safe_d(&whole(100)), None);
        assert_eq!(paper(70, 0, 1).least_safe_d(&whole(10)), None);
        assert_eq!(one.least_pipe_filling_d(), Some(3), "70 packets over 30");
    }
}
