//! The bottleneck by the kernel's own means: a namespace in the middle, tbf for rate and buffer,
//! netem for delay and loss.
//!
//! tbf stands on the middle's way to the far end and netem's delay, the whole round trip, on its
//! way back: in a closed loop it makes no difference where a fixed delay is, and netem's own queue
//! then never holds data. tbf counts Ethernet frames where a scenario counts payload and its own
//! headers, so rate and buffer are scaled by what a full packet takes. netem tells no lateness.

use firstflight_scenario::ResolvedBuffer;

use crate::error::LabError;
use crate::link::{Clock, DirectionReport, LinkReport, LinkSpec, Loss};
use crate::namespace::Namespace;
use crate::path::{self, DEVICE, FAR_NET, NEAR_NET};

/// Three namespaces and two veth pairs, gone with their owner.
#[derive(Debug)]
pub(crate) struct Netem {
    pub(crate) near: Namespace,
    pub(crate) far: Namespace,
    pub(crate) clock: Clock,
    middle: Namespace,
    rate_bps: u64,
    /// Drops, sent bytes, before the measured period.
    before: [u64; 2],
    period_ns: u64,
}

/// Whether this kernel has netem, asked in a namespace of its own.
///
/// # Errors
/// No privilege.
pub fn has_netem() -> Result<bool, LabError> {
    let asked = Namespace::new("a namespace to look for netem in")?;
    Ok(asked.tool("tc", "qdisc add dev lo root netem delay 1ms").is_ok())
}

