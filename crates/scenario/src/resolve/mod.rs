//! Fills in the defaults, and refuses values that contradict each other, naming the place.

mod elements;
mod flow;
mod limits;
mod queue;
mod writes;

pub(crate) use self::flow::default_access_rate;

use std::collections::HashMap;

use firstflight_control::quantity::{Buffer, Loss, MarkFrom, Rate, Size, Time, Window};

use self::limits::{HALF_DAY, HOUR, NANOSECOND, SHORTEST};
use crate::error::ScenarioError;
use crate::profile::{Constants, EcnFeedback, FastOpen, Ns2Release, Profile, Recovery};
use crate::resolved::{
    Line, Resolved, ResolvedBuffer, ResolvedEndpoint, ResolvedLink, bdp_packets, frame_bytes,
    rate_bps,
};
use crate::scenario::{Dumbbell, Elements, Link, MOST_FLOWS, Scenario};

impl Scenario {
    /// Base units and all defaults: the Astart paper's path (40 Mbps, 100 ms, a buffer of one BDP,
    /// 1000-byte packets, 20 s) and the constants of the profile.
    ///
    /// # Errors
    /// A value out of its range, or values that contradict each other.
    pub fn resolve(&self) -> Result<Resolved, ScenarioError> {
        Resolver::new(self)?.resolve()
    }
}

/// The scenario beside the values that everything else depends on.
struct Resolver<'a> {
    scenario: &'a Scenario,
    constants: &'static Constants,
    duration: Time,
    packet: Size,
    headers: Size,
    /// The places of the links by their names; of two of one name, that of the first.
    links: HashMap<&'a str, usize>,
}

/// The release of ns-2 that is written, which means nothing to another profile.
fn release(scenario: &Scenario) -> Option<Ns2Release> {
    let is_ns2 = scenario.endpoint.profile == Some(Profile::Ns2);
    scenario.endpoint.ns2_release.filter(|_| is_ns2)
}

impl<'a> Resolver<'a> {
    fn new(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        let profile = scenario.endpoint.profile.unwrap_or_default();
        let usual = if profile == Profile::Quic { QUIC_PACKET } else { PACKET };
        let mut links = HashMap::new();
        for (place, link) in scenario.links.iter().enumerate() {
            links.entry(link.name.as_str()).or_insert(place);
        }
        if links.is_empty() {
            links.insert(DUMBBELL, 0);
        }
        let resolver = Self {
            scenario,
            links,
            constants: release(scenario).map_or_else(|| profile.constants(), Ns2Release::constants),
            duration: scenario.duration.unwrap_or(DURATION),
            packet: scenario.packet.unwrap_or(usual),
            headers: scenario.headers.unwrap_or_default(),
        };
        resolver.time("duration", resolver.duration, NANOSECOND..=HALF_DAY)?;
        resolver.size("packet", resolver.packet, 1)?;
        resolver.size("headers", resolver.headers, 0)?;
        Ok(resolver)
    }

    fn resolve(&self) -> Result<Resolved, ScenarioError> {
        let scenario = self.scenario;
        let mut links = self.links()?;
        let mut flows = Vec::new();
        for (i, flow) in scenario.groups().iter().enumerate() {
            flows.push(self.flow(&format!("flow[{i}]"), flow, &links)?);
        }
        let mut udp = Vec::new();
        for (i, source) in scenario.udp.iter().enumerate() {
            udp.push(self.udp(&format!("udp[{i}]"), source, &links)?);
        }
        let total: u64 = flows.iter().map(|flow| flow.count).sum();
        if total > MOST_FLOWS {
            let problem = format!("{total} flows in all; accepted: 1 to {MOST_FLOWS}");
            return Err(self.error(&format!("flow[{}].count", flows.len() - 1), problem));
        }
        self.buffers(&mut links, flows.iter().map(|flow| &flow.path))?;
        self.marks(&links)?;
        self.ways_back(&links, &flows)?;
        Ok(Resolved {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            controls: scenario.controls.clone(),
            duration_ns: self.duration.ns(),
            seed: scenario.seed.unwrap_or(1),
            runs: scenario.runs.unwrap_or(1),
            packet_bytes: self.packet.bytes(),
            header_bytes: self.headers.bytes(),
            endpoint: self.endpoint()?,
            links,
            flows,
            udp,
        })
    }

