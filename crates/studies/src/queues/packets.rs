//! `queues --packets`: each queue of ours with the very packets that came to the kernel's.
//!
//! In a closed loop one packet that is dropped elsewhere changes all that follows. Here the loop is
//! the kernel's: TCP runs through its queue, tcpdump writes down what arrives and what leaves, and
//! the queue of ours gets these packets at these times. So a difference is the discipline's own.

mod capture;
mod replay;

use firstflight_link::{Counted, Discipline};
use firstflight_scenario::{Loss, complete};

use super::draw::{Offset, Point};
use super::table::PACKETS;
use crate::Stop;
use crate::runs::Guests;

use capture::{Arrival, Guest};
use replay::{Fates, replay};

/// One point: what a queue of ours did with the kernel's packets, once for every seed.
#[derive(Debug)]
pub(super) struct Replayed {
    /// One for every seed.
    fates: Vec<Fates>,
}

impl Replayed {
    /// Whether marks and drops are the kernel's, within a packet or 5 %: of what draws random
    /// numbers the kernel's may be any that a seed gives here.
    pub(super) fn agrees(&self) -> bool {
        [MARKS, DROPS].iter().all(|counts| {
            let near = |ours: u64, kernel: u64| PACKETS.holds(ours as f64, kernel as f64);
            let (least, most) = self.range(*counts);
            let Some([_, kernel, both]) = self.fates.first().map(counts) else { return false };
            match self.fates.len() {
                1 => near(least, kernel) && near(both, kernel),
                _ => near(kernel.clamp(least, most), kernel),
            }
        })
    }

    /// Marks and drops here and in the kernel, and of how many packets both; of what draws random
    /// numbers the least and the most.
    pub(super) fn words(&self) -> String {
        let counted = |name: &str, counts: Counts| {
            let [_, kernel, both] = self.fates.first().map_or([0; 3], counts);
            let (least, most) = self.range(counts);
            match (kernel, most, self.fates.len()) {
                (0, 0, _) => None,
                (_, _, 1) => Some(format!("{name} {least}, {kernel}, {both} the same")),
                _ => Some(format!("{name} {least} to {most}, {kernel}")),
            }
        };
        let both = [counted("marks", MARKS), counted("drops", DROPS)];
        let both: Vec<String> = both.into_iter().flatten().collect();
        match both.is_empty() {
            true => "none is marked or dropped".to_owned(),
            false => both.join("; "),
        }
    }

    fn range(&self, counts: Counts) -> (u64, u64) {
        let here = self.fates.iter().map(|fates| counts(fates)[0]);
        (here.clone().min().unwrap_or(0), here.max().unwrap_or(0))
    }
}

/// Here, in the kernel, and in both.
type Counts = fn(&Fates) -> [u64; 3];
const MARKS: Counts = |fates| fates.marks;
const DROPS: Counts = |fates| fates.drops;

/// What captures need.
pub(super) struct Captures<'a> {
    guest: Guest,
    guests: &'a Guests,
}

impl<'a> Captures<'a> {
    pub(super) fn new(guests: &'a Guests) -> Result<Self, Stop> {
        Ok(Self { guest: Guest::new(&guests.program)?, guests })
    }

    /// Replays a point; `None` where netem loses packets at random, which no queue does.
    pub(super) fn replayed(&self, point: &Point) -> Result<Option<Replayed>, Stop> {
        let complete = point.scenario(Point::HERE, Offset::default(), 0, 1)?.complete();
        let complete = complete.map_err(|error| Stop::failed(&error.to_string()))?;
        let Some(link) = complete.links.first() else { return Ok(None) };
        let (packet, rate_bps) = (complete.wire_bytes(), link.rate.bps());
        let counted = Counted { rate_bps, packet, frame: packet };
        let (queue, words, service_us) = match (&link.queue, link.buffer) {
            (Some(queue), _) => {
                let Some(words) = queue.discipline.tc("f0", counted) else { return Ok(None) };
                (queue.discipline.build(packet, rate_bps), words, counted.service_us())
            }
            (None, complete::Buffer::Packets(waiting)) if link.loss == Loss::default() => {
                // The packet that is sent is in netem's queue too, and leaves when it has been.
                let limit = waiting + 1;
                let words = format!("qdisc add dev f0 root netem limit {limit} rate {rate_bps}bit");
                (Discipline::drop_tail(limit), vec![words], 0)
            }
            (None, _) => return Ok(None),
        };
        let arrivals = self.arrivals(&point.settings(&words, service_us))?;
        let seeds = if point.is_random() { SEEDS } else { 1 };
        let fates = (0..seeds).map(|seed| replay(queue.clone(), &arrivals, seed));
        Ok(Some(Replayed { fates: fates.collect() }))
    }

    /// What came to the queue and what became of it in a guest with these settings.
    pub(super) fn arrivals(&self, settings: &str) -> Result<Vec<Arrival>, Stop> {
        let key = format!("{} {settings}\n{}", self.guests.sources, capture::SCRIPT);
        if let Some(kept) = self.guests.cache.get(&key) {
            return Ok(kept);
        }
        let arrivals = self.guest.run(settings)?;
        self.guests.cache.put(&key, &arrivals)?;
        Ok(arrivals)
    }
}

/// Seeds of a queue that draws random numbers.
const SEEDS: u64 = 30;

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(drops: [u64; 3]) -> Fates {
        Fates { packets: 1_000, drops, ..Fates::default() }
    }

    #[test]
    fn a_queue_agrees_that_drops_the_same_packets_or_at_random_as_many() {
        let one = |drops| Replayed { fates: vec![fates(drops)] };
        assert!(one([100, 100, 98]).agrees() && one([1, 2, 1]).agrees());
        assert!(!one([100, 100, 90]).agrees() && !one([110, 100, 100]).agrees());
        assert_eq!(one([100, 99, 98]).words(), "drops 100, 99, 98 the same");
        let drawn =
            |kernel| Replayed { fates: [90, 110].map(|here| fates([here, kernel, 10])).to_vec() };
        assert!(drawn(100).agrees() && drawn(115).agrees() && !drawn(120).agrees());
        assert_eq!(drawn(100).words(), "drops 90 to 110, 100");
        assert_eq!(one([0; 3]).words(), "none is marked or dropped");
    }
}
