//! The path flags of the command line; each sets a key of a scenario.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::keys::{Key, Kind};
use crate::profile::{Ns2Release, Profile};

/// A flag and the key it sets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flag {
    /// Its name with dashes: `--access-delay`.
    pub name: String,
    /// The dotted key of the scenario that it sets: `path.access_delay`.
    pub key: &'static str,
    /// The form of its values.
    pub kind: Kind,
    /// The value in force when the flag is not given, as text for the help.
    pub default: String,
    /// Its line in the help.
    pub help: String,
}

/// The path flags as given, unread. Names and meanings are those of the scenario keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathFlags {
    /// The texts, by the place of their flags among all.
    given: BTreeMap<usize, String>,
}

impl PathFlags {
    /// Every flag, in the order of the help: of the path and its flows, then of the endpoints.
    pub fn all() -> &'static [Flag] {
        &ALL
    }

    /// The flags that were given, with their text.
    pub fn given(&self) -> impl Iterator<Item = (&'static Flag, &str)> {
        self.given.iter().filter_map(|(at, text)| Some((ALL.get(*at)?, text.as_str())))
    }

    /// Gives a flag, by its name with dashes, a text; false if there is no such flag.
    pub fn set(&mut self, name: &str, text: impl Into<String>) -> bool {
        let at = ALL.iter().position(|flag| flag.name == name);
        at.map(|at| self.given.insert(at, text.into())).is_some()
    }
}

/// The flags of these names with these texts; a name that there is not is left out.
impl<'a> FromIterator<(&'a str, &'a str)> for PathFlags {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a str)>>(given: T) -> Self {
        let mut flags = Self::default();
        given.into_iter().for_each(|(name, text)| {
            flags.set(name, text);
        });
        flags
    }
}

impl Flag {
    fn of_path((name, key, kind, default, help): &(&str, &'static str, Kind, &str, &str)) -> Self {
        let [name, default, help] = [*name, *default, *help].map(str::to_owned);
        Self { name, key, kind: *kind, default, help }
    }

    fn of_endpoint(key: &Key) -> Self {
        let words = match key.kind {
            Kind::Word(words) => format!(": {}", words.join(", ")),
            _ => String::new(),
        };
        Self {
            name: format!("--{}", key.name.replace('_', "-")),
            key: key.name,
            kind: key.kind,
            default: key.default(),
            help: key.meaning() + &words,
        }
    }
}

static ALL: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let of_path = PATH.iter().map(Flag::of_path);
    of_path.chain(Key::all().map(Flag::of_endpoint)).collect()
});

/// Declares the flags whose keys are no rows: name, key, form, default, help.
macro_rules! path_flags {
    ($($name:literal $key:literal $kind:expr, $default:literal $help:literal;)+) => {
        const PATH: &[(&str, &str, Kind, &str, &str)] =
            &[$(($name, $key, $kind, $default, $help)),+];
    };
}

path_flags! {
    "--rate" "path.rate" Kind::Quantity, "40Mbps" "Bottleneck rate";
    "--rtt" "path.rtt" Kind::Quantity, "100ms"
        "Two-way propagation of the bottleneck, access links excluded";
    "--buffer" "path.buffer" Kind::Quantity, "1bdp" "Bottleneck buffer: 500pkt, 64KiB or 1bdp";
    "--packet" "packet" Kind::Quantity, "1000B (quic: 1200B)" "Payload of a packet";
    "--headers" "headers" Kind::Quantity, "0B" "Bytes a packet adds on the link";
    "--access-delay" "path.access_delay" Kind::Quantity, "0ms"
        "One-way delay of each access link, four of them in a round trip";
    "--access-rate" "path.access_rate" Kind::Quantity, "1Gbps"
        "Rate of the access links; ten times the bottleneck where that is more";
    "--loss" "path.loss" Kind::Quantity, "0%"
        "Random loss of data packets: 0.1%, or in bursts ge:0.5%,20% (good to bad, bad to good)";
    "--ecn-threshold" "path.ecn_threshold" Kind::Quantity, "none"
        "What must wait until packets with ECN are marked: 20pkt, 0.25bdp or 1ms";
    "--queue" "path.queue" Kind::Quantity, "drop-tail"
        "Queue: tbf, red, codel, fq_codel, pie or dualpi2, such as codel(target=5ms,ecn=on)";
    "--jitter" "path.jitter" Kind::Quantity, "none"
        "Each packet is late by up to this much, at random and in order";
    "--wifi" "path.wifi" Kind::Quantity, "none"
        "Each packet is late as in a busy WiFi cell with this mean delay, in order";
    "--duration" "duration" Kind::Quantity, "20s" "Time measured";
    "--flows" "flow[0].count" Kind::Count, "1" "Number of flows";
    "--size" "flow[0].size" Kind::Quantity, "unlimited" "Bytes each flow sends, such as 5MB";
    "--start-jitter" "flow[0].start_jitter" Kind::Quantity, "0ms"
        "Each flow starts up to this much later, at random";
    "--seed" "seed" Kind::Count, "1" "Seed of every random stream";
    "--runs" "runs" Kind::Count, "1" "Runs of each control, with seeds from --seed on";
    "--profile" "profile" Kind::Word(Profile::NAMES), "linux"
        "Endpoint constants: linux (today's), rfc or ns2 (the papers'), or quic";
    "--ns2-release" "ns2_release" Kind::Word(Ns2Release::NAMES), "2.35"
        "With profile ns2: the release whose constants it has: 2.1b6, 2.26 or 2.35";
}
