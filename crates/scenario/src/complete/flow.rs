//! Groups of flows: when they run, where they go, what they are given.

use std::collections::HashSet;

use firstflight_control::quantity::{Rate, Size, Threshold, Time, Window};
use firstflight_control::{ControlSpec, hint};
use serde::Serialize;

use super::base::base;
use super::limits::{HOUR, NANOSECOND};
use super::link::propagation;
use super::{Buffer, Completion, Link, MOST_IN_FLIGHT, Setting};
use crate::error::ScenarioError;
use crate::keys::{FlowKeys, FlowValues};
use crate::profile::{Carrier, FastOpen, Profile, Recovery};
use crate::scenario::{Files, FlowGroup, Write};

/// A group of equal flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Flow {
    /// Its own control; `None` takes the run's.
    pub control: Option<ControlSpec>,
    /// How many.
    pub count: u64,
    /// Earliest start; equal to the latest unless starts are random.
    #[serde(rename = "start_from_ns", serialize_with = "base")]
    pub start_from: Time,
    /// Latest start; each flow's start is drawn between the two.
    #[serde(rename = "start_until_ns", serialize_with = "base")]
    pub start_until: Time,
    /// Each starts up to this much later still, at random.
    #[serde(rename = "start_jitter_ns", serialize_with = "base")]
    pub start_jitter: Time,
    /// When all of them stop; `None` for the end of the run.
    #[serde(rename = "stop_ns", serialize_with = "base")]
    pub stop: Option<Time>,
    /// How long each flow runs, from its start.
    #[serde(rename = "lifetime_ns", serialize_with = "base")]
    pub lifetime: Option<Time>,
    /// How much payload each flow sends; `None` for no end.
    #[serde(rename = "size_bytes", serialize_with = "base")]
    pub size: Option<Size>,
    /// The links it passes, in order, by index.
    pub path: Vec<usize>,
    /// Its data goes the other way. Results have the key only where it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// What its data crosses: `path`, or the other direction of a link, numbered behind the links
    /// and in their order.
    #[serde(skip)]
    pub data_path: Vec<usize>,
    /// Propagation of each access link, one way; a round trip passes four of them.
    #[serde(rename = "access_delay_ns", serialize_with = "base")]
    pub access_delay: Time,
    /// Rate of the access links.
    #[serde(rename = "access_rate_bps", serialize_with = "base")]
    pub access_rate: Rate,
    /// Round-trip propagation delay between sender and receiver, access links included.
    #[serde(rename = "rtt_ns", serialize_with = "base")]
    pub rtt: Time,
    /// Initial window.
    #[serde(rename = "iw_bytes", serialize_with = "base")]
    pub iw: Setting<Size>,
    /// Initial ssthresh; `None` for no ssthresh.
    #[serde(rename = "ssthresh_bytes", serialize_with = "base")]
    pub ssthresh: Setting<Option<Size>>,
    /// Advertised window; `None` is unlimited.
    #[serde(rename = "receiver_window_bytes", serialize_with = "base")]
    pub receiver_window: Option<Size>,
    /// What its sender keeps that is not acknowledged; `None` is unlimited. Results have the key
    /// only where there is a limit.
    #[serde(rename = "send_buffer_bytes", serialize_with = "base")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Size>,
    /// Loss recovery.
    pub recovery: Setting<Recovery>,
    /// Duplicate ACKs that mean a loss to Reno and NewReno.
    pub duplicate_acks: Setting<u64>,
    /// Packets per ACK.
    pub delayed_ack: Setting<u64>,
    /// ACKs per round trip instead; 0 for none. Results have the key only where there are some.
    #[serde(skip_serializing_if = "is_zero")]
    pub acks_per_rtt: u64,
    /// The transport; `None` for the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Carrier>,
    /// In how many parts the receiver sends an ACK; 1 for a whole ACK.
    pub split_acks: u64,
    /// Files one after the other instead of one stream.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "Files::in_results")]
    pub files: Option<Files>,
    /// What the application writes when: `size` in all, not all at once.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "Write::in_results")]
    pub writes: Vec<Write>,
    /// How long after its start the advertised window holds.
    #[serde(rename = "receiver_window_until_ns", serialize_with = "base")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_window_until: Option<Time>,
    /// How much later than usual the receiver answers the first packet.
    #[serde(rename = "handshake_delay_ns", serialize_with = "base")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_delay: Option<Time>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Flow {
    /// How long an ACK may wait where there are so many per round trip.
    pub fn ack_delay(&self) -> Option<Time> {
        self.rtt.ns().checked_div(self.acks_per_rtt).map(Time::from_ns)
    }

    /// The first key that is written of those that only simulated networks have.
    pub fn simulated_key(&self) -> Option<&'static str> {
        let written = [
            (!self.writes.is_empty(), "writes"),
            (self.receiver_window_until.is_some(), "receiver_window_until"),
            (self.handshake_delay.is_some(), "handshake_delay"),
        ];
        written.iter().find(|(is, _)| *is).map(|(_, key)| *key)
    }

    /// Every write, by its time from the start of the flow; times rise.
    pub fn each_write(&self) -> impl Iterator<Item = (Time, Size)> + '_ {
        self.writes.iter().flat_map(Write::each)
    }
}

