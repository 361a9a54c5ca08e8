//! The implementations of [`Transport`]: the simulator ([`SIM`]), quinn in virtual time ([`QUIC`])
//! or over real sockets, noq in virtual time ([`NOQ`]), the running kernel's TCP, and that of a
//! kernel in virtual time ([`VirtualTime`]).
//!
//! [`On`] is what `--on` and its flags say. A program that calls [`serve`] when it begins can be
//! what runs inside a guest.

mod on;
mod policies;
mod virtual_time;

#[cfg(target_os = "linux")]
mod in_guest;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
use firstflight_lab as lab;

#[cfg(not(target_os = "linux"))]
mod no_linux;
#[cfg(not(target_os = "linux"))]
use no_linux::{in_guest, lab, sockets};

pub use firstflight_quic_sim::noq::NOQ;
pub use firstflight_quic_sim::quinn::{QUIC, SIM};
pub use firstflight_runner::Transport;
pub use in_guest::serve;
pub use lab::programs::Programs;
pub use on::{On, TRANSPORTS};
pub use policies::{PROVIDED, RunsOn, transports_of, transports_of_control};
pub use virtual_time::{GuestPrograms, VirtualTime};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
