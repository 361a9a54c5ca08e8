//! A trial: some new connections of a host get one control, the others another, and what becomes of
//! both says whether the first helps or harms.

pub mod judge;
pub mod sequence;
