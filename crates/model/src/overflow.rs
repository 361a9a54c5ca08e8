//! The window at which slow start overflows the buffer, and what follows (sections 2.2, 3, 4.1).

use std::cmp::{max, min};

use num_bigint::BigInt;
use num_traits::{One as _, ToPrimitive as _, Zero as _};

use crate::packets::{Packets, whole};
use crate::slow_start::SlowStart;

impl SlowStart {
    /// `W_B` of Theorem 1: `B + min(mu*T, alpha^(n-1))` with n the mini-cycle that overflows.
    ///
    /// Two cases lie outside the theorem and are ours: a first window that does not fit, one packet
    /// being served and the rest waiting, and a buffer in which nothing can wait, where the paper
    /// names the limit 0 (section 5.1). There the overflow comes with the first window.
    pub fn overflow_window(&self) -> Packets {
        if self.first_burst_overflows() || self.buffer() == 0 {
            return whole(self.initial_window());
        }
        whole(self.buffer()) + min(self.bdp().clone(), self.window(self.overflow_cycle() - 1))
    }

    /// `W_B` of equation 4: `B + min(mu*T, B*d)`. Never above Theorem 1, and whatever the first
    /// window is, the overflow does not come earlier.
    pub fn overflow_window_approx(&self) -> Packets {
        let by_burst = whole(self.buffer()) * self.aggressiveness().d();
        whole(self.buffer()) + min(self.bdp().clone(), by_burst)
    }

    /// `n_B` of Theorem 1: the smallest n with `W(n) >= B(d + 1)`, not less than 0. Where the path
    /// is full before (`mu*T` is the minimum) the overflow may come in an earlier mini-cycle than
    /// this.
    pub fn overflow_cycle(&self) -> i32 {
        self.first_cycle_with(&self.brim())
    }

    /// `B(d + 1)`: the burst that fills an empty buffer.
    fn brim(&self) -> Packets {
        whole(self.buffer()) * (self.aggressiveness().d() + Packets::one())
    }

    /// The smallest n, not less than 0, with `W(n)` at least this.
    fn first_cycle_with(&self, window: &Packets) -> i32 {
        // Floats find the neighbourhood, exact numbers decide.
        let quotient = (window / whole(self.initial_window())).to_f64().unwrap_or(f64::MAX);
        let alpha = self.aggressiveness().alpha().to_f64().unwrap_or(2.0);
        let near = (quotient.max(1.0).ln() / alpha.ln()).floor() as i32;
        let mut cycle = max(near - 1, 0);
        while self.window(cycle) < *window {
            cycle += 1;
        }
        cycle
    }

    /// Whether a burst fills the buffer to the brim, `W(n) = B(d + 1)`. Theorem 1 counts that as an
    /// overflow; packets come a round trip further, because one is in service.
    pub fn burst_just_fits(&self) -> bool {
        self.window(self.overflow_cycle()) == self.brim()
    }

    /// Whether the very first burst does not fit.
    pub fn first_burst_overflows(&self) -> bool {
        self.initial_window() > self.buffer().saturating_add(1)
    }

    /// Corollary 1: whether slow start up to this ssthresh overflows the buffer. Without one it
    /// always does.
    pub fn overflows(&self, threshold: Option<&Packets>) -> bool {
        threshold.is_none_or(|threshold| *threshold >= self.overflow_window())
            || self.first_burst_overflows()
    }

    /// Corollary 1: the largest whole ssthresh below the overflow window; 0 if there is none. In
    /// whole packets it holds for d = 1 only; see [`SlowStart::robust_threshold`].
    pub fn safe_threshold(&self) -> BigInt {
        if self.first_burst_overflows() {
            return BigInt::zero();
        }
        below(&self.overflow_window())
    }

    /// The largest safe ssthresh by equation 4. It is safe however the rounds fall: for any first
    /// window that fits and for growth in whole packets, where `W(n)` is not `alpha^n`.
    pub fn robust_threshold(&self) -> BigInt {
        if self.first_burst_overflows() {
            return BigInt::zero();
        }
        below(&self.overflow_window_approx())
    }

    /// `W_D` of equation 5: the window when the sender notices, a round trip after the overflow,
    /// `min(W_th, alpha*W_B)`. Where nothing overflows it is the threshold, at which slow start
    /// ends.
    pub fn detection_window(&self, threshold: Option<&Packets>) -> Packets {
        let grown = if self.first_burst_overflows() {
            // Only what fitted is acknowledged.
            self.window_after_acked(self.buffer() + 1)
        } else {
            self.aggressiveness().alpha() * self.overflow_window()
        };
        match threshold {
            Some(threshold) if !self.overflows(Some(threshold)) => threshold.clone(),
            // The first burst may be above the threshold; the window does not shrink by itself.
            Some(threshold) => max(min(threshold.clone(), grown), self.overflow_window()),
            None => grown,
        }
    }

