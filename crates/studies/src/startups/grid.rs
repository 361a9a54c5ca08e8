//! The grid of paths, and what every start-up does on each of them.

use std::error::Error;

use firstflight_control::Control;
use firstflight_control::policy::{partners, startups};
use firstflight_core::card::Card;
use firstflight_results::statistics::{first_at_rate, sent_by_link};
use firstflight_runner::Run;
use rayon::prelude::*;

use super::runs;

/// A path and a transfer over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case {
    pub(super) rate_mbps: u64,
    pub(super) rtt_ms: u64,
    /// In BDP.
    pub(super) buffer: f64,
    /// How much is sent.
    pub(super) transfer: Transfer,
    /// The endpoints pace where the start-up does not.
    pub(super) paced: bool,
}

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    FourBdp,
    OneMegabyte,
}

/// What a start-up did in a case.
#[derive(Clone, Debug)]
pub(super) struct GridRun {
    pub(super) startup: &'static str,
    /// Its avoidance.
    pub(super) avoidance: &'static str,
    /// The path and the transfer.
    pub(super) case: Case,
    /// `None` if it was not done within [`Case::limit_s`].
    pub(super) completion_s: Option<f64>,
    /// Payload that the bottleneck dropped.
    pub(super) lost_bytes: u64,
    /// The longest queue at the bottleneck.
    pub(super) peak_queue_bytes: u64,
    /// When the bottleneck had sent at 90 % of its rate over one RTT; `None` if it never had.
    pub(super) at_90_s: Option<f64>,
}

pub(super) const RATES_MBPS: [u64; 3] = [10, 50, 200];
pub(super) const RTTS_MS: [u64; 4] = [20, 100, 300, 600];
pub(super) const BUFFERS: [f64; 4] = [0.1, 0.5, 1.0, 4.0];
pub(super) const TRANSFERS: [Transfer; 2] = [Transfer::FourBdp, Transfer::OneMegabyte];
/// Bytes of a packet: an Ethernet frame's, less the headers of TCP with time stamps.
pub(super) const PACKET: u64 = 1_448;

impl Case {
    /// Bytes.
    pub(super) fn bdp(&self) -> u64 {
        self.rate_mbps * self.rtt_ms * 125
    }

    /// Bytes.
    pub(super) fn size(&self) -> u64 {
        match self.transfer {
            Transfer::FourBdp => 4 * self.bdp(),
            Transfer::OneMegabyte => 1_000_000,
        }
    }

    /// How long is waited: a hundred round trips, and eight times what the bytes take.
    pub(super) fn limit_s(&self) -> f64 {
        self.rtt_ms as f64 / 10.0 + self.size() as f64 / self.rate_mbps as f64 / 15_625.0
    }

    /// The case as a scenario file for these controls.
    fn scenario(&self, controls: &[String]) -> String {
        let Self { rate_mbps, rtt_ms, buffer, paced, .. } = self;
        format!(
            "controls = {controls:?}\nduration = \"{}ms\"\npacket = \"{PACKET}B\"\n\
             delayed_ack = 2\n{}\
             [path]\nrate = \"{rate_mbps}Mbps\"\nrtt = \"{rtt_ms}ms\"\n\
             buffer = \"{buffer}bdp\"\n[[flow]]\nsize = \"{}B\"\n",
            (self.limit_s() * 1e3).ceil(),
            if *paced { "pacing = true\n" } else { "" },
            self.size(),
        )
    }
}

/// Every combination of these, as it is and paced.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (paced, transfer) in [false, true].into_iter().flat_map(|it| TRANSFERS.map(|of| (it, of))) {
        for (rate_mbps, rtt_ms) in RATES_MBPS.into_iter().flat_map(|it| RTTS_MS.map(|of| (it, of)))
        {
            let case = |buffer| Case { rate_mbps, rtt_ms, buffer, transfer, paced };
            cases.extend(BUFFERS.map(case));
        }
    }
    cases
}

/// The start-ups that the simulator carries.
pub(super) fn carried() -> Vec<&'static Card> {
    startups().into_iter().filter(|card| refusal(card).is_none()).collect()
}

/// Why the simulator does not carry a start-up, if it does not.
pub(super) fn refusal(card: &Card) -> Option<String> {
    let control = Control::named(&control(card));
    let control = control.and_then(|control| control.on("sim", firstflight_sim::PROVIDES));
    control.err().map(|problem| problem.to_string())
}

/// A start-up as a control, with its usual avoidance.
pub(super) fn control(card: &Card) -> String {
    format!("{}+{}", card.name, partner(card))
}

/// Its usual avoidance.
pub(super) fn partner(card: &Card) -> &'static str {
    card.partner.unwrap_or(USUAL)
}

