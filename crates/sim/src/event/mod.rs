//! What happens in a simulation, and when.

pub(crate) mod merge;
pub(crate) mod queue;
pub(crate) mod timer;
pub(crate) mod tree;

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
    /// What the event is about.
    pub(crate) payload: u64,
}

impl Event {
    /// `number` decides among events of one kind at one instant, and is the flow's but of arrivals
    /// at links. `at` lies within the run.
    pub(crate) fn new(at: Instant, kind: Kind, number: u16, payload: u64) -> Self {
        debug_assert!(at <= AFTER_ALL);
        Self { key: at.0 << 18 | (kind as u64) << 16 | u64::from(number), payload }
    }

    /// An event at `at`, or, beyond the run, at the latest time that a key can hold.
    pub(crate) fn at_any_time(at: Instant, kind: Kind, number: u16, payload: u64) -> Self {
        Self::new(at.min(AFTER_ALL), kind, number, payload)
    }

    pub(crate) fn at(self) -> Instant {
        at(self.key)
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

    /// Its time and number: the key of an event whose kind goes without saying.
    pub(crate) fn key_without_kind(self) -> u64 {
        self.key & !KIND
    }
}

/// The time in a key.
pub(crate) fn at(key: u64) -> Instant {
    Instant(key >> 18)
}

/// Where a key has the kind.
pub(crate) const KIND: u64 = 3 << 16;

/// The latest time of what happens: 46 bits of nanoseconds, 19.5 hours.
pub(crate) const LATEST: Instant = Instant((1 << 46) - 2);

/// Time of events that never happen.
const AFTER_ALL: Instant = Instant(LATEST.0 + 1);
