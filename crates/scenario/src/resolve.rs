//! Fills in the defaults and refuses what cannot be, naming the place.

use std::ops::RangeInclusive;

use crate::control::ControlSpec;
use crate::error::ScenarioError;
use crate::profile::Constants;
use crate::quantity::{Buffer, Rate, Size, Threshold, Time, Window};
use crate::resolved::{
    Plan, Resolved, ResolvedBuffer, ResolvedEndpoint, ResolvedFlow, ResolvedLink, ResolvedUdp,
    Setting, bdp_packets,
};
use crate::scenario::{Dumbbell, Flow, Link, MOST_FLOWS, Scenario, Udp};

impl Scenario {
    /// Base units and all defaults: the Astart paper's path (40 Mbps, 100 ms, a buffer of one BDP,
    /// 1000-byte packets, 20 s) and the constants of the profile.
    ///
    /// # Errors
    /// A value out of its range, or values that contradict each other.
    pub fn resolve(&self) -> Result<Resolved, ScenarioError> {
        Resolver::new(self)?.resolve()
    }

    /// The runs, one per listed control; a single one when every flow has a control of its own.
    ///
    /// # Errors
    /// A flow without any control, or listed controls that no flow would use.
    pub fn plans(&self) -> Result<Vec<Plan>, ScenarioError> {
        let default = [Flow::default()];
        let flows = if self.flows.is_empty() { &default[..] } else { &self.flows };
        let lacking = flows.iter().position(|flow| flow.control.is_none());
        match (self.controls.is_empty(), lacking) {
            (true, Some(i)) => {
                let problem = "no control; accepted: `control` in each flow, or `controls` at the \
                    top for one run each";
                Err(self.origin.error(&format!("flow[{i}]"), problem))
            }
            (false, None) => {
                let problem = "every flow has a control of its own; accepted: one or the other";
                Err(self.origin.error("controls", problem))
            }
            (true, None) => Ok(vec![plan(flows, None)]),
            (false, Some(_)) => Ok(self.controls.iter().map(|c| plan(flows, Some(c))).collect()),
        }
    }
}

fn plan(flows: &[Flow], listed: Option<&ControlSpec>) -> Plan {
    let controls: Vec<ControlSpec> =
        flows.iter().filter_map(|flow| flow.control.as_ref().or(listed).cloned()).collect();
    let mut names: Vec<&str> = Vec::new();
    for control in &controls {
        if !names.contains(&control.text.as_str()) {
            names.push(&control.text);
        }
    }
    Plan { name: names.join(", "), controls }
}

/// The scenario beside the values that everything else depends on.
struct Resolver<'a> {
    scenario: &'a Scenario,
    constants: &'static Constants,
    duration: Time,
    packet: Size,
    headers: Size,
}

impl<'a> Resolver<'a> {
    fn new(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        let resolver = Self {
            scenario,
            constants: scenario.endpoint.profile.unwrap_or_default().constants(),
            duration: scenario.duration.unwrap_or(DURATION),
            packet: scenario.packet.unwrap_or(PACKET),
            headers: scenario.headers.unwrap_or_default(),
        };
        resolver.time("duration", resolver.duration, NANOSECOND..=DAY)?;
        resolver.size("packet", resolver.packet, 1)?;
        resolver.size("headers", resolver.headers, 0)?;
        Ok(resolver)
    }