impl Completion<'_> {
    pub(super) fn flow(
        &self,
        key: &str,
        flow: &FlowGroup,
        links: &[Link],
    ) -> Result<Flow, ScenarioError> {
        let path = self.path(key, &flow.path, links)?;
        let (access_delay, rtt) = self.access(key, flow, propagation(links, &path))?;
        let reverse = flow.reverse.unwrap_or(false);
        let data_path = if reverse { self.reversed(key, &path, links)? } else { path.clone() };
        let slowest = path.iter().map(|i| links[*i].rate).min().unwrap_or(ACCESS_RATE);
        let dumbbell = self.scenario.path.as_ref();
        let access_rate = flow.access_rate.or(dumbbell.and_then(|path| path.access_rate));
        let default_rate = match dumbbell.and_then(|path| path.access_times) {
            Some(times) => Rate::from_bps(slowest.bps().saturating_mul(times)),
            None => default_access_rate(slowest),
        };
        let (start_from, start_until) = self.start(key, flow)?;
        let set = flow.own.over(&self.scenario.endpoint.flow);
        let values = set.or(&self.constants.flow);
        self.windows(key, flow, (&set, &values))?;
        self.agent(key, flow, values.recovery)?;
        if values.recovery == Recovery::Quic {
            self.of_quic(key, flow, values.split_acks)?;
        }
        flow.files.map_or(Ok(()), |files| self.files(key, flow, files))?;
        self.writes(key, flow)?;
        let bytes = |window: Window| self.bytes(window, links, &data_path);
        let threshold = |threshold: Threshold| match threshold {
            Threshold::None => None,
            Threshold::At(window) => Some(bytes(window)),
        };
        Ok(Flow {
            control: flow.control.clone(),
            count: flow.count.unwrap_or(1),
            start_from,
            start_until,
            start_jitter: flow.start_jitter.unwrap_or_default(),
            stop: flow.stop,
            lifetime: flow.lifetime,
            size: self.size_in_all(flow),
            path: path.clone(),
            reverse,
            data_path: data_path.clone(),
            access_delay,
            access_rate: access_rate.unwrap_or(default_rate),
            rtt,
            iw: Setting::new(set.iw.map(bytes), self.first_window(bytes(self.constants.flow.iw))),
            ssthresh: Setting::new(set.ssthresh.map(threshold), threshold(values.ssthresh)),
            receiver_window: threshold(values.receiver_window),
            send_buffer: threshold(values.send_buffer),
            recovery: Setting::new(set.recovery, values.recovery),
            delayed_ack: Setting::new(set.delayed_ack, values.delayed_ack),
            acks_per_rtt: values.acks_per_rtt,
            transport: flow.transport,
            duplicate_acks: Setting::new(set.duplicate_acks, values.duplicate_acks),
            split_acks: values.split_acks,
            files: flow.files,
            writes: flow.writes.clone(),
            receiver_window_until: self.window_until(key, flow, values.receiver_window)?,
            handshake_delay: self.handshake_delay(key, flow)?,
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
        let limit = |window| if let Threshold::At(window) = window { Some(window) } else { None };
        let own_window = flow.own.receiver_window.and_then(limit);
        self.window(key, "receiver_window", own_window, limit(values.receiver_window))?;
        let own_buffer = flow.own.send_buffer.and_then(limit);
        self.window(key, "send_buffer", own_buffer, limit(values.send_buffer))?;
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
            // Late packets of one connection would be taken for packets of the next.
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
    fn first_window(&self, size: Size) -> Size {
        match self.scenario.endpoint.profile {
            Some(Profile::Quic) => {
                size.min(Size::from_bytes(MOST_FIRST_BYTES.max(2 * self.packet.bytes())))
            }
            _ => size,
        }
    }

    fn files(&self, key: &str, flow: &FlowGroup, files: Files) -> Result<(), ScenarioError> {
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
        self.time(&format!("{key}.files.pause"), files.pause.until, Time::ZERO..=HOUR).map(drop)
    }

    /// Access delay per link and the round trip in all, over a path of `propagation`.
    fn access(
        &self,
        key: &str,
        flow: &FlowGroup,
        propagation: Time,
    ) -> Result<(Time, Time), ScenarioError> {
        let with_access = |delay: Time| (delay, Time::from_ns(propagation.ns() + 4 * delay.ns()));
        let Some(rtt) = flow.rtt else {
            let common = self.scenario.path.as_ref().and_then(|path| path.access_delay);
            let own = flow.access_delay.is_some();
            let place =
                if own { format!("{key}.access_delay") } else { "path.access_delay".into() };
            let delay = flow.access_delay.or(common).unwrap_or_default();
            let delay = self.time(&place, delay, Time::ZERO..=HOUR)?;
            return Ok(with_access(delay));
        };
        let place = format!("{key}.rtt");
        if flow.access_delay.is_some() {
            let problem = "a flow has either rtt or access_delay; accepted: one of the two";
            return Err(self.error(&place, problem));
        }
        let rtt = self.time(&place, rtt, NANOSECOND..=HOUR)?;
        if rtt < propagation {
            let problem = format!(
                "shorter than its path's own {propagation}; accepted: {propagation} or more"
            );
            return Err(self.error(&place, problem));
        }
        // Four equal access links: up to 3 ns are lost.
        Ok(with_access(Time::from_ns((rtt.ns() - propagation.ns()) / 4)))
    }

    /// Earliest and latest start of a group, checked against its end and the run's.
    fn start(&self, key: &str, flow: &FlowGroup) -> Result<(Time, Time), ScenarioError> {
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
        Ok((from, until))
    }

    /// The links of data that goes the other way over this path: the reverse direction of the one
    /// link on which that is more than a delay.
    fn reversed(
        &self,
        key: &str,
        path: &[usize],
        links: &[Link],
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
        let problem = match back.map_or(Buffer::Unlimited, |back| back.buffer) {
            Buffer::Unlimited => {
                "`back` has room for all that comes, so that no queue would end".to_owned()
            }
            Buffer::Bytes(bytes) if bytes < wire => {
                format!("the buffer of `back` holds no packet of {wire} bytes")
            }
            _ => return Ok(vec![links.len() + link]),
        };
        Err(self.error(&key, problem + "; accepted: `buffer = \"100pkt\"` in `back`"))
    }

    pub(super) fn path(
        &self,
        key: &str,
        names: &[String],
        links: &[Link],
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
pub(crate) fn default_access_rate(slowest: Rate) -> Rate {
    ACCESS_RATE.max(Rate::from_bps(slowest.bps().saturating_mul(10)))
}

/// RFC 9002 section 7.2.
const MOST_FIRST_BYTES: u64 = 14_720;
/// Access links are much faster than the bottleneck, or none of the papers' bursts appear.
const ACCESS_RATE: Rate = Rate::from_bps(1_000_000_000);
