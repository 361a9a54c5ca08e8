//! netem's jitter and reordering beside the simulator's: constant traffic through netem, what each
//! packet's delay was, and what the simulator's element makes of the same arrivals.

use std::fmt::Write as _;

use firstflight_core::units::{Instant, Span};
use firstflight_link::{Crossing, Element, Jitter, Reorder, Uniform};
use firstflight_results::statistics::mean;

use super::draw::stream;
use super::packets::Captures;
use super::table::ACCEPTED;
use crate::Stop;
use crate::explained::Accepted;

/// A model drawn at random, in the words of both.
pub(super) struct Model {
    /// For `tc`.
    netem: String,
    /// The key of a scenario that says it.
    key: String,
    here: Box<dyn Element>,
}

/// What is compared, here and in the kernel.
pub(super) struct Compared {
    netem: String,
    key: String,
    here: [f64; 5],
    kernel: [f64; 5],
}

impl Model {
    /// The model of this number: jitter of both kinds in turn, and then reordering.
    pub(super) fn draw(seed: u64, number: u64, jitters: u64) -> Self {
        let mut draw = stream(seed, "models", number);
        let ns = |ms: f64| (ms * 1e6).round() as u64;
        let by = draw.spread(1.0, 20.0, 2);
        if number >= jitters {
            let share = draw.spread(7.0, 40.0, 2);
            return Self {
                netem: format!("delay {by}ms reorder {}%", 100.0 - share),
                key: format!("reorder = {{ share = \"{share}%\", by = \"{by}ms\" }}"),
                here: Box::new(Reorder {
                    share_ppb: (share * 1e7).round() as u64,
                    by: Span(ns(by)),
                }),
            };
        }
        // At most 0.4 of the mean, so that no delay would be less than nothing.
        let (average, spread) = (5.0 * by, draw.spread(0.05 * by, by, 2));
        if number.is_multiple_of(2) {
            let (from, until) = (average - spread, average + spread);
            let (from_ns, until_ns) = (ns(from), ns(until));
            return Self {
                netem: format!("delay {average:.3}ms {spread:.3}ms"),
                key: format!("jitter = \"uniform:{from:.3}ms,{until:.3}ms\""),
                here: Box::new(Jitter::Uniform(Uniform { from: from_ns, until: until_ns })),
            };
        }
        let (mean, deviation) = (Span(ns(average)), Span(ns(spread)));
        Self {
            netem: format!("delay {average:.3}ms {spread:.3}ms distribution normal"),
            key: format!("jitter = \"normal:{average:.3}ms,{spread:.3}ms\""),
            here: Box::new(Jitter::Normal { mean, deviation }),
        }
    }

    /// Sends packets through netem, and the same through the element.
    pub(super) fn compared(self, captures: &Captures<'_>, seed: u64) -> Result<Compared, Stop> {
        let words = format!("qdisc add dev f0 root netem {} limit 100000", self.netem);
        let settings = format!(
            "ecn=0 delay_us=1000 traffic='--udp --bitrate 16M --length 1000 --time 5'\n\
             queue() {{ tc -n middle {words}; }}"
        );
        let arrivals = captures.arrivals(&settings)?;
        let kernel: Vec<(u64, u64)> =
            arrivals.iter().filter_map(|packet| Some((packet.at, packet.left?.0))).collect();
        let (mut element, mut random) = (self.here, firstflight_link::stream(seed, 0));
        let mut pass = |at: u64| {
            let packet = Crossing {
                at: Instant(at),
                bytes: 1_042,
                flow: 0,
                ecn_capable: false,
                marked: false,
                held: 0,
                waits: Span(0),
            };
            element.pass_on(&packet, Instant(at), &mut random).0
        };
        let here: Vec<(u64, u64)> = kernel.iter().map(|(at, _)| (*at, pass(*at))).collect();
        let (here, kernel) = (measures(&here), measures(&kernel));
        Ok(Compared { netem: self.netem, key: self.key, here, kernel })
    }
}

