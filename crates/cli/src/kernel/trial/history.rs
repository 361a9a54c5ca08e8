//! How a trial went: what its measures showed at a few hundred numbers of connections, each a
//! fiftieth more than the one before.

use firstflight_kernel::trial::judge::{Finding, Judge, MEASURES};

/// The looks, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) looks: Vec<Look>,
    /// The number of connections at which it looks again.
    next: u64,
}

/// What the judge knew at one time.
#[derive(Debug)]
pub(super) struct Look {
    /// Seconds since the trial began.
    pub(super) after_s: f64,
    /// The share that was dealt.
    pub(super) share: f64,
    /// By measure.
    pub(super) findings: [Option<Finding>; MEASURES.len()],
}

impl History {
    /// Looks if it is time to.
    pub(super) fn look(&mut self, judge: &Judge, after_s: f64) {
        if judge.connections().iter().sum::<u64>() >= self.next {
            self.look_now(judge, after_s);
        }
    }

    /// Looks, so that a picture goes to the end.
    pub(super) fn look_now(&mut self, judge: &Judge, after_s: f64) {
        let connections = judge.connections().iter().sum::<u64>();
        self.next = connections + 1 + connections / 50;
        let findings = std::array::from_fn(|measure| judge.finding(measure));
        self.looks.push(Look { after_s, share: judge.share().0, findings });
    }
}
