//! What holds for every stack, on noq.

#[path = "conformance.rs"]
mod conformance;

use firstflight_quic::noq as adapter;
use firstflight_quic_sim::noq as stack;
use noq_proto as proto;

/// More transmissions than this wait for noq's pacer on the path without loss.
const PACED: u64 = 30;
/// Bytes on the wire of a megabyte: noq paces headers too, which are a twentieth at most.
const ON_THE_WIRE: u64 = 1_050_000;
