//! The phases of the clocks of ns-2.35's TCP agents.
//!
//! Every agent sees time in ticks whose phase it draws at random, from a generator that starts the
//! same in every run. Where several flows time out, the phases decide results.

use firstflight_core::units::Span;

/// The properties of an agent that decide its draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent {
    /// A Vegas agent, which draws twice when it is made.
    pub(crate) vegas: bool,
    /// Its clock when the run starts: the range of its draw.
    pub(crate) tick: Span,
}

/// `tcpTick_` of an agent of TCP/Linux when the run starts. Only the choice of a control, right
/// after that, gives it ticks of a millisecond (`LinuxTcpAgent::install_congestion_control`), and
/// the phase stays that of the longer ticks.
pub(crate) const LINUX_AT_START: Span = Span::from_millis(10);

/// The phases of flows with such agents. An agent draws when it is made, a Vegas agent twice, and
/// every agent once more when the run starts.
pub(crate) fn phases(agents: &[Agent]) -> Vec<Span> {
    let made: usize = agents.iter().map(|agent| 1 + usize::from(agent.vegas)).sum();
    let mut phases = vec![Span(0); agents.len()];
    let draws = Draws::default().skip(made);
    for (flow, draw) in reset_order(agents.len()).into_iter().zip(draws) {
        phases[flow] = Span((draw * agents[flow].tick.0 as f64).round() as u64);
    }
    phases
}

/// The order in which ns-2 resets the agents when the run starts: that of its nodes in a Tcl hash
/// table under their numbers. There are two routers, then a sender and a receiver for each flow.
fn reset_order(flows: usize) -> Vec<usize> {
    let mut table = HashTable { buckets: vec![Vec::new(); 4], size: 0 };
    (0..2 + 2 * flows).for_each(|node| table.insert(node));
    let in_order = table.buckets.iter().flat_map(|bucket| bucket.iter().rev());
    in_order.filter(|node| **node >= 2 && **node % 2 == 0).map(|node| (node - 2) / 2).collect()
}

/// As Tcl 8.6 keeps an array's names (`generic/tclHash.c`): a new name goes to the head of its
/// chain, and four times as many chains are made when there are three names to each.
struct HashTable {
    /// Every chain with its head last.
    buckets: Vec<Vec<usize>>,
    /// Entries in it.
    size: usize,
}

impl HashTable {
    fn insert(&mut self, name: usize) {
        self.put(name);
        self.size += 1;
        if self.size >= 3 * self.buckets.len() {
            let more = vec![Vec::new(); 4 * self.buckets.len()];
            let chains = std::mem::replace(&mut self.buckets, more);
            chains.into_iter().flat_map(|chain| chain.into_iter().rev()).for_each(|n| self.put(n));
        }
    }

    fn put(&mut self, name: usize) {
        let hash = |hash: u32, byte| hash.wrapping_mul(9).wrapping_add(u32::from(byte));
        let bucket = name.to_string().bytes().fold(0, hash) as usize & (self.buckets.len() - 1);
        self.buckets[bucket].push(name);
    }
}

/// ns-2's generator, MRG32k3a of L'Ecuyer (Operations Research 47:1, 1999), as it starts: with
/// ones. Values lie from 0 to 1.
struct Draws {
    first: [i64; 3],
    second: [i64; 3],
}

impl Default for Draws {
    fn default() -> Self {
        Self { first: [1; 3], second: [1; 3] }
    }
}

impl Iterator for Draws {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let ([x3, x2, x1], [y3, y2, y1]) = (self.first, self.second);
        let x = (1_403_580 * x2 - 810_728 * x3).rem_euclid(M1);
        let y = (527_612 * y1 - 1_370_589 * y3).rem_euclid(M2);
        (self.first, self.second) = ([x2, x1, x], [y2, y1, y]);
        let sum = if x > y { x - y } else { x - y + M1 };
        // Of the draw ns-2 keeps the highest 31 bits.
        let bits = sum * (MOST + 1) / (M1 + 1);
        Some(bits as f64 / MOST as f64)
    }
}

const M1: i64 = (1 << 32) - 209;
const M2: i64 = (1 << 32) - 22_853;
const MOST: i64 = (1 << 31) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// ns-2.35's `tcpTick_`.
    const TICK: Span = Span::from_millis(10);

    #[test]
    fn draws_are_those_of_ns2() {
        // What `$defaultRNG uniform 0 1` says in ns-2.35.
        let read =
            [0.000_339_576_974_669_274_4, 0.555_880_715_863_723_7, 0.014_204_660_437_165_137];
        for (drawn, read) in Draws::default().zip(read) {
            assert!((drawn - read).abs() < 1e-15, "{drawn} {read}");
        }
        // Agents made, then reset: what ns-2.35's agents of two flows have.
        let agent = |vegas| Agent { vegas, tick: TICK };
        assert_eq!(phases(&[agent(false); 2]), [Span(881_227), Span(142_047)]);
        assert_eq!(phases(&[agent(true)]), [Span(142_047)]);
    }

    #[test]
    fn agents_are_reset_in_the_order_of_a_tcl_array() {
        // What `array names` says of so many nodes in Tcl 8.6.
        assert_eq!(reset_order(3), [1, 2, 0]);
        assert_eq!(reset_order(4), [3, 1, 2, 0]);
        assert_eq!(reset_order(8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(reset_order(9), [8, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(reset_order(14), [8, 9, 0, 10, 1, 11, 2, 12, 3, 4, 13, 5, 6, 7]);
    }
}
