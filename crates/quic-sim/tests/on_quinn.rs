//! What holds for every stack, on quinn.

#[path = "conformance.rs"]
mod conformance;

use firstflight_quic::quinn as adapter;
use firstflight_quic_sim::quinn as stack;
use quinn_proto as proto;

/// More transmissions than this wait for quinn's pacer on the path without loss.
const PACED: u64 = 50;
/// Bytes on the wire of a megabyte: quinn's pace leaves room for headers.
const ON_THE_WIRE: u64 = 1_000_000;