    fn resolve(&self) -> Result<Resolved, ScenarioError> {
        let scenario = self.scenario;
        let default = [Flow::default()];
        let groups = if scenario.flows.is_empty() { &default[..] } else { &scenario.flows };
        let mut links = self.links()?;
        let mut flows = Vec::new();
        for (i, flow) in groups.iter().enumerate() {
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
        Ok(Resolved {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            controls: scenario.controls.clone(),
            duration_ns: self.duration.ns(),
            seed: scenario.seed.unwrap_or(1),
            packet_bytes: self.packet.bytes(),
            header_bytes: self.headers.bytes(),
            endpoint: self.endpoint()?,
            links,
            flows,
            udp,
        })
    }

    fn endpoint(&self) -> Result<ResolvedEndpoint, ScenarioError> {
        let (own, base) = (&self.scenario.endpoint, self.constants);
        let timer = |key: &str, own: Option<Time>, base: Time| {
            self.time(key, own.unwrap_or(base), NANOSECOND..=HOUR)
        };
        let endpoint = ResolvedEndpoint {
            profile: own.profile.unwrap_or_default(),
            syn: own.syn.unwrap_or(base.syn),
            rto_initial_ns: timer("rto_initial", own.rto_initial, base.rto_initial)?,
            rto_min_ns: timer("rto_min", own.rto_min, base.rto_min)?,
            rto_max_ns: timer("rto_max", own.rto_max, base.rto_max)?,
            rto_granularity_ns: timer(
                "rto_granularity",
                own.rto_granularity,
                base.rto_granularity,
            )?,
            delayed_ack_timer_ns: timer(
                "delayed_ack_timer",
                own.delayed_ack_timer,
                base.delayed_ack_timer,
            )?,
            limited_transmit: own.limited_transmit.unwrap_or(base.limited_transmit),
            impatient: own.impatient.unwrap_or(base.impatient),
            growth_limit: own.growth_limit.unwrap_or(base.growth_limit),
            buffer_counts_in_service: own
                .buffer_counts_in_service
                .unwrap_or(base.buffer_counts_in_service),
        };
        if endpoint.rto_min_ns > endpoint.rto_max_ns {
            let (key, most) = match own.rto_max {
                Some(_) => ("rto_max", "at least rto_min"),
                None => ("rto_min", "at most rto_max"),
            };
            return Err(self.error(key, format!("rto_min is above rto_max; accepted: {most}")));
        }
        Ok(endpoint)
    }

    /// The links, with buffers in BDP still as [`ResolvedBuffer::Packets`] of nothing.
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
        Ok(ResolvedLink {
            name: "bottleneck".to_owned(),
            rate_bps: path.rate.unwrap_or(RATE).bps(),
            delay_ns: rtt / 2,
            return_delay_ns: rtt - rtt / 2,
            buffer: UNSIZED,
            loss_ppb: path.loss.unwrap_or_default().ppb(),
            drop: rising(&path.drop),
        })
    }

