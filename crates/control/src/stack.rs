//! Controls that come with a transport, and of which the core knows nothing: quinn's, noq's, the
//! kernel's.

use crate::control::ControlProblem;
use crate::nearest::{hint, listed};

/// How the names of quinn's controls begin.
pub const OF_QUINN: &str = "quinn-";

/// How the names of noq's controls begin.
pub const OF_NOQ: &str = "noq-";

/// How the names of the kernel's controls begin; what follows is what the kernel calls them.
pub const OF_LINUX: &str = "linux-";

/// A control that comes with a transport; each transport has the list of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackControl {
    /// The name, as users write it.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or RFC it follows, and where its code is.
    pub source: &'static str,
}

impl StackControl {
    /// The error for `found` in `control`, which is none of `all`; `axis` is what they are.
    pub fn unknown(all: &[Self], axis: &'static str, control: &str, found: &str) -> ControlProblem {
        let names: Vec<&str> = all.iter().map(|own| own.name).collect();
        ControlProblem::Unknown {
            control: control.to_owned(),
            axis,
            found: found.to_owned(),
            hint: hint(found, names.iter().copied()),
            accepted: listed(found, &names),
        }
    }
}
