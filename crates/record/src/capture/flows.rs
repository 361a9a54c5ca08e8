//! The connections of a file, counted while its packets pass.

use std::collections::HashMap;

use firstflight_qlog::Listed;

use super::packet::{AddressPair, Packet, Tcp};
use super::place::Handshake;
use crate::{RecordError, choose};

/// A connection, seen from the end that sent its first packet: place 0 of each pair is what that
/// one sent, place 1 what the other did.
#[derive(Clone, Debug)]
pub(crate) struct TcpConnection {
    /// In the order of first packets.
    pub(crate) id: u64,
    /// From the end that sent the first packet.
    pub(crate) ends: AddressPair,
    pub(crate) bytes: [u64; 2],
    pub(crate) packets: [u64; 2],
    pub(crate) handshake: Handshake,
    /// The number of the first byte of data.
    pub(crate) first_data: [Option<u32>; 2],
    /// The first and the newest ACK.
    pub(crate) acks: [Option<(u32, u32)>; 2],
    pub(crate) udp: bool,
}

/// All connections.
#[derive(Default)]
pub(crate) struct Flows {
    open: HashMap<AddressPair, TcpConnection>,
    /// Connections whose ends began another one.
    over: Vec<TcpConnection>,
    begun: u64,
    left_out: u64,
    /// Most connections carry data, so that another search for empty ones would find few.
    crowded: bool,
}

impl TcpConnection {
    fn new(id: u64, packet: &Packet) -> Self {
        Self {
            id,
            ends: packet.ends,
            bytes: [0; 2],
            packets: [0; 2],
            handshake: Handshake::default(),
            first_data: [None; 2],
            acks: [None; 2],
            udp: packet.tcp.is_none(),
        }
    }

    fn take(&mut self, at_ns: u64, packet: &Packet) {
        let from = usize::from(packet.ends != self.ends);
        self.bytes[from] = self.bytes[from].saturating_add(packet.payload);
        self.packets[from] += 1;
        let Some(tcp) = &packet.tcp else { return };
        self.handshake.take(at_ns, from, tcp);
        if packet.payload > 0 && !tcp.syn {
            self.first_data[from].get_or_insert(tcp.sequence);
        }
        if let Some(ack) = tcp.ack.filter(|_| !tcp.syn) {
            self.acks[from] = Some((self.acks[from].map_or(ack, |(first, _)| first), ack));
        }
    }

    /// Whether a packet is the first one of another connection between the same ends.
    fn is_over_at(&self, tcp: &Tcp) -> bool {
        let begins = tcp.syn && tcp.ack.is_none();
        begins && self.bytes != [0; 2] && self.handshake.first_number() != Some(tcp.sequence)
    }

    /// Which end sends the data: the one that sends more; where the capture has only ACKs, the one
    /// that does not send these.
    pub(crate) fn sender(&self) -> usize {
        if self.bytes == [0; 2] {
            return usize::from(self.acknowledged(0) > self.acknowledged(1));
        }
        usize::from(self.bytes[1] > self.bytes[0])
    }

    /// How far the ACKs of an end went, without the SYN's.
    pub(crate) fn acknowledged(&self, by: usize) -> u32 {
        self.acks[by].map_or(0, |(first, newest)| newest.wrapping_sub(first))
    }

    /// The ends in the direction of the data.
    pub(crate) fn data_direction(&self) -> AddressPair {
        if self.sender() == 0 { self.ends } else { self.ends.back() }
    }

    /// As `TCP from 198.51.100.6:443 to 198.51.100.9:50002`.
    pub(crate) fn title(&self) -> String {
        let AddressPair { from, to } = self.data_direction();
        let protocol = if self.udp { "UDP" } else { "TCP" };
        format!("{protocol} from {}:{} to {}:{}", from.0, from.1, to.0, to.1)
    }
}

