//! What a chirp shows of the path's rate (Misund, master's thesis, Oslo 2018; his Linux module
//! `paced_chirping.c` of 2019): packets leave ever closer together, and where their queueing delay
//! begins to rise and stays up, they left faster than the path serves.

use crate::units::Span;

/// Packets of a chirp at the most.
pub const CHIRP: usize = 16;

/// The queueing delays of a chirp's packets, as their ACKs come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chirp {
    delays: [Span; CHIRP],
    known: usize,
}

impl Chirp {
    /// The next packet's queueing delay.
    pub fn push(&mut self, delay: Span) {
        if let Some(place) = self.delays.get_mut(self.known) {
            *place = delay;
            self.known += 1;
        }
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.known
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.known == 0
    }

    /// The gap between packets at which the path serves them, where `gap(n)` is the one that packet
    /// `n` left before the next. Nothing of fewer than two packets.
    ///
    /// It is the mean of one gap for each packet but the first. An excursion is a run of packets
    /// whose delay rose and stayed above 5/8 of its largest rise. A packet of an excursion of five
    /// or more counts with its own gap where the delay went on rising. Every other packet counts
    /// with the gap at which the excursion began that the chirp's end cut off, or, if there is
    /// none, with the last gap.
    pub fn gap(&self, gap: impl Fn(usize) -> Span) -> Option<Span> {
        // `paced_chirping.c`: excursions of the queueing delay, as pathChirp has them.
        let delays = self.delays.get(..self.known).filter(|delays| delays.len() >= 2)?;
        let (rest, mut own) = (delays.len() - 1, [None; CHIRP]);
        let mut open: Option<Excursion> = None;
        for now in 1..delays.len() {
            if let Some(excursion) = &mut open
                && excursion.goes_on(delays[excursion.start], delays[now])
            {
                continue;
            }
            if let Some(done) = open.take().filter(|done| done.packets >= LEAST_PACKETS) {
                for at in done.start..done.start + done.packets {
                    own[at] = (delays[at] < delays[at + 1]).then(|| gap(at));
                }
            }
            if now < rest && delays[now] < delays[now + 1] {
                open = Some(Excursion { start: now, packets: 1, most: Span(0) });
            }
        }
        let last = open.map_or(rest, |cut_off| cut_off.start);
        let others = gap(last);
        let sum = own[1..=rest].iter().fold(Span(0), |sum, gap| sum + gap.unwrap_or(others));
        Some(sum / rest as u64)
    }
}

/// A run of packets whose delay is up.
struct Excursion {
    start: usize,
    packets: usize,
    /// The largest rise over its first packet.
    most: Span,
}

impl Excursion {
    /// Whether the next packet, with the delay `now`, belongs to it.
    fn goes_on(&mut self, first: Span, now: Span) -> bool {
        let rise = now - first;
        let up = now >= first && rise > self.most / 2 + self.most / 8;
        if up {
            self.most = self.most.max(rise);
            self.packets += 1;
        }
        up
    }
}

/// Packets of an excursion that counts.
const LEAST_PACKETS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps of 16, 15 .. 1 units.
    fn found(delays: &[u64]) -> Option<u64> {
        let mut chirp = Chirp::default();
        delays.iter().for_each(|delay| chirp.push(Span(*delay)));
        chirp.gap(|at| Span(160 - 10 * at as u64)).map(|gap| gap.0)
    }

    #[test]
    fn without_an_excursion_the_last_gap_counts() {
        assert_eq!(found(&[0; 16]), Some(10));
        assert_eq!(found(&[7]), None);
        assert_eq!(found(&[]), None);
    }

    /// The path serves a packet in 80: the delay rises from the ninth gap on, to the end.
    #[test]
    fn an_excursion_that_the_end_cuts_off_counts_with_the_gap_where_it_began() {
        let mut delays = [0; 16];
        for at in 9..16 {
            delays[at] = delays[at - 1] + 80 - (160 - 10 * (at as u64 - 1)).min(80);
        }
        assert_eq!(&delays[7..12], &[0, 0, 0, 10, 30]);
        assert_eq!(found(&delays), Some(70), "the ninth gap is 70, the first below 80");
    }

    /// Five packets that wait for somebody else's, then none: two of them with their own gaps.
    #[test]
    fn an_excursion_that_ends_counts_with_its_own_gaps_where_it_rises() {
        let delays = [0, 0, 10, 20, 19, 18, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // Packets 1 and 2 rise: 150 and 140; the other thirteen have the last gap.
        assert_eq!(found(&delays), Some((150 + 140 + 13 * 10) / 15));
        let short = [0, 0, 10, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(found(&short), Some(10), "three packets are noise");
    }

    /// Among packets 2 to 6 the delay rises after 2 and 4, with 140 and 120; the rise after packet
    /// 7 is no part of it.
    #[test]
    fn an_excursion_s_packets_count_with_their_own_gaps_only_where_the_delay_rises() {
        let delays = [0, 0, 0, 80, 80, 160, 160, 0, 10, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(found(&delays), Some((140 + 120 + 13 * 10) / 15));
        let behind_a_queue = delays.map(|delay| 1_000 + delay);
        assert_eq!(found(&behind_a_queue), found(&delays), "the rise counts, not the delay");
    }

    /// 50 is 5/8 of 80: packet 7 is no part of the excursion, and the rise after it not either.
    #[test]
    fn an_excursion_stays_above_five_eighths_of_its_rise() {
        let delays = [0, 0, 0, 80, 80, 80, 80, 50, 60, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(found(&delays), Some((140 + 14 * 10) / 15));
    }

    #[test]
    fn more_than_sixteen_are_left_out() {
        let mut chirp = Chirp::default();
        assert!(chirp.is_empty());
        (0..20).for_each(|_| chirp.push(Span(1)));
        assert_eq!((chirp.len(), chirp.is_empty()), (16, false));
    }
}