/// What is compared of packets, by when they came and left: the mean delay in ms, its quantiles at
/// 5, 50 and 95 %, and the share in per cent that one overtook which came later.
fn measures(packets: &[(u64, u64)]) -> [f64; 5] {
    let mut delays: Vec<f64> =
        packets.iter().map(|(at, left)| left.saturating_sub(*at) as f64 / 1e6).collect();
    let average = mean(delays.iter().copied()).unwrap_or(0.0);
    delays.sort_by(f64::total_cmp);
    let quantile = |percent: usize| delays.get(delays.len() * percent / 100).copied();
    let [few, half, most] = [5, 50, 95].map(|percent| quantile(percent).unwrap_or(0.0));
    let mut first_left = u64::MAX;
    let overtaken = packets.iter().rev().filter(|(_, left)| {
        let is_overtaken = *left > first_left;
        first_left = first_left.min(*left);
        is_overtaken
    });
    let overtaken = 100.0 * overtaken.count() as f64 / packets.len().max(1) as f64;
    [average, few, half, most, overtaken]
}

impl Compared {
    /// Whether something differs by more than 5 %, and a delay by more than the way through the
    /// middle takes, or the overtaken by more than a hundredth of the packets.
    pub(super) fn differs(&self) -> bool {
        let slack = [MIDDLE_MS, MIDDLE_MS, MIDDLE_MS, MIDDLE_MS, 1.0];
        self.here.iter().zip(self.kernel).zip(slack).any(|((here, kernel), slack)| {
            !Accepted { percent: ACCEPTED, least: slack }.holds(*here, kernel)
        })
    }

    /// As a row of the page.
    pub(super) fn row(&self) -> String {
        let cells: Vec<String> = self
            .here
            .iter()
            .zip(self.kernel)
            .map(|(here, kernel)| format!("{here:.2}, {kernel:.2}"))
            .collect();
        let differs = if self.differs() { "**differs**" } else { "" };
        format!("| `{}` | `{}` | {} | {differs} |", self.key, self.netem, cells.join(" | "))
    }
}

/// The table of the page.
pub(super) fn page(all: &[Compared]) -> String {
    let mut text = HEAD.to_owned();
    for compared in all {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}", compared.row());
    }
    text
}

const HEAD: &str = "\n\n### Jitter and reordering\n\n\
    | here | netem | delay, ms | 5 % | median | 95 % | overtaken, % | |\n\
    |---|---|---|---|---|---|---|---|";
/// The longest that a packet takes from one network device of the middle host to the other, in ms.
const MIDDLE_MS: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    /// Four packets a millisecond apart, late by 1, 3, 1 and 5 ms: the second leaves with the
    /// fourth's arrival behind the third.
    #[test]
    fn delays_and_the_overtaken_are_measured() {
        let ms = |at: u64, late: u64| (at * 1_000_000, (at + late) * 1_000_000);
        let found = measures(&[ms(0, 1), ms(1, 3), ms(2, 1), ms(3, 5)]);
        assert_eq!(found, [2.5, 1.0, 3.0, 5.0, 25.0]);
    }

    #[test]
    fn what_differs_by_more_than_five_per_cent_is_said() {
        let compared = |here| Compared {
            netem: "delay 10ms 2ms".to_owned(),
            key: "jitter".to_owned(),
            here: [here, 8.0, 10.0, 12.0, 30.0],
            kernel: [10.0, 8.0, 10.0, 12.0, 30.9],
        };
        assert!(!compared(10.4).differs() && compared(10.6).differs());
        assert!(compared(10.6).row().ends_with("| 30.00, 30.90 | **differs** |"));
    }

    #[test]
    fn jitter_of_both_kinds_and_reordering_are_drawn() {
        let keys: Vec<String> = (0..12).map(|number| Model::draw(1, number, 10).key).collect();
        assert!(keys[0].starts_with("jitter = \"uniform:"), "{keys:?}");
        assert!(keys[9].starts_with("jitter = \"normal:") && keys[10].starts_with("reorder"));
    }
}
