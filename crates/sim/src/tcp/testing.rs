//! What the tests of senders share.

use firstflight_core::units::{Bytes, Instant, Rate, Span};

use super::Wire;
use crate::endpoint::Endpoint;
use crate::network::FlowSpec;
use crate::packet::Label;
use crate::signals::AckSignals;

/// A bulk flow of 1000-byte packets with that start-up and avoidance.
pub(super) fn flow(startup: &str, avoidance: &str, endpoint: Endpoint) -> FlowSpec {
    FlowSpec {
        control: crate::named(startup, avoidance).unwrap(),
        endpoint,
        path: vec![0],
        access_rate_bps: 1_000_000_000,
        access_delay: Span(0),
        return_delay: Span(0),
        return_rate_bps: 1_000_000_000,
        return_path: Vec::new(),
        path_delay: Span(0),
        payload_bytes: MSS,
        header_bytes: 0,
        syn_bytes: 40,
        start: Instant(0),
        stop: None,
        packets: None,
        writes: Vec::new(),
        receiver_window_until: None,
        handshake_delay: Span(0),
        files: None,
        bdp_bytes: Some(100_000),
    }
}

/// The endpoint's defaults for such packets.
pub(super) fn endpoint() -> Endpoint {
    Endpoint::rfc(Bytes(MSS))
}

/// What leaves the sender.
pub(super) struct Air<'a>(pub(super) &'a mut Vec<u32>);

impl Wire for Air<'_> {
    fn transmit(&mut self, seq: u32) {
        if self.0.last() != Some(&(seq | EMPTY)) {
            self.0.push(seq);
        }
    }

    fn transmit_data(&mut self, seq: u32) {
        self.0.push(seq);
    }

    fn transmit_labelled(&mut self, seq: u32, _: Label) {
        self.0.push(seq);
    }

    fn leaves_empty(&mut self, seq: u32) {
        self.0.push(seq | EMPTY);
    }

    fn acknowledge_syn(&mut self) {}

    fn reborrow(&mut self) -> impl Wire {
        Air(self.0)
    }

    fn granted(&mut self) -> Option<Rate> {
        None
    }

    fn read_feedback(&mut self) -> AckSignals {
        AckSignals::default()
    }
}

/// On a packet without data.
pub(super) const EMPTY: u32 = 1 << 29;

pub(super) const MSS: u64 = 1000;