    /// The rate of the link whose table has this name: what is written, the mean of its schedule or
    /// trace, or the default.
    fn rate(
        &self,
        table: &str,
        written: Option<Rate>,
        elements: &Elements,
    ) -> Result<u64, ScenarioError> {
        if let Some(rate) = written {
            return Ok(rate.bps());
        }
        let Some(line) = Line::written(elements) else { return Ok(RATE.bps()) };
        // What is no schedule is refused with its elements.
        let is_none =
            !elements.rates.is_empty() && elements.rates.iter().all(|it| it.rate.bps() == 0);
        match line.usual_bps(self.duration.ns()) {
            0 if is_none => Ok(RATE.bps()),
            0 => {
                let key = if elements.rates.is_empty() { "rate_trace" } else { "rates" };
                let problem = "nothing would be sent within the run, so that its mean is no rate; \
                               accepted: `rate` beside it, or a rate above 0 before the end";
                Err(self.error(&format!("{table}.{key}"), problem))
            }
            bps => Ok(bps),
        }
    }

    fn endpoint(&self) -> Result<ResolvedEndpoint, ScenarioError> {
        let own = &self.scenario.endpoint;
        let mut base = self.constants.switches;
        if own.flow.recovery == Some(Recovery::Ns2Linux) {
            // TCP/Linux in ns-2 counts milliseconds once it has been given a control.
            base.rto_granularity = TICK_OF_NS2_LINUX;
        }
        let switches = own.switches.or(&base);
        self.size("ack_size", switches.ack_size, 1)?;
        for (key, time) in switches.times() {
            let least = if matches!(key, "rto_min" | "rto_max") { SHORTEST } else { NANOSECOND };
            self.time(key, time, least..=HOUR)?;
        }
        let profile = own.profile.unwrap_or_default();
        if switches.fast_open != FastOpen::Off && !switches.syn {
            let problem = "there is no SYN exchange to save; accepted: `syn = true` with it";
            return Err(self.error("fast_open", problem));
        }
        if switches.ecn && profile == Profile::Ns2 {
            let problem = "found profile ns2; accepted: linux, rfc or quic";
            return Err(self.error("ecn", problem));
        }
        if switches.wake_up && profile == Profile::Ns2 {
            let problem = "found profile ns2, whose ties are ns-2's; accepted: linux or rfc";
            return Err(self.error("wake_up", problem));
        }
        if own.switches.ecn_feedback.is_some() && profile == Profile::Quic {
            let problem = "found profile quic; accepted: none, ACK frames of QUIC count marks";
            return Err(self.error("ecn_feedback", problem));
        }
        if switches.ecn_feedback != EcnFeedback::default() && !switches.ecn {
            let problem = "no packet can be marked; accepted: `ecn = true` with it";
            return Err(self.error("ecn_feedback", problem));
        }
        if switches.tso && profile != Profile::Linux {
            let problem = format!("found profile {profile}; accepted: linux");
            return Err(self.error("tso", problem));
        }
        if switches.rto_min > switches.rto_max {
            let (key, most) = match own.switches.rto_max {
                Some(_) => ("rto_max", "at least rto_min"),
                None => ("rto_min", "at most rto_max"),
            };
            return Err(self.error(key, format!("rto_min is above rto_max; accepted: {most}")));
        }
        Ok(ResolvedEndpoint { profile, ns2_release: release(self.scenario), switches })
    }

    /// The links. Every buffer is [`UNSIZED`] until [`Self::buffers`] sizes it.
    fn links(&self) -> Result<Vec<ResolvedLink>, ScenarioError> {
        match (&self.scenario.path, self.scenario.links.is_empty()) {
            (Some(_), false) => Err(self.error(
                "path",
                "a scenario has either [path] or [[link]]; accepted: one of the two",
            )),
            (path, true) => Ok(vec![self.dumbbell(path.as_ref())?]),
            (None, false) => {
                let links = self.scenario.links.iter().enumerate();
                links.map(|(i, link)| self.link(i, link)).collect()
            }
        }
    }

