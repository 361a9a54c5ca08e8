//! The C interface as its callers meet it: from C, from C++, and against the core itself.
#![allow(unsafe_code, reason = "the functions of C are called")]

mod conformance;
mod hostile;
mod like_the_core;
mod programs;
mod support;
