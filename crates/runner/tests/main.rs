//! The tests of the runner from outside, a module a subject.

mod bursts;
mod files;
mod interruption;
mod keys;
mod mahimahi;
mod ns2;
mod pacing;
mod path_rate;
mod recovery;
mod rows;
mod scenarios;
