//! The tests of records from outside, a module a subject.

mod captures;
mod forms;
mod records;
mod sockets;
mod wire;
