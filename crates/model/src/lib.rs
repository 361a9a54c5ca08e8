//! The closed-form model of slow start over one drop-tail buffer: Barakat and Altman, "Performance
//! of Short TCP Transfers" (2000), sections 2 to 5.
//!
//! Slow start sends in bursts. Within a round trip the bursts come faster than the bottleneck
//! serves, so a small buffer overflows long before the path is full. The model says at which window
//! ([`SlowStart::overflow_window`]), what the sender makes of it
//! ([`SlowStart::detection_window`], [`SlowStart::threshold_after`]), and what would have been safe
//! ([`SlowStart::safe_threshold`]). [`predict`] turns all of it into numbers and advice for one
//! path.
//!
//! | letter | here | meaning |
//! | --- | --- | --- |
//! | `mu*T` | [`SlowStart::bdp`] | bandwidth-delay product, in packets |
//! | `B` | [`SlowStart::buffer`] | packets that can wait |
//! | `d` | [`Aggressiveness`] | a round adds `W/d` to the window `W` |
//! | `alpha` | [`Aggressiveness::alpha`] | growth per round, `(d + 1)/d` |
//! | `W_B` | [`SlowStart::overflow_window`] | window at which the buffer overflows |
//! | `W_D` | [`SlowStart::detection_window`] | window at which the sender notices |
//! | `W_th` | thresholds | ssthresh |
//!
//! Windows are exact rational numbers ([`Packets`]), because the theorem turns on comparisons that
//! are equalities at every power of two. Floats appear in [`Prediction`] and
//! [`MiniCycle`] only.
//!
//! ```
//! use firstflight_model::{Aggressiveness, Packets, SlowStart};
//!
//! // The path of the paper's Figure 4: a BDP of 70 packets, room for 20, an ACK for each packet.
//! let path = SlowStart::new(Packets::from_integer(70.into()), 20, Aggressiveness::ONE);
//! assert_eq!(path.overflow_window(), Packets::from_integer(52.into()));
//! assert_eq!(path.overflow_window_approx(), Packets::from_integer(40.into()));
//! ```

mod advice;
mod aggressiveness;
mod buffer;
mod error;
mod joining;
mod mini_cycle;
mod overflow;
mod packets;
mod prediction;
mod slow_start;
mod startups;
mod words;

pub use aggressiveness::Aggressiveness;
pub use buffer::BufferNeeds;
pub use error::ModelError;
pub use mini_cycle::MiniCycle;
pub use packets::Packets;
pub use prediction::{Conditions, Prediction, predict};
pub use slow_start::SlowStart;
pub use startups::{StartupFit, Verdict};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
