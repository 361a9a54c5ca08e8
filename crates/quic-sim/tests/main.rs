//! The tests of QUIC's ends of a simulated flow, a module a subject.

mod common;
mod forged;
mod hostile;
mod invariants;
mod marks;
mod on_noq;
#[expect(clippy::duplicate_mod, reason = "what holds for every stack is compiled once for each")]
mod on_quinn;
mod pair;
mod profile;
mod rests;
mod scenarios;
