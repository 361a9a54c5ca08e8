//! What applications write by the clock, and receivers that open their window late.

use firstflight_control::quantity::{Size, Threshold, Time};

use super::limits::{HOUR, NANOSECOND};
use super::{Completion, MOST_IN_FLIGHT};
use crate::error::ScenarioError;
use crate::scenario::{FlowGroup, MOST_WRITES, Write};

impl Completion<'_> {
    /// What a flow sends in all; `None` without end.
    pub(super) fn size_in_all(&self, flow: &FlowGroup) -> Option<Size> {
        let each = |write: &Write| write.size.bytes().saturating_mul(write.count);
        let written =
            || Size::from_bytes(flow.writes.iter().map(each).fold(0, u64::saturating_add));
        flow.size.or_else(|| (!flow.writes.is_empty()).then(written))
    }

    pub(super) fn writes(&self, key: &str, flow: &FlowGroup) -> Result<(), ScenarioError> {
        let (mut last, mut total) = (None, 0_u64);
        for (i, write) in flow.writes.iter().enumerate() {
            let place = format!("{key}.writes[{i}]");
            let no =
                |what: &str, problem: &str| Err(self.error(&format!("{place}{what}"), problem));
            if flow.size.is_some() || flow.files.is_some() {
                let problem = "a flow has one of size, files and writes; accepted: one of them";
                return Err(self.error(&format!("{key}.writes"), problem));
            }
            if write.size == Size::default() {
                return no(".size", "a write has one byte or more; accepted: 200KB");
            }
            if write.count > 1 {
                self.time(&format!("{place}.every"), write.every, NANOSECOND..=HOUR)?;
            }
            let rises = last.map_or(write.at == Time::ZERO, |last| write.at.ns() > last);
            if !rises {
                return no("", "times do not rise from 0s; accepted: `at` later than those before");
            }
            let every_ns = write.every.ns();
            let end = write.at.ns().saturating_add((write.count - 1).saturating_mul(every_ns));
            let start = flow.starts.map_or(flow.start.unwrap_or_default(), |starts| starts.until);
            let latest = start.ns().saturating_add(flow.start_jitter.unwrap_or_default().ns());
            self.before_end(&place, Time::from_ns(latest.saturating_add(end)))?;
            total += write.count;
            if total > MOST_WRITES {
                return no("", &format!("{total} writes in all; accepted: 1 to {MOST_WRITES}"));
            }
            last = Some(end);
        }
        let packets = self.size_in_all(flow).map(|size| size.bytes() / self.packet.bytes().max(1));
        if !flow.writes.is_empty() && packets.is_some_and(|packets| packets > MOST_IN_FLIGHT) {
            let problem = format!("more than {MOST_IN_FLIGHT} packets in all; accepted: fewer");
            return Err(self.error(&format!("{key}.writes"), problem));
        }
        Ok(())
    }

    pub(super) fn handshake_delay(
        &self,
        key: &str,
        flow: &FlowGroup,
    ) -> Result<Option<Time>, ScenarioError> {
        let place = format!("{key}.handshake_delay");
        flow.handshake_delay.map(|time| self.time(&place, time, NANOSECOND..=HOUR)).transpose()
    }

    /// How long the advertised window holds.
    pub(super) fn window_until(
        &self,
        key: &str,
        flow: &FlowGroup,
        window: Threshold,
    ) -> Result<Option<Time>, ScenarioError> {
        let place = format!("{key}.receiver_window_until");
        let Some(until) = flow.receiver_window_until else { return Ok(None) };
        if window == Threshold::None {
            let problem = "no window would open; accepted: `receiver_window` with it";
            return Err(self.error(&place, problem));
        }
        if flow.files.is_some() {
            let problem = "each file has a connection of its own; accepted: size or writes";
            return Err(self.error(&place, problem));
        }
        self.time(&place, until, NANOSECOND..=HOUR).map(Some)
    }
}
