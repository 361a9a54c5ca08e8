//! How packets leave within the window: a decision separate from the window's size.

use crate::units::{Bytes, Instant, Rate};
use crate::view::View;

/// When and how fast packets may leave, as a policy decides it.
///
/// Where no policy decides, the transport's default holds: as the window allows, or, where the
/// endpoint paces, `2 cwnd/srtt` in slow start and `1.25 cwnd/srtt` after it
/// ([`crate::mechanism::Mechanism::pacing`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pacing {
    /// Payload per second.
    pub rate: Rate,
    /// What may leave at once, in bytes of payload; one packet where this is less than a packet.
    pub burst: Bytes,
    /// The next bytes of payload, as many as the first number says, leave at the second; then
    /// `rate` holds. The gap behind their last packet is of `rate`, too, because n packets have
    /// n - 1 gaps between them.
    pub first: Option<(Bytes, Rate)>,
    /// Nothing leaves before this time.
    pub not_before: Option<Instant>,
}

impl Pacing {
    /// Packet by packet at `rate`, from now on.
    pub const fn at(rate: Rate) -> Self {
        Self { rate, burst: Bytes(0), first: None, not_before: None }
    }

    /// The next `bytes` leave at another rate.
    #[must_use]
    pub const fn beginning(self, bytes: Bytes, rate: Rate) -> Self {
        Self { first: Some((bytes, rate)), ..self }
    }

    /// Lets `burst` bytes leave at once.
    #[must_use]
    pub const fn in_bursts_of(self, burst: Bytes) -> Self {
        Self { burst, ..self }
    }

    /// Nothing leaves before that time.
    #[must_use]
    pub const fn not_before(self, at: Instant) -> Self {
        Self { not_before: Some(at), ..self }
    }
}

/// The rate at which Linux paces so many bytes in flight (`tcp_update_pacing_rate`).
pub(crate) fn rate_of_linux(bytes: Bytes, view: &View) -> Rate {
    let window = &view.window;
    let grows = window.cwnd < window.ssthresh / 2;
    let percent = if grows { LINUX_SLOW_START_PERCENT } else { LINUX_LATER_PERCENT };
    bytes.per(view.rtt.smoothed).scaled(percent, 100)
}

/// While the window is below half of ssthresh, in per cent of the bytes per RTT
/// (`net.ipv4.tcp_pacing_ss_ratio`).
const LINUX_SLOW_START_PERCENT: u64 = 200;

/// From there on (`net.ipv4.tcp_pacing_ca_ratio`).
const LINUX_LATER_PERCENT: u64 = 120;
