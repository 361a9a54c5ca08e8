//! A tree of the smallest keys: which of many leaves stands first.

/// Leaves with a key each.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The blocks whose leaves are those of the tree, then those whose leaves are the roots of the
    /// blocks before, and so on up to a single one.
    layers: Vec<Vec<Block>>,
}

/// A small tree whose height the compiler knows, so that no loop and no check is left of its climb.
#[derive(Clone, Debug)]
struct Block {
    /// The smallest key below every node. Node `LEAVES + i` is leaf `i`, and the children of node
    /// `n` are `2 n` and `2 n + 1`; what stands in nodes 0 and 1 means nothing.
    keys: [u64; 2 * LEAVES],
}

impl Tree {
    /// A tree with at least so many leaves, at none of which anything waits.
    pub(crate) fn new(leaves: usize) -> Self {
        let mut layers = Vec::new();
        let mut width = leaves;
        while width > 1 || layers.is_empty() {
            width = width.div_ceil(LEAVES);
            layers.push(vec![Block { keys: [NOTHING; 2 * LEAVES] }; width]);
        }
        Self { layers }
    }

    /// Leaf `leaf` now stands at `key`: decides its matches anew, up to the root, and returns the
    /// smallest key of all.
    #[inline]
    pub(crate) fn climb(&mut self, leaf: usize, key: u64) -> u64 {
        let (mut place, mut key) = (leaf, key);
        for layer in &mut self.layers {
            key = layer[place / LEAVES].climb(place % LEAVES, key);
            place /= LEAVES;
        }
        key
    }

    /// A leaf that stands at the smallest key of all, which `key` is.
    pub(crate) fn first(&self, key: u64) -> usize {
        self.layers.iter().rev().fold(0, |place, layer| place * LEAVES + layer[place].first(key))
    }
}

impl Block {
    /// Who wins a match cannot be predicted, so nothing may branch on it. In line, as part of a
    /// loop, the compiler makes it branch.
    #[inline(never)]
    fn climb(&mut self, leaf: usize, key: u64) -> u64 {
        let (mut node, mut key) = (LEAVES + leaf, key);
        for _ in 0..LEVELS {
            self.keys[node] = key;
            key = key.min(self.keys[node ^ 1]);
            node /= 2;
        }
        key
    }

    fn first(&self, key: u64) -> usize {
        self.keys[LEAVES..].iter().position(|leaf| *leaf == key).unwrap_or_default()
    }
}

const LEVELS: u32 = 5;
const LEAVES: usize = 1 << LEVELS;

/// The key of a leaf where no event waits.
pub(crate) const NOTHING: u64 = u64::MAX;
