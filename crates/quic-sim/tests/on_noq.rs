//! What holds for every stack, on noq.

#[path = "conformance.rs"]
mod conformance;

use firstflight_quic::noq as adapter;
use firstflight_quic_sim::noq as stack;
use noq_proto as proto;
