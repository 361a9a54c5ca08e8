//! The bottleneck by the kernel's own means: a namespace in the middle with netem.
//!
//! netem has rate, buffer and loss between the middle and the far end. The delay is another
//! netem's, before that queue on the forward path, and on the reverse path. In a closed loop a
//! fixed delay may be on either side of a queue, and here the queue holds only packets that wait.
//!
//! Where netem differs from the lab's own link:
//!
//! - It keeps a virtual clock, so that a late timer costs no bandwidth, but it reports no lateness.
//! - It counts Ethernet frames where a scenario counts payload and its own headers. So the rate is
//!   scaled by a full packet. (netem would misread a negative overhead for short ones, as ARP's.)
//! - Its buffer counts packets: one in bytes becomes as many full packets as it holds.
//! - It loses packets on arrival, where the link loses them after they were sent, and SYNs and ACKs
//!   as well as data. Its bursts draw the loss before the state changes, not after.
//!
//! A scenario's `queue` is the kernel's discipline of that name instead (`Discipline::tc`).

use firstflight_control::quantity::Rate;
use firstflight_link::{Buffer, Counted, Discipline};
use firstflight_scenario::{Bursts, Fraction, Loss};
use serde::Deserialize;

use crate::link::{Clock, DirectionReport, LinkReport, LinkSpec};
use crate::namespace::Namespace;
use crate::path::{self, DEVICE, FAR_NET, NEAR_NET};
use crate::processor_time::ProcessorTime;
use firstflight_runner::RunError;

/// Three namespaces and two veth pairs, gone with their owner.
#[derive(Debug)]
pub(crate) struct Netem {
    pub(crate) near: Namespace,
    pub(crate) far: Namespace,
    pub(crate) clock: Clock,
    middle: Namespace,
    rate_bps: u64,
    counted: Counted,
    /// Drops, sent bytes and marks before the measured period.
    before: [u64; 3],
    /// Processor time before it.
    processors_before: ProcessorTime,
    /// How long it was, ns.
    period_ns: u64,
}

/// Whether this kernel has netem, tried in a namespace of its own.
///
/// # Errors
/// No privilege, or no `tc` to try it with.
pub(crate) fn has_netem() -> Result<bool, RunError> {
    let trial = Namespace::new("a namespace to look for netem in")?;
    match trial.tool("tc", "qdisc add dev lo root netem delay 1ms") {
        Err(RunError::Lacks(problem)) => Err(RunError::Lacks(problem)),
        trial => Ok(trial.is_ok()),
    }
}

impl Netem {
    /// Puts the three namespaces up.
    ///
    /// # Errors
    /// No netem here: the machine lacks something. Or the link does what netem cannot.
    pub(crate) fn new(spec: &LinkSpec) -> Result<Self, RunError> {
        if !has_netem()? {
            return Err(RunError::Lacks(
                "this kernel has no netem (CONFIG_NET_SCH_NETEM, `modprobe sch_netem`); \
                 `--link tun` needs none"
                    .to_owned(),
            ));
        }
        let words = words(spec)?;
        let near = Namespace::new("near end")?;
        let middle = Namespace::new("middle")?;
        let far = Namespace::new("far end")?;
        for (end, port) in [(&near, "n0"), (&far, "f0")] {
            path::calm(end)?;
            middle.pair(end, port, DEVICE)?;
            end.ip(&format!("link set {DEVICE} {NO_ARP}"))?;
        }
        middle.set("ipv4/ip_forward", "1")?;
        for port in ["n0", "f0"] {
            middle.ip(&format!("link set {port} {NO_ARP} mtu {} gso_max_segs 1 up", spec.mtu))?;
        }
        middle.ip(&format!("route add {NEAR_NET} dev n0"))?;
        middle.ip(&format!("route add {FAR_NET} dev f0"))?;
        path::set_up(&near, path::near_address(0), FAR_NET, spec.mtu, 1)?;
        path::set_up(&far, path::far_address(0), NEAR_NET, spec.mtu, 1)?;
        for line in &words {
            middle.tool("tc", line)?;
        }
        near.tool("tc", &delayed(DEVICE, spec.forward.delay_ns / 1_000))?;
        let rate_bps = spec.forward.rate.map_or(0, Rate::bps);
        let clock = Clock::start();
        Ok(Self {
            near,
            far,
            clock,
            middle,
            rate_bps,
            counted: counted(spec),
            before: [0; 3],
            processors_before: ProcessorTime::now(),
            period_ns: 0,
        })
    }

    pub(crate) fn measure(&mut self, from: u64, until: u64) {
        self.before = self.counts();
        self.processors_before = ProcessorTime::now();
        self.period_ns = until.saturating_sub(from);
    }

