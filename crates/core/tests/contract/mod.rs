//! The contract between policies and transports, rule by rule: what a policy may answer and decide,
//! what is reported to it, and what the sender makes of it. The policies are scripts.

mod answers;
mod frames;
mod goes_on;
mod growth;
mod handover;
mod losses;
mod pacing;
mod random;
mod rest;
mod support;
