//! What a direction carried of each flow, by protocol and ports.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use etherparse::ip_number;

use super::packet;

/// A flow's packets in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowSeen {
    /// When the first arrived at the link, ns of the measured period.
    pub(crate) first_ns: u64,
    /// When the last with payload was due at the other end, ns of the measured period.
    pub(crate) last_ns: u64,
    /// Packets that arrived, dropped and lost ones too.
    pub(crate) packets: u64,
    /// Packets with payload that were handed on.
    pub(crate) delivered_packets: u64,
    /// Payload of TCP or UDP that was handed on, bytes.
    pub(crate) delivered_bytes: u64,
    /// When a packet with payload was due, and the payload by then, once in every interval.
    pub(crate) history: Vec<(u64, u64)>,
}

/// All flows of a direction: transfers, and others that go to known ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flows {
    /// By protocol, source port and destination port.
    seen: BTreeMap<(u8, u16, u16), FlowSeen>,
    /// Destination ports of the flows that are no transfers.
    other_ports: Vec<u16>,
    /// Between two entries of a history, ns; none is kept without it.
    every: Option<u64>,
    /// When the first packet of any transfer arrived at the link, ns of the measured period.
    began: Option<u64>,
}

impl Flows {
    /// None yet. What goes to `other_ports` is no transfer.
    pub(crate) fn new(other_ports: Vec<u16>) -> Self {
        Self { other_ports, ..Self::default() }
    }

    /// Forgets all flows, and begins to keep their histories, with an entry in every `every` ns.
    pub(crate) fn measure(&mut self, every: Option<u64>) {
        let other_ports = std::mem::take(&mut self.other_ports);
        *self = Self { other_ports, every, ..Self::default() };
    }

    /// A packet arrived. It is due at the other end at `due`, unless it was dropped or lost. Times
    /// are ns of the measured period.
    pub(crate) fn note(&mut self, now: u64, due: Option<u64>, packet: &[u8]) {
        let Some((key, payload)) = key_and_payload(packet) else { return };
        self.arrived(now, key);
        if let Some(due) = due {
            self.forwarded(due, key, payload);
        }
    }

    /// A packet of a flow arrived.
    pub(crate) fn arrived(&mut self, now: u64, key: (u8, u16, u16)) {
        if self.seen.len() >= MOST_FLOWS && !self.seen.contains_key(&key) {
            return;
        }
        if self.began.is_none() && self.is_transfer(key) {
            self.began = Some(now);
        }
        let seen =
            self.seen.entry(key).or_insert(FlowSeen { first_ns: now, ..FlowSeen::default() });
        seen.packets += 1;
    }

    /// A packet of a flow will be due at the other end.
    pub(crate) fn forwarded(&mut self, due: u64, key: (u8, u16, u16), payload: u64) {
        let Some(seen) = self.seen.get_mut(&key).filter(|_| payload > 0) else { return };
        seen.last_ns = seen.last_ns.max(due);
        seen.delivered_packets += 1;
        seen.delivered_bytes += payload;
        let Some(every) = self.every else { return };
        if seen.history.last().is_none_or(|(before, _)| due >= before + every) {
            seen.history.push((due, seen.delivered_bytes));
        }
    }

    fn is_transfer(&self, (_, _, to): (u8, u16, u16)) -> bool {
        !self.other_ports.contains(&to)
    }

    /// When the first packet of any transfer arrived at the link, ns of the measured period.
    pub(crate) fn began(&self) -> Option<u64> {
        self.began
    }

    /// The transfers that carried the most, `count` of them, in the order in which they began; of
    /// equals the first by their ports.
    pub(crate) fn transfers(&self, count: usize) -> Vec<&FlowSeen> {
        let transfers = self.seen.iter().filter(|(key, _)| self.is_transfer(**key));
        let mut all: Vec<&FlowSeen> = transfers.map(|(_, seen)| seen).collect();
        all.sort_by_key(|seen| Reverse(seen.delivered_bytes));
        all.truncate(count);
        all.sort_by_key(|seen| seen.first_ns);
        all
    }

    /// The connection of TCP to a port.
    pub(crate) fn to_port(&self, port: u16) -> Option<&FlowSeen> {
        let mut all = self.seen.iter();
        all.find(|((kind, _, to), _)| (*kind, *to) == (ip_number::TCP.0, port))
            .map(|(_, seen)| seen)
    }
}

/// A packet's flow, and its payload in bytes.
pub(crate) fn key_and_payload(packet: &[u8]) -> Option<((u8, u16, u16), u64)> {
    Some((packet::flow(packet)?, packet::payload(packet).unwrap_or(0) as u64))
}

/// Most flows that are counted, so that a program cannot exhaust the memory.
const MOST_FLOWS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::packet::tests::{tcp, udp};
    use super::*;

    #[test]
    fn the_largest_flow_counts_from_its_first_packet_to_its_last_with_payload() {
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
            history: Vec::new(),
        };
        assert_eq!(flows.transfers(1), [&data]);
        assert!(Flows::default().transfers(1).is_empty());
    }

    #[test]
    fn what_goes_to_another_port_is_no_transfer_and_a_history_has_an_entry_in_an_interval() {
        let to = |port: u16| {
            let mut packet = tcp(1_000);
            packet[22..24].copy_from_slice(&port.to_be_bytes());
            packet
        };
        let mut flows = Flows::new(vec![10_001]);
        flows.measure(Some(10));
        flows.note(1, Some(2), &to(10_001));
        assert_eq!(flows.began(), None);
        for at in [5, 9, 14, 16] {
            flows.note(at, Some(at + 1), &to(4_433));
        }
        flows.note(20, Some(21), &to(4_434));
        assert_eq!(flows.began(), Some(5));
        let [largest, second] = flows.transfers(2)[..] else { panic!("{flows:?}") };
        assert_eq!((largest.first_ns, second.first_ns), (5, 20));
        assert_eq!(largest.history, [(6, 1_000), (17, 4_000)]);
        assert_eq!(flows.to_port(10_001).map(|seen| seen.delivered_bytes), Some(1_000));
        assert_eq!(flows.to_port(1), None);
        flows.measure(None);
        flows.note(1, Some(2), &to(10_001));
        assert_eq!((flows.began(), flows.transfers(1).len()), (None, 0));
    }
}
