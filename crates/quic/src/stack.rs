//! What differs from one QUIC stack to the other.

use std::fmt::Debug;

use firstflight_core::needs::Facilities;
use firstflight_core::pacing::Pacing;

/// A QUIC stack: what it provides, and what its adapter keeps besides the common
/// [`Controller`](crate::Controller). There is one for each feature of this crate, and a crate of
/// another stack brings its own.
pub trait Stack: Clone + Debug + Default + Send + Sync + 'static {
    /// As `--on` takes it.
    const NAME: &'static str;

    /// What it provides to every control; what earlier connections learned is the service's to
    /// provide.
    const PROVIDES: Facilities;

    /// In hundredths of a window per RTT, what the stack's own pacer lets leave in start-up where a
    /// control sets no rate (RFC 9002 section 7.7).
    const PACER: u16 = 125;

    /// A packet that the stack reports as it leaves may be nothing but acknowledgements.
    const REPORTS_PURE_ACKS: bool = false;

    /// The control's rate from now on; `None` where the stack's own pace holds. The adapter may
    /// ask the [`Sender`](firstflight_core::sender::Sender) instead.
    fn set_pace(&mut self, _pacing: Option<Pacing>, _mtu: u64) {}

    /// Any event of a path whose control sets rates.
    fn on_event(&mut self) {}
}
