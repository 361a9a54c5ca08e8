//! A tree of the smallest keys: which of many leaves stands first.

/// Leaves with a key each.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The smallest key below every node. Node `leaves + i` is leaf `i`, and the children of node
    /// `n` are `2 n` and `2 n + 1`; what stands in nodes 0 and 1 means nothing.
    keys: Vec<u64>,
    /// A power of two.
    leaves: usize,
}

impl Tree {
    /// A tree with at least so many leaves, at none of which anything waits.
    pub(crate) fn new(leaves: usize) -> Self {
        let leaves = leaves.next_power_of_two();
        Self { keys: vec![NOTHING; 2 * leaves], leaves }
    }

    /// Leaf `leaf` now stands at `key`: decides its matches anew, up to the root, and returns the
    /// smallest key of all. Who wins a match cannot be predicted, so nothing branches on it.
    #[inline]
    pub(crate) fn climb(&mut self, leaf: usize, key: u64) -> u64 {
        let (mut node, mut key) = (self.leaves + leaf, key);
        let mask = 2 * self.leaves - 1;
        // With the length known to fit the mask, no place is checked on the way.
        let keys = &mut self.keys[..=mask];
        while node > 1 {
            keys[node & mask] = key;
            key = key.min(keys[(node ^ 1) & mask]);
            node >>= 1;
        }
        key
    }

    /// A leaf that stands at the smallest key of all, which `key` is.
    pub(crate) fn first(&self, key: u64) -> usize {
        let mut node = 1;
        while node < self.leaves {
            node = 2 * node + usize::from(self.keys[2 * node] != key);
        }
        node - self.leaves
    }
}

/// The key of a leaf where no event waits.
pub(crate) const NOTHING: u64 = u64::MAX;
