//! What holds for every stack, on quinn.

#[path = "conformance.rs"]
mod conformance;

use firstflight_quic::quinn as adapter;
use firstflight_quic_sim::quinn as stack;
use quinn_proto as proto;
