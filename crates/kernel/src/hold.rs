//! How a control stays registered with the kernel.

/// The two ways that kernels have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// By a link, Linux 6.4 and later: registered as long as somebody holds it, a program or the
    /// BPF file system.
    Link,
    /// By the entry of its map, before: registered until somebody deletes the entry. A program that
    /// is killed leaves it.
    Entry,
}

#[cfg(feature = "bpf")]
impl Hold {
    /// Flags of the map that holds the control's functions.
    pub(crate) fn map_flags(self) -> u32 {
        match self {
            Self::Link => MAP_HAS_LINK,
            Self::Entry => 0,
        }
    }
}

/// `BPF_F_LINK` of the kernel's linux/bpf.h.
#[cfg(feature = "bpf")]
const MAP_HAS_LINK: u32 = 1 << 13;
