//! Groups of flows and constant-rate sources: when they run, where they go, what they are given.

use std::collections::HashSet;

use firstflight_control::hint;
use firstflight_control::quantity::{Rate, Size, Threshold, Time, Window};

use super::limits::{HOUR, NANOSECOND, SHORTEST};
use super::{MOST_IN_FLIGHT, Resolver, propagation};
use crate::error::ScenarioError;
use crate::keys::{FlowKeys, FlowValues};
use crate::profile::{FastOpen, Profile, Recovery};
use crate::resolved::{
    ResolvedBuffer, ResolvedFiles, ResolvedFlow, ResolvedLink, ResolvedUdp, Setting,
};
use crate::scenario::{Between, Files, FlowGroup, Udp};

impl Resolver<'_> {
    pub(super) fn flow(
        &self,
        key: &str,
        flow: &FlowGroup,
        links: &[ResolvedLink],
    ) -> Result<ResolvedFlow, ScenarioError> {
        let path = self.path(key, &flow.path, links)?;
        let (access_delay_ns, rtt_ns) = self.access(key, flow, propagation(links, &path))?;
        let reverse = flow.reverse.unwrap_or(false);
        let data_path = if reverse { self.reversed(key, &path, links)? } else { path.clone() };
        let slowest = path.iter().map(|i| links[*i].rate_bps).min().unwrap_or(0);
        let dumbbell = self.scenario.path.as_ref();
        let access_rate = flow.access_rate.or(dumbbell.and_then(|path| path.access_rate));
        let default_rate = match dumbbell.and_then(|path| path.access_times) {
            Some(times) => slowest.saturating_mul(times),
            None => default_access_rate(slowest),
        };
        let (start_from_ns, start_until_ns) = self.start(key, flow)?;
        let set = flow.own.over(&self.scenario.endpoint.flow);
        let values = set.or(&self.constants.flow);
        self.windows(key, flow, (&set, &values))?;
        self.agent(key, flow, values.recovery)?;
        if values.recovery == Recovery::Quic {
            self.of_quic(key, flow, values.split_acks)?;
        }
        let bytes = |window: Window| self.bytes(window, links, &data_path);
        let threshold = |threshold: Threshold| match threshold {
            Threshold::None => None,
            Threshold::At(window) => Some(bytes(window)),
        };
        Ok(ResolvedFlow {
            control: flow.control.clone(),
            count: flow.count.unwrap_or(1),
            start_from_ns,
            start_until_ns,
            start_jitter_ns: flow.start_jitter.unwrap_or_default().ns(),
            stop_ns: flow.stop.map(Time::ns),
            lifetime_ns: flow.lifetime.map(Time::ns),
            size_bytes: self.size_in_all(flow),
            path: path.clone(),
            reverse,
            data_path: data_path.clone(),
            access_delay_ns,
            access_rate_bps: access_rate.map_or(default_rate, Rate::bps),
            rtt_ns,
            iw_bytes: Setting::new(
                set.iw.map(bytes),
                self.first_window(bytes(self.constants.flow.iw)),
            ),
            ssthresh_bytes: Setting::new(set.ssthresh.map(threshold), threshold(values.ssthresh)),
            receiver_window_bytes: threshold(values.receiver_window),
            send_buffer_bytes: threshold(values.send_buffer),
            recovery: Setting::new(set.recovery, values.recovery),
            delayed_ack: Setting::new(set.delayed_ack, values.delayed_ack),
            acks_per_rtt: values.acks_per_rtt,
            transport: flow.transport,
            duplicate_acks: Setting::new(set.duplicate_acks, values.duplicate_acks),
            split_acks: values.split_acks,
            files: flow.files.map(|files| self.files(key, flow, files)).transpose()?,
            writes: self.writes(key, flow)?,
            receiver_window_until_ns: self.window_until(key, flow, values.receiver_window)?,
            handshake_delay_ns: self.handshake_delay(key, flow)?,
        })
    }

    /// The windows of a flow, and when its ACKs come.
    fn windows(
        &self,
        key: &str,
        flow: &FlowGroup,
        (set, values): (&FlowKeys, &FlowValues),
    ) -> Result<(), ScenarioError> {
        self.window(key, "iw", flow.own.iw, set.iw)?;
        let offered = |window| if let Threshold::At(window) = window { Some(window) } else { None };
        let own_offer = flow.own.receiver_window.and_then(offered);
        self.window(key, "receiver_window", own_offer, offered(values.receiver_window))?;
        let own_buffer = flow.own.send_buffer.and_then(offered);
        self.window(key, "send_buffer", own_buffer, offered(values.send_buffer))?;
        if values.acks_per_rtt > 0 && set.delayed_ack.is_some() {
            let own = flow.own.acks_per_rtt.map_or(String::new(), |_| format!("{key}."));
            let problem = "ACKs come by packets or by time; accepted: delayed_ack or acks_per_rtt";
            return Err(self.error(&format!("{own}acks_per_rtt"), problem));
        }
        Ok(())
    }

    /// QUIC's recovery knows one connection and whole ACKs.
    fn of_quic(&self, key: &str, flow: &FlowGroup, split_acks: u64) -> Result<(), ScenarioError> {
        if flow.files.is_some() {
            // What is late of a connection that is over would meet the next one's numbers.
            let problem = "found files with QUIC's recovery; accepted: one connection, with size";
            return Err(self.error(&format!("{key}.files"), problem));
        }
        if split_acks > 1 {
            let own = flow.own.split_acks.map_or(String::new(), |_| format!("{key}."));
            let problem = format!("{split_acks} parts; accepted with QUIC's recovery: 1");
            return Err(self.error(&format!("{own}split_acks"), problem));
        }
        Ok(())
    }

    /// TCP/Linux is an agent of ns-2, and its data never waits for a SYN's answer.
    fn agent(&self, key: &str, flow: &FlowGroup, recovery: Recovery) -> Result<(), ScenarioError> {
        let common = &self.scenario.endpoint;
        let profile = common.profile.unwrap_or_default();
        if recovery != Recovery::Ns2Linux {
            return Ok(());
        }
        if profile != Profile::Ns2 {
            let own = flow.own.recovery.map_or(String::new(), |_| format!("{key}."));
            let problem = format!("found profile {profile}; accepted: ns2");
            return Err(self.error(&format!("{own}recovery"), problem));
        }
        if common.switches.fast_open.unwrap_or_default() != FastOpen::Off {
            let problem = "with recovery ns2-linux data leaves with the SYN; accepted: off";
            return Err(self.error("fast_open", problem));
        }
        Ok(())
    }

    /// The profile's initial window. QUIC's has a limit in bytes (RFC 9002 section 7.2).
    fn first_window(&self, bytes: u64) -> u64 {
        match self.scenario.endpoint.profile {
            Some(Profile::Quic) => bytes.min(MOST_FIRST_BYTES.max(2 * self.packet.bytes())),
            _ => bytes,
        }
    }

    fn files(
        &self,
        key: &str,
        flow: &FlowGroup,
        files: Files,
    ) -> Result<ResolvedFiles, ScenarioError> {
        if flow.size.is_some() {
            let problem = "a flow has either size or files; accepted: one of the two";
            return Err(self.error(&format!("{key}.files"), problem));
        }
        let place = format!("{key}.files.size");
        if files.size.from == Size::default() {
            return Err(self.error(&place, "a file has one byte or more; accepted: 100KB..1MB"));
        }
        let bytes = files.size.until.bytes();
        if bytes.div_ceil(self.packet.bytes().max(1)) > MOST_IN_FLIGHT {
            let problem = format!("a file has at most {MOST_IN_FLIGHT} packets; accepted: 1GB");
            return Err(self.error(&place, problem));
        }
        let none = Between { from: Time::ZERO, until: Time::ZERO };
        let pause = files.pause.unwrap_or(none);
        let until = self.time(&format!("{key}.files.pause"), pause.until, Time::ZERO..=HOUR)?;
        Ok(ResolvedFiles {
            size_from_bytes: files.size.from.bytes(),
            size_until_bytes: bytes,
            pause_from_ns: pause.from.ns(),
            pause_until_ns: until,
            keep_alive: files.keep_alive.unwrap_or(false),
        })
    }

    /// Access delay per link and the round trip in all, over a path of `propagation`.
    fn access(
        &self,
        key: &str,
        flow: &FlowGroup,
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
    fn start(&self, key: &str, flow: &FlowGroup) -> Result<(u64, u64), ScenarioError> {
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
        self.after(&format!("{key}.stop"), flow.stop, Time::from_ns(latest))?;
        Ok((from.ns(), until.ns()))
    }

    pub(super) fn udp(
        &self,
        key: &str,
        udp: &Udp,
        links: &[ResolvedLink],
    ) -> Result<ResolvedUdp, ScenarioError> {
        let path = self.path(key, &udp.path, links)?;
        let start = udp.start.unwrap_or_default();
        self.before_end(&format!("{key}.start"), start)?;
        self.after(&format!("{key}.stop"), udp.stop, start)?;
        let wire = Size::from_bytes(self.wire_bytes());
        Ok(ResolvedUdp {
            rate_bps: udp.rate.bps(),
            poisson: udp.poisson.unwrap_or(false),
            on_off_ns: self.on_off(key, udp)?,
            start_ns: start.ns(),
            stop_ns: udp.stop.unwrap_or(self.duration).ns(),
            packet_bytes: self.size(&format!("{key}.packet"), udp.packet.unwrap_or(wire), 1)?,
            path,
        })
    }

    /// The mean times for which a source sends and pauses, ns.
    fn on_off(&self, key: &str, udp: &Udp) -> Result<Option<[u64; 2]>, ScenarioError> {
        let (on, off) = match (udp.on, udp.off) {
            (None, None) => return Ok(None),
            (Some(on), Some(off)) => (on, off),
            (on, _) => {
                let (key, other) = if on.is_some() {
                    (format!("{key}.on"), "off")
                } else {
                    (format!("{key}.off"), "on")
                };
                let problem = format!("`{other}` is missing; accepted: both, such as \"100ms\"");
                return Err(self.error(&key, problem));
            }
        };
        if udp.poisson == Some(true) {
            let problem = "a source pauses or is a Poisson process; accepted: one of the two";
            return Err(self.error(&format!("{key}.poisson"), problem));
        }
        let on = self.time(&format!("{key}.on"), on, SHORTEST..=HOUR)?;
        Ok(Some([on, self.time(&format!("{key}.off"), off, NANOSECOND..=HOUR)?]))
    }

    /// What data crosses that goes the other way over this path: the one link that has more of it
    /// than a delay.
    fn reversed(
        &self,
        key: &str,
        path: &[usize],
        links: &[ResolvedLink],
    ) -> Result<Vec<usize>, ScenarioError> {
        let key = format!("{key}.reverse");
        let has_back = |link: &&usize| links[**link].back.is_some();
        let Some(link) = path.iter().find(has_back) else {
            let problem = "no link of its path has a rate in that direction; accepted: `back = { \
                           rate = \"10Mbps\", buffer = \"100pkt\" }` on one of them";
            return Err(self.error(&key, problem));
        };
        let back = links[*link].back.as_ref();
        let bytes = self.wire_bytes();
        let wire = back.map_or(bytes, |back| back.elements.on_link(bytes));
        let problem = match back.and_then(|back| back.buffer) {
            None => "`back` has room for all that comes, so that no queue would end".to_owned(),
            Some(ResolvedBuffer::Bytes(bytes)) if bytes < wire => {
                format!("the buffer of `back` holds no packet of {wire} bytes")
            }
            Some(_) => return Ok(vec![links.len() + link]),
        };
        Err(self.error(&key, problem + "; accepted: `buffer = \"100pkt\"` in `back`"))
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
        let known = || links.iter().map(|link| link.name.as_str());
        let all = || known().collect::<Vec<_>>().join(", ");
        if names.is_empty() {
            let problem = format!("`path` is missing; accepted: a list of {}", all());
            return Err(self.error(key, problem));
        }
        let (mut path, mut taken) = (Vec::new(), HashSet::new());
        for (i, name) in names.iter().enumerate() {
            let place = || format!("{key}.path[{i}]");
            let index = self.links.get(name.as_str()).copied().ok_or_else(|| {
                let hint = hint(name, known());
                self.error(&place(), format!("no such link{hint}; accepted: {}", all()))
            })?;
            if !taken.insert(index) {
                let problem = "the path takes this link twice; accepted: each link once";
                return Err(self.error(&place(), problem));
            }
            path.push(index);
        }
        Ok(path)
    }
}

/// Rate of access links to a bottleneck of this rate, where none is given.
pub(crate) fn default_access_rate(slowest: u64) -> u64 {
    ACCESS_RATE.bps().max(slowest.saturating_mul(10))
}

/// RFC 9002 section 7.2.
const MOST_FIRST_BYTES: u64 = 14_720;
/// Access links are much faster than the bottleneck, or none of the papers' bursts appear.
const ACCESS_RATE: Rate = Rate::from_bps(1_000_000_000);