    /// The ssthresh that Reno is left with (section 4.1): half of `W_D` for each of two fast
    /// retransmits and the timeout after them, `W_D/8`. Where nothing overflows it stays.
    pub fn threshold_after(&self, threshold: Option<&Packets>) -> Packets {
        self.reduced(threshold, 8)
    }

    /// The ssthresh that Reno is left with if duplicate ACKs show the first loss only: `W_D/4`.
    pub fn threshold_after_one_fast_retransmit(&self, threshold: Option<&Packets>) -> Packets {
        self.reduced(threshold, 4)
    }

    fn reduced(&self, threshold: Option<&Packets>, divisor: u64) -> Packets {
        let window = self.detection_window(threshold);
        if self.overflows(threshold) { window / whole(divisor) } else { window }
    }

    /// Packets lost before the sender notices. The paper gives no number; this follows from its own
    /// picture.
    ///
    /// Once the buffer is full, every packet of growth is lost. Growth goes on to the end of the
    /// mini-cycle, and in the next until the first loss is seen at `W_D`. Between the two bursts
    /// the queue drains by `min(B, mu*T - W)`, for a mini-cycle that began with a window `W`, and
    /// so many packets find room again.
    pub fn losses(&self, threshold: Option<&Packets>) -> Packets {
        if !self.overflows(threshold) {
            return Packets::zero();
        }
        if self.first_burst_overflows() {
            return whole(self.initial_window() - self.buffer() - 1);
        }
        let overflow = self.overflow_window();
        let top = self.detection_window(threshold);
        let last = self.last_cycle();
        let (begun, cycle_end) = (self.window(last - 1), self.window(last));
        if top <= cycle_end {
            return top - overflow;
        }
        let drained = max(self.bdp() - begun, Packets::zero());
        let drained = min(drained, whole(self.buffer()));
        let next = max(top - &cycle_end - drained, Packets::zero());
        cycle_end - overflow + next
    }

    /// The mini-cycle in which the buffer overflows: the first that ends with the overflow window
    /// or more, at least 1. That of Theorem 1, or an earlier one where the path is full before.
    pub(crate) fn last_cycle(&self) -> i32 {
        max(self.first_cycle_with(&self.overflow_window()), 1)
    }
}

