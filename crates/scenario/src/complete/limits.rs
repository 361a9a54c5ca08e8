//! The limits of values; an error names the value's place.

use std::ops::RangeInclusive;

use firstflight_control::quantity::{Size, Time, Window};

use super::{Completion, MOST_IN_FLIGHT};
use crate::error::ScenarioError;

impl Completion<'_> {
    pub(super) fn error(&self, key: &str, problem: impl Into<String>) -> ScenarioError {
        self.scenario.origin.error(key, problem)
    }

    pub(super) fn time(
        &self,
        key: &str,
        time: Time,
        accepted: RangeInclusive<Time>,
    ) -> Result<Time, ScenarioError> {
        if accepted.contains(&time) {
            return Ok(time);
        }
        let (from, to) = accepted.into_inner();
        let from = match from {
            NANOSECOND => "more than 0s".to_owned(),
            SHORTEST => format!("at least {from}"),
            from => from.to_string(),
        };
        let hours = to.ns() / HOUR.ns();
        Err(self.error(key, format!("out of range; accepted: {from}, at most {hours}h")))
    }

    pub(super) fn size(&self, key: &str, size: Size, least: u64) -> Result<Size, ScenarioError> {
        if (least..=MOST_PACKET).contains(&size.bytes()) {
            return Ok(size);
        }
        Err(self.error(key, format!("out of range; accepted: {least}B to {MOST_PACKET}B")))
    }

    /// A window in bytes must hold a packet, and none is larger than any path; `own`: whether
    /// the flow or the scenario set it.
    pub(super) fn window(
        &self,
        key: &str,
        name: &str,
        own: Option<Window>,
        window: Option<Window>,
    ) -> Result<(), ScenarioError> {
        let place = if own.is_some() { format!("{key}.{name}") } else { name.to_owned() };
        let packet = self.packet;
        // A share of the BDP is a packet at least, and paths are limited.
        let bytes = window.map_or(packet.bytes(), |window| window.bytes(packet, |_| 1));
        if bytes < packet.bytes() {
            let problem = format!("less than a packet of {packet}; accepted: 1pkt or more");
            return Err(self.error(&place, problem));
        }
        if bytes / packet.bytes() > MOST_IN_FLIGHT {
            let problem =
                format!("more than any path holds; accepted: 1pkt to {MOST_IN_FLIGHT}pkt");
            return Err(self.error(&place, problem));
        }
        Ok(())
    }

    pub(super) fn before_end(&self, key: &str, start: Time) -> Result<(), ScenarioError> {
        if start < self.duration {
            return Ok(());
        }
        let duration = self.duration;
        Err(self.error(key, format!("the run is over at {duration}; accepted: a start before it")))
    }

    pub(super) fn after(
        &self,
        key: &str,
        stop: Option<Time>,
        start: Time,
    ) -> Result<(), ScenarioError> {
        if stop.is_none_or(|stop| stop > start) {
            return Ok(());
        }
        let problem = format!("stops before or as it starts ({start}); accepted: a stop after it");
        Err(self.error(key, problem))
    }
}

pub(super) const NANOSECOND: Time = Time::from_ns(1);
/// The shortest time between repetitions that go on while nothing is sent: one line of a file with
/// a shorter time would cost hours. A slot of 5G lasts 125 us (3GPP TS 38.211, 120 kHz), the finest
/// retransmission timers proposed are of 200 us (Vasudevan and others, SIGCOMM 2009).
pub(super) const SHORTEST: Time = Time::from_ns(100_000);
pub(super) const HOUR: Time = Time::from_ms(3_600_000);
/// The simulator's clock has room for 19 hours.
pub(super) const HALF_DAY: Time = Time::from_ms(12 * 3_600_000);
/// The largest IP packet, in bytes.
const MOST_PACKET: u64 = 65_535;
