//! The tests of qlogs from outside, a module a subject.

mod properties;
mod reading;
mod schema;
mod stacks;
mod startup;
