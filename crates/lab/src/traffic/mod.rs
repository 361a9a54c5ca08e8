//! What travels: TCP connections, by the lab's own source or by iperf3, and datagrams.

mod descriptors;
mod files;
pub(crate) mod iperf;
pub(crate) mod own;
pub(crate) mod udp;

use firstflight_results::FileOutcome;

use crate::tcp_info::TcpInfo;

/// What became of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionOutcome {
    /// When and what was seen, by the run's clock from its start, ns.
    pub(crate) samples: Vec<(u64, TcpInfo)>,
    /// Payload received in order by the end of the flow.
    pub(crate) delivered_bytes: u64,
    /// How long the generator measured, where that is its own choice.
    pub(crate) measured_ns: Option<u64>,
    /// When the last byte of a flow of a given size had arrived.
    pub(crate) finished_ns: Option<u64>,
    /// The files of a connection that carries some, as far as they are over.
    pub(crate) files: Vec<FileOutcome>,
    /// Why it never ran, or failed.
    pub(crate) problem: Option<String>,
}

/// Keeps the problems of the first few flows that broke, and the number of the others.
pub(crate) fn shorten_problems(flows: &mut [ConnectionOutcome]) {
    let mut broken: Vec<&mut Option<String>> = flows
        .iter_mut()
        .map(|flow| &mut flow.problem)
        .filter(|problem| problem.is_some())
        .collect();
    let further = broken.len().saturating_sub(MOST_PROBLEMS);
    if further > 1 {
        broken[MOST_PROBLEMS..].iter_mut().for_each(|problem| **problem = None);
        *broken[MOST_PROBLEMS] = Some(format!("{further} further flows broke too"));
    }
}

/// When to sample and when to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// The run's start, ns of the path's clock.
    pub(crate) from: u64,
    /// The run's end, ns of the path's clock.
    pub(crate) until: u64,
    /// The end of all cross traffic. Once every connection has ended too, nothing more can happen,
    /// and the run ends, as the simulator's does when it has no more events.
    pub(crate) quiet: u64,
    /// Between two samples, ns.
    pub(crate) every: u64,
}

/// The longest sleep of a thread that waits for a time, ns, so that it notices an end soon.
const LONGEST_SLEEP: u64 = 50_000_000;
const MOST_PROBLEMS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_problems_a_few_are_kept_and_the_number_of_the_others() {
        let kept = |problems: usize| {
            let flow =
                |id| ConnectionOutcome { problem: Some(format!("{id}")), ..Default::default() };
            let mut flows: Vec<ConnectionOutcome> = (0..problems).map(flow).collect();
            flows.push(ConnectionOutcome::default());
            shorten_problems(&mut flows);
            flows.into_iter().filter_map(|flow| flow.problem).collect::<Vec<String>>()
        };
        assert_eq!(kept(4), ["0", "1", "2", "3"]);
        assert_eq!(kept(400), ["0", "1", "2", "397 further flows broke too"]);
    }
}
