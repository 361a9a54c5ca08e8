//! The links as written: `[path]` and `[[link]]`.

use std::ops::RangeInclusive;

use firstflight_control::quantity::{Buffer, Loss, MarkFrom, Rate, Time};
use serde::Serialize;

use super::{Elements, QueueSpec};
use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::{Fields, Read};
use crate::schema::Form;

/// What every link may have, in whichever table.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct LinkKeys {
    /// The rate, of bits on the link; the mean of `rates` or `rate_trace` when only those are
    /// written.
    pub rate: Option<Rate>,
    /// Room for waiting packets; one BDP when not written.
    pub buffer: Option<Buffer>,
    /// What must wait until packets with ECN are marked.
    pub ecn_threshold: Option<MarkFrom>,
    /// The queue discipline; drop-tail when not written.
    pub queue: Option<QueueSpec>,
    /// Random loss of data packets.
    pub loss: Option<Loss>,
    /// Data packets lost by their number of arrival, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<u64>,
    /// What else happens to packets on it.
    #[serde(flatten)]
    pub elements: Elements,
}

/// One bottleneck between fast access links: `[path]`.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Dumbbell {
    /// What the bottleneck has as any link.
    #[serde(flatten)]
    pub link: LinkKeys,
    /// Round-trip propagation delay of the bottleneck alone; access links come on top.
    pub rtt: Option<Time>,
    /// Propagation of each access link, one way, on top of `rtt`.
    pub access_delay: Option<Time>,
    /// Rate of the access links.
    pub access_rate: Option<Rate>,
    /// Rate of the access links as a multiple of the bottleneck's, where `access_rate` is not
    /// written.
    pub access_times: Option<u64>,
}

/// One link of a general network: `[[link]]`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Link {
    /// The name by which flows refer to it.
    pub name: String,
    /// One-way propagation; ACKs take as long back and do not queue.
    pub delay: Time,
    /// What it has as any link.
    #[serde(flatten)]
    pub link: LinkKeys,
}

impl LinkKeys {
    fn read(fields: &mut Fields<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            rate: fields.read("rate")?,
            buffer: fields.read("buffer")?,
            ecn_threshold: fields.read("ecn_threshold")?,
            queue: fields.read("queue")?,
            loss: fields.read("loss")?,
            drop: fields.list::<Nth>("drop")?.into_iter().map(|Nth(n)| n).collect(),
            elements: Elements::read(fields)?,
        })
    }
}

impl Read for Dumbbell {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let path = Self {
            rtt: fields.read("rtt")?,
            access_delay: fields.read("access_delay")?,
            access_rate: fields.read("access_rate")?,
            access_times: fields.count("access_times", 1..=1_000)?,
            link: LinkKeys::read(&mut fields)?,
        };
        fields.finish()?;
        Ok(path)
    }
}

impl Read for Link {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (name, delay) = (fields.read("name")?, fields.read("delay")?);
        let link = LinkKeys::read(&mut fields)?;
        let name = name.ok_or_else(|| fields.missing("name", "name = \"satellite\""));
        let has_rate = link.rate.is_some() || link.elements.has_rates();
        let rate = || fields.missing("rate", "rate = \"40Mbps\", or `rates` or `rate_trace`");
        let has_rate = has_rate.then_some(()).ok_or_else(rate);
        let delay = delay.ok_or_else(|| fields.missing("delay", "delay = \"50ms\", one way"));
        fields.finish()?;
        let name = name?;
        has_rate?;
        Ok(Self { name, delay: delay?, link })
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
