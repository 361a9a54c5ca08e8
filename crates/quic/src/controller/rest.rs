//! A source that rests: everything is acknowledged, and the stack has nothing more to send.
//!
//! As data leaves again, the core gets how long the source rested, as over TCP: CUBIC does not
//! count the time (RFC 9438 section 5.8), and BBR sets the pace of what leaves. The window stays
//! (RFC 9002 section 7.8).

use std::time::Instant as Clock;

use firstflight_core::pair::Policies;

use super::{Controller, elapsed};
use crate::stack::Stack;

/// How far a rest has been reported to the core.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rest {
    /// There is none.
    None,
    /// The source rests since this time, when its newest data left.
    Since(Clock),
    /// Something left at this time, and the rest up to it is reported. It may have been nothing but
    /// an acknowledgement: the next frame shows when data left.
    Reported(Clock),
}

impl<P: Policies, S: Stack> Controller<P, S> {
    /// A frame acknowledges data that left after the last rest, the newest at
    /// [`Controller::newest`], of which so much is still in flight.
    pub(super) fn note_rest(&mut self, in_flight: u64, app_limited: bool) {
        match self.rest {
            Rest::None => {}
            Rest::Since(from) | Rest::Reported(from) => self.report_rest(from, self.newest),
        }
        self.rest = Rest::None;
        if in_flight == 0 && app_limited {
            self.rest = Rest::Since(self.newest);
            self.notes_sending = true;
        }
    }

    /// Something leaves.
    pub(super) fn end_rest(&mut self, now: Clock) {
        let Rest::Since(from) = self.rest else { return };
        self.report_rest(from, now);
        self.rest = if S::REPORTS_PURE_ACKS { Rest::Reported(now) } else { Rest::None };
        self.notes_sending = self.notes_each();
    }

    fn report_rest(&mut self, from: Clock, to: Clock) {
        self.sender.on_rest(self.now(to), elapsed(from, to), None);
        self.update_window();
    }
}