/// Every start-up, and slow start with every avoidance that one of them has, as `compare --all`.
fn pairs() -> Vec<(&'static str, &'static str)> {
    let mut pairs: Vec<_> = carried().iter().map(|card| (card.name, partner(card))).collect();
    let slow = partners().into_iter().map(|avoidance| (REFERENCE, avoidance));
    pairs.extend(slow.filter(|pair| *pair != (REFERENCE, USUAL)));
    pairs
}

/// Every start-up in every case, case by case.
pub(super) fn measure() -> Result<Vec<GridRun>, Box<dyn Error>> {
    let pairs = pairs();
    let run_case = |case: Case| -> Result<Vec<GridRun>, String> {
        let control = |(startup, partner): &(&str, &str)| format!("{startup}+{partner}");
        let controls: Vec<String> = pairs.iter().map(control).collect();
        let samples = (case.limit_s() * 1e3 / case.rtt_ms as f64 * SAMPLES_PER_RTT).ceil();
        let runs = runs(&case.scenario(&controls), samples as u32)?;
        Ok(pairs.iter().zip(&runs).map(|(pair, run)| GridRun::of(*pair, case, run)).collect())
    };
    let runs: Result<Vec<Vec<GridRun>>, String> = cases().into_par_iter().map(run_case).collect();
    Ok(runs?.concat())
}

impl GridRun {
    fn of((startup, avoidance): (&'static str, &'static str), case: Case, run: &Run) -> Self {
        let flow = &run.result.flows[0];
        let bottleneck = &run.result.bottleneck;
        Self {
            startup,
            avoidance,
            case,
            completion_s: flow.completion_time_s,
            lost_bytes: bottleneck.drops * PACKET,
            peak_queue_bytes: bottleneck.peak_queue_packets.unwrap_or(0) * PACKET,
            at_90_s: at_90(case, run),
        }
    }

    /// What the transfer took; what was not done counts as done at the end of the run.
    pub(super) fn time(&self) -> f64 {
        self.completion_s.unwrap_or(self.case.limit_s())
    }

    /// It came out as the other did.
    pub(super) fn does_as(&self, other: &Self) -> bool {
        let of = |run: &Self| (run.completion_s, run.lost_bytes, run.peak_queue_bytes);
        of(self) == of(other)
    }
}

/// When the bottleneck first sent at 90 % of its rate over one RTT.
fn at_90(case: Case, run: &Run) -> Option<f64> {
    let link = run.queues.first()?;
    let (time, carried) = (link.column("time_s")?, link.column("carried_packets")?);
    let taken_in: Vec<(f64, f64)> = time
        .zip(carried)
        .map(|(time, count)| (time.unwrap_or(0.0), count.unwrap_or(0.0)))
        .collect();
    let packets_per_s = case.rate_mbps as f64 * 125_000.0 / PACKET as f64;
    let sent = sent_by_link(&taken_in, packets_per_s);
    first_at_rate(&sent, case.rtt_ms as f64 / 1e3, 0.9 * packets_per_s)
}

/// With what all others are compared.
pub(super) const REFERENCE: &str = "slow-start";
/// Its avoidance.
pub(super) const USUAL: &str = "newreno";
/// Fine enough to tell when the rate was reached to a tenth of a round trip.
const SAMPLES_PER_RTT: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_that_of_the_page() {
        let cases = cases();
        assert_eq!(cases.len(), 3 * 4 * 4 * 2 * 2);
        let first = cases[0];
        assert_eq!((first.bdp(), first.size()), (25_000, 100_000), "10 Mbit/s, 20 ms");
        // 100 RTTs of 20 ms, and eight times 80 ms.
        assert!((first.limit_s() - 2.64).abs() < 1e-9, "{}", first.limit_s());
    }

    #[test]
    fn a_case_is_measured_as_its_path_tells() {
        let case = Case {
            rate_mbps: 10,
            rtt_ms: 100,
            buffer: 1.0,
            transfer: Transfer::FourBdp,
            paced: false,
        };
        let scenario = case.scenario(&["slow-start+newreno".to_owned()]);
        let runs = runs(&scenario, 3_000).unwrap();
        let measured = GridRun::of(("slow-start", "newreno"), case, &runs[0]);
        // 500 kB take 0.4 s at the rate; the window passes the BDP of 86 packets in the fourth
        // round, and the link is full before the fifth is over.
        let completion = measured.completion_s.unwrap();
        assert!((0.6..1.0).contains(&completion), "{completion}");
        let at_90 = measured.at_90_s.unwrap();
        assert!((0.3..0.7).contains(&at_90), "{at_90}");
        assert!(measured.peak_queue_bytes <= case.bdp(), "the buffer holds one BDP");
        let startup = &runs[0].result.flows[0].startup;
        assert_eq!(startup.exit_reason.as_deref(), Some("loss"));
        assert!(startup.exit_window_over_bdp > Some(1.0), "{startup:?}");
    }
}
