//! What a person knows of his path, and points of what he does not know.

use firstflight_runner::RunError;
use firstflight_scenario::quantity::{Fraction, Loss};
use firstflight_scenario::{ControlSpec, FlowGroup, PathFlags, Scenario, Size, Time};

use crate::stack::Stack;

/// What a person knows: the path flags rate, RTT, size, loss, buffer and jitter as he gives them.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who sends.
    pub stack: Stack,
    /// Whether others are on the path.
    pub shared: bool,
    flags: PathFlags,
    /// Payload to send.
    pub(crate) size_bytes: u64,
    pub(crate) rate_bps: u64,
    pub(crate) rtt_ns: u64,
    /// Bytes of a packet: its payload, and on the link.
    pub(crate) packet_bytes: (u64, u64),
    /// The loss that was given.
    loss: Option<Loss>,
    /// What is not known.
    pub(crate) unknown: Vec<Factor>,
}

/// A property of the path that a person may not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    Buffer,
    Loss,
    Bursts,
    Jitter,
    Acks,
    Others,
}

/// A point of what is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The bottleneck's buffer over the BDP, where it was not given.
    pub buffer_bdp: f64,
    /// The share lost at random, where it was not given.
    pub loss: f64,
    /// Whether losses come in bursts.
    pub bursts: bool,
    /// The most by which a packet is late, in seconds, where it was not given.
    pub jitter_s: f64,
    /// Packets for which there is one ACK.
    pub acks: u64,
    /// Who else is there, by its place in `OTHERS`.
    pub others: usize,
    /// The seed of all that is random.
    pub seed: u64,
}

/// Another flow on a shared path, as the scenario of this code has it.
pub(crate) struct Other {
    pub(crate) code: &'static str,
    pub(crate) words: &'static str,
    control: &'static str,
    /// How much earlier it begins, in seconds and in RTTs.
    before: (f64, f64),
}

impl Request {
    /// Reads the flags `--rate`, `--rtt`, `--size`, `--loss`, `--buffer` and `--jitter`.
    ///
    /// # Errors
    /// A value that is none, or a path that contradicts itself; the message names the flag.
    pub fn new(stack: Stack, shared: bool, path: &PathFlags) -> Result<Self, RunError> {
        for (flag, text) in path.given() {
            if !TAKEN.contains(&flag.name.as_str()) {
                let problem = format!("{} {text}: it is simulated as the stack has it", flag.name);
                return Err(RunError::Input(format!("{problem}; accepted: {}", TAKEN.join(", "))));
            }
        }
        for name in ["--rate", "--rtt"] {
            if path.given().all(|(flag, _)| flag.name != name) {
                let problem = "not given, without which there is no path; accepted: both";
                return Err(RunError::Input(format!("{name}: {problem} --rate and --rtt")));
            }
        }
        let mut flags: PathFlags = stack.flags().iter().copied().collect();
        flags.set("--size", SIZE);
        flags.set("--duration", LONGEST);
        for (flag, text) in path.given() {
            flags.set(&flag.name, text);
        }
        let given = |name: &str| path.given().find(|(flag, _)| flag.name == name);
        let complete = Scenario::from_flags(&flags, &["newreno".to_owned()])?.complete()?;
        let (link, flow) = (&complete.links[0], &complete.flows[0]);
        let loss = given("--loss").map(|_| link.loss);
        let is_burst = matches!(loss, Some(Loss::Bursts(_))) || loss.is_some_and(|it| !loses(it));
        let mut unknown = Vec::new();
        for (of, is_known) in [
            (Factor::Buffer, given("--buffer").is_some()),
            (Factor::Loss, loss.is_some()),
            (Factor::Bursts, is_burst),
            (Factor::Jitter, given("--jitter").is_some()),
            (Factor::Acks, false),
            (Factor::Others, !shared),
        ] {
            if !is_known {
                unknown.push(of);
            }
        }
        Ok(Self {
            stack,
            shared,
            size_bytes: flow.size.unwrap_or_default().bytes(),
            rate_bps: link.rate.bps(),
            rtt_ns: flow.rtt.ns(),
            packet_bytes: (complete.packet.bytes(), complete.wire_bytes()),
            loss,
            unknown,
            flags,
        })
    }

