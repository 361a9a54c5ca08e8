//! The start-ups of firstflight in s2n-quic 1.91: one dependency and one line.
//!
//! ```text
//! let server = s2n_quic::Server::builder()
//!     .with_congestion_controller(firstflight_s2n_quic::control("scout")?)?
//! ```
//!
//! s2n-quic takes a controller from outside with its feature `unstable-congestion-controller`.
//! Controls are named as everywhere in firstflight, and every event is handed to the controller
//! that quinn and noq have too ([`firstflight_quic::Controller`]).
//!
//! # What s2n-quic reports
//!
//! - Each packet as it leaves, and when an acknowledged or lost one had left.
//! - Which packets are the handshake's (those of which it does not say whether the application
//!   limits), so that a control begins when an RTT is known, as over TCP.
//! - Each packet lost, and whether it begins a gap. What one detection finds is one loss.
//! - How many packets were marked, so that `dctcp` and `prague` run. s2n-quic sends ECT(0), so that
//!   routers of L4S do not know them for theirs.
//! - Whether the application or the window limited what was sent.
//!
//! # What it does not report
//!
//! - Which packets a frame acknowledges, but the newest and how many bytes: all count as if they
//!   had left with the newest.
//! - That a loss was spurious: s2n-quic forgets a packet when it declares it lost.
//! - The time between events, so that no control can be woken.
//!
//! # Pacing
//!
//! s2n-quic has no pacer: it asks its controller when the next packet may leave
//! (`earliest_departure_time`). The adapter takes the control's rate. Where it sets none, ten
//! packets leave at once, at two windows per RTT in start-up and 1.25 later, as under s2n-quic's
//! own controllers (`recovery/pacing.rs`). s2n-quic sends up to a millisecond early
//! (`Timestamp::has_elapsed`), and what it sends up to a millisecond late may be made up for, so
//! that bursts are what the rate carries in two, or the control's own.
//!
//! # Memory
//!
//! s2n-quic names the remote address of a new path: [`Endpoint::remembering`] keeps what each
//! connection learned of its path for the next one, and the service has nothing else to do.

mod controller;
mod endpoint;
mod pace;

use firstflight_core::needs::Facilities;

pub use controller::{Controller, PacketInfo};
pub use endpoint::{Endpoint, control};
pub use firstflight_quic::{ControlProblem, Named, PathMemory, Remembered, Stack};

/// What a service configures: the policies and what an endpoint fixes.
pub type Factory<P = Named> = firstflight_quic::Factory<P, S2n>;

/// s2n-quic 1.91.
#[derive(Clone, Copy, Debug, Default)]
pub struct S2n;

impl Stack for S2n {
    const NAME: &'static str = "s2n-quic";

    const PROVIDES: Facilities = PROVIDES;

    const PACER: u16 = 200;
}

/// What s2n-quic 1.91 lets the adapter provide to every control. What earlier connections learned
/// ([`Facilities::MEMORY`]) it provides with [`Endpoint::remembering`].
///
/// s2n-quic does not carry these:
/// - [`Facilities::WAKE_UPS`] and [`Facilities::PACED_WAKE_UPS`]: it gives a controller no timer;
/// - [`Facilities::L4S`]: its packets leave as ECT(0).
pub const PROVIDES: Facilities = Facilities::SENT
    .and(Facilities::PACING)
    .and(Facilities::TIMES)
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::GAPS)
    .and(Facilities::MARKS)
    .and(Facilities::RECOVERY_WINDOW);

#[cfg(test)]
mod tests;
