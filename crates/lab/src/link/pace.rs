//! When the link's thread sleeps: it spins before a packet is due, but never so much that the
//! kernel has to stop it.
//!
//! A real-time thread that takes a whole processor is stopped by the kernel for 50 ms in every
//! second (`sched_rt_runtime_us`), which is worse than anything it could do by itself. So spinning
//! has a budget, and a thread that was never off the processor rests for half a millisecond. The
//! sleeps it asked for are no measure of that: a wait for packets ends at once when there are some.

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Read the devices again.
    Go,
    /// Sleep so many ns, or until a packet comes.
    Sleep(u64),
    /// Sleep so many ns whatever comes.
    Rest(u64),
}

/// The budget of one thread. Times are ns.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The least spin, and what recent wake-ups ask for.
    spin: (u64, u64),
    /// Time that may still be spent spinning, ns.
    budget: u64,
    /// Per cent of the time that may be spent spinning: what other work leaves.
    share: u64,
    /// Time spent spinning since `checked`, ns.
    spun_ns: u64,
    /// When the budget was last brought up to date.
    at: u64,
    /// Whether the time since was spent spinning.
    spinning: bool,
    /// When the need of a rest was last checked, and the thread's processor time then.
    checked: (u64, u64),
}

impl Pace {
    /// Spins up to `spin` before a packet is due, and more when wake-ups come late.
    pub(crate) fn new(spin: u64, now: u64) -> Self {
        let checked = (now, 0);
        Self {
            spin: (spin, spin),
            budget: MOST,
            share: SHARE,
            spun_ns: 0,
            at: now,
            spinning: false,
            checked,
        }
    }

    /// Nothing is due for `left`; a `busy` link has more to do at once. `worked` gives the
    /// processor time of the thread.
    pub(crate) fn next(
        &mut self,
        now: u64,
        left: u64,
        busy: bool,
        worked: impl FnOnce() -> u64,
    ) -> Next {
        let passed = now.saturating_sub(self.at);
        self.at = now;
        self.budget = (self.budget + passed * self.share / 100).min(MOST * self.share / SHARE);
        if std::mem::take(&mut self.spinning) {
            self.budget = self.budget.saturating_sub(passed);
            self.spun_ns += passed;
        }
        if self.is_due_a_rest(now, worked) {
            return Next::Rest(REST);
        }
        if busy || left == 0 {
            return Next::Go;
        }
        let affordable = self.spin.1.min(self.budget);
        if left <= affordable {
            self.spinning = true;
            return Next::Go;
        }
        Next::Sleep(left - affordable)
    }

    /// A sleep ended this much late. The spin grows to it at once, and shrinks slowly.
    pub(crate) fn overslept(&mut self, late: u64) {
        let (least, now) = self.spin;
        let wanted = (late + late / 4).max(now - now / 32);
        self.spin.1 = wanted.clamp(least, least * MOST_SPINS);
    }

    fn is_due_a_rest(&mut self, now: u64, worked: impl FnOnce() -> u64) -> bool {
        let passed = now.saturating_sub(self.checked.0);
        if passed < LONGEST_AWAKE {
            return false;
        }
        let before = std::mem::replace(&mut self.checked, (now, worked())).1;
        let worked = self.checked.1.saturating_sub(before);
        let other = worked.saturating_sub(std::mem::take(&mut self.spun_ns)) * 100 / passed;
        self.share = WORK_AND_SPIN.saturating_sub(other).min(SHARE);
        let tired = worked * 100 > passed * MOST_WORK;
        if tired {
            self.checked.0 += REST;
        }
        tired
    }
}

