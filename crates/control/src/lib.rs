//! Controls by name, for every transport: what a user writes becomes policies with their knobs set.
//!
//! [`ControlSpec`] is the written form, [`Control`] what the core's tables make of it. Knobs and
//! scenario files share the quantities with units ([`quantity`]) and the search for the name that
//! was meant ([`nearest()`], [`hint`]).
//!
//! ```
//! use firstflight_control::Control;
//!
//! let control = Control::named("tcpw-a(lg.eps=0.6)")?;
//! assert_eq!(control.full, "astart+westwood(lg=on,lg.eps=0.6)");
//! # Ok::<(), firstflight_control::ControlProblem>(())
//! ```

mod axis;
pub mod control;
mod named;
mod nearest;
mod pair;
pub mod policy;
pub mod quantity;
pub mod spec;
pub mod stack;
mod value;

pub use control::{Control, ControlProblem, Setting};
pub use named::Named;
pub use nearest::{hint, nearest};
pub use policy::{add_avoidance, add_startup, put_startup};
pub use spec::{ControlError, ControlSpec, NamedPolicy};
pub use stack::StackControl;
pub use value::{accepted, default_text};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
