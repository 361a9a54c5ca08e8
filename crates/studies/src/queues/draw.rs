//! Points drawn at random. A point depends on the seed, the discipline and its number alone.

use firstflight_scenario::Scenario;

use crate::Stop;
use crate::draw::{Draw, digits};
use crate::lab::{LINUX_CUBIC, LINUX_RENO};

/// A discipline of the kernel, or netem with its own queue.
#[derive(Debug)]
pub(super) struct Discipline {
    /// Its name in `tc`.
    pub(super) name: &'static str,
    /// Whether it draws random numbers.
    random: bool,
    /// When its flows start, in seconds. PIE's controller begins half a second after the queue, and
    /// the kernel's queue is there before the run.
    settles_s: u64,
    /// The lines of `[path]` that are its own.
    keys: fn(&mut Draw, &Shape) -> String,
}

/// In the order of the page.
pub(super) const DISCIPLINES: [Discipline; 6] = [
    Discipline { name: "netem", random: true, settles_s: 0, keys: netem },
    Discipline { name: "tbf", random: false, settles_s: 0, keys: tbf },
    Discipline { name: "red", random: true, settles_s: 0, keys: red },
    Discipline { name: "codel", random: false, settles_s: 0, keys: codel },
    Discipline { name: "fq_codel", random: false, settles_s: 0, keys: fq_codel },
    Discipline { name: "pie", random: true, settles_s: 1, keys: pie },
];

/// A path, its flows, and the discipline on it.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) discipline: &'static Discipline,
    pub(super) number: u64,
    shape: Shape,
    /// What the discipline adds to `[path]`.
    keys: String,
    /// In the simulator and in the kernel.
    pair: (&'static str, &'static str),
}

/// How a path differs from the point's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offset {
    /// How much longer its RTT is, in ms.
    pub(super) more_ms: f64,
    /// How much faster its link is, in parts per million.
    pub(super) faster_ppm: f64,
}

/// What every discipline's point has.
#[derive(Clone, Copy, Debug)]
struct Shape {
    mbps: f64,
    rtt_ms: f64,
    seconds: f64,
    flows: u64,
    ecn: bool,
}

impl Shape {
    fn bdp_packets(&self) -> f64 {
        self.mbps * 1e3 * self.rtt_ms / (8.0 * FRAME)
    }
}

impl Point {
    pub(super) const HERE: usize = 0;
    pub(super) const KERNEL: usize = 1;

    pub(super) fn draw(seed: u64, discipline: &'static Discipline, number: u64) -> Self {
        let mut draw = stream(seed, discipline.name, number);
        let (mbps, rtt_ms) = (draw.spread(4.0, 25.0, 2), draw.spread(10.0, 100.0, 2));
        let shape = Shape {
            mbps,
            rtt_ms,
            seconds: (PACKETS * 8e-6 * FRAME / mbps).clamp(4.0, 12.0).ceil(),
            flows: draw.one_of(&[1, 1, 2, 3, 4]),
            ecn: draw.one_of(&[true, false]),
        };
        let pair = draw.one_of(&PAIRS);
        let keys = (discipline.keys)(&mut draw, &shape);
        Self { discipline, number, shape, keys, pair }
    }

    /// Whether one run is one of many.
    pub(super) fn is_random(&self) -> bool {
        self.discipline.random && !self.keys.ends_with("loss = '0%'\n")
    }