/// How many times the least spin the longest is.
const MOST_SPINS: u64 = 4;
/// Per cent of the time that may be spent spinning, and with all other work.
const SHARE: u64 = 40;
const WORK_AND_SPIN: u64 = 85;
const MOST: u64 = 5_000_000;
/// The kernel's limit is 95 per cent, and a rest brings the thread to 93.
const MOST_WORK: u64 = 93;
const LONGEST_AWAKE: u64 = 7_000_000;
const REST: u64 = 500_000;

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    /// The processor time of a thread that has used none.
    fn rested() -> u64 {
        0
    }

    #[test]
    fn it_sleeps_until_the_spin_and_spins_until_the_packet() {
        let mut pace = Pace::new(60 * US, 0);
        assert_eq!(pace.next(0, 300 * US, false, rested), Next::Sleep(240 * US));
        assert_eq!(pace.next(240 * US, 60 * US, false, rested), Next::Go);
        assert_eq!(pace.next(299 * US, US, false, rested), Next::Go);
        assert_eq!(pace.next(300 * US, 0, true, rested), Next::Go);
    }

    #[test]
    fn the_spin_follows_late_wake_ups_and_forgets_them() {
        let mut pace = Pace::new(60 * US, 0);
        pace.overslept(160 * US);
        assert_eq!(pace.next(0, 300 * US, false, rested), Next::Sleep(100 * US));
        pace.overslept(9_000 * US);
        assert_eq!(pace.next(0, 300 * US, false, rested), Next::Sleep(60 * US));
        (0..100).for_each(|_| pace.overslept(5 * US));
        assert_eq!(pace.next(0, 300 * US, false, rested), Next::Sleep(240 * US));
        let mut none = Pace::new(0, 0);
        none.overslept(160 * US);
        assert_eq!(none.next(0, 300 * US, false, rested), Next::Sleep(300 * US));
    }

    /// Packets 80 us apart with 60 us of spin each would take three quarters of a processor.
    #[test]
    fn spinning_takes_no_more_than_its_share() {
        let mut pace = Pace::new(60 * US, 0);
        let (mut now, mut spun_ns) = (0, 0);
        while now < 1_000_000 * US {
            let left = 80 * US - now % (80 * US);
            match pace.next(now, left, false, || spun_ns) {
                Next::Go => {
                    spun_ns += US;
                    now += US;
                }
                Next::Sleep(wait) | Next::Rest(wait) => now += wait,
            }
        }
        let share = spun_ns as f64 / now as f64;
        assert!((0.35..0.45).contains(&share), "{share}");
    }

    /// How much of a second a thread rests whose waits end at once.
    fn rests(worked_percent: u64) -> u64 {
        let mut pace = Pace::new(0, 0);
        let (mut now, mut rested) = (0, 0);
        while now < 1_000_000 * US {
            now += 10 * US;
            let left = if now % (20 * US) == 0 { 0 } else { 5 * US };
            if let Next::Rest(rest) =
                pace.next(now, left, false, || (now - rested) * worked_percent / 100)
            {
                now += rest;
                rested += rest;
            }
        }
        rested
    }

    /// Five eighths of the time are work, and the rest would be spun.
    #[test]
    fn spinning_leaves_room_for_work_so_that_no_rest_is_needed() {
        let mut pace = Pace::new(60 * US, 0);
        let (mut now, mut worked, mut spun_ns) = (0, 0, 0);
        while now < 1_000_000 * US {
            let place = now % (80 * US);
            let left = if place < 50 * US { 0 } else { 80 * US - place };
            match pace.next(now, left, false, || worked + spun_ns) {
                Next::Go if left == 0 => worked += US,
                Next::Go => spun_ns += US,
                Next::Sleep(wait) => now += wait - US,
                // Until it has measured the work and spent what it had saved.
                Next::Rest(rest) if now < 50_000 * US => now += rest,
                Next::Rest(_) => panic!("at {now}"),
            }
            now += US;
        }
        let share = (worked + spun_ns) as f64 / now as f64;
        assert!((0.8..0.93).contains(&share), "{share}");
    }

    #[test]
    fn one_that_never_slept_rests_whatever_its_waits_were() {
        // More than the twentieth that the kernel would take, in parts of half a millisecond.
        assert!((60_000 * US..70_000 * US).contains(&rests(100)), "{}", rests(100));
        assert_eq!(rests(92), 0);
    }
}