    /// A point by its number from 0: those of Halton (1960), whose first fill the space evenly
    /// however many are taken.
    pub fn point(&self, number: u64) -> Point {
        let at = |of: Factor| halton(number + 1, BASES[of as usize]);
        self.point_at(&at, number + 1)
    }

    /// The point at a share of the way, 0 to 1, of everything that can be unknown.
    pub(crate) fn point_at(&self, at: &dyn Fn(Factor) -> f64, seed: u64) -> Point {
        // The upper half of the way; the lower half has none of it.
        let or_none = |share: f64, (from, to): (f64, f64)| match share {
            share if share < 0.5 => 0.0,
            share => between(2.0 * share - 1.0, from, to),
        };
        let most_late = JITTER_S.1.min(self.rtt_ns as f64 / 1e9 * MOST_LATE).max(2.0 * JITTER_S.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of few"
        )]
        let place = |share: f64, count: usize| ((share * count as f64) as usize).min(count - 1);
        Point {
            buffer_bdp: between(at(Factor::Buffer), BUFFER_BDP.0, BUFFER_BDP.1),
            loss: or_none(at(Factor::Loss), LOSS),
            bursts: at(Factor::Bursts) >= 0.5,
            jitter_s: or_none(at(Factor::Jitter), (JITTER_S.0, most_late)),
            acks: ACKS[place(at(Factor::Acks), ACKS.len())],
            others: place(at(Factor::Others), OTHERS.len()),
            seed,
        }
    }

    /// The path with a plain value for all that was not given: a buffer of a BDP, an ACK for two
    /// packets, no jitter and no loss.
    pub fn plain(&self) -> Point {
        Point {
            buffer_bdp: 1.0,
            loss: 0.0,
            bursts: false,
            jitter_s: 0.0,
            acks: ACKS[0],
            others: 0,
            seed: 1,
        }
    }

    /// The scenario at a point, of so many bytes.
    pub(crate) fn scenario(
        &self,
        point: &Point,
        controls: &[String],
        bytes: u64,
    ) -> Result<Scenario, RunError> {
        let mut flags = self.flags.clone();
        let is_unknown = |of| self.unknown.contains(&of);
        let mut set = |name: &str, text: String| flags.set(name, text);
        set("--size", Size::from_bytes(bytes).to_string());
        set("--delayed-ack", point.acks.to_string());
        if is_unknown(Factor::Buffer) {
            set("--buffer", format!("{}pkt", self.packets(point.buffer_bdp)));
        }
        let mean = match self.loss {
            Some(loss) => loss.mean().ppb() as f64 / 1e9,
            None => point.loss,
        };
        if is_unknown(Factor::Loss) || is_unknown(Factor::Bursts) {
            set("--loss", lost(mean, point.bursts));
        }
        if is_unknown(Factor::Jitter) && point.jitter_s > 0.0 {
            set("--jitter", time(point.jitter_s).to_string());
        }
        let mut scenario = Scenario::from_flags(&flags, controls)?;
        scenario.seed = Some(point.seed);
        if self.shared {
            let other = &OTHERS[point.others];
            let start = self.before(other);
            let mut flow = FlowGroup::default();
            let control: Result<ControlSpec, _> = other.control.parse();
            flow.control = control.ok();
            let ahead = self.rate_bps as f64 / 8.0 * start;
            flow.size = Some(Size::from_bytes(ahead as u64 + THEIRS * bytes));
            let mut ours = FlowGroup::default();
            (ours.size, ours.start) = (Some(Size::from_bytes(bytes)), Some(time(start)));
            scenario.flows = vec![ours, flow];
        }
        Ok(scenario)
    }

    /// Places of a buffer that holds so much of a BDP.
    fn packets(&self, bdp: f64) -> u64 {
        let bytes = self.rate_bps as f64 / 8.0 * self.rtt_ns as f64 / 1e9;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of a path")]
        let places = (bdp * bytes / self.packet_bytes.1 as f64).round() as u64;
        places.max(1)
    }

    /// How long before us another flow begins, in seconds.
    pub(crate) fn before(&self, other: &Other) -> f64 {
        other.before.0 + other.before.1 * self.rtt_ns as f64 / 1e9
    }

    /// Packets that a run moves, of all flows.
    pub(crate) fn packets_of(&self, bytes: u64) -> u64 {
        let own = bytes.div_ceil(self.packet_bytes.0);
        if !self.shared {
            return own;
        }
        let before = OTHERS.iter().map(|other| self.before(other)).sum::<f64>();
        let before = before / OTHERS.len() as f64 * self.rate_bps as f64 / 8.0;
        own * (1 + THEIRS) + (before / self.packet_bytes.1 as f64) as u64
    }

    /// Whether all of it leaves at once, whatever the control.
    pub(crate) fn is_in_first_window(&self) -> bool {
        self.size_bytes <= FIRST_WINDOW * self.packet_bytes.0
    }

    /// The loss that was given, as a share.
    pub(crate) fn given_loss(&self) -> Option<f64> {
        self.loss.map(|loss| loss.mean().ppb() as f64 / 1e9)
    }
}

