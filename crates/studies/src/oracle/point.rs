//! The points to compare at, as `validation/points.toml` lists them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Stop;
use crate::step::read_text;

/// One scenario, in the keys and units of `ns2-dumbbell.tcl`.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Its id, unique among the points.
    pub(crate) id: String,
    /// The point as written in the file.
    pub(crate) line: String,
    /// Its keys and values.
    keys: BTreeMap<String, String>,
}

impl Point {
    /// The value of a key, every one of which [`load`] has seen.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }

    /// The value of a key as a number.
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.text(key).parse().unwrap_or(f64::NAN)
    }

    /// When each flow starts, in seconds.
    pub(crate) fn starts(&self) -> Vec<f64> {
        match self.text("starts") {
            "" => vec![0.0; self.number("flows") as usize],
            _ => self.list("starts"),
        }
    }

    /// The values of one of [`LISTS`] or of [`SECOND`], none where the point does not have it.
    pub(crate) fn list(&self, key: &str) -> Vec<f64> {
        let values = self.text(key).split(',').filter(|text| !text.is_empty());
        values.map(|text| text.parse().unwrap_or(f64::NAN)).collect()
    }

    /// This point with every flow starting so many seconds later, and a run longer by as much.
    pub(crate) fn begun_later(&self, flow: impl Fn(usize) -> f64, run: f64) -> Self {
        let shifted = self.starts().into_iter().enumerate();
        let starts: Vec<String> =
            shifted.map(|(id, start)| format!("{:.6}", start + flow(id))).collect();
        let mut later = self.clone();
        later.keys.insert("starts".to_owned(), starts.join(","));
        later.keys.insert("dur".to_owned(), format!("{}", self.number("dur") + run));
        later
    }

    /// Its agent and release, by which whole kinds of points are explained.
    pub(crate) fn kind(&self) -> String {
        format!("{} release={}", self.text("alg"), self.text("release"))
    }

    /// The second of two bottlenecks in a row: Mbps, packets of buffer, one-way delay in ms.
    pub(crate) fn second(&self) -> Option<[f64; 3]> {
        self.list(SECOND).try_into().ok()
    }

    /// The arguments of `ns2-dumbbell.tcl`.
    pub(crate) fn args(&self) -> Vec<String> {
        let given = self.keys.iter().filter(|(_, value)| !value.is_empty());
        given.map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// Bandwidth times two-way propagation, in packets.
    pub(crate) fn bdp(&self) -> f64 {
        self.number("rate") * 1e3 * self.number("rtt") / (8.0 * self.number("pkt"))
    }

    /// The buffer in packets, rounded as the oracle programs do.
    pub(crate) fn buffer(&self) -> u64 {
        let packets = match self.text("buf").strip_suffix("bdp") {
            Some("") => self.bdp() + 0.5,
            Some(share) => share.parse::<f64>().unwrap_or(f64::NAN) * self.bdp() + 0.5,
            None => self.number("buf"),
        };
        (packets as u64).max(2)
    }

    /// The rate of the access links, in Mbps.
    pub(crate) fn access(&self) -> f64 {
        match self.text("access").strip_suffix('x') {
            Some(times) => times.parse::<f64>().unwrap_or(f64::NAN) * self.number("rate"),
            None => self.number("access"),
        }
    }
}

/// Reads the points whose id begins with one of `only`, or all: those of the file, or `random`
/// instead.
pub(crate) fn load(
    path: &Path,
    random: Option<BTreeMap<String, String>>,
    only: &[String],
) -> Result<Vec<Point>, Stop> {
    let text = read_text(path)?;
    let wrong = |problem: String| Stop::usage(&format!("{}: {problem}", path.display()));
    let points = parse(&text, random).map_err(wrong)?;
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

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    defaults: String,
    starts: BTreeMap<String, String>,
    points: BTreeMap<String, String>,
}

fn parse(text: &str, random: Option<BTreeMap<String, String>>) -> Result<Vec<Point>, String> {
    let mut file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let points = random.unwrap_or_else(|| std::mem::take(&mut file.points));
    points.into_iter().map(|(id, line)| file.point(id, line)).collect()
}

