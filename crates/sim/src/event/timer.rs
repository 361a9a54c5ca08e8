//! Events by which a flow wakes itself.

use firstflight_core::units::Instant;

use crate::event::{Event, Kind};

/// What a timer event is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Timer {
    Retransmit = 0,
    Start = 1,
    Stop = 2,
    DelayedAck = 3,
    /// The application writes more.
    Write = 4,
    /// The receiver's window opens.
    Open = 5,
}

pub(crate) fn timer(at: Instant, flow: usize, what: Timer) -> Event {
    Event::at_any_time(at, Kind::Timer, flow as u16, what as u64)
}
