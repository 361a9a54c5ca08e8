//! The paths over which Scout is compared.

use firstflight_quic_sim::QUIC;
use firstflight_runner::Simulator;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

use super::PathRun;
use crate::startups::runs;

/// One flow, and what is on its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    rate_kbps: u64,
    rtt_us: u64,
    /// In thousandths of a BDP.
    buffer: u64,
    /// The transfer.
    size_bytes: u64,
    /// What disturbs packets and ACKs.
    noise: Noise,
}

/// What differs from a single flow between Linux's endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    None,
    /// The endpoints of profile `quic`.
    Quic,
    /// quinn's state machines in the simulator's time.
    Quinn,
    /// One ACK for so many packets.
    Thinned(u64),
    /// Segmentation offload: packets leave in bursts.
    Offload,
    /// Random loss, in millionths of the packets.
    Loss(u64),
    /// UDP takes so many percent of the rate.
    Udp(u64),
    /// Packets are late by up to so many ms, at random.
    Jitter {
        ms: u64,
        seed: u64,
    },
    /// The way back lets ACKs through every so many ms.
    Lumps(u64),
    /// A policer on a line of ten times the rate, with a bucket of so many kB.
    Policer(u64),
    /// The receiver lies in its ACKs.
    Lie(Lie),
}

/// What a receiver does with its ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lie {
    /// Every ACK comes in so many parts.
    Split(u64),
    /// ACKs are held back and released together, so many times per RTT.
    Held(u64),
    /// What has not come yet is acknowledged: the sender sees neither the bottleneck's rate nor its
    /// losses.
    Early,
}

/// Paths that make a row.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) paths: Vec<Path>,
    /// It is in the table of Scout's parts too.
    pub(super) for_parts: bool,
}

/// Paths of a set that is drawn.
const DRAWN: usize = 200;
/// How many of them are run over quinn.
const OVER_QUINN: usize = 40;
/// And over Linux, in whose guest the link is a program: over faster paths it does not keep up.
const ON_LINUX: usize = 40;
const ON_LINUX_KBPS: u64 = 200_000;
pub(super) const SEED: u64 = 20_261_125;
const PACKET: u64 = 1_448;

/// The drawn sets, from this seed; the last has offload.
pub(super) fn drawn_sets(seed: u64) -> Vec<Set> {
    let set = |name, noise| Set { name, paths: drawn_from(seed, noise), for_parts: false };
    let part = |name, noise| Set { for_parts: true, ..set(name, noise) };
    vec![
        part("drawn", Noise::None),
        set("drawn, profile `quic`", Noise::Quic),
        set("drawn, thinned 2", Noise::Thinned(2)),
        set("drawn, thinned 4", Noise::Thinned(4)),
        set("drawn, thinned 8", Noise::Thinned(8)),
        set("drawn, offload", Noise::Offload),
    ]
}

/// Every set, in the order of the page.
pub(super) fn sets() -> Vec<Set> {
    let grid = |noise| grid(&[10, 50, 200], &[20, 100, 300], &[100, 250, 500, 1_000, 2_000], noise);
    let set = |name, paths| Set { name, paths, for_parts: false };
    let part = |name, paths| Set { name, paths, for_parts: true };
    let mut sets = vec![part("clean grid", grid(Noise::None))];
    sets.extend(drawn_sets(SEED));
    sets.insert(sets.len() - 1, set("clean grid, offload", grid(Noise::Offload)));
    sets.extend([
        set("0.1 % lost", few(Noise::Loss(1_000))),
        set("1 % lost", few(Noise::Loss(10_000))),
        set("UDP at 30 %", few(Noise::Udp(30))),
        part("UDP at 60 %", few(Noise::Udp(60))),
        set("jitter of 2 ms", jittered(2)),
        part("jitter of 5 ms", jittered(5)),
        set("ACKs every 5 ms", few(Noise::Lumps(5))),
        set("ACKs every 10 ms", few(Noise::Lumps(10))),
        set("ACKs every 20 ms", few(Noise::Lumps(20))),
        set("policer", policed()),
    ]);
    sets
}

/// Eight paths without noise.
pub(super) fn eight() -> Vec<Path> {
    few(Noise::None)
}

/// Few paths of the grid, for what disturbs packets.
fn few(noise: Noise) -> Vec<Path> {
    grid(&[10, 50], &[40, 150], &[250, 1_000], noise)
}

/// Those with jitter of so many ms, three times each.
fn jittered(ms: u64) -> Vec<Path> {
    (1..=3).flat_map(|seed| few(Noise::Jitter { ms, seed })).collect()
}