impl File {
    fn point(&self, id: String, line: String) -> Result<Point, String> {
        let mut keys = pairs(&self.defaults, &id)?;
        let (alg, rest) = line.split_once(' ').unwrap_or((&line, ""));
        keys.insert("alg".to_owned(), alg.to_owned());
        for (key, value) in pairs(rest, &id)? {
            let optional = LISTS.into_iter().chain([SECOND]);
            if !keys.contains_key(&key) && !optional.clone().any(|it| it == key) {
                let known: Vec<&str> = keys.keys().map(String::as_str).chain(optional).collect();
                return Err(format!("{id}: unknown key `{key}`; known: {}", known.join(" ")));
            }
            let is_name = key == "starts" && value.starts_with(char::is_alphabetic);
            let value = if is_name { self.starts(&id, &value)? } else { value };
            keys.insert(key, value);
        }
        let point = Point { id, line, keys };
        let numbers =
            ["rate", "rtt", "flows", "dur", "ssthresh", "pkt", "ack", "adelay", "iw", "lt"];
        if let Some(key) = numbers.iter().find(|key| !point.number(key).is_finite()) {
            return Err(format!("{}: `{key}={}` is no number", point.id, point.text(key)));
        }
        let flows = point.number("flows") as usize;
        for key in LISTS.iter().filter(|key| !point.text(key).is_empty()) {
            let values = point.list(key);
            if values.len() != flows || values.iter().any(|value| !value.is_finite()) {
                let found = point.text(key);
                let id = &point.id;
                return Err(format!("{id}: `{key}={found}` is not one number for each flow"));
            }
        }
        let second = point.second().is_some_and(|three| three.iter().all(|it| it.is_finite()));
        if !second && !point.text(SECOND).is_empty() {
            let (id, found) = (&point.id, point.text(SECOND));
            return Err(format!("{id}: `{SECOND}={found}` is not three numbers"));
        }
        Ok(point)
    }

    fn starts(&self, id: &str, name: &str) -> Result<String, String> {
        let list = self.starts.get(name);
        list.cloned().ok_or(format!("{id}: no list `{name}` in [starts]"))
    }
}

/// `rate=40 rtt=100` as pairs; `id` is for the message.
///
/// # Errors
/// A word that is no pair.
pub(crate) fn pairs(text: &str, id: &str) -> Result<BTreeMap<String, String>, String> {
    let pair = |word: &str| match word.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(format!("{id}: `{word}` is not key=value")),
    };
    text.split_whitespace().map(pair).collect()
}

/// Keys that have a value for each flow, separated by commas.
const LISTS: [&str; 3] = ["starts", "adelays", "accesses"];

/// The key of a second bottleneck.
const SECOND: &str = "second";

/// A point for tests.
#[cfg(test)]
pub(crate) fn example(id: &str) -> Point {
    example_with(id, &[])
}

/// A point with these keys, for tests.
#[cfg(test)]
pub(crate) fn example_with(id: &str, keys: &[(&str, &str)]) -> Point {
    let keys = keys.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Point { id: id.to_owned(), line: "newreno".to_owned(), keys }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "defaults = 'rate=40 rtt=100 buf=bdp flows=1 dur=20 ssthresh=32 pkt=1000 \
        ack=1 access=10x adelay=0 iw=2 lt=1'\n[starts]\ntwo = '0.5,1'\n[points]\n";

    #[test]
    fn a_point_is_the_defaults_and_what_it_says() {
        let text = format!("{HEAD}a = 'sack rate=20 buf=0.25bdp flows=2 starts=two'\n");
        let point = &parse(&text, None).unwrap()[0];
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
        let points = parse(&text, None).unwrap();
        let later = points[0].begun_later(|_| 0.25, 0.25);
        assert_eq!((later.starts(), later.number("dur")), (vec![0.75, 1.25], 20.25));
        let apart = points[1].begun_later(|flow| flow as f64 * 1e-6, 0.0);
        assert_eq!((apart.text("starts"), apart.text("dur")), ("0.000000,0.000001", "20"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let problem = |line: &str| parse(&format!("{HEAD}{line}\n"), None).unwrap_err();
        assert!(problem("a = 'sack rat=2'").contains("unknown key `rat`"));
        assert!(problem("a = 'sack rate=fast'").contains("`rate=fast` is no number"));
        assert!(problem("a = 'sack starts=three'").contains("no list `three`"));
        assert!(problem("a = 'sack second=3,4'").contains("`second=3,4` is not three numbers"));
        let one_short = problem("a = 'sack flows=2 adelays=3'");
        assert!(one_short.contains("`adelays=3` is not one number for each flow"));
    }

    #[test]
    fn random_points_stand_in_for_those_of_the_file() {
        let line = "sack flows=2 starts=0.5,1 adelays=3,4.5".to_owned();
        let random = BTreeMap::from([("random-1-000".to_owned(), line)]);
        let points = parse(&format!("{HEAD}a = 'sack'\n"), Some(random)).unwrap();
        assert_eq!((points.len(), points[0].id.as_str()), (1, "random-1-000"));
        assert_eq!(
            (points[0].starts(), points[0].list("adelays")),
            (vec![0.5, 1.0], vec![3.0, 4.5])
        );
        assert!(points[0].list("accesses").is_empty());
    }
}
