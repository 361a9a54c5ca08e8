//! Gives a queue of ours the packets that a kernel's queue had: each arrives when it arrived there,
//! and the queue is asked for one whenever the kernel's sent one.

use firstflight_link::{Ecn, Moment, Next, Packet, Queue};
use rand_pcg::Pcg64Mcg;

use super::capture::Arrival;

/// What became of the packets here and there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fates {
    /// Packets that came.
    pub(super) packets: u64,
    /// Dropped here, in the kernel, and in both.
    pub(super) drops: [u64; 3],
    /// Marked here, in the kernel, and in both.
    pub(super) marks: [u64; 3],
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Comes(usize),
    Leaves,
}

/// Feeds what came to a queue.
pub(super) fn replay(mut queue: Box<dyn Queue>, arrivals: &[Arrival], seed: u64) -> Fates {
    let mut events: Vec<(u64, Event)> = Vec::new();
    for (number, arrival) in arrivals.iter().enumerate() {
        events.push((arrival.at + WAY_NS, Event::Comes(number)));
        events.extend(arrival.left.map(|(at, _)| (at, Event::Leaves)));
    }
    events.sort_unstable();
    let (mut random, mut dropped) = (Pcg64Mcg::new(seed.into()), Vec::new());
    let mut marked = vec![false; arrivals.len()];
    for (now, event) in events {
        let moment = &mut Moment { now, in_service: 0, random: &mut random, dropped: &mut dropped };
        match event {
            Event::Comes(number) => {
                let Arrival { bytes, flow, capable, .. } = arrivals[number];
                let ecn = if capable { Ecn::Ect0 } else { Ecn::NotCapable };
                let packet = Packet { id: number as u64, bytes, flow, ecn, marked: false, at: now };
                queue.enqueue(packet, moment);
            }
            Event::Leaves => {
                if let Next::Send(packet) = queue.dequeue(moment) {
                    marked[packet.id as usize] = packet.marked;
                }
            }
        }
    }
    let mut drops = vec![false; arrivals.len()];
    dropped.iter().for_each(|packet| drops[packet.id as usize] = true);
    let mut fates = Fates { packets: arrivals.len() as u64, ..Fates::default() };
    for ((arrival, dropped), marked) in arrivals.iter().zip(drops).zip(marked) {
        count(&mut fates.drops, dropped, arrival.left.is_none());
        count(&mut fates.marks, marked, arrival.left.is_some_and(|(_, marked)| marked));
    }
    fates
}

fn count(counts: &mut [u64; 3], here: bool, kernel: bool) {
    for (count, holds) in counts.iter_mut().zip([here, kernel, here && kernel]) {
        *count += u64::from(holds);
    }
}

/// How much later than tcpdump the queue sees a packet, in nanoseconds of the guest, which are
/// instructions: the middle forwards it meanwhile. Through an idle queue a packet is seen to leave
/// 3000 to 4000 after it came.
const WAY_NS: u64 = 2_000;

#[cfg(test)]
mod tests {
    use firstflight_link::Discipline;

    use super::*;

    /// Packets of which 1 in 4 leaves late, in a queue of two: the third and the fourth are
    /// dropped, where the kernel dropped the fourth and the fifth.
    #[test]
    fn what_is_dropped_here_and_there_is_counted() {
        let arrival = |at, left: Option<u64>| Arrival {
            at,
            bytes: 1_514,
            flow: 1,
            capable: false,
            left: left.map(|at| (at, false)),
        };
        let arrivals = [
            arrival(0, Some(10_000)),
            arrival(1, Some(11_000)),
            arrival(2, Some(12_000)),
            arrival(3, None),
            arrival(20_000, None),
        ];
        let fates = replay(Discipline::drop_tail(2), &arrivals, 1);
        assert_eq!((fates.packets, fates.drops, fates.marks), (5, [2, 2, 1], [0, 0, 0]));
    }
}
