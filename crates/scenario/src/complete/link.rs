//! A link: its rate, delays, buffer or queue, losses and elements.

use firstflight_control::quantity::{self, Bursts, Loss, MarkFrom, Rate, Size, Time, Window};
use firstflight_link::{Buffer, Discipline, Sizes};
use serde::{Serialize, Serializer};

use super::base::base;
use super::limits::{HOUR, NANOSECOND};
use super::{Completion, DUMBBELL, Elements, Line, MOST_IN_FLIGHT};
use crate::error::ScenarioError;
use crate::scenario::{self, QueueSpec};

/// A link. Data packets queue here; an ACK takes the time of the reverse path, or crosses a link of
/// its own where `back` or `delays` is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Link {
    /// Its name, `bottleneck` for a dumbbell.
    pub name: String,
    /// The rate of bits on the link.
    #[serde(rename = "rate_bps", serialize_with = "base")]
    pub rate: Rate,
    /// Propagation of data, one way.
    #[serde(rename = "delay_ns", serialize_with = "base")]
    pub delay: Time,
    /// Propagation of ACKs on the reverse path.
    #[serde(rename = "return_delay_ns", serialize_with = "base")]
    pub return_delay: Time,
    /// Room for waiting packets.
    #[serde(serialize_with = "base")]
    pub buffer: Buffer,
    /// Packets waiting from which on packets with ECN are marked; `None` marks none.
    #[serde(rename = "ecn_threshold_packets", skip_serializing_if = "Option::is_none")]
    pub ecn_threshold: Option<u64>,
    /// What stands in place of the buffer, which is its limit then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Random loss of data packets: the mean as `loss_ppb`, and what makes its bursts as `bursts`.
    #[serde(flatten, serialize_with = "in_ppb")]
    pub loss: Loss,
    /// Data packets lost by their number of arrival, from 1, rising.
    pub drop: Vec<u64>,
    /// Its elements, all of which results name.
    #[serde(flatten)]
    pub elements: Elements,
    /// The other direction, where it is more than a delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<Box<Back>>,
}

impl Link {
    /// The key of the link's queue discipline, or else of its first element.
    pub fn beyond_drop_tail(&self) -> Option<&'static str> {
        self.queue.as_ref().map(|_| "queue").or(self.elements.written.key())
    }

    /// Describes each element of the link in a few words, for the headers of results.
    pub fn words(&self) -> impl Iterator<Item = String> + '_ {
        self.elements.written.words(self.back.as_ref().map(|back| back.words()))
    }
}

/// The reverse path of ACKs over a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Back {
    /// Its rate.
    #[serde(rename = "rate_bps", serialize_with = "base")]
    pub rate: Rate,
    /// Room for waiting ACKs.
    #[serde(serialize_with = "base")]
    pub buffer: Buffer,
    /// Random loss of ACKs, as of the link's data.
    #[serde(flatten, serialize_with = "in_ppb")]
    pub loss: Loss,
    /// Elements that ACKs cross, and the link's delays among them.
    #[serde(flatten)]
    pub elements: Elements,
}

impl Back {
    /// Whether an ACK may be lost on it.
    pub fn may_lose(&self) -> bool {
        self.buffer != Buffer::Unlimited
            || self.loss != Loss::default()
            || self.elements.buckets().next().is_some()
    }

    fn words(&self) -> String {
        let mut words = format!("back at {}", self.rate);
        if self.loss != Loss::default() {
            words += &format!(" with loss {}", self.loss);
        }
        self.elements.written.words(None).for_each(|more| words += &format!(" with {more}"));
        words
    }
}

/// A queue that is not drop-tail.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Queue {
    /// It as written.
    pub written: QueueSpec,
    /// Its rules on this link.
    pub discipline: Discipline,
}

impl Serialize for Queue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written.serialize(serializer)
    }
}

