//! What the tests of senders share.

use firstflight_core::units::{Rate, Span};

use super::Wire;
use crate::dialogue::Heard;
use crate::router::EcnBits;

/// What leaves the sender.
pub(super) struct Air<'a>(pub(super) &'a mut Vec<u32>);

impl Wire for Air<'_> {
    fn transmit(&mut self, seq: u32) {
        self.0.push(seq);
    }

    fn transmit_data(&mut self, seq: u32) {
        self.0.push(seq);
    }

    fn transmit_empty(&mut self, seq: u32) {
        self.0.push(seq | EMPTY);
    }

    fn reborrow(&mut self) -> impl Wire {
        Air(self.0)
    }

    fn granted(&mut self) -> Option<Rate> {
        None
    }

    fn write_header(&mut self, _: Span, _: Span, _: EcnBits) {}

    fn read_feedback(&mut self) -> Heard {
        Heard::default()
    }
}

/// On a packet without data.
pub(super) const EMPTY: u32 = 1 << 29;