    fn dumbbell(&self, path: Option<&Dumbbell>) -> Result<ResolvedLink, ScenarioError> {
        let default = Dumbbell::default();
        let path = path.unwrap_or(&default);
        let rtt = self.time("path.rtt", path.rtt.unwrap_or(RTT), NANOSECOND..=HOUR)?;
        let (rate, loss) = (path.rate, path.loss);
        let delays = (rtt / 2, rtt - rtt / 2);
        self.unsized_link("path", DUMBBELL, delays, (rate, loss, &path.drop, &path.elements))
    }

    fn link(&self, index: usize, link: &Link) -> Result<ResolvedLink, ScenarioError> {
        let key = format!("link[{index}].name");
        if link.name.is_empty() || self.links.get(link.name.as_str()) != Some(&index) {
            return Err(
                self.error(&key, "no name of its own; accepted: a name that no other link has")
            );
        }
        let delay = self.time(&format!("link[{index}].delay"), link.delay, Time::ZERO..=HOUR)?;
        let keys = (link.rate, link.loss, &link.drop[..], &link.elements);
        self.unsized_link(&format!("link[{index}]"), &link.name, (delay, delay), keys)
    }

    /// The link whose table has this name, of these delays of data and ACKs.
    fn unsized_link(
        &self,
        table: &str,
        name: &str,
        (delay_ns, return_delay_ns): (u64, u64),
        (rate, loss, drop, elements): (Option<Rate>, Option<Loss>, &[u64], &Elements),
    ) -> Result<ResolvedLink, ScenarioError> {
        let rate_bps = self.rate(table, rate, elements)?;
        let built = self.built(table, elements, None)?;
        let rtt_ns = delay_ns + return_delay_ns;
        Ok(ResolvedLink {
            name: name.to_owned(),
            rate_bps,
            delay_ns,
            return_delay_ns,
            buffer: UNSIZED,
            ecn_threshold_packets: None,
            queue: None,
            loss: loss.unwrap_or_default(),
            drop: rising(drop),
            back: self.back(table, elements, (rate_bps, rtt_ns), built.delays.as_ref())?,
            elements: elements.clone(),
            built,
        })
    }

