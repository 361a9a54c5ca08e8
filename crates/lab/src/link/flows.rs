//! What a direction carried of each flow, by protocol and ports.

use std::collections::BTreeMap;

use super::packet;

/// A flow's packets in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowSeen {
    /// When the first came to the link, ns of the measured period.
    pub(crate) first_ns: u64,
    /// When the last with payload was due at the other end, ns of the measured period.
    pub(crate) last_ns: u64,
    /// Packets that came, dropped and lost ones too.
    pub(crate) packets: u64,
    /// Packets with payload that were handed on.
    pub(crate) delivered_packets: u64,
    /// Payload of TCP or UDP that was handed on, bytes.
    pub(crate) delivered_bytes: u64,
}

/// All flows of a direction.
#[derive(Debug, Default)]
pub(crate) struct Flows(BTreeMap<(u8, u16, u16), FlowSeen>);

impl Flows {
    /// A packet came, which will be due at the other end at `due` unless it is gone; times are of
    /// the measured period.
    pub(crate) fn note(&mut self, now: u64, due: Option<u64>, packet: &[u8]) {
        let Some((key, payload)) = key_and_payload(packet) else { return };
        self.came(now, key);
        if let Some(due) = due {
            self.leaves(due, key, payload);
        }
    }

    /// A packet of a flow came.
    pub(crate) fn came(&mut self, now: u64, key: (u8, u16, u16)) {
        if self.0.len() >= MOST_FLOWS && !self.0.contains_key(&key) {
            return;
        }
        let seen = self.0.entry(key).or_insert(FlowSeen { first_ns: now, ..FlowSeen::default() });
        seen.packets += 1;
    }

    /// A packet of a flow that came will be due at the other end.
    pub(crate) fn leaves(&mut self, due: u64, key: (u8, u16, u16), payload: u64) {
        let Some(seen) = self.0.get_mut(&key).filter(|_| payload > 0) else { return };
        seen.last_ns = seen.last_ns.max(due);
        seen.delivered_packets += 1;
        seen.delivered_bytes += payload;
    }

    /// The flow that carried the most; of equals the first by its ports.
    pub(crate) fn largest(&self) -> Option<FlowSeen> {
        let flows = self.0.values().rev();
        flows.max_by_key(|seen| seen.delivered_bytes).copied()
    }
}

/// A packet's flow, and its payload in bytes.
pub(crate) fn key_and_payload(packet: &[u8]) -> Option<((u8, u16, u16), u64)> {
    Some((packet::flow(packet)?, packet::payload(packet).unwrap_or(0) as u64))
}

/// Flows that are told apart, so that a program cannot take the memory.
const MOST_FLOWS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::packet::tests::{tcp, udp};
    use super::*;

    #[test]
    fn the_largest_flow_is_told_from_its_first_packet_to_its_last_with_payload() {
        let mut flows = Flows::default();
        let control = tcp(100);
        let mut data = tcp(1_000);
        data[22] = 7;
        flows.note(1, Some(2), &control);
        flows.note(3, Some(5), &data[..40]);
        flows.note(6, Some(9), &data);
        flows.note(7, None, &data);
        flows.note(8, Some(12), &data[..40]);
        flows.note(9, Some(13), &udp(500));
        let data = FlowSeen {
            first_ns: 3,
            last_ns: 9,
            packets: 4,
            delivered_packets: 1,
            delivered_bytes: 1_000,
        };
        assert_eq!(flows.largest(), Some(data));
        assert_eq!(Flows::default().largest(), None);
    }
}