    /// The scenario for one of the two, on a path that differs from the point's by `offset`, with
    /// `runs` seeds from a later one on.
    pub(super) fn scenario(
        &self,
        which: usize,
        offset: Offset,
        later: u64,
        runs: u64,
    ) -> Result<Scenario, Stop> {
        let Shape { mbps, rtt_ms, seconds, flows, ecn } = self.shape;
        let Offset { more_ms, faster_ppm } = offset;
        let mbps = (mbps * (1e6 + faster_ppm)).round() / 1e6;
        let control = if which == Self::HERE { self.pair.0 } else { self.pair.1 };
        let rtt_ms = ((rtt_ms + more_ms) * 1e3).round() / 1e3;
        let seed = self.number + 1 + 1_000 * later;
        // Flows that start at once leave one sending machine one after the other.
        let apart = if flows > 1 { rtt_ms.round() } else { 0.0 };
        let start = match self.discipline.settles_s {
            0 => String::new(),
            after => format!("start = '{after}s'\n"),
        };
        let text = format!(
            "controls = ['{control}']\nprofile = 'linux'\nduration = '{seconds}s'\nseed = {seed}\n\
             runs = {runs}\npacket = '1448B'\nheaders = '66B'\necn = {ecn}\n[path]\n\
             rate = '{mbps}Mbps'\nrtt = '{rtt_ms}ms'\n{}[[flow]]\ncount = {flows}\n\
             start_jitter = '{apart}ms'\n{start}",
            self.keys
        );
        let scenario = Scenario::parse(&text, "the point");
        scenario.map_err(|error| Stop::failed(&format!("{error}\n{text}")))
    }

    /// The settings of a guest's script at the point: `words` for `tc` to put the queue up, whose
    /// full packet takes `service_us` microseconds on the link.
    pub(super) fn settings(&self, words: &[String], service_us: u64) -> String {
        let Shape { rtt_ms, seconds, flows, ecn, .. } = self.shape;
        let control = self.pair.1.trim_start_matches("linux-");
        let delay_us = (rtt_ms * 1e3).round() as u64 + service_us;
        let queue = words.iter().map(|line| format!("tc -n middle {line}; ")).collect::<String>();
        format!(
            "ecn={} delay_us={delay_us} \
             traffic='--congestion {control} --parallel {flows} --time {seconds}'\n\
             queue() {{ {queue}}}",
            u8::from(ecn)
        )
    }

    /// The path and what is on it, in a few words.
    pub(super) fn words(&self) -> String {
        let Shape { mbps, rtt_ms, seconds, flows, ecn } = self.shape;
        let keys: Vec<&str> =
            self.keys.lines().map(|line| line.trim_start_matches("queue = ")).collect();
        let keys = keys.join(", ").replace(['\'', '"'], "");
        let ecn = if ecn { ", ECN" } else { "" };
        format!("{mbps}Mbps, {rtt_ms}ms, {seconds}s, {flows} `{}`{ecn}: {keys}", self.pair.1)
    }
}

fn netem(draw: &mut Draw, shape: &Shape) -> String {
    let buffer = (draw.spread(0.2, 3.0, 2) * shape.bdp_packets()).max(4.0).round();
    let loss = if draw.one_of(&[true, false]) { draw.spread(0.02, 1.0, 2) } else { 0.0 };
    format!("buffer = '{buffer}pkt'\nloss = '{loss}%'\n")
}

fn tbf(draw: &mut Draw, shape: &Shape) -> String {
    let rate = digits(shape.mbps * draw.within(0.2, 0.7), 2);
    let burst = draw.spread(2.0, 60.0, 2).round();
    let limit = (draw.spread(0.3, 3.0, 2) * shape.bdp_packets()).max(6.0).round();
    format!("queue = 'tbf(rate={rate}Mbps,burst={burst}pkt,limit={limit}pkt)'\n")
}

fn red(draw: &mut Draw, shape: &Shape) -> String {
    let min = (draw.spread(0.1, 0.8, 2) * shape.bdp_packets()).max(3.0).round();
    let (max, limit) = (3.0 * min, 12.0 * min);
    let probability = draw.one_of(&[2, 5, 10, 20]);
    format!(
        "queue = 'red(limit={limit}pkt,min={min}pkt,max={max}pkt,probability={probability}%{})'\n",
        ecn(draw, shape)
    )
}

/// CoDel's interval is about the longest RTT, its target a twentieth of that or more.
fn codel_rules(draw: &mut Draw, shape: &Shape) -> String {
    let interval = digits((shape.rtt_ms * draw.within(1.0, 3.0)).max(20.0), 2);
    let target = digits((interval * draw.within(0.05, 0.15)).max(2.0), 2);
    format!("target={target}ms,interval={interval}ms")
}

