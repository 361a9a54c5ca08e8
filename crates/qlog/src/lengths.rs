//! How long the newest packets were, by packet number: a loss names only the packet.

use std::collections::{HashMap, VecDeque};

use crate::event::PacketType;

/// The lengths of the newest packets of each type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lengths {
    of: HashMap<PacketType, Newest>,
}

/// Lengths by packet number, from `first` on; 0 where a number was not seen.
#[derive(Clone, Debug, Default)]
struct Newest {
    first: u64,
    lengths: VecDeque<u16>,
}

impl Lengths {
    pub(crate) fn sent(&mut self, packet_type: PacketType, number: Option<u64>, length: u64) {
        let Some(number) = number else { return };
        let newest = self.of.entry(packet_type).or_default();
        let length = u16::try_from(length).unwrap_or(u16::MAX);
        if newest.lengths.is_empty() || number >= newest.first.saturating_add(2 * KEPT) {
            *newest = Newest { first: number, lengths: VecDeque::new() };
        }
        let Some(place) = number.checked_sub(newest.first) else { return };
        while newest.lengths.len() as u64 <= place {
            newest.lengths.push_back(0);
        }
        if let Some(kept) = usize::try_from(place).ok().and_then(|at| newest.lengths.get_mut(at)) {
            *kept = length;
        }
        while newest.lengths.len() as u64 > KEPT {
            newest.lengths.pop_front();
            newest.first += 1;
        }
    }

    /// The length of a packet. A log without the type of a lost packet means one of
    /// data, if there is one of that number.
    pub(crate) fn of(&self, packet_type: PacketType, number: u64) -> Option<u64> {
        let find = |packet_type| {
            let newest = self.of.get(&packet_type)?;
            let place = usize::try_from(number.checked_sub(newest.first)?).ok()?;
            newest.lengths.get(place).copied().filter(|length| *length > 0).map(u64::from)
        };
        let others = [PacketType::OneRtt, PacketType::ZeroRtt, PacketType::Other];
        let all = if packet_type == PacketType::Other { &others[..] } else { &[packet_type][..] };
        all.iter().find_map(|packet_type| find(*packet_type))
    }
}

/// Packets of a type whose lengths are kept: a loss is declared within some RTTs.
const KEPT: u64 = 1 << 16;
