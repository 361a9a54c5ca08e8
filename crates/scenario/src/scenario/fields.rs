//! Which keys each table of a scenario has, and what they read as.

use std::ops::RangeInclusive;

use super::{Dumbbell, Elements, Endpoint, FlowGroup, Link, MOST_FLOWS, Origin, Scenario, Udp};
use crate::document::Node;
use crate::error::ScenarioError;
use crate::expect::Expect;
use crate::keys::{FlowKeys, SwitchKeys};
use crate::read::{Fields, Read};
use crate::schema::Form;

impl Read for Scenario {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let scenario = Self {
            name: fields.read("name")?.unwrap_or_default(),
            title: fields.read("title")?,
            notes: fields.read("notes")?,
            source: fields.read("source")?,
            claims: fields.list("claims")?,
            controls: fields.list("controls")?,
            duration: fields.read("duration")?,
            seed: fields.count("seed", 0..=i64::MAX as u64)?,
            runs: fields.count("runs", 1..=MOST_RUNS)?,
            packet: fields.read("packet")?,
            headers: fields.read("headers")?,
            endpoint: Endpoint::from_fields(&mut fields)?,
            path: fields.read("path")?,
            links: fields.list("link")?,
            flows: fields.list("flow")?,
            udp: fields.list("udp")?,
            expect: fields.node("expect").map_or(Ok(Vec::new()), Expect::read_all)?,
            catalogue: fields.read("catalogue")?,
            origin: Origin::default(),
        };
        fields.finish()?;
        Ok(scenario)
    }
}

impl Endpoint {
    fn from_fields(fields: &mut Fields<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            profile: fields.read("profile")?,
            ns2_release: fields.read("ns2_release")?,
            flow: FlowKeys::read(fields)?,
            switches: SwitchKeys::read(fields)?,
        })
    }
}

impl Read for Dumbbell {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let path = Self {
            rate: fields.read("rate")?,
            rtt: fields.read("rtt")?,
            buffer: fields.read("buffer")?,
            ecn_threshold: fields.read("ecn_threshold")?,
            queue: fields.read("queue")?,
            access_delay: fields.read("access_delay")?,
            access_rate: fields.read("access_rate")?,
            access_times: fields.count("access_times", 1..=1_000)?,
            loss: fields.read("loss")?,
            drop: fields.list::<Nth>("drop")?.into_iter().map(|Nth(n)| n).collect(),
            elements: Elements::read(&mut fields)?,
        };
        fields.finish()?;
        Ok(path)
    }
}

impl Read for Link {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (name, rate, delay) =
            (fields.read("name")?, fields.read("rate")?, fields.read("delay")?);
        let buffer = fields.read("buffer")?;
        let ecn_threshold = fields.read("ecn_threshold")?;
        let queue = fields.read("queue")?;
        let loss = fields.read("loss")?;
        let drop = fields.list::<Nth>("drop")?.into_iter().map(|Nth(n)| n).collect();
        let elements = Elements::read(&mut fields)?;
        let name = name.ok_or_else(|| fields.missing("name", "name = \"satellite\""));
        let rate = match rate {
            None if !elements.has_rates() => {
                Err(fields.missing("rate", "rate = \"40Mbps\", or `rates` or `rate_trace`"))
            }
            rate => Ok(rate),
        };
        let delay = delay.ok_or_else(|| fields.missing("delay", "delay = \"50ms\", one way"));
        fields.finish()?;
        let (name, rate, delay) = (name?, rate?, delay?);
        Ok(Self { name, rate, delay, buffer, ecn_threshold, queue, loss, drop, elements })
    }
}

impl Read for FlowGroup {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let flow = Self {
            control: fields.read("control")?,
            count: fields.count("count", 1..=MOST_FLOWS)?,
            start: fields.read("start")?,
            starts: fields.read("starts")?,
            start_jitter: fields.read("start_jitter")?,
            stop: fields.read("stop")?,
            lifetime: fields.read("lifetime")?,
            size: fields.read("size")?,
            rtt: fields.read("rtt")?,
            access_delay: fields.read("access_delay")?,
            access_rate: fields.read("access_rate")?,
            writes: fields.list("writes")?,
            receiver_window_until: fields.read("receiver_window_until")?,
            handshake_delay: fields.read("handshake_delay")?,
            own: FlowKeys::read(&mut fields)?,
            transport: fields.read("transport")?,
            path: fields.list("path")?,
            reverse: fields.read("reverse")?,
            files: fields.read("files")?,
        };
        fields.finish()?;
        Ok(flow)
    }
}

impl Read for Udp {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let rate = fields.read("rate")?;
        let poisson = fields.read("poisson")?;
        let (on, off) = (fields.read("on")?, fields.read("off")?);
        let (start, stop) = (fields.read("start")?, fields.read("stop")?);
        let (packet, path) = (fields.read("packet")?, fields.list("path")?);
        let rate = rate.ok_or_else(|| fields.missing("rate", "rate = \"20Mbps\""));
        fields.finish()?;
        Ok(Self { rate: rate?, poisson, on, off, start, stop, packet, path })
    }
}

/// The number of a packet, from 1.
struct Nth(u64);

impl Nth {
    const RANGE: RangeInclusive<u64> = 1..=i64::MAX as u64;
}

impl Read for Nth {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        crate::read::count(node, Self::RANGE).map(Self)
    }

    fn form() -> Form {
        Form::Count(Self::RANGE)
    }
}

const MOST_RUNS: u64 = 10_000;
