//! The tests of the simulator from outside, a module a subject.

mod abba;
mod ahead;
mod bbr;
mod common;
mod conformance;
mod ecn;
mod element;
mod endpoint;
mod files;
mod hints;
mod idle;
mod journal;
mod landed;
mod linux;
mod methods;
mod other_stack;
mod pacing;
mod queue;
mod quic;
mod repeats;
mod routers;
mod scout;
mod startups;
mod watched;
