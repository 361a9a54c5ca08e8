//! What a flow that was there before loses to a transfer that begins.

use std::error::Error;
use std::fmt;

use firstflight_runner::{Run, Simulator};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;
use rayon::prelude::*;

use super::{head, paths, row};
use crate::startups::runs;

const RATES_MBPS: [u64; 2] = [10, 50];
const FAST_MBPS: [u64; 1] = [200];
const RTTS_MS: [u64; 2] = [20, 100];
const BUFFERS: [f64; 3] = [0.25, 1.0, 2.0];
/// A flow that has gone on for so long is established.
const ESTABLISHED_MS: u64 = 12_000;
/// What a newcomer does to a flow depends on where that flow's saw-tooth is when it begins. It
/// begins at so many times by chance, beside an established one within so many ms, beside another
/// within so many thousandths of an RTT.
const TIMES: usize = 16;
const WITHIN_MS: u64 = 10_000;
const WITHIN_RTTS: u64 = 100;

/// What is beside a transfer.
struct Rival {
    name: &'static str,
    control: &'static str,
    /// How long it is alone, in thousandths of an RTT; `None` if it is established.
    alone: Option<u64>,
    /// Its RTT in that of the transfer.
    rtts: u64,
    rates_mbps: &'static [u64],
}

const fn rival(name: &'static str, control: &'static str, alone: Option<u64>) -> Rival {
    Rival { name, control, alone, rtts: 1, rates_mbps: &RATES_MBPS }
}

const RIVALS: [Rival; 12] = [
    rival("CUBIC, established", "cubic", None),
    Rival { rates_mbps: &FAST_MBPS, ..rival("CUBIC, established, 200 Mbit/s", "cubic", None) },
    Rival { rtts: 3, ..rival("CUBIC with three times the RTT, established", "cubic", None) },
    rival("BBR, established", "bbr", None),
    rival("slow start, together", "slow-start+cubic", Some(0)),
    rival("slow start, 0.3 RTT before", "slow-start+cubic", Some(300)),
    rival("slow start, 1.5 RTT before", "slow-start+cubic", Some(1_500)),
    rival("Scout, together", "scout", Some(0)),
    rival("Scout, 0.3 RTT before", "scout", Some(300)),
    rival("Scout, 1.5 RTT before", "scout", Some(1_500)),
    Rival { rtts: 3, ..rival("Scout with three times the RTT, together", "scout", Some(0)) },
    rival("Scout, established", "scout", None),
];

/// A transfer, and the flow beside it.
struct Beside {
    completion_s: f64,
    size_bytes: f64,
    /// What the established flow delivered.
    delivered_bytes: f64,
    /// What the established flow sent again, bytes.
    established_sent_again: f64,
}

/// A path with a flow that has no end, and when the transfer begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    rate_mbps: u64,
    rtt_ms: u64,
    /// In BDP.
    buffer: f64,
    /// The control of the flow without an end, and its RTT in that of the path.
    rival: &'static str,
    rtts: u64,
    begins_us: u64,
}

/// Every path for a rival, several times.
fn places(rival: &Rival) -> Vec<Place> {
    // The third stream: the others draw paths and their halves.
    let mut random = Pcg64::new(paths::SEED.into(), 3);
    let mut places = Vec::new();
    for rate_mbps in rival.rates_mbps.iter().copied() {
        for rtt_ms in RTTS_MS {
            for buffer in BUFFERS {
                let (least_us, within_us) = match rival.alone {
                    Some(rtts) => (rtts * rtt_ms, WITHIN_RTTS * rtt_ms),
                    None => (ESTABLISHED_MS * 1_000, WITHIN_MS * 1_000),
                };
                let mut later = |_| {
                    let begins_us = least_us + random.next_u64() % within_us;
                    let (rival, rtts) = (rival.control, rival.rtts);
                    Place { rate_mbps, rtt_ms, buffer, rival, rtts, begins_us }
                };
                places.extend((0..TIMES).map(&mut later));
            }
        }
    }
    places
}

/// A row for each flow that is there: what a newcomer under each control did, over the first.
pub(super) fn table(controls: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut text = head("beside", controls);
    for rival in &RIVALS {
        let runs = measured(&places(rival), controls)?;
        let cell = |at| {
            let Harm { time, worst, bytes, again } = harm(&runs, at);
            format!("{time:.2} ({worst:.2}); {bytes:.2}; {again:.0}")
        };
        row(&mut text, rival.name, (0..controls.len()).map(cell));
    }
    Ok(text)
}

/// What a start-up did over all places, over what the first did.
struct Harm {
    /// The transfer's time, and the longest.
    time: f64,
    worst: f64,
    /// What the flow beside it delivered less, per byte of the transfer.
    bytes: Mean,
    /// What that flow sent again more, in packets.
    again: Mean,
}

