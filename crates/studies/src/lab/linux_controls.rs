//! The simulator's controls that follow the rules of the kernel's own.

/// `reno`, which counts what an ACK acknowledges after slow start too.
pub(crate) const LINUX_RENO: &str = "slow-start+newreno(growth=bytes)";
/// `cubic`: HyStart and CUBIC by Linux's rules where they differ from HyStart's paper and RFC 9438
/// (docs/deviations.md); HyStart compares RTTs of data with each other.
pub(crate) const LINUX_CUBIC: &str = "hystart(delay_min=data)+cubic(preset=linux)";
/// `bbr`, which is version 1 in Linux 6.1.
pub(crate) const LINUX_BBR: &str = "bbr(preset=v1)";