    pub(crate) fn report(&self) -> LinkReport {
        let now = self.counts();
        let [drops, sent, marks] = [0, 1, 2].map(|i| now[i].saturating_sub(self.before[i]));
        let Counted { packet, frame, .. } = self.counted;
        let bytes = (u128::from(sent) * u128::from(packet) / u128::from(frame)) as u64;
        let could = u128::from(self.rate_bps) * u128::from(self.period_ns) / 8_000_000_000;
        let forward = DirectionReport {
            dropped_packets: drops,
            marked_packets: marks,
            delivered_bytes: bytes,
            utilization: if could == 0 { 0.0 } else { bytes as f64 / could as f64 },
            ..DirectionReport::default()
        };
        let stolen_share = ProcessorTime::now().stolen_share(self.processors_before);
        LinkReport { forward, stolen_share, ..LinkReport::default() }
    }

    /// Drops, bytes sent and marks of the way to the far end.
    fn counts(&self) -> [u64; 3] {
        counts(&self.middle.tool("tc", "-j -s qdisc show dev f0").unwrap_or_default())
    }
}

/// The counters of a discipline in `tc -j -s`. Each discipline has its own word for a marked
/// packet.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Counts {
    bytes: u64,
    drops: u64,
    ecn_mark: u64,
    ce_mark: u64,
    marked: u64,
}

/// Drops and bytes sent, which the first discipline counts for all, and the marks of the one that
/// marks.
fn counts(text: &str) -> [u64; 3] {
    let all: Vec<Counts> = serde_json::from_str(text).unwrap_or_default();
    let marks = all.iter().map(|it| it.ecn_mark + it.ce_mark + it.marked).sum();
    all.first().map_or([0; 3], |first| [first.drops, first.bytes, marks])
}

/// A full packet in bytes and the link's rate, as the scenario and as the kernel count them.
fn counted(spec: &LinkSpec) -> Counted {
    let packet = spec.packet_bytes + spec.forward.header_bytes.unwrap_or(0);
    let (packet, frame) = (packet.max(1), spec.packet_bytes + FRAME);
    let rate = spec.forward.rate.map_or(0, Rate::bps);
    let rate_bps = Counted { rate_bps: 0, packet, frame }.frames(rate);
    Counted { rate_bps, packet, frame }
}

/// The commands for `tc` in the middle.
fn words(spec: &LinkSpec) -> Result<Vec<String>, RunError> {
    let (forward, backward) = (&spec.forward, &spec.backward);
    let no = |what: &str| {
        Err(RunError::Input(format!("--link netem: {what}; accepted: `--link tun`, which can")))
    };
    if let Some(key) = spec.beyond {
        return no(&format!("it has no `{key}`"));
    }
    if forward.more_delay.iter().any(|(_, more)| *more > 0) {
        return no("it has one delay for all flows");
    }
    if forward.ecn_threshold.is_some() {
        return no("it marks nothing above a threshold");
    }
    if forward.offload {
        return no("it takes packets one by one, and no `tso`");
    }
    if !forward.drop.is_empty() {
        return no("it drops no chosen packets");
    }
    if forward.rate.is_none() || forward.buffer == Buffer::Unlimited {
        return no("it has a rate and a buffer");
    }
    let counted = counted(spec);
    let back_us = backward.delay_ns / 1_000;
    if let Some(discipline) = forward.queue {
        if forward.loss != Loss::default() {
            return no("beside a queue it loses nothing at random");
        }
        let Some(mut words) = discipline.tc("f0", counted) else {
            let why = discipline.card().not_in_tc.unwrap_or_default();
            let mut cards = Discipline::cards();
            cards.retain(|card| card.not_in_tc.is_none());
            let accepted: Vec<&str> = cards.iter().map(|card| card.name).collect();
            let accepted = accepted.join(", ");
            return Err(RunError::Input(format!("--link netem: {why}; accepted: {accepted}")));
        };
        words.push(delayed("n0", back_us + counted.service_us()));
        return Ok(words);
    }
    let waiting = forward.buffer.packets_of(counted.packet);
    // The one in service is in netem's queue too.
    let limit = (waiting + u64::from(!forward.buffer_counts_in_service)).max(1);
    let lossy = match forward.loss {
        Loss::Independent(Fraction::ZERO) => String::new(),
        Loss::Independent(share) => format!(" loss random {share}"),
        Loss::Bursts(Bursts { to_bad, to_good, in_good, in_bad }) => {
            format!(" loss gemodel {to_bad} {to_good} {in_bad} {in_good}")
        }
    };
    let bps = counted.rate_bps;
    let forward = format!("qdisc add dev f0 root netem limit {limit}{lossy} rate {bps}bit");
    Ok(vec![forward, delayed("n0", back_us)])
}

/// What leaves by a device takes so much longer.
fn delayed(device: &str, us: u64) -> String {
    format!("qdisc add dev {device} root netem delay {us}us limit {MANY}")
}