/// Policers of two rates with three buckets, over two RTTs; a transfer of 5 MB.
fn policed() -> Vec<Path> {
    let with = |bucket_kb| grid(&[10, 30], &[40, 150], &[1_000], Noise::Policer(bucket_kb));
    let mut paths: Vec<Path> = [64, 256, 1_000].into_iter().flat_map(with).collect();
    paths.iter_mut().for_each(|path| path.size_bytes = 5_000_000);
    paths
}

/// The last of the drawn paths, over quinn.
pub(super) fn over_quinn() -> Set {
    let paths = drawn(Noise::Quinn).split_off(DRAWN - OVER_QUINN);
    Set { name: "drawn, over quinn", paths, for_parts: false }
}

/// The last of them that a kernel in virtual time carries.
pub(super) fn on_linux() -> Set {
    let mut paths = drawn(Noise::None);
    paths.retain(|path| path.rate_kbps <= ON_LINUX_KBPS);
    let paths = paths.split_off(paths.len().saturating_sub(ON_LINUX));
    Set { name: "drawn, over Linux", paths, for_parts: false }
}

/// Mbit/s, ms, thousandths of a BDP; a transfer of 4 BDP, or 1 MB where that is more.
fn grid(rates: &[u64], rtts: &[u64], buffers: &[u64], noise: Noise) -> Vec<Path> {
    let mut paths = Vec::new();
    for rate in rates {
        for rtt in rtts {
            let size_bytes = (4 * rate * rtt * 125).max(1_000_000);
            let (rate_kbps, rtt_us) = (rate * 1_000, rtt * 1_000);
            let path =
                |buffer: &u64| Path { rate_kbps, rtt_us, buffer: *buffer, size_bytes, noise };
            paths.extend(buffers.iter().map(path));
        }
    }
    paths
}

/// Paths at random, the same for every noise.
fn drawn(noise: Noise) -> Vec<Path> {
    drawn_from(SEED, noise)
}

fn drawn_from(seed: u64, noise: Noise) -> Vec<Path> {
    let mut random = Pcg64::new(seed.into(), 1);
    let mut between = |least: f64, most: f64| {
        let share = random.next_u64() as f64 / u64::MAX as f64;
        (least * (most / least).powf(share)).round() as u64
    };
    let path = |_| Path {
        rate_kbps: between(3_000.0, 500_000.0),
        rtt_us: between(8_000.0, 600_000.0),
        buffer: between(100.0, 4_000.0),
        size_bytes: between(100_000.0, 100_000_000.0),
        noise,
    };
    (0..DRAWN).map(path).collect()
}