fn codel(draw: &mut Draw, shape: &Shape) -> String {
    let rules = codel_rules(draw, shape);
    format!("queue = 'codel({rules}{})'\n", ecn(draw, shape))
}

fn fq_codel(draw: &mut Draw, shape: &Shape) -> String {
    let rules = codel_rules(draw, shape);
    let quantum = draw.one_of(&["300B", "1514B", "6000B"]);
    let ecn = if shape.ecn { "on" } else { "off" };
    format!("queue = 'fq_codel({rules},quantum={quantum},ecn={ecn})'\n")
}

fn pie(draw: &mut Draw, shape: &Shape) -> String {
    let target = draw.spread(5.0, 40.0, 2);
    let tupdate = draw.one_of(&[8, 15, 30]);
    format!("queue = 'pie(target={target}ms,tupdate={tupdate}ms{})'\n", ecn(draw, shape))
}

/// The random numbers of a kind of point and its number.
pub(super) fn stream(seed: u64, kind: &str, number: u64) -> Draw {
    let name = kind.bytes().fold(0_u64, |sum, byte| 31 * sum + u64::from(byte));
    Draw::new(seed, (name << 16) ^ number)
}

/// Flows with ECN have a queue that marks in two points of three, and one that drops in the third.
fn ecn(draw: &mut Draw, shape: &Shape) -> &'static str {
    if shape.ecn && draw.one_of(&[true, true, false]) { ",ecn=on" } else { "" }
}

const PAIRS: [(&str, &str); 2] = [(LINUX_RENO, "linux-reno"), (LINUX_CUBIC, "linux-cubic")];
/// Packets that a point carries, about five seconds of a processor's time in the guest.
const PACKETS: f64 = 5_000.0;
/// A full packet as an Ethernet frame, which is what the kernel's queues count.
const FRAME: f64 = 1_514.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_a_scenario_and_depends_on_its_number_alone() {
        for discipline in &DISCIPLINES {
            for number in 0..50 {
                let point = Point::draw(3, discipline, number);
                for which in [Point::HERE, Point::KERNEL] {
                    let offset = Offset { more_ms: 0.05, faster_ppm: -300.0 };
                    let scenario = point.scenario(which, offset, 2, 3).ok().unwrap();
                    assert!(scenario.complete().is_ok(), "{}", scenario.to_toml());
                }
                let again = Point::draw(3, discipline, number).words();
                assert_eq!(point.words(), again);
                assert_ne!(point.words(), Point::draw(4, discipline, number).words());
            }
        }
    }

    #[test]
    fn every_discipline_of_tc_is_drawn() {
        let mut cards = firstflight_link::Discipline::cards();
        cards.retain(|card| card.not_in_tc.is_none());
        let names = cards.iter().map(|card| card.name);
        assert!(names.eq(DISCIPLINES[1..].iter().map(|it| it.name)));
    }

    #[test]
    fn what_is_drawn_reaches_marks_and_drops_and_several_flows() {
        let words: Vec<String> =
            (0..40).map(|number| Point::draw(1, &DISCIPLINES[2], number).words()).collect();
        for word in ["ecn=on", "4 `linux-", "1 `linux-cubic`", "linux-reno", "probability=20%"] {
            assert!(words.iter().any(|line| line.contains(word)), "{word}");
        }
    }

    #[test]
    fn the_points_of_the_page_are_those_that_are_drawn() {
        let page = include_str!("../../../../docs/queues.md");
        let (_, rest) = page.split_once(" --seed ").unwrap();
        let seed = rest.split_once(' ').unwrap().0.parse().unwrap();
        for discipline in &DISCIPLINES {
            for number in 0..5 {
                let row = format!("| {} |", Point::draw(seed, discipline, number).words());
                assert!(page.contains(&row), "{row}");
            }
        }
    }
}