/// The largest whole number below `window`, at least 0.
fn below(window: &Packets) -> BigInt {
    max(window.ceil().to_integer() - 1, BigInt::zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggressiveness::Aggressiveness;

    /// B, equation 4 with d = 1 and d = 2, Theorem 1 with d = 1; `mu*T` = 70.
    const TABLE: [[u64; 4]; 9] = [
        [5, 10, 15, 13],
        [10, 20, 30, 26],
        [20, 40, 60, 52],
        [30, 60, 90, 62],
        [40, 80, 110, 104],
        [50, 100, 120, 114],
        [60, 120, 130, 124],
        [70, 140, 140, 140],
        [100, 170, 170, 170],
    ];

    fn paper(buffer: u64, d: u64) -> SlowStart {
        SlowStart::new(whole(70), buffer, Aggressiveness::delayed_acks(d).unwrap())
    }

    #[test]
    fn the_overflow_window_is_that_of_theorem_1_and_equation_4() {
        for [buffer, approx_1, approx_2, exact_1] in TABLE {
            assert_eq!(paper(buffer, 1).overflow_window_approx(), whole(approx_1), "B {buffer}");
            assert_eq!(paper(buffer, 2).overflow_window_approx(), whole(approx_2), "B {buffer}");
            assert_eq!(paper(buffer, 1).overflow_window(), whole(exact_1), "B {buffer}");
        }
    }

    #[test]
    fn with_delayed_acks_the_theorem_uses_powers_of_three_halves() {
        // 1.5^(n-1) for the smallest n with 1.5^n >= 3 B: 1.5^8 for 10, 1.5^10 for 20.
        let power =
            |n: i32| Packets::new(BigInt::from(3).pow(n as u32), BigInt::from(2).pow(n as u32));
        assert_eq!(paper(5, 2).overflow_window(), whole(5) + power(6));
        assert_eq!(paper(10, 2).overflow_window(), whole(10) + power(8));
        assert_eq!(paper(20, 2).overflow_window(), whole(20) + power(10));
        for buffer in [30, 40, 50, 60, 70, 100] {
            assert_eq!(paper(buffer, 2).overflow_window(), whole(buffer + 70), "B {buffer}");
        }
    }

    #[test]
    fn at_powers_of_two_the_cycle_is_the_one_that_just_fills_the_buffer() {
        // B(d + 1) = 2^k: the burst of exactly that size overflows, not the one after.
        for k in 1..60 {
            let path = SlowStart::new(whole(u64::MAX), 1 << k, Aggressiveness::ONE);
            assert_eq!(path.overflow_cycle(), k + 1);
            assert_eq!(path.overflow_window(), whole(2 << k));
            assert_eq!(path.overflow_window(), path.overflow_window_approx());
            let more = SlowStart::new(whole(u64::MAX), (1 << k) + 1, Aggressiveness::ONE);
            assert_eq!(more.overflow_cycle(), k + 2);
        }
    }

    #[test]
    fn a_threshold_equal_to_the_overflow_window_is_not_below_it() {
        let path = paper(20, 1);
        assert!(path.overflows(None) && path.overflows(Some(&whole(52))));
        assert!(!path.overflows(Some(&whole(51))));
        assert_eq!(path.safe_threshold(), 51.into());
        assert_eq!(path.robust_threshold(), 39.into());
        // The largest whole number below a window that is not whole is its floor.
        assert_eq!(paper(10, 2).safe_threshold(), 35.into());
    }

    #[test]
    fn figure_4_is_borderline_in_one_of_three_cases() {
        let fifty = whole(50);
        assert!(!paper(70, 1).overflows(Some(&fifty)) && !paper(20, 2).overflows(Some(&fifty)));
        // The paper saw a loss here: equation 4 predicts it, Theorem 1 does not.
        assert!(!paper(20, 1).overflows(Some(&fifty)));
        assert!(paper(20, 1).overflow_window_approx() < fifty);
        // A first window of 3 makes the rounds fall so that the theorem predicts it too.
        let other = paper(20, 1).with_initial_window(3).unwrap();
        assert_eq!(other.overflow_window(), whole(44));
    }

    #[test]
    fn the_loss_is_noticed_a_round_later_and_halves_the_threshold_three_times() {
        let path = paper(20, 1);
        assert_eq!(path.detection_window(None), whole(104));
        assert_eq!(path.threshold_after(None), whole(13));
        assert_eq!(path.threshold_after_one_fast_retransmit(None), whole(26));
        assert_eq!(path.detection_window(Some(&whole(60))), whole(60));
        assert_eq!(path.threshold_after(Some(&whole(60))), Packets::new(15.into(), 2.into()));
        // 2/3 of a 1.5-fold window: d = 2 over a buffer that lets the path fill.
        assert_eq!(paper(40, 2).detection_window(None), whole(165));
    }

    #[test]
    fn without_overflow_slow_start_ends_at_its_threshold() {
        let path = paper(20, 1);
        assert_eq!(path.detection_window(Some(&whole(32))), whole(32));
        assert_eq!(path.threshold_after(Some(&whole(32))), whole(32));
        assert_eq!(path.losses(Some(&whole(32))), Packets::zero());
    }

    #[test]
    fn losses_are_the_growth_that_finds_no_room() {
        // Worked by hand: B 20, rounds of 32 and 64. 12 packets too many in the round of 64, and of
        // 40 packets of growth in the next 20 find the room that drained.
        assert_eq!(paper(20, 1).losses(None), whole(32));
        // B 40: 24 too many, then 80 of growth with room for 70 - 64.
        assert_eq!(paper(40, 1).losses(None), whole(98));
        // A full path keeps no room: all of the growth is lost.
        assert_eq!(paper(70, 1).losses(None), whole(140));
        assert_eq!(paper(100, 1).losses(None), whole(170));
        // The threshold ends the growth.
        assert_eq!(paper(20, 1).losses(Some(&whole(60))), whole(8));
        assert_eq!(paper(20, 1).losses(Some(&whole(80))), whole(12));
        assert_eq!(paper(20, 1).losses(Some(&whole(90))), whole(18));
    }

    #[test]
    fn a_first_burst_larger_than_the_buffer_overflows_at_once() {
        let path = paper(5, 1).with_initial_window(10).unwrap();
        assert!(path.first_burst_overflows() && path.overflows(Some(&whole(2))));
        assert_eq!(path.overflow_window(), whole(10));
        assert_eq!(path.safe_threshold(), 0.into());
        // One is served while five wait.
        assert!(!paper(5, 1).with_initial_window(6).unwrap().first_burst_overflows());
    }

    #[test]
    fn without_room_to_wait_no_window_is_safe() {
        let path = paper(0, 1);
        assert_eq!(path.overflow_window(), whole(1));
        assert_eq!(path.safe_threshold(), 0.into());
    }
}