impl Completion<'_> {
    /// The links. Every buffer is [`UNSIZED`] until [`Self::buffers`] sizes it.
    pub(super) fn links(&self) -> Result<Vec<Link>, ScenarioError> {
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

    fn dumbbell(&self, path: Option<&scenario::Dumbbell>) -> Result<Link, ScenarioError> {
        let default = scenario::Dumbbell::default();
        let path = path.unwrap_or(&default);
        let rtt = self.time("path.rtt", path.rtt.unwrap_or(RTT), NANOSECOND..=HOUR)?;
        let delay = rtt.ns() / 2;
        let delays = (Time::from_ns(delay), Time::from_ns(rtt.ns() - delay));
        self.unsized_link("path", DUMBBELL, delays, &path.link)
    }

    fn link(&self, index: usize, link: &scenario::Link) -> Result<Link, ScenarioError> {
        let key = format!("link[{index}].name");
        if link.name.is_empty() || self.links.get(link.name.as_str()) != Some(&index) {
            return Err(
                self.error(&key, "no name of its own; accepted: a name that no other link has")
            );
        }
        let delay = self.time(&format!("link[{index}].delay"), link.delay, Time::ZERO..=HOUR)?;
        self.unsized_link(&format!("link[{index}]"), &link.name, (delay, delay), &link.link)
    }

    /// The link whose table has this name, of these delays of data and ACKs.
    fn unsized_link(
        &self,
        table: &str,
        name: &str,
        (delay, return_delay): (Time, Time),
        keys: &scenario::LinkKeys,
    ) -> Result<Link, ScenarioError> {
        let rate = self.rate(table, keys.rate, &keys.elements)?;
        let rtt = Time::from_ns(delay.ns() + return_delay.ns());
        let elements = self.elements(table, &keys.elements, None)?;
        Ok(Link {
            name: name.to_owned(),
            rate,
            delay,
            return_delay,
            buffer: UNSIZED,
            ecn_threshold: None,
            queue: None,
            loss: keys.loss.unwrap_or_default(),
            drop: rising(&keys.drop),
            back: self.back(table, &keys.elements, (rate, rtt), elements.delays.as_ref())?,
            elements,
        })
    }

    /// What is written of the link of this place, and the name of its table.
    fn written(&self, place: usize) -> (String, Option<&scenario::LinkKeys>) {
        match self.scenario.links.get(place) {
            Some(link) => (format!("link[{place}]"), Some(&link.link)),
            None => ("path".to_owned(), self.scenario.path.as_ref().map(|path| &path.link)),
        }
    }

    /// Sizes the buffers. The round trip of a BDP is that of the longest path over the link,
    /// access links excluded: the papers' "BDP" is the bottleneck's own.
    pub(super) fn buffers<'p>(
        &self,
        links: &mut [Link],
        paths: impl Iterator<Item = &'p Vec<usize>>,
    ) -> Result<(), ScenarioError> {
        let mut round_trips: Vec<Time> =
            (0..links.len()).map(|link| propagation(links, &[link])).collect();
        for path in paths {
            let rtt = propagation(links, path);
            for link in path {
                round_trips[*link] = round_trips[*link].max(rtt);
            }
        }
        for (i, link) in links.iter_mut().enumerate() {
            let (key, keys) = self.written(i);
            let (rate, wire) = (link.rate, link.elements.on_link(self.wire_bytes()));
            let packets = |time, milli| bdp_packets(rate, time, wire, milli).max(1);
            let sizes = Sizes { wire, bdp: &|milli| packets(round_trips[i], milli) };
            link.queue = self.queue(&key, keys, &sizes)?;
            let threshold = keys.and_then(|keys| keys.ecn_threshold);
            link.ecn_threshold = threshold.map(|threshold| match threshold {
                MarkFrom::Packets(n) => n,
                MarkFrom::Bdp(milli) => packets(round_trips[i], milli),
                MarkFrom::Time(time) => packets(time, 1000),
            });
            link.buffer = match keys.and_then(|keys| keys.buffer).unwrap_or(BUFFER) {
                quantity::Buffer::Packets(n) => Buffer::Packets(n),
                quantity::Buffer::Bytes(n) if n < wire => {
                    let problem = format!("the buffer holds no packet of {wire} bytes; accepted: ");
                    let problem = problem + "room for one packet or more";
                    return Err(self.error(&format!("{key}.buffer"), problem));
                }
                quantity::Buffer::Bytes(n) => Buffer::Bytes(n),
                quantity::Buffer::Bdp(milli) => Buffer::Packets(packets(round_trips[i], milli)),
            };
            if let Some(queue) = &link.queue {
                link.buffer = queue.discipline.room();
            }
            let pipe = bdp_packets(rate, round_trips[i], wire, 1000);
            let waiting = link.buffer.packets_of(wire);
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
    pub(super) fn marks(&self, links: &[Link]) -> Result<(), ScenarioError> {
        let marking = links.iter().position(|link| link.ecn_threshold.is_some());
        let Some(at) = marking.filter(|_| self.scenario.endpoint.switches.ecn != Some(true)) else {
            return Ok(());
        };
        let (key, _) = self.written(at);
        let problem = "no flow has packets to mark; accepted: `ecn = true` with it";
        Err(self.error(&format!("{key}.ecn_threshold"), problem))
    }

    /// The rate of the link whose table has this name: what is written, the mean of its schedule or
    /// trace, or the default.
    fn rate(
        &self,
        table: &str,
        written: Option<Rate>,
        elements: &scenario::Elements,
    ) -> Result<Rate, ScenarioError> {
        if let Some(rate) = written {
            return Ok(rate);
        }
        let Some(line) = Line::written(elements) else { return Ok(RATE) };
        // What is no schedule is refused with its elements.
        let is_none =
            !elements.rates.is_empty() && elements.rates.iter().all(|it| it.rate.bps() == 0);
        match line.usual_bps(self.duration.ns()) {
            0 if is_none => Ok(RATE),
            0 => {
                let key = if elements.rates.is_empty() { "rate_trace" } else { "rates" };
                let problem = "nothing would be sent within the run, so that its mean is no rate; \
                               accepted: `rate` beside it, or a rate above 0 before the end";
                Err(self.error(&format!("{table}.{key}"), problem))
            }
            bps => Ok(Rate::from_bps(bps)),
        }
    }

    /// The queue of the link whose table has this name and these keys; `None` is drop-tail.
    fn queue(
        &self,
        table: &str,
        keys: Option<&scenario::LinkKeys>,
        sizes: &Sizes<'_>,
    ) -> Result<Option<Queue>, ScenarioError> {
        let Some(queue) = keys.and_then(|keys| keys.queue.as_ref()) else { return Ok(None) };
        let discipline = queue
            .resolve(sizes)
            .map_err(|problem| self.error(&format!("{table}.queue"), problem))?;
        let Some(discipline) = discipline else { return Ok(None) };
        for (key, instead) in [("buffer", "its `limit`"), ("ecn_threshold", "its own marks")] {
            let key = format!("{table}.{key}");
            if self.scenario.is_written(&key) {
                let problem = format!("beside `queue`; accepted: {queue} with {instead}");
                return Err(self.error(&key, problem));
            }
        }
        Ok(Some(Queue { written: queue.clone(), discipline }))
    }

    /// A window of a flow on this path, whose BDP is that of the buffers: the slowest link's rate
    /// times the propagation without access links.
    pub(super) fn bytes(&self, window: Window, links: &[Link], path: &[usize]) -> Size {
        let rate = path.iter().map(|i| rate(links, *i)).min().unwrap_or(RATE);
        let rtt = propagation(links, path);
        let wire = frame_bytes(links, path, self.wire_bytes());
        Size::from_bytes(window.bytes(self.packet, |milli| bdp_packets(rate, rtt, wire, milli)))
    }
}

/// The rate in a direction, by its number on a flow's data path.
pub(crate) fn rate(links: &[Link], number: usize) -> Rate {
    let back = |link: &Link| link.back.as_ref().map_or(link.rate, |it| it.rate);
    match number.checked_sub(links.len()) {
        None => links[number].rate,
        Some(of) => back(&links[of]),
    }
}

/// What a packet of so many bytes takes on the link of a data path where it takes most.
pub(crate) fn frame_bytes(links: &[Link], path: &[usize], bytes: u64) -> u64 {
    let elements = |number: &usize| match number.checked_sub(links.len()) {
        None => Some(&links[*number].elements),
        Some(of) => links[of].back.as_ref().map(|back| &back.elements),
    };
    let framed = path.iter().filter_map(elements).map(|elements| elements.on_link(bytes));
    framed.max().unwrap_or(bytes)
}

/// `milli`/1000 of the bandwidth-delay product in packets of `wire` bytes, to the nearest.
pub(crate) fn bdp_packets(rate: Rate, rtt: Time, wire: u64, milli: u64) -> u64 {
    let bits = u128::from(rate.bps()) * u128::from(rtt.ns()) * u128::from(milli);
    let packet_bits = 8 * 1_000 * 1_000_000_000 * u128::from(wire.max(1));
    let packets = (bits + packet_bits / 2) / packet_bits;
    u64::try_from(packets).unwrap_or(u64::MAX)
}

fn in_ppb<S: Serializer>(loss: &Loss, serializer: S) -> Result<S::Ok, S::Error> {
    let bursts = match *loss {
        Loss::Independent(_) => None,
        Loss::Bursts(Bursts { to_bad, to_good, in_good, in_bad }) => Some(BurstsInPpb {
            to_bad_ppb: to_bad.ppb(),
            to_good_ppb: to_good.ppb(),
            in_good_ppb: in_good.ppb(),
            in_bad_ppb: in_bad.ppb(),
        }),
    };
    LossInPpb { loss_ppb: loss.mean().ppb(), bursts }.serialize(serializer)
}

#[derive(Serialize)]
struct LossInPpb {
    loss_ppb: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bursts: Option<BurstsInPpb>,
}

#[derive(Serialize)]
struct BurstsInPpb {
    to_bad_ppb: u64,
    to_good_ppb: u64,
    in_good_ppb: u64,
    in_bad_ppb: u64,
}

/// Two-way propagation over the links of a path, whichever way data takes.
pub(super) fn propagation(links: &[Link], path: &[usize]) -> Time {
    let link = |i: &usize| &links[i % links.len()];
    Time::from_ns(path.iter().map(link).map(|it| it.delay.ns() + it.return_delay.ns()).sum())
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
const BUFFER: quantity::Buffer = quantity::Buffer::Bdp(1000);
/// Stands in until the paths are known.
const UNSIZED: Buffer = Buffer::Packets(1);
