//! The tests of quinn's ends of a simulated flow, a module a subject.

mod common;
mod conformance;
mod forged;
mod hostile;
mod invariants;
mod marks;
mod pair;
mod profile;
mod scenarios;
