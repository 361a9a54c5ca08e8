//! Time that a hypervisor gave to others while this machine wanted it. As long as a processor is
//! away, the kernel of a sender or receiver may be late however punctual the link is.

use std::fs;

/// What became of the processors' time since the machine started, clock ticks of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessorTime {
    all: u64,
    stolen: u64,
}

impl ProcessorTime {
    /// The time until now; nothing if the kernel does not count it.
    pub(crate) fn now() -> Self {
        Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// Reads the first line of `/proc/stat`, proc(5): user, nice, system, idle, iowait, irq,
    /// softirq, steal; what follows is a part of user and nice.
    fn parse(text: &str) -> Self {
        let numbers = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let ticks = numbers.split_whitespace().take(STEAL + 1).map_while(|n| n.parse().ok());
        let ticks: Vec<u64> = ticks.collect();
        Self { all: ticks.iter().sum(), stolen: ticks.get(STEAL).copied().unwrap_or(0) }
    }

    /// The share of the time since an earlier reading that was stolen, 0 to 1.
    pub(crate) fn stolen_share(self, since: Self) -> f64 {
        let [stolen, all] = [(self.stolen, since.stolen), (self.all, since.all)]
            .map(|(now, then)| now.saturating_sub(then) as f64);
        stolen / all.max(1.0)
    }
}

/// Fields before it.
const STEAL: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_all_processors_between_two_looks() {
        let text = "cpu  100 20 30 400 5 6 7 8 90 10\ncpu0 1 2 3 4 5 6 7 8\n";
        let before = ProcessorTime::parse(text);
        assert_eq!(before, ProcessorTime { all: 576, stolen: 8 });
        let after = ProcessorTime::parse("cpu  140 20 40 420 5 6 17 28 99 10\n");
        assert_eq!(after.stolen_share(before), 0.2);
        assert_eq!(before.stolen_share(before), 0.0);
    }

    #[test]
    fn a_kernel_that_does_not_tell_has_no_steal() {
        let short = ProcessorTime::parse("cpu  100 20 30 400\n");
        assert_eq!(short, ProcessorTime { all: 550, stolen: 0 });
        assert_eq!(ProcessorTime::parse(""), ProcessorTime::default());
        assert_eq!(ProcessorTime::parse("cpu  x\n"), ProcessorTime::default());
    }
}
