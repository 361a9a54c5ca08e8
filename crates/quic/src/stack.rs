//! What differs from one QUIC stack to the other.

use std::fmt::Debug;

use firstflight_core::needs::Facilities;
use firstflight_core::pacing::Pacing;

/// A QUIC stack: what it provides, and what its adapter keeps beside the common
/// [`Controller`](crate::Controller). There is one for each feature of this crate.
pub trait Stack: Clone + Debug + Default + Send + Sync + 'static {
    /// As `--on` takes it.
    const NAME: &'static str;

    /// What it provides to every control; what earlier connections learned is the service's to
    /// provide.
    const PROVIDES: Facilities;

    /// The control's rate from now on; `None` where the stack's own pace holds.
    fn set_pace(&mut self, pacing: Option<Pacing>, mtu: u64);

    /// Something was told of a path whose control sets rates.
    fn told(&mut self) {}
}
