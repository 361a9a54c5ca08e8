//! What takes Linux, where there is none: the same names, and one answer.

pub(crate) mod lab;
pub(crate) mod link;
pub(crate) mod real_time;
