//! Points drawn at random. A point depends on the seed and its number alone, so that one of many
//! can be run again by itself.

use firstflight_scenario::{PathFlags, Scenario};

use crate::Stop;
use crate::draw::Draw;
use crate::lab::{LINUX_BBR, LINUX_CUBIC, LINUX_RENO};

/// One path with its flows, and the controls that are held to each other on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) number: u64,
    /// In the simulator and in the kernel.
    pub(super) pair: Pair,
    /// Flags of `compare` with their values.
    flags: Vec<(&'static str, String)>,
}

impl Point {
    /// With `today` the path is the same, and the control one of [`TODAY`]. One that remembers is
    /// given transfers of which most begin after another's end.
    pub(super) fn draw(seed: u64, number: u64, today: bool) -> Self {
        let mut draw = Draw::new(seed, number);
        let pairs: &[Pair] = if today { &TODAY } else { &PAIRS };
        let (pair, mut flags) = (draw.one_of(pairs), draw.flags(number));
        if pair.0 == REMEMBERS {
            one_after_another(&mut flags);
        }
        Self { number, pair, flags }
    }

    /// The scenario for one of the two controls.
    pub(super) fn scenario(&self, control: &str) -> Result<Scenario, Stop> {
        let flags = self.flags.iter().map(|(flag, value)| (format!("--{flag}"), value.as_str()));
        let flags: Vec<(String, &str)> = flags.collect();
        let mut path: PathFlags =
            flags.iter().map(|(flag, value)| (flag.as_str(), *value)).collect();
        path.set("--packet", "1448B");
        let scenario = Scenario::from_flags(&path, &[control.to_owned()]);
        scenario.map_err(|error| Stop::failed(&error.to_string()))
    }

    /// This point with a buffer of one packet more or less, and with an RTT up to a millisecond
    /// longer: what decides there is the order of packets that arrive together.
    pub(super) fn nearby(&self) -> Vec<Self> {
        let with = |flag: &str, unit: &str, more: f64| {
            let mut point = self.clone();
            for (_, value) in point.flags.iter_mut().filter(|(name, _)| *name == flag) {
                let number: f64 = value.trim_end_matches(unit).parse().unwrap_or(0.0);
                *value = format!("{}{unit}", ((number + more) * 1e3).round() / 1e3);
            }
            point
        };
        let buffers = [-1.0, 1.0].map(|more| with("buffer", "pkt", more));
        let rtts = [0.05, 0.1, 0.2, 0.3, 0.5, 1.0].map(|more| with("rtt", "ms", more));
        buffers.into_iter().chain(rtts).collect()
    }