    /// Sizes the buffers. The round trip of a BDP is that of the longest path over the link,
    /// access links excluded: the papers' "BDP" is the bottleneck's own.
    fn buffers<'p>(
        &self,
        links: &mut [ResolvedLink],
        paths: impl Iterator<Item = &'p Vec<usize>>,
    ) -> Result<(), ScenarioError> {
        let mut round_trips: Vec<u64> =
            links.iter().map(|link| link.delay_ns + link.return_delay_ns).collect();
        for path in paths {
            let rtt = propagation(links, path);
            for link in path {
                round_trips[*link] = round_trips[*link].max(rtt);
            }
        }
        for (i, link) in links.iter_mut().enumerate() {
            let (key, written, threshold) = match (self.scenario.links.get(i), &self.scenario.path)
            {
                (Some(own), _) => (format!("link[{i}]"), own.buffer, own.ecn_threshold),
                (None, Some(path)) => ("path".to_owned(), path.buffer, path.ecn_threshold),
                (None, None) => ("path".to_owned(), None, None),
            };
            let (rate, wire) = (link.rate_bps, link.elements.on_link(self.wire_bytes()));
            let packets = |ns, milli| bdp_packets(rate, ns, wire, milli).max(1);
            link.queue = self.queue(&key, (i, wire), &|milli| packets(round_trips[i], milli))?;
            link.ecn_threshold_packets = threshold.map(|threshold| match threshold {
                MarkFrom::Packets(n) => n,
                MarkFrom::Bdp(milli) => packets(round_trips[i], milli),
                MarkFrom::Time(time) => packets(time.ns(), 1000),
            });
            link.buffer = match written.unwrap_or(BUFFER) {
                Buffer::Packets(n) => ResolvedBuffer::Packets(n),
                Buffer::Bytes(n) if n < wire => {
                    let problem = format!("the buffer holds no packet of {wire} bytes; accepted: ");
                    let problem = problem + "room for one packet or more";
                    return Err(self.error(&format!("{key}.buffer"), problem));
                }
                Buffer::Bytes(n) => ResolvedBuffer::Bytes(n),
                Buffer::Bdp(milli) => {
                    let packets = bdp_packets(link.rate_bps, round_trips[i], wire, milli);
                    ResolvedBuffer::Packets(packets.max(1))
                }
            };
            if let Some(queue) = &link.queue {
                link.buffer = queue.room();
            }
            let pipe = bdp_packets(link.rate_bps, round_trips[i], wire, 1000);
            let waiting = match link.buffer {
                ResolvedBuffer::Packets(n) => n,
                ResolvedBuffer::Bytes(n) => n / wire,
            };
            if pipe.saturating_add(waiting) > MOST_IN_FLIGHT {
                let problem = format!(
                    "{pipe} packets fill the path and {waiting} its buffer; accepted: at most \
                     {MOST_IN_FLIGHT} together"
                );
                return Err(self.error(&key, problem));
            }
        }
        Ok(())
    }

    /// A threshold for marks has no effect on flows that do not use ECN.
    fn marks(&self, links: &[ResolvedLink]) -> Result<(), ScenarioError> {
        let marking = links.iter().position(|link| link.ecn_threshold_packets.is_some());
        let Some(at) = marking.filter(|_| self.scenario.endpoint.switches.ecn != Some(true)) else {
            return Ok(());
        };
        let key =
            if self.scenario.links.is_empty() { "path".to_owned() } else { format!("link[{at}]") };
        let problem = "no flow has packets to mark; accepted: `ecn = true` with it";
        Err(self.error(&format!("{key}.ecn_threshold"), problem))
    }

    /// A window of a flow on this path, whose BDP is that of the buffers: the slowest link's rate
    /// times the propagation without access links.
    fn bytes(&self, window: Window, links: &[ResolvedLink], path: &[usize]) -> u64 {
        let rate = path.iter().map(|i| rate_bps(links, *i)).min().unwrap_or(0);
        let rtt = propagation(links, path);
        let wire = frame_bytes(links, path, self.wire_bytes());
        window.bytes(self.packet, |milli| bdp_packets(rate, rtt, wire, milli))
    }

    /// Bytes a full packet takes on a link.
    fn wire_bytes(&self) -> u64 {
        self.packet.bytes() + self.headers.bytes()
    }
}

/// Two-way propagation over the links of a path, whichever way data takes.
fn propagation(links: &[ResolvedLink], path: &[usize]) -> u64 {
    let link = |i: &usize| &links[i % links.len()];
    path.iter().map(link).map(|link| link.delay_ns + link.return_delay_ns).sum()
}

fn rising(packets: &[u64]) -> Vec<u64> {
    let mut packets = packets.to_vec();
    packets.sort_unstable();
    packets.dedup();
    packets
}

/// The name of the only link of a dumbbell.
const DUMBBELL: &str = "bottleneck";
/// `1 / JIFFY_RATIO` of its `tcp-linux.cc`.
const TICK_OF_NS2_LINUX: Time = Time::from_ms(1);
/// The path of the Astart paper, section V.
const RATE: Rate = Rate::from_bps(40_000_000);
const RTT: Time = Time::from_ms(100);
const BUFFER: Buffer = Buffer::Bdp(1000);
pub(crate) const PACKET: Size = Size::from_bytes(1000);
/// The UDP payload that every path carries (RFC 9000 section 14), as over quinn.
pub(crate) const QUIC_PACKET: Size = Size::from_bytes(1200);
const DURATION: Time = Time::from_ms(20_000);
/// 10 Gbit/s over 80 s: beyond every path, and the memory of a laptop.
const MOST_IN_FLIGHT: u64 = 100_000_000;
/// Stands in until the paths are known.
const UNSIZED: ResolvedBuffer = ResolvedBuffer::Packets(1);
