//! ns-2.35's own agents, which the papers ran and which differ from the RFCs in ways that decide
//! results.

mod linux;
mod sack;
mod vegas;

pub(super) use linux::Ns2Linux;
pub(super) use sack::Ns2Sack;
pub(super) use vegas::Ns2Vegas;
