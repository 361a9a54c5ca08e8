//! A few connections that stand for all.

use firstflight_record::mix::Transfer;

use super::{PACKET, is_in_first_window};

/// What start-up means to a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All of it is in the first window.
    First,
    /// The receiver's window or the send buffer held it back.
    Held,
    /// It was over before slow start was.
    Stayed,
    /// It left slow start.
    Left,
    /// Nobody recorded whether it left; the simulator says it.
    Unsure,
}

/// A connection, and how many it stands for.
#[derive(Clone, Debug)]
pub(super) struct Group<'a> {
    pub(super) kind: Kind,
    pub(super) transfer: &'a Transfer,
    pub(super) stands_for: usize,
    /// The bytes of all of them.
    pub(super) bytes: u64,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::First, Self::Held, Self::Stayed, Self::Left];

    fn of(transfer: &Transfer) -> Self {
        match transfer.left {
            _ if is_in_first_window(transfer) => Self::First,
            _ if transfer.held => Self::Held,
            Some(false) => Self::Stayed,
            Some(true) => Self::Left,
            None => Self::Unsure,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "first-window",
            Self::Held => "held",
            Self::Stayed => "stayed",
            Self::Left => "left",
            Self::Unsure => "unsure",
        }
    }

    pub(super) fn is_simulated(self) -> bool {
        !matches!(self, Self::First | Self::Held)
    }

    /// Connections that stand for all of a kind, if `most` do for one that is simulated; of what is
    /// only counted one is enough.
    fn most(self, most: usize) -> usize {
        match self {
            Self::First | Self::Held => 1,
            Self::Stayed | Self::Left => most,
            Self::Unsure => 2 * most,
        }
    }
}

/// Those of each kind in the order of RTT, rate (both by powers of two) and size, cut into parts of
/// equal number; the middle one of each part stands for it.
pub(super) fn of<'a>(transfers: &[&'a Transfer], most: usize) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for kind in Kind::ALL.into_iter().chain([Kind::Unsure]) {
        let mut all: Vec<&Transfer> =
            transfers.iter().copied().filter(|transfer| Kind::of(transfer) == kind).collect();
        all.sort_by_key(|transfer| place(transfer));
        let parts = kind.most(most).min(all.len());
        for part in 0..parts {
            let (from, to) = (part * all.len() / parts, (part + 1) * all.len() / parts);
            groups.push(Group {
                kind,
                transfer: all[(from + to) / 2],
                stands_for: to - from,
                bytes: all[from..to].iter().map(|transfer| transfer.bytes).sum(),
            });
        }
    }
    groups
}

fn place(transfer: &Transfer) -> (i32, i32, u64) {
    #[expect(clippy::cast_possible_truncation, reason = "a power of two")]
    let power = |number: Option<f64>| number.map_or(0, |number| number.log2().floor() as i32);
    let rate = transfer.rate.map(|rate| rate.at_least);
    (power(transfer.rtt_s), power(rate), transfer.bytes.div_ceil(PACKET))
}

/// Connections that stand for all that left slow start, and as many for those that did not.
pub(super) const MOST: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(packets: u64, left: Option<bool>) -> Transfer {
        Transfer { bytes: packets * PACKET, left, ..Transfer::default() }
    }

    #[test]
    fn every_connection_is_stood_for_once_and_by_one_of_its_size() {
        let all: Vec<Transfer> = (1..=1000)
            .map(|packets| transfer(packets, Some(packets > 500)))
            .chain([Transfer { held: true, ..transfer(900, Some(false)) }])
            .collect();
        let groups = of(&all.iter().collect::<Vec<_>>(), MOST);
        let count = |kind| -> usize {
            let of_kind = groups.iter().filter(|group| group.kind == kind);
            of_kind.map(|group| group.stands_for).sum()
        };
        assert_eq!(Kind::ALL.map(count), [10, 1, 490, 500]);
        let left: Vec<u64> = groups
            .iter()
            .filter(|group| group.kind == Kind::Left)
            .map(|group| group.transfer.bytes / PACKET)
            .collect();
        assert_eq!((left.len(), left[0], left[23]), (24, 511, 990), "{left:?}");
        assert_eq!(groups.iter().map(|group| group.bytes).sum::<u64>() / PACKET, 501_400);
    }
}
