//! The tests of the core from outside, a module a subject.

mod ack_history;
mod bbr;
mod bench;
mod cards;
#[cfg(feature = "conformance")]
mod conformance;
mod contract;
mod cubic;
mod ere;
mod golden;
mod hints;
mod hystart_rounds;
mod load_gauge;
mod model;
mod ns2_preset;
mod pairs;
mod per_packet_preset;
mod policies;
mod policy_view;
mod scripted_path;
mod sender;
mod short_ways;
mod start_up_view;
mod vegas;