impl Path {
    /// Only what disturbs packets differs.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        Self { noise: Noise::None, ..self.clone() } == Self { noise: Noise::None, ..other.clone() }
    }

    pub(super) fn bdp_packets(&self) -> f64 {
        self.rate_kbps as f64 * self.rtt_us as f64 / 8e3 / PACKET as f64
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Rate in kbit/s, RTT in us, buffer in BDP, and the transfer in bytes.
    pub(super) fn numbers(&self) -> (u64, u64, f64, u64) {
        (self.rate_kbps, self.rtt_us, self.buffer as f64 / 1e3, self.size_bytes)
    }

    /// The flags of a command line, in two lines.
    pub(super) fn flags(&self) -> [String; 2] {
        let (rate_kbps, rtt_us, buffer, size_bytes) = self.numbers();
        let of_quic = matches!(self.noise, Noise::Quic | Noise::Quinn);
        let packet = if of_quic { String::new() } else { format!(" --packet {PACKET}B") };
        let limit_s = self.limit_s();
        [
            format!("--rate {rate_kbps}kbps --rtt {rtt_us}us"),
            format!("--buffer {buffer}bdp --size {size_bytes}B --duration {limit_s}s{packet}"),
        ]
    }

    /// How long is waited: no control here takes so long.
    pub(super) fn limit_s(&self) -> u64 {
        60 + self.size_bytes * 8 / self.rate_kbps / 25
    }

    /// As a scenario file for these controls.
    pub(super) fn scenario(&self, controls: &[&str]) -> String {
        let Self { rate_kbps, rtt_us, size_bytes, noise, .. } = self;
        let (mut line_kbps, mut buffer) = (*rate_kbps, self.buffer);
        let (mut keys, mut path, mut more) =
            (format!("packet = \"{PACKET}B\"\n"), String::new(), String::new());
        match noise {
            Noise::None => {}
            Noise::Quinn => keys.clear(),
            Noise::Quic => keys = "profile = \"quic\"\n".to_owned(),
            Noise::Thinned(packets) => {
                keys += &format!("delayed_ack = {packets}\nquick_acks = false\n");
            }
            Noise::Offload => keys += "tso = true\n",
            Noise::Loss(millionths) => path = format!("loss = \"{}%\"\n", *millionths as f64 / 1e4),
            Noise::Udp(percent) => {
                let rate = rate_kbps * percent / 100;
                more = format!("[[udp]]\nrate = \"{rate}kbps\"\npacket = \"{PACKET}B\"\n");
            }
            Noise::Jitter { ms, seed } => {
                keys += &format!("seed = {seed}\n");
                path = format!("jitter = \"{ms}ms\"\n");
            }
            Noise::Lumps(ms) => path = format!("back = {{ release = \"{ms}ms\" }}\n"),
            Noise::Lie(Lie::Split(parts)) => keys += &format!("split_acks = {parts}\n"),
            Noise::Lie(Lie::Held(times)) => {
                path = format!("back = {{ release = \"{}us\" }}\n", rtt_us / times);
            }
            Noise::Lie(Lie::Early) => (line_kbps, buffer) = (1_000_000, 1_000),
            Noise::Policer(bucket_kb) => {
                line_kbps *= 10;
                path = format!(
                    "policer = {{ rate = \"{rate_kbps}kbps\", bucket = \"{bucket_kb}kB\" }}\n"
                );
            }
        }
        format!(
            "controls = {controls:?}\nduration = \"{}s\"\n{keys}\
             [path]\nrate = \"{line_kbps}kbps\"\n\
             rtt = \"{rtt_us}us\"\nbuffer = \"{}bdp\"\n{path}\
             [[flow]]\nsize = \"{size_bytes}B\"\n{more}",
            self.limit_s(),
            buffer as f64 / 1e3,
        )
    }

    /// This path with a receiver that lies.
    pub(super) fn lying(&self, lie: Lie) -> Self {
        Self { noise: Noise::Lie(lie), ..self.clone() }
    }

    /// What each control did.
    pub(super) fn run(&self, controls: &[&str]) -> Result<Vec<PathRun>, String> {
        let text = self.scenario(controls);
        let on = if self.noise == Noise::Quinn { QUIC } else { Simulator::TCP };
        let measured = |run: &firstflight_runner::Run| {
            let flow = &run.result.flows[0];
            PathRun {
                completion_s: flow.completion_time_s.unwrap_or(self.limit_s() as f64),
                sent_again: 100.0 * flow.counts.retransmitted_packets as f64
                    / flow.delivered_packets.max(1) as f64,
                queue_bdp: run.result.bottleneck.peak_queue_packets as f64 / self.bdp_packets(),
            }
        };
        Ok(runs(&text, on, None)?.iter().map(measured).collect())
    }

    /// The command line that runs Scout and HyStart++ on it, where one can say it.
    pub(super) fn command(&self) -> String {
        let [first, second] = self.flags();
        let more = match self.noise {
            Noise::None | Noise::Lie(_) => String::new(),
            Noise::Quinn => " --on quic".to_owned(),
            Noise::Quic => " --profile quic".to_owned(),
            Noise::Thinned(packets) => format!(" --delayed-ack {packets} --quick-acks false"),
            Noise::Offload => " --tso true".to_owned(),
            Noise::Loss(millionths) => format!(" --loss {}%", millionths as f64 / 1e4),
            Noise::Udp(percent) => format!(" # and UDP at {percent} %"),
            Noise::Jitter { ms, seed } => format!(" --jitter {ms}ms --seed {seed}"),
            Noise::Lumps(ms) => format!(" # and back = {{ release = \"{ms}ms\" }}"),
            Noise::Policer(kb) => format!(" # behind a policer with a bucket of {kb} kB"),
        };
        format!("firstflight compare hystart-pp scout {first} \\\n  {second}{more}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_the_same_for_every_noise_and_within_its_bounds() {
        let (one, other) = (drawn(Noise::None), drawn(Noise::Quic));
        assert_eq!(one.len(), DRAWN);
        assert_ne!(drawn_from(1, Noise::None), one);
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(
                (one.rate_kbps, one.rtt_us, one.size_bytes),
                (other.rate_kbps, other.rtt_us, other.size_bytes)
            );
            assert!((3_000..=500_000).contains(&one.rate_kbps), "{one:?}");
            assert!((100_000..=100_000_000).contains(&one.size_bytes), "{one:?}");
        }
    }

    #[test]
    fn a_path_of_every_noise_runs_and_is_done() {
        for set in sets().into_iter().chain([over_quinn()]) {
            let runs = set.paths[0].run(&["hystart-pp", "scout"]).unwrap();
            assert_eq!(runs.len(), 2, "{}", set.name);
            assert!(runs.iter().all(|run| run.completion_s < set.paths[0].limit_s() as f64));
        }
    }
}
