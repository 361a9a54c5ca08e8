//! When the link's thread sleeps: it spins before a packet is due, but never so much that the
//! kernel has to stop it.
//!
//! A real-time thread that takes a whole processor is stopped by the kernel for 50 ms in every
//! second (`sched_rt_runtime_us`), which is worse than anything it could do by itself. So spinning
//! has a budget, and a thread that has not slept for a while rests for a millisecond.

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Look at the devices again.
    Go,
    /// Sleep so many ns, or until a packet comes.
    Sleep(u64),
    /// Sleep so many ns whatever comes.
    Rest(u64),
}

/// The budget of one thread. Times are ns.
#[derive(Debug)]
pub(crate) struct Pace {
    spin: u64,
    budget: u64,
    /// When the budget was last looked at.
    at: u64,
    /// Whether the time since was spent spinning.
    spinning: bool,
    slept_at: u64,
}

impl Pace {
    /// Spins up to `spin` before a packet is due.
    pub(crate) fn new(spin: u64, now: u64) -> Self {
        Self { spin, budget: MOST, at: now, spinning: false, slept_at: now }
    }

    /// Nothing is due for `left`; a `busy` link has more to do at once.
    pub(crate) fn next(&mut self, now: u64, left: u64, busy: bool) -> Next {
        let passed = now.saturating_sub(self.at);
        self.at = now;
        let earned = (self.budget + passed * SHARE / 100).min(MOST);
        self.budget = if self.spinning { earned.saturating_sub(passed) } else { earned };
        self.spinning = false;
        if now.saturating_sub(self.slept_at) > LONGEST_AWAKE {
            self.slept_at = now + REST;
            return Next::Rest(REST);
        }
        if busy || left == 0 {
            return Next::Go;
        }
        let affordable = self.spin.min(self.budget);
        if left <= affordable {
            self.spinning = true;
            return Next::Go;
        }
        let wait = left - affordable;
        self.slept_at = now + wait;
        Next::Sleep(wait)
    }
}

/// Per cent of the time that may be spent spinning.
const SHARE: u64 = 40;
const MOST: u64 = 5_000_000;
const LONGEST_AWAKE: u64 = 14_000_000;
const REST: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    #[test]
    fn it_sleeps_until_the_spin_and_spins_until_the_packet() {
        let mut pace = Pace::new(60 * US, 0);
        assert_eq!(pace.next(0, 300 * US, false), Next::Sleep(240 * US));
        assert_eq!(pace.next(240 * US, 60 * US, false), Next::Go);
        assert_eq!(pace.next(299 * US, US, false), Next::Go);
        assert_eq!(pace.next(300 * US, 0, true), Next::Go);
    }

    /// Packets 80 us apart with 60 us of spin each would take three quarters of a processor.
    #[test]
    fn spinning_takes_no_more_than_its_share() {
        let mut pace = Pace::new(60 * US, 0);
        let (mut now, mut spun) = (0, 0);
        while now < 1_000_000 * US {
            let left = 80 * US - now % (80 * US);
            match pace.next(now, left, false) {
                Next::Go => {
                    spun += US;
                    now += US;
                }
                Next::Sleep(wait) | Next::Rest(wait) => now += wait,
            }
        }
        let share = spun as f64 / now as f64;
        assert!((0.35..0.45).contains(&share), "{share}");
    }

    #[test]
    fn one_that_has_no_time_to_sleep_rests() {
        let mut pace = Pace::new(0, 0);
        let rested = (0..1_000_u64).filter(|ms| pace.next(ms * 1_000 * US, 0, true) != Next::Go);
        // More than the twentieth that the kernel would take.
        assert!((60..=70).contains(&rested.count()));
    }
}
