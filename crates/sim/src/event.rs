//! What happens in a simulation, and when.

use firstflight_core::units::Instant;

/// What happens. The order is the order of events at the same nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A timer or a scheduled start or stop.
    Timer = 0,
    /// An ACK reaches its sender.
    Ack = 1,
    /// A packet reaches a link.
    Arrive = 2,
    /// A constant-rate source emits, or a flow of another protocol has something to do.
    Other = 3,
}

/// One event: when, what, whose, and 64 bits for the one who handles it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    /// Time, kind and number, in this order: what comes first has the smaller one.
    pub(crate) key: u64,
    pub(crate) payload: u64,
}

impl Event {
    /// Later than any event that there is.
    pub(crate) const NONE: Self = Self { key: u64::MAX, payload: 0 };

    /// `number` decides among events of one kind at one instant, and is the flow's but of arrivals
    /// at links.
    pub(crate) fn new(at: Instant, kind: Kind, number: u16, payload: u64) -> Self {
        let at = at.0.min(MAX_TIME - 1);
        Self { key: at << 18 | (kind as u64) << 16 | u64::from(number), payload }
    }

    pub(crate) fn at(self) -> Instant {
        Instant(self.key >> 18)
    }

    pub(crate) fn kind(self) -> Kind {
        match self.key >> 16 & 3 {
            0 => Kind::Timer,
            1 => Kind::Ack,
            2 => Kind::Arrive,
            _ => Kind::Other,
        }
    }

    pub(crate) fn number(self) -> u16 {
        (self.key & 0xffff) as u16
    }
}

/// The latest time an event can carry: 46 bits of nanoseconds, 19.5 hours. No event has it:
/// [`Event::NONE`] does.
pub(crate) const MAX_TIME: u64 = (1 << 46) - 1;
