//! What a link holds: how many packets and bytes, and when each of them leaves.
//!
//! Packets of one size that are sent without a pause are a run: from when its first one leaves
//! follows when all others do. So a link keeps a few words per run instead of one per packet, and
//! a packet that continues a run is only counted.

use std::collections::VecDeque;

use crate::serialisation::Serialisation;

/// The packets a link holds, and some that have left.
#[derive(Debug)]
pub(crate) struct Held {
    /// Packets ever taken in.
    pub(crate) taken: u64,
    /// Packets that are known to have left.
    pub(crate) left: u64,
    /// Bytes that are known to have left.
    left_bytes: u64,
    /// The runs before the newest, oldest first.
    older: VecDeque<Run>,
    /// The newest run.
    newest: Run,
    /// Packets taken in before the newest run.
    before: u64,
    /// Bytes taken in before it.
    bytes_before: u64,
}

/// Packets of one size that leave one right after the other.
#[derive(Debug)]
struct Run {
    /// When the first of those that have not left leaves; behind the last, when one more would.
    departure: u64,
    /// The state of the sending link after that departure.
    serial: Serialisation,
    /// The packets taken in when the next run began.
    until: u64,
}

impl Held {
    /// Nothing, on a link whose state is `serial`.
    pub(crate) fn new(serial: Serialisation) -> Self {
        Self {
            taken: 0,
            left: 0,
            left_bytes: 0,
            older: VecDeque::new(),
            newest: Run { departure: 0, serial, until: 0 },
            before: 0,
            bytes_before: 0,
        }
    }

    /// Packets held.
    pub(crate) fn len(&self) -> u64 {
        self.taken - self.left
    }

    /// Bytes ever taken in.
    pub(crate) fn taken_bytes(&self) -> u64 {
        self.bytes_before + (self.taken - self.before) * self.newest.serial.bytes()
    }

    /// Packets and bytes of those held that came before the newest run.
    pub(crate) fn before_newest_run(&self) -> (u64, u64) {
        let bytes = self.bytes_before.saturating_sub(self.left_bytes);
        (self.before.saturating_sub(self.left), bytes)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.taken_bytes() - self.left_bytes
    }

    /// Size of the packet that leaves next, if there is one.
    pub(crate) fn first_bytes(&self) -> Option<u64> {
        let run = self.older.front().unwrap_or(&self.newest);
        (self.len() > 0).then(|| run.serial.bytes())
    }

    /// The next packet begins a run: a link that is in the state `serial`, set to its size, begins
    /// to send it at `start`.
    pub(crate) fn begin_run(&mut self, start: u64, mut serial: Serialisation) {
        (self.before, self.bytes_before) = (self.taken, self.taken_bytes());
        let departure = start + serial.step();
        let run = Run { departure, serial, until: 0 };
        let ended = std::mem::replace(&mut self.newest, run);
        if self.len() > 0 {
            self.older.push_back(Run { until: self.taken, ..ended });
        }
    }

    /// The next packet, of `bytes`, leaves at `departure`, whatever those before it take.
    pub(crate) fn begin_single(&mut self, departure: u64, mut serial: Serialisation, bytes: u64) {
        serial.set(bytes);
        self.begin_run(departure, serial);
        self.newest.departure = departure;
    }

    /// As [`Held::begin_run`] when all packets have left, also those not known to have.
    pub(crate) fn begin_alone(&mut self, start: u64, serial: &Serialisation) {
        (self.left, self.left_bytes) = (self.taken, self.taken_bytes());
        (self.before, self.bytes_before) = (self.left, self.left_bytes);
        if !self.older.is_empty() {
            self.older.clear();
        }
        self.newest.serial.clone_from(serial);
        self.newest.departure = start + self.newest.serial.step();
    }

    /// Forgets the packets that have left by `now`.
    #[inline(always)]
    pub(crate) fn release(&mut self, now: u64) {
        while let Some(run) = self.older.front_mut() {
            let left = run.release(run.until - self.left, now);
            self.left += left;
            self.left_bytes += left * run.serial.bytes();
            if self.left < run.until {
                return;
            }
            self.older.pop_front();
        }
        let left = self.newest.release(self.len(), now);
        self.left += left;
        self.left_bytes += left * self.newest.serial.bytes();
    }
}

impl Run {
    /// How many of the next packets, at most `most`, leave by `now`.
    #[inline]
    fn release(&mut self, most: u64, now: u64) -> u64 {
        let mut left = 0;
        // At most rates all packets of a size take the same time, and many leave at once.
        if let Some(each) = self.serial.even()
            && self.departure <= now
        {
            left = ((now - self.departure) / each + 1).min(most);
            self.departure += left * each.get();
        }
        while left < most && self.departure <= now {
            self.departure += self.serial.step();
            left += 1;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a list of what every packet is and when it leaves.
        #[test]
        fn packets_leave_as_from_a_list_of_them(
            rate in prop_oneof![1u64..40_000_000_000, Just(8_000_000_000)],
            arrivals in prop::collection::vec(
                (
                    prop_oneof![0u64..3, 0u64..9_000],
                    prop::sample::select(vec![40u64, 1000, 1500]),
                    0u64..4,
                ),
                1..200,
            ),
        ) {
            let mut serial = Serialisation::new(rate);
            let (mut held, mut plain) = (Held::new(serial.clone()), VecDeque::new());
            let (mut at, mut free_at, mut size, mut total) = (0, 0, 0, 0);
            for (pause, bytes, repeat) in arrivals {
                for _ in 0..=repeat {
                    at += pause;
                    held.release(at);
                    plain.retain(|(departure, _)| *departure > at);
                    let listed: u64 = plain.iter().map(|(_, bytes)| bytes).sum();
                    prop_assert_eq!((held.len(), held.bytes()), (plain.len() as u64, listed));
                    prop_assert_eq!(held.first_bytes(), plain.front().map(|(_, bytes)| *bytes));
                    if held.len() == 0 || at > free_at || bytes != size {
                        free_at = at.max(free_at);
                        serial.set(bytes);
                        held.begin_run(free_at, serial.clone());
                    }
                    held.taken += 1;
                    free_at += serial.step();
                    plain.push_back((free_at, bytes));
                    (size, total) = (bytes, total + bytes);
                    prop_assert_eq!(held.taken_bytes(), total);
                }
            }
        }
    }
}
