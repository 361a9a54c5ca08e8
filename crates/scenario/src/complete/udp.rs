//! Sources without congestion control.

use firstflight_control::quantity::{Rate, Size, Time};
use serde::Serialize;

use super::base::base;
use super::limits::{HOUR, NANOSECOND, SHORTEST};
use super::{Completion, Link};
use crate::error::ScenarioError;
use crate::scenario;

/// A source without congestion control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Udp {
    /// The rate on the link, headers included, while it sends.
    #[serde(rename = "rate_bps", serialize_with = "base")]
    pub rate: Rate,
    /// Packets come as a Poisson process. Results have the key only where it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub poisson: bool,
    /// The mean times for which it sends and pauses, if it pauses.
    #[serde(rename = "on_off_ns", serialize_with = "base")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_off: Option<[Time; 2]>,
    /// When it begins to send.
    #[serde(rename = "start_ns", serialize_with = "base")]
    pub start: Time,
    /// When it stops.
    #[serde(rename = "stop_ns", serialize_with = "base")]
    pub stop: Time,
    /// Size of its packets on the link.
    #[serde(rename = "packet_bytes", serialize_with = "base")]
    pub packet: Size,
    /// Links in the order of travel, by index.
    pub path: Vec<usize>,
}

impl Udp {
    /// What it sends, in a few words.
    pub fn words(&self) -> String {
        let rate = self.rate;
        match self.on_off {
            Some([on, off]) => format!("UDP at {rate} for {on} in {off} of pause"),
            None if self.poisson => format!("Poisson UDP at {rate}"),
            None => format!("UDP at {rate}"),
        }
    }
}

impl Completion<'_> {
    pub(super) fn udp(
        &self,
        key: &str,
        udp: &scenario::Udp,
        links: &[Link],
    ) -> Result<Udp, ScenarioError> {
        let path = self.path(key, &udp.path, links)?;
        let start = udp.start.unwrap_or_default();
        self.before_end(&format!("{key}.start"), start)?;
        self.after(&format!("{key}.stop"), udp.stop, start)?;
        let wire = Size::from_bytes(self.wire_bytes());
        Ok(Udp {
            rate: udp.rate,
            poisson: udp.poisson.unwrap_or(false),
            on_off: self.on_off(key, udp)?,
            start,
            stop: udp.stop.unwrap_or(self.duration),
            packet: self.size(&format!("{key}.packet"), udp.packet.unwrap_or(wire), 1)?,
            path,
        })
    }

    /// The mean times for which a source sends and pauses.
    fn on_off(&self, key: &str, udp: &scenario::Udp) -> Result<Option<[Time; 2]>, ScenarioError> {
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
}