    /// The path in a few words.
    pub(super) fn path(&self) -> String {
        let flags = self.flags.iter().filter(|(flag, _)| *flag != "seed");
        flags
            .map(|(flag, value)| match *flag {
                "rate" | "rtt" | "buffer" | "duration" => value.clone(),
                flag => format!("{flag} {value}"),
            })
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Four transfers in the first two thirds of the time, each a sixteenth of what the path carries in
/// all of it.
fn one_after_another(flags: &mut Vec<(&'static str, String)>) {
    let number = |flag: &str, unit: &str| {
        let value = flags.iter().find(|(name, _)| *name == flag).map(|(_, value)| value);
        value.and_then(|value| value.trim_end_matches(unit).parse().ok()).unwrap_or(0.0_f64)
    };
    let (mbps, seconds) = (number("rate", "Mbps"), number("duration", "s"));
    let kilobytes = (mbps * 1e3 / 8.0 * seconds / 16.0).round();
    flags.retain(|(name, _)| !["flows", "start-jitter", "size"].contains(name));
    flags.push(("flows", "4".to_owned()));
    flags.push(("start-jitter", format!("{}ms", (seconds * 1e3 * 2.0 / 3.0).round())));
    flags.push(("size", format!("{kilobytes}KB")));
}

impl Draw {
    fn flags(&mut self, number: u64) -> Vec<(&'static str, String)> {
        let (rate, rtt) = (self.spread(2.0, 200.0, 2), self.spread(10.0, 600.0, 2));
        let buffer = self.spread(0.1, 4.0, 2);
        let bdp = rate * 1e3 * rtt / (8.0 * PACKET);
        let seconds = (PACKETS * 8e-6 * PACKET / rate).clamp(4.0, 30.0).ceil();
        let mut flags = vec![
            ("rate", format!("{rate}Mbps")),
            ("rtt", format!("{rtt}ms")),
            ("buffer", format!("{}pkt", (buffer * bdp).max(4.0).round())),
            ("duration", format!("{seconds}s")),
            ("delayed-ack", self.one_of(&["1", "2"]).to_owned()),
        ];
        if self.one_in(3) {
            let near_bdp = (bdp * self.within(0.1, 1.0)).max(2.0).round();
            flags.push(("ssthresh", format!("{}pkt", self.one_of(&[32.0, near_bdp]))));
        }
        if self.one_in(3) {
            flags.push(("loss", format!("{}%", self.spread(0.01, 1.0, 2))));
        }
        let flows = if self.one_in(2) { 1.0 } else { self.within(2.0, 9.0).floor() };
        flags.push(("flows", flows.to_string()));
        if flows > 1.0 {
            // Flows that start at once leave one sending machine a packet after the other, 27 us
            // apart in the guest, which the simulator's senders, a machine each, do not.
            flags.push(("start-jitter", format!("{rtt}ms")));
        }
        if self.one_in(4) {
            let most = (rate * 1e6 / 8.0 * seconds / 2.0 / flows).max(2e5);
            flags.push(("size", format!("{}KB", (self.spread(5e4, most, 2) / 1e3).round())));
        }
        flags.push(("seed", (number + 1).to_string()));
        flags
    }
}

/// A control in the simulator and in the kernel.
type Pair = (&'static str, &'static str);

const PAIRS: [Pair; 8] = [
    (LINUX_RENO, "linux-reno"),
    (LINUX_CUBIC, "linux-cubic"),
    ("newreno", "newreno"),
    ("mstart", "mstart"),
    ("dbc", "dbc"),
    ("astart", "astart"),
    ("hystart-pp", "hystart-pp"),
    ("hystart", "hystart"),
];

/// Start-ups of today, most of which pace.
const TODAY: [Pair; 4] = [
    (LINUX_BBR, "linux-bbr"),
    ("rapid-start", "rapid-start"),
    ("search", "search"),
    (REMEMBERS, REMEMBERS),
];
const REMEMBERS: &str = "careful-resume";

/// Packets that a bulk run carries at the path's rate, about half a minute of a processor's time in
/// the guest; a run lasts 4 s at least and 30 s at most.
const PACKETS: f64 = 40_000.0;
/// Bytes of payload in each.
const PACKET: f64 = 1_448.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_depends_on_seed_and_number_alone() {
        let points: Vec<Point> = (0..100).map(|number| Point::draw(7, number, false)).collect();
        assert_eq!(Point::draw(7, 42, false), points[42]);
        assert_ne!(Point::draw(8, 42, false).flags, points[42].flags);
        for (at, point) in points.iter().enumerate() {
            assert!(points[..at].iter().all(|other| other.flags != point.flags), "{at}");
        }
    }

    #[test]
    fn the_controls_of_today_run_on_the_same_paths() {
        let both = (0..100).map(|number| [false, true].map(|today| Point::draw(7, number, today)));
        let both: Vec<[Point; 2]> = both.collect();
        for [old, today] in &both {
            let apart = old.flags != today.flags;
            assert!(TODAY.contains(&today.pair) && (!apart || today.pair.0 == REMEMBERS));
            assert_eq!(old.flags[..5], today.flags[..5]);
        }
        let one = |[_, today]: &&[Point; 2]| today.pair.0 == REMEMBERS;
        let path = both.iter().find(one).unwrap()[1].path();
        assert!(path.contains("flows 4, start-jitter ") && path.contains("KB"), "{path}");
        for pair in TODAY {
            assert!(both.iter().any(|[_, today]| today.pair == pair), "{pair:?}");
        }
    }

    #[test]
    fn points_beside_one_differ_in_buffer_or_rtt_alone() {
        let flags = vec![("rtt", "9.9ms".to_owned()), ("buffer", "12pkt".to_owned())];
        let point = Point { number: 3, pair: PAIRS[0], flags };
        let paths: Vec<String> = point.nearby().iter().map(Point::path).collect();
        assert_eq!(paths[..4], ["9.9ms, 11pkt", "9.9ms, 13pkt", "9.95ms, 12pkt", "10ms, 12pkt"]);
        assert_eq!((paths.len(), paths[7].as_str()), (8, "10.9ms, 12pkt"));
    }

    #[test]
    fn the_whole_space_is_drawn_from() {
        let points: Vec<Point> = (0..400).map(|number| Point::draw(1, number, false)).collect();
        let paths: Vec<String> = points.iter().map(Point::path).collect();
        for word in ["ssthresh 32pkt", "loss 0.", "flows 1", "flows 8", "size ", "delayed-ack 2"] {
            assert!(paths.iter().any(|path| path.contains(word)), "{word}");
        }
        assert!(paths.iter().all(|path| path.contains("flows 1") != path.contains("start-jitter")));
        for pair in PAIRS {
            assert!(points.iter().any(|point| point.pair == pair), "{pair:?}");
        }
        let rates = points.iter().map(|point| point.flags[0].1.trim_end_matches("Mbps"));
        let rates: Vec<f64> = rates.map(|rate| rate.parse().unwrap()).collect();
        assert!(rates.iter().all(|rate| (2.0..=200.0).contains(rate)));
        assert!(rates.iter().any(|rate| *rate < 4.0) && rates.iter().any(|rate| *rate > 100.0));
    }

    #[test]
    fn the_points_of_the_page_are_those_that_are_drawn() {
        let page = include_str!("../../../../../docs/lab-random.md");
        let (_, rest) = page.split_once(", seed ").unwrap();
        let seed = rest.split_once('.').unwrap().0.parse().unwrap();
        for number in 0..10 {
            let point = Point::draw(seed, number, false);
            let row = format!("| {number} | `{}` | {} |", point.pair.1, point.path());
            assert!(page.contains(&row), "{row}");
        }
    }
}
