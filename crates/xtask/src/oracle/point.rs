//! The points to compare at, as `oracles/points.toml` lists them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Stop;

/// One scenario, in the keys and units of `ns2-dumbbell.tcl`.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Unique among the points.
    pub(super) id: String,
    /// As written, for the reader.
    pub(super) said: String,
    keys: BTreeMap<String, String>,
}

impl Point {
    /// The value of a key, every one of which [`load`] has seen.
    pub(super) fn text(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }

    /// The value of a key as a number.
    pub(super) fn number(&self, key: &str) -> f64 {
        self.text(key).parse().unwrap_or(f64::NAN)
    }

    /// When each flow starts, in seconds.
    pub(super) fn starts(&self) -> Vec<f64> {
        match self.text("starts") {
            "" => vec![0.0; self.number("flows") as usize],
            list => list.split(',').map(|text| text.parse().unwrap_or(f64::NAN)).collect(),
        }
    }

    /// The same point with every flow starting so many seconds later and the run as much longer.
    pub(super) fn begun_later(&self, flow: impl Fn(usize) -> f64, run: f64) -> Self {
        let shifted = self.starts().into_iter().enumerate();
        let starts: Vec<String> =
            shifted.map(|(id, start)| format!("{:.6}", start + flow(id))).collect();
        let mut later = self.clone();
        later.keys.insert("starts".to_owned(), starts.join(","));
        later.keys.insert("dur".to_owned(), format!("{}", self.number("dur") + run));
        later
    }

    /// The arguments of `ns2-dumbbell.tcl`.
    pub(super) fn args(&self) -> Vec<String> {
        let given = self.keys.iter().filter(|(_, value)| !value.is_empty());
        given.map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// Bandwidth times two-way propagation, in packets.
    pub(super) fn bdp(&self) -> f64 {
        self.number("rate") * 1e3 * self.number("rtt") / (8.0 * self.number("pkt"))
    }

    /// The buffer in packets, rounded as the oracle programs do.
    pub(super) fn buffer(&self) -> u64 {
        let packets = match self.text("buf").strip_suffix("bdp") {
            Some("") => self.bdp() + 0.5,
            Some(share) => share.parse::<f64>().unwrap_or(f64::NAN) * self.bdp() + 0.5,
            None => self.number("buf"),
        };
        (packets as u64).max(2)
    }

    /// The rate of the access links, in Mbps.
    pub(super) fn access(&self) -> f64 {
        match self.text("access").strip_suffix('x') {
            Some(times) => times.parse::<f64>().unwrap_or(f64::NAN) * self.number("rate"),
            None => self.number("access"),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    defaults: String,
    starts: BTreeMap<String, String>,
    points: BTreeMap<String, String>,
}

/// Reads the points whose id begins with one of `only`, or all.
pub(super) fn load(path: &Path, only: &[String]) -> Result<Vec<Point>, Stop> {
    let wrong = |problem: String| Stop::usage(&format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let points = parse(&text).map_err(wrong)?;
    for id in only {
        if !points.iter().any(|point| point.id.starts_with(id.as_str())) {
            let known: Vec<&str> = points.iter().map(|point| point.id.as_str()).collect();
            let known = known.join(" ");
            return Err(wrong(format!("no point's id begins with `{id}`; known: {known}")));
        }
    }
    let chosen =
        |point: &Point| only.is_empty() || only.iter().any(|id| point.id.starts_with(id.as_str()));
    Ok(points.into_iter().filter(chosen).collect())
}

fn parse(text: &str) -> Result<Vec<Point>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut points = Vec::new();
    for (id, said) in file.points {
        let mut keys = pairs(&file.defaults, &id)?;
        let (alg, rest) = said.split_once(' ').unwrap_or((&said, ""));
        keys.insert("alg".to_owned(), alg.to_owned());
        for (key, mut value) in pairs(rest, &id)? {
            if key == "starts" {
                let list = file.starts.get(&value);
                value = list.ok_or(format!("{id}: no list `{value}` in [starts]"))?.clone();
            } else if !keys.contains_key(&key) {
                let known: Vec<&str> = keys.keys().map(String::as_str).collect();
                return Err(format!("{id}: unknown key `{key}`; known: {}", known.join(" ")));
            }
            keys.insert(key, value);
        }
        let point = Point { id, said, keys };
        let numbers = ["rate", "rtt", "flows", "dur", "ssthresh", "pkt", "ack", "adelay", "iw"];
        if let Some(key) = numbers.iter().find(|key| !point.number(key).is_finite()) {
            return Err(format!("{}: `{key}={}` is no number", point.id, point.text(key)));
        }
        points.push(point);
    }
    Ok(points)
}

/// `rate=40 rtt=100` as pairs.
pub(crate) fn pairs(text: &str, id: &str) -> Result<BTreeMap<String, String>, String> {
    let pair = |word: &str| match word.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(format!("{id}: `{word}` is not key=value")),
    };
    text.split_whitespace().map(pair).collect()
}

/// A point for tests.
#[cfg(test)]
pub(super) fn example(id: &str) -> Point {
    Point { id: id.to_owned(), said: "newreno".to_owned(), keys: BTreeMap::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "defaults = 'rate=40 rtt=100 buf=bdp flows=1 dur=20 ssthresh=32 pkt=1000 \
        ack=1 access=10x adelay=0 iw=2'\n[starts]\ntwo = '0.5,1'\n[points]\n";

    #[test]
    fn a_point_is_the_defaults_and_what_it_says() {
        let text = format!("{HEAD}a = 'sack rate=20 buf=0.25bdp flows=2 starts=two'\n");
        let point = &parse(&text).unwrap()[0];
        assert_eq!(
            (point.text("alg"), point.number("rate"), point.number("rtt")),
            ("sack", 20.0, 100.0)
        );
        assert_eq!((point.buffer(), point.access()), (63, 200.0));
        assert_eq!(point.starts(), [0.5, 1.0]);
        assert!(point.args().contains(&"starts=0.5,1".to_owned()));
    }

    #[test]
    fn the_same_point_can_begin_later() {
        let text = format!("{HEAD}a = 'sack flows=2 starts=two'\nb = 'sack flows=2'\n");
        let points = parse(&text).unwrap();
        let later = points[0].begun_later(|_| 0.25, 0.25);
        assert_eq!((later.starts(), later.number("dur")), (vec![0.75, 1.25], 20.25));
        let apart = points[1].begun_later(|flow| flow as f64 * 1e-6, 0.0);
        assert_eq!((apart.text("starts"), apart.text("dur")), ("0.000000,0.000001", "20"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let problem = |line: &str| parse(&format!("{HEAD}{line}\n")).unwrap_err();
        assert!(problem("a = 'sack rat=2'").contains("unknown key `rat`"));
        assert!(problem("a = 'sack rate=fast'").contains("`rate=fast` is no number"));
        assert!(problem("a = 'sack starts=three'").contains("no list `three`"));
    }
}