/// Every device has one address, so that ARP is not needed: over netem a request and its reply
/// take a round trip, and the handshake waits for them.
const NO_ARP: &str = "address 02:00:00:00:00:01 arp off";
/// Ethernet, IPv4, TCP and its timestamps.
const FRAME: u64 = 14 + 52;
/// Packets that netem may hold: more than any window here.
const MANY: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use firstflight_link::{CodelRules, DualPi2Rules};

    use super::*;
    use crate::link::DirectionSpec;

    fn spec(forward: DirectionSpec) -> LinkSpec {
        let forward = DirectionSpec {
            rate: Some(Rate::from_bps(10_000_000)),
            delay_ns: 30_000_000,
            buffer: Buffer::Packets(100),
            header_bytes: Some(0),
            ..forward
        };
        let backward = DirectionSpec { delay_ns: 50_000_000, ..DirectionSpec::default() };
        LinkSpec { forward, backward, packet_bytes: 1_000, ..LinkSpec::default() }
    }

    #[test]
    fn the_rate_is_that_of_what_the_scenario_counts() {
        let words = words(&spec(DirectionSpec::default())).unwrap();
        assert_eq!(words[0], "qdisc add dev f0 root netem limit 101 rate 10660000bit");
        assert_eq!(words[1], "qdisc add dev n0 root netem delay 50000us limit 1000000");
    }

    #[test]
    fn a_buffer_in_bytes_is_one_in_full_packets() {
        let mut spec = spec(DirectionSpec::default());
        spec.forward.buffer = Buffer::Bytes(20_500);
        assert!(words(&spec).unwrap()[0].contains("netem limit 21 rate"));
        spec.forward.buffer_counts_in_service = true;
        assert!(words(&spec).unwrap()[0].contains("netem limit 20 rate"));
    }

    #[test]
    fn what_tc_counts_is_read() {
        let text = r#"[{"kind":"netem","handle":"8001:","root":true,"refcnt":2,
            "options":{"limit":101},"bytes":42640,"packets":40,"drops":7,"overlimits":0}]"#;
        assert_eq!(counts(text), [7, 42_640, 0]);
        let text = r#"[{"kind":"htb","root":true,"bytes":100,"packets":2,"drops":3},
            {"kind":"red","parent":"1:1","options":{"limit":400000,"ecn":true},"bytes":100,
            "packets":2,"drops":9,"marked":12,"early":3,"pdrop":0,"other":0}]"#;
        assert_eq!(counts(text), [3, 100, 12]);
        assert_eq!(counts(""), [0; 3]);
    }

    #[test]
    fn loss_is_given_to_tc_in_percent() {
        for (loss, wanted) in [
            ("0%", "limit 101 rate"),
            ("1%", "limit 101 loss random 1% rate"),
            ("100ppb", "limit 101 loss random 0.00001% rate"),
            // Good to bad, bad to good, then the bad state's loss before the good one's.
            ("ge:0.5%,20%", "limit 101 loss gemodel 0.5% 20% 100% 0% rate"),
            ("ge:0.5%,20%,1%,50%", "limit 101 loss gemodel 0.5% 20% 50% 1% rate"),
        ] {
            let loss = loss.parse().unwrap();
            let words = words(&spec(DirectionSpec { loss, ..DirectionSpec::default() })).unwrap();
            assert!(words[0].contains(wanted), "{}", words[0]);
        }
    }

    #[test]
    fn what_netem_cannot_do_is_refused() {
        let chosen = DirectionSpec { drop: vec![3], ..DirectionSpec::default() };
        let problem = words(&spec(chosen)).unwrap_err().to_string();
        assert!(problem.contains("no chosen packets; accepted: `--link tun`"), "{problem}");
    }

    /// A packet leaves a class as its time on the link begins; the reverse path has it.
    #[test]
    fn a_queue_is_the_kernels_and_the_way_back_takes_a_packets_time_longer() {
        let queue = Some(Discipline::Codel(CodelRules::default()));
        let codel = DirectionSpec { queue, ..DirectionSpec::default() };
        let words = words(&spec(codel.clone())).unwrap();
        assert!(words[1].contains("htb rate 10660000bit") && words[2].contains("codel limit"));
        assert_eq!(words[3], "qdisc add dev n0 root netem delay 50800us limit 1000000");
        let lossy = DirectionSpec { loss: "1%".parse().unwrap(), ..codel };
        let problem = super::words(&spec(lossy)).unwrap_err().to_string();
        assert!(problem.contains("nothing at random"), "{problem}");
        let queue = Some(Discipline::DualPi2(DualPi2Rules::default()));
        let dual = DirectionSpec { queue, ..DirectionSpec::default() };
        let problem = super::words(&spec(dual)).unwrap_err().to_string();
        assert!(problem.contains("dualpi2") && problem.contains("accepted"), "{problem}");
    }
}