fn loses(loss: Loss) -> bool {
    loss.mean().ppb() > 0
}

fn time(seconds: f64) -> Time {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of a path")]
    Time::from_ns((seconds * 1e9).round() as u64)
}

/// A loss in the words of a scenario: each packet on its own, or bursts of five on average.
fn lost(mean: f64, bursts: bool) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let share = |of: f64| Fraction::from_ppb((of * 1e9).round() as u64);
    match bursts && mean > 0.0 {
        true => format!("ge:{},{}", share(mean / (BURST * (1.0 - mean))), share(1.0 / BURST)),
        false => share(mean).to_string(),
    }
}

/// Between two numbers above zero, by their logarithms.
pub(crate) fn between(share: f64, from: f64, to: f64) -> f64 {
    from * libm::pow(to / from, share)
}

/// The digits of a number in a base, behind the point and in reverse.
pub(crate) fn halton(mut number: u64, base: u64) -> f64 {
    let (mut share, mut digit) = (0.0, 1.0);
    while number > 0 {
        digit /= base as f64;
        share += digit * (number % base) as f64;
        number /= base;
    }
    share
}

/// What a person can know.
const TAKEN: [&str; 6] = ["--rate", "--rtt", "--size", "--loss", "--buffer", "--jitter"];
/// The size of a transfer where none is given.
const SIZE: &str = "5MB";
/// Packets of the first window (RFC 6928).
pub(crate) const FIRST_WINDOW: u64 = 10;
/// After which a transfer counts as not done, and as this long.
const LONGEST: &str = "1h";
pub(crate) const LONGEST_S: f64 = 3_600.0;
/// Buffers from a fraction of what the theory of many flows asks for to bufferbloat.
pub(crate) const BUFFER_BDP: (f64, f64) = (0.1, 3.0);
/// Random loss, on every second path.
pub(crate) const LOSS: (f64, f64) = (1e-5, 1e-2);
/// Jitter, on every second path, and at most a share of the RTT.
pub(crate) const JITTER_S: (f64, f64) = (0.000_2, 0.010);
pub(crate) const MOST_LATE: f64 = 0.25;
/// Every second receiver acknowledges two packets (RFC 5681), the others more: offload in hosts,
/// and thinning on the way.
pub(crate) const ACKS: [u64; 4] = [2, 2, 4, 8];
/// Packets of a burst of losses, on average.
const BURST: f64 = 5.0;
/// What another flow sends while we do, over what we send: in F1 10 MB and 5.
const THEIRS: u64 = 2;
/// The first primes: the bases of what can be unknown, in the order of [`Factor`].
const BASES: [u64; 6] = [2, 3, 11, 5, 7, 13];

/// The other flows of scenarios F1 and F2 of the catalogue. There they are half a minute old; here
/// they have had time to fill the path.
pub(crate) const OTHERS: [Other; 5] = [
    Other { code: "F1a", words: "a CUBIC begins with it", control: "cubic", before: (0.0, 0.0) },
    Other {
        code: "F1b",
        words: "a CUBIC is half a second old",
        control: "cubic",
        before: (0.5, 0.0),
    },
    Other { code: "F2a", words: "an old CUBIC is there", control: "cubic", before: OLD },
    Other { code: "F2b", words: "an old BBR is there", control: "bbr", before: OLD },
    Other { code: "F2c", words: "an old Reno is there", control: "newreno", before: OLD },
];
/// Slow start doubles ten times to 1 Gbit/s over 100 ms; then it repairs what it lost.
const OLD: (f64, f64) = (1.0, 16.0);
