//! The cases of draft-ietf-ccwg-bbr-06, appendix A, one test each, on a path of 5 MB/s and 50 ms
//! where nothing else is said: 250 packets fill it.

mod path;
mod probing;
mod startup;
mod upsets;
