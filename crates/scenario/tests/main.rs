//! The tests of scenarios from outside, a module a subject.

mod elements;
mod messages;
mod queue;
mod reading;
mod rows;
mod traces;
