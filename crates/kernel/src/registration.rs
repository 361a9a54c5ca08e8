//! How a control stays registered with the kernel.

/// The two ways that kernels have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// By a link, Linux 6.4 and later: registered as long as a program or the BPF file
    /// system holds it.
    Link,
    /// By the entry of its map, before 6.4: registered until the entry is deleted. A program that
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