    fn link(&self, index: usize, link: &Link) -> Result<ResolvedLink, ScenarioError> {
        let earlier = &self.scenario.links[..index];
        let key = format!("link[{index}].name");
        if link.name.is_empty() || earlier.iter().any(|other| other.name == link.name) {
            return Err(
                self.error(&key, "no name of its own; accepted: a name that no other link has")
            );
        }
        let delay = self.time(&format!("link[{index}].delay"), link.delay, Time::ZERO..=HOUR)?;
        Ok(ResolvedLink {
            name: link.name.clone(),
            rate_bps: link.rate.bps(),
            delay_ns: delay,
            return_delay_ns: delay,
            buffer: UNSIZED,
            loss_ppb: link.loss.unwrap_or_default().ppb(),
            drop: rising(&link.drop),
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
        let wire = self.packet.bytes() + self.headers.bytes();
        for (i, link) in links.iter_mut().enumerate() {
            let (key, written) = match self.scenario.links.get(i) {
                Some(own) => (format!("link[{i}]"), own.buffer),
                None => ("path".to_owned(), self.scenario.path.as_ref().and_then(|p| p.buffer)),
            };
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

    fn flow(
        &self,
        key: &str,
        flow: &Flow,
        links: &[ResolvedLink],
    ) -> Result<ResolvedFlow, ScenarioError> {
        let path = self.path(key, &flow.path, links)?;
        let (access_delay_ns, rtt_ns) = self.access(key, flow, propagation(links, &path))?;
        let slowest = path.iter().map(|i| links[*i].rate_bps).min().unwrap_or(0);
        let dumbbell = self.scenario.path.as_ref();
        let access_rate = flow.access_rate.or(dumbbell.and_then(|path| path.access_rate));
        let default_rate = ACCESS_RATE.bps().max(slowest.saturating_mul(10));
        let (start_from_ns, start_until_ns) = self.start(key, flow)?;
        let common = &self.scenario.endpoint;
        let iw = flow.iw.or(common.iw);
        let ssthresh = flow.ssthresh.or(common.ssthresh);
        let receiver_window = flow.receiver_window.or(common.receiver_window);
        self.window(key, "iw", flow.iw, iw)?;
        self.window(key, "receiver_window", flow.receiver_window, receiver_window)?;
        Ok(ResolvedFlow {
            control: flow.control.clone(),
            count: flow.count.unwrap_or(1),
            start_from_ns,
            start_until_ns,
            start_jitter_ns: flow.start_jitter.unwrap_or_default().ns(),
            stop_ns: flow.stop.map(Time::ns),
            lifetime_ns: flow.lifetime.map(Time::ns),
            size_bytes: flow.size.map(Size::bytes),
            path,
            access_delay_ns,
            access_rate_bps: access_rate.map_or(default_rate, Rate::bps),
            rtt_ns,
            iw_bytes: Setting::new(iw.map(|w| self.bytes(w)), self.bytes(self.constants.iw)),
            ssthresh_bytes: Setting::new(
                ssthresh.map(|t| self.threshold(t)),
                self.threshold(self.constants.ssthresh),
            ),
            receiver_window_bytes: receiver_window.map(|w| self.bytes(w)),
            recovery: Setting::new(flow.recovery.or(common.recovery), self.constants.recovery),
            delayed_ack: flow.delayed_ack.or(common.delayed_ack).unwrap_or(1),
        })
    }

    /// Access delay per link and the round trip in all, over a path of `propagation`.
    fn access(
        &self,
        key: &str,
        flow: &Flow,
        propagation: u64,
    ) -> Result<(u64, u64), ScenarioError> {
        let Some(rtt) = flow.rtt else {
            let common = self.scenario.path.as_ref().and_then(|path| path.access_delay);
            let own = flow.access_delay.is_some();
            let place =
                if own { format!("{key}.access_delay") } else { "path.access_delay".into() };
            let delay = flow.access_delay.or(common).unwrap_or_default();
            let delay = self.time(&place, delay, Time::ZERO..=HOUR)?;
            return Ok((delay, propagation + 4 * delay));
        };
        let place = format!("{key}.rtt");
        if flow.access_delay.is_some() {
            let problem = "a flow has either rtt or access_delay; accepted: one of the two";
            return Err(self.error(&place, problem));
        }
        let rtt = self.time(&place, rtt, NANOSECOND..=HOUR)?;
        if rtt < propagation {
            let path = Time::from_ns(propagation);
            let problem = format!("shorter than its path's own {path}; accepted: {path} or more");
            return Err(self.error(&place, problem));
        }
        // Four equal access links: up to 3 ns are lost.
        let delay = (rtt - propagation) / 4;
        Ok((delay, propagation + 4 * delay))
    }

    /// Earliest and latest start of a group, checked against its end and the run's.
    fn start(&self, key: &str, flow: &Flow) -> Result<(u64, u64), ScenarioError> {
        let (name, from, until) = match (flow.start, flow.starts) {
            (Some(_), Some(_)) => {
                let problem = "a flow has either start or starts; accepted: one of the two";
                return Err(self.error(&format!("{key}.starts"), problem));
            }
            (None, Some(starts)) => ("starts", starts.from, starts.until),
            (start, None) => ("start", start.unwrap_or_default(), start.unwrap_or_default()),
        };
        self.before_end(&format!("{key}.{name}"), until)?;
        let latest = until.ns().saturating_add(flow.start_jitter.unwrap_or_default().ns());
        self.before_end(&format!("{key}.start_jitter"), Time::from_ns(latest))?;
        if flow.lifetime == Some(Time::ZERO) {
            let problem = "a flow lives longer than no time; accepted: 30s, or no lifetime";
            return Err(self.error(&format!("{key}.lifetime"), problem));
        }
        if flow.size == Some(Size::default()) {
            let problem = "a flow sends one byte or more; accepted: 30KB, 5MB, or no size";
            return Err(self.error(&format!("{key}.size"), problem));
        }
        if flow.stop.is_some() && flow.lifetime.is_some() {
            let problem = "a flow has either stop or lifetime; accepted: one of the two";
            return Err(self.error(&format!("{key}.lifetime"), problem));
        }
        self.after(&format!("{key}.stop"), flow.stop, until)?;
        Ok((from.ns(), until.ns()))
    }

    fn udp(
        &self,
        key: &str,
        udp: &Udp,
        links: &[ResolvedLink],
    ) -> Result<ResolvedUdp, ScenarioError> {
        let path = self.path(key, &udp.path, links)?;
        let start = udp.start.unwrap_or_default();
        self.before_end(&format!("{key}.start"), start)?;
        self.after(&format!("{key}.stop"), udp.stop, start)?;
        let wire = Size::from_bytes(self.packet.bytes() + self.headers.bytes());
        Ok(ResolvedUdp {
            rate_bps: udp.rate.bps(),
            start_ns: start.ns(),
            stop_ns: udp.stop.unwrap_or(self.duration).ns(),
            packet_bytes: self.size(&format!("{key}.packet"), udp.packet.unwrap_or(wire), 1)?,
            path,
        })
    }

    fn path(
        &self,
        key: &str,
        names: &[String],
        links: &[ResolvedLink],
    ) -> Result<Vec<usize>, ScenarioError> {
        if names.is_empty() && links.len() == 1 {
            return Ok(vec![0]);
        }
        let known: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        if names.is_empty() {
            let problem = format!("`path` is missing; accepted: a list of {}", known.join(", "));
            return Err(self.error(key, problem));
        }
        let mut path = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let place = format!("{key}.path[{i}]");
            let index = known.iter().position(|link| link == name).ok_or_else(|| {
                let hint = crate::nearest(name, known.iter().copied())
                    .map_or(String::new(), |link| format!(", did you mean `{link}`"));
                self.error(&place, format!("no such link{hint}; accepted: {}", known.join(", ")))
            })?;
            if path.contains(&index) {
                let problem = "the path takes this link twice; accepted: each link once";
                return Err(self.error(&place, problem));
            }
            path.push(index);
        }
        Ok(path)
    }

    fn bytes(&self, window: Window) -> u64 {
        window.bytes(self.packet)
    }

    fn threshold(&self, threshold: Threshold) -> Option<u64> {
        match threshold {
            Threshold::None => None,
            Threshold::At(window) => Some(self.bytes(window)),
        }
    }

    fn error(&self, key: &str, problem: impl Into<String>) -> ScenarioError {
        self.scenario.origin.error(key, problem)
    }

    fn time(
        &self,
        key: &str,
        time: Time,
        accepted: RangeInclusive<Time>,
    ) -> Result<u64, ScenarioError> {
        if accepted.contains(&time) {
            return Ok(time.ns());
        }
        let (from, to) = accepted.into_inner();
        let from = if from == NANOSECOND { "more than 0s".to_owned() } else { from.to_string() };
        let hours = to.ns() / HOUR.ns();
        Err(self.error(key, format!("out of range; accepted: {from}, at most {hours}h")))
    }

    fn size(&self, key: &str, size: Size, least: u64) -> Result<u64, ScenarioError> {
        if (least..=MOST_PACKET).contains(&size.bytes()) {
            return Ok(size.bytes());
        }
        Err(self.error(key, format!("out of range; accepted: {least}B to {MOST_PACKET}B")))
    }

    /// A window in bytes must hold a packet; `own` tells whether the flow or the scenario set it.
    fn window(
        &self,
        key: &str,
        name: &str,
        own: Option<Window>,
        window: Option<Window>,
    ) -> Result<(), ScenarioError> {
        if window.is_none_or(|window| self.bytes(window) >= self.packet.bytes()) {
            return Ok(());
        }
        let place = if own.is_some() { format!("{key}.{name}") } else { name.to_owned() };
        let packet = self.packet;
        Err(self.error(&place, format!("less than a packet of {packet}; accepted: 1pkt or more")))
    }

    fn before_end(&self, key: &str, start: Time) -> Result<(), ScenarioError> {
        if start < self.duration {
            return Ok(());
        }
        let duration = self.duration;
        Err(self.error(key, format!("the run is over at {duration}; accepted: a start before it")))
    }

    fn after(&self, key: &str, stop: Option<Time>, start: Time) -> Result<(), ScenarioError> {
        if stop.is_none_or(|stop| stop > start) {
            return Ok(());
        }
        let problem = format!("stops before or as it starts ({start}); accepted: a stop after it");
        Err(self.error(key, problem))
    }
}

/// Two-way propagation over the links of a path.
fn propagation(links: &[ResolvedLink], path: &[usize]) -> u64 {
    path.iter().map(|i| links[*i].delay_ns + links[*i].return_delay_ns).sum()
}

fn rising(packets: &[u64]) -> Vec<u64> {
    let mut packets = packets.to_vec();
    packets.sort_unstable();
    packets.dedup();
    packets
}

/// The path of the Astart paper, section V.
const RATE: Rate = Rate::from_bps(40_000_000);
const RTT: Time = Time::from_ms(100);
const BUFFER: Buffer = Buffer::Bdp(1000);
const PACKET: Size = Size::from_bytes(1000);
const DURATION: Time = Time::from_ms(20_000);
/// Access links are much faster than the bottleneck, or none of the papers' bursts appear.
const ACCESS_RATE: Rate = Rate::from_bps(1_000_000_000);

const NANOSECOND: Time = Time::from_ns(1);
const HOUR: Time = Time::from_ms(3_600_000);
const DAY: Time = Time::from_ms(24 * 3_600_000);
/// The largest IP packet.
const MOST_PACKET: u64 = 65_535;
/// 10 Gbit/s over 80 s: beyond every path, and the memory of a laptop.
const MOST_IN_FLIGHT: u64 = 100_000_000;
/// Stands in until the paths are known.
const UNSIZED: ResolvedBuffer = ResolvedBuffer::Packets(1);