impl Netem {
    /// Puts the three namespaces up.
    ///
    /// # Errors
    /// No netem here: the machine lacks something. Or the link does what netem cannot.
    pub(crate) fn new(spec: &LinkSpec) -> Result<Self, LabError> {
        if !has_netem()? {
            return Err(LabError::Lacks(
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
        }
        middle.set("ipv4/ip_forward", "1")?;
        for port in ["n0", "f0"] {
            middle.ip(&format!("link set {port} mtu {} gso_max_segs 1 up", spec.mtu))?;
        }
        middle.ip(&format!("route add {NEAR_NET} dev n0"))?;
        middle.ip(&format!("route add {FAR_NET} dev f0"))?;
        for port in ["n0", "f0"] {
            // It answers for both sides, at once.
            middle.set(&format!("ipv4/conf/{port}/proxy_arp"), "1")?;
            middle.set(&format!("ipv4/neigh/{port}/proxy_delay"), "0")?;
        }
        path::set_up(&near, path::near_address(0), FAR_NET, spec.mtu)?;
        path::set_up(&far, path::far_address(0), NEAR_NET, spec.mtu)?;
        for line in &words {
            middle.tool("tc", line)?;
        }
        let rate_bps = spec.forward.rate.as_ref().map_or(0, |rate| rate.peak_bps());
        let clock = Clock::start();
        Ok(Self { near, far, clock, middle, rate_bps, before: [0; 2], period_ns: 0 })
    }

    pub(crate) fn measure(&mut self, from: u64, until: u64) {
        self.before = self.counts();
        self.period_ns = until.saturating_sub(from);
    }

    pub(crate) fn report(&self) -> LinkReport {
        let now = self.counts();
        let [drops, bytes] = [0, 1].map(|i| now[i].saturating_sub(self.before[i]));
        let could = u128::from(self.rate_bps) * u128::from(self.period_ns) / 8_000_000_000;
        let forward = DirectionReport {
            dropped_packets: drops,
            delivered_bytes: bytes,
            utilization: if could == 0 { 0.0 } else { bytes as f64 / could as f64 },
            ..DirectionReport::default()
        };
        LinkReport { forward, ..LinkReport::default() }
    }

    /// Drops and bytes sent of the way to the far end.
    fn counts(&self) -> [u64; 2] {
        let text = self.middle.tool("tc", "-s qdisc show dev f0").unwrap_or_default();
        let after = |word: &str| {
            let rest = text.split(word).nth(1).unwrap_or_default();
            let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next();
            digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
        };
        [after("dropped"), after("Sent")]
    }
}

/// The words for `tc` in the middle.
fn words(spec: &LinkSpec) -> Result<Vec<String>, LabError> {
    let (forward, backward) = (&spec.forward, &spec.backward);
    let no = |what: &str| {
        Err(LabError::Input(format!("--link netem: {what}; accepted: `--link tun`, which can")))
    };
    if forward.more_delay.iter().any(|(_, more)| *more > 0) {
        return no("it has one delay for all flows");
    }
    if !forward.drop_nth.is_empty() {
        return no("it drops no chosen packets");
    }
    let (Some(rate), Some(buffer)) = (&forward.rate, forward.buffer) else {
        return no("it has a rate and a buffer");
    };
    let packet = spec.packet_bytes + forward.header_bytes.unwrap_or(0);
    let frame = spec.packet_bytes + FRAME;
    let scale = |amount: u64| u128::from(amount) * u128::from(frame) / u128::from(packet.max(1));
    let bps = scale(rate.peak_bps());
    let waiting = match buffer {
        ResolvedBuffer::Packets(packets) => u128::from(packets * frame),
        ResolvedBuffer::Bytes(bytes) => scale(bytes),
    };
    // The one in service is in tbf's queue too.
    let limit = waiting + if forward.buffer_counts_in_service { 0 } else { u128::from(frame) };
    let rtt_us = (forward.delay_ns + backward.delay_ns) / 1_000;
    let tbf = format!("tbf rate {bps}bit burst {frame} limit {limit}");
    let lossy = match forward.loss {
        Loss::None => None,
        Loss::Random(ppb) => Some(format!("loss random {}%", ppb as f64 / 1e7)),
        Loss::GilbertElliott { .. } => return no("bursts of loss are not told to it"),
    };
    let mut words = match lossy {
        None => vec![format!("qdisc add dev f0 root handle 1: {tbf}")],
        Some(loss) => vec![
            format!("qdisc add dev f0 root handle 1: netem {loss} limit {MANY}"),
            format!("qdisc add dev f0 parent 1:1 handle 2: {tbf}"),
        ],
    };
    words.push(format!("qdisc add dev n0 root netem delay {rtt_us}us limit {MANY}"));
    Ok(words)
}

/// Ethernet, IPv4, TCP and its timestamps.
const FRAME: u64 = 14 + 52;
/// Packets that netem may hold: more than any window here.
const MANY: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{DirectionSpec, Rate};

    fn spec(forward: DirectionSpec) -> LinkSpec {
        let forward = DirectionSpec {
            rate: Some(Rate::constant(10_000_000)),
            delay_ns: 50_000_000,
            buffer: Some(ResolvedBuffer::Packets(100)),
            header_bytes: Some(0),
            ..forward
        };
        LinkSpec { forward, packet_bytes: 1_000, ..LinkSpec::default() }
    }

    #[test]
    fn rate_and_buffer_are_scaled_to_frames() {
        let words = words(&spec(DirectionSpec::default())).unwrap();
        let tbf = "qdisc add dev f0 root handle 1: tbf rate 10660000bit burst 1066 limit 107666";
        assert_eq!(words[0], tbf);
        assert_eq!(words[1], "qdisc add dev n0 root netem delay 50000us limit 1000000");
    }

    #[test]
    fn loss_stands_before_the_bottleneck() {
        let lossy = DirectionSpec { loss: Loss::Random(10_000_000), ..DirectionSpec::default() };
        let words = words(&spec(lossy)).unwrap();
        assert!(words[0].ends_with("netem loss random 1% limit 1000000"), "{}", words[0]);
        assert!(words[1].starts_with("qdisc add dev f0 parent 1:1 handle 2: tbf rate"));
    }

    #[test]
    fn what_netem_cannot_do_is_said() {
        let chosen = DirectionSpec { drop_nth: vec![3], ..DirectionSpec::default() };
        let problem = words(&spec(chosen)).unwrap_err().to_string();
        assert!(problem.contains("no chosen packets; accepted: `--link tun`"), "{problem}");
    }
}
