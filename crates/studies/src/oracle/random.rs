//! Points drawn at random from the whole space in which firstflight claims to be ns-2.
//!
//! A point depends on the seed and its number alone, so that one of many can be run again by
//! itself, and kept as a line of `validation/points.toml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::draw::{Draw, rounded};

/// `count` points by their ids, each as `validation/points.toml` says it, under that release; all
/// of one `agent`, or each of one of [`AGENTS`].
pub(super) fn points(
    seed: u64,
    count: u64,
    agent: Option<&str>,
    release: &str,
) -> BTreeMap<String, String> {
    let release = if release == "2.35" { String::new() } else { format!(" release={release}") };
    let point = |number| Draw::new(seed, number).point(agent) + &release;
    (0..count).map(|number| (format!("random-{seed}-{number:04}"), point(number))).collect()
}

impl Draw {
    fn point(&mut self, agent: Option<&str>) -> String {
        let drawn = self.one_of(&AGENTS[..6]);
        let alg = agent.unwrap_or(drawn);
        let (rate, rtt) = (self.spread(0.5, 200.0, 3), self.spread(5.0, 600.0, 3));
        let pkt = self.one_of(&[500.0, 512.0, 576.0, 1000.0, 1200.0, 1460.0, 1500.0]);
        let bdp = rate * 1e3 * rtt / (8.0 * pkt);
        let buf = self.spread(3.0, (2.0 * bdp).max(4.0), 3).floor();
        let seconds = PACKETS * 8e-6 * pkt / rate;
        let dur = seconds.clamp(5.0, 60.0).ceil();
        let mut line = format!("{alg} rate={rate} rtt={rtt} buf={buf} pkt={pkt} dur={dur}");
        let near_bdp = (bdp * self.within(0.25, 1.5)).max(2.0);
        let thresholds = [0.0, self.within(2.0, 32.0), near_bdp, 4.0 * bdp + buf];
        let ssthresh = self.one_of(&thresholds).ceil();
        let (iw, ack) = (self.one_of(&[1, 2, 4, 10]), self.one_of(&[1, 2]));
        // Writing to a string cannot fail.
        let _ = write!(line, " ssthresh={ssthresh} iw={iw} ack={ack}");
        if self.one_in(4) {
            line.push_str(" lt=0");
        }
        self.network(&mut line, rate, rtt, dur);
        line
    }

    /// How many flows, when they start, and what lies between them and the bottleneck.
    fn network(&mut self, line: &mut String, rate: f64, rtt: f64, dur: f64) {
        let flows = if self.one_in(2) { 1 } else { self.one_of(&[2, 3, 4, 5, 6, 7, 8]) };
        let access = self.one_of(&["10x", "2x", "50x", "1000"]);
        let _ = write!(line, " flows={flows} access={access}");
        if self.one_in(3) {
            let _ = write!(line, " adelay={}", rounded(self.within(0.0, rtt / 8.0), 3));
        }
        if flows > 1 {
            if !self.one_in(3) {
                self.list(line, "starts", flows, |draw| draw.within(0.0, dur / 4.0));
            }
            if self.one_in(2) {
                self.list(line, "adelays", flows, |draw| draw.within(0.0, rtt / 4.0));
            }
            if self.one_in(3) {
                self.list(line, "accesses", flows, |draw| rate * draw.spread(0.7, 50.0, 3));
            }
        }
    }

    fn list(
        &mut self,
        line: &mut String,
        key: &str,
        flows: usize,
        value: impl Fn(&mut Self) -> f64,
    ) {
        let values: Vec<String> = (0..flows).map(|_| rounded(value(self), 3).to_string()).collect();
        let _ = write!(line, " {key}={}", values.join(","));
    }
}

/// The agents of points. The last, TCP/Linux, is not drawn but asked for, so that seeds keep their
/// points.
pub(super) const AGENTS: [&str; 7] = ["newreno", "reno", "sack", "vegas", "hoe", "tahoe", "linux"];

/// About how many packets a run carries; it lasts at least 5 s and at most 60 s.
const PACKETS: f64 = 40_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_depends_on_seed_and_number_alone() {
        let (few, many) = (points(7, 3, None, "2.35"), points(7, 200, None, "2.35"));
        assert!(few.iter().all(|(id, line)| many[id] == *line));
        assert_ne!(points(8, 1, None, "2.35")["random-8-0000"], few["random-7-0000"]);
        let (one, drawn) =
            (&points(7, 1, Some("linux"), "2.35")["random-7-0000"], &few["random-7-0000"]);
        let path = |line: &str| line.split_once(' ').map(|(_, path)| path.to_owned());
        assert!(one.starts_with("linux ") && path(one) == path(drawn));
        let different: std::collections::BTreeSet<&String> = many.values().collect();
        assert_eq!(different.len(), 200);
    }

    #[test]
    fn the_whole_space_is_drawn_from() {
        let line: Vec<String> = points(1, 500, None, "2.35").into_values().collect();
        for word in [
            "newreno",
            "vegas",
            "ack=2",
            "iw=10",
            "flows=8",
            "adelays=",
            "accesses=",
            "ssthresh=0 ",
        ] {
            assert!(line.iter().any(|point| point.contains(word)), "{word}");
        }
        let rates: Vec<f64> = line
            .iter()
            .map(|point| {
                point.split_once("rate=").unwrap().1.split_once(' ').unwrap().0.parse().unwrap()
            })
            .collect();
        assert!(rates.iter().all(|rate| (0.5..=200.0).contains(rate)));
        assert!(rates.iter().any(|rate| *rate < 1.0) && rates.iter().any(|rate| *rate > 100.0));
    }
}