/// A mean and its standard error.
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count().max(1) as f64;
        let value = values.clone().sum::<f64>() / count;
        let squares: f64 = values.map(|one| (one - value).powi(2)).sum();
        Self { value, error: (squares / (count - 1.0).max(1.0) / count).sqrt() }
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = out.precision().unwrap_or(0);
        write!(out, "{:+.digits$} ± {:.digits$}", self.value, self.error)
    }
}

fn harm(runs: &[Vec<Beside>], at: usize) -> Harm {
    let pairs = || runs.iter().map(|run| (&run[at], &run[0]));
    let ratio = |(one, first): (&Beside, &Beside)| one.completion_s / first.completion_s;
    let bytes = |(one, first): (&Beside, &Beside)| {
        (first.delivered_bytes - one.delivered_bytes) / one.size_bytes
    };
    let again = |(one, first): (&Beside, &Beside)| {
        one.established_sent_again - first.established_sent_again
    };
    Harm {
        time: (pairs().map(|pair| ratio(pair).ln()).sum::<f64>() / runs.len() as f64).exp(),
        worst: pairs().map(ratio).fold(0.0, f64::max),
        bytes: Mean::of(pairs().map(bytes)),
        again: Mean::of(pairs().map(again)),
    }
}

fn measured(places: &[Place], controls: &[&str]) -> Result<Vec<Vec<Beside>>, String> {
    places.par_iter().map(|place| measure(*place, controls)).collect()
}

fn measure(place: Place, controls: &[&str]) -> Result<Vec<Beside>, String> {
    let Place { rate_mbps: rate, rtt_ms: rtt, buffer, rival, rtts, begins_us } = place;
    let rivals_rtt = rtts * rtt;
    let size = (4 * rate * rtt * 125).max(500_000);
    let limit = begins_us.div_ceil(1_000_000) + 60 + 40 * size / (rate * 125_000);
    let text = format!(
        "controls = {controls:?}\nduration = \"{limit}s\"\npacket = \"1448B\"\n\
         [path]\nrate = \"{rate}Mbps\"\nrtt = \"{rtt}ms\"\nbuffer = \"{buffer}bdp\"\n\
         [[flow]]\ncontrol = \"{rival}\"\nrtt = \"{rivals_rtt}ms\"\n\
         [[flow]]\nstart = \"{begins_us}us\"\nsize = \"{size}B\"\n"
    );
    let beside = |run: &Run| {
        let (established, transfer) = (&run.result.flows[0], &run.result.flows[1]);
        Beside {
            completion_s: transfer.completion_time_s.unwrap_or(limit as f64),
            size_bytes: size as f64,
            delivered_bytes: established.delivered_bytes as f64,
            established_sent_again: established.counts.retransmitted_packets as f64,
        }
    };
    Ok(runs(&text, Simulator::TCP, None)?.iter().map(beside).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_control_takes_nothing_more_than_itself() {
        let place = places(&RIVALS[0])[TIMES];
        let runs = [measure(place, &["hystart-pp", "rapid-start"]).unwrap()];
        assert!(runs[0].iter().all(|run| run.completion_s < 60.0), "both are done");
        let [itself, other] = [0, 1].map(|at| harm(&runs, at));
        assert_eq!((itself.time, itself.bytes.value, itself.again.value), (1.0, 0.0, 0.0));
        assert!(other.time != 1.0 && other.again.value != 0.0);
    }

    #[test]
    fn a_mean_has_the_standard_error_of_its_values() {
        let mean = Mean::of([1.0, 2.0, 3.0, 6.0].into_iter());
        // The deviations of 2, 1, 0 and 3 have a variance of 14/3, a quarter of which is 1.08^2.
        assert_eq!(format!("{mean:.2}"), "+3.00 ± 1.08");
        assert_eq!(format!("{:.0}", Mean::of([-4.0].into_iter())), "-4 ± 0");
    }

    #[test]
    fn a_transfer_begins_at_another_time_on_each_of_its_places() {
        let begins: Vec<u64> = places(&RIVALS[5]).iter().map(|one| one.begins_us).collect();
        assert_eq!(begins.len(), TIMES * RATES_MBPS.len() * RTTS_MS.len() * BUFFERS.len());
        // The RTT is 20 ms: the transfer begins 0.3 RTT after the other flow, up to 0.1 RTT later.
        assert!(begins[..TIMES].iter().all(|us| (6_000..8_000).contains(us)), "{begins:?}");
        assert!(
            begins[..TIMES].iter().collect::<std::collections::BTreeSet<_>>().len() > TIMES / 2
        );
    }
}
