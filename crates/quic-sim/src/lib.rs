//! QUIC stacks in the simulator's network and time: real packets, TLS, loss recovery and ACK policy
//! of quinn-proto's and noq-proto's state machines, no sockets, no clock. What is in `per_stack/`
//! is compiled once for [`quinn`] and once for [`noq`], whose `seam.rs` has the calls that differ.
//!
//! A [`ClientAndServer`](quinn::ClientAndServer) is a client that sends to a server that reads,
//! stream after stream of a mebibyte. It implements [`Ends`](firstflight_sim::Ends), the trait of
//! the simulator for both ends of a flow, and shares links with simulated TCP.
//!
//! # The same bytes on every run
//!
//! The stacks ask for the time as an argument: they get one instant plus the simulator's time.
//! Every generator of theirs is seeded from the run's random seed. TLS draws its secrets from the
//! operating system, which nothing here can change; but no message's *size* depends on them: the
//! certificate is of an Ed25519 key, whose signatures have one length, and sessions are not
//! resumed. The stacks' own BBR is the exception: it draws its gain cycle from the operating system
//! ([`quinn_proto::congestion::Bbr`] has no seed), so that a run with it differs from the next.
//!
//! # What is as in TCP here, and what is QUIC's
//!
//! A packet of the scenario is the UDP payload, at least 1200 bytes (RFC 9000 section 14); IP and
//! UDP headers come on top as the scenario's `headers`. Path MTU discovery is off. ACKs are real
//! datagrams, each with its own size, on a reverse path that neither queues nor loses. The first
//! flight is the handshake's: data leave an RTT after the start. Without an initial window of the
//! scenario's, RFC 9002's ten packets hold, and no ssthresh.

mod applies;
#[expect(clippy::duplicate_mod, reason = "what is per stack is compiled once for each")]
pub mod noq;
pub mod quinn;

pub use applies::applies;
