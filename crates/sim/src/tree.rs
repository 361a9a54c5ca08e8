//! A winner tree: which of many leaves stands at the smallest key.

use std::hint::select_unpredictable;

/// Leaves with a key each, and who wins among them.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Of every node, the key and the leaf of who has won there. Node 1 is the root, node
    /// `leaves + i` is leaf `i`, and the children of node `n` are `2 n` and `2 n + 1`.
    keys: Vec<u64>,
    winners: Vec<u32>,
    /// A power of two.
    leaves: usize,
}

impl Tree {
    /// A tree with at least so many leaves, at none of which anything waits.
    pub(crate) fn new(leaves: usize) -> Self {
        let leaves = leaves.next_power_of_two();
        Self { keys: vec![NOTHING; 2 * leaves], winners: vec![0; 2 * leaves], leaves }
    }

    /// Leaf `leaf` now stands at `key`: decides its matches anew, up to the root, and returns the
    /// winner there with its key. Who wins a match cannot be predicted, so nothing branches on it.
    #[inline]
    pub(crate) fn climb(&mut self, leaf: usize, key: u64) -> (usize, u64) {
        let (mut node, mut key, mut winner) = (self.leaves + leaf, key, leaf as u32);
        let mask = 2 * self.leaves - 1;
        // With their lengths known to fit the mask, no place is checked on the way.
        let (keys, winners) = (&mut self.keys[..=mask], &mut self.winners[..=mask]);
        while node > 1 {
            (keys[node & mask], winners[node & mask]) = (key, winner);
            let (rival_key, rival) = (keys[(node ^ 1) & mask], winners[(node ^ 1) & mask]);
            winner = select_unpredictable(rival_key < key, rival, winner);
            key = key.min(rival_key);
            node >>= 1;
        }
        (keys[1], winners[1]) = (key, winner);
        (winner as usize, key)
    }
}

/// The key of a leaf where no event waits.
pub(crate) const NOTHING: u64 = u64::MAX;