impl Flows {
    /// Counts a packet; the connection it belongs to. `None` where there are too many.
    pub(crate) fn take(&mut self, at_ns: u64, packet: &Packet) -> Option<u64> {
        let key = packet.ends.either();
        let begins_anew =
            |flow: &TcpConnection| packet.tcp.is_some_and(|tcp| flow.is_over_at(&tcp));
        if self.open.get(&key).is_some_and(begins_anew) {
            self.over.extend(self.open.remove(&key));
        }
        if !self.open.contains_key(&key) {
            if self.open.len() + self.over.len() >= MOST {
                self.forget_empty();
            }
            if self.open.len() + self.over.len() >= MOST {
                self.left_out += 1;
                return None;
            }
            self.open.insert(key, TcpConnection::new(self.begun, packet));
            self.begun += 1;
        }
        let flow = self.open.get_mut(&key)?;
        flow.take(at_ns, packet);
        Some(flow.id)
    }

    /// Makes room where many connections were tried and none answered, as in a scan.
    fn forget_empty(&mut self) {
        if !self.crowded {
            self.open.retain(|_, flow| flow.bytes != [0; 2]);
            self.crowded = self.open.len() + self.over.len() > MOST / 2;
        }
    }

    /// Packets of connections beyond those that are kept apart.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    fn in_order(&self) -> Vec<&TcpConnection> {
        let mut all: Vec<&TcpConnection> = self.open.values().chain(&self.over).collect();
        all.sort_unstable_by_key(|flow| flow.id);
        all
    }

    pub(crate) fn listed(&self) -> Vec<Listed> {
        let listed = |flow: &&TcpConnection| Listed {
            title: flow.title(),
            events: flow.packets.iter().sum(),
            bytes: Some(flow.bytes[flow.sender()]),
            ..Listed::default()
        };
        self.in_order().iter().map(listed).collect()
    }

    /// The connection of a number, or the one with most bytes, and its number.
    pub(crate) fn choose(
        &self,
        file: &str,
        number: Option<usize>,
    ) -> Result<(usize, TcpConnection), RecordError> {
        let all = self.in_order();
        if all.is_empty() {
            let accepted = "accepted: a capture of a TCP connection, headers included";
            return Err(RecordError::Nothing {
                file: file.to_owned(),
                problem: format!("no packet of TCP or UDP; {accepted}"),
            });
        }
        let bytes = |place: usize| all[place].bytes.iter().sum::<u64>();
        let place = choose(file, number, all.len(), bytes)?;
        Ok((place + 1, all[place].clone()))
    }
}

/// Connections of a file that are kept apart.
const MOST: usize = 100_000;

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn packet(port: u16, sequence: u32, syn: bool, payload: u64) -> Packet {
        let host = |last| IpAddr::V4(Ipv4Addr::new(198, 51, 100, last));
        let tcp = Tcp { sequence, ack: None, window: 0, syn, options: None };
        Packet {
            ends: AddressPair { from: (host(1), port), to: (host(2), 80) },
            payload,
            tcp: Some(tcp),
        }
    }

    #[test]
    fn a_scan_before_a_transfer_does_not_hide_it() {
        let mut flows = Flows::default();
        for _ in 0..3 {
            for port in 0..=u16::MAX {
                let mut tried = packet(port, 0, true, 0);
                tried.ends.to.1 = port;
                flows.take(0, &tried);
                tried.ends.to.1 = port ^ 1;
                flows.take(0, &tried);
            }
        }
        let id = flows.take(1, &packet(9999, 5, false, 100)).unwrap();
        assert!(flows.open.len() <= MOST);
        assert_eq!(flows.choose("x", None).unwrap().1.id, id);
    }

    #[test]
    fn ends_that_meet_again_are_another_connection() {
        let mut flows = Flows::default();
        let first = flows.take(0, &packet(1, 10, true, 0));
        flows.take(1, &packet(1, 11, false, 100));
        assert_eq!(flows.take(2, &packet(1, 10, true, 0)), first, "the same SYN once more");
        assert_ne!(flows.take(3, &packet(1, 900, true, 0)), first);
        assert_eq!(flows.listed().len(), 2);
    }
}
